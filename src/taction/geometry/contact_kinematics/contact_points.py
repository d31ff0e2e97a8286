"""The generalised contact points of two surfaces: what the kinematics moves.

Points p_1 on the first surface and p_2 on the second, each in its own frame, with the distance Δ,
    p_1 + Δ g_1 = H p_2,    g_1 = −H g_2:
the line between them is perpendicular to both surfaces. Δ > 0 apart, 0 touching, < 0 in overlap.

References: [DuindamStramigioli2003, Eqs. (6) and (7)].
"""

from __future__ import annotations

from dataclasses import dataclass

from taction._core.arrays import Array
from taction._core.show import brief_repr
from taction.geometry.contact_kinematics.homogeneous import point
from taction.geometry.surfaces.base import Surface, as_point


@dataclass(frozen=True, eq=False)
class ContactPoints:
    """A pair of points whose normals are opposite and on one line.

    Attributes:
        p1: on the first surface, in its frame, shape (3,) [m].
        p2: on the second surface, in its frame, shape (3,) [m].
        distance: Δ [m], negative in overlap.
        members: which members of unions they are on; 0 for surfaces.
    """

    p1: Array
    p2: Array
    distance: float
    members: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "p1", as_point(self.p1))
        object.__setattr__(self, "p2", as_point(self.p2))

    __repr__ = brief_repr


@dataclass(frozen=True, eq=False)
class Rates:
    """How contact points move.

    Attributes:
        p1: velocity over the first surface, in its frame, shape (3,) [m/s].
        p2: velocity over the second surface, in its frame, shape (3,) [m/s].
        distance: Δ̇ [m/s].
    """

    p1: Array
    p2: Array
    distance: float

    __repr__ = brief_repr


def signed_distance(first: Surface, H: Array, p1: Array, p2: Array) -> float:
    """Δ = ⟨g_1, H p_2 − p_1⟩ [m]."""
    return float(first.gauss_map(p1) @ ((H @ point(p2))[:3] - p1))
