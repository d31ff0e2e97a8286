"""Boxes around shapes: they hold every point of a sampled surface, and no smaller box would."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import EPS, random_direction, random_rotation
from taction._core.kinds import ShapeKind
from taction.geometry.bounds import FAR, shape_bounds
from taction.geometry.colliders import PLACED_AXES, PLACED_CENTRE, PLACED_WIDTH, Colliders
from taction.geometry.hull_graph import no_graph

STEPS = 240  # samples around a circle
REACH = 0.07


def sphere_points():
    """Unit vectors on meridians and parallels, the poles included."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, STEPS + 1), np.linspace(0, np.pi, STEPS // 2 + 1))
    return np.column_stack(
        [(np.cos(u) * np.sin(v)).ravel(), (np.sin(u) * np.sin(v)).ravel(), np.cos(v).ravel()]
    )


# The point of a surface that is furthest along an axis lies within half a step, in both angles, of a sample;
# there the surface has dropped by at most size · δ²/2, where δ² is the sum of the squares of the two half
# steps, each π / STEPS.
COARSE = (np.pi / STEPS) ** 2

HULL_POINTS = np.array(
    [[0.3, 0.1, -0.2], [-0.4, 0.2, 0.1], [0.0, -0.5, 0.3], [0.2, 0.2, 0.6], [0.5, -0.1, 0.0]]
)
ROWS, COLUMNS = 4, 6
HEIGHTS = np.random.default_rng(3).uniform(-0.2, 0.3, (ROWS, COLUMNS))
CELLS, DEPTH = (0.3, 0.5), 0.25


def corners(half):
    return np.array(np.meshgrid(*[(-h, h) for h in half])).reshape(3, -1).T


def cylinder_points(radius, half):
    u = np.linspace(0, 2 * np.pi, STEPS + 1)
    rim = np.column_stack([radius * np.cos(u), radius * np.sin(u), 0 * u])
    return np.vstack([rim + np.array([0, 0, half]), rim - np.array([0, 0, half])])


def field_points():
    """Corners of the box along the field's axes that holds it."""
    x = (np.arange(COLUMNS) - (COLUMNS - 1) / 2) * CELLS[0]
    y = (np.arange(ROWS) - (ROWS - 1) / 2) * CELLS[1]
    xx, yy = np.meshgrid(x, y)
    top = np.column_stack([xx.ravel(), yy.ravel(), np.full(xx.size, HEIGHTS.max())])
    base = np.column_stack([xx.ravel(), yy.ravel(), np.full(xx.size, HEIGHTS.min() - DEPTH)])
    return np.vstack([top, base])


BALL = sphere_points()
# kind, size, points of the surface in shape axes
SAMPLES = {
    "sphere": (ShapeKind.SPHERE, (0.4, 0, 0), 0.4 * BALL),
    "capsule": (
        ShapeKind.CAPSULE,
        (0.2, 0.5, 0),
        np.vstack([0.2 * BALL + [0, 0, 0.5], 0.2 * BALL - [0, 0, 0.5]]),
    ),
    "box": (ShapeKind.BOX, (0.3, 0.6, 0.1), corners((0.3, 0.6, 0.1))),
    "cylinder": (ShapeKind.CYLINDER, (0.3, 0.4, 0), cylinder_points(0.3, 0.4)),
    "flat cylinder": (ShapeKind.CYLINDER, (0.5, 0.01, 0), cylinder_points(0.5, 0.01)),
    "ellipsoid": (ShapeKind.ELLIPSOID, (0.2, 0.5, 0.9), BALL * (0.2, 0.5, 0.9)),
    "hull": (ShapeKind.HULL, (0, 0, 0), HULL_POINTS),
    "height field": (ShapeKind.HEIGHT_FIELD, (*CELLS, DEPTH), field_points()),
}


