"""Impacts in one step, for tests and tools: a ball, a rod, touching balls, one body on points.

Nothing but the impact happens: no gravity, and a step of a microsecond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

import taction as ta

H = 1e-6
RADIUS, MASS = 0.0286, 0.17
TIP = 1e-3  # radius of the points of one body [m]


@dataclass(frozen=True)
class Struck:
    """Velocities after an impact, spins along world axes; energies [J], and what the step says of it."""

    v: np.ndarray
    before: float
    after: float
    certificate: ta.Certificate
    momentum: float  # change of momentum and of its moment, relative to the sum of the parts' sizes


def strike(world: ta.World, v: np.ndarray, *, is_free: bool = False, **options: object) -> Struck:
    """One step of free bodies from their neutral poses, not turned, and velocities (nv,).

    is_free: nothing is fixed.
    """
    sim = ta.Simulation(world, dt=H, **options)  # type: ignore[arg-type]
    run = sim.run(H, v=v)
    M = ta.mass_matrix(world.model, world.model.q0)
    turned = run.v[-1].reshape(-1, 6).copy()
    w, x, y, z = run.q[-1].reshape(-1, 7)[:, 3:].T
    turned[:, 3:] = Rotation.from_quat(np.column_stack([x, y, z, w])).apply(turned[:, 3:])
    end = turned.ravel()
    return Struck(
        end, 0.5 * v @ M @ v, 0.5 * run.v[-1] @ M @ run.v[-1], run.certificate,
        momentum_change(run.q[0], sim.engine.scheme.ahead * H, v, end) if is_free else 0.0,
    )  # fmt: skip


def momentum_change(q: np.ndarray, flown: float, before: np.ndarray, after: np.ndarray) -> float:
    """Of free balls, relative to the sum of the sizes, where impulses act: after a time of flight [s] from q.

    The correction of positions moves balls besides, and moments of momentum with them.
    """
    x = q.reshape(-1, 7)[:, :3] + flown * before.reshape(-1, 6)[:, :3]

    def parts(v):
        v = v.reshape(-1, 6)
        p = MASS * v[:, :3]
        return p, np.cross(x, p) + 0.4 * MASS * RADIUS**2 * v[:, 3:]

    one, two = parts(before), parts(after)
    return max(
        float(np.abs(a.sum(axis=0) - b.sum(axis=0)).max() / np.abs(a).sum())
        for a, b in zip(one, two, strict=True)
        if np.abs(a).sum() > 0.0
    )


def balls(places: np.ndarray, mu: float, e: float) -> ta.World:
    """Free balls at these places (n, 3)."""
    material = ta.Material(mu, e)
    parts = [
        ta.free_body(f"b{i}", ta.Sphere(RADIUS), mass=MASS, position=tuple(x), material=material)
        for i, x in enumerate(places)
    ]
    return ta.World(*parts, gravity=(0.0, 0.0, 0.0))


def cluster(rng: np.random.Generator) -> np.ndarray:
    """Places of 2 to 6 balls that touch, half of the time in a plane.

    Two that do not are farther apart than they come in a step, in which impulses would act on both sides of
    the gap that it closes.
    """
    n, places, d = rng.integers(2, 7), [np.zeros(3)], 2.0 * RADIUS
    while len(places) < n:
        way = rng.normal(size=3) * [1.0, 1.0, rng.integers(0, 2)]
        x = places[rng.integers(len(places))] + d * way / np.linalg.norm(way)
        gaps = np.array([np.linalg.norm(x - y) / d - 1.0 for y in places])
        if (gaps >= -1e-12).all() and not ((gaps > 1e-12) & (gaps < 1e-2)).any():
            places.append(x)
    return np.array(places)


def cluster_velocity(n: int, rng: np.random.Generator) -> np.ndarray:
    """Random velocities and spins of n balls, (6n,)."""
    v = np.hstack([3.0 * rng.normal(size=(n, 3)), rng.choice([0.0, 50.0]) * rng.normal(size=(n, 3))])
    return v.ravel()


def on_points(arms: np.ndarray, moments: np.ndarray, mu: float, e: float) -> ta.World:
    """A body of one kilogram on points at arms (k, 3) from its centre, each on a stand of its own height.

    moments (3,): of inertia [kg m²].
    """
    b, material = ta.ModelBuilder("body"), ta.Material(mu, e)
    b.body("body", ta.Inertia(1.0, np.zeros(3), np.diag(moments)))
    b.floating("root", child="body")
    ground = []
    for k, arm in enumerate(arms):
        b.shape("body", ta.Sphere(TIP), ta.Transform(translation=arm), name=f"tip{k}", material=material)
        place = ta.Transform(translation=arm - [0.0, 0.0, TIP + 0.5])
        ground.append(ta.Shape(ta.Box((0.01, 0.01, 1.0)), place, name=f"stand{k}", material=material))
    return ta.World(b.build(), ground=ground, gravity=(0.0, 0.0, 0.0))


def random_arms(k: int, rng: np.random.Generator) -> np.ndarray:
    """Places of k points below a centre, 0.05 apart at least in the plane, (k, 3)."""
    while True:
        arms = np.column_stack([rng.normal(size=(k, 2)), -np.abs(rng.normal(size=k))])
        apart = np.abs(arms[:, None, :2] - arms[None, :, :2]).max(axis=2) + np.eye(k)
        if apart.min() > 0.05:
            return arms
