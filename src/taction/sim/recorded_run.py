"""`RecordedRun`: a run read back from its file, and `load_run`, which reads it.

The file may be finished, cut off by a kill, or still being written (`taction.sim.open_run_file`). Of a
finished one a digest of all numbers is checked; a ``.npz`` file has sums of its own.

What a run has in memory that the file has no table for is made again from the model in it: so a run that was
cut off has a certificate and a ledger, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taction._core.archive import read_archive
from taction._core.arrays import Array
from taction._core.errors import BadInput, one_line, printable
from taction._core.expect import as_path
from taction._core.show import count, rows
from taction.model.model import Model
from taction.sim.claims import check_attributes, read_summary
from taction.sim.columns import RECORD_COLUMNS, Column
from taction.sim.contact_list import ContactList
from taction.sim.description import unpack
from taction.sim.motion_errors import StepErrors, estimate_errors
from taction.sim.open_run_file import open_run_file
from taction.sim.recording import Layout, Recording
from taction.sim.resample import Samples
from taction.sim.run import Certificate, EnergyLedger, Run, of_today
from taction.sim.run_file import (
    BYTES,
    CONTACT_FIELDS,
    FORMAT,
    STATES,
    VERSION,
    content_digest,
    read_attributes,
)
from taction.sim.state import SimState

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.world import World


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedRun(Recording):
    """A run read from a file.

    Besides the arrays of `taction.sim.recording.Recording`; through contact ``tau`` has n rows, one per step.

    Attributes:
        names: names of the columns of q, v, tau and records, by array.
        units: their units, one per column; a single one for an array of one column.
        attributes: model, dt, scheme, law, solver, versions, names of bodies and shapes.
        summary: certificate, ledger and so on; empty if the run was cut off.
        is_complete: whether the run came to its end, in one way or another, and closed the file; not if it
            was stopped.
        description: model and world, packed; empty in files of versions that did not keep them.
        saved_state: where it ended, packed; empty if it was cut off.
    """

    names: dict[str, tuple[str, ...]]
    units: dict[str, tuple[str, ...]]
    attributes: dict[str, Any]
    summary: dict[str, Any]
    is_complete: bool
    description: bytes = b""
    saved_state: bytes = b""

    def __repr__(self) -> str:
        known = self.attributes
        shown = ("scheme", "contact", "solver", "coordinates", "springs", "accuracy")
        settings = {key: known[key] for key in shown if key in known}
        end = "" if self.is_complete else ", stopped" if self.stopped else ", cut off"
        return rows(
            f"<RecordedRun of {known.get('model', '')!r}: {count(self.steps, 'step')} of {self.dt:g} s, "
            f"t = {self.t[0]:.6g} to {self.t[-1]:.6g} s{end}>",
            ", ".join(f"{key} {value}" for key, value in settings.items()),
            *self._rows(),
            f"written by taction {known.get('taction_version', '')}",
        )

    @property
    def layout(self) -> Layout:
        """Names and units, as the file has them."""
        columns = {
            name: [Column(*pair) for pair in zip(self.names[name], self.units[name], strict=True)]
            for name in ("q", "v", "tau")
        }
        shapes, bodies = (tuple(self.attributes.get(key, ())) for key in ("shapes", "shape_bodies"))
        return Layout(**columns, shapes=shapes, shape_bodies=bodies)

    def record(self, name: str) -> Array:
        """A column of the step records by its name, shape (n,)."""
        known = self.names.get("records", ())
        if self.records is None or name not in known:
            raise BadInput(f"no column {name!r}; there are {', '.join(known) or 'none'}")
        return self.records[:, known.index(name)]

    @property
    def model(self) -> Model:
        """What moved, made again; `BadInput` if the file does not have it."""
        return self._described[0]

    @property
    def world(self) -> World | None:
        """What moved and touched, made again; None in smooth motion."""
        return self._described[1]

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C ended the run before its time."""
        return bool(self.summary.get("stopped", False))

    @property
    def coordinates(self) -> str:
        """In which the steps were taken: ``"reduced"`` or ``"absolute"``."""
        return str(self.attributes.get("coordinates", "reduced"))

    @property
    def has_sensors(self) -> bool:
        """Whether the file has the model, and the model sensors."""
        return bool(self.description) and bool(self.model.spec.sensors)

    @cached_property
    def _described(self) -> tuple[Model, World | None]:
        if not self.description:
            raise BadInput("this file was written by a version that kept no model in it; its arrays are all")
        return unpack(self.description)

    @cached_property
    def state(self) -> SimState:
        """Where the run ended: `Simulation.run` continues from it bit for bit.

        Of a run that was cut off: its last configuration and velocity, without the impulses of the last step.
        """
        if self.saved_state:
            return SimState.from_bytes(self.saved_state)
        from taction.sim.simulation import Simulation

        t, q, v = float(self.t[-1]), self.q[-1], self.v[-1]
        if self.world is None:
            return Simulation(self.model, dt=self.dt).state(q, v, t)
        chosen: dict[str, Any] = {key: self.attributes.get(key) for key in ("contact", "coordinates")}
        return Simulation(self.world, dt=self.dt, stepper=self.attributes["scheme"], **chosen).state(q, v, t)

    @property
    def certificate(self) -> Certificate:
        """Worst residuals over the run."""
        return self.as_run().certificate

    @property
    def errors(self) -> StepErrors:
        """As `Run.errors`."""
        return self.as_run().errors

    @property
    def energy(self) -> EnergyLedger:
        """Where the energy went."""
        return self.as_run().energy

    def as_run(self) -> Run:
        """The same as a `Run`, as it was in memory."""
        return self._run

    @cached_property
    def _run(self) -> Run:
        given, known = self.summary, self.attributes
        certificate, energy = self._judged()
        return Run(
            dt=self.dt,
            **{key: getattr(self, key) for key in (*STATES, "records", "contacts", "residuals")},
            tau=self.tau
            if len(self.tau) == len(self.t)
            else np.concatenate([self.tau, self._after_the_last("tau", self.tau)]),
            model=self.model,
            world=self.world,
            integrator=known["scheme"],
            contact=known.get("contact"),
            solver=known.get("solver"),
            coordinates=self.coordinates,
            certificate=certificate,
            energy=energy,
            wall_s=given.get("wall_s", 0.0),
            left_out=tuple(given.get("left_out", ())),
            blew_up=given.get("blew_up", ""),
            stopped=self.stopped,
            springs=known.get("springs", ""),
            accuracy=known.get("accuracy", ""),
            metrics=given.get("metrics", {}),
            events=[(t, name) for t, name in given.get("events", ())],
            state=self.state,
        )

    def _judged(self) -> tuple[Certificate, EnergyLedger]:
        """From the summary, or, where the run was cut off, from its rows."""
        if self.summary:
            booked = {key: x for key, x in self.summary["energy"].items() if key != "drift"}
            return Certificate(**self.summary["certificate"]), EnergyLedger(**booked)
        if self.records is None:
            from taction.sim.smooth_engine import judge_motion

            energy = self.kinetic + self.potential
            return judge_motion(self.model, self.dt, self.t, self.q, self.v, self.tau, energy)[:2]
        from taction.sim.contact_summary import make_certificate, make_ledger

        names = self.attributes["shapes"]
        errors = estimate_errors(self.model, self.dt, self.v, of_today(self.records))
        certificate = make_certificate(self.model, self.t, self.q, self.records, names, errors)
        return certificate, make_ledger(self.records, self.kinetic, self.potential, 0.0)

    def resample(self, dt: float) -> Samples:
        """States, forces and energies every dt [s] from the start on; see `taction.sim.resample`."""
        return self.as_run().resample(dt)

    def plot(self) -> Any:
        """As `Run.plot`."""
        return self.as_run().plot()

    def report(self, path: str | Path) -> Path:
        """As `Run.report`."""
        return self.as_run().report(path)

    def view(self, **options: Any) -> Any:
        """As `Run.view`."""
        return self.as_run().view(**options)


