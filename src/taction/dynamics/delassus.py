"""Contact-space inertia: how points respond to forces at points.

What it solves: W = J M⁻¹ Jᵀ (3k × 3k) for k contact points, and the joint responses M⁻¹ Jᵀ (nv × 3k). Column
c of W is the change of all contact velocities under a unit impulse along direction c.

Two ways, equal to rounding:

*By unit test forces*: with the articulated inertias of `taction.dynamics.aba`, put a unit force on one
contact, set velocities, gravity and joint forces to zero, and run one force pass to the world and one
acceleration pass back. No Jacobian and no inverse of the mass matrix appear.
1. articulated inertias once;
2. per direction: bias −(arm × e, e) on the contact's link; towards the world  u = −(bias along the joint),
   parent bias += bias + U u / d, shifted; back: v̇ = (u − Uᵀ a') / d;
3. accelerations of all contact points along their directions are the column.

*By Jacobian*: rows of J, a solve with the tree-sparse factor of M per row, and a product.

Notation: as in `taction.dynamics.aba`; contact frame columns (n, t₁, t₂) in world axes, x contact point [m].

Cost: O(n) per direction for the first, O(depth) per direction and entry for the second.

References: [Ayit2015, Section 4.4]; [Mirtich1996, Chapter 4]; [Featherstone2008, Section 6.5].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance, sequence
from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
from taction._core.show import brief_repr
from taction.dynamics.aba import accelerate_link, articulate, start_links
from taction.dynamics.factor import factor_mass_matrix
from taction.kinematics.forward import place_links
from taction.kinematics.jacobian import point_jacobian
from taction.math.vector import (
    accumulate3,
    add,
    add_scaled,
    column_z,
    cross,
    dot,
    load3,
    load6,
    load9,
    mat_t_vec,
    scale,
    store3,
    sub,
    sym_solve,
    sym_vec,
)
from taction.model.model import Model, of_model
from taction.model.spec import WORLD
from taction.model.workspace import (
    ACCEL,
    ALPHA,
    AXES,
    FACTOR_K,
    FORCE,
    INERTIA,
    INVERSE_D,
    MOMENT,
    ORIGIN,
    REST,
    SHIFT,
    U_A,
    U_W,
    make_workspace,
)


@inline_kernel
def collect_bias(tree, i, ws):
    """Step 2 towards the world for link i: bias (t, f) that its parent feels; sets REST."""
    t = load3(ws, i, MOMENT)
    f = load3(ws, i, FORCE)
    kind = tree.kind[i]
    if kind == LinkKind.SPHERICAL:
        u = scale(-1.0, t)
        store3(u, i, REST, ws)
        g = sym_solve(load6(ws, i, FACTOR_K), u)
        return add(t, sym_vec(load6(ws, i, INERTIA), g)), add(f, mat_t_vec(load9(ws, i, INERTIA + 6), g))
    if kind == LinkKind.FLOATING:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    z = column_z(load9(ws, i, AXES))
    u = -dot(z, t) if kind == LinkKind.REVOLUTE else -dot(z, f)
    ws[i, REST] = u
    u *= ws[i, INVERSE_D]
    return add_scaled(t, u, load3(ws, i, U_W)), add_scaled(f, u, load3(ws, i, U_A))


@kernel
def force_response(tree, ws, vdot_out):
    """Joint accelerations vdot_out (nv,) and motions (ALPHA, ACCEL) due to the biases (MOMENT, FORCE) alone.

    Needs the articulated inertias left by `articulate`; MOMENT and FORCE of ws hold minus the applied
    wrenches.
    """
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        parent = tree.parent[i]
        t, f = collect_bias(tree, i, ws)
        accumulate3(f, parent, FORCE, ws)
        accumulate3(add(t, cross(load3(ws, i, SHIFT), f)), parent, MOMENT, ws)
    store3((0.0, 0.0, 0.0), 0, ALPHA, ws)
    store3((0.0, 0.0, 0.0), 0, ACCEL, ws)
    for i in range(1, tree.parent.shape[0]):
        parent = tree.parent[i]
        alpha = load3(ws, parent, ALPHA)
        a = add(load3(ws, parent, ACCEL), cross(alpha, load3(ws, i, SHIFT)))
        alpha, a = accelerate_link(tree, i, alpha, a, ws, vdot_out)
        store3(alpha, i, ALPHA, ws)
        store3(a, i, ACCEL, ws)


@kernel
def unit_force_columns(tree, links, x, frames, ws, W_out, response_out):
    """Fill W_out (3k, 3k) and response_out (3k, nv) by unit test forces; needs `articulate`.

    links (k, 2) link pushed forward and link pushed back, x (k, 3) points, frames (k, 9) directions as
    columns.
    """
    for c in range(x.shape[0]):
        for axis in range(3):
            e = (frames[c, axis], frames[c, 3 + axis], frames[c, 6 + axis])
            for i in range(tree.parent.shape[0]):
                store3((0.0, 0.0, 0.0), i, MOMENT, ws)
                store3((0.0, 0.0, 0.0), i, FORCE, ws)
            for side in range(2):
                link = links[c, side]
                force = scale(2.0 * side - 1.0, e)
                accumulate3(force, link, FORCE, ws)
                accumulate3(cross(sub(load3(x, c, 0), load3(ws, link, ORIGIN)), force), link, MOMENT, ws)
            force_response(tree, ws, response_out[3 * c + axis])
            for d in range(x.shape[0]):
                g = (0.0, 0.0, 0.0)
                for side in range(2):
                    link = links[d, side]
                    arm = sub(load3(x, d, 0), load3(ws, link, ORIGIN))
                    a = add(load3(ws, link, ACCEL), cross(load3(ws, link, ALPHA), arm))
                    g = add_scaled(g, 1.0 - 2.0 * side, a)
                g = mat_t_vec(load9(frames, d, 0), g)
                for k in range(3):
                    W_out[3 * d + k, 3 * c + axis] = g[k]


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A point where two bodies touch.

    Attributes:
        body: name of the first body, the one the normal points to.
        point: where they touch, in the world [m], shape (3,).
        frame: columns (normal, t₁, t₂) in world axes, shape (3, 3).
        other: name of the second body; the world by default.
    """

    body: str
    point: ArrayLike
    frame: ArrayLike = field(default_factory=lambda: np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]))
    other: str = WORLD

    __repr__ = brief_repr


