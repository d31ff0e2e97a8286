"""A dozen generated contact problems: small, repeatable, and of the kinds that tell solvers apart.

Rigid bodies with six freedoms each, contacts with frames (normal, t₁, t₂), W = J M⁻¹ Jᵀ and b = J v with v
the velocity after a step of gravity alone. Piles have few contacts per body; plates and stacks have far more
contacts than freedoms, so W is rank deficient and impulses are not unique; mass ratios and mixed friction
make it badly scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np

from taction._core.arrays import Array
from taction.contact.problem import ContactProblem

STEP = 5e-3  # s
GRAVITY = 9.81  # m/s²
GROUND = -1  # stands for a body that does not move


@dataclass
class Scene:
    """Bodies and contacts on their way to a problem.

    Attributes:
        bodies: mass [kg], moment of inertia about any axis [kg m²], centre (3,) [m], velocity (6,), linear
            then angular.
        contacts: first body, second body or `GROUND`, point (3,), normal (3,) towards the first, coefficient.
    """

    bodies: list[tuple[float, float, Array, Array]] = field(default_factory=list)
    contacts: list[tuple[int, int, Array, Array, float]] = field(default_factory=list)

    def body(
        self,
        centre: Sequence[float],
        *,
        mass: float = 1.0,
        inertia: float = 0.01,
        velocity: Array | None = None,
    ) -> int:
        """Add a body; returns its number."""
        motion = np.zeros(6) if velocity is None else np.asarray(velocity, dtype=float)
        self.bodies.append((mass, inertia, np.asarray(centre, dtype=float), motion))
        return len(self.bodies) - 1

    def touch(
        self, first: int, second: int, point: Sequence[float], normal: Sequence[float], mu: float
    ) -> None:
        """Add a contact; the normal need not have unit length."""
        n = np.asarray(normal, dtype=float)
        self.contacts.append((first, second, np.asarray(point, dtype=float), n / np.linalg.norm(n), mu))

    def problem(self, name: str) -> ContactProblem:
        """The contact problem of one step."""
        from scipy.sparse import coo_array, diags_array

        row, column, value = [], [], []
        for k, (first, second, point, normal, _) in enumerate(self.contacts):
            frame = contact_frame(normal)
            for body, sign in ((first, 1.0), (second, -1.0)):
                if body != GROUND:
                    J = sign * np.hstack([frame, np.cross(point - self.bodies[body][2], frame)])
                    i, j = np.indices((3, 6))
                    row.append((3 * k + i).ravel())
                    column.append((6 * body + j).ravel())
                    value.append(J.ravel())
        shape = (3 * len(self.contacts), 6 * len(self.bodies))
        parts = (np.concatenate(value), (np.concatenate(row), np.concatenate(column)))
        jacobian = coo_array(parts, shape=shape).tocsr()
        inverse = np.concatenate([[1.0 / m] * 3 + [1.0 / inertia] * 3 for m, inertia, _, _ in self.bodies])
        velocity = np.concatenate([v for *_, v in self.bodies])
        velocity[2::6] -= STEP * GRAVITY
        W = (jacobian @ diags_array(inverse) @ jacobian.T).tocsr()
        W = ((W + W.T) * 0.5).tocsr()
        mu = np.array([contact[4] for contact in self.contacts])
        return ContactProblem.from_friction(W, jacobian @ velocity, mu, name=name)


def contact_frame(normal: Array) -> Array:
    """Rows (normal, t₁, t₂) of a right-handed frame, (3, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(normal))]
    t1 = np.cross(helper, normal)
    t1 /= np.linalg.norm(t1)
    return np.array([normal, t1, np.cross(normal, t1)])


def generate_problems() -> list[ContactProblem]:
    """The whole set, smallest first; the same numbers every time."""
    problems = [
        block("sliding-block", velocity=[0.8, 0.3, 0, 0, 0, 0]),
        block("spinning-block", velocity=[0, 0, -0.2, 0, 0, 6.0], mu=0.8),
        block("tipping-block", velocity=[0.1, 0, 0, 1.5, 2.0, 0], mu=0.3),
        groove("groove", balls=8),
        plate("plate-3", side=3),
        plate("plate-8", side=8),
        stack("stack-6", boxes=6, heavier=1.0),
        stack("stack-heavy-top", boxes=4, heavier=1000.0),
        wall("brick-wall", courses=4),
        pile("pile-20", balls=20, seed=1),
        pile("pile-80", balls=80, seed=2),
        pile("pile-mixed-friction", balls=50, seed=3, mu=(0.0, 0.1, 1.5)),
    ]
    return sorted(problems, key=lambda problem: problem.contacts)


