"""Energy, momentum and centre of mass.

What it solves: sums over links of mass, first moment, momentum and energy, with the world's gravity.

Notation (world axes): m mass, h first moment and I inertia about the link origin; u velocity of the link
origin, ω angular velocity, p origin.
    linear momentum            l = Σ m u + ω × h
    angular momentum about 0   k = Σ p × (m u + ω × h) + h × u + I ω
    kinetic energy             T = Σ ½ m u·u + u·(ω × h) + ½ ω·I ω  +  Σ ½ armature v²
    potential energy           V = −Σ (m p + h)·gravity
The momentum of rotors (armature) is not part of l and k: their axes move with the links.

Cost: O(n). References: [Featherstone2008, Section 2.10].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.jit import kernel
from taction._core.show import brief_repr
from taction.kinematics.forward import link_velocities, place_links
from taction.math.vector import add, add_scaled, cross, dot, load3, load6, load9, mat_t_vec, mat_vec, sym_vec
from taction.model.model import BODY_FIRST, BODY_INERTIA, BODY_MASS, Model, of_model
from taction.model.workspace import AXES, OMEGA, ORIGIN, SPEED, make_workspace


@kernel
def sum_links(tree, q, v, ws):
    """Mass, first moment, momenta and energies of the whole tree; see the module's equations."""
    place_links(tree, q, ws)
    link_velocities(tree, v, ws)
    mass = 0.0
    kinetic = 0.0
    first = (0.0, 0.0, 0.0)
    linear = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    for i in range(1, tree.parent.shape[0]):
        m = tree.constant[i, BODY_MASS]
        R = load9(ws, i, AXES)
        w = load3(ws, i, OMEGA)
        u = load3(ws, i, SPEED)
        p = load3(ws, i, ORIGIN)
        h = mat_vec(R, load3(tree.constant, i, BODY_FIRST))
        w_link = mat_t_vec(R, w)
        spin = sym_vec(load6(tree.constant, i, BODY_INERTIA), w_link)
        l = add_scaled(cross(w, h), m, u)
        mass += m
        first = add(first, add_scaled(h, m, p))
        linear = add(linear, l)
        angular = add(angular, add(add(cross(p, l), cross(h, u)), mat_vec(R, spin)))
        kinetic += 0.5 * (dot(u, l) + dot(u, cross(w, h)) + dot(w_link, spin))
    for k in range(v.shape[0]):
        kinetic += 0.5 * tree.armature[k] * v[k] * v[k]
    potential = -(first[0] * tree.gravity[0] + first[1] * tree.gravity[1] + first[2] * tree.gravity[2])
    return mass, first, linear, angular, kinetic, potential


@kernel
def link_energies(tree, v, ws):
    """(kinetic, potential) of the whole tree at velocities v (nv,); links are placed and have theirs."""
    kinetic, weight = 0.0, (0.0, 0.0, 0.0)
    for i in range(1, tree.parent.shape[0]):
        m, R = tree.constant[i, BODY_MASS], load9(ws, i, AXES)
        w, u = load3(ws, i, OMEGA), load3(ws, i, SPEED)
        h = mat_vec(R, load3(tree.constant, i, BODY_FIRST))
        own = mat_t_vec(R, w)
        spin = sym_vec(load6(tree.constant, i, BODY_INERTIA), own)
        kinetic += 0.5 * (m * dot(u, u) + dot(own, spin)) + dot(u, cross(w, h))
        weight = add(weight, add_scaled(h, m, load3(ws, i, ORIGIN)))
    for d in range(v.shape[0]):
        kinetic += 0.5 * tree.armature[d] * v[d] * v[d]
    return kinetic, -(weight[0] * tree.gravity[0] + weight[1] * tree.gravity[1] + weight[2] * tree.gravity[2])


class Totals(NamedTuple):
    """Sums over everything that moves, world axes."""

    mass: float  # [kg]
    com: Array  # (3,) centre of mass [m]; the origin if nothing moves
    linear_momentum: Array  # (3,) [kg m/s]
    angular_momentum: Array  # (3,) about the centre of mass [kg m²/s]
    kinetic: float  # [J]
    potential: float  # [J], zero at the world's origin

    def __repr__(self) -> str:
        return brief_repr(self)

    @property
    def energy(self) -> float:
        """Kinetic plus potential energy [J]."""
        return self.kinetic + self.potential

    @property
    def com_velocity(self) -> Array:
        """Velocity of the centre of mass [m/s], shape (3,)."""
        return self.linear_momentum / (self.mass or 1.0)


@of_model
def totals(model: Model, q: ArrayLike, v: ArrayLike | None = None) -> Totals:
    """Mass, centre of mass, momenta and energies at q (nq,) and v (nv,), at rest if v is omitted."""
    v = np.zeros(model.nv) if v is None else model.check_v(v)
    mass, first, linear, angular, kinetic, potential = sum_links(
        model.tree, model.check_q(q), v, make_workspace(model)
    )
    com, linear = np.array(first) / (mass or 1.0), np.array(linear)
    return Totals(mass, com, linear, np.array(angular) - np.cross(com, linear), kinetic, potential)
