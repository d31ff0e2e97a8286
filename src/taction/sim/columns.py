"""Names and units of what a run records, column by column.

A coordinate is called by its joint, with a suffix where the joint has several:

| joint | positions | velocities |
|---|---|---|
| revolute, prismatic | ``hip`` | ``hip`` |
| universal | ``neck.1``, ``neck.2`` | the same |
| planar | ``base.x``, ``base.y``, ``base.angle`` | the same |
| spherical | ``ball.qw`` … ``ball.qz`` | ``ball.wx``, ``ball.wy``, ``ball.wz`` |
| floating | ``root.x`` … ``root.z``, ``root.qw`` … ``root.qz`` | ``root.x`` … ``root.wz`` |

The columns of a step's record through contact are those of `taction.steppers.columns`, in its order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import IntArray
from taction._core.kinds import JointKind
from taction.model.model import Model
from taction.steppers.columns import RECORD


class Column(NamedTuple):
    """A recorded number: its name and its SI unit, ``"1"`` if it has none."""

    name: str
    unit: str


RECORD_COLUMNS = tuple(Column(name, unit) for name, unit, _ in RECORD)

_TURN = [("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1")]
_PLACE = [("x", "m"), ("y", "m"), ("z", "m")]
_PARTS: dict[JointKind, list[tuple[str, str]]] = {
    JointKind.REVOLUTE: [("", "rad")],
    JointKind.CONTINUOUS: [("", "rad")],
    JointKind.PRISMATIC: [("", "m")],
    JointKind.UNIVERSAL: [("1", "rad"), ("2", "rad")],
    JointKind.PLANAR: [("x", "m"), ("y", "m"), ("angle", "rad")],
    JointKind.SPHERICAL: _TURN,
    JointKind.FLOATING: _PLACE + _TURN,
}
_SPIN = [("wx", "rad"), ("wy", "rad"), ("wz", "rad")]
_RATES = {JointKind.SPHERICAL: _SPIN, JointKind.FLOATING: _PLACE + _SPIN}
_FORCE = {"m": "N", "rad": "N m"}


def position_columns(model: Model) -> list[Column]:
    """Names and units of the entries of a configuration, nq of them."""
    return [
        Column(_join(joint.name, part), unit) for joint in model.joints for part, unit in _PARTS[joint.kind]
    ]


def velocity_columns(model: Model) -> list[Column]:
    """Names and units of the entries of a velocity, nv of them."""
    return [Column(name, f"{unit}/s") for name, unit in _rates(model)]


def force_columns(model: Model) -> list[Column]:
    """Names and units of the entries of a joint force, nv of them."""
    return [Column(name, _FORCE[unit]) for name, unit in _rates(model)]


def shared_unit(columns: list[Column]) -> str:
    """The unit of all columns, or the different ones in the order in which they appear."""
    return ", ".join(dict.fromkeys(column.unit for column in columns)) or "1"


def quaternion_starts(model: Model) -> IntArray:
    """Where the quaternions of a configuration begin."""
    ends = [joint.q_slice.stop for joint in model.joints if joint.kind.nq != joint.kind.nv]
    return np.array(ends, dtype=np.int64) - 4


def _rates(model: Model) -> list[tuple[str, str]]:
    return [
        (_join(joint.name, part), unit)
        for joint in model.joints
        for part, unit in _RATES.get(joint.kind, _PARTS[joint.kind])
    ]


def _join(joint: str, part: str) -> str:
    return f"{joint}.{part}" if part else joint
