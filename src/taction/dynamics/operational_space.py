"""Operational space: what a controller of the whole body needs of a robot at one state.

What it solves, at (q, v): the mass matrix M and the bias h of M v̇ + h = τ + Σ Jᵀ f; for every frame, a
point of a body with the body's axes, its place, its velocity J v, and J, J̇ v of [ω̇; ẍ] = J v̇ + J̇ v; and
the same of the centre of mass, c̈ = J_c v̇ + J̇_c v.

Method: one pass of Newton–Euler at v̇ = 0 leaves the accelerations of all links, less gravity's, which is J̇
v of every point, and the force m (J̇_c v − g) on the world. Row k of m J_c is the vector of joint forces
that hold a field of unit gravity along axis k: a force m_i along k on every link, gathered down the tree.

References: [Khatib1987]; [Featherstone2008, Section 5.3].
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints
from taction.dynamics.crba import composite_rigid_body
from taction.dynamics.rnea import gather_forces, newton_euler
from taction.kinematics.forward import place_links
from taction.kinematics.jacobian import point_acceleration, point_jacobian
from taction.math.vector import add, cross, load3, load9, mat_vec, scale, store3
from taction.model.model import BODY_FIRST, BODY_MASS, Model
from taction.model.workspace import AXES, FORCE, MOMENT, ORIGIN


class Frames(Layout):
    """Points of bodies."""

    link: IntArray = ints("f", "which link each belongs to")
    arm: Array = floats("f, 3", "from the origin of its link, link axes [m]")


class Terms(Layout):
    """The terms of the module text at one state; a floating base and joints together."""

    M: Array = floats("nv, nv", "mass matrix [kg, kg m, kg m²]")
    bias: Array = floats("nv", "forces that hold the robot at v̇ = 0 [N or N m]")
    J: Array = floats("f, 6, nv", "of every frame, angular rows first, world axes")
    drift: Array = floats("f, 6", "J̇ v of every frame [rad/s², m/s²]")
    place: Array = floats("f, 3", "where it is [m]")
    axes: Array = floats("f, 9", "axes of its link in the world, rows of a matrix")
    rate: Array = floats("f, 6", "its velocity J v [rad/s, m/s]")
    centre: Array = floats("3", "of mass [m]")
    centre_J: Array = floats("3, nv", "of the centre of mass")
    centre_drift: Array = floats("3", "J̇ v of the centre of mass [m/s²]")
    centre_rate: Array = floats("3", "its velocity [m/s]")
    still: Array = floats("nv", "zeros")


@inline_kernel
def centre_terms(tree, v, mass, ws, terms_out):
    """Place, Jacobian and velocity of the centre of mass; destroys forces and moments in ws."""
    n = tree.parent.shape[0]
    first = (0.0, 0.0, 0.0)
    for i in range(1, n):
        m = tree.constant[i, BODY_MASS]
        h = mat_vec(load9(ws, i, AXES), load3(tree.constant, i, BODY_FIRST))
        first = add(first, add(h, scale(m, load3(ws, i, ORIGIN))))
    for c in range(3):
        terms_out.centre[c] = first[c] / mass
        axis = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
        for i in range(n):
            m = tree.constant[i, BODY_MASS]
            h = mat_vec(load9(ws, i, AXES), load3(tree.constant, i, BODY_FIRST))
            store3(scale(m, axis), i, FORCE, ws)
            store3(cross(h, axis), i, MOMENT, ws)
        row = terms_out.centre_J[c]
        gather_forces(tree, ws, row)
        rate = 0.0
        for k in range(v.shape[0]):
            row[k] /= mass
            rate += row[k] * v[k]
        terms_out.centre_rate[c] = rate


@kernel
def operational_terms(tree, frames, mass, q, v, ws, terms_out):
    """All terms at q (nq,), v (nv,) of a robot of a mass [kg]."""
    place_links(tree, q, ws)
    composite_rigid_body(tree, ws, terms_out.M)
    newton_euler(tree, v, terms_out.still, ws, terms_out.bias)
    whole = load3(ws, 0, FORCE)
    for c in range(3):
        terms_out.centre_drift[c] = whole[c] / mass + tree.gravity[c]
    for f in range(frames.link.shape[0]):
        link, arm = frames.link[f], load3(frames.arm, f, np.int64(0))
        R = load9(ws, link, AXES)
        x = add(load3(ws, link, ORIGIN), mat_vec(R, arm))
        point_jacobian(tree, link, x, ws, terms_out.J[f])
        alpha, a = point_acceleration(tree, link, arm, ws)
        for c in range(3):
            terms_out.place[f, c] = x[c]
            terms_out.drift[f, c] = alpha[c]
            terms_out.drift[f, 3 + c] = a[c] + tree.gravity[c]
        for c in range(9):
            terms_out.axes[f, c] = R[c]
        for c in range(6):
            rate = 0.0
            for k in range(v.shape[0]):
                rate += terms_out.J[f, c, k] * v[k]
            terms_out.rate[f, c] = rate
    centre_terms(tree, v, mass, ws, terms_out)


def frames_of(model: Model, points: list[tuple[str, Array]]) -> Frames:
    """Frames at points (3,) of bodies, in their axes [m]."""
    bodies = [model.body(name) for name, _ in points]
    return Frames(
        link=np.array([int(model.body_link[b]) for b in bodies], dtype=np.int64),
        arm=np.array(
            [
                model.body_offset[b] + model.body_rotation[b] @ point
                for b, (_, point) in zip(bodies, points, strict=True)
            ]
        ).reshape(-1, 3),
    )
