"""Lemke's method on the inverse-dynamics problems of the report, its equation (7), written down literally.

With z = (f_n, f_d, λ), w = (a, b, c), and misprints corrected (docs/deviations.md),

    a = Δt Nᵀ M⁻¹ (X₁ f_n + X₂ f_d) + τ₁* + g/Δt,      X₁ = N − Pᵀ(P M⁻¹ Pᵀ)⁻¹ P M⁻¹ N,
    b = Δt Bᵀ M⁻¹ (X₁ f_n + X₂ f_d) + E λ + τ₂*,       X₂ likewise with B,
    c = μ f_n − Eᵀ f_d.

The report has closed contacts only; gaps g enter as in the default scheme. Mass matrix, bias forces and
Jacobians are from public functions, all else is NumPy. Answers are judged here by w = A z + q, w ≥ 0, z ≥ 0
and wᵀz = 0; that there is none, by linear programs over all that contacts may do: open; stick; slide, so that
one direction, or two neighbours, oppose the slip most. Problems without a solution are made on purpose: bases
that are driven, and legs driven apart in a groove so steep that friction jams them.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

import taction as ta
from taction.sim.inverse_dynamics import Answer
from taction.solvers.base import Status

H, MU = 1e-3, 0.8
CLOSED = 1e-6  # a gap that the scheme takes as closed [m]
EXACT = 1e-9  # of w and z, in units of the problem
PIVOTS = 200  # that one path may take, a few times the number of rows
STEEP = 1.2  # slope of both sides of the groove [rad]: friction jams above cot 1.2 = 0.39
ROUNDING = 1e-12
LP_INFEASIBLE = 2  # status of linprog


@cache
def robot(name):
    """A model, its motors, and the spheres that touch: body, centre in its axes, radius."""
    model = {"humanoid": ta.robots.planar_humanoid, "four-legged": ta.robots.four_legged}[name](friction=MU)
    spheres = [
        (body.name, shape.pose.translation, shape.geometry.radius)
        for body in model.spec.bodies
        for shape in body.shapes
        if shape.collides
    ]
    return model, [j.name for j in model.joints if j.kind.value == "revolute"], spheres


@dataclass
class Problem:
    """Equation (7): w = A z + q with sizes of w and z, and what velocities follow."""

    A: np.ndarray
    q: np.ndarray
    contacts: int
    directions: int
    mass: float
    free: np.ndarray  # v⁺ without contact forces
    push: np.ndarray  # Δt K [N, B]: v⁺ = free + push (f_n, f_d)
    N: np.ndarray

    @property
    def units(self):
        """Sizes of w and z in each row: velocities, and forces that change the robot's by as much in Δt."""
        velocity = max(np.abs(self.q).max(), 9.81 * H)
        split, force = self.contacts * (1 + self.directions), velocity * self.mass / H
        w, z = np.full(len(self.q), velocity), np.full(len(self.q), force)
        w[split:], z[split:] = force, velocity
        return w, z

    def velocity(self, z):
        return self.free + self.push @ z[: self.push.shape[1]]


def clean(values, scale):
    """What motors take away leaves rounding, which is no data."""
    return np.where(np.abs(values) > ROUNDING * np.abs(scale).max(), values, 0.0)


def problem_7(M, bias, v, wanted, P, J, gap, directions, mass, mu=MU):
    """(7) from M (n, n), C + g, v (n,), P (m, n), J (k, 3, n) along normals and tangents, gaps (k,) [m]."""
    k, n = J.shape[0], len(v)
    around = [J[:, 1], -J[:, 1]] if directions == 2 else [J[:, 1], J[:, 2], -J[:, 1], -J[:, 2]]
    N, B = J[:, 0].T, np.stack(around, axis=1).reshape(k * directions, n).T
    E, inverse = np.kron(np.eye(k), np.ones((directions, 1))), np.linalg.inv(M)
    hold = P.T @ np.linalg.inv(P @ inverse @ P.T)
    X1, X2 = N - hold @ P @ inverse @ N, B - hold @ P @ inverse @ B
    star = M @ v - H * bias  # (4) without the torques
    free = inverse @ (star + hold @ (wanted - P @ inverse @ star))  # τ₁* = Nᵀ free, τ₂* = Bᵀ free
    NX1, NX2, BX1, BX2 = (
        clean(H * C.T @ inverse @ X, H * C.T @ inverse @ C) for C in (N, B) for X in (X1, X2)
    )
    A = np.block(
        [
            [NX1, NX2, np.zeros((k, k))],
            [BX1, BX2, E],
            [mu * np.eye(k), -E.T, np.zeros((k, k))],
        ]
    )
    free = clean(free, H)
    q = np.r_[N.T @ free + np.where(gap > CLOSED, gap / H, 0.0), B.T @ free, np.zeros(k)]
    return Problem(A, q, k, directions, mass, free, H * inverse @ np.hstack([X1, X2]), N)


