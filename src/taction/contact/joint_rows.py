"""Rows of joint velocities: of up to three joints in rows of their own, or of combinations.

Steps 1 and 2 of `taction.contact.assembly` for blocks that name degrees of freedom instead of points: stops
and dry friction (a joint to a row), couplings and tendons (several joints in one row), and joints that
follow others in absolute coordinates (a row of one block less a row of another). A block touches three
kinematic trees at most, and its degrees of freedom are listed tree by tree, descending, with all their
ancestors.

References: [Featherstone2008, Section 6.5] for the order in which factors along a tree need them.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import LENGTH, PART, TREE, part_of
from taction.math.vector import add_scaled, cross, dot, mat_mul, scale

VOID = 1e-5  # entries of a row, relative to those of its block, that six digits of a file leave of none
ROUNDING = 1e-13  # the same by rounding, relative to places in the world


@kernel
def joint_rows(tree, chains, dofs, factors, rows, k, assembly_io):
    """Steps 1 and 2 of block k of joint velocities: factors · v[dofs] (3 each) in these rows, dof −1: none.

    Several degrees of freedom may share a row: the coupling of two joints.
    """
    n = 0
    for s in range(3):
        root = chains.root[chains.dof_link[dofs[s]]] if dofs[s] >= 0 else 0
        for c in range(s):
            if assembly_io.index[k, TREE + c] == root:
                root = 0  # done with that one
        assembly_io.index[k, TREE + s], assembly_io.index[k, PART + s] = root, n
        if root == 0:
            continue
        d0, d1, d2 = dofs
        d0 = d0 if d0 >= 0 and chains.root[chains.dof_link[d0]] == root else -1
        d1 = d1 if d1 >= 0 and chains.root[chains.dof_link[d1]] == root else -1
        d2 = d2 if d2 >= 0 and chains.root[chains.dof_link[d2]] == root else -1
        while max(d0, d1, d2) >= 0:
            d = max(d0, d1, d2)
            assembly_io.dof[k, n] = d
            for c in range(3):
                assembly_io.J[k, n, c] = 0.0
            for c in range(3):
                if dofs[c] == d:
                    assembly_io.J[k, n, rows[c]] += factors[c]
            n += 1
            up = tree.dof_parent[d]
            d0, d1, d2 = up if d0 == d else d0, up if d1 == d else d1, up if d2 == d else d2
    assembly_io.index[k, LENGTH] = n


@kernel
def is_void(k, c, reach, assembly):
    """Whether row c of block k is rounding: no joint moves along it, as across the plane of a four-bar.

    reach: how far away from the origin the block's points are [m], or 0 for a block of orientation. Scaled to
    one, such a row would be an equation like any other, whose impulse of 1e16 bends all others; and axes that
    are parallel but for the digits of a file would lock. Without it a loop opens by `VOID` times its size.
    """
    own, largest = 0.0, 0.0
    for e in range(assembly.index[k, LENGTH]):
        own = max(own, abs(assembly.J[k, e, c]))
        for o in range(3):
            largest = max(largest, abs(assembly.J[k, e, o]))
    return own <= VOID * largest + ROUNDING * reach


@inline_kernel
def farthest(k, u, assembly):
    """The longest entry (3) of block k across the unit vector u (3), less what is along u."""
    longest = (0.0, 0.0, 0.0)
    for e in range(assembly.index[k, LENGTH]):
        J = (assembly.J[k, e, 0], assembly.J[k, e, 1], assembly.J[k, e, 2])
        J = add_scaled(J, -dot(J, u), u)
        if dot(J, J) > dot(longest, longest):
            longest = J
    return longest


@kernel
def plane_frame(k, frame, reach, assembly):
    """Axes (9) for the rows of block k, made along ``frame`` (9): the last one where no joint moves.

    The same frame where joints move along all axes, or where a row is void already. reach: of `is_void`.
    """
    for c in range(3):
        if is_void(k, c, reach, assembly):
            return frame
    first = farthest(k, (0.0, 0.0, 0.0), assembly)
    x = scale(1.0 / math.sqrt(dot(first, first)), first)
    second = farthest(k, x, assembly)
    if dot(second, second) <= VOID * VOID * dot(first, first):  # joints move along one axis: any across it
        second = cross(x, (1.0, 0.0, 0.0) if abs(x[0]) < 0.5 else (0.0, 1.0, 0.0))
    y = scale(1.0 / math.sqrt(dot(second, second)), second)
    z, across = cross(x, y), 0.0
    for e in range(assembly.index[k, LENGTH]):
        J = (assembly.J[k, e, 0], assembly.J[k, e, 1], assembly.J[k, e, 2])
        across = max(across, abs(dot(J, z)))
    if across > VOID * math.sqrt(dot(first, first)) + ROUNDING * reach:
        return frame
    return mat_mul(frame, (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]))


@inline_kernel
def ancestor_below(dof_parent, d, limit):
    """The nearest of d and its ancestors that is below a limit, −1 for none."""
    while d >= limit:
        d = dof_parent[d]
    return d


@kernel
def combined_rows(tree, chains, dofs, factors, first, last, gears, k, assembly_io):
    """Rows of block k: gear Σ factors · v[dofs] over the entries first…last−1, of each row (3).

    A row without entries vanishes.
    """
    n, J = 0, assembly_io.J
    for s in range(3):
        root = 0
        for c in range(3):
            for e in range(first[c], last[c]):
                own, is_new = chains.root[chains.dof_link[dofs[e]]], True
                for o in range(s):
                    is_new = is_new and assembly_io.index[k, TREE + o] != own
                if is_new:
                    root = own
        assembly_io.index[k, TREE + s], assembly_io.index[k, PART + s] = root, n
        d = tree.dof_parent.shape[0] if root != 0 else -1
        while d >= 0:
            limit, d = d, -1
            for c in range(3):
                for e in range(first[c], last[c]):
                    if chains.root[chains.dof_link[dofs[e]]] == root:
                        d = max(d, ancestor_below(tree.dof_parent, dofs[e], limit))
            if d < 0:
                break
            assembly_io.dof[k, n] = d
            for c in range(3):
                J[k, n, c] = 0.0
                for e in range(first[c], last[c]):
                    if dofs[e] == d:
                        J[k, n, c] += gears[c] * factors[e]
            n += 1
    assembly_io.index[k, LENGTH] = n


@inline_kernel
def combined_row(tree, chains, dofs, factors, first, last, gear, k, assembly_io):
    """Row 0 of block k: gear Σ factors · v[dofs] over the entries first…last−1; its other rows vanish."""
    combined_rows(tree, chains, dofs, factors, (first, 0, 0), (last, 0, 0), (gear, 0.0, 0.0), k, assembly_io)


@kernel
def subtract_row(k, a, b, factor, assembly_io):
    """Make row 0 of block k its row a less factor times row b of block k + 1; its other rows vanish.

    Together they touch three trees at most.
    """
    index, J, dof = assembly_io.index, assembly_io.J, assembly_io.dof
    for n in range(index[k, LENGTH]):
        J[k, n, 0] = J[k, n, a]
        J[k, n, 1] = J[k, n, 2] = 0.0
    for s in range(3):
        tree = index[k + 1, TREE + s]
        if tree == 0:
            continue
        first, last = index[k + 1, PART + s], index[k + 1, PART + s + 1]
        p = part_of(index, k, tree)
        if p < 0:
            p = 0
            while index[k, TREE + p] != 0:
                p += 1
            at = index[k, PART + p] = index[k, LENGTH]
            index[k, TREE + p] = tree
            for q in range(p + 1, 4):
                index[k, PART + q] = at + last - first
            for n in range(first, last):
                dof[k, at + n - first] = dof[k + 1, n]
                J[k, at + n - first, 0] = J[k, at + n - first, 1] = J[k, at + n - first, 2] = 0.0
        at = index[k, PART + p]
        for n in range(first, last):
            J[k, at + n - first, 0] -= factor * J[k + 1, n, b]
