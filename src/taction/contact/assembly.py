"""From directions to a contact problem: W = J M⁻¹ Jᵀ and b = J v + offset, as sparse as the mechanism.

What it solves: the blocks of three rows that solvers work on (`taction.contact.blocks.BlockRows`), for one
time step, from the factored mass matrix M = Lᵀ D L (`taction.dynamics.factor`).

Notation
    J_i        three rows of the Jacobian of block i: (normal, t₁, t₂) of a contact, or three joint rows
    chain      degrees of freedom between the links of a block and the world, tree by tree, tips first
    Z_i        L⁻ᵀ J_iᵀ, the rows half solved: L⁻ᵀ only passes values on to ancestors, so Z_i lives on the
               chain of J_i as well, and no other degree of freedom is ever touched

Method
1. Chains: walk from each link to the world by the previous-degree-of-freedom list, merging walks in one tree
   by always taking the larger number.
2. J on the chain: a joint between the first link and the world counts +, one of the second link −, each at
   its own point of the pair; common ancestors move both sides alike and contribute exactly zero.
3. Z by one sweep along the chain.
4. W_ij = Z_i D⁻¹ Z_jᵀ over the trees that both blocks touch: symmetric to the last bit; the compliance of a
   row comes on the diagonal. Blocks without a common kinematic tree are not coupled; the pattern comes from a
   list of blocks per tree, in O(entries). Up to `FULL` blocks all pairs are stored, as the solvers like it.
5. The velocity that impulses Λ cause is L⁻¹ D⁻¹ Σ Z_i Λ_i: the other half of the same solve.

Cost: O(chain²) per row for Z, O(shared chain) per entry of W. An 18-dof quadruped on four feet: 9 numbers per
row instead of 18, and a third of the products.

References: [Featherstone2008, Section 6.5] for the factor; [Featherstone2010] for Z.
"""

from __future__ import annotations

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints, nested
from taction.contact.blocks import BlockRows
from taction.contact.chains import chain_length, freedom
from taction.math.vector import cross, sub
from taction.model.model import Model

FULL = 12  # up to so many blocks W is stored as a full matrix of blocks


# Columns of Assembly.index
TREE = 0  # 3: kinematic trees it touches, 0 where none
PART = 3  # 4: where the degrees of freedom of each of these trees start, and the end of all
LENGTH = 6  # degrees of freedom of the block: the last of PART
NEXT = 7  # 3: the next block that touches the same tree, −1 for none
CURSOR = 10  # where the next entry of the upper triangle of its row goes
SOURCE = 11  # contact behind it, negative for rows of joints
SLOT = 12  # 3: where each row's impulse is kept between steps, −1 for contacts and empty rows
ROW_DOF = 15  # 3: degree of freedom of each joint row, −1 for none
TURNING = 18  # 3: 1 where the violation of a row of joints is an angle
STRIKES = 21  # 2 where a contact strikes anew, 1 where it arrives still, 0 where it only presses on
INDEX_WIDTH = 22
# Columns of Assembly.number
OFFSET = 0  # 3: added to J v [m/s]
GAP = 3  # 3: violation of each row's position, negative or not zero [m or rad]
FRAME = 6  # 9: columns (normal, t₁, t₂) of a contact
ROW_SIGN = 15  # 3: sign of each joint row; of a joint between bodies the first is that of all
VELOCITY = 18  # 3: J v at the end of the step [m/s]
COMPLIANCE = 21  # 3: velocity per impulse of a row that gives way, added to W [m/s per N s]
RATE = 24  # 3: joint velocity of a row at the start of the step [m/s or rad/s]
SLIDING = 27  # 3: of the offset, what only asks for the direction of sliding [m/s]
AHEAD = 30  # 3: of the offset, what its velocities half a step on differ by
STRETCH = 33  # 3: of the springs of a soft contact, along its frame [m]
SPRING_IMPULSE = 36  # 3: of its impulse, what those springs make [N s]
SPRING_LOSS = 39  # energy that they lost because their anchor slid [J]
SOFT_OFFSET = 40  # 3: its own offset, and
SOFT_COMPLIANCE = 43  # 3: its own compliance, while it is judged by another law
BOUNCE = 46  # of the normal offset of a contact, what Newton's law of restitution adds [m/s]
GIVES_BACK = 47  # coefficient of restitution of a contact that is closed or bounces, else 0
SIZE = 48  # of a loop: how large what it connects is [m]; 0 of all other rows
NUMBER_WIDTH = 49


