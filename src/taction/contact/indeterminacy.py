"""Which impulses are determined by a problem and which are not, and a choice among those that are not.

What it solves: a table on four legs stands in one way, but its legs share the weight in many. Given impulses
Λ that solve a problem, with velocities u, all impulses that give the same velocities and obey the laws are
    S = {Λ' : W Λ' = W Λ,  Λ'_i ∈ F_i(u_i)},
where F_i is the set of impulses that the law of element i allows at velocity u_i:

| element | state | F_i | active directions |
|---|---|---|---|
| contact | open: u_N > 0 | 0 | none |
| | sticking: u = 0 | the friction cone | normal, t₁, t₂ |
| | sliding | a ray, (1, d), with d the point of the section that takes most power from u_T | that one |
| unilateral, limit | closed: u = 0 | half-line | 1 |
| joint friction | sticking: u = 0 | [−c, c] | 1 |
| | sliding ("at bound") | −c sign(u) | none |
| bilateral | always | everything | all |

Under the convex law a contact is open while u is inside the dual cone, u_N > σ(−u_T), and slides on its
boundary. A tangential axis without friction is not active; neither are tangents under the frictionless law.

Notation: E (n, m) the active directions as orthonormal columns, z = EᵀΛ their impulses, N a basis of ker W E.

Method, `indeterminacy`:
1. state and directions of each element; velocities below ``tol``·‖b‖ (or ten times the residual of Λ) count
   as zero;
2. singular values of W E, rows and columns first scaled by 1/√W_ii, so that units do not matter; those below
   `RANK` of the largest count as zero. S lies in {Λ + E N y}.
3. An element whose rows of E N vanish has the same impulse in all of S: *unique*, a proof. Every other
   impulse can be moved, provided that Λ lies strictly inside all F_i; where some element is on the rim of its
   set with zero velocity (it grazes), S may be smaller than its dimension says, and ``is_exact`` is false.

Method, `choose_impulse`: the point of S nearest to a target t (zero: the least norm), a strictly convex
problem with one answer, whatever Λ the solver happened to return:
    min ½‖z − t‖²  over z ∈ F,  A z = A z₀,    A an orthonormal basis of the rows of W E.
1. Dual: z(λ) = P_F(t + Aᵀλ), where A z(λ) = A z₀. These are as many equations as W has rank, at most the
   number of freedoms.
2. Newton with A P_F' Aᵀ, by finite differences block by block, plus a regularisation that vanishes with the
   residual; the step is halved until the concave dual function rises.
3. Last, z is put back on A z = A z₀ exactly. If the laws then hold worse than for Λ by more than ``tol``, Λ
   itself is returned: that can happen only where S touches no interior point of F and the multipliers run to
   infinity.

Cost: one singular value decomposition, and a handful of solves of the size of the rank.

Departures: alternating projections (Dykstra) solve the same projection with less code, but sublinearly where
cones touch; the dual Newton method reaches rounding.

References: [Moreau1962] for projections; [AcaryBremondHuber2018] for what is unique in these
problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taction._core.arrays import Array, IntArray, as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction._core.show import brief_repr
from taction.contact.blocks import effective
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction
from taction.contact.laws.dispatch import BOX, CONVEX, project
from taction.contact.problem import ContactProblem

RANK = 1e-11  # singular values below this share of the largest count as zero
MOVES = 1e-7  # rows of a null direction of unit length below this do not move
RESIDUALS = 10.0  # residuals of Λ within which a velocity counts as zero
NEWTON_STEPS, HALVINGS = 200, 40
DIFFERENCE = 1e-7  # step of the finite differences, relative to the point

OPEN, STICKING, SLIDING, CLOSED, AT_BOUND, FREE = "open", "sticking", "sliding", "closed", "at bound", "free"


@dataclass(frozen=True, eq=False)
class Indeterminacy:
    """What is determined and what is not, at given velocities.

    Attributes:
        state: of each element: open, sticking, sliding, closed, at bound, or free (bilateral).
        is_unique: whether the impulse of each element is the only one, (number of elements,).
        dimension: of the set of impulses with the same velocities.
        directions: number of active directions; ``directions − dimension`` of them are independent.
        basis: orthonormal directions in which impulses may move, (n, dimension).
        is_exact: whether no element grazes; if one does, ``dimension`` is only the most that it can be.
    """

    state: tuple[str, ...]
    is_unique: NDArray[np.bool_]
    dimension: int
    directions: int
    basis: Array
    is_exact: bool

    __repr__ = brief_repr

    def __str__(self) -> str:
        count = int((~self.is_unique).sum())
        if not self.dimension:
            return f"all impulses are unique ({self.directions} active directions, all independent)"
        bound = "" if self.is_exact else "at most "
        return (
            f"{count} of {len(self.state)} elements have impulses that are not unique: "
            f"{self.directions} active directions, {self.directions - self.dimension} independent, "
            f"{bound}{self.dimension} free"
        )


@dataclass(frozen=True, eq=False)
class _Faces:
    """The sets F: directions E (n, m), fixed impulses (n,), and their projection in blocks of three."""

    state: tuple[str, ...]
    E: Array
    fixed: Array
    slot: IntArray
    kind: IntArray
    sets: Array
    is_exact: bool

    def nearest(self, z: Array) -> Array:
        """Projection of z (m,) on F."""
        packed, out = np.zeros(3 * len(self.kind)), np.zeros(3 * len(self.kind))
        packed[self.slot] = z
        project(self.kind, self.sets, packed, out)
        return out[self.slot]

    def derivative(self, z: Array, rows: Array) -> Array:
        """Rows P_F'(z) rowsᵀ for rows (r, m), by one difference per place in a block."""
        half = np.zeros_like(rows)
        base = self.nearest(z)
        for place in range(3):
            which = self.slot % 3 == place
            step = np.where(which, DIFFERENCE * (1e-3 * np.abs(z).max(initial=0.0) + np.abs(z)) + 1e-300, 0.0)
            change = np.zeros(3 * len(self.kind))
            change[self.slot] = self.nearest(z + step) - base
            for other in range(3):  # ∂(other of the block)/∂(place)
                columns = np.flatnonzero(which)
                block = self.slot[columns] // 3
                target = np.full(3 * len(self.kind), -1, dtype=np.int64)
                target[self.slot] = np.arange(len(self.slot))
                j = target[3 * block + other]
                present = j >= 0
                columns, j = columns[present], j[present]
                half[:, columns] += rows[:, j] * (change[self.slot[j]] / step[columns])
        return half @ rows.T


