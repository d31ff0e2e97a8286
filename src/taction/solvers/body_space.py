"""Newton's linear systems in the space of the bodies: redundant contacts cost nothing there.

What it solves: the system of a Newton step (`taction.solvers.newton`), block by block

    A_i (δu_i + ε_i δΛ_i) + B_i δΛ_i = −F_i,     δu = W δΛ,     W = Ẑᵀ Ẑ,                        (1)

with Ẑ_i = D^(−½) L⁻ᵀ J_iᵀ s_i the rows of block i, half solved with the factor M = Lᵀ D L of the mass matrix
(`taction.contact.assembly`) and scaled. With T_i = (ε_i A_i + B_i)⁻¹, G_i = T_i A_i and y = Σ Ẑ_i Λ_i, the
change of velocity in coordinates in which the mass matrix is 1, that is

    H δy = −Σ Ẑ_i T_i F_i,   H = 1 + Σ Ẑ_i G_i Ẑ_iᵀ,     δΛ_i = −T_i F_i − G_i Ẑ_iᵀ δy.            (2)

The same step as in the space of contacts, as a matrix of the size of the freedoms with the pattern of the
bodies that touch. For the convex law it is Newton's step on the strictly convex function

    min over v of ½ ‖v − v_free‖²_M + Σ φ_i(J_i v),

φ_i the Moreau envelope of element i with compliance ε_i, whose Hessian is M + Jᵀ G J; exact Coulomb friction
makes G_i unsymmetric, where normal impulses move the bound of tangential ones.

Method
1. *Chunks*: the freedoms of each kinematic tree in threes, so that H is made of 3×3 blocks and
   `taction.solvers.block_lu` factors it; what is left over of the last three is an identity.
2. *Order*: trees by minimum fill on the graph of trees that touch (`taction.solvers.elimination_order`),
   the chunks of a tree one after the other. It is kept while the same trees share blocks.
3. *Components*: bodies that do not touch are solved apart, blocks are sorted by component.

δΛ is a difference of numbers larger by 1/ε: the next step, or one with the same factor, takes that error
away.

Cost: two bodies of six freedoms 540 products per contact to assemble; the factor fills in with the bodies,
not with contacts: a pile of 200 spheres has 400 chunks.

References: [CastroPermenterHan2023] and [TodorovErezTassa2012] for contact as a problem in velocities;
[GolubVanLoan2013] for the factorisation.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import IntArray
from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import LENGTH, TREE
from taction.contact.chains import Chains
from taction.contact.laws.dispatch import proximal_weights
from taction.solvers.block_lu import factor_blocks, invert_block, solve_lower, solve_upper, times
from taction.solvers.body_memory import BodyMemory, make_bodies
from taction.solvers.elimination_order import Pattern, analyse
from taction.solvers.newton_memory import BLOCKS, COMPONENTS


@inline_kernel
def has_bodies(bodies):
    """Whether systems are to be solved in the space of bodies."""
    return bodies.component.shape[0] > 0


@inline_kernel
def find_column(bodies, row, column):
    """Where a block of H is; −1 if the pattern has none."""
    pattern = bodies.pattern
    low, high = pattern.start[row], pattern.start[row + 1]
    while low < high:
        middle = (low + high) // 2
        if pattern.column[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low if low < pattern.start[row + 1] and pattern.column[low] == column else -1


@inline_kernel
def slot_of(t, n, chunk, bodies_io):
    """Slot of a chunk among the n that block t has so far, made if need be; returns (slot, n)."""
    for a in range(n - 1, -1, -1):
        if bodies_io.chunk[t, a] == chunk:
            return a, n
    bodies_io.chunk[t, n] = chunk
    for c in range(9):
        bodies_io.Z[t, 9 * n + c] = 0.0
    return n, n + 1


@kernel
def sort_blocks(blocks, bodies, work_out):
    """Step 3: blocks by component, those of the same one in their own order."""
    k, q = blocks.count[0], work_out.component.shape[0] - 1
    start, order = work_out.component, work_out.order
    work_out.count[BLOCKS], work_out.count[COMPONENTS] = k, q
    for n in range(q + 1):
        start[n] = 0
    for i in range(k):
        n = bodies.component[bodies.chunk_of[blocks.dof[i, 0]]] if blocks.index[i, LENGTH] > 0 else 0
        start[n + 1] += 1
    for n in range(q):
        start[n + 1] += start[n]
    for i in range(k):
        n = bodies.component[bodies.chunk_of[blocks.dof[i, 0]]] if blocks.index[i, LENGTH] > 0 else 0
        order[start[n]] = i
        start[n] += 1
    for n in range(q, 0, -1):
        start[n] = start[n - 1]
    start[0] = 0


@kernel
def load_bodies(blocks, order, bodies_io):
    """Rows of all blocks by chunk, not scaled yet, in their order; returns whether the pattern holds them."""
    width = bodies_io.chunk.shape[1]
    for t in range(blocks.count[0]):
        i, n = order[t], 0
        for m in range(blocks.index[i, LENGTH]):
            d = blocks.dof[i, m]
            a, n = slot_of(t, n, bodies_io.chunk_of[d], bodies_io)
            for c in range(3):
                bodies_io.Z[t, 9 * a + 3 * bodies_io.lane[d] + c] = bodies_io.root[d] * blocks.Z[i, m, c]
        bodies_io.count[t] = n
        for a in range(n):
            for b in range(n):
                at = find_column(bodies_io, bodies_io.chunk[t, a], bodies_io.chunk[t, b])
                if at < 0:
                    return False
                bodies_io.target[t, width * a + b] = at
    return True


@inline_kernel
def has_row(trees, at, count, first, a, b, c):
    """Whether one of ``count`` rows of ``trees``, columns at…at+2, is (a, b, c): mostly near ``first``."""
    for n in range(count):
        i = (first + (n + 1) // 2 if n % 2 else first - n // 2) % count
        if trees[i, at] == a and trees[i, at + 1] == b and trees[i, at + 2] == c:
            return True
    return False


@kernel
def is_made_for(blocks, bodies):
    """Whether the order there is that of these blocks: the same trees share blocks, however many."""
    k, n, now, then = blocks.count[0], bodies.made_for[0], blocks.index, bodies.trees
    if k > then.shape[0]:
        return False
    for i in range(k):
        a, b, c = now[i, TREE], now[i, TREE + 1], now[i, TREE + 2]
        if (b != 0 or c != 0) and not has_row(then, 0, n, i, a, b, c):
            return False
    for i in range(n):
        a, b, c = then[i, 0], then[i, 1], then[i, 2]
        if (b != 0 or c != 0) and not has_row(now, TREE, k, i, a, b, c):
            return False
    return True


@kernel
def prepare_bodies(blocks, L, column, work_io):
    """Sort and load the blocks of a step; returns whether the order there was made for them.

    Another order would do, too, where it has room; but bits must not depend on what came before.
    """
    bodies = work_io.bodies
    if not is_made_for(blocks, bodies):
        return False
    for d in range(bodies.root.shape[0]):
        bodies.root[d] = 1.0 / (L[d, column[d]] ** 0.5)
    sort_blocks(blocks, bodies, work_io)
    return load_bodies(blocks, work_io.order, bodies)


@kernel
def scale_bodies(work_io):
    """Scale the rows of all blocks as the problem is."""
    bodies, scale = work_io.bodies, work_io.scale
    for t in range(work_io.count[BLOCKS]):
        for a in range(bodies.count[t]):
            for lane in range(3):
                for c in range(3):
                    bodies.Z[t, 9 * a + 3 * lane + c] *= scale[3 * t + c]


@inline_kernel
def reduce_block(rows, i, weight, jacobian, bodies_io):
    """T and G of block i; returns False where T has no inverse."""
    a0, a1, a2 = proximal_weights(rows.kind[i], rows.sets[i], weight)
    T, G = bodies_io.T, bodies_io.G
    for c in range(3):
        G[i, 3 * c] = a0 * jacobian[i, 3 * c] + jacobian[i, 9 + 3 * c]
        G[i, 3 * c + 1] = a1 * jacobian[i, 3 * c + 1] + jacobian[i, 10 + 3 * c]
        G[i, 3 * c + 2] = a2 * jacobian[i, 3 * c + 2] + jacobian[i, 11 + 3 * c]
    if not invert_block(G, i, i, T):
        return False
    g = times(T, i, jacobian, i)
    for c in range(9):
        G[i, c] = g[c]
    return True


@inline_kernel
def add_block(i, bodies_io):
    """Add Ẑ G Ẑᵀ of block i to H."""
    width, Z, G, H = bodies_io.chunk.shape[1], bodies_io.Z, bodies_io.G, bodies_io.lu
    g0, g1, g2, g3, g4, g5 = G[i, 0], G[i, 1], G[i, 2], G[i, 3], G[i, 4], G[i, 5]
    g6, g7, g8 = G[i, 6], G[i, 7], G[i, 8]
    for a in range(bodies_io.count[i]):
        for lane in range(3):
            z0, z1, z2 = Z[i, 9 * a + 3 * lane], Z[i, 9 * a + 3 * lane + 1], Z[i, 9 * a + 3 * lane + 2]
            x0, x1, x2 = z0 * g0 + z1 * g3 + z2 * g6, z0 * g1 + z1 * g4 + z2 * g7, z0 * g2 + z1 * g5 + z2 * g8
            for b in range(bodies_io.count[i]):
                at, y = bodies_io.target[i, width * a + b], 9 * b
                H[at, 3 * lane] += x0 * Z[i, y] + x1 * Z[i, y + 1] + x2 * Z[i, y + 2]
                H[at, 3 * lane + 1] += x0 * Z[i, y + 3] + x1 * Z[i, y + 4] + x2 * Z[i, y + 5]
                H[at, 3 * lane + 2] += x0 * Z[i, y + 6] + x1 * Z[i, y + 7] + x2 * Z[i, y + 8]


@inline_kernel
def component_of_range(first, bodies):
    """First and last chunk of the component of block ``first``."""
    n = bodies.component[bodies.chunk[first, 0]] if bodies.count[first] > 0 else 0
    return bodies.first[n], bodies.first[n + 1]


@inline_kernel
def start_matrix(low, high, bodies_io):
    """H = 1 for chunks low…high−1."""
    pattern, H = bodies_io.pattern, bodies_io.lu
    for m in range(pattern.start[low], pattern.start[high]):
        for c in range(9):
            H[m, c] = 0.0
    for k in range(low, high):
        at = pattern.diagonal[k]
        H[at, 0] = H[at, 4] = H[at, 8] = 1.0


@kernel
def factor_matrix(low, high, bodies_io):
    """Factor H of chunks low…high−1; returns 0 if done."""
    return factor_blocks(
        bodies_io.pattern, low, high, bodies_io.none, bodies_io.place, bodies_io.lu, bodies_io.inverse
    )


@kernel
def solve_matrix(low, high, bodies_io):
    """Overwrite y of chunks low…high−1 with H⁻¹ y."""
    pattern, none, y = bodies_io.pattern, bodies_io.none, bodies_io.y
    solve_lower(pattern, low, high, none, bodies_io.lu, y)
    solve_upper(pattern, low, high, none, bodies_io.lu, bodies_io.inverse, y)


@inline_kernel
def push(i, x0, x1, x2, bodies_io):
    """Add Ẑ x of block i to y."""
    Z, y = bodies_io.Z, bodies_io.y
    for a in range(bodies_io.count[i]):
        to, z = 3 * bodies_io.chunk[i, a], 9 * a
        y[to] += Z[i, z] * x0 + Z[i, z + 1] * x1 + Z[i, z + 2] * x2
        y[to + 1] += Z[i, z + 3] * x0 + Z[i, z + 4] * x1 + Z[i, z + 5] * x2
        y[to + 2] += Z[i, z + 6] * x0 + Z[i, z + 7] * x1 + Z[i, z + 8] * x2


@inline_kernel
def seen(i, bodies):
    """Ẑᵀ y of block i."""
    Z, y = bodies.Z, bodies.y
    u0 = u1 = u2 = 0.0
    for a in range(bodies.count[i]):
        at, z = 3 * bodies.chunk[i, a], 9 * a
        y0, y1, y2 = y[at], y[at + 1], y[at + 2]
        u0 += Z[i, z] * y0 + Z[i, z + 3] * y1 + Z[i, z + 6] * y2
        u1 += Z[i, z + 1] * y0 + Z[i, z + 4] * y1 + Z[i, z + 7] * y2
        u2 += Z[i, z + 2] * y0 + Z[i, z + 5] * y1 + Z[i, z + 8] * y2
    return u0, u1, u2


@kernel
def factor_bodies(first, last, alpha, ws, bodies_io):
    """H of blocks first…last−1, one component, and its factor; returns 0 if done."""
    low, high = component_of_range(first, bodies_io)
    start_matrix(low, high, bodies_io)
    for i in range(first, last):
        if ws.held[i]:
            continue
        if not reduce_block(ws.rows, i, ws.level[i] * alpha, ws.jacobian, bodies_io):
            return 1
        add_block(i, bodies_io)
    return factor_matrix(low, high, bodies_io)


@kernel
def solve_bodies(first, last, held, bodies_io, x_io):
    """Overwrite x_io = −F (3k,) with δΛ of (2) for blocks first…last−1, one component."""
    low, high = component_of_range(first, bodies_io)
    y, T, G = bodies_io.y, bodies_io.T, bodies_io.G
    for c in range(3 * low, 3 * high):
        y[c] = 0.0
    for i in range(first, last):
        if not held[i]:
            f0, f1, f2 = x_io[3 * i], x_io[3 * i + 1], x_io[3 * i + 2]
            x_io[3 * i] = T[i, 0] * f0 + T[i, 1] * f1 + T[i, 2] * f2
            x_io[3 * i + 1] = T[i, 3] * f0 + T[i, 4] * f1 + T[i, 5] * f2
            x_io[3 * i + 2] = T[i, 6] * f0 + T[i, 7] * f1 + T[i, 8] * f2
        push(i, x_io[3 * i], x_io[3 * i + 1], x_io[3 * i + 2], bodies_io)
    solve_matrix(low, high, bodies_io)
    for i in range(first, last):
        if held[i]:
            continue
        u0, u1, u2 = seen(i, bodies_io)
        x_io[3 * i] -= G[i, 0] * u0 + G[i, 1] * u1 + G[i, 2] * u2
        x_io[3 * i + 1] -= G[i, 3] * u0 + G[i, 4] * u1 + G[i, 5] * u2
        x_io[3 * i + 2] -= G[i, 6] * u0 + G[i, 7] * u1 + G[i, 8] * u2


# ----- the order ------------------------------------------------------------------------------------------


def touching(trees: IntArray) -> IntArray:
    """Pairs of trees that share a block, both ways, shape (·, 2); trees (k, 3), 0 for none."""
    pairs = np.concatenate([trees[:, [a, b]] for a in range(3) for b in range(3) if a != b])
    return pairs[(pairs > 0).all(axis=1)]


def expand(pattern: Pattern, first: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The pattern of trees as one of chunks: those of turn t are first[t]…first[t + 1] − 1.

    Returns row starts, columns and places of the diagonal.
    """
    width = np.diff(first)
    turns = len(width)
    rows = np.repeat(np.arange(turns), width)  # turn of each chunk
    entry = np.repeat(np.arange(turns), np.diff(pattern.start))  # row of each entry
    length = np.bincount(entry, weights=width[pattern.column], minlength=turns).astype(np.int64)
    start = np.concatenate([[0], np.cumsum(length[rows])])
    wide = width[pattern.column]  # of each entry, then of its chunks one by one
    chunks = np.repeat(first[pattern.column] - np.cumsum(wide) + wide, wide) + np.arange(wide.sum())
    begin = np.concatenate([[0], np.cumsum(length)])
    within = np.arange(start[-1]) - np.repeat(start[:-1], length[rows])
    column = chunks[np.repeat(begin[rows], length[rows]) + within]
    diagonal = np.flatnonzero(column == np.repeat(np.arange(len(rows)), length[rows]))
    return start, column, diagonal


