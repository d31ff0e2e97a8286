"""Contact problems with known answers, and random ones that have a solution, for the tests of solvers."""

from __future__ import annotations

import numpy as np

from taction.contact.blocks import make_blocks
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.problem import ContactProblem
from taction.solvers.base import relative_residual

MASS = 2.0


def block(free, mu=0.5, law="exact"):
    """A point mass on the ground with the given free velocity (3,)."""
    return ContactProblem.from_friction(np.eye(3) / MASS, free, [mu], law=law)


def closed_forms():
    """(name, problem, impulse): a block that sticks, slides, lifts off; the last under the convex law."""
    down = -0.6
    stick = np.array([down, 0.1, -0.2])
    slide = np.array([down, 3.0, -4.0])
    friction = 0.5 * MASS * 0.6
    yield "sticking", block(stick), -MASS * stick
    yield "sliding", block(slide), np.array([MASS * 0.6, -friction * 0.6, friction * 0.8])
    yield "separating", block([0.3, 1.0, 0.0]), np.zeros(3)
    # the convex law slides along K: the nearest point of K to −m·free
    yield "sliding, convex", block(slide, law="convex"), nearest_on_cone(-MASS * slide, 0.5)
    yield "frictionless", block(slide, law="frictionless"), np.array([MASS * 0.6, 0.0, 0.0])


def nearest_on_cone(x, mu):
    t = np.hypot(x[1], x[2])
    n = (x[0] + mu * t) / (1.0 + mu * mu)
    return np.array([n, mu * n * x[1] / t, mu * n * x[2] / t])


def stack(count=2, law="exact"):
    """Blocks of 1, 2, … kg on one another and on the ground, at rest under gravity for 0.1 s.

    Contacts from the top down. Impulses are the weights above them.
    """
    mass = np.arange(1.0, count + 1.0)
    J = np.eye(count) - np.eye(count, k=1)  # per direction
    W = np.kron(J @ np.diag(1.0 / mass) @ J.T, np.eye(3))
    b = np.kron(J @ np.full(count, -0.981), [1.0, 0.0, 0.0])
    problem = ContactProblem.from_friction(W, b, np.full(count, 0.5), law=law)
    return problem, np.kron(0.981 * np.cumsum(mass), [1.0, 0.0, 0.0])


def random_problem(seed, freedoms, elements, law="exact", **options):
    """W = J M⁻¹ Jᵀ and b = J v with a free velocity v: such problems have a solution."""
    rng = np.random.default_rng(seed)
    n = sum(element.rows for element in elements)
    J = rng.normal(size=(n, freedoms)) / np.sqrt(freedoms)
    inverse = np.diag(rng.uniform(0.2, 2.0, freedoms))
    W = J @ inverse @ J.T
    return ContactProblem(0.5 * (W + W.T), J @ rng.normal(size=freedoms), elements, law=law, **options)


def contacts(seed, count, low=0.1, high=0.8):
    """Contacts with random coefficients."""
    rng = np.random.default_rng(seed + 1000)
    return [Contact(mu) for mu in rng.uniform(low, high, count)]


def mixed(seed, law="exact", freedoms=14):
    """Contacts (one orthotropic, one frictionless), joint friction, a limit, redundant bilateral rows."""
    elements = [
        Contact(0.4), Bilateral(2), Contact(0.5, lateral=0.1), JointFriction(0.05), JointLimit(),
        Contact(0.0), Unilateral(), JointFriction(0.0), Contact(0.3),
    ]  # fmt: skip
    problem = random_problem(seed, freedoms, elements, law)
    # the same two bilateral rows once more
    again = [*range(problem.size), 3, 4]
    return ContactProblem(
        problem.W[np.ix_(again, again)], problem.b[again], [*elements, Bilateral(2)], law=law
    )


def residual(problem, impulse):
    """Natural-map residual of impulses, from the problem alone."""
    blocks = make_blocks(problem)
    return relative_residual(blocks, blocks.pack(impulse))


class Products:
    """A W that can only be multiplied with, and counts."""

    def __init__(self, W):
        self.W, self.shape, self.count = W, W.shape, 0

    def __matmul__(self, x):
        assert x.ndim == 1
        self.count += 1
        return self.W @ x