@of_model
def contact_jacobian(model: Model, q: ArrayLike, contacts: Sequence[ContactPoint]) -> Array:
    """J, shape (3k, nv): velocity of body against other at each contact, along (normal, t₁, t₂)."""
    ws = make_workspace(model)
    place_links(model.tree, model.check_q(q), ws)
    return _jacobian_rows(model, ws, *_arrays(model, contacts))


@of_model
def contact_inertia(
    model: Model, q: ArrayLike, contacts: Sequence[ContactPoint], *, method: str = "jacobian"
) -> tuple[Array, Array]:
    """Contact-space inertia inverse W = J M⁻¹ Jᵀ and the joint responses M⁻¹ Jᵀ.

    Args:
        model: the mechanism.
        q: configuration, shape (nq,).
        contacts: k points with their frames.
        method: ``"jacobian"`` or ``"unit_forces"``; the results agree to rounding.

    Returns:
        W [1/kg], shape (3k, 3k), and M⁻¹ Jᵀ, shape (nv, 3k).
    """
    q = model.check_q(q)
    links, x, frames = _arrays(model, contacts)
    ws = make_workspace(model)
    place_links(model.tree, q, ws)
    if method == "jacobian":
        J = _jacobian_rows(model, ws, links, x, frames)
        response = factor_mass_matrix(model, q).solve(J)
        return J @ response.T, response.T
    if method != "unit_forces":
        raise BadInput(f"method {method!r}: choose 'jacobian' or 'unit_forces'")
    zero = np.zeros(model.nv)
    start_links(model.tree, zero, ws)
    articulate(model.tree, zero, 0.0, ws)
    W, response = np.empty((3 * len(x), 3 * len(x))), np.empty((3 * len(x), model.nv))
    unit_force_columns(model.tree, links, x, frames, ws, W, response)
    return W, response.T


def _arrays(model: Model, contacts: Sequence[ContactPoint]) -> tuple[IntArray, Array, Array]:
    contacts = sequence(contacts, "contacts")
    for contact in contacts:
        instance(contact, ContactPoint, "each contact")

    def link(name: str) -> int:
        return 0 if name == WORLD else int(model.body_link[model.body(name)])

    links = np.array([(link(c.body), link(c.other)) for c in contacts], dtype=np.int64).reshape(-1, 2)
    x = np.array([as_float(c.point, (3,), "contact point") for c in contacts]).reshape(-1, 3)
    frames = np.array([as_float(c.frame, (3, 3), "contact frame").ravel() for c in contacts]).reshape(-1, 9)
    return links, x, frames


def _jacobian_rows(model: Model, ws: Array, links: IntArray, x: Array, frames: Array) -> Array:
    J, one = np.zeros((len(x), 3, model.nv)), np.empty((6, model.nv))
    for c in range(len(x)):
        for side in range(2):
            point_jacobian(model.tree, links[c, side], tuple(x[c].tolist()), ws, one)
            J[c] += (1 - 2 * side) * frames[c].reshape(3, 3).T @ one[3:]
    return J.reshape(3 * len(x), model.nv)
