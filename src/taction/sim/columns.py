"""Names and units of what a run records, column by column.

A coordinate is called by its joint, ``hip``, with a suffix where the joint has several: ``neck.1`` and
``neck.2`` of a universal joint, ``root.x`` … ``root.z``, ``root.qw`` … ``root.qz`` of a floating one, its
velocities ``root.x`` … ``root.wz``. The suffixes are the names of `taction.model.joints`.

The columns of a step's record through contact are those of `taction.steppers.columns`, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.model.model import Model
from taction.steppers.columns import RECORD


class Column(NamedTuple):
    """A recorded number: its name and its SI unit, ``"1"`` if it has none."""

    name: str
    unit: str


RECORD_COLUMNS = tuple(Column(name, unit) for name, unit, _ in RECORD)

FORCE_UNITS = {"m": "N", "rad": "N m"}


def position_columns(model: Model) -> list[Column]:
    """Names and units of the entries of a configuration, nq of them."""
    return [
        Column(_join(joint.name, part), unit)
        for joint in model.joints
        for part, unit in joint.kind.motion.positions
    ]


def velocity_columns(model: Model) -> list[Column]:
    """Names and units of the entries of a velocity, nv of them."""
    return [Column(name, f"{unit}/s") for name, unit in _rates(model)]


def force_columns(model: Model) -> list[Column]:
    """Names and units of the entries of a joint force, nv of them."""
    return [Column(name, FORCE_UNITS[unit]) for name, unit in _rates(model)]


def shared_unit(columns: list[Column]) -> str:
    """The unit of all columns, or the different ones in the order in which they appear."""
    return ", ".join(dict.fromkeys(column.unit for column in columns)) or "1"


def quaternion_starts(model: Model) -> IntArray:
    """Where the quaternions of a configuration begin."""
    ends = [joint.q_slice.stop for joint in model.joints if joint.kind.has_quaternion]
    return np.array(ends, dtype=np.int64) - 4


def data_frame(columns: Callable[[], Mapping[str, tuple[Array, str]]]) -> Any:
    """Columns by name, each with its unit, as a pandas data frame; the units are in its ``attrs["units"]``.

    Raises:
        BadInput: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise BadInput("to_dataframe needs pandas (pip install 'taction[pandas]')") from None
    found = columns()
    frame = pandas.DataFrame({name: array for name, (array, _) in found.items()})
    frame.attrs["units"] = {name: unit for name, (_, unit) in found.items()}
    return frame


def _rates(model: Model) -> list[tuple[str, str]]:
    return [
        (_join(joint.name, part), unit)
        for joint in model.joints
        for part, unit in joint.kind.motion.velocities
    ]


def _join(joint: str, part: str) -> str:
    return f"{joint}.{part}" if part else joint