class Rows(Layout, scratch=True):
    """Arrays of `taction.contact.blocks.BlockRows` with room to spare; `problem_rows` cuts them."""

    start: IntArray = ints("k + 1", "first entry of each row of blocks")
    column: IntArray = ints("m", "column of each entry, ascending in a row")
    value: Array = floats("m, 9", "blocks of W by rows [1/kg]")
    diagonal: IntArray = ints("k", "where the diagonal blocks are")
    b: Array = floats("3*k", "velocity without impulses, offsets included [m/s]")
    kind: IntArray = ints("k", "of `taction.contact.laws.dispatch`")
    sets: Array = floats("k, 6", "of `taction.contact.laws.dispatch`")


class Assembly(Layout, scratch=True):
    """Blocks of one step; entries beyond ``count`` mean nothing."""

    count: IntArray = ints("1", "blocks")
    index: IntArray = ints("k, INDEX_WIDTH", "whole numbers of each block, at the columns above")
    number: Array = floats("k, NUMBER_WIDTH", "numbers of each block, at the columns above")
    dof: IntArray = ints("k, d", "degrees of freedom, tree by tree, descending")
    J: Array = floats("k, d, 3", "Jacobian rows of each block, by degree of freedom")
    Z: Array = floats("k, d, 3", "the same, half solved")
    r: Array = floats("3*k", "impulses [N s]")
    rows: Rows = nested(Rows, "the problem")
    dense: Array = floats("nv, 3", "one block's rows by degree of freedom; zero between uses", is_kept=True)
    head: IntArray = ints("n", "first block that touches the tree of a root link, −1 for none")


@inline_kernel
def set_parts(a, b, c, first, second, end, k, assembly_io):
    """Kinematic trees that block k touches, and where their degrees of freedom start."""
    index = assembly_io.index
    index[k, TREE], index[k, TREE + 1], index[k, TREE + 2] = a, b, c
    index[k, PART], index[k, PART + 1], index[k, PART + 2], index[k, PART + 3] = 0, first, second, end


@kernel
def walk(tree, chains, i, j, is_turning, x, y, frame, k, n, ws, assembly_io):
    """Steps 1 and 2 in one tree, from degrees of freedom i (+) and j (−), −1 for none; returns the end.

    Rows of block k from place n on: velocity at x (3) of the one and at y (3) of the other, or angular
    velocity, along the frame's columns (9).
    """
    while i >= 0 or j >= 0:
        d = max(i, j)
        sign = (1.0 if i == d else 0.0) - (1.0 if j == d else 0.0)
        assembly_io.dof[k, n] = d
        g0 = g1 = g2 = 0.0
        if sign != 0.0:
            axis, is_linear, p = freedom(tree, chains, d, ws)
            if is_turning and is_linear:
                sign = 0.0
            elif not (is_turning or is_linear):
                axis = cross(axis, sub(x if sign > 0.0 else y, p))
            g0 = sign * (frame[0] * axis[0] + frame[3] * axis[1] + frame[6] * axis[2])
            g1 = sign * (frame[1] * axis[0] + frame[4] * axis[1] + frame[7] * axis[2])
            g2 = sign * (frame[2] * axis[0] + frame[5] * axis[1] + frame[8] * axis[2])
        assembly_io.J[k, n, 0], assembly_io.J[k, n, 1], assembly_io.J[k, n, 2] = g0, g1, g2
        n += 1
        if i == d:
            i = tree.dof_parent[d]
        if j == d:
            j = tree.dof_parent[d]
    return n


@kernel
def pair_rows(tree, chains, first, second, is_turning, x, y, frame, k, ws, assembly_io):
    """Steps 1 and 2 of block k: velocity of link first at x (3) against second at y (3), along the frame (9).

    Or their relative angular velocity. Needs `place_links` in ws.
    """
    i, j = chains.last_dof[first], chains.last_dof[second]
    a, b = chains.root[first], chains.root[second]
    if a == b or a == 0 or b == 0:
        end = walk(tree, chains, i, j, is_turning, x, y, frame, k, 0, ws, assembly_io)
        set_parts(max(a, b), 0, 0, end, end, end, k, assembly_io)
        return
    middle = walk(tree, chains, i, -1, is_turning, x, y, frame, k, 0, ws, assembly_io)
    end = walk(tree, chains, -1, j, is_turning, x, y, frame, k, middle, ws, assembly_io)
    set_parts(a, b, 0, middle, end, end, k, assembly_io)


