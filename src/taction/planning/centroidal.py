"""A body on feet as a linear complementarity system, for plans that decide which feet carry.

What it is: a rigid body of mass M and inertia I, and k feet of a small mass m that legs push away. Legs push
the body with forces F_i at the places r_i of the feet, and the feet with −F_i; the ground pushes feet with
impulses Λ_i. With p the centre of mass, θ small angles, ζ_i the heights of the feet, over a step h

    ṗ⁺ = ṗ + h (Σ F_i/M + g),      ω⁺ = ω + h I⁻¹ Σ (r_i − p) × F_i,      p⁺ = p + h ṗ⁺,   θ⁺ = θ + h ω⁺,
    ζ̇_i⁺ = ζ̇_i − h (F_iz/m + g) + Λ_i/m,      ζ_i⁺ = ζ_i + h ζ̇_i⁺,

    0 ≤ Λ_i  ⊥  ζ_i⁺/h ≥ 0.                                                                             (1)

A foot in the air has no mass to speak of to push against: where Λ_i = 0 the leg's force is that of lifting
the foot. So (1) decides which feet carry, and no schedule does.

Forces obey |F_ix|, |F_iy| ≤ μ (F_iz + s), with s the force that a leg may pull its foot up with (`PULL`): the
pyramid of friction, wider by what is little for little feet.

Units: F_i of the weight M g, Λ_i of the weight over a step, so that one set of weights fits all robots.

Departures: places r_i of feet and p in the levers are those that are expected in a step, not unknowns; the
inertia is that of the stance; legs have no mass but that of their feet.

Cost: none to speak of.

References: [DiCarlo2018] for a body on feet in predictive control; [StewartTrinkle1996] for (1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction.planning.problem import Polytope
from taction.planning.system import ContactSystem

FOOT = 0.005  # mass of a foot, of the robot's
PULL = 50.0  # acceleration with which a leg pulls its foot up, at most [m/s²]
PUSH = 1.5  # largest force of a leg, of the weight
BODY = 12  # states of the body: place, angles, and their rates


class Body(NamedTuple):
    """A robot as one body on feet."""

    mass: float  # [kg]
    inertia: Array  # about the centre of mass, world axes (3, 3) [kg m²]
    feet: tuple[str, ...]
    gravity: float  # [m/s²]


def centroidal_system(body: Body, arms: Array, dt: float) -> ContactSystem:
    """The system of one step [s], with feet (k, 3) from the centre of mass [m].

    States: p, θ, ṗ, ω, then heights and rates of the feet; inputs: forces of the legs, foot by foot.
    """
    k, h, g = len(body.feet), dt, body.gravity
    n, weight, inverse = BODY + 2 * k, body.mass * body.gravity, np.linalg.inv(body.inertia)
    rates = np.zeros((n, n))  # rates after the step, rows of places too
    B, C, d = np.zeros((n, 3 * k)), np.zeros((n, k)), np.zeros(n)
    for i, (x, y, z) in enumerate(arms):
        at = slice(3 * i, 3 * i + 3)
        B[6:9, at] = h * g * np.eye(3)
        B[9:12, at] = h * weight * inverse @ np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        B[BODY + k + i, 3 * i + 2] = -h * g / FOOT
        C[BODY + k + i, i] = h * g / FOOT
    d[8] = -h * g
    d[BODY + k :] = -h * g
    places = np.concatenate([np.arange(6), np.arange(BODY, BODY + k)])
    moving = np.concatenate([np.arange(6, BODY), np.arange(BODY + k, n)])
    rates[moving, moving] = 1.0
    A = rates.copy()
    A[places, places] = 1.0
    A[places] += h * rates[moving]
    B[places], C[places], d[places] = h * B[moving], h * C[moving], h * d[moving]
    up = slice(BODY, BODY + k)
    return ContactSystem(
        A=A, B=B, C=C, d=d, D=A[up] / h, E=B[up] / h, F=C[up] / h, c=d[up] / h, dt=h,
        load=h * weight * np.eye(k), contacts=body.feet,
        inputs=tuple(f"{name}_{axis}" for name in body.feet for axis in "xyz"),
    )  # fmt: skip


def leg_forces(body: Body, friction: float) -> Polytope:
    """What legs may do to the body: forces in a pyramid, within bounds."""
    pull, rows, bounds = FOOT * (1.0 + PULL / body.gravity), [], []
    for i in range(len(body.feet)):
        for axis in (0, 1):
            for sign in (-1.0, 1.0):
                row = np.zeros(3 * len(body.feet))
                row[3 * i + axis], row[3 * i + 2] = sign, -friction
                rows.append(row)
                bounds.append(friction * pull)
        for sign, bound in ((1.0, PUSH), (-1.0, pull)):
            row = np.zeros(3 * len(body.feet))
            row[3 * i + 2] = sign
            rows.append(row)
            bounds.append(bound)
    return Polytope(np.array(rows), np.array(bounds))


def shares(body: Body, carries: ArrayLike) -> Array:
    """Forces (…, 3 k) that share the weight among the feet that carry (…, k), and hold the others."""
    on = np.asarray(carries, dtype=float)
    out = np.zeros((*on.shape, 3))
    count = on.sum(axis=-1, keepdims=True)
    whole = 1.0 + FOOT * (len(body.feet) - count)  # with the feet that hang on the body
    out[..., 2] = np.where(on > 0.0, whole / np.maximum(count, 1.0), -FOOT)
    return out.reshape(*on.shape[:-1], 3 * len(body.feet))