def load_run(path: str | Path) -> RecordedRun:
    """Read a run file: HDF5, finished, cut off by a kill, or still being written; or ``.npz``.

    Raises:
        BadInput: no such file, not a run file, or a damaged one.
    """
    path = as_path(path)
    try:
        return _load_npz(path) if path.suffix == ".npz" else _load_hdf5(path)
    except BadInput as error:
        text = str(error)
        raise BadInput(text if text.startswith(printable(f"{path}: ")) else f"{path}: {text}") from None
    except (LookupError, AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise BadInput(f"{path}: a damaged run file ({one_line(error)})") from None


def _load_hdf5(path: str | Path) -> RecordedRun:
    with open_run_file(path) as file:
        attributes = read_attributes(file)
        _check_header(attributes)
        written = file["written"][:].astype(np.int64, casting="same_kind")  # before the rows: they only grow
        steps, contacts, is_over = written.tolist()
        tables = {key: data for key, data in file.items() if key not in ("written", "contacts")}
        if "contacts" in file:
            tables |= {f"contacts/{key}": data for key, data in file["contacts"].items()}
        digest = tables.pop("digest")[()] if "digest" in tables else ()
        about = {key: read_attributes(data) for key, data in tables.items()}
        arrays = {key: data[()] for key, data in tables.items()}
    if (
        is_over
        and len(digest)
        and not np.array_equal(digest, content_digest(about | {"": attributes}, arrays))
    ):
        raise BadInput("damaged: its numbers are not those that were written")
    return _make(attributes, about, arrays, (steps, contacts), bool(is_over))


def _load_npz(path: str | Path) -> RecordedRun:
    arrays = read_archive(path)
    if "header" not in arrays:
        raise BadInput(
            "not a run file"
            if "summary" not in arrays
            else "written by a version whose .npz files are not read; use its .h5 files"
        )
    head = json.loads(str(arrays.pop("header")))
    _check_header(head["attributes"])
    arrays = {f"contacts/{key[8:]}" if key.startswith("contact_") else key: a for key, a in arrays.items()}
    arrays["summary"] = np.frombuffer(str(arrays["summary"]).encode(), dtype=np.uint8)
    steps = len(arrays["t"]) - 1
    if "records" in arrays:
        arrays["tau"] = arrays["tau"][:-1]
    counts = steps, len(arrays.get("contacts/step", ()))
    return _make(head["attributes"], head["tables"], arrays, counts, True)


def _check_header(attributes: Mapping[str, Any]) -> None:
    if attributes.get("format") != FORMAT:
        raise BadInput("not a run file")
    if int(attributes["version"]) > VERSION:
        raise BadInput(f"version {attributes['version']}, newer than this program ({VERSION})")
    check_attributes(attributes)


def _make(
    attributes: dict[str, Any],
    about: Mapping[str, Mapping[str, Any]],
    arrays: Mapping[str, Any],
    counts: tuple[int, int],
    is_over: bool,
) -> RecordedRun:
    """The run of a file's arrays, of which the first rows count: of steps, and of contacts."""
    steps, contacts = counts
    names = {key: tuple(a["columns"]) for key, a in about.items() if "columns" in a}
    units = {key: tuple(a["units"]) for key, a in about.items() if "units" in a}
    units |= {key: (a["unit"],) for key, a in about.items() if "unit" in a}
    has_contact = "records" in arrays
    rows = dict.fromkeys((*STATES, "motion"), steps + 1) | {"tau": steps if has_contact else steps + 1}
    rows |= {"records": steps} | {f"contacts/{key}": contacts for key in CONTACT_FIELDS}
    cut = {key: array[: rows[key]] for key, array in arrays.items() if key in rows}
    table = None
    if has_contact:
        table = ContactList(**{key: cut[f"contacts/{key}"] for key in CONTACT_FIELDS})
    residuals = cut.get("motion", np.zeros(0))
    none = np.zeros(0, dtype=np.uint8)
    texts = {key: arrays.get(key, none).astype(np.uint8, casting="safe").tobytes() for key in BYTES}
    summary = read_summary(texts["summary"] if is_over else b"")
    run = RecordedRun(
        dt=float(attributes["dt"]),
        **{key: cut[key] for key in (*STATES, "tau")},
        records=cut.get("records"),
        contacts=table,
        residuals=residuals if len(residuals) else None,
        names=names,
        units=units,
        attributes=attributes,
        summary=summary,
        is_complete=is_over and not summary.get("stopped", False),
        description=texts["description"],
        saved_state=texts["state"] if is_over else b"",
    )
    _check_rows(
        run, {key: len(array) - rows[key] for key, array in cut.items() if key != "motion" or len(array)}
    )
    return run


def _check_rows(run: RecordedRun, missing: Mapping[str, int]) -> None:
    """Raise `BadInput` unless the tables are as long as the file says, and name what there is."""
    short = [key for key, rest in missing.items() if rest]
    if run.steps < 0 or short:
        raise BadInput(f"damaged: rows are missing in {', '.join(short) or 'it'}")
    if not (np.isfinite(run.dt) and run.dt > 0 and np.isfinite(run.t).all()):
        raise BadInput("damaged: its times are not finite")
    layout = run.layout
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("t", "kinetic", "potential"), ())
    shapes |= {"q": (len(layout.q),), "v": (len(layout.v),), "tau": (len(layout.tau),)}
    tables = {key: (getattr(run, key), shape, np.float64) for key, shape in shapes.items()}
    if run.residuals is not None:
        tables["motion"] = run.residuals, (), np.float64
    if run.records is not None and run.contacts is not None:
        tables["records"] = run.records, (len(RECORD_COLUMNS),), np.float64
        tables |= {
            key: (getattr(run.contacts, key), field.shape, field.dtype)
            for key, field in CONTACT_FIELDS.items()
        }
    for key, (array, shape, dtype) in tables.items():
        if array.shape[1:] != shape or array.dtype != dtype:
            raise BadInput(f"damaged: {key} is not what a run file has there")
    if run.contacts is not None and len(run.contacts.step):
        step, pair = run.contacts.step, run.contacts.key[:, :2]
        known = min(len(layout.shapes), len(layout.shape_bodies))
        if not (0 <= step.min() <= step.max() < run.steps and 0 <= pair.min() <= pair.max() < known):
            raise BadInput("damaged: its contacts are of steps or shapes that it does not have")