def _section_point(element: Contact, u: Array) -> tuple[Array, float]:
    """The point d of the friction section with the most power against u_T (2,), and that power σ(−u_T)."""
    assert element.backward is not None and element.lateral is not None
    axes = np.array([element.backward if -u[0] >= 0.0 else element.friction, element.lateral])
    power = float(np.hypot(*(axes * u)))
    return (-(axes**2) * u / power if power else np.zeros(2)), power


def _faces(problem: ContactProblem, impulse: Array, u: Array, small_u: float, small_r: float) -> _Faces:
    """Step 1: states and sets from Coulomb's impulses (n,) and law velocities (n,)."""
    state: list[str] = []
    columns: list[tuple[int, Array]] = []
    fixed = np.zeros(problem.size)
    slot: list[int] = []
    kind: list[int] = []
    sets: list[list[float]] = []
    is_exact = True

    def block(which: int, bounds: list[float], row: int, *directions: tuple[int, Array]) -> None:
        for place, direction in directions:
            columns.append((row, direction))
            slot.append(3 * len(kind) + place)
        kind.append(which)
        sets.append(bounds + [0.0] * (6 - len(bounds)))

    for row, element in zip(problem.first_row, problem.elements, strict=True):
        r, v = impulse[row : row + element.rows], u[row : row + element.rows]
        one = (0, np.ones(1))
        if isinstance(element, Bilateral):
            state.append(FREE)
            for k in range(element.rows):
                block(BOX, [-np.inf, np.inf], row + k, one)
        elif isinstance(element, JointFriction):
            if abs(v[0]) > small_u:
                state.append(AT_BOUND)
                fixed[row] = -element.bound * np.sign(v[0])
            else:
                state.append(STICKING)
                is_exact &= abs(r[0]) < element.bound - small_r
                block(BOX, [-element.bound, element.bound], row, one)
        elif not isinstance(element, Contact) or problem.law == "frictionless":
            state.append(OPEN if v[0] > small_u else CLOSED)
            if state[-1] == CLOSED:
                is_exact &= r[0] > small_r
                block(BOX, [0.0, np.inf], row, one)
        else:
            d, power = _section_point(element, v[1:])
            if v[0] - (power if problem.law == "convex" else 0.0) > small_u:
                state.append(OPEN)
            elif power > small_u * max(element.friction, element.lateral or 0.0, element.backward or 0.0):
                state.append(SLIDING)
                is_exact &= r[0] > small_r
                ray = r if r[0] > small_r else np.append(1.0, d)
                block(BOX, [0.0, np.inf], row, (0, ray / np.linalg.norm(ray)))
            else:
                mu = [float(a or 0.0) for a in (element.backward, element.friction, element.lateral)]
                axes = [k for k, a in ((1, max(mu[:2])), (2, mu[2])) if a and abs(v[k]) <= small_u]
                state.append(STICKING if axes else CLOSED)
                is_exact &= r[0] - _section_gauge(element, r) > small_r
                if axes:
                    block(CONVEX, mu, row, *((k, np.eye(3)[k]) for k in [0, *axes]))
                else:
                    block(BOX, [0.0, np.inf], row, one)
    E = np.zeros((problem.size, len(columns)))
    for j, (row, direction) in enumerate(columns):
        E[row : row + len(direction), j] = direction
    return _Faces(
        tuple(state),
        E,
        fixed,
        np.array(slot, dtype=np.int64),
        np.array(kind, dtype=np.int64),
        np.array(sets, dtype=float).reshape(-1, 6),
        bool(is_exact),
    )


