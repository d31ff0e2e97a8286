"""Signed distances of surfaces against our GJK and EPA, and against Coal: apart and in overlap."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from helpers import random_direction, random_rotation
from taction.geometry.colliders import PLACED_WIDTH, make_contacts
from taction.geometry.compile import compile_colliders
from taction.geometry.contact_kinematics import closest_points
from taction.geometry.detect import collide, is_general
from taction.geometry.general import general_pairs
from taction.geometry.scratch import SCRATCH_COLUMNS, SCRATCH_ROWS
from taction.geometry.surfaces import Ellipsoid, Plane, Sphere

RADII = {"sphere": 0.2, "small": 0.1, "egg": (0.1, 0.2, 0.3), "disc": (0.25, 0.25, 0.08)}
SURFACES = {name: Sphere(r) if isinstance(r, float) else Ellipsoid(r) for name, r in RADII.items()}
SURFACES["plane"] = Plane()
SHAPES = {name: ta.Sphere(r) if isinstance(r, float) else ta.Ellipsoid(r) for name, r in RADII.items()}
SHAPES["plane"] = ta.Plane()
PAIRS = [("sphere", "small"), ("egg", "sphere"), ("egg", "disc"), ("disc", "disc"), ("egg", "plane"),
         ("sphere", "plane")]  # fmt: skip


def ours(one, two, poses):
    """The least gap that contact detection finds."""
    colliders = compile_colliders([(0, ta.Transform(), SHAPES[name]) for name in (one, two)])
    placed = np.zeros((2, PLACED_WIDTH))
    for row, (R, x) in zip(placed, poses, strict=True):
        row[:9], row[9:] = R.ravel(), x
    contacts, margin = make_contacts(64), 10.0
    scratch = np.full((SCRATCH_ROWS, SCRATCH_COLUMNS), np.nan)
    if is_general(*sorted(colliders.kind.tolist(), reverse=True)):
        travel = np.array([[0.0, 0.0, 0.0, 0.5 * margin]] * 2)
        general_pairs(colliders, placed, travel, np.array([[0, 1]]), 1, scratch, contacts)
    else:
        contacts.count[0] = 0
        collide(colliders, placed, 0, 1, margin, np.full((64, 6), np.nan), contacts)
    return float(contacts.gap[: int(contacts.count[0])].min())


def theirs(coal, one, two, poses):
    def peer(name):
        if name == "plane":
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        r = RADII[name]
        return coal.Sphere(r) if isinstance(r, float) else coal.Ellipsoid(*r)

    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    placed = [coal.Transform3s(R, x) for R, x in poses]
    return coal.distance(peer(one), placed[0], peer(two), placed[1], request, result)


def poses_at(one, two, distance, rng):
    """Poses in the world at a signed distance [m]: bodies that are apart, one pushed along the normal."""
    R, S = random_rotation(rng), random_rotation(rng)
    H = np.eye(4)
    H[:3, :3], H[:3, 3] = R.T @ S, random_direction(rng)
    if two == "plane":
        H[:3, 3] = -H[:3, 2]
    points = closest_points(SURFACES[one], SURFACES[two], H)
    H[:3, 3] += (distance - points.distance) * SURFACES[one].gauss_map(points.p1)
    return H, [(R, np.zeros(3)), (S, R @ H[:3, 3])]


@pytest.mark.long
@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_distances_are_those_of_gjk_epa_and_coal(one, two):
    """Apart, and in overlap up to a fifth of the smallest radius, where there is one local depth.

    Ours to rounding. Coal stops smooth shapes at its tolerance on squares, 1e-5 m; some overlaps of
    ellipsoids it gives up.
    """
    coal = pytest.importorskip("coal")
    rng, given_up = np.random.default_rng(8), 0
    for distance in (0.5, 0.1, 1e-2, 1e-3, -1e-4, -1e-3, -5e-3, -1e-2, -0.016):
        H, poses = poses_at(one, two, distance, rng)
        assert closest_points(SURFACES[one], SURFACES[two], H).distance == pytest.approx(distance, abs=1e-13)
        assert ours(one, two, poses) == pytest.approx(distance, abs=1e-13)
        peer = theirs(coal, one, two, poses)
        given_up += peer < -1e300
        assert peer < -1e300 or peer == pytest.approx(distance, abs=1e-5)
    assert given_up <= 2


@pytest.mark.parametrize(("one", "two"), [("egg", "disc"), ("disc", "disc"), ("egg", "sphere")])
def test_no_way_out_of_deep_overlap_is_shorter(one, two):
    """EPA proves a local depth; the largest Δ of all is at least that."""
    rng = np.random.default_rng(9)
    for _ in range(12):
        R, S, x = random_rotation(rng), random_rotation(rng), rng.uniform(0.02, 0.15) * random_direction(rng)
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = R.T @ S, R.T @ x
        deep = closest_points(SURFACES[one], SURFACES[two], H).distance
        assert deep < 0.0
        assert deep >= ours(one, two, [(R, np.zeros(3)), (S, x)]) - 1e-13