def order_bodies(chains: Chains, trees: IntArray, capacity: int) -> BodyMemory:
    """Memory ordered for blocks that touch these trees.

    Args:
        chains: of the model.
        trees: kinematic trees that each block touches, 0 for none, shape (k, 3).
        capacity: blocks that there may be.
    """
    tree_of_dof = chains.root[chains.dof_link]
    roots, sizes = np.unique(tree_of_dof, return_counts=True)
    number = np.zeros(len(chains.root), dtype=np.int64)
    number[roots] = np.arange(len(roots))
    pairs = number[touching(trees)]
    key = np.unique(
        np.append(pairs[:, 0] * len(roots) + pairs[:, 1], np.arange(len(roots)) * (len(roots) + 1))
    )
    start = np.searchsorted(key, np.arange(len(roots) + 1) * len(roots))
    analysis = analyse(start, key % len(roots))
    chunks = (sizes + 2) // 3
    first = np.concatenate([[0], np.cumsum(chunks[analysis.order])])  # of each turn
    starts, column, diagonal = expand(analysis.pattern, first)
    turn = np.argsort(analysis.order)
    dof_turn = turn[number[tree_of_dof]]
    rank = _rank_in_group(dof_turn)
    memory = make_bodies(
        c=len(diagonal),
        p=len(column),
        q=len(analysis.component) - 1,
        nv=len(tree_of_dof),
        k=capacity,
        w=int(np.sort(chunks)[-3:].sum()),
    )
    memory.made_for[:] = len(trees)
    memory.trees[: len(trees)] = trees
    pattern = memory.pattern
    pattern.start[:], pattern.column[:], pattern.diagonal[:] = starts, column, diagonal
    memory.first[:] = first[analysis.component]
    memory.component[:] = np.searchsorted(memory.first, np.arange(len(diagonal)), side="right") - 1
    memory.chunk_of[:], memory.lane[:] = first[dof_turn] + rank // 3, rank % 3
    return memory


def _rank_in_group(group: IntArray) -> IntArray:
    """How many entries before each one (n,) belong to the same group."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], group[order])
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - starts
    return rank
