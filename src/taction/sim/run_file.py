"""Run files: a run as HDF5, readable while it is written and after a kill. This is the layout.

n steps and c contacts:

| dataset | shape | what |
|---|---|---|
| ``t`` | (n + 1,) | times |
| ``q``, ``v`` | (n + 1, nq), (n + 1, nv) | states |
| ``kinetic``, ``potential`` | (n + 1,) | energies |
| ``tau`` | (n, nv) | joint forces held over each step |
| ``records`` | (n, 22) | one row per step, `taction.sim.columns.RECORD_COLUMNS` |
| ``contacts/…`` | (c, …) | the fields of `taction.steppers.driver.ContactTable` |
| ``written`` | (3,) | steps and contacts that are safe, and whether the run is over |
| ``summary`` | (bytes,) | JSON, when the run is over |

A smooth run has no records and no contacts, but ``tau`` (n + 1, nv), and, when it is over, ``motion``
(n + 1,): residuals of the equation of motion.

Every dataset of numbers has attributes ``columns`` and ``units`` (one per column) or ``unit``. Model, step,
scheme, law, solver and versions are attributes of the file.

`taction.sim.recorder` writes such files, `taction.sim.recorded_run` reads them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taction._core.errors import BadInput
from taction.model.model import Model
from taction.sim.columns import RECORD_COLUMNS, Column, force_columns, position_columns, velocity_columns

FORMAT, VERSION = "taction run", 1
STEPS, CONTACTS, IS_OVER = 0, 1, 2  # entries of ``written``
STATES = ("t", "q", "v", "kinetic", "potential")


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
        "summary": Dataset((), np.uint8, []),
    }
    if not has_contact:
        return out | {"motion": Dataset((), np.float64, [Column("motion", "1")])}
    out["records"] = Dataset((len(RECORD_COLUMNS),), np.float64, list(RECORD_COLUMNS))
    return out | {f"contacts/{name}": field for name, field in CONTACT_FIELDS.items()}


def need_h5py() -> Any:
    """The library; `BadInput` where it is not installed."""
    try:
        import h5py
    except ImportError:
        raise BadInput("run files need h5py (pip install h5py)") from None
    return h5py
