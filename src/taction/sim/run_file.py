"""A run as an HDF5 file: written while it runs, readable while it runs and after a kill.

Layout, n steps and c contacts:

| dataset | shape | what |
|---|---|---|
| ``t`` | (n + 1,) | times |
| ``q``, ``v`` | (n + 1, nq), (n + 1, nv) | states |
| ``kinetic``, ``potential`` | (n + 1,) | energies |
| ``tau`` | (n, nv) | joint forces held over each step |
| ``records`` | (n, 20) | one row per step, `taction.sim.columns.RECORD_COLUMNS` |
| ``contacts/…`` | (c, …) | the fields of `taction.steppers.driver.ContactTable` |
| ``written`` | (3,) | steps and contacts that are safe, and whether the run is over |
| ``summary`` | (bytes,) | JSON, when the run is over |

Every dataset of numbers has attributes ``columns`` and ``units`` (one per column) or ``unit``. Model, step,
scheme, law, solver and versions are attributes of the file. A smooth run has ``tau`` (n + 1, nv), and no
records or contacts.

What a kill leaves. The file is in HDF5's single-writer-multiple-readers mode: the library orders its writes
so that the file is consistent at every moment. Rows are appended and flushed first and counted in ``written``
afterwards, so whatever the counter says is there is there. A flush hands the bytes to the operating system:
they survive the end of the process at any instruction, not a loss of power.

Rows are written at least every `FLUSH_STEPS` steps and about every `FLUSH_SECONDS`, at the first call of
`RunWriter.append` after either has passed; the simulation calls it that often.

A file whose writer was killed is still marked as being written; it opens for reading in the mode for readers
(``h5py.File(path, swmr=True)``), which is what `load_run` does.
"""

from __future__ import annotations

import json
import platform
import sys
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.model import Model
from taction.sim.columns import (
    RECORD_COLUMNS,
    Column,
    force_columns,
    position_columns,
    sum_forces,
    velocity_columns,
)

if TYPE_CHECKING:
    from taction.sim.run import Run
    from taction.sim.world import World
    from taction.steppers.driver import ContactTable, Record

FORMAT, VERSION = "taction run", 1
FLUSH_STEPS = 100
FLUSH_SECONDS = 0.25
CHUNK = 16384  # bytes of one chunk, about
STEPS, CONTACTS, IS_OVER = 0, 1, 2  # entries of ``written``
CONTACT_FIELDS = {
    "step": ((), np.int64, [Column("step", "1")]),
    "key": ((3,), np.int64, [Column(name, "1") for name in ("shape_a", "shape_b", "feature")]),
    "point": ((3,), np.float64, [Column(name, "m") for name in "xyz"]),
    "frame": ((9,), np.float64, [Column(f"{axis}_{c}", "1") for c in "xyz" for axis in ("n", "t1", "t2")]),
    "gap": ((), np.float64, [Column("gap", "m")]),
    "impulse": ((3,), np.float64, [Column(name, "N s") for name in ("n", "t1", "t2")]),
    "velocity": ((3,), np.float64, [Column(name, "m/s") for name in ("n", "t1", "t2")]),
}


class Start(Protocol):
    """What a run starts from: a `SimState` is one."""

    @property
    def t(self) -> float: ...  # noqa: D102
    @property
    def q(self) -> Array: ...  # noqa: D102
    @property
    def v(self) -> Array: ...  # noqa: D102


@dataclass(frozen=True)
class _Moment:
    t: float
    q: Array
    v: Array


