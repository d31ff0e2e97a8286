"""Nearest points of points, segments, boxes and cylinders, against bounded least squares."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from helpers import random_direction, random_rotation
from shape_pairs import Pose, box, cylinder, signed_distance
from taction.geometry.closest import box_distance, cylinder_distance, segment_box, segment_segment

AT_ORIGIN = Pose(np.eye(3), np.zeros(3))
# squared distances are compared: the solver stops at 1e-13 of them, and they are of the order of 1 m²
SQUARES = 1e-12


def least(A, b, low, high):
    """Smallest ‖A x − b‖² with low ≤ x ≤ high."""
    return 2.0 * lsq_linear(A, b, (low, high), method="bvls", tol=1e-15).cost


@pytest.mark.parametrize("angle", [None, 0.0, 1e-9, 1e-6, 1e-3, 0.1])
def test_segments(angle):
    rng = np.random.default_rng(1)
    for _ in range(40):
        c1, c2 = rng.normal(scale=0.5, size=(2, 3))
        R = random_rotation(rng)
        u1 = R[:, 2]
        u2 = random_direction(rng) if angle is None else np.cos(angle) * u1 + np.sin(angle) * R[:, 0]
        h1, h2 = 10.0 ** rng.uniform(-2, 0.3, 2)
        w1, w2 = segment_segment(tuple(c1), tuple(u1), h1, tuple(c2), tuple(u2), h2)
        assert abs(w1) <= h1 and abs(w2) <= h2
        square = np.sum((c1 + w1 * u1 - c2 - w2 * u2) ** 2)
        truth = least(np.column_stack([u1, -u2]), c2 - c1, [-h1, -h2], [h1, h2])
        assert square == pytest.approx(truth, abs=SQUARES)


def test_segment_and_box():
    rng = np.random.default_rng(2)
    for k in range(200):
        h, p = rng.uniform(0.1, 1.0, 3), rng.normal(scale=1.0, size=3)
        v = 10.0 ** rng.uniform(-1, 0.5) * random_direction(rng)
        if k % 4 == 0:
            v = v * np.array([1, 0, 0])[rng.permutation(3)]  # along an axis of the box
        w = segment_box(tuple(p), tuple(v), tuple(h))
        assert -1.0 <= w <= 1.0
        x = p + w * v
        square = np.sum((x - np.clip(x, -h, h)) ** 2)
        truth = least(np.column_stack([v, -np.eye(3)]), -p, np.r_[-1.0, -h], np.r_[1.0, h])
        assert square == pytest.approx(truth, abs=SQUARES)


@pytest.mark.parametrize("shape", [box(0.3, 0.5, 0.7), cylinder(0.4, 0.6)], ids=["box", "cylinder"])
def test_signed_distance_and_its_gradient(shape):
    rng = np.random.default_rng(3)
    for _ in range(200):
        x = rng.normal(scale=0.6, size=3)
        if len(shape.size) == 3:
            d, n = box_distance(tuple(x), shape.size)
        else:
            d, n = cylinder_distance(tuple(x), *shape.size)
        assert d == pytest.approx(signed_distance(shape, AT_ORIGIN, x), abs=1e-15)
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-15)
        # a small way out along the gradient changes the distance by that way
        assert signed_distance(shape, AT_ORIGIN, x + 1e-6 * np.array(n)) == pytest.approx(d + 1e-6, abs=1e-14)


def test_a_result_is_finite_where_no_direction_is_better():
    assert box_distance((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)) == (-1.0, (1.0, 0.0, 0.0))
    assert box_distance((0.0, -0.5, 0.5), (1.0, 1.0, 1.0)) == (-0.5, (0.0, -1.0, 0.0))
    assert box_distance((0.0, 0.0, -1.0), (1.0, 1.0, 1.0)) == (0.0, (0.0, 0.0, -1.0))
    assert box_distance((0.0, 0.0, 1.0 + 1e-15), (1.0, 1.0, 1.0))[1] == (0.0, 0.0, 1.0)
    assert cylinder_distance((0.0, 0.0, 0.0), 0.5, 1.0) == (-0.5, (1.0, 0.0, 0.0))
    assert cylinder_distance((0.0, 0.0, 0.0), 1.0, 0.5) == (-0.5, (0.0, 0.0, 1.0))
    assert cylinder_distance((0.0, 0.5, -1.0), 0.5, 1.0) == (0.0, (0.0, 0.0, -1.0))
    same = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), 1.0)
    assert np.isfinite(segment_segment(*same, *same)).all()
