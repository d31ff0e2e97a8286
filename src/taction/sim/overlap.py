"""Which shapes overlap where a run starts, and what is said about it.

Links of one robot that overlap in its neutral pose, or where a motion starts, do not collide in it unless the
world says so: shapes of many robots overlap at their joints and around their motors.

Any other start with overlaps is no error: the correction of positions pushes bodies apart, at a bounded
speed. But it is seldom meant, so it is found before the first step and named: one `OverlapWarning` with all
pairs, or, in a strict simulation and deeper than one step may repair, a `CertificateError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from taction._core.arrays import IntArray
from taction._core.errors import CertificateError, OverlapWarning
from taction.geometry.colliders import Contacts
from taction.sim.world import World

NAMED = 1e-6  # overlaps up to this are not worth a word [m]
SHOWN = 8  # pairs that a message names


@dataclass(frozen=True)
class Overlap:
    """Two shapes, one inside the other.

    Attributes:
        shape: name of one shape.
        other: name of the other.
        body: name of the body that carries the first, ``"world"`` for the ground.
        other_body: name of the body that carries the other.
        depth: how deep [m].
    """

    shape: str
    other: str
    body: str
    other_body: str
    depth: float

    def __str__(self) -> str:
        one, two = _label(self.shape, self.body), _label(self.other, self.other_body)
        return f"{one} and {two} by {self.depth:.3g} m"


def _label(shape: str, body: str) -> str:
    return shape if shape == body or body == "world" else f"{shape} of {body}"


def overlapping(contacts: Contacts) -> dict[tuple[int, int], float]:
    """Pairs of shapes that overlap by more than a micrometre, and by how much [m]; the deepest first."""
    n = int(contacts.count[0])
    deepest: dict[tuple[int, int], float] = {}
    for k in np.flatnonzero(-contacts.gap[:n] > NAMED):
        pair = int(contacts.shape[k, 0]), int(contacts.shape[k, 1])
        deepest[pair] = max(deepest.get(pair, 0.0), -float(contacts.gap[k]))
    return dict(sorted(deepest.items(), key=lambda item: (-item[1], item[0])))


def name_overlaps(found: Mapping[tuple[int, int], float], world: World) -> list[Overlap]:
    """Pairs of shapes and their depths with names."""
    return [
        Overlap(world.shape_names[a], world.shape_names[b], world.body_name(a), world.body_name(b), depth)
        for (a, b), depth in found.items()
    ]


def exempt_bodies(found: Mapping[tuple[int, int], float], world: World, where: str) -> IntArray:
    """Pairs of bodies (p, 2) of shapes of one robot that overlap, so that they shall not collide.

    Args:
        found: these shapes, and by how much they overlap [m].
        world: as the user made it.
        where: in the words of the warning.

    Warns:
        OverlapWarning: there are some; they are named.
    """
    if not found:
        return np.zeros((0, 2), dtype=np.int64)
    warnings.warn(
        f"{world.name}: links that overlap {where} do not collide: {describe(name_overlaps(found, world))}; "
        "World(self_collision='all') makes them",
        OverlapWarning,
        stacklevel=6,
    )
    pairs = {tuple(sorted(world.shape_body[list(pair)].tolist())) for pair in found}
    return np.array(sorted(pairs), dtype=np.int64)


def warn_of_start(overlaps: Sequence[Overlap], name: str, most: float) -> None:
    """Name the overlaps of a start.

    Args:
        overlaps: the deepest first.
        name: of the world.
        most: what a step of a strict run repairs [m].

    Raises:
        CertificateError: the deepest is deeper than that.

    Warns:
        OverlapWarning: there are some.
    """
    if not overlaps:
        return
    text = f"{name}: overlap at the start: {describe(overlaps)}"
    if overlaps[0].depth > most:
        raise CertificateError(f"{text}; a step repairs {most:.3g} m")
    warnings.warn(text, OverlapWarning, stacklevel=4)


def describe(overlaps: Sequence[Overlap]) -> str:
    """Overlaps in one line."""
    more = len(overlaps) - SHOWN
    listed = "; ".join(str(overlap) for overlap in overlaps[:SHOWN])
    return listed + (f"; and {more} more pairs" if more > 0 else "")
