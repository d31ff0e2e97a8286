"""How far hulls and pieces are from a mesh, where that is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from bracket import ARM, SIDE, bracket
from taction.geometry.hull import hull_triangles
from taction.geometry.surface_error import SAMPLES, _to_triangles, surface_error


def box(x: float, y: float, grow: float = 0.0) -> np.ndarray:
    """Corners of a box from the origin, larger by grow on the far side of x [m]."""
    return np.array([(a, b, c) for a in (0.0, x + grow) for b in (0.0, y) for c in (0.0, 0.1)])


def test_the_hull_of_a_bracket_is_off_by_half_an_arm():
    """The middle of its slanted side is that far from both arms; samples come near it."""
    area = 2 * (SIDE**2 + SIDE * 0.1) * 2
    wanted = (SIDE - ARM) / 2
    assert wanted - np.sqrt(area / SAMPLES) <= ta.hull_error(bracket()) <= wanted + 1e-12


def test_the_hull_of_a_convex_mesh_is_its_surface():
    rng = np.random.default_rng(1)
    for points in (box(0.2, 0.1), rng.normal(size=(100, 3))):
        assert ta.hull_error(ta.Mesh(*hull_triangles(points))) <= 1e-12 * np.ptp(points)


def test_pieces_that_overlap_have_no_surface_inside_each_other():
    whole = [box(SIDE, ARM), box(ARM, SIDE)]
    assert surface_error(bracket(), whole) <= 1e-12
    # cut apart at the inner corner
    upper = box(ARM, SIDE).clip(min=(0.0, ARM, 0.0))
    assert surface_error(bracket(), [box(SIDE, ARM), upper]) <= 1e-12
    # far end of one arm too long, by corners that are among the samples
    assert surface_error(bracket(), [box(SIDE, ARM, 0.02), box(ARM, SIDE)]) == pytest.approx(0.02, abs=1e-12)
    # one arm missing: its end is as far from the other as it is long
    assert surface_error(bracket(), whole[:1]) == pytest.approx(SIDE - ARM, abs=1e-12)


def test_a_cavity_counts():
    """A box in a box: the hull misses what is inside by the distance of its walls from the outside."""
    outer, inner = hull_triangles(box(0.3, 0.3) * (1, 1, 3)), hull_triangles(0.1 + box(0.1, 0.1))
    faces = np.vstack([outer[1], inner[1][:, ::-1] + len(outer[0])])
    mesh = ta.Mesh(np.vstack([outer[0], inner[0]]), faces)
    spacing = np.sqrt(6 * 0.3**2 / SAMPLES)
    assert ta.hull_error(mesh) == pytest.approx(0.1, abs=spacing)


def test_distances_from_triangles_are_those_of_many_points_of_them():
    rng = np.random.default_rng(4)
    triangles, points = rng.normal(size=(40, 3, 3)), 2.0 * rng.normal(size=(40, 3))
    triangles[:3, 2] = triangles[:3, 1]  # flat ones
    n = 200
    u, v = (x.ravel() for x in np.meshgrid(*[np.linspace(0.0, 1.0, n)] * 2))
    u, v = u[u + v <= 1.0], v[u + v <= 1.0]
    for point, triangle, found in zip(points, triangles, _to_triangles(points, triangles), strict=True):
        a, b, c = triangle
        grid = np.linalg.norm(a + u[:, None] * (b - a) + v[:, None] * (c - a) - point, axis=1).min()
        reach = (np.linalg.norm(b - a) + np.linalg.norm(c - a)) / (n - 1)
        assert grid - reach <= found <= grid + 1e-12


def test_a_mesh_without_faces_has_no_surface():
    with pytest.raises(ta.ModelError, match="has no faces"):
        ta.hull_error(ta.Mesh(box(1, 1)))
