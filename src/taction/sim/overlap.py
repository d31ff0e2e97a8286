"""Which shapes overlap where a run starts, and what is said about it.

A start with overlaps is no error: the correction of positions pushes bodies apart, at a bounded speed. But it
is seldom meant, so it is found before the first step and named: one `OverlapWarning` with all pairs, or, in a
strict simulation and deeper than one step may repair, a `CertificateError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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


def read_overlaps(contacts: Contacts, world: World) -> list[Overlap]:
    """Pairs of shapes that overlap by more than a micrometre, the deepest first."""
    n = int(contacts.count[0])
    deepest: dict[tuple[int, int], float] = {}
    for k in np.flatnonzero(-contacts.gap[:n] > NAMED):
        pair = int(contacts.shape[k, 0]), int(contacts.shape[k, 1])
        deepest[pair] = max(deepest.get(pair, 0.0), -float(contacts.gap[k]))
    ordered = sorted(deepest.items(), key=lambda item: (-item[1], item[0]))
    return [
        Overlap(world.shape_names[a], world.shape_names[b], world.body_name(a), world.body_name(b), depth)
        for (a, b), depth in ordered
    ]


def describe(overlaps: Sequence[Overlap]) -> str:
    """Overlaps in one line."""
    more = len(overlaps) - SHOWN
    listed = "; ".join(str(overlap) for overlap in overlaps[:SHOWN])
    return listed + (f"; and {more} more pairs" if more > 0 else "")