def _section_gauge(element: Contact, r: Array) -> float:
    """The least normal impulse that carries the tangential part of r (3,), axes without friction left out."""
    axes = (element.backward if r[1] >= 0.0 else element.friction, element.lateral)
    x1, x2 = (float(x / a) if a else 0.0 for x, a in zip(r[1:], axes, strict=True))
    return float(np.hypot(x1, x2))


@dataclass(frozen=True, eq=False)
class _Split:
    """A problem at a solution: its sets, W E, and the split of z into determined (rows A) and free (N)."""

    faces: _Faces
    W: Array
    u: Array
    z: Array
    A: Array
    N: Array


def _split(problem: ContactProblem, impulse: ArrayLike, tol: float) -> _Split:
    """Steps 1 and 2."""
    if problem.law == "pyramid":
        raise BadInput("indeterminacy: the pyramid law is not covered; choose exact, convex or frictionless")
    if not 0.0 < tol < 1.0:
        raise BadInput(f"tol: {tol!r} must lie between 0 and 1")
    r = as_float(impulse, (problem.size,), "impulse")
    margin = max(tol, RESIDUALS * certify(problem, r).residual)
    length = float(np.linalg.norm(problem.b)) or 1.0
    u = problem.law_velocity(r)
    c = r + problem.viscosity * problem.velocity(r)
    faces = _faces(problem, c, u, margin * length, margin * (float(np.abs(c).max(initial=0.0)) or 1.0))
    W, _ = effective(problem)
    W = W if isinstance(W, np.ndarray) else W.toarray()
    WE = W @ faces.E
    row_scale = _inverse_root(np.diag(W))
    scale = _inverse_root(np.einsum("ij,ij->j", faces.E, WE))
    _, singular, right = np.linalg.svd(row_scale[:, None] * WE * scale)
    rank = int((singular > RANK * singular.max(initial=0.0)).sum())
    N = _orthonormal(scale[:, None] * right[rank:].T)
    A = _orthonormal((right[:rank] / scale).T).T
    z = faces.E.T @ (c - faces.fixed)
    # what was dropped (impulses of open contacts, say) moved something: give it back to the active directions
    missing = W @ (c - faces.fixed - faces.E @ z)
    z = z + A.T @ np.linalg.lstsq(row_scale[:, None] * (WE @ A.T), row_scale * missing, rcond=RANK)[0]
    return _Split(faces, W, u, z, A, N)


def _inverse_root(x: Array) -> Array:
    """1/√x, and 1 where x is zero or below."""
    return 1.0 / np.sqrt(np.where(x > 0.0, x, 1.0))


