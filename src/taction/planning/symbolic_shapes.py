"""Contacts of pairs of shapes in CasADi symbols: closed forms, as the narrow phase has them.

What it gives: for shapes s and t, each placed by its axes (3, 3) and centre (3,) and with its lengths, the
contacts as (normal from t to s, point midway between the surfaces, gap). They are the numbers of
`taction.geometry`, with the same order of contacts.

| s, t | contacts |
|---|---|
| sphere, half-space | the lowest point |
| capsule, half-space | both ends |
| box, half-space | all eight corners |
| sphere, sphere | one |
| box, sphere | one, from the signed distance of the centre |

Departures: squared distances have `TINY` added, so that derivatives are finite where centres coincide. At an
edge between regions of a box derivatives are those of one side.

References: [Ericson2005, Sections 5.1.3 and 5.1.9].
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taction._core.kinds import ShapeKind

TINY = 1e-24  # squared length that keeps derivatives finite where a direction is lost [m²]
Placed = tuple[Any, Any, Any]  # axes (3, 3), centre (3,), lengths
Found = list[tuple[Any, Any, Any]]


def sphere_plane(ca: Any, s: Placed, t: Placed) -> Found:
    """A sphere on a half-space."""
    n = t[0][:, 2]
    gap = ca.dot(n, s[1] - t[1]) - s[2][0]
    return [(n, s[1] - (s[2][0] + 0.5 * gap) * n, gap)]


def capsule_plane(ca: Any, s: Placed, t: Placed) -> Found:
    """A capsule on a half-space."""
    radius, half = s[2][0], s[2][1]
    return [
        sphere_plane(ca, (s[0], s[1] + side * half * s[0][:, 2], (radius,)), t)[0] for side in (-1.0, 1.0)
    ]


def box_plane(ca: Any, s: Placed, t: Placed) -> Found:
    """A box on a half-space."""
    out = []
    for corner in range(8):
        signs = [1.0 if corner & bit else -1.0 for bit in (1, 2, 4)]
        x = s[1] + s[0] @ ca.SX([sign * half for sign, half in zip(signs, s[2], strict=True)])
        out += sphere_plane(ca, (s[0], x, (0.0,)), t)
    return out


def sphere_sphere(ca: Any, s: Placed, t: Placed) -> Found:
    """Two spheres."""
    d = s[1] - t[1]
    distance = ca.sqrt(ca.dot(d, d) + TINY)
    gap = distance - (s[2][0] + t[2][0])
    n = d / distance
    return [(n, t[1] + (t[2][0] + 0.5 * gap) * n, gap)]


def box_sphere(ca: Any, s: Placed, t: Placed) -> Found:
    """A box and a sphere; inside the box the nearest face is the way out."""
    radius = t[2][0]
    x = s[0].T @ (t[1] - s[1])
    half = ca.SX([float(value) for value in s[2]])
    e = x - ca.fmin(ca.fmax(x, -half), half)
    outside = ca.sqrt(ca.dot(e, e) + TINY)
    depth = ca.fabs(x) - half
    is_x = ca.logic_and(depth[0] >= depth[1], depth[0] >= depth[2])
    is_y = ca.logic_and(ca.logic_not(is_x), depth[1] >= depth[2])
    is_z = ca.logic_not(ca.logic_or(is_x, is_y))
    side = ca.if_else(x >= 0.0, ca.SX.ones(3), -ca.SX.ones(3))
    is_out = ca.dot(e, e) > TINY
    distance = ca.if_else(is_out, outside, ca.fmax(depth[0], ca.fmax(depth[1], depth[2])))
    away = ca.if_else(is_out, e / outside, ca.vertcat(is_x, is_y, is_z) * side)
    n = -(s[0] @ away)
    gap = distance - radius
    return [(n, t[1] + (radius + 0.5 * gap) * n, gap)]


Form = Callable[[Any, Placed, Placed], Found]
FORMS: dict[tuple[ShapeKind, ShapeKind], Form] = {
    (ShapeKind.SPHERE, ShapeKind.PLANE): sphere_plane,
    (ShapeKind.CAPSULE, ShapeKind.PLANE): capsule_plane,
    (ShapeKind.BOX, ShapeKind.PLANE): box_plane,
    (ShapeKind.SPHERE, ShapeKind.SPHERE): sphere_sphere,
    (ShapeKind.BOX, ShapeKind.SPHERE): box_sphere,
}


def find_form(one: int, other: int) -> tuple[Form | None, bool, str]:
    """The closed form of a pair of kinds, None if there is none; whether the other comes first; its name."""
    kinds = ShapeKind(one), ShapeKind(other)
    text = " and ".join(kind.name.lower().replace("_", " ") for kind in kinds)
    return FORMS.get((max(kinds), min(kinds))), kinds[0] < kinds[1], text
