"""The form that solvers work on: rows gathered in blocks of three, W as compressed block rows.

Every contact is a block of its own (normal, t₁, t₂). Rows of all other elements are intervals and share
blocks, three to each; left-over places carry nothing (an empty interval around zero, a zero row of W). So a
solver loops over blocks, and asks `taction.contact.laws.dispatch` about the law of each.

Folded in beforehand, exactly:
1. compliance:  W + R;
2. viscous friction Λ_T = Λ_C − ν u_T on the rows V that have it, by elimination:
       W ← W − W_{:V} (ν⁻¹ + W_VV)⁻¹ W_{V:},   b ← b − W_{:V} (ν⁻¹ + W_VV)⁻¹ b_V,
   after which the unknown is Λ_C; `Blocks.unpack` adds −ν u_T again;
3. no friction (by law, or zero coefficients): the contact becomes a half-line and two empty intervals.

Scaling (`scale_blocks`): Λ = s Λ', γ' = s γ, W' = s W s row by row, with s of a contact chosen so that its
diagonal block has mean diagonal 1 and the larger half of its cone is circular. Sets are carried over; laws
are unchanged, because s is the same for all rows of a contact up to the ratio of its friction coefficients.

References: [AcaryBremondHuber2018] for the problem; [Ayit2015, Eq. 4.22] for viscous friction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.jit import inline_kernel, kernel, plain
from taction.contact.elements import Bilateral, Contact, JointFriction
from taction.contact.laws.dispatch import BOX, CONVEX, EXACT, apexes, contact_set, origins, scale_set
from taction.contact.problem import ContactProblem

EPSILON = 2.0**-52  # spacing of numbers near 1
NOISE = 8.0  # what rounding leaves of a residual, in units of its bound for one sum
ROUGHEST = 1e-5  # rounding, relative to ‖b‖, above which impulses prove nothing


class BlockRows(NamedTuple):
    """What kernels see of a problem with k blocks.

    start (k+1,), column (m,): compressed rows of blocks, columns ascending; value (m, 9): blocks by rows;
    diagonal (k,): where the diagonal blocks are; b (3k,): free velocity; kind (k,), sets (k, 6): as in
    `taction.contact.laws`.
    """

    start: IntArray
    column: IntArray
    value: Array
    diagonal: IntArray
    b: Array
    kind: IntArray
    sets: Array


@dataclass(frozen=True, eq=False)
class Blocks:
    """A problem in block form, and the way back.

    Attributes:
        problem: where it came from.
        rows: arrays for kernels, unscaled.
        slot: place of each row of the problem among the 3k rows of the blocks, (n,).
        moved: what was added to the impulses, (3k,): see `at_origin`.
    """

    problem: ContactProblem
    rows: BlockRows
    slot: IntArray
    moved: Array

    def pack(self, impulse: ArrayLike | None) -> Array:
        """Impulses of the problem (n,) as block rows (3k,), viscous part taken out; zeros for None."""
        packed = np.zeros(len(self.rows.b))
        if impulse is not None:
            r = as_float(impulse, (self.problem.size,), "guess")
            packed[self.slot] = r + self.problem.viscosity * self.problem.law_velocity(r)
        return packed + self.moved

    def unpack(self, packed: Array) -> Array:
        """Impulses of the problem (n,) from block rows (3k,), viscous part included."""
        r = (packed - self.moved)[self.slot]
        viscosity = self.problem.viscosity
        if viscosity.any():
            u = np.empty_like(packed)
            multiply(self.rows, packed, u)
            r = r - viscosity * u[self.slot]
        return r

    def at_origin(self) -> Blocks:
        """The same problem in Λ + a e_N, a the apex of each set: all cones begin at the origin."""
        rows, moved = self.rows, np.zeros_like(self.moved)
        moved[0::3] = apexes(rows.kind, rows.sets)
        if not moved.any():
            return self
        b = np.empty_like(rows.b)
        multiply(rows, -moved, b)
        kind = origins(rows.kind, rows.sets)
        return replace(self, rows=rows._replace(b=b, kind=kind), moved=self.moved + moved)


def make_blocks(problem: ContactProblem) -> Blocks:
    """The problem in block form."""
    if problem.law == "pyramid":
        raise BadInput(
            "the pyramid law has no cones to project on; it is solved as a linear complementarity problem"
        )
    slot, kind, sets = layout(problem)
    W, b = effective(problem)
    start, column, value, diagonal = _compress(W, slot, len(kind))
    packed_b = np.zeros(3 * len(kind))
    packed_b[slot] = b
    rows = BlockRows(start, column, value, diagonal, packed_b, kind, sets)
    return Blocks(problem, rows, slot, np.zeros_like(packed_b))


def layout(problem: ContactProblem) -> tuple[IntArray, IntArray, Array]:
    """Slot of each row, kind and set of each block."""
    slot: list[int] = []
    kind: list[int] = []
    sets: list[list[float]] = []
    place, inf = 3, math.inf  # next free place of the current block of intervals
    box = -1

    def interval(low: float, high: float) -> None:
        nonlocal place, box
        if place == 3:
            box, place = len(kind), 0
            kind.append(BOX)
            sets.append([0.0] * 6)
        sets[box][2 * place : 2 * place + 2] = low, high
        slot.append(3 * box + place)
        place += 1

    for element in problem.elements:
        if isinstance(element, Contact):
            slot += range(3 * len(kind), 3 * len(kind) + 3)
            mu = [element.backward, element.friction, element.lateral]
            plus, minus, lateral = [0.0] * 3 if problem.law == "frictionless" else mu
            cone = CONVEX if problem.law == "convex" else EXACT
            sets.append([0.0] * 6)
            kind.append(plain(contact_set)(cone, plus, minus, lateral, element.adhesion, sets[-1]))
        elif isinstance(element, JointFriction):
            interval(-element.bound, element.bound)
        elif isinstance(element, Bilateral):
            for _ in range(element.rows):
                interval(-inf, inf)
        else:
            interval(0.0 - getattr(element, "adhesion", 0.0), inf)
    return (
        np.array(slot, dtype=np.int64),
        np.array(kind, dtype=np.int64),
        np.array(sets, dtype=np.float64).reshape(-1, 6),
    )


def effective(problem: ContactProblem) -> tuple[Any, Array]:
    """W (n, n) and b (n,) with compliance and viscous friction folded in: steps 1 and 2."""
    W, b = problem.matrix, problem.b
    if problem.compliance is not None:
        if isinstance(W, np.ndarray):
            W = W + np.diag(problem.compliance)
        else:
            from scipy.sparse import diags_array

            W = W + diags_array(problem.compliance).tocsr()
    rows = np.flatnonzero(problem.viscosity)
    if len(rows):
        W = W if isinstance(W, np.ndarray) else W.toarray()
        inner = W[np.ix_(rows, rows)] + np.diag(1.0 / problem.viscosity[rows])
        step = np.linalg.solve(inner, np.column_stack([W[rows], b[rows]]))
        W, b = W - W[:, rows] @ step[:, :-1], b - W[:, rows] @ step[:, -1]
    return W, b


def _compress(W: Any, slot: IntArray, count: int) -> tuple[IntArray, IntArray, Array, IntArray]:
    """Compressed block rows of W with a symmetric pattern, and where the diagonal blocks are."""
    if isinstance(W, np.ndarray):
        row, column = np.nonzero(W)
        entries = W[row, column]
    else:
        coordinates = W.tocoo()
        row, column, entries = coordinates.row, coordinates.col, coordinates.data
    row, column = slot[row], slot[column]
    key = (row // 3) * count + column // 3
    on_diagonal = np.arange(count, dtype=np.int64) * (count + 1)
    keys = np.unique(np.concatenate([key, (column // 3) * count + row // 3, on_diagonal]))
    value = np.zeros((len(keys), 9))
    np.add.at(value, (np.searchsorted(keys, key), 3 * (row % 3) + column % 3), entries)
    start = np.searchsorted(keys, np.arange(count + 1, dtype=np.int64) * count)
    return start, keys % max(count, 1), value, np.searchsorted(keys, on_diagonal)


@kernel
def multiply(rows, r, u_out):
    """u_out = W r + b for r (3k,)."""
    for i in range(rows.kind.shape[0]):
        c = 3 * i
        u0, u1, u2 = rows.b[c], rows.b[c + 1], rows.b[c + 2]
        for m in range(rows.start[i], rows.start[i + 1]):
            d = 3 * rows.column[m]
            x0, x1, x2 = r[d], r[d + 1], r[d + 2]
            if x0 == 0.0 and x1 == 0.0 and x2 == 0.0:
                continue  # open, as most contacts that may close are
            w = rows.value[m]
            u0 += w[0] * x0 + w[1] * x1 + w[2] * x2
            u1 += w[3] * x0 + w[4] * x1 + w[5] * x2
            u2 += w[6] * x0 + w[7] * x1 + w[8] * x2
        u_out[c], u_out[c + 1], u_out[c + 2] = u0, u1, u2


@kernel
def rounding(rows, r):
    """ε ‖|W| |r| + |b|‖: how far rounding can shift u = W r + b; a residual below that proves nothing."""
    total = 0.0
    for i in range(rows.kind.shape[0]):
        for k in range(3):
            size = abs(rows.b[3 * i + k])
            for m in range(rows.start[i], rows.start[i + 1]):
                for c in range(3):
                    size += abs(rows.value[m, 3 * k + c] * r[3 * rows.column[m] + c])
            total += size * size
    return EPSILON * math.sqrt(total)


@inline_kernel
def is_rounding_above(rows, r, allowed):
    """Whether `rounding` exceeds ``allowed``, at the cost of a sum where it is far below.

    W is semidefinite, so none of its entries exceeds the largest on its diagonal.
    """
    largest = total = 0.0
    for i in range(rows.kind.shape[0]):
        w = rows.value[rows.diagonal[i]]
        largest = max(largest, w[0], w[4], w[8])
        total += abs(r[3 * i]) + abs(r[3 * i + 1]) + abs(r[3 * i + 2])
    if EPSILON * math.sqrt(3.0 * rows.kind.shape[0]) * largest * total <= 0.5 * allowed:
        return False
    return not rounding(rows, r) <= allowed


@inline_kernel
def is_at_rounding(rows, r, error, size):
    """Whether a residual is as small as rounding lets it be; ``size``: ‖b‖.

    Not for impulses so large that rounding hides whether they are right at all (`ROUGHEST`).
    """
    floor = rounding(rows, r)
    return floor <= ROUGHEST * size and error <= NOISE * floor


@inline_kernel
def scale_block(rows, i, t, scale_out, sets_out):
    """Scale (3) of block i and its set for Λ' = Λ / s, written as block t."""
    scale_set(rows.kind[i], rows.sets[i], rows.value[rows.diagonal[i]], t, scale_out, sets_out)


@kernel
def scale_blocks(rows, scale_out, scaled_out):
    """Scale s (3k,) of every row; W' = s W s, b' = s b and the sets for Λ' = Λ / s into scaled_out.

    The pattern of scaled_out is that of rows.
    """
    for i in range(rows.kind.shape[0]):
        scale_block(rows, i, i, scale_out, scaled_out.sets)
    for i in range(rows.kind.shape[0]):
        c = 3 * i
        for m in range(rows.start[i], rows.start[i + 1]):
            d = 3 * rows.column[m]
            for k in range(3):
                for j in range(3):
                    scaled_out.value[m, 3 * k + j] = (
                        scale_out[c + k] * rows.value[m, 3 * k + j] * scale_out[d + j]
                    )
        for k in range(3):
            scaled_out.b[c + k] = scale_out[c + k] * rows.b[c + k]


def scaled(rows: BlockRows) -> tuple[BlockRows, Array]:
    """The scaled problem, sharing pattern and kinds with ``rows``, and the scale (3k,)."""
    out = rows._replace(
        value=np.empty_like(rows.value), b=np.empty_like(rows.b), sets=np.zeros_like(rows.sets)
    )
    scale = np.empty(len(rows.b))
    scale_blocks(rows, scale, out)
    return out, scale