@inline_kernel
def row_velocity(assembly, k, v):
    """J v (3) of block k for joint velocities v (nv,)."""
    u0 = u1 = u2 = 0.0
    for n in range(assembly.index[k, LENGTH]):
        x = v[assembly.dof[k, n]]
        u0 += assembly.J[k, n, 0] * x
        u1 += assembly.J[k, n, 1] * x
        u2 += assembly.J[k, n, 2] * x
    return u0, u1, u2


@kernel
def half_solve(tree, L, k, assembly_io):
    """Step 3 for block k; L (nv, ·) from `factor_ltdl`."""
    x, dof_parent, column = assembly_io.dense, tree.dof_parent, tree.column
    count = assembly_io.index[k, LENGTH]
    for n in range(count):
        d = assembly_io.dof[k, n]
        for c in range(3):
            x[d, c] = assembly_io.J[k, n, c]
    for n in range(count):
        d = assembly_io.dof[k, n]
        x0, x1, x2 = x[d, 0], x[d, 1], x[d, 2]
        assembly_io.Z[k, n, 0], assembly_io.Z[k, n, 1], assembly_io.Z[k, n, 2] = x0, x1, x2
        i = dof_parent[d]
        while i >= 0:
            f = L[d, column[i]]
            x[i, 0] -= f * x0
            x[i, 1] -= f * x1
            x[i, 2] -= f * x2
            i = dof_parent[i]
        x[d, 0] = x[d, 1] = x[d, 2] = 0.0


@inline_kernel
def part_of(index, j, tree):
    """Which of the three trees of block j this one is, −1 for none of them."""
    if tree == 0:
        return -1
    if index[j, TREE] == tree:
        return 0
    if index[j, TREE + 1] == tree:
        return 1
    return 2 if index[j, TREE + 2] == tree else -1


@inline_kernel
def list_blocks(assembly_io):
    """Lists of the blocks that touch each tree, ascending: `head`, and NEXT of every block."""
    index, head = assembly_io.index, assembly_io.head
    for t in range(head.shape[0]):
        head[t] = -1
    for i in range(assembly_io.count[0] - 1, -1, -1):
        for s in range(3):
            tree = index[i, TREE + s]
            if tree != 0:
                index[i, NEXT + s] = head[tree]
                head[tree] = i


@inline_kernel
def follow(index, tree, at, j):
    """Where the list of a tree goes on after block j, if it stands there; −1 at its end."""
    if at != j:
        return at
    s = part_of(index, j, tree)
    return index[j, NEXT + s] if s >= 0 else -1


@inline_kernel
def put_entry(i, j, m, capacity, rows_io):
    """Column j of row i at place m of the pattern, if there is room."""
    if m < capacity:
        rows_io.column[m] = j
        if i == j:
            rows_io.diagonal[i] = m


@kernel
def lay_out(capacity, assembly_io):
    """Pattern of W for the blocks there are; returns the entries it needs, keeping up to capacity.

    A row's columns are its trees' lists of blocks, merged in order; all of them for a few blocks.
    """
    k, rows, index, m = assembly_io.count[0], assembly_io.rows, assembly_io.index, 0
    list_blocks(assembly_io)
    for i in range(k):
        rows.start[i] = m
        if k <= FULL:
            for j in range(k):
                put_entry(i, j, m, capacity, rows)
                m += 1
            continue
        a, b, c = index[i, TREE], index[i, TREE + 1], index[i, TREE + 2]
        x = assembly_io.head[a] if a != 0 else -1
        y = assembly_io.head[b] if b != 0 else -1
        z = assembly_io.head[c] if c != 0 else -1
        if x < 0 and y < 0 and z < 0:
            x = i  # a block that moves nothing: alone on the diagonal
        while x >= 0 or y >= 0 or z >= 0:
            j = min(x if x >= 0 else k, y if y >= 0 else k, z if z >= 0 else k)
            put_entry(i, j, m, capacity, rows)
            m += 1
            x, y, z = follow(index, a, x, j), follow(index, b, y, j), follow(index, c, z, j)
    rows.start[k] = m
    return m


@inline_kernel
def couple_part(index, dof, Z, j, s, x, w):
    """Add the products over tree s of block j to w (9)."""
    w0, w1, w2, w3, w4, w5, w6, w7, w8 = w
    for n in range(index[j, PART + s], index[j, PART + s + 1]):
        d = dof[j, n]
        x0, x1, x2 = x[d, 0], x[d, 1], x[d, 2]
        z0, z1, z2 = Z[j, n, 0], Z[j, n, 1], Z[j, n, 2]
        w0 += z0 * x0
        w1 += z0 * x1
        w2 += z0 * x2
        w3 += z1 * x0
        w4 += z1 * x1
        w5 += z1 * x2
        w6 += z2 * x0
        w7 += z2 * x1
        w8 += z2 * x2
    return w0, w1, w2, w3, w4, w5, w6, w7, w8