class RunWriter:
    """Appends the steps of a run to a file, so that what was flushed survives a kill.

    Args:
        path: of the file; written over if it exists.
        model: what moves.
        dt: time step [s].
        start: time, configuration and velocity at the start.
        world: what touches; without it the file has no records and no contacts.
        settings: scheme, law, solver and whatever else is worth an attribute of the file: text or numbers.
        look: joint coordinates and velocities of states (n, ·) as the steps have them, if they differ.
        is_live: whether others may read it while it is written, and it survives a kill.

    Raises:
        BadInput: the file cannot be made, or h5py is not installed.
    """

    def __init__(
        self,
        path: str | Path,
        model: Model,
        dt: float,
        start: Start,
        *,
        world: World | None = None,
        settings: Mapping[str, Any] | None = None,
        look: Callable[[Array, Array], tuple[Array, Array]] | None = None,
        is_live: bool = True,
    ) -> None:
        h5py = _h5py()
        self._look = look or (lambda q, v: (q, v))
        self.path, self.model, self.dt, self._t0 = Path(path), model, dt, float(start.t)
        self._done, self._contacts, self._flushed = 0, 0, clock.monotonic()
        self._pending: tuple[Record, ContactTable, int, Array | None] | None = None
        self._summary: bytes = b""
        self._spaces = h5py.h5s
        self._data: dict[str, Any] = {}
        self._length: dict[str, int] = {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = h5py.File(self.path, "w", libver="latest")
        except OSError as error:
            raise BadInput(f"{path}: cannot be written ({error})") from None
        self._write_header(world, settings or {}, h5py.__version__)
        self._make(world is not None)
        self._extend("t", np.array([start.t]), 0)
        q, v = self._look(np.asarray(start.q)[None], np.asarray(start.v)[None])
        self._extend("q", q, 0)
        self._extend("v", v, 0)
        kinetic, potential = _energies(model, q[0], v[0])
        self._extend("kinetic", np.array([kinetic]), 0)
        self._extend("potential", np.array([potential]), 0)
        if is_live:
            self.file.swmr_mode = True
        self.file.flush()

    def append(
        self, record: Record, table: ContactTable, first: int, last: int, tau: Array | None = None
    ) -> None:
        """Take in steps first…last−1; they reach the file when enough of them, or old enough ones, wait.

        Args:
            record: states and step records of the whole run so far; rows beyond ``last`` mean nothing.
            table: contacts of the whole run so far.
            first: first step that is new.
            last: end of the new steps.
            tau: joint forces held over each step, shape (≥ last, nv).
        """
        if self._pending is not None and first < self._pending[2]:
            raise BadInput(f"{self.path}: step {first} was recorded before")
        self._pending = record, table, last, tau
        is_late = clock.monotonic() - self._flushed >= FLUSH_SECONDS
        if is_late or last - self._done >= FLUSH_STEPS:
            self.flush()

    def flush(self) -> None:
        """Write what waits, now."""
        self._flushed = clock.monotonic()
        if self._pending is None or self._pending[2] <= self._done:
            return
        record, table, last, tau = self._pending
        first, n = self._done, int(table.count[0])
        end = int(np.searchsorted(table.step[:n], last))  # a step that failed may have left contacts behind
        rows, contacts = slice(first, last), slice(self._contacts, end)
        for name in CONTACT_FIELDS:
            self._extend(f"contacts/{name}", getattr(table, name)[contacts], self._contacts)
        force = np.zeros((last - first, self.model.nv)) if tau is None else tau[rows]
        self._extend("tau", force, first)
        self._extend("records", record.step[rows], first)
        self._extend("t", np.asarray(self._t0 + self.dt * np.arange(first + 1, last + 1)), first + 1)
        q, v = self._look(record.q[first + 1 : last + 1], record.v[first + 1 : last + 1])
        self._extend("q", q, first + 1)
        self._extend("v", v, first + 1)
        final = _energies(self.model, q[-1], v[-1])
        for name, column, value in zip(("kinetic", "potential"), (0, 1), final, strict=True):
            self._extend(name, np.append(record.step[rows, column], value), first)
        self._done, self._contacts = last, end
        self._commit()

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Say what came of the run; written when the file is closed."""
        self._summary = json.dumps(summary).encode()

    def close(self) -> None:
        """Write what waits and close the file."""
        if not self.file:
            return
        self.flush()
        self._extend("summary", np.frombuffer(self._summary, dtype=np.uint8), 0)
        self._commit(is_over=1)
        self.file.close()

    def put(self, name: str, rows: Array) -> None:
        """Write a whole array: for runs that are over."""
        self._extend(name, rows, 0)

    def count(self, steps: int) -> None:
        """Say that so many steps are in the file: after `put`."""
        self._done = steps
        self._commit()

    def _commit(self, is_over: int = 0) -> None:
        self.file.flush()
        written = self._data["written"]
        written.id.write(self._spaces.ALL, self._spaces.ALL, np.array([self._done, self._contacts, is_over]))
        written.id.flush()

    def _extend(self, name: str, rows: Array, at: int) -> None:
        """Write rows from row ``at`` on; h5py's own slicing takes ten times as long."""
        if not len(rows):
            return
        dataset = self._data[name].id
        rows = np.ascontiguousarray(rows, dtype=self._data[name].dtype)
        end = at + len(rows)
        if self._length[name] < end:
            dataset.set_extent((end, *rows.shape[1:]))
            self._length[name] = end
        if not rows.size:  # a model without degrees of freedom
            return
        there = dataset.get_space()
        there.select_hyperslab((at, *[0] * (rows.ndim - 1)), rows.shape)
        dataset.write(self._spaces.create_simple(rows.shape), there, rows)

    def _write_header(self, world: World | None, settings: Mapping[str, Any], h5py_version: str) -> None:
        from importlib.metadata import version

        attributes = self.file.attrs
        attributes.update({"format": FORMAT, "version": VERSION, "model": self.model.name, "dt": self.dt})
        attributes.update({key: value for key, value in settings.items() if value is not None})
        attributes["bodies"] = list(self.model.body_names)
        if world is not None:
            attributes["shapes"] = list(world.shape_names)
            attributes["shape_bodies"] = [world.body_name(i) for i in range(len(world.shape_names))]
        attributes["python_version"], attributes["h5py_version"] = platform.python_version(), h5py_version
        for package in ("numpy", "numba"):
            attributes[f"{package}_version"] = version(package)
        # the package itself, loaded for sure; importing it here would import every layer above
        attributes["taction_version"] = sys.modules["taction"].__version__

    def _make(self, has_contact: bool) -> None:
        self._dataset("t", (), np.float64, [Column("t", "s")])
        self._dataset("q", (self.model.nq,), np.float64, position_columns(self.model))
        self._dataset("v", (self.model.nv,), np.float64, velocity_columns(self.model))
        self._dataset("tau", (self.model.nv,), np.float64, force_columns(self.model))
        self._dataset("kinetic", (), np.float64, [Column("kinetic", "J")])
        self._dataset("potential", (), np.float64, [Column("potential", "J")])
        if has_contact:
            self._dataset("records", (len(RECORD_COLUMNS),), np.float64, list(RECORD_COLUMNS))
            for name, (shape, dtype, columns) in CONTACT_FIELDS.items():
                self._dataset(f"contacts/{name}", shape, dtype, columns)
        self._dataset("summary", (), np.uint8, [])
        self._data["written"] = self.file.create_dataset("written", data=np.zeros(3, dtype=np.int64))

    def _dataset(self, name: str, shape: tuple[int, ...], dtype: Any, columns: list[Column]) -> None:
        rows = max(1, CHUNK // (8 * max(1, *shape))) if shape else CHUNK // 8
        dataset = self.file.create_dataset(
            name, (0, *shape), dtype, maxshape=(None, *shape), chunks=(rows, *(max(1, s) for s in shape))
        )
        if shape:
            dataset.attrs["columns"] = [column.name for column in columns]
            dataset.attrs["units"] = [column.unit for column in columns]
        elif columns:
            dataset.attrs["unit"] = columns[0].unit
        self._data[name], self._length[name] = dataset, 0


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A run read from a file: arrays, names and settings, without the model.

    Attributes:
        t: times [s], shape (n + 1,).
        q: configurations, shape (n + 1, nq).
        v: velocities, shape (n + 1, nv).
        tau: joint forces, shape (n, nv) through contact, (n + 1, nv) in smooth motion.
        kinetic: kinetic energy [J], shape (n + 1,).
        potential: gravitational and spring energy [J], shape (n + 1,).
        records: one row per step, None in smooth motion.
        contacts: all contacts of all steps, None in smooth motion.
        names: names of the columns of q, v, tau and records, by array.
        units: their units, one per column; a single one for an array of one column.
        attributes: model, dt, scheme, law, solver, versions, names of bodies and shapes.
        summary: certificate, ledger and so on; empty if the run was cut off.
        is_complete: whether the run came to its end, in one way or another, and closed the file.
    """

    t: Array
    q: Array
    v: Array
    tau: Array
    kinetic: Array
    potential: Array
    records: Array | None
    contacts: ContactTable | None
    names: dict[str, tuple[str, ...]]
    units: dict[str, tuple[str, ...]]
    attributes: dict[str, Any]
    summary: dict[str, Any]
    is_complete: bool

    @property
    def steps(self) -> int:
        """Number of time steps."""
        return len(self.t) - 1

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return float(self.attributes["dt"])

    def record(self, name: str) -> Array:
        """A column of the step records by its name, shape (n,)."""
        known = self.names.get("records", ())
        if self.records is None or name not in known:
            raise BadInput(f"no column {name!r}; there are {', '.join(known) or 'none'}")
        return self.records[:, known.index(name)]

    def contact_forces(self, by: str = "body") -> dict[str, Array]:
        """As `taction.Run.contact_forces`."""
        if self.contacts is None:
            raise BadInput("this run has no contact")
        if by not in ("body", "shape"):
            raise BadInput(f"by {by!r}: choose body or shape")
        table = self.contacts
        names = list(self.attributes["shape_bodies" if by == "body" else "shapes"])
        force = np.einsum("cij,cj->ci", table.frame.reshape(-1, 3, 3), table.impulse) / self.dt
        return sum_forces(table.step, table.key, force, names, self.steps)


def load_run(path: str | Path) -> RecordedRun:
    """Read a run file: finished, cut off by a kill, or still being written.

    Raises:
        BadInput: no such file, or not a run file.
    """
    with _open(path) as file:
        try:
            return _checked(path, file)
        except BadInput:
            raise
        except (KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
            # a file that another process is just making may lack anything
            raise BadInput(f"{path}: a damaged or unfinished run file ({error})") from None


def _checked(path: str | Path, file: Any) -> RecordedRun:
    if file.attrs.get("format") != FORMAT:
        raise BadInput(f"{path}: not a run file")
    if int(file.attrs["version"]) > VERSION:
        raise BadInput(f"{path}: version {file.attrs['version']}, newer than this program ({VERSION})")
    return _read(file)


def _open(path: str | Path) -> Any:
    h5py = _h5py()
    if not Path(path).is_file():
        raise BadInput(f"{path}: no such file")
    try:
        return h5py.File(path, "r", libver="latest")
    except OSError:  # being written, or left so by a kill
        try:
            return h5py.File(path, "r", libver="latest", swmr=True)
        except OSError as error:
            raise BadInput(f"{path}: not a run file ({error})") from None


def _read(file: Any) -> RecordedRun:
    from taction.steppers.driver import ContactTable

    steps, contacts, is_over = (int(x) for x in file["written"][:])  # before the rows: they only grow
    names = {key: tuple(data.attrs["columns"]) for key, data in file.items() if "columns" in data.attrs}
    units = {key: tuple(data.attrs["units"]) for key, data in file.items() if "units" in data.attrs}
    units |= {key: (data.attrs["unit"],) for key, data in file.items() if "unit" in data.attrs}
    has_contact = "records" in file
    states = {key: file[key][: steps + 1] for key in ("t", "q", "v", "kinetic", "potential")}
    table = None
    if has_contact:
        fields = {key: file[f"contacts/{key}"][:contacts] for key in CONTACT_FIELDS}
        table = ContactTable(count=np.array([contacts]), **fields)
    text = file["summary"][:].tobytes() if is_over else b""
    return RecordedRun(
        **states,
        tau=file["tau"][: steps if has_contact else steps + 1],
        records=file["records"][:steps] if has_contact else None,
        contacts=table,
        names=names,
        units=units,
        attributes={key: _plain(value) for key, value in file.attrs.items()},
        summary=json.loads(text) if text else {},
        is_complete=bool(is_over),
    )


def save_run(run: Run, path: str | Path) -> Path:
    """Write a run that is over to a file of the same layout; returns its path."""
    path = Path(path)
    settings = {"scheme": run.integrator, "contact": run.contact, "solver": run.solver}
    if run.world is not None:
        settings["coordinates"] = run.coordinates
    start = _Moment(float(run.t[0]), run.q[0], run.v[0])
    writer = RunWriter(path, run.model, run.dt, start, world=run.world, settings=settings, is_live=False)
    try:
        if run.records is not None and run.contacts is not None:
            from taction.steppers.driver import Record

            writer.append(Record(run.q, run.v, run.records), run.contacts, 0, run.steps, run.tau)
            writer.flush()
            writer.put("t", run.t)
        else:
            for name in ("t", "q", "v", "tau", "kinetic", "potential"):
                writer.put(name, getattr(run, name))
            writer.count(run.steps)
        writer.finish(run.summary())
    finally:
        writer.close()
    return path


def _plain(value: Any) -> Any:
    """An attribute as Python has it: lists of text and numbers instead of arrays."""
    return value.tolist() if hasattr(value, "tolist") else value


def _energies(model: Model, q: Array, v: Array) -> tuple[float, float]:
    from taction.sim.contact_simulation import final_energy

    return final_energy(model, np.ascontiguousarray(q), np.ascontiguousarray(v))


def _h5py() -> Any:
    try:
        import h5py
    except ImportError:
        raise BadInput("run files need h5py (pip install h5py)") from None
    return h5py
