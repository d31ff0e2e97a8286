"""Distances, overlaps and normals of pairs of shapes against Coal; stacked boxes against MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import random_direction, random_rotation
from shape_pairs import (
    Pose,
    at,
    box,
    capsule,
    check_contacts,
    cylinder,
    ellipsoid,
    hull,
    plane,
    sphere,
    touch,
    turn,
)
from taction._core.kinds import ShapeKind
from taction.geometry.box import box_box
from taction.geometry.box_capsule import box_capsule
from taction.geometry.round import box_sphere, capsule_capsule, capsule_sphere, cylinder_sphere, sphere_sphere
from taction.geometry.shapes.box import on_plane as box_plane
from taction.geometry.shapes.capsule import on_plane as capsule_plane
from taction.geometry.shapes.cylinder import on_plane as cylinder_plane
from taction.geometry.shapes.ellipsoid import on_plane as ellipsoid_plane
from taction.geometry.shapes.hull import on_plane as hull_plane
from taction.geometry.shapes.sphere import on_plane as sphere_plane

coal = pytest.importorskip("coal")
mujoco = pytest.importorskip("mujoco")

CORNERS = np.random.default_rng(5).normal(scale=0.3, size=(20, 3))
PAIRS = {
    "sphere-plane": (sphere_plane, sphere(0.3), plane()),
    "capsule-plane": (capsule_plane, capsule(0.1, 0.4), plane()),
    "box-plane": (box_plane, box(0.1, 0.2, 0.4), plane()),
    "cylinder-plane": (cylinder_plane, cylinder(0.3, 0.2), plane()),
    "ellipsoid-plane": (ellipsoid_plane, ellipsoid(0.1, 0.2, 0.4), plane()),
    "hull-plane": (hull_plane, hull(CORNERS), plane()),
    "sphere-sphere": (sphere_sphere, sphere(0.3), sphere(0.2)),
    "capsule-sphere": (capsule_sphere, capsule(0.1, 0.4), sphere(0.2)),
    "capsule-capsule": (capsule_capsule, capsule(0.1, 0.4), capsule(0.2, 0.3)),
    "box-sphere": (box_sphere, box(0.3, 0.2, 0.4), sphere(0.2)),
    "cylinder-sphere": (cylinder_sphere, cylinder(0.3, 0.2), sphere(0.2)),
    "box-capsule": (box_capsule, box(0.3, 0.2, 0.4), capsule(0.2, 0.3)),
    "box-box": (box_box, box(0.3, 0.2, 0.4), box(0.2, 0.3, 0.25)),
}


def peer(shape):
    """The same shape as Coal has it; a half-space and full lengths."""
    size = shape.size
    if shape.kind == ShapeKind.PLANE:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if shape.kind == ShapeKind.SPHERE:
        return coal.Sphere(size[0])
    if shape.kind == ShapeKind.CAPSULE:
        return coal.Capsule(size[0], 2 * size[1])
    if shape.kind == ShapeKind.BOX:
        return coal.Box(*(2 * np.array(size)))
    if shape.kind == ShapeKind.CYLINDER:
        return coal.Cylinder(size[0], 2 * size[1])
    if shape.kind == ShapeKind.ELLIPSOID:
        return coal.Ellipsoid(*size)
    points = coal.StdVec_Vec3s()
    points.extend(list(np.array(shape.vertices)))
    return coal.Convex.convexHull(points, False, None)


def peer_distance(first, second):
    """Coal's signed distance and normal, turned to point from the second shape to the first."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = 1e-9
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    places = [coal.Transform3s(pose.axes, pose.centre) for _, pose in (first, second)]
    distance = coal.distance(peer(first[0]), places[0], peer(second[0]), places[1], request, result)
    return distance, -result.normal


@pytest.mark.parametrize("name", PAIRS)
def test_against_coal(name):
    function, first, second = PAIRS[name]
    rng = np.random.default_rng(1)
    # Coal iterates to 1e-9 where it has no closed form; a box prefers a face by a thousandth of the overlap
    errors, turns, signs = [], [], []
    for k in range(100):
        spread = (0.2, 0.5, 0.8, 1.1)[k % 4]
        pose = Pose(random_rotation(rng), rng.normal(size=3))
        other = Pose(random_rotation(rng), pose.centre + spread * random_direction(rng))
        found = touch(function, (first, pose), (second, other), 3.0)
        check_contacts(found, 3.0)
        truth, normal = peer_distance((first, pose), (second, other))
        best = found.gap.argmin()
        if name == "cylinder-sphere" and truth < -0.2:
            # with the centre inside, Coal always leaves through the side, also where a cap is nearer
            assert found.gap[best] >= truth - 1e-12
            continue
        errors.append(abs(found.gap[best] - truth))
        turns.append(np.linalg.norm(found.normal[best] - normal))
        signs.append(truth < 0)
    assert 5 < sum(signs) < 95
    preferred = 1e-3 if name == "box-box" else 0.0
    assert max(errors) < 1e-7 + preferred
    assert np.median(errors) < 1e-8
    # a nearest face, edge or corner can be a tie, decided differently: nearly all normals agree, not all
    assert np.median(turns) < 1e-6
    assert np.mean(np.array(turns) < 1e-3) >= 0.95


STACK = """
<mujoco>
  <option gravity="0 0 0"><flag nativeccd="enable"/></option>
  <worldbody>
    <geom name="lower" type="box" size="0.5 0.4 0.3"/>
    <body><freejoint/><geom name="upper" type="box" size="0.3 0.45 0.2" margin="0.05"/></body>
  </worldbody>
</mujoco>
"""


def area(points):
    """Area of the convex hull of points of a plane z = const, given in any order."""
    from scipy.spatial import ConvexHull

    return ConvexHull(points[:, :2]).volume


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.1])
def test_stacked_boxes_against_mujoco(angle, tmp_path, monkeypatch):
    """The same gap and normal, and the support polygon; MuJoCo may keep fewer points of it."""
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings to a log file in the current folder
    model = mujoco.MjModel.from_xml_string(STACK)
    data = mujoco.MjData(model)
    data.qpos[:] = [0.2, 0.1, 0.501, np.cos(angle / 2), 0, 0, np.sin(angle / 2)]
    mujoco.mj_forward(model, data)
    upper = (box(0.3, 0.45, 0.2), at(0.2, 0.1, 0.501, axes=turn("z", angle)))
    found = touch(box_box, upper, (box(0.5, 0.4, 0.3), at()), 0.05)
    theirs = data.contact
    np.testing.assert_allclose(found.gap, 0.001, atol=1e-12)
    np.testing.assert_allclose(theirs.dist, 0.001, atol=1e-9)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, 1], (len(found.gap), 1)), atol=1e-15)
    np.testing.assert_allclose(theirs.pos[:, 2], found.point[0, 2], atol=1e-9)
    assert area(theirs.pos) == pytest.approx(area(found.point), rel=1e-6)
