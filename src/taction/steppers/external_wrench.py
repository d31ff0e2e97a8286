"""Wrenches that act on links from outside, as forces on the coordinates: τ += Jᵀ w.

A wrench is a moment about the origin of its link and a force, world axes, held over the step. It acts where
the links are when the scheme looks, and is booked as actuation. Forces of penalty and compliant contact enter
here.

References: [Featherstone2008, Section 5.3] for external forces.
"""

from __future__ import annotations

from taction._core.jit import kernel
from taction.contact.chains import freedom
from taction.math.vector import add, cross, dot, load3, sub
from taction.model.workspace import ORIGIN


@kernel
def add_wrenches(tree, chains, wrench, ws, tau_io):
    """Add the forces that wrench (n, 6), moments first, causes to tau_io (nv,); ws (n, ·) placed links."""
    for i in range(1, wrench.shape[0]):
        moment, force = load3(wrench, i, 0), load3(wrench, i, 3)
        if dot(moment, moment) + dot(force, force) == 0.0:
            continue
        x, d = load3(ws, i, ORIGIN), chains.last_dof[i]
        while d >= 0:
            axis, is_linear, p = freedom(tree, chains, d, ws)
            about = force if is_linear else add(moment, cross(sub(x, p), force))
            tau_io[d] += dot(axis, about)
            d = tree.dof_parent[d]
