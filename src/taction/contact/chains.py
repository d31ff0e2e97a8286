"""Ways from links to the world: which degrees of freedom move a link, and along which direction.

References: [Featherstone2008, Section 6.5] for the list of previous degrees of freedom.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import IntArray, frozen
from taction._core.jit import inline_kernel
from taction._core.kinds import LinkKind
from taction._core.layout import Layout, ints
from taction.math.vector import column_z, load3, load9
from taction.model.model import BODY_MASS, Tree
from taction.model.workspace import AXES, BASE_AXES, ORIGIN

WIDTHS = {LinkKind.SPHERICAL: 3, LinkKind.FLOATING: 6}  # degrees of freedom of links with more than one


class Chains(Layout):
    """Ways from links to the world, read-only."""

    dof_link: IntArray = ints("nv", "link that a degree of freedom moves")
    last_dof: IntArray = ints(
        "n", "last degree of freedom on the way from the world to a link, −1 for the world"
    )
    root: IntArray = ints(
        "n", "first link on that way: which kinematic tree a link belongs to, 0 for the world"
    )
    alone: IntArray = ints("n", "1 for a body that turns freely and carries no other, see `free_flight`")


@inline_kernel
def is_linear_freedom(tree, chains, d):
    """Whether degree of freedom d moves its link along a line."""
    kind = tree.kind[chains.dof_link[d]]
    return kind == LinkKind.PRISMATIC or (kind == LinkKind.FLOATING and d - tree.iv[chains.dof_link[d]] < 3)


@inline_kernel
def freedom(tree, chains, d, ws):
    """Direction (3) of degree of freedom d in the world, whether it is linear, and its link's origin (3)."""
    i = chains.dof_link[d]
    kind = tree.kind[i]
    R = load9(ws, i, AXES)
    p = load3(ws, i, ORIGIN)
    if kind == LinkKind.REVOLUTE or kind == LinkKind.PRISMATIC:
        return column_z(R), kind == LinkKind.PRISMATIC, p
    c = d - tree.iv[i]
    is_linear = kind == LinkKind.FLOATING and c < 3
    if is_linear:
        R = load9(ws, i, BASE_AXES)
    elif kind == LinkKind.FLOATING:
        c -= 3
    axis = (R[0], R[3], R[6]) if c == 0 else ((R[1], R[4], R[7]) if c == 1 else (R[2], R[5], R[8]))
    return axis, is_linear, p


def make_chains(tree: Tree) -> Chains:
    """Ways to the world of every link and degree of freedom."""
    n, nv = len(tree.parent), len(tree.dof_parent)
    dof_link, last, root = np.zeros(nv, dtype=np.int64), np.full(n, -1, dtype=np.int64), np.zeros(n, np.int64)
    for i in range(1, n):
        end = tree.iv[i] + WIDTHS.get(LinkKind(int(tree.kind[i])), 1)
        dof_link[tree.iv[i] : end] = i
        last[i] = end - 1
        root[i] = root[tree.parent[i]] or i
    arrays = (frozen(a, np.int64) for a in (dof_link, last, root, _alone(tree)))
    return Chains(*arrays)


def _alone(tree: Tree) -> IntArray:
    """Links of a tree of their own that turn freely, with mass and without a rotor, shape (n,)."""
    alone = np.zeros(len(tree.parent), dtype=np.int64)
    carrying = set(tree.parent[1:].tolist())
    for i in range(1, len(alone)):
        width = WIDTHS.get(LinkKind(int(tree.kind[i])), 0)
        has_rotor = bool(tree.armature[tree.iv[i] : tree.iv[i] + width].any())
        is_root = tree.parent[i] == 0 and i not in carrying
        alone[i] = width > 0 and is_root and not has_rotor and tree.constant[i, BODY_MASS] > 0.0
    return alone


def chain_length(tree: Tree) -> int:
    """Most degrees of freedom that one block can involve, tendons left out."""
    depth = np.zeros(len(tree.dof_parent), dtype=np.int64)
    for d, up in enumerate(tree.dof_parent):
        depth[d] = 1 + (depth[up] if up >= 0 else 0)
    return int(min(len(depth), 3 * depth.max())) if len(depth) else 0
