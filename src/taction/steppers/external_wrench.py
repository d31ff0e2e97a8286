"""Wrenches that act on links from outside, as forces on the coordinates: τ += Jᵀ w.

A wrench is a moment about the origin of its link and a force, world axes, held over the step. It acts where
the links are when the scheme looks, and is booked as actuation. Forces of penalty and compliant contact enter
here, and those that take off weights (`gravcomp` of MJCF): −m g at the centre of mass of a body.

References: [Featherstone2008, Section 5.3] for external forces.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel
from taction.contact.chains import freedom
from taction.math.vector import add, cross, dot, load3, load9, mat_vec, scale, sub
from taction.model.workspace import AXES, ORIGIN


@inline_kernel
def add_wrench(tree, chains, i, moment, force, ws, tau_io):
    """Add what a moment (3) about the origin of link i and a force (3) there do to tau_io (nv,)."""
    x, d = load3(ws, i, ORIGIN), chains.last_dof[i]
    while d >= 0:
        axis, is_linear, p = freedom(tree, chains, d, ws)
        about = force if is_linear else add(moment, cross(sub(x, p), force))
        tau_io[d] += dot(axis, about)
        d = tree.dof_parent[d]


@kernel
def add_wrenches(tree, chains, wrench, lifts, ws, tau_io):
    """Add what wrench (n, 6), moments first, and lifts do to tau_io (nv,); ws (n, ·) placed links."""
    for i in range(1, wrench.shape[0]):
        moment, force = load3(wrench, i, 0), load3(wrench, i, 3)
        if dot(moment, moment) + dot(force, force) != 0.0:
            add_wrench(tree, chains, i, moment, force, ws, tau_io)
    up = (-tree.gravity[0], -tree.gravity[1], -tree.gravity[2])
    for k in range(lifts.link.shape[0]):
        i = lifts.link[k]
        arm = mat_vec(load9(ws, i, AXES), load3(lifts.first, k, 0))
        add_wrench(tree, chains, i, cross(arm, up), scale(lifts.mass[k], up), ws, tau_io)