def make_colliders(kinds, sizes, links=None):
    """Shapes by kind and size; all hulls are HULL_POINTS, all height fields HEIGHTS, between some decoys."""
    n = len(kinds)
    hull, field = np.array(kinds) == ShapeKind.HULL, np.array(kinds) == ShapeKind.HEIGHT_FIELD
    return Colliders(
        kind=np.array(kinds, dtype=np.int64),
        link=np.ones(n, dtype=np.int64) if links is None else np.array(links),
        axes=np.tile(np.eye(3).ravel(), (n, 1)),
        centre=np.zeros((n, 3)),
        size=np.array(sizes, dtype=float),
        bound=np.ones(n),
        first=np.where(hull, 2, np.where(field, 3, 0)),
        count=np.where(hull, len(HULL_POINTS), np.where(field, COLUMNS, 0)),
        vertices=np.vstack([np.full((2, 3), 99.0), HULL_POINTS, np.full((2, 3), -99.0)]),
        face_first=np.zeros(n, dtype=np.int64),
        face_count=np.where(field, ROWS, 0),
        face_normal=np.zeros((0, 3)),
        face_start=np.zeros(1, dtype=np.int64),
        face_vertex=np.zeros(0, dtype=np.int64),
        height=np.concatenate(
            [np.full(3, 99.0), HEIGHTS.ravel(), [HEIGHTS.min(), HEIGHTS.max()], np.full(3, -99.0)]
        ),
        graph=no_graph(n, len(HULL_POINTS) + 4),
    )


def place(rotations, centres):
    placed = np.zeros((len(centres), PLACED_WIDTH))
    placed[:, PLACED_AXES : PLACED_AXES + 9] = np.array(rotations).reshape(-1, 9)
    placed[:, PLACED_CENTRE : PLACED_CENTRE + 3] = centres
    return placed


def boxes_of(colliders, placed, reach):
    boxes = np.full((len(placed), 6), np.nan)
    shape_bounds(colliders, placed, np.asarray(reach, dtype=float), boxes)
    return boxes


TURNS = [np.eye(3), np.array([[0.0, -1, 0], [0, 0, -1], [1, 0, 0]])]
TURNS += [random_rotation(np.random.default_rng(s)) for s in range(20)]


@pytest.mark.parametrize("name", SAMPLES)
def test_smallest_box_that_holds_the_shape(name):
    kind, size, points = SAMPLES[name]
    n = len(TURNS)
    centres = np.random.default_rng(1).uniform(-2, 2, (n, 3))
    boxes = boxes_of(make_colliders([kind] * n, [size] * n), place(TURNS, centres), np.full(n, REACH))
    extent = np.abs(points).max()
    for R, centre, box in zip(TURNS, centres, boxes, strict=True):
        world = points @ R.T + centre
        low, high = world.min(axis=0) - REACH, world.max(axis=0) + REACH
        rounding = 8 * EPS * (np.abs(world).max() + REACH)  # a dozen operations on numbers of this size
        assert np.all(box[:3] <= low + rounding) and np.all(box[3:] >= high - rounding)
        slack = (
            rounding if kind in (ShapeKind.BOX, ShapeKind.HULL, ShapeKind.HEIGHT_FIELD) else COARSE * extent
        )
        assert np.all(box[:3] >= low - slack) and np.all(box[3:] <= high + slack)


def test_reach_is_per_shape():
    colliders = make_colliders([ShapeKind.SPHERE] * 3, [(0.5, 0, 0)] * 3)
    boxes = boxes_of(colliders, place([np.eye(3)] * 3, np.zeros((3, 3))), [0.0, 0.25, 2.0])
    assert np.array_equal(boxes, np.outer([0.5, 0.75, 2.5], [-1, -1, -1, 1, 1, 1]))


def test_planes():
    """A half-space has no bounds but at a plane along the axes; a tilt of any size lifts that too."""
    normals = [
        (0, 0, 1),
        (0, 0, -1),
        (1, 0, 0),
        (0, -1, 0),
        random_direction(np.random.default_rng(4)),
        (1e-9, 0, 1),
    ]
    axes = []
    for normal in normals:
        z = np.array(normal, dtype=float)
        x = np.cross(z, (0.0, 1.0, 0.0) if abs(z[1]) < 0.5 else (0.0, 0.0, 1.0))
        x /= np.linalg.norm(x)
        axes.append(np.column_stack([x, np.cross(z, x), z]))
    centre = np.array([0.5, -0.25, 2.0])
    n = len(normals)
    boxes = boxes_of(
        make_colliders([ShapeKind.PLANE] * n, np.zeros((n, 3))), place(axes, [centre] * n), [0.125] * n
    )
    free = np.array([-FAR] * 3 + [FAR] * 3)
    expected = np.tile(free, (n, 1))
    expected[0, 5] = 2.125
    expected[1, 2] = 1.875
    expected[2, 3] = 0.625
    expected[3, 1] = -0.375
    assert np.array_equal(boxes, expected)