def block(name: str, *, velocity: Sequence[float], mu: float = 0.5) -> ContactProblem:
    """A box on its four corners, moving."""
    scene = Scene()
    box = scene.body([0, 0, 0.05], inertia=0.004, velocity=np.array(velocity, dtype=float))
    for x, y in product((-0.1, 0.1), repeat=2):
        scene.touch(box, GROUND, [x, y, 0], [0, 0, 1], mu)
    return scene.problem(name)


def plate(name: str, *, side: int) -> ContactProblem:
    """One body on side² points: six freedoms carry them all."""
    scene = Scene()
    body = scene.body([0, 0, 0.1], mass=5.0, inertia=0.2, velocity=np.array([0.02, 0, 0, 0, 0, 0.3]))
    for x, y in product(np.linspace(-0.5, 0.5, side), repeat=2):
        scene.touch(body, GROUND, [x, y, 0], [0, 0, 1], 0.4)
    return scene.problem(name)


def stack(name: str, *, boxes: int, heavier: float) -> ContactProblem:
    """Boxes on one another, four contacts between each pair; the top one heavier by a factor."""
    scene = Scene()
    for k in range(boxes):
        mass = heavier if k == boxes - 1 else 1.0
        push = np.array([0.05, 0, 0, 0, 0, 0]) if k == 0 else None
        box = scene.body([0, 0, 0.1 + 0.2 * k], mass=mass, inertia=0.007 * mass, velocity=push)
        for x, y in product((-0.1, 0.1), repeat=2):
            scene.touch(box, box - 1 if k else GROUND, [x, y, 0.2 * k], [0, 0, 1], 0.6)
    return scene.problem(name)


def wall(name: str, *, courses: int) -> ContactProblem:
    """Bricks in running bond: each rests on two halves of the course below."""
    scene = Scene()
    below: list[tuple[int, float]] = []
    for level in range(courses):
        z = 0.1 * level
        course = []
        for k in range(4 - level % 2):
            x = 0.2 * k + (0.1 if level % 2 else 0.0)
            brick = scene.body([x, 0, z + 0.05], inertia=0.004)
            course.append((brick, x))
            supports = [(b, xb) for b, xb in below if abs(xb - x) < 0.15] if level else [(GROUND, x)]
            for support, xb in supports:
                left, right = max(x, xb) - 0.1, min(x, xb) + 0.1
                for px, py in product((left, right), (-0.05, 0.05)):
                    scene.touch(brick, support, [px, py, z], [0, 0, 1], 0.5)
        below = course
    return scene.problem(name)


def groove(name: str, *, balls: int) -> ContactProblem:
    """Balls in a row in a V-groove, pushed together: wedged between two walls."""
    scene = Scene()
    for k in range(balls):
        speed = 0.3 * (balls / 2 - k) / balls
        ball = scene.body([0.2 * k, 0, 0], inertia=0.004, velocity=np.array([speed, 0, 0, 0, 0, 0]))
        for side in (-1.0, 1.0):
            normal = np.array([0, side, 1.0]) / np.sqrt(2.0)
            scene.touch(ball, GROUND, scene.bodies[ball][2] - 0.1 * normal, normal, 0.7)
        if k:
            scene.touch(ball, ball - 1, [0.2 * k - 0.1, 0, 0], [1, 0, 0], 0.3)
    return scene.problem(name)


def pile(name: str, *, balls: int, seed: int, mu: Sequence[float] = (0.6,)) -> ContactProblem:
    """Balls of random mass on random sites of a close packing, touching neighbours and the floor."""
    rng, radius = np.random.default_rng(seed), 0.05
    width = int(np.ceil((1.6 * balls) ** (1 / 3)))
    rows = np.array(list(product(range(width), repeat=3)), dtype=float)
    i, j, k = rows[np.argsort(rows[:, 2], kind="stable")].T  # layer by layer
    sites = radius * np.column_stack(
        [2 * i + (j + k) % 2, np.sqrt(3) * (j + (k % 2) / 3), 1 + 2 * np.sqrt(6) / 3 * k]
    )
    chosen = sites[np.flatnonzero(rng.random(len(sites)) < 0.8)[:balls]]
    scene = Scene()
    for centre in chosen:
        mass = float(rng.uniform(0.2, 2.0))
        motion = np.concatenate([0.1 * rng.normal(size=3), rng.normal(size=3)])
        scene.body(centre, mass=mass, inertia=0.4 * mass * radius**2, velocity=motion)
    for ball, centre in enumerate(chosen):
        if centre[2] < 1.01 * radius:
            scene.touch(ball, GROUND, centre - [0, 0, radius], [0, 0, 1], float(rng.choice(mu)))
    for a, b in combinations(range(len(chosen)), 2):
        apart = chosen[a] - chosen[b]
        if np.linalg.norm(apart) < 2.02 * radius:
            scene.touch(a, b, 0.5 * (chosen[a] + chosen[b]), apart, float(rng.choice(mu)))
    return scene.problem(name)
