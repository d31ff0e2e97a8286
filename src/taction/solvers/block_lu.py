"""Sparse LU of matrices made of 3×3 blocks, in place on a pattern that is found once.

What it solves: J x = f, where J has the pattern of W (blocks of contacts that share a body) with full,
unsymmetric values. The pattern is symmetric, so one ordering and one fill-in serve rows and columns
(`taction.solvers.elimination_order`), and every Newton step reuses them.

Method
1. *Factor*: for each row i, for k < i in the row: L_ik = J_ik D_k⁻¹, J_ij −= L_ik U_kj. No pivots are
   exchanged between blocks; D_k is inverted as a whole. A row that is the identity (a contact that is open)
   costs nothing.
2. *Solve*: forward with L, backward with U and D⁻¹.

No exchange of pivots is safe where the symmetric part of J is positive definite, which a proximal term
provides; a block without inverse is reported, and the caller regularises more.

Cost: fill-in m of the pattern, Σ (row length)² block products to factor, 2m to solve. Contact graphs of
piles fill in little: four hundred contacts need a few thousand blocks.

References: [GolubVanLoan2013, Algorithm 3.2.1] for the elimination.
"""

from __future__ import annotations

from taction._core.jit import inline_kernel, kernel


@inline_kernel
def invert_block(a, at, to, out_io):
    """Inverse of block a[at] into out_io[to], both by rows; returns False where there is none."""
    c0 = a[at, 4] * a[at, 8] - a[at, 5] * a[at, 7]
    c1 = a[at, 5] * a[at, 6] - a[at, 3] * a[at, 8]
    c2 = a[at, 3] * a[at, 7] - a[at, 4] * a[at, 6]
    det = a[at, 0] * c0 + a[at, 1] * c1 + a[at, 2] * c2
    if not abs(det) > 0.0:
        return False
    s = 1.0 / det
    out_io[to, 0] = s * c0
    out_io[to, 3] = s * c1
    out_io[to, 6] = s * c2
    out_io[to, 1] = s * (a[at, 2] * a[at, 7] - a[at, 1] * a[at, 8])
    out_io[to, 4] = s * (a[at, 0] * a[at, 8] - a[at, 2] * a[at, 6])
    out_io[to, 7] = s * (a[at, 1] * a[at, 6] - a[at, 0] * a[at, 7])
    out_io[to, 2] = s * (a[at, 1] * a[at, 5] - a[at, 2] * a[at, 4])
    out_io[to, 5] = s * (a[at, 2] * a[at, 3] - a[at, 0] * a[at, 5])
    out_io[to, 8] = s * (a[at, 0] * a[at, 4] - a[at, 1] * a[at, 3])
    return True


@kernel
def factor_blocks(pattern, first, last, is_identity, place_io, lu_io, inverse_out):
    """Step 1 for blocks first…last−1: lu_io (m, 9) becomes L and U, inverse_out (k, 9) D⁻¹; 0 if done.

    is_identity (k,) marks rows of the identity; place_io (k,) is scratch.
    """
    for i in range(first, last):
        if not is_identity[i]:
            for m in range(pattern.start[i], pattern.start[i + 1]):
                place_io[pattern.column[m]] = m
            for m in range(pattern.start[i], pattern.diagonal[i]):
                k = pattern.column[m]
                if is_identity[k]:
                    continue
                l = times(lu_io, m, inverse_out, k)
                for c in range(9):
                    lu_io[m, c] = l[c]
                for n in range(pattern.diagonal[k] + 1, pattern.start[k + 1]):
                    subtract_product(l, lu_io, n, place_io[pattern.column[n]], lu_io)
        if not invert_block(lu_io, pattern.diagonal[i], i, inverse_out):
            return i + 1
    return 0


