"""Friction with a pyramid: the contact problem as a linear complementarity problem.

What it solves: under the law ``pyramid`` the section of each friction cone is replaced by a polygon with k
corners, k even, that lie ON the section: the first on +t₁, the others at equal angles of the parameter. The
polygon is inscribed, so friction is never overestimated; for a disc it is too small by a factor cos(π/k)
midway between corners.

Notation: d_j corner of the section (impulse per normal impulse), j = 1 … k; β_j ≥ 0 its share; λ ≥ 0 the
largest −d_j·u_T, i.e. the sliding velocity times the friction coefficient; u = W Λ + b.

Method
1. Fold compliance and viscous friction into W and b (`taction.contact.blocks.effective`); the unknown is then
   the Coulomb part of the impulses.
2. Write every element in variables z ≥ 0 with slacks ≥ 0:

   | element | variables | impulse | complementary to |
   |---|---|---|---|
   | contact | Λ_N + a | Λ_N, with a its adhesion | u_N |
   | | β_1 … β_k | Λ_T = Σ β_j d_j | d_j·u_T + λ |
   | | λ | – | Λ_N + a − Σ β_j |
   | unilateral, joint limit | Λ + a | Λ | u |
   | joint friction, −c … c | y, s | Λ = y − c | u + s; 2c − y |

   A contact with zero coefficients, or under the law ``frictionless``, keeps its first line only; joint
   friction with c = 0 has no line.
3. Eliminate bilateral rows B, whose impulses have no sign: Λ_B = −W_BB⁺ (b_B + W_BC Λ_C). For redundant
   joints W_BB is singular; W_BB⁺ is then the pseudo-inverse (singular values below 1e-12 of the largest count
   as zero) and the least joint impulses are taken. Contacts do not notice: W is semidefinite, so the columns
   of W_BC are in the range of W_BB. What of b_B is outside that range cannot be balanced by any impulse;
   `PyramidLcp.inconsistency` measures it.
4. Choose units: impulses of an element are counted in η = 1/√w, w the mean of its diagonal entries of the
   Schur complement S, and its velocities in 1/η. All rows of the result then have the unit √J and diagonals
   near 1, whatever the masses, and residuals of different elements can be compared.
5. With Λ_C = G z + g (η included):   M = Gᵀ S G + E,   q = Gᵀ(a + S g) + e,   S and a the Schur complement of
   step 3 (of W and b), E the entries ±1 and e the 2c of the table.

6. The way back is Λ = G z + g. Joints at rest whose friction is far below its bound c lose digits there,
   since y = Λ + c: their impulses, and those of bilateral rows, are corrected once so that their velocities
   vanish.

Solvability: zᵀM z = yᵀ S y + Σ λ Λ_N ≥ 0 with y = G z, so M is copositive. A solution of the homogeneous
problem has S y = 0, hence qᵀz = yᵀ a + eᵀz = eᵀz ≥ 0 whenever b is in the range of W, i.e. whenever b is the
velocity of some motion, or W is regular. Lemke's method with a rule against cycling then ends with a
solution, see `taction.solvers.lemke`.

Departures: the papers use unit directions and write μ Λ_N − Σ β ≥ 0. Here the coefficients are in the
corners, which is the same up to units of β and λ, and covers ellipses and different coefficients forward and
backward as well.

Cost: (k + 2) variables per contact, M dense.

References: [StewartTrinkle1996]; [AnitescuPotra1997] for this velocity form and its solvability;
[BhargavaReport, Eq. (3)].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.contact.blocks import effective
from taction.contact.elements import Bilateral, Contact, JointFriction
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem

REDUNDANT = 1e-12  # singular values of W_BB below this, relative to the largest, count as zero
INSIDE = 0.5  # a share of its bound below which an impulse is surely not at it
ROUNDING = 1e-15  # sines and cosines below this are zero


@dataclass(frozen=True, eq=False)
class PyramidLcp:
    """A contact problem as a linear complementarity problem, and the way back.

    Attributes:
        problem: where it came from.
        lcp: M, q.
        inconsistency: ‖part of b on bilateral rows that no impulse can change‖ / ‖b‖; above rounding there is
            no solution.
        map: G of Λ_C = G z + g, bilateral rows included, (n, len(z)).
        offset: g, (n,).
        element: of the problem that each z belongs to, (len(z),).
        W: inverse inertia with compliance and viscous friction folded in, (n, n).
        b: free velocity likewise, (n,).
    """

    problem: ContactProblem
    lcp: LinearComplementarityProblem
    inconsistency: float
    map: Array
    offset: Array
    element: IntArray
    W: Array
    b: Array

    def impulse(self, z: Array) -> Array:
        """Impulses of the contact problem (n,) from a solution z, viscous part included."""
        coulomb = self.map @ z + self.offset
        held = self._held(coulomb)
        if held:  # an impulse far inside its bounds loses its last digits in Λ = y − c
            rest = self.W[held] @ coulomb + self.b[held]
            coulomb[held] -= np.linalg.lstsq(self.W[np.ix_(held, held)], rest, rcond=REDUNDANT)[0]
        return coulomb - self.problem.viscosity * (self.W @ coulomb + self.b)

    def _held(self, coulomb: Array) -> list[int]:
        """Rows whose velocity vanishes: those of bilateral elements, and of joints held by dry friction."""
        pairs = zip(self.problem.first_row, self.problem.elements, strict=True)
        rubbing = [
            row for row, e in pairs if isinstance(e, JointFriction) and abs(coulomb[row]) < INSIDE * e.bound
        ]
        return [*_bilateral_rows(self.problem), *rubbing]


def corners(contact: Contact, sides: int) -> Array:
    """Corners of the friction polygon, (sides, 2): tangential impulse per unit of normal impulse.

    The semi-axis along t₁ is that of the side: ``backward`` where Λ_1 > 0, ``friction`` where Λ_1 < 0,
    because the impulse opposes the sliding.
    """
    angle = 2.0 * math.pi * np.arange(sides) / sides
    cosine, sine = np.cos(angle), np.sin(angle)
    cosine[np.abs(cosine) < ROUNDING] = 0.0
    sine[np.abs(sine) < ROUNDING] = 0.0
    along = np.where(cosine >= 0.0, np.float64(contact.backward or 0.0), contact.friction)
    return np.column_stack([along * cosine, contact.lateral * sine])


def pyramid_lcp(problem: ContactProblem) -> PyramidLcp:
    """The linear complementarity problem of a contact problem; law ``pyramid`` or ``frictionless``."""
    if problem.law not in ("pyramid", "frictionless"):
        raise BadInput(
            f"the law {problem.law!r} is no linear complementarity problem; use 'pyramid' or 'frictionless'"
        )
    W, b = effective(problem)
    W = W if isinstance(W, np.ndarray) else W.toarray()
    free = _bilateral_rows(problem)
    inverse = np.linalg.pinv(W[np.ix_(free, free)], rcond=REDUNDANT) if len(free) else np.zeros((0, 0))
    step, push = inverse @ W[free], inverse @ b[free]
    lost = b[free] - W[np.ix_(free, free)] @ push
    S = W - W[:, free] @ step
    G, g, E, e, element = _variables(problem, np.diag(S))
    M = G.T @ S @ G + E
    q = G.T @ (b - W[:, free] @ push + S @ g) + e
    g[free] = -push - step @ g  # G and g have no entries of their own on bilateral rows
    G[free] = -step @ G
    return PyramidLcp(
        problem=problem,
        lcp=LinearComplementarityProblem(M, q, problem.name),
        inconsistency=float(np.linalg.norm(lost)) / (float(np.linalg.norm(b)) or 1.0),
        map=G,
        offset=g,
        element=element,
        W=W,
        b=b,
    )


def _bilateral_rows(problem: ContactProblem) -> list[int]:
    """Rows of all bilateral elements."""
    pairs = zip(problem.first_row, problem.elements, strict=True)
    return [row + k for row, e in pairs if isinstance(e, Bilateral) for k in range(e.rows)]


def _unit(diagonal: Array) -> float:
    """Step 4: unit of the impulses of an element, from its entries of the diagonal of S."""
    mean = float(diagonal.mean())
    return 1.0 / math.sqrt(mean) if mean > 0.0 else 1.0


def _variables(problem: ContactProblem, diagonal: Array) -> tuple[Array, Array, Array, Array, IntArray]:
    """Steps 2 and 4: G (n, m), g (n,), E (m, m), e (m,) of the module text, elements; diagonal of S (n,)."""
    counts: list[int] = []  # of columns, per element
    columns: list[dict[int, float]] = []  # of G, as {row: value}
    coupling: list[tuple[int, int, float]] = []  # entries of E
    constants: dict[int, float] = {}  # entries of e
    g = np.zeros(problem.size)
    for row, element in zip(problem.first_row, problem.elements, strict=True):
        counts.append(len(columns))
        if isinstance(element, Bilateral):
            continue
        first, unit = len(columns), _unit(diagonal[row : row + element.rows])
        if isinstance(element, JointFriction):
            if element.bound > 0.0:
                g[row] = -element.bound
                columns += [{row: unit}, {}]
                coupling += [(first, first + 1, 1.0), (first + 1, first, -1.0)]
                constants[first + 1] = 2.0 * element.bound / unit
            continue
        g[row] = -getattr(element, "adhesion", 0.0)
        columns.append({row: unit})
        if isinstance(element, Contact) and problem.law == "pyramid":
            if not (element.friction or element.lateral or element.backward):
                continue
            last = first + problem.sides + 1  # λ
            columns += [
                {row + 1: unit * d1, row + 2: unit * d2} for d1, d2 in corners(element, problem.sides)
            ]
            columns.append({})
            coupling.append((last, first, 1.0))
            for j in range(first + 1, last):
                coupling += [(j, last, 1.0), (last, j, -1.0)]
    G = np.zeros((problem.size, len(columns)))
    for j, column in enumerate(columns):
        for i, value in column.items():
            G[i, j] = value
    E = np.zeros((len(columns), len(columns)))
    for i, j, value in coupling:
        E[i, j] = value
    e = np.zeros(len(columns))
    for i, value in constants.items():
        e[i] = value
    of = np.searchsorted(counts, np.arange(len(columns)), side="right") - 1
    return G, g, E, e, of.astype(np.int64)
