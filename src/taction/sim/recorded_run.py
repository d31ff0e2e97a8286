"""`RecordedRun`: a run read back from its file, and `load_run`, which reads it.

The file may be finished, cut off by a kill, or still being written. One whose writer was killed is still
marked as being written; it opens for reading in the mode for readers (``h5py.File(path, swmr=True)``), which
is what `load_run` does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.sim.columns import Column
from taction.sim.recording import Layout, Recording
from taction.sim.run_file import CONTACT_FIELDS, FORMAT, STATES, VERSION, need_h5py


@dataclass(frozen=True, eq=False, kw_only=True)
class RecordedRun(Recording):
    """A run read from a file: arrays, names and settings, without the model.

    Besides the arrays of `taction.sim.recording.Recording`; through contact ``tau`` has n rows, one per step.

    Attributes:
        names: names of the columns of q, v, tau and records, by array.
        units: their units, one per column; a single one for an array of one column.
        attributes: model, dt, scheme, law, solver, versions, names of bodies and shapes.
        summary: certificate, ledger and so on; empty if the run was cut off.
        is_complete: whether the run came to its end, in one way or another, and closed the file.
    """

    names: dict[str, tuple[str, ...]]
    units: dict[str, tuple[str, ...]]
    attributes: dict[str, Any]
    summary: dict[str, Any]
    is_complete: bool

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
    h5py = need_h5py()
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
    from taction.steppers.records import ContactTable

    steps, contacts, is_over = (int(x) for x in file["written"][:])  # before the rows: they only grow
    names = {key: tuple(data.attrs["columns"]) for key, data in file.items() if "columns" in data.attrs}
    units = {key: tuple(data.attrs["units"]) for key, data in file.items() if "units" in data.attrs}
    units |= {key: (data.attrs["unit"],) for key, data in file.items() if "unit" in data.attrs}
    has_contact = "records" in file
    table = None
    if has_contact:
        fields = {key: file[f"contacts/{key}"][:contacts] for key in CONTACT_FIELDS}
        table = ContactTable(count=np.array([contacts]), **fields)
    residuals = file["motion"][: steps + 1] if "motion" in file else None
    text = file["summary"][:].tobytes() if is_over else b""
    return RecordedRun(
        dt=float(file.attrs["dt"]),
        **{key: file[key][: steps + 1] for key in STATES},
        tau=file["tau"][: steps if has_contact else steps + 1],
        records=file["records"][:steps] if has_contact else None,
        contacts=table,
        residuals=residuals if residuals is not None and len(residuals) else None,
        names=names,
        units=units,
        attributes={key: _plain(value) for key, value in file.attrs.items()},
        summary=json.loads(text) if text else {},
        is_complete=bool(is_over),
    )


def _plain(value: Any) -> Any:
    """An attribute as Python has it: lists of text and numbers instead of arrays."""
    return value.tolist() if hasattr(value, "tolist") else value