@inline_kernel
def times(a, i, b, j):
    """Product of the blocks a[i] and b[j], by rows, as a tuple."""
    a0, a1, a2, a3, a4, a5, a6, a7, a8 = (
        a[i, 0],
        a[i, 1],
        a[i, 2],
        a[i, 3],
        a[i, 4],
        a[i, 5],
        a[i, 6],
        a[i, 7],
        a[i, 8],
    )
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = (
        b[j, 0],
        b[j, 1],
        b[j, 2],
        b[j, 3],
        b[j, 4],
        b[j, 5],
        b[j, 6],
        b[j, 7],
        b[j, 8],
    )
    return (
        a0 * b0 + a1 * b3 + a2 * b6,
        a0 * b1 + a1 * b4 + a2 * b7,
        a0 * b2 + a1 * b5 + a2 * b8,
        a3 * b0 + a4 * b3 + a5 * b6,
        a3 * b1 + a4 * b4 + a5 * b7,
        a3 * b2 + a4 * b5 + a5 * b8,
        a6 * b0 + a7 * b3 + a8 * b6,
        a6 * b1 + a7 * b4 + a8 * b7,
        a6 * b2 + a7 * b5 + a8 * b8,
    )


@inline_kernel
def subtract_product(l, b, j, to, out_io):
    """out_io[to] −= l · b[j] for 3×3 blocks by rows, l a tuple."""
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = (
        b[j, 0],
        b[j, 1],
        b[j, 2],
        b[j, 3],
        b[j, 4],
        b[j, 5],
        b[j, 6],
        b[j, 7],
        b[j, 8],
    )
    out_io[to, 0] -= l[0] * b0 + l[1] * b3 + l[2] * b6
    out_io[to, 1] -= l[0] * b1 + l[1] * b4 + l[2] * b7
    out_io[to, 2] -= l[0] * b2 + l[1] * b5 + l[2] * b8
    out_io[to, 3] -= l[3] * b0 + l[4] * b3 + l[5] * b6
    out_io[to, 4] -= l[3] * b1 + l[4] * b4 + l[5] * b7
    out_io[to, 5] -= l[3] * b2 + l[4] * b5 + l[5] * b8
    out_io[to, 6] -= l[6] * b0 + l[7] * b3 + l[8] * b6
    out_io[to, 7] -= l[6] * b1 + l[7] * b4 + l[8] * b7
    out_io[to, 8] -= l[6] * b2 + l[7] * b5 + l[8] * b8


@kernel
def solve_lower(pattern, first, last, is_identity, lu, x_io):
    """Step 2, forward, for blocks first…last−1: overwrite x_io (3k,) with L⁻¹ x_io."""
    for i in range(first, last):
        if is_identity[i]:
            continue
        y0, y1, y2 = x_io[3 * i], x_io[3 * i + 1], x_io[3 * i + 2]
        for m in range(pattern.start[i], pattern.diagonal[i]):
            d = 3 * pattern.column[m]
            x0, x1, x2 = x_io[d], x_io[d + 1], x_io[d + 2]
            y0 -= lu[m, 0] * x0 + lu[m, 1] * x1 + lu[m, 2] * x2
            y1 -= lu[m, 3] * x0 + lu[m, 4] * x1 + lu[m, 5] * x2
            y2 -= lu[m, 6] * x0 + lu[m, 7] * x1 + lu[m, 8] * x2
        x_io[3 * i], x_io[3 * i + 1], x_io[3 * i + 2] = y0, y1, y2


@kernel
def solve_upper(pattern, first, last, is_identity, lu, inverse, x_io):
    """Step 2, backward, for blocks first…last−1: overwrite x_io (3k,) with U⁻¹ x_io."""
    for i in range(last - 1, first - 1, -1):
        if is_identity[i]:
            continue
        y0, y1, y2 = x_io[3 * i], x_io[3 * i + 1], x_io[3 * i + 2]
        for m in range(pattern.diagonal[i] + 1, pattern.start[i + 1]):
            d = 3 * pattern.column[m]
            x0, x1, x2 = x_io[d], x_io[d + 1], x_io[d + 2]
            y0 -= lu[m, 0] * x0 + lu[m, 1] * x1 + lu[m, 2] * x2
            y1 -= lu[m, 3] * x0 + lu[m, 4] * x1 + lu[m, 5] * x2
            y2 -= lu[m, 6] * x0 + lu[m, 7] * x1 + lu[m, 8] * x2
        x_io[3 * i] = inverse[i, 0] * y0 + inverse[i, 1] * y1 + inverse[i, 2] * y2
        x_io[3 * i + 1] = inverse[i, 3] * y0 + inverse[i, 4] * y1 + inverse[i, 5] * y2
        x_io[3 * i + 2] = inverse[i, 6] * y0 + inverse[i, 7] * y1 + inverse[i, 8] * y2
