"""Which loops start open, and what is said about it.

Anchors of a file are rounded, and a motion may start from any configuration. What is open by no more than
`OPEN` the first steps close without a word. What is open by more, up to `WIDEST` of the size of what the loop
connects, the correction of positions pulls shut over several steps, at the bounded speed at which it pushes
bodies apart that overlap and brings joints back to their stops: it moves positions only, so no kinetic energy
is made, and the start is not changed. It is seldom meant, so it is named before the first step: one
`LoopWarning` with all such loops, or, in a strict simulation and wider than one step may close, a
`CertificateError`. What is open wider still is another configuration and no drift: which of several closures
is meant only the user knows, so it is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from taction._core.arrays import Array
from taction._core.errors import BadInput, CertificateError, LoopWarning
from taction.kinematics.loops import loop_gaps
from taction.model.model import Model
from taction.sim.contact_summary import OPEN

WIDEST = 0.2  # of the size of what a loop connects, or radians: what is open by more is refused
SHOWN = 8  # loops that a message names


@dataclass(frozen=True)
class OpenLoop:
    """A loop that is open.

    Attributes:
        name: of the loop.
        distance: of its two frames [m].
        angle: between them, as far as it must be none [rad].
        widest: distance that the first steps close [m]; at most `WIDEST` of what it connects.
    """

    name: str
    distance: float
    angle: float
    widest: float

    def __str__(self) -> str:
        return f"{self.name} by {self.distance:.3g} m and {self.angle:.3g} rad"

    @property
    def is_refused(self) -> bool:
        """Whether it is open by more than the first steps close."""
        return self.distance > max(self.widest, OPEN) or self.angle > WIDEST


def find_open_loops(model: Model, sizes: Array, q: Array) -> list[OpenLoop]:
    """Loops that a configuration q (nq,) leaves open by more than `OPEN`, the widest first.

    sizes: of what each loop connects [m], shape (m,).
    """
    found = [
        OpenLoop(gap.name, gap.distance, gap.angle, WIDEST * float(size))
        for gap, size in zip(loop_gaps(model, q), sizes, strict=True)
        if max(gap.distance, gap.angle) > OPEN
    ]
    return sorted(found, key=lambda loop: -max(loop.distance, loop.angle))


def refuse_wide(found: Sequence[OpenLoop], name: str) -> None:
    """Raise `BadInput` where a loop is open by more than the first steps close; ``name``: of the model."""
    for loop in found:
        if loop.is_refused:
            raise BadInput(
                f"{name}: loop {loop.name!r} is open at the start, by {loop.distance:.3g} m and "
                f"{loop.angle:.3g} rad, where steps close {loop.widest:.3g} m and {WIDEST:g} rad; "
                "taction.close_loops(model, q) finds a configuration that closes it"
            )


def warn_of_loops(found: Sequence[OpenLoop], name: str, bounds: tuple[float, float] | None) -> None:
    """Name the loops that start open.

    Args:
        found: the widest first.
        name: of the world.
        bounds: what a step of a strict run closes [m] and [rad]; None if the run is not strict.

    Raises:
        CertificateError: a strict run, and one is open by more than that.

    Warns:
        LoopWarning: there are some.
    """
    if not found:
        return
    text = f"{name}: loops open at the start: {describe(found)}"
    if bounds is not None and any(loop.distance > bounds[0] or loop.angle > bounds[1] for loop in found):
        raise CertificateError(
            f"{text}; a step closes {bounds[0]:.3g} m and {bounds[1]:.3g} rad; taction.close_loops(model, q) "
            "closes them before"
        )
    warnings.warn(f"{text}; the first steps close them", LoopWarning, stacklevel=4)


def describe(found: Sequence[OpenLoop]) -> str:
    """Loops in one line."""
    more = len(found) - SHOWN
    return "; ".join(map(str, found[:SHOWN])) + (f"; and {more} more" if more > 0 else "")
