"""What holds for every convex shape: its parts, each for itself, describe one and the same body.

All tests go through `SOLIDS`: a new shape inherits them by its line there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from helpers import EPS, random_direction, random_rotation
from taction._core.arrays import Array
from taction.geometry.bounds import shape_bounds
from taction.geometry.colliders import PLACED_WIDTH, Colliders, make_contacts
from taction.geometry.compile import compile_colliders
from taction.geometry.height_field import probe_part
from taction.geometry.plane import plane_convex
from taction.geometry.scratch import AT, BUFFER, FIRST, SCRATCH_COLUMNS, SCRATCH_ROWS
from taction.geometry.shapes import dispatch
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.model.shapes import SOLIDS, HeightField, Plane

TRIES = 40
STEP = 1e-5  # of central differences: errors STEP² from the third derivative, EPS/STEP from rounding
SLOPE = 1e-8


class Body(NamedTuple):
    """A shape of `SOLIDS` in row 0, ground in the rows behind."""

    kind: int
    colliders: Colliders

    def support(self, d) -> Array:
        return np.array(dispatch.support(self.kind, self.colliders, 0, tuple(d)))

    def height(self, d) -> float:
        """Support function of the core."""
        return float(self.support(d)[:3] @ d)

    @property
    def radius(self) -> float:
        return float(dispatch.core_radius(self.kind, self.colliders, 0))

    @property
    def rounding(self) -> float:
        return 16 * EPS * float(self.colliders.bound[0])


GROUND = (Plane(), HeightField(np.zeros((9, 9)), (0.2, 0.2)))


@pytest.fixture(params=SOLIDS)
def body(request) -> Body:
    colliders = compile_colliders([(0, Transform(), g) for g in (SOLIDS[request.param], *GROUND)])
    return Body(int(colliders.kind[0]), colliders)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def placed(body, R, centre) -> Array:
    rows = np.zeros((len(body.colliders.kind), PLACED_WIDTH))
    rows[:, :9] = np.eye(3).ravel()
    rows[0, :9], rows[0, 9:] = R.ravel(), centre
    return rows


def part(body, d) -> tuple[int, Array, float, Array]:
    """Face, normal, cosine, and corners (k, 3) of the part that faces d."""
    face, m, cosine = dispatch.facing(body.kind, body.colliders, 0, tuple(d))
    ws = np.full((SCRATCH_ROWS, SCRATCH_COLUMNS), np.nan)
    row = np.int64(BUFFER)
    count = dispatch.set_part(body.kind, body.colliders, 0, face, tuple(d), FIRST, row, ws)
    return face, np.array(m), cosine, ws[BUFFER : BUFFER + count, AT : AT + 3].copy()


def test_support_points_are_farthest(body, rng):
    """No support point is farther along d than that of d, and ids tell which are the same."""
    directions = [random_direction(rng) for _ in range(TRIES)]
    directions += [s * e for e in np.eye(3) for s in (-1.0, 1.0)]
    points = [body.support(d) for d in directions]
    for d in directions:
        own = body.height(d)
        assert max(p[:3] @ d for p in points) <= own + body.rounding
        assert abs(own) + body.radius <= body.colliders.bound[0] + body.rounding
    if not dispatch.is_smooth(body.kind):
        assert len({tuple(p) for p in points}) == len({p[3] for p in points})


def test_outline_and_inertia_are_of_the_same_body(body, rng):
    """Drawn points lie inside; the body would have its mass within its bounds."""
    geometry = next(g for g in SOLIDS.values() if g.collider().kind == body.kind)
    points = geometry.outline()
    for d in [random_direction(rng) for _ in range(TRIES)]:
        assert (points @ d).max() <= body.height(d) + body.radius + body.rounding
        assert (points @ d).max() >= 0.9 * (body.height(d) + body.radius)
    if body.kind == dispatch.HULL:
        return  # its example has no faces
    solid = Inertia.solid(geometry, density=1.0)
    solid.check("solid")
    assert np.linalg.norm(solid.com) < body.colliders.bound[0]
    assert solid.mass < 4 / 3 * np.pi * body.colliders.bound[0] ** 3 * (1 + 4 * EPS)


def test_box_around_is_the_support_along_the_axes(body, rng):
    for _ in range(TRIES):
        R = random_rotation(rng)
        n = len(body.colliders.kind)
        boxes = np.zeros((n, 6))
        shape_bounds(body.colliders, placed(body, R, np.zeros(3)), np.zeros(n), boxes)
        upper = [body.height(row) + body.radius for row in R]
        lower = [-body.height(-row) - body.radius for row in R]
        np.testing.assert_allclose(boxes[0], [*lower, *upper], rtol=0, atol=body.rounding)


def test_curvature_is_the_derivative_of_the_support_point(body, rng):
    if not dispatch.is_smooth(body.kind):
        pytest.skip("it has corners only")
    for _ in range(TRIES):
        d = random_direction(rng)
        p = np.linalg.qr(np.column_stack([d, rng.normal(size=(3, 2))]))[0][:, 1:].T
        pairs = [[body.support(d + s * STEP * t) for s in (1, -1)] for t in p]
        if len({x[3] for pair in pairs for x in pair}) > 1:
            continue  # at a jump
        H = np.array([(a[:3] - b[:3]) / (2 * STEP) for a, b in pairs]) @ p.T
        found = dispatch.curvature(body.kind, body.colliders, 0, tuple(d), tuple(p[0]), tuple(p[1]))
        steep = 1.0 / max(np.hypot(d[0], d[1]), 1e-2) ** 4  # third derivatives grow towards the axis
        np.testing.assert_allclose(found, [H[0, 0], H[0, 1], H[1, 1]], rtol=0, atol=SLOPE * steep)


def test_parts_lie_on_the_surface(body, rng):
    """Corners of a face in its plane, over the face, and nowhere outside the body."""
    if not dispatch.has_parts(body.kind):
        pytest.skip("nothing on it is flat or straight")
    for d in [random_direction(rng) for _ in range(TRIES)]:
        face, m, cosine, corners = part(body, d)
        assert len(corners) >= 2
        for e in [random_direction(rng) for _ in range(5)]:
            assert (corners @ e).max() <= body.height(e) + body.rounding
        if face < 0:
            continue
        assert cosine == pytest.approx(m @ d, abs=4 * EPS)
        np.testing.assert_allclose(corners @ m, body.height(m), rtol=0, atol=body.rounding)
        for p in corners:
            over = (body.kind, body.colliders, 0, face, tuple(p))
            assert dispatch.is_over_face(*over, body.rounding)
            outside = tuple(p + 0.1 * (p - corners.mean(axis=0)))
            assert not dispatch.is_over_face(*over[:4], outside, body.rounding)


def test_lines_of_a_round_side(body, rng):
    """Both ends support the normal of the side, which turns by the length of an arc over its radius."""
    if not dispatch.is_round(body.kind):
        pytest.skip("it has no round caps")
    for d in [random_direction(rng) for _ in range(TRIES)]:
        ends, normals = [], []
        angle = np.arctan2(d[1], d[0])
        for turn in (-STEP, STEP):
            out = np.array([np.cos(angle + turn), np.sin(angle + turn), 0.0])
            p, e, length, *radii = dispatch.side_line(body.kind, body.colliders, 0, tuple(out))
            p, e = np.array(p), np.array(e)
            m = out - (out @ e) * e
            m /= np.linalg.norm(m)
            assert np.linalg.norm(e) == pytest.approx(1.0, abs=4 * EPS)
            for x in (p, p + length * e):
                assert x @ m == pytest.approx(body.height(m), abs=body.rounding)
            ends.append((p, p + length * e))
            normals.append(m)
        angle = np.linalg.norm(normals[1] - normals[0])
        for k in range(2):
            moved = np.linalg.norm(ends[1][k] - ends[0][k])
            assert moved == pytest.approx(radii[k] * angle, abs=SLOPE * STEP)


def contacts_with(function, body, R, centre, ground, margin=1.0):
    """Contacts of the shape with ground in row 1 (plane) or 2 (height field), by a general routine."""
    contacts = make_contacts(64)
    s, t = (0, ground) if ground == 1 else (ground, 0)
    ws = np.full((SCRATCH_ROWS, SCRATCH_COLUMNS), np.nan)
    function(body.colliders, placed(body, R, centre), 0, ground, s, t, s != 0, margin, ws, contacts)
    n = int(contacts.count[0])
    return contacts.gap[:n].copy(), contacts.point[:n].copy(), contacts.normal[:n].copy()


def test_general_contacts_with_a_half_space(body, rng):
    """Every shape through the general way: the lowest point is found, others lie on it or higher."""
    for _ in range(TRIES):
        R, centre = random_rotation(rng), 0.1 * random_direction(rng)
        lowest = centre[2] - body.height(-R[2]) - body.radius
        gap, point, normal = contacts_with(plane_convex, body, R, centre, 1)
        assert gap.min() == pytest.approx(lowest, abs=2 * body.rounding)
        np.testing.assert_array_equal(normal, np.tile([0.0, 0.0, 1.0], (len(gap), 1)))
        np.testing.assert_allclose(point[:, 2], 0.5 * gap, rtol=0, atol=body.rounding)
        assert len(contacts_with(plane_convex, body, R, centre, 1, lowest - 1e-12)[0]) == 0


def test_a_flat_field_is_a_half_space(body, rng):
    """The general way again, a little above the ground and not more than a cell wide."""
    for _ in range(TRIES):
        R = random_rotation(rng)
        low = body.height(-R[2]) + body.radius
        gap, _, normal = contacts_with(probe_part, body, R, np.array([0.013, 0.007, low + 1e-3]), 2, 2e-3)
        assert gap.min() == pytest.approx(1e-3, abs=1e-12)
        np.testing.assert_allclose(normal, np.tile([0.0, 0.0, 1.0], (len(gap), 1)), rtol=0, atol=1e-12)