@dataclass
class Request:
    """A state, who is driven, and what is wanted; the problem (7) of it."""

    name: str
    q: np.ndarray
    v: np.ndarray
    driven: list
    wanted: np.ndarray
    slope: float
    mu: float = MU

    def problem(self, directions, chosen=slice(None)):
        model, _, spheres = robot(self.name)
        place, J, gap = ta.forward_kinematics(model, self.q), [], []
        for i, (body, centre, radius) in enumerate(spheres):
            tilt = self.slope if i < len(spheres) / 2 else -self.slope
            normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
            along, b = np.array([np.cos(tilt), 0.0, -np.sin(tilt)]), model.body(body)
            arm = place.rotation[b] @ centre - radius * normal
            at = ta.jacobian(model, self.q, body, place.rotation[b].T @ arm)[3:]
            J.append(np.array([normal, along, [0.0, 1.0, 0.0]]) @ at)
            gap.append(0.0 if self.slope else (place.position[b] + arm)[2])
        P = np.eye(model.nv)[[model.joint(j).iv for j in self.driven]]
        return problem_7(
            ta.mass_matrix(model, self.q), ta.bias_forces(model, self.q, self.v), self.v, self.wanted, P,
            np.array(J)[chosen], np.array(gap)[chosen], directions, model.total_mass, self.mu,
        )  # fmt: skip


KINDS = ("all motors", "some motors", "held base", "groove")


def random_request(name, kind, rng, speeds=(0.0, 0.02, 0.5), bends=(0.0, 1e-5, 0.1)):
    """Feet on the ground, or just above; at rest, slow or fast; joints held or driven at random."""
    model, motors, spheres = robot(name)
    q = model.q0 + rng.choice(bends) * rng.normal(size=model.nv)
    place = ta.forward_kinematics(model, q)
    low = [(place.position[model.body(b)] + place.rotation[model.body(b)] @ c)[2] - r for b, c, r in spheres]
    q[model.joint("base_z").iv] -= min(low)
    v = rng.choice(speeds) * rng.normal(size=model.nv)
    driven = list(motors)
    if kind == "some motors":
        driven = list(rng.permutation(motors)[: rng.integers(1, len(motors))])
    elif kind == "held base":
        driven += [["base_z"], ["base_x"], ["base_x", "base_z"]][rng.integers(3)]
    dofs = [model.joint(j).iv for j in driven]
    wanted = v[dofs] + H * rng.choice([0.0, 1.0, 30.0, 300.0]) * rng.normal(size=len(dofs))
    slope, mu = (STEEP, rng.choice([0.1, MU, 3.0])) if kind == "groove" else (0.0, MU)
    return Request(name, q, v, driven, wanted, slope, mu)


def judged(problem, z):
    """How far z is from a solution of (7): the worst of −z, −w and the smaller of both, in units."""
    w, (of_w, of_z) = problem.A @ z + problem.q, problem.units
    w, z = w / of_w, z / of_z
    return max((-z).max(), (-w).max(), np.minimum(w, z).max(), abs(w @ z))


