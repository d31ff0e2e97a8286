"""Run files: a run as HDF5, readable while it is written and after a kill. This is the layout.

n steps and c contacts:

| dataset | shape | what |
|---|---|---|
| ``t`` | (n + 1,) | times |
| ``q``, ``v`` | (n + 1, nq), (n + 1, nv) | states |
| ``kinetic``, ``potential`` | (n + 1,) | energies |
| ``tau`` | (n, nv) | joint forces held over each step |
| ``records`` | (n, ·) | one row per step, `taction.sim.columns.RECORD_COLUMNS` |
| ``contacts/…`` | (c, …) | the fields of `taction.steppers.driver.ContactTable` |
| ``written`` | (3,) | steps and contacts that are safe, and whether the run is over |
| ``description`` | (bytes,) | model and world, `taction.sim.description` |
| ``summary`` | (bytes,) | JSON, when the run is over |
| ``state`` | (bytes,) | where it ended, as `SimState.save` writes it, when the run is over |
| ``digest`` | (16,) | of all these but ``written``, when the run is over: damage shows |

A smooth run has no records and no contacts, but ``tau`` (n + 1, nv), and, when it is over, ``motion``
(n + 1,): residuals of the equation of motion.

Every dataset of numbers has attributes ``columns`` and ``units`` (one per column) or ``unit``. Model, step,
scheme, law, solver and versions are attributes of the file.

A ``.npz`` file has the same but ``written`` and ``digest``, contacts as ``contact_…``, ``tau`` (n + 1, nv) in
any case, and attributes, columns and units as JSON in ``header``.

`taction.sim.recorder` writes such files, `taction.sim.recorded_run` reads them.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from hashlib import blake2b
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.model import Model
from taction.sim.columns import RECORD_COLUMNS, Column, force_columns, position_columns, velocity_columns

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.world import World

FORMAT, VERSION = "taction run", 1
STEPS, CONTACTS, IS_OVER = 0, 1, 2  # entries of ``written``
STATES = ("t", "q", "v", "kinetic", "potential")
BYTES = ("description", "summary", "state")  # what is no table of numbers


class Dataset(NamedTuple):
    """What one entry of a dataset is."""

    shape: tuple[int, ...]
    dtype: Any
    columns: list[Column]


CONTACT_FIELDS = {
    "step": Dataset((), np.int64, [Column("step", "1")]),
    "key": Dataset((3,), np.int64, [Column(name, "1") for name in ("shape_a", "shape_b", "feature")]),
    "point": Dataset((3,), np.float64, [Column(name, "m") for name in "xyz"]),
    "frame": Dataset(
        (9,), np.float64, [Column(f"{axis}_{c}", "1") for c in "xyz" for axis in ("n", "t1", "t2")]
    ),
    "gap": Dataset((), np.float64, [Column("gap", "m")]),
    "impulse": Dataset((3,), np.float64, [Column(name, "N s") for name in ("n", "t1", "t2")]),
    "velocity": Dataset((3,), np.float64, [Column(name, "m/s") for name in ("n", "t1", "t2")]),
}


def datasets(model: Model, has_contact: bool) -> dict[str, Dataset]:
    """All that grows with a run of a model, by name."""
    out = {
        "t": Dataset((), np.float64, [Column("t", "s")]),
        "q": Dataset((model.nq,), np.float64, position_columns(model)),
        "v": Dataset((model.nv,), np.float64, velocity_columns(model)),
        "tau": Dataset((model.nv,), np.float64, force_columns(model)),
        "kinetic": Dataset((), np.float64, [Column("kinetic", "J")]),
        "potential": Dataset((), np.float64, [Column("potential", "J")]),
        **{name: Dataset((), np.uint8, []) for name in (*BYTES, "digest")},
    }
    if not has_contact:
        return out | {"motion": Dataset((), np.float64, [Column("motion", "1")])}
    out["records"] = Dataset((len(RECORD_COLUMNS),), np.float64, list(RECORD_COLUMNS))
    return out | {f"contacts/{name}": field for name, field in CONTACT_FIELDS.items()}


def header(model: Model, dt: float, world: World | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says about its run as a whole: text, numbers and lists of text, by name."""
    out = {"format": FORMAT, "version": VERSION, "model": model.name, "dt": dt}
    out |= {key: value for key, value in settings.items() if value is not None}
    out["bodies"] = list(model.body_names)
    if world is not None:
        out["shapes"] = list(world.shape_names)
        out["shape_bodies"] = [world.body_name(i) for i in range(len(world.shape_names))]
    out["python_version"] = platform.python_version()
    for package in ("numpy", "numba"):
        out[f"{package}_version"] = version(package)
    # the package itself, loaded for sure; importing it here would import every layer above
    return out | {"taction_version": sys.modules["taction"].__version__}


def column_names(dataset: Dataset) -> dict[str, Any]:
    """Attributes of a dataset: ``columns`` and ``units``, or ``unit`` of a single one, or none."""
    columns = dataset.columns
    if dataset.shape:
        return {"columns": [c.name for c in columns], "units": [c.unit for c in columns]}
    return {"unit": columns[0].unit} if columns else {}


def write_attributes(place: Any, values: Mapping[str, Any]) -> None:
    """Attributes of a file or dataset, text with a fixed length.

    Text of any length would lie in a heap that has no sum, and a damaged heap keeps HDF5 busy for ever.
    """
    for name, value in values.items():
        if isinstance(value, (int, float)):
            place.attrs[name] = value
            continue
        text = np.array([word.encode() for word in ([value] if isinstance(value, str) else value)], dtype="S")
        place.attrs[name] = text[0] if isinstance(value, str) else text


def read_attributes(place: Any) -> dict[str, Any]:
    """Attributes of a file or dataset as Python has them: text, numbers, lists of text."""
    return {name: _plain(value) for name, value in place.attrs.items()}


def _plain(value: Any) -> Any:
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def content_digest(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> Array:
    """A digest of arrays, their names, and what is said about them, shape (16,), uint8."""
    total = blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16)
    for name in sorted(arrays):
        total.update(name.encode())
        total.update(np.ascontiguousarray(arrays[name]).tobytes())
    return np.frombuffer(total.digest(), dtype=np.uint8)


def need_h5py() -> Any:
    """The library; `BadInput` where it is not installed."""
    try:
        import h5py
    except ImportError:
        raise BadInput("run files need h5py (pip install h5py)") from None
    return h5py