@inline_kernel
def couple_pair(index, dof, Z, i, j, x):
    """Step 4: Z_j times the rows of block i scattered in x (nv, 3): nine entries, row by row of block j."""
    w = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for s in range(3):
        if part_of(index, i, index[j, TREE + s]) >= 0:
            w = couple_part(index, dof, Z, j, s, x, w)
    return w


@kernel
def couple(column, L, assembly_io):
    """Step 4: all values of W from the half-solved rows; D is the diagonal of L (nv, ·)."""
    rows, x, index, dof, Z = (
        assembly_io.rows,
        assembly_io.dense,
        assembly_io.index,
        assembly_io.dof,
        assembly_io.Z,
    )
    value, start, diagonal = rows.value, rows.start, rows.diagonal
    for i in range(assembly_io.count[0]):
        for n in range(index[i, LENGTH]):
            d = dof[i, n]
            s = 1.0 / L[d, column[d]]
            x[d, 0], x[d, 1], x[d, 2] = s * Z[i, n, 0], s * Z[i, n, 1], s * Z[i, n, 2]
        at = index[i, CURSOR] = diagonal[i]
        for m in range(start[i], at + 1):
            # blocks before this one and itself; the others are their transposes
            j = rows.column[m]
            w0, w1, w2, w3, w4, w5, w6, w7, w8 = couple_pair(index, dof, Z, i, j, x)
            p = index[j, CURSOR]
            index[j, CURSOR] += 1
            value[p, 0], value[p, 1], value[p, 2] = w0, w1, w2
            value[p, 3], value[p, 4], value[p, 5] = w3, w4, w5
            value[p, 6], value[p, 7], value[p, 8] = w6, w7, w8
            value[m, 0], value[m, 1], value[m, 2] = w0, w3, w6
            value[m, 3], value[m, 4], value[m, 5] = w1, w4, w7
            value[m, 6], value[m, 7], value[m, 8] = w2, w5, w8
        for c in range(3):
            value[at, 4 * c] += assembly_io.number[i, COMPLIANCE + c]
        for n in range(index[i, LENGTH]):
            d = dof[i, n]
            x[d, 0] = x[d, 1] = x[d, 2] = 0.0


@kernel
def impulse_response(tree, L, assembly, r, x_out):
    """Step 5: joint velocities x_out (nv,) that impulses r (3k,) cause."""
    dof_parent, column = tree.dof_parent, tree.column
    for d in range(x_out.shape[0]):
        x_out[d] = 0.0
    for k in range(assembly.count[0]):
        r0, r1, r2 = r[3 * k], r[3 * k + 1], r[3 * k + 2]
        if r0 != 0.0 or r1 != 0.0 or r2 != 0.0:
            for n in range(assembly.index[k, LENGTH]):
                x_out[assembly.dof[k, n]] += (
                    assembly.Z[k, n, 0] * r0 + assembly.Z[k, n, 1] * r1 + assembly.Z[k, n, 2] * r2
                )
    for d in range(x_out.shape[0]):
        x = x_out[d] / L[d, column[d]]
        i = dof_parent[d]
        while i >= 0:
            x -= L[d, column[i]] * x_out[i]
            i = dof_parent[i]
        x_out[d] = x


@kernel
def problem_rows(assembly):
    """The problem, its arrays cut to the blocks there are."""
    k, rows = assembly.count[0], assembly.rows
    m = rows.start[k]
    return BlockRows(
        rows.start[: k + 1],
        rows.column[:m],
        rows.value[:m],
        rows.diagonal[:k],
        rows.b[: 3 * k],
        rows.kind[:k],
        rows.sets[:k],
    )


def make_assembly(model: Model, blocks: int, entries: int, *, has_tendons: bool = False) -> Assembly:
    """Memory for so many blocks and entries of W; has_tendons: a block may involve any freedoms."""
    nv, d = model.nv, model.nv if has_tendons else chain_length(model.tree)
    rows = Rows.allocate(k=blocks, m=entries)
    widths = {"INDEX_WIDTH": INDEX_WIDTH, "NUMBER_WIDTH": NUMBER_WIDTH}
    return Assembly.allocate(_given={"rows": rows}, k=blocks, d=d, nv=nv, n=len(model.tree.parent), **widths)