def has_a_solution(problem):
    """Whether (7) has one: a linear program for each combination of what contacts do, cut where none fits."""
    k, m, size = problem.contacts, problem.directions, len(problem.q)
    of_w, of_z = problem.units
    A, q = problem.A / of_w[:, None] * of_z, problem.q / of_w
    pairs = [(j, (j + 1) % m) for j in range(m)] if m > 2 else []
    modes = ["open", "stick", *((j,) for j in range(m)), *pairs]

    def rows(c, mode):
        """Rows with z = 0, and with w = 0."""
        along, last = [k + c * m + j for j in range(m)], k + k * m + c
        if mode == "open":
            return [c, *along], []
        if mode == "stick":
            return [last], [c, *along]
        return [along[j] for j in range(m) if j not in mode], [c, last, *(along[j] for j in mode)]

    def fits(no_z, no_w):
        upper, equal = np.full(size, np.inf), np.zeros(size, dtype=bool)
        upper[no_z], equal[no_w] = 0.0, True
        found = linprog(
            np.ones(size), A_ub=-A[~equal], b_ub=q[~equal], A_eq=A[equal], b_eq=-q[equal],
            bounds=np.column_stack([np.zeros(size), upper]),
        )  # fmt: skip
        return found.status != LP_INFEASIBLE

    def search(c, no_z, no_w):
        if not fits(no_z, no_w):
            return False
        if c == k:
            return True
        return any(search(c + 1, no_z + z, no_w + w) for z, w in (rows(c, mode) for mode in modes))

    return search(0, [], [])


def least_minor(A, orders):
    """The smallest principal minor of the orders given, A scaled to entries near one."""
    size = np.sqrt(np.abs(A).max(axis=1).clip(1e-12))
    A, least = A / np.outer(size, size), np.inf
    for order in orders:
        rows = np.array(list(combinations(range(len(A)), order)))
        least = min(least, np.linalg.det(A[rows[:, :, None], rows[:, None, :]]).min())
    return least


def solved(problem, **options):
    return ta.solve_lcp(ta.LinearComplementarityProblem(problem.A, problem.q), **options)


@pytest.mark.long
@pytest.mark.parametrize("directions", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["humanoid", "four-legged"])
def test_lemke_ends_and_is_never_wrong(name, kind, directions):
    """Forty problems each: every path ends, every solution is one, and where it says none there is none."""
    rng, ends, worst = np.random.default_rng(1), Counter(), 0.0
    for _ in range(40):
        problem = random_request(name, kind, rng).problem(directions)
        found = solved(problem, max_pivots=PIVOTS)
        ends[found.status] += 1
        if found.status is Status.CONVERGED:
            worst = max(worst, judged(problem, found.z))
        else:
            assert found.status is Status.INFEASIBLE and not has_a_solution(problem), found.message
        path = solved(problem, method="lemke", max_pivots=PIVOTS)
        assert path.pivots < PIVOTS and path.status is not Status.ITERATION_LIMIT
    assert worst <= EXACT
    if kind in ("held base", "groove"):
        assert ends[Status.INFEASIBLE] >= 10 and ends[Status.CONVERGED] >= 10
    else:
        assert ends[Status.CONVERGED] == 40  # (7) with a free base always has a solution


def test_the_programs_find_the_solutions_that_lemke_finds():
    """The judge that says "none" can say "some" as well."""
    rng, kinds = (
        np.random.default_rng(2),
        [("groove", 2), ("groove", 4), ("held base", 2), ("some motors", 4)],
    )
    for kind, directions in kinds:
        for _ in range(8):
            problem = random_request("four-legged", kind, rng).problem(directions, slice(1, 3))
            is_solved = solved(problem).status is Status.CONVERGED
            assert is_solved == has_a_solution(problem)


@pytest.mark.parametrize("name", ["humanoid", "four-legged"])
def test_the_matrices_are_no_p_matrices(name):
    """Zeros on the diagonal, loads that motors balance, and with some motors free a negative minor."""
    rng, least = np.random.default_rng(3), []
    for kind in ("all motors", "some motors"):
        for _ in range(5):
            problem = random_request(name, kind, rng).problem(2)
            k, A = problem.contacts, problem.A
            assert least_minor(A, (1,)) == 0.0  # of λ
            contact = A[: 3 * k, : 3 * k]
            assert np.linalg.matrix_rank(contact) < 3 * k  # semidefinite, singular
            least.append(least_minor(A, (3,)))
    assert min(least) < -0.01


def is_open(problem, z):
    """Whether closed contacts share their load in many ways while one slides: friction is not unique."""
    w, k = problem.A @ z + problem.q, problem.contacts
    closed = w[:k] <= 1e-9
    if not (closed & (z[-k:] > 1e-15)).any():
        return False
    return np.linalg.matrix_rank(problem.A[:k, :k][np.ix_(closed, closed)]) < closed.sum()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["all motors", "some motors", "held base"])
