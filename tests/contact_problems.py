"""What contact tests share: scenes of rigid bodies with their mass matrix, pairs of solver and law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from helpers import random_rotation
from taction._core.arrays import Array
from taction.contact.elements import Contact, Element
from taction.contact.problem import LAWS, ContactProblem
from taction.solvers import SOLVERS

UP = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # columns normal = z, t₁ = x, t₂ = y
G = 9.81

# Every solver with every law that it claims to know.
PAIRS = [(name, law) for name in SOLVERS for law in LAWS if law in SOLVERS[name].laws]


def require(law: str) -> None:
    """Skip the pyramid as long as no method for it is installed."""
    if law == "pyramid":
        pytest.importorskip("taction.solvers.lemke")


class Scene(NamedTuple):
    """A problem with the mechanism behind it: W = J M⁻¹ Jᵀ, b = J v."""

    problem: ContactProblem
    J: Array
    M: Array
    v: Array

    def energy(self, impulse: Array | None = None) -> float:
        """Kinetic energy before the impulses, or after them [J]."""
        v = self.v if impulse is None else self.v + np.linalg.solve(self.M, self.J.T @ impulse)
        return 0.5 * float(v @ self.M @ v)


def make_scene(J: Array, M: Array, v: Array, elements: Sequence[Element], law: str = "exact") -> Scene:
    """A scene from Jacobian, mass matrix, free velocity and elements."""
    W = J @ np.linalg.solve(M, J.T)
    return Scene(ContactProblem(0.5 * (W + W.T), J @ v, elements, law=law), J, M, v)


def point_rows(arm: Array, frame: Array = UP) -> Array:
    """Rows (3, 6) of a contact at ``arm`` from the centre of a free body with velocity (linear, angular)."""
    x, y, z = arm
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return frame.T @ np.hstack([np.eye(3), -skew])


def box_mass(mass: float, size: Sequence[float]) -> Array:
    """Mass matrix (6, 6) of a solid box about its centre."""
    a, b, c = np.square(size)
    return np.diag([mass] * 3 + [mass * s / 12.0 for s in (b + c, a + c, a + b)])


def bottom_corners(size: Sequence[float]) -> list[Array]:
    """The four lower corners of a box, from its centre."""
    a, b, c = 0.5 * np.asarray(size)
    return [np.array([i * a, j * b, -c]) for i in (-1, 1) for j in (-1, 1)]


def box_on_ground(
    v: Sequence[float],
    mu: float = 0.5,
    *,
    mass: float = 2.0,
    size: Sequence[float] = (1.0, 0.6, 0.2),
    frame: Array = UP,
    law: str = "exact",
) -> Scene:
    """A box on four corners, with free velocity v (linear, angular); friction at all corners alike."""
    J = np.vstack([point_rows(corner, frame) for corner in bottom_corners(size)])
    return make_scene(J, box_mass(mass, size), np.asarray(v, dtype=float), [Contact(mu)] * 4, law)


def stack(
    masses: Sequence[float], mu: float = 0.5, *, h: float = 0.01, push: float = 0.0, law: str = "exact"
) -> Scene:
    """Boxes on top of each other, lowest first, after h seconds of gravity; the top one pushed along x."""
    size = (1.0, 1.0, 0.5)
    count = len(masses)
    M = np.zeros((6 * count, 6 * count))
    v = np.zeros(6 * count)
    rows: list[Array] = []
    for i, mass in enumerate(masses):
        own = slice(6 * i, 6 * i + 6)
        M[own, own] = box_mass(mass, size)
        v[6 * i + 2] = -G * h
        for corner in bottom_corners(size):
            J = np.zeros((3, 6 * count))
            J[:, own] = point_rows(corner)
            if i:
                J[:, 6 * i - 6 : 6 * i] = -point_rows(corner + np.array([0.0, 0.0, size[2]]))
            rows.append(J)
    v[6 * count - 6] += push
    return make_scene(np.vstack(rows), M, v, [Contact(mu)] * (4 * count), law)


def random_scene(
    rng: np.random.Generator,
    contacts: int,
    bodies: int,
    *,
    ratio: float = 10.0,
    law: str = "exact",
    sections: int = 1,
) -> Scene:
    """Free bodies that touch the world and each other anywhere; masses spread over ``ratio``.

    Hyperstatic when 3·contacts > 6·bodies. sections: friction coefficients per contact, 1, 2 or 3.
    """
    mass = ratio ** rng.random(bodies)
    M = np.zeros((6 * bodies, 6 * bodies))
    for i in range(bodies):
        R = random_rotation(rng)
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = mass[i] * np.eye(3)
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = mass[i] * R @ np.diag([0.08, 0.1, 0.12]) @ R.T
    rows = []
    for k in range(contacts):
        J = np.zeros((3, 6 * bodies))
        frame, first = random_rotation(rng), k % bodies
        J[:, 6 * first : 6 * first + 6] = point_rows(rng.uniform(-0.5, 0.5, 3), frame)
        if bodies > 1 and rng.random() < 0.5:
            second = (first + int(rng.integers(1, bodies))) % bodies
            J[:, 6 * second : 6 * second + 6] = -point_rows(rng.uniform(-0.5, 0.5, 3), frame)
        rows.append(J)
    elements = [Contact(*rng.uniform(0.0, 1.2, sections)) for _ in range(contacts)]
    return make_scene(np.vstack(rows), M, rng.normal(size=6 * bodies), elements, law)


def wedged() -> ContactProblem:
    """A body between two walls that approach each other: no impulses can satisfy both normals."""
    J = np.vstack([point_rows(np.zeros(3)), point_rows(np.zeros(3), np.diag([1.0, 1.0, -1.0]) @ UP)])
    return ContactProblem.from_friction(J @ J.T, [-1.0, 0.3, 0.0, -1.0, 0.0, 0.2], [0.5, 0.5])


def heap(bodies, contacts, seed, mu=0.5):
    """Free bodies that press on each other at random points, in random directions: W singular, coupled."""
    rng = np.random.default_rng(seed)
    J = np.zeros((3 * contacts, 6 * bodies))
    for n in range(contacts):
        frame, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        first, second = rng.choice(bodies, 2, replace=False)
        for body, sign in ((first, 1.0), (second, -1.0)):
            if n % 3 == 0 and sign < 0.0:
                continue  # the floor
            lever = 0.5 * rng.normal(size=3)
            for row in range(3):
                J[3 * n + row, 6 * body : 6 * body + 3] = sign * frame[row]
                J[3 * n + row, 6 * body + 3 : 6 * body + 6] = sign * np.cross(lever, frame[row])
    mass = np.tile([1.0, 1.0, 1.0, 0.1, 0.1, 0.1], bodies)
    W = J @ (J / mass).T
    b = J @ rng.normal(size=6 * bodies)
    return ContactProblem(0.5 * (W + W.T), b, [Contact(mu)] * contacts, name="heap")
