"""Welding: the same vertices and triangles as NumPy's rows that differ, in both precisions."""

from __future__ import annotations

import numpy as np
import pytest

from taction.io.weld import weld


def slow_weld(corners):
    vertices, inverse = np.unique(corners.astype(float) + 0.0, axis=0, return_inverse=True)
    faces = inverse.reshape(-1, 3)
    return vertices, faces[[len(set(face)) == 3 for face in faces.tolist()]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_equal_corners_become_one(dtype, digits):
    corners = np.random.default_rng(digits).normal(size=(600, 3)).round(digits).astype(dtype)
    corners[::7] *= -0.0
    for got, wanted in zip(weld(corners), slow_weld(corners), strict=True):
        assert np.array_equal(got, wanted) and got.dtype in (np.float64, np.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_ends_of_the_numbers_keep_their_order(dtype):
    limits = np.finfo(dtype)
    values = [0.0, -0.0, limits.tiny, -limits.tiny, limits.max, -limits.max, np.inf, -np.inf, 1.0, -1.0]
    values += [limits.smallest_subnormal, -limits.smallest_subnormal]
    corners = np.array([(x, y, 0.0) for x in values for y in values], dtype=dtype)
    for got, wanted in zip(weld(corners), slow_weld(corners), strict=True):
        assert np.array_equal(got, wanted)


def test_of_nothing_comes_nothing():
    vertices, faces = weld(np.zeros((0, 3), dtype=np.float32))
    assert vertices.shape == faces.shape == (0, 3)