@pytest.mark.parametrize("name", ["humanoid", "four-legged"])
def test_inverse_dynamics_of_a_step_is_equation_7(name, kind):
    """The same velocities with the law "lcp"; and where (7) has no solution no forces are claimed.

    From rest: the scheme takes Coriolis forces at mean velocities, the report at those before the step. With
    gaps that are zero or clearly open: below a micrometre the scheme has rules of its own.
    """
    model, rng, compared, none = robot(name)[0], np.random.default_rng(4), 0, 0
    sim = ta.Simulation(ta.World(model, ground=ta.Plane(friction=MU)), dt=H, contact="lcp", tol=1e-12)
    for _ in range(30):
        request, wanted = random_request(name, kind, rng, (0.0,), (0.0, 0.1)), np.zeros(model.nv)
        problem = request.problem(2)
        wanted[[model.joint(j).iv for j in request.driven]] = request.wanted
        inverse = ta.InverseDynamics(sim, joints=request.driven)
        found, answer = inverse.solve(sim.state(request.q, request.v), velocity=wanted), solved(problem)
        assert found.contact == "lcp"
        if answer.status is not Status.CONVERGED:
            assert found.answer is Answer.INFEASIBLE
            none += 1
            continue
        assert found.is_solved
        if not is_open(problem, answer.z):
            scale = max(np.abs(found.velocity).max(), 9.81 * H)
            expected = problem.velocity(answer.z)
            np.testing.assert_allclose(found.velocity, expected, rtol=0.0, atol=1e-11 * scale)
            compared += 1
    assert compared >= 10 and (none >= 5 or kind != "held base")


def slanted_rail():
    """A foot on a free rail, in a carriage that is driven down and to the side; rail with μ tan θ = 1.2."""
    angle, b = np.arctan(1.2 / MU), ta.ModelBuilder("slanted rail")
    for name in ("carriage", "lift"):
        b.body(name, ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    shape = ta.Shape(ta.Sphere(0.05), material=ta.Material((MU, MU)))
    b.body("foot", ta.Inertia.solid(ta.Sphere(0.05), mass=2.0), [shape])
    b.prismatic("side", parent="world", child="carriage", axis=(0, 1, 0))
    b.prismatic("drop", parent="carriage", child="lift", axis=(0, 0, 1), initial=np.array([0.05]))
    b.prismatic("rail", parent="lift", child="foot", axis=(np.sin(angle), 0.0, np.cos(angle)))
    return b.build(), angle


def test_without_a_solution_of_the_pyramid_the_cone_is_tried():
    """A rail that jams if friction points along x, as a corner of the pyramid does, not along the slip."""
    model, angle = slanted_rail()
    down, along = -0.1, 0.1 * np.tan(angle)  # the ground stops the foot, so the rail slides along x
    side = 0.9 * along
    M, J = ta.mass_matrix(model, model.q0), ta.jacobian(model, model.q0, "foot", (0.0, 0.0, -0.05))[3:]
    problem = problem_7(
        M, ta.bias_forces(model, model.q0, np.zeros(3)), np.zeros(3), np.array([side, down]), np.eye(3)[:2],
        J[None, [2, 0, 1]], np.zeros(1), 4, model.total_mass,
    )  # fmt: skip
    assert solved(problem).status is Status.INFEASIBLE and not has_a_solution(problem)
    sim = ta.Simulation(ta.World(model, ground=ta.Plane(friction=MU)), dt=H, contact="lcp", tol=1e-12)
    inverse = ta.InverseDynamics(sim, joints=["side", "drop"])
    found = inverse.solve(sim.state(), velocity=[side, down])
    assert found.is_solved and found.contact == "exact"
    speed, slip = -down / np.cos(angle), np.hypot(along, side)
    np.testing.assert_allclose(found.velocity, [side, down, speed], atol=1e-10)
    np.testing.assert_allclose(inverse.after().v, found.velocity, rtol=0.0, atol=0.0)
    # along the rail: what the foot gains, and its weight, is what the ground pushes
    needed = 2.0 * (np.sin(angle) ** 2 * speed / H + 9.81 * np.cos(angle))
    load = needed / (np.cos(angle) - MU * np.sin(angle) * along / slip)
    force = load * np.array([-MU * along / slip, -MU * side / slip, 1.0])
    np.testing.assert_allclose(found.forces["foot"], force, rtol=1e-8)
    # within reach of the pyramid nothing else is asked
    assert inverse.solve(sim.state(), velocity=[side, 0.1]).contact == "lcp"
