"""Convex shapes in general, by our kernels, against Coal: distances apart, depths in overlap, normals."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from helpers import random_direction, random_rotation
from taction.geometry.colliders import PLACED_WIDTH, make_contacts
from taction.geometry.compile import compile_colliders
from taction.geometry.detect import is_general
from taction.geometry.general import general_pairs
from taction.geometry.scratch import SCRATCH_COLUMNS, SCRATCH_ROWS

coal = pytest.importorskip("coal")

CORNERS = np.random.default_rng(5).normal(scale=0.2, size=(20, 3))
SHAPES = {
    "sphere": ta.Sphere(0.2),
    "capsule": ta.Capsule(0.1, 0.5),
    "box": ta.Box((0.4, 0.3, 0.5)),
    "cylinder": ta.Cylinder(0.2, 0.4),
    "ellipsoid": ta.Ellipsoid((0.1, 0.2, 0.3)),
    "hull": ta.Mesh(CORNERS),
    "cone": ta.Cone(0.2, 0.5),
}
# Pairs that have no closed form, the larger kind first
KINDS = {name: int(g.collider().kind) for name, g in SHAPES.items()}
PAIRS = [
    (one, two)
    for one in SHAPES
    for two in SHAPES
    if KINDS[one] >= KINDS[two] and is_general(KINDS[one], KINDS[two])
]


def peer(name):
    """The same shape as Coal has it."""
    g = SHAPES[name]
    if name == "hull":
        points = coal.StdVec_Vec3s()
        points.extend(list(CORNERS))
        return coal.Convex.convexHull(points, False, None)
    sizes = [x for value in vars(g).values() for x in (value if isinstance(value, tuple) else (value,))]
    return getattr(coal, type(g).__name__)(*sizes)


def ours(one, two, poses, margin=10.0):
    """Contacts of the pair: gaps and normals, the first shape being ``one``."""
    colliders = compile_colliders([(0, ta.Transform(), SHAPES[name]) for name in (one, two)])
    placed = np.zeros((2, PLACED_WIDTH))
    for k, (R, x) in enumerate(poses):
        placed[k, :9] = R.ravel()
        placed[k, 9:] = x + R @ colliders.centre[k]
    contacts = make_contacts(64)
    pairs, scratch = np.array([[0, 1]]), np.full((SCRATCH_ROWS, SCRATCH_COLUMNS), np.nan)
    general_pairs(
        colliders, placed, np.array([[0.0, 0.0, 0.0, 0.5 * margin]] * 2), pairs, 1, scratch, contacts
    )
    n = int(contacts.count[0])
    return contacts.gap[:n].copy(), contacts.normal[:n].copy(), contacts.feature[:n].copy()


def theirs(one, two, poses):
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    placed = [coal.Transform3s(R, x) for R, x in poses]
    return coal.distance(peer(one), placed[0], peer(two), placed[1], request, result)


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_distance_and_depth_are_those_of_coal(one, two):
    """Coal stops smooth shapes at its tolerance; in deep overlap each may find another local depth."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        distance = rng.uniform(0.1, 0.9)
        poses = [
            (random_rotation(rng), np.zeros(3)),
            (random_rotation(rng), distance * random_direction(rng)),
        ]
        gap, normal, feature = ours(one, two, poses)
        assert 1 <= len(gap) <= 9
        assert (np.diff(feature) > 0).all()
        np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-12)
        expected = theirs(one, two, poses)
        if expected > 1e-6:
            assert gap.min() == pytest.approx(expected, abs=1e-5)
        else:
            assert gap.min() <= 1e-6
            assert gap.min() >= expected - 0.02


@pytest.mark.parametrize(("one", "two"), [("cylinder", "box"), ("hull", "hull"), ("ellipsoid", "capsule")])
def test_swapping_the_shapes_turns_the_normal(one, two):
    rng = np.random.default_rng(4)
    for _ in range(10):
        poses = [(random_rotation(rng), np.zeros(3)), (random_rotation(rng), 0.6 * random_direction(rng))]
        gap, normal, _ = ours(one, two, poses)
        back, turned, _ = ours(two, one, poses[::-1])
        assert gap.min() == pytest.approx(back.min(), abs=1e-9)
        np.testing.assert_allclose(normal[gap.argmin()], -turned[back.argmin()], atol=1e-5)


def test_standing_shapes_rest_on_faces():
    """A cylinder on a box, a cube on a cube of corners alone: four points or more, exact normals."""
    cube = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    for upper, lower in ((ta.Cylinder(0.1, 0.2), ta.Box((0.2, 0.2, 0.2))), (ta.Mesh(cube), ta.Mesh(cube))):
        bodies = [
            ta.free_body(
                name, g, mass=1.0, position=(0, 0, z), inertia=ta.Inertia(1.0, np.zeros(3), 0.01 * np.eye(3))
            )
            for name, g, z in (("lower", lower, 0.1), ("upper", upper, 0.3))
        ]
        run = ta.Simulation(ta.World(*bodies, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.1)
        np.testing.assert_allclose(run.q[-1, [2, 9]], [0.1, 0.3], atol=1e-9)
        table = run.contacts
        pair = (table.step == run.steps - 1) & (table.key[:, 0] == 1)
        assert pair.sum() >= 4
        np.testing.assert_allclose(np.abs(table.frame[pair, 6]), 1.0, atol=1e-12)
        assert run.certificate.residual <= 1e-8
