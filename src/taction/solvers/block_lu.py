"""Sparse LU of matrices made of 3×3 blocks, in place on a pattern that is found once.

What it solves: J x = f, where J has the pattern of W (blocks of contacts that share a body) with full,
unsymmetric values. The pattern is symmetric, so one ordering and one fill-in serve rows and columns, and
every Newton step reuses them.

Method
1. *Order* (once): eliminate the block with the fewest neighbours, connect its neighbours, repeat.
   Neighbours are sets of bits, so joining two of them is a few machine words. Blocks of one connected
   component follow each other, so a component is a range of blocks.
2. *Pattern* (once): row i holds the blocks k < i whose elimination touches i, itself, and its neighbours at
   its turn.
3. *Factor*: for each row i, for k < i in the row: L_ik = J_ik D_k⁻¹, J_ij −= L_ik U_kj. No pivots are
   exchanged between blocks; D_k is inverted as a whole. A row that is the identity (a contact that is open)
   costs nothing.
4. *Solve*: forward with L, backward with U and D⁻¹.

No exchange of pivots is safe where the symmetric part of J is positive definite, which a proximal term
provides; a block without inverse is reported, and the caller regularises more.

Cost: fill-in m of the pattern, Σ (row length)² block products to factor, 2m to solve. Contact graphs of
piles fill in little: four hundred contacts need a few thousand blocks.

References: [GolubVanLoan2013, Algorithm 3.2.1] for the elimination; [Davis2006, Chapter 7] for minimum
degree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import IntArray
from taction._core.jit import inline_kernel, kernel

BITS = 62  # bits used of a 64-bit word, so that no shift meets the sign
DENSE = 12  # up to so many blocks the factor is taken as full


class Pattern(NamedTuple):
    """Filled pattern in elimination order, for k blocks.

    start (k+1,), column (m,): compressed rows, columns ascending; diagonal (k,): where the diagonal blocks
    are.
    """

    start: IntArray
    column: IntArray
    diagonal: IntArray


@kernel
def label_components(start, column, stack_io, label_out):
    """Number the connected components of k blocks: label_out (k,); returns how many there are."""
    k = label_out.shape[0]
    for i in range(k):
        label_out[i] = -1
    count = 0
    for seed in range(k):
        if label_out[seed] >= 0:
            continue
        label_out[seed] = count
        stack_io[0] = seed
        top = 1
        while top > 0:
            top -= 1
            i = stack_io[top]
            for m in range(start[i], start[i + 1]):
                j = column[m]
                if label_out[j] < 0:
                    label_out[j] = count
                    stack_io[top] = j
                    top += 1
        count += 1
    return count


@kernel
def gather_bits(start, column, bits_out, degree_out):
    """Neighbours of each block as bits: bits_out (k, words), degree_out (k,) their number."""
    for i in range(degree_out.shape[0]):
        for w in range(bits_out.shape[1]):
            bits_out[i, w] = 0
        degree_out[i] = 0
        for m in range(start[i], start[i + 1]):
            j = column[m]
            if j != i:
                bits_out[i, j // BITS] |= 1 << (j % BITS)
                degree_out[i] += 1


@inline_kernel
def count_bits(word):
    """Number of bits set in a word that is not negative."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@kernel
def eliminate(bits_io, degree_io, order_out):
    """Step 1: order_out (k,) by minimum degree; bits_io (k, words) keeps the neighbours left at each turn."""
    k, words = bits_io.shape
    for turn in range(k):
        p = -1
        for i in range(k):
            if degree_io[i] >= 0 and (p < 0 or degree_io[i] < degree_io[p]):
                p = i
        order_out[turn] = p
        for w in range(words):
            word = bits_io[p, w]
            if word == 0:
                continue
            for bit in range(BITS):
                if not (word >> bit) & 1:
                    continue
                j = w * BITS + bit
                total = 0
                for v in range(words):
                    bits_io[j, v] |= bits_io[p, v]
                bits_io[j, w] &= ~(1 << bit)
                bits_io[j, p // BITS] &= ~(1 << (p % BITS))
                for v in range(words):
                    total += count_bits(bits_io[j, v])
                degree_io[j] = total
        degree_io[p] = -1 - degree_io[p]


@kernel
def fill_pattern(bits, place, order, start_out, column_out, diagonal_out):
    """Step 2: rows in elimination order, from the neighbours left; place (k,) inverts order (k,)."""
    k, words = bits.shape
    for i in range(k + 1):
        start_out[i] = 0
    for t in range(k):
        start_out[t + 1] += 1
        p = order[t]
        for w in range(words):
            if bits[p, w] == 0:
                continue
            for bit in range(BITS):
                if (bits[p, w] >> bit) & 1:
                    start_out[t + 1] += 1
                    start_out[place[w * BITS + bit] + 1] += 1
    for t in range(k):
        start_out[t + 1] += start_out[t]
    for t in range(k):
        diagonal_out[t] = start_out[t]  # for now: where the next column of row t goes
    for t in range(k):
        # columns below the diagonal arrived in ascending order from earlier turns; now the diagonal and above
        first = diagonal_out[t]
        p = order[t]
        column_out[first] = t
        last = first + 1
        for w in range(words):
            if bits[p, w] == 0:
                continue
            for bit in range(BITS):
                if (bits[p, w] >> bit) & 1:
                    s = place[w * BITS + bit]
                    column_out[diagonal_out[s]] = t
                    diagonal_out[s] += 1
                    at = last
                    while at > first + 1 and column_out[at - 1] > s:
                        column_out[at] = column_out[at - 1]
                        at -= 1
                    column_out[at] = s
                    last += 1


class Analysis(NamedTuple):
    """What is known of a pattern of k blocks before its values.

    order (k,): block eliminated at each turn; component (c+1,): first turn of each connected component,
    ending with k; pattern: of the factor.
    """

    order: IntArray
    component: IntArray
    pattern: Pattern


def analyse(start: IntArray, column: IntArray) -> Analysis:
    """Order a symmetric pattern for elimination, components apart: row starts (k+1,), columns.

    A handful of blocks stay as they are, in one component with a full pattern: ordering would cost more than
    it saves.
    """
    k = len(start) - 1
    if k <= DENSE:
        rows = np.arange(k, dtype=np.int64)
        full = Pattern(np.arange(k + 1) * k, np.tile(rows, k), rows * (k + 1))
        return Analysis(rows, np.array([0, k]), full)
    label, stack, degree, order = (np.empty(k, dtype=np.int64) for _ in range(4))
    bits = np.empty((k, k // BITS + 1), dtype=np.int64)
    count = label_components(start, column, stack, label)
    gather_bits(start, column, bits, degree)
    eliminate(bits, degree, order)
    order = order[np.argsort(label[order], kind="stable")]
    above = int((-1 - degree).sum())
    pattern = Pattern(*(np.empty(n, dtype=np.int64) for n in (k + 1, k + 2 * above, k)))
    fill_pattern(bits, np.argsort(order), order, *pattern)
    component = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=count))])
    return Analysis(order, component, pattern)


def factor_cost(pattern: Pattern) -> float:
    """Floating-point operations of one factorisation: 54 per block product of step 3."""
    above = pattern.start[1:] - pattern.diagonal - 1
    return 54.0 * float(np.sum(above * (above + 1))) + 1.0


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
    """Step 3 for blocks first…last−1: lu_io (m, 9) becomes L and U, inverse_out (k, 9) D⁻¹; 0 if done.

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
def solve_blocks(pattern, first, last, is_identity, lu, inverse, x_io):
    """Step 4 for blocks first…last−1: overwrite x_io (3k,) with J⁻¹ x_io."""
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
