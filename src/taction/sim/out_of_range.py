"""Which joints and tendons start beyond their stops, and what is said about it.

A description may have its zero outside a joint's own range, as many arms and legged robots have, and a motion
may start anywhere. That is no error: the correction of positions brings joints back to their stops at a
bounded speed, as it pushes bodies apart that overlap. But it is seldom meant, and force and velocity laws say
nothing about it, so it is found before the first step and named: one `RangeWarning` with all joints, or, in a
strict simulation and farther out than one step may repair, a `CertificateError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import CertificateError, RangeWarning
from taction.dynamics.joint_law import joint_law
from taction.model.model import Model
from taction.model.spec import TendonSpec
from taction.sim.columns import position_columns
from taction.sim.sensor_lengths import Lengths

NAMED = 1e-6  # what is beyond a stop by less is not worth a word [m or rad]
SHOWN = 8  # joints that a message names


@dataclass(frozen=True)
class OutOfRange:
    """A joint or a tendon beyond its stop.

    Attributes:
        name: of the joint, with a suffix where it has several coordinates; or of the tendon.
        value: its coordinate or length.
        lower: smallest that its range allows.
        upper: largest.
        unit: of these, ``"rad"`` or ``"m"``.
        kind: ``"joint"`` or ``"tendon"``.
    """

    name: str
    value: float
    lower: float
    upper: float
    unit: str
    kind: str = "joint"

    @property
    def by(self) -> float:
        """How far it is beyond its stop."""
        return max(self.lower - self.value, self.value - self.upper)

    def __str__(self) -> str:
        what = self.name if self.kind == "joint" else f"{self.kind} {self.name}"
        return (
            f"{what} at {self.value:.4g} by {self.by:.3g} {self.unit} (range {self.lower:.4g} to "
            f"{self.upper:.4g})"
        )


def find_out_of_range(model: Model, q: Array) -> list[OutOfRange]:
    """What a configuration q (nq,) has beyond its stops by more than a millionth, the farthest first."""
    ranges, values = _limited(model), _coordinates(model, q[None])[0]
    found = [replace(part, value=float(x)) for part, x in zip(ranges, values, strict=True)]
    return sorted((part for part in found if part.by > NAMED), key=lambda part: -part.by)


def farthest_out(model: Model, Q: Array) -> Array:
    """How far configurations Q (n, nq) have a joint or tendon beyond its stop, 0 if none; shape (n,)."""
    ranges, values = _limited(model), _coordinates(model, Q)
    low, high = np.array([(part.lower, part.upper) for part in ranges]).reshape(-1, 2).T
    return np.maximum(low - values, values - high).max(axis=1, initial=0.0)


def _limited(model: Model) -> list[OutOfRange]:
    """The joints and tendons that have stops, without values; in the order of `_coordinates`."""
    columns, out = position_columns(model), []
    for i, lower, upper in zip(joint_law(model).iq, model.lower, model.upper, strict=True):
        if i >= 0 and not (lower == -np.inf and upper == np.inf):
            out.append(OutOfRange(columns[i].name, np.nan, float(lower), float(upper), columns[i].unit))
    for tendon in _limited_tendons(model):
        first = min((model.joint(name) for name in tendon.joints), key=lambda j: j.iv, default=None)
        unit = "m" if first is None else first.kind.motion.positions[0].unit
        out.append(OutOfRange(tendon.name, np.nan, tendon.lower, tendon.upper, unit, "tendon"))
    return out


def _coordinates(model: Model, Q: Array) -> Array:
    """Coordinates and lengths of what has stops in configurations Q (n, nq), shape (n, k)."""
    has_stop = (joint_law(model).iq >= 0) & ~((model.lower == -np.inf) & (model.upper == np.inf))
    values, tendons = [Q[:, joint_law(model).iq[has_stop]]], _limited_tendons(model)
    if tendons:
        lengths = Lengths(model, Q, np.zeros((len(Q), model.nv)))
        values += [lengths.tendon(tendon.name)[0][:, None] for tendon in tendons]
    return np.concatenate(values, axis=1)


def _limited_tendons(model: Model) -> list[TendonSpec]:
    return [t for t in model.spec.tendons if np.isfinite(t.lower) or np.isfinite(t.upper)]


def most_in_a_step(part: OutOfRange, push: float, turn: float) -> float:
    """How far the correction of positions brings a joint or tendon back in a step: push [m] or turn [rad]."""
    return turn if part.unit == "rad" else push


def warn_of_range(found: Sequence[OutOfRange], name: str, bounds: tuple[float, float] | None) -> None:
    """Name what starts beyond its stop.

    Args:
        found: the farthest first.
        name: of the world.
        bounds: what a step of a strict run repairs [m] and [rad]; None if the run is not strict.

    Raises:
        CertificateError: a strict run, and one is farther out than that.

    Warns:
        RangeWarning: there are some.
    """
    if not found:
        return
    text = f"{name}: beyond their stops at the start: {describe(found)}"
    if bounds is not None:
        for part in found:
            most = most_in_a_step(part, *bounds)
            if part.by > most:
                raise CertificateError(f"{text}; a step repairs {most:.3g} {part.unit}")
    warnings.warn(text, RangeWarning, stacklevel=4)


def describe(found: Sequence[OutOfRange]) -> str:
    """Joints and tendons in one line."""
    more = len(found) - SHOWN
    return "; ".join(map(str, found[:SHOWN])) + (f"; and {more} more" if more > 0 else "")
