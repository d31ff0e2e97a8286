"""How far two states of a mechanism are from each other, in metres and in metres per second.

What it solves, for each link with its centre of mass c, its axes R and its radius of gyration about that,
ρ = √(½ tr Θ / m), the root of the mean square distance of its mass:

    distance of places      max over links of  max(|c_b − c_a|,  ρ φ)
    distance of velocities  max over links of  max(|ċ_b − ċ_a|,  ρ |ω_b − ω_a|)

φ = ‖R_b − R_a‖_F / √2 = 2 sin(½ angle) is the turn from one to the other. Both are of what moves in the
world, so that they are the same for joint and for absolute coordinates, and no unit of an angle enters.

Notation: centre (3), axes (9), velocity of the centre (3), angular velocity (3) of each link, world axes: a
*picture* of the state, one row per link.

Cost: that of the forward kinematics of both states.

References: [Featherstone2008, Section 4.4] for the kinematics.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction._core.jit import direct, inline_kernel, kernel
from taction.kinematics.forward import link_velocities, place_links
from taction.math.vector import add, cross, dot, load3, load9, mat_vec, store3, store9, sub
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, Model
from taction.model.workspace import AXES, OMEGA, ORIGIN, SPEED, make_workspace

# Columns of a picture
CENTRE, TURN, MOVED, SPIN, PICTURE_WIDTH = 0, 3, 12, 15, 18


@inline_kernel
def draw_state(tree, centre, q, v, ws, picture_out):
    """The picture (n, PICTURE_WIDTH) of a state q (nq,), v (nv,); centre (n, 3): of mass, link axes."""
    place_links(tree, q, ws)
    link_velocities(tree, v, ws)
    for i in range(1, tree.parent.shape[0]):
        R, w = load9(ws, i, AXES), load3(ws, i, OMEGA)
        arm = mat_vec(R, load3(centre, i, 0))
        store3(add(load3(ws, i, ORIGIN), arm), i, CENTRE, picture_out)
        store9(R, i, TURN, picture_out)
        store3(add(load3(ws, i, SPEED), cross(w, arm)), i, MOVED, picture_out)
        store3(w, i, SPIN, picture_out)


@inline_kernel
def compare_pictures(radius, a, b):
    """Distances of places [m] and of velocities [m/s] of two pictures; radius (n,): of gyration."""
    place, speed = 0.0, 0.0
    for i in range(1, radius.shape[0]):
        turn = 0.0
        for c in range(9):
            e = b[i, TURN + c] - a[i, TURN + c]
            turn += e * e
        d = sub(load3(b, i, CENTRE), load3(a, i, CENTRE))
        place = max(place, dot(d, d), radius[i] * radius[i] * 0.5 * turn)
        u = sub(load3(b, i, MOVED), load3(a, i, MOVED))
        w = sub(load3(b, i, SPIN), load3(a, i, SPIN))
        speed = max(speed, dot(u, u), radius[i] * radius[i] * dot(w, w))
    return math.sqrt(place), math.sqrt(speed)


@kernel
def state_distance(tree, centre, radius, qa, va, qb, vb, ws, pictures_out):
    """Distances of places [m] and of velocities [m/s] of two states, their pictures (2, n, ·) on the way."""
    draw_state(tree, centre, qa, va, ws, pictures_out[0])
    draw_state(tree, centre, qb, vb, ws, pictures_out[1])
    return compare_pictures(radius, pictures_out[0], pictures_out[1])


def centres_and_radii(model: Model) -> tuple[Array, Array]:
    """Centre of mass of each link, link axes [m], (n, 3), and its radius of gyration about it [m], (n,).

    Zero where a link has no mass, or numbers with which none can be said.
    """
    constant = model.tree.constant
    mass = constant[:, BODY_MASS]
    moments = constant[:, [BODY_INERTIA, BODY_INERTIA + 3, BODY_INERTIA + 5]].sum(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        share = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0.0)
        centre = constant[:, BODY_FIRST : BODY_FIRST + 3] * share[:, None]
        square = 0.5 * moments * share - (centre**2).sum(axis=1)
    is_known = np.isfinite(centre).all(axis=1) & np.isfinite(square)
    return np.where(is_known[:, None], centre, 0.0), np.sqrt(np.where(is_known, np.maximum(square, 0.0), 0.0))


class StateRuler:
    """Measures distances of states of one mechanism; its scratch is its own.

    Attributes:
        centre: of mass of each link, link axes [m], shape (n, 3); its origin where it has no mass.
        radius: of gyration about it [m], shape (n,).
    """

    def __init__(self, model: Model) -> None:
        self.centre, self.radius = centres_and_radii(model)
        self._tree, self._ws = model.tree, make_workspace(model)
        self._pictures, self._kernel = np.zeros((2, model.n_links, PICTURE_WIDTH)), state_distance

    def measure(self, qa: Array, va: Array, qb: Array, vb: Array) -> tuple[float, float]:
        """Distances of places [m] and of velocities [m/s] of two states q (nq,), v (nv,)."""
        place, speed = self._kernel(
            self._tree, self.centre, self.radius, qa, va, qb, vb, self._ws, self._pictures
        )
        if self._kernel is state_distance:
            self._kernel = direct(state_distance)
        return float(place), float(speed)