def _orthonormal(columns: Array) -> Array:
    return np.linalg.qr(columns)[0] if columns.size else columns


def indeterminacy(problem: ContactProblem, impulse: ArrayLike, *, tol: float = 1e-9) -> Indeterminacy:
    """Which impulses of a solved problem are unique, at the velocities that ``impulse`` gives.

    Args:
        problem: under the exact, convex or frictionless law.
        impulse: a solution, (n,).
        tol: velocities below this share of ‖b‖ count as zero (at least ten times the residual).
    """
    instance(problem, ContactProblem, "problem")
    given = as_float(impulse, (problem.size,), "impulse") + problem.adhesion
    problem = problem.without_adhesion()
    split = _split(problem, given, tol)
    basis = split.faces.E @ split.N
    moves = np.linalg.norm(basis, axis=1) > MOVES
    is_unique = np.array(
        [
            not moves[row : row + e.rows].any()
            for row, e in zip(problem.first_row, problem.elements, strict=True)
        ],
        dtype=bool,
    )
    return Indeterminacy(
        state=split.faces.state,
        is_unique=is_unique,
        dimension=split.N.shape[1],
        directions=split.faces.E.shape[1],
        basis=basis,
        is_exact=split.faces.is_exact,
    )


def choose_impulse(
    problem: ContactProblem, impulse: ArrayLike, *, nearest_to: ArrayLike | None = None, tol: float = 1e-9
) -> Array:
    """Among impulses with the same velocities that obey the laws, the one nearest to a target.

    Args:
        problem: under the exact, convex or frictionless law.
        impulse: a solution, (n,).
        nearest_to: the target, (n,), such as the impulses of the step before; zero (the least norm) if None.
        tol: as in `indeterminacy`; also by how much the residual may grow.

    Returns:
        Impulses (n,); those given if nothing can be chosen.
    """
    instance(problem, ContactProblem, "problem")
    hold = problem.adhesion
    given = as_float(impulse, (problem.size,), "impulse") + hold
    target = np.zeros(problem.size) if nearest_to is None else as_float(nearest_to, given.shape, "nearest_to")
    problem, target = problem.without_adhesion(), target + hold
    split = _split(problem, given, tol)
    if not split.N.shape[1]:
        return given - hold
    viscous = problem.viscosity * problem.velocity(given)
    faces = split.faces
    z = _project_on_both(faces, split.A, split.z, faces.E.T @ (target + viscous - faces.fixed))
    chosen = faces.E @ z + faces.fixed - viscous
    allowed = certify(problem, given).residual + tol
    return (chosen if certify(problem, chosen).residual <= allowed else given) - hold


def _project_on_both(faces: _Faces, A: Array, z0: Array, target: Array) -> Array:
    """Steps 1 to 3 of the choice: the nearest point to target (m,) in F with A z = A z0."""
    goal = A @ z0
    size = max(float(np.abs(z0).max()), float(np.abs(target).max())) or 1.0
    # inside F the answer is the plain projection on A z = A z0: start from there
    multiplier = goal - A @ target

    def evaluate(y: Array) -> tuple[Array, float]:
        point = target + A.T @ y
        z = faces.nearest(point)
        return A @ z - goal, float(y @ goal - 0.5 * (point @ point - (point - z) @ (point - z)))

    error, value = evaluate(multiplier)
    for _ in range(NEWTON_STEPS):
        length = float(np.linalg.norm(error))
        if length <= 1e-15 * size * len(z0):
            break
        H = faces.derivative(target + A.T @ multiplier, A)
        H = 0.5 * (H + H.T) + np.eye(len(H)) * max(1e-12, min(1e-3, length / size))
        step = -np.linalg.solve(H, error)
        share = 1.0
        for _ in range(HALVINGS):
            trial_error, trial = evaluate(multiplier + share * step)
            if (
                trial >= value - 1e-4 * share * float(error @ step)
                or np.linalg.norm(trial_error) < 0.9 * length
            ):
                break
            share *= 0.5
        else:
            break
        multiplier, error, value = multiplier + share * step, trial_error, trial
    z = faces.nearest(target + A.T @ multiplier)
    return z + A.T @ (goal - A @ z)
