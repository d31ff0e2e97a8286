"""Surfaces: derivatives against differences, both descriptions, curvatures, wrong input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY, has_one_line, random_direction
from taction._core.errors import BadInput
from taction.geometry.contact_kinematics import ContactPoints, conditions
from taction.geometry.surfaces import (
    Cylinder,
    Ellipsoid,
    Parametric,
    Plane,
    Sphere,
    Superquadric,
    Surface,
    Torus,
    Union,
)
from taction.math.transform import Transform

ANGLES = ((-math.pi, math.pi), (-1.4, 1.4))


def egg(a, b):
    """An ellipsoid that is blunt at one end."""
    return (
        0.1 * np.cos(b) * np.cos(a) * (1.0 + 0.2 * np.sin(b)),
        0.12 * np.cos(b) * np.sin(a),
        0.2 * np.sin(b) / np.sqrt(1.0 + 0.1 * np.square(np.cos(b))),
    )


def saddle(x, y):
    """A graph over the plane."""
    return x, y, 0.5 * x**2 - 0.8 * y**2 + 0.1 * np.sin(x * y)


SURFACES: dict[str, Surface] = {
    "sphere": Sphere(0.3),
    "ellipsoid": Ellipsoid((0.1, 0.2, 0.3)),
    "plane": Plane(),
    "cylinder": Cylinder(0.2),
    "torus": Torus(0.3, 0.1),
    "rounded box": Superquadric((0.1, 0.2, 0.3), (0.4, 0.6)),
    "pillow": Superquadric((0.3, 0.2, 0.1), (1.3, 0.8)),
    "pyramid": Superquadric((0.2, 0.2, 0.3), (1.6, 1.7)),
    "egg": Parametric(egg, ANGLES),
    "saddle": Parametric(saddle, ((-1.0, 1.0), (-1.0, 1.0))),
}
every_surface = pytest.mark.parametrize("name", SURFACES)
parameters = st.tuples(st.floats(0.15, 1.35), st.floats(0.15, 1.2))  # between the coordinate planes


def difference(f, u, h):
    """Central differences of fourth order along both parameters; the last axis is the parameter."""
    columns = []
    for e in np.eye(2):
        near, far = (f(u + s * h * e) - f(u - s * h * e) for s in (1, 2))
        columns.append((8.0 * near - far) / (12.0 * h))
    return np.stack(columns, axis=-1)


@every_surface
@PROPERTY
@given(u=parameters)
def test_derivatives_are_those_of_the_point(name, u):
    """Differences of fourth order with h = 1e-3: error h⁴ times fifth derivatives, and rounding over h."""
    surface, u = SURFACES[name], np.array(u)
    first, second = surface.tangents(u), surface.second(u)
    np.testing.assert_allclose(first, difference(surface.point, u, 1e-3), atol=3e-7 * np.abs(first).max())
    scale = max(1.0, float(np.abs(second).max()))
    np.testing.assert_allclose(second, difference(surface.tangents, u, 1e-3), atol=3e-6 * scale)


@every_surface
@PROPERTY
@given(u=parameters)
def test_functions_of_the_point_agree_with_the_parameterisation(name, u):
    surface, u = SURFACES[name], np.array(u)
    p, n, g_star = surface.point(u), surface.normal(u), surface.shape_operator(u)
    scale = float(np.linalg.norm(g_star)) + 1.0
    np.testing.assert_allclose(surface.onto(p), p, atol=1e-14)
    np.testing.assert_allclose(surface.parameters(p), u, atol=1e-12)
    np.testing.assert_allclose(surface.gauss_map(p), n, atol=1e-12)
    np.testing.assert_allclose(surface.gauss_derivative(p), g_star, atol=1e-10 * scale)
    np.testing.assert_allclose(g_star @ n, 0.0, atol=1e-12 * scale)
    np.testing.assert_allclose(g_star, g_star.T, atol=1e-12 * scale)


@every_surface
@PROPERTY
@given(u=parameters)
def test_the_normal_turns_by_the_gauss_derivative(name, u):
    """∂g(f(u))/∂u = g_* f_*, by differences of the normal."""
    surface, u = SURFACES[name], np.array(u)
    turned = surface.gauss_derivative(surface.point(u)) @ surface.tangents(u)
    expected = difference(lambda x: surface.gauss_map(surface.point(x)), u, 1e-3)
    np.testing.assert_allclose(turned, expected, atol=1e-5 * max(1.0, float(np.abs(turned).max())))


@pytest.mark.parametrize("name", [n for n, s in SURFACES.items() if s.is_convex and s.image == 2])
def test_the_support_mapping_is_the_inverse_of_the_gauss_map(name):
    surface, rng = SURFACES[name], np.random.default_rng(0)
    points = np.array([surface.support(random_direction(rng), np.zeros(3)) for _ in range(200)])
    for _ in range(50):
        d = random_direction(rng)
        p = surface.support(d, np.zeros(3))
        np.testing.assert_allclose(surface.gauss_map(p), d, atol=1e-9)
        assert (points @ d <= p @ d + 1e-14).all()


# ----- Curvatures -----------------------------------------------------------------------------------------


def test_closed_forms_of_curvatures():
    a, b, c = 0.1, 0.2, 0.3
    ellipsoid = Ellipsoid((a, b, c))
    for p, expected in (((a, 0, 0), (a / b**2, a / c**2)), ((0, b, 0), (b / a**2, b / c**2)),
                        ((0, 0, c), (c / a**2, c / b**2))):  # fmt: skip
        values = np.sort(np.linalg.eigvalsh(ellipsoid.gauss_derivative(p)))[1:]
        np.testing.assert_allclose(values, np.sort(expected), rtol=1e-13)
    for u in np.random.default_rng(0).uniform(-1.5, 1.5, (20, 2)):
        np.testing.assert_allclose(Sphere(0.4).principal_curvatures(u).values, 2.5, rtol=1e-13)
        round_, straight = Cylinder(0.4).principal_curvatures(u).values
        assert round_ == pytest.approx(2.5) and straight == pytest.approx(0.0, abs=1e-14)
        np.testing.assert_allclose(Plane().principal_curvatures(u).values, 0.0)
        torus = Torus(0.3, 0.1).principal_curvatures(u)
        around = math.cos(u[1]) / (0.3 + 0.1 * math.cos(u[1]))
        np.testing.assert_allclose(torus.values, [10.0, around], rtol=1e-12)
        g_star = Torus(0.3, 0.1).shape_operator(u)
        np.testing.assert_allclose(g_star @ torus.directions, torus.directions * torus.values, atol=1e-12)


def test_a_superquadric_with_exponents_one_is_an_ellipsoid():
    radii, rng = (0.1, 0.2, 0.3), np.random.default_rng(1)
    one, two = Superquadric(radii, (1.0, 1.0)), Ellipsoid(radii)
    for d in [*np.eye(3), *(random_direction(rng) for _ in range(20))]:
        p = two.support(d, d)
        np.testing.assert_allclose(one.support(d, d), p, atol=1e-15)
        np.testing.assert_allclose(one.gauss_map(p), two.gauss_map(p), atol=1e-14)
        np.testing.assert_allclose(one.gauss_derivative(p), two.gauss_derivative(p), rtol=0, atol=1e-11)


def integral(surface, rows, columns, low, high, is_closed):
    """∫ K dA: trapezoids around, and along where that is closed too, else Gauss's nodes."""
    around = (np.arange(columns) + 0.5) * (2.0 * math.pi / columns)
    if is_closed:
        nodes, weights = low + (high - low) * np.arange(rows) / rows, np.full(rows, (high - low) / rows)
    else:
        nodes, weights = np.polynomial.legendre.leggauss(rows)
        nodes, weights = 0.5 * (high - low) * nodes + 0.5 * (high + low), 0.5 * (high - low) * weights
    total = 0.0
    for v, w in zip(nodes, weights, strict=True):
        for u in around:
            F = surface.tangents((u, v))
            area = np.linalg.norm(np.cross(F[:, 0], F[:, 1]))
            total += w * 2.0 * math.pi / columns * area * surface.principal_curvatures((u, v)).values.prod()
    return total


def test_gauss_and_bonnet():
    """The whole curvature is 4π for what is like a ball, and 0 for a torus; both rules converge fast."""
    half = 0.5 * math.pi
    found = integral(Ellipsoid((0.2, 0.25, 0.3)), 20, 24, -half, half, False)
    assert found == pytest.approx(4.0 * math.pi, rel=1e-8)
    assert integral(Parametric(egg, ANGLES), 20, 20, -half, half, False) == pytest.approx(
        4.0 * math.pi, rel=1e-5
    )
    assert integral(Torus(0.3, 0.1), 24, 4, 0.0, 2.0 * math.pi, True) == pytest.approx(0.0, abs=1e-9)


def test_which_points_are_absolutely_convex():
    for name, surface in SURFACES.items():
        expected = name not in ("plane", "cylinder", "saddle")
        assert surface.is_absolutely_convex_at((0.7, 0.6)) == expected, name
    assert not Torus(0.3, 0.1).is_absolutely_convex_at((0.7, 2.0))


# ----- Where there is no curvature, or no normal ----------------------------------------------------------


def on_plane(surface, p):
    """Conditions of a surface that stands on a plane with its point p."""
    n = surface.gauss_map(p)
    H = np.eye(4)
    side = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    x = np.cross(side, -n)
    x /= np.linalg.norm(x)
    H[:3, :3] = np.stack([x, np.cross(-n, x), -n], axis=1)
    H[:3, 3] = p
    return conditions(surface, Plane(), H, ContactPoints(p, np.zeros(3), 0.0))


def test_conditions_report_where_a_superquadric_is_flat_or_sharp():
    """Exponents below 1: flat in the coordinate planes. Above: sharp there. Between them: neither."""
    box, pyramid = Superquadric((0.1, 0.2, 0.3), (0.5, 0.5)), Superquadric((0.1, 0.2, 0.3), (1.5, 1.5))
    for axis in np.eye(3):
        flat, sharp = on_plane(box, axis * (0.1, 0.2, 0.3)), on_plane(pyramid, axis * (0.1, 0.2, 0.3))
        assert flat.rank == 0 and "not relatively convex" in flat.limit
        assert sharp.rank == -1 and "curvature is not finite" in sharp.limit
    edge = np.array([0.0, 1.0, 1.0]) / math.sqrt(2.0)
    assert on_plane(box, box.support(edge, edge)).rank == 1
    assert on_plane(pyramid, pyramid.support(edge, edge)).rank == -1
    inside = np.ones(3) / math.sqrt(3.0)
    for surface in (box, pyramid):
        found = on_plane(surface, surface.support(inside, inside))
        assert found.are_met and found.rank == 2 and found.lowest == -math.inf
    with pytest.raises(BadInput, match="not finite at the point"):
        Superquadric((0.1, 0.1, 0.1), (1.0, 0.5)).gauss_derivative((0.0, 0.0, 0.1))
    ball_like = Superquadric((0.1, 0.1, 0.1), (1.0, 1.0)).gauss_derivative((0.0, 0.0, 0.1))
    np.testing.assert_allclose(ball_like, np.diag([10.0, 10.0, 0.0]), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sphere(-1.0), "sphere radius must be positive"),
        (lambda: Sphere(math.nan), "sphere radius must be positive"),
        (lambda: Ellipsoid((1.0, 2.0)), "must be 3 numbers"),
        (lambda: Ellipsoid((1.0, 2.0, 0.0)), "ellipsoid radius must be positive"),
        (lambda: Cylinder("thick"), "cylinder radius must be a number"),
        (lambda: Torus(0.1, 0.2), "tube radius must be smaller"),
        (lambda: Superquadric((1.0, 1.0, 1.0), (2.0, 1.0)), "between 0 and 2, got 2.0"),
        (lambda: Superquadric((1.0, 1.0, 1.0), (math.nan, 1.0)), "between 0 and 2, got nan"),
        (lambda: Sphere(1.0).point((0.0, math.inf)), "parameters u: contains NaN"),
        (lambda: Sphere(1.0).gauss_map((0.0, 0.0, 0.0)), r"Sphere\(radius=1.0\): there is no normal"),
        (lambda: Ellipsoid((1, 2, 3)).onto((0.0, 0.0, 0.0)), "Ellipsoid.*the centre"),
        (lambda: Sphere(1.0).normal((0.3, 0.5 * math.pi)), "Sphere.*dependent at u = .*point"),
        (lambda: Torus(0.3, 0.1).gauss_map((0.0, 0.0, 0.1)), "Torus.*no normal on the axis"),
        (lambda: Parametric(lambda u, v: (u, v), ((0, 1), (0, 1))), "must be three finite numbers"),
        (lambda: Parametric(lambda u: u, ((0, 1), (0, 1))), "must be a function of"),
        (lambda: Parametric(saddle, ((1, 0), (0, 1))), r"Parametric\(saddle\): its domain is empty"),
        (lambda: Parametric(lambda u, v: (u, u, u), ((0, 1), (0, 1)), "line").normal((0, 0)), "line.*depend"),
        (lambda: Parametric(lambda u, v: (u, v, 1 / u), ((1, 2), (0, 1)), "horn").point((0, 0)), "horn"),
        (lambda: Parametric(lambda u, v: (u, v, np.floor(u)), ((0, 1), (0, 1))).normal((0, 0)), "np.floor"),
        (lambda: Union([]), "must have a member"),
        (lambda: Union([(Sphere(1.0), 3)]), "placement of member 0"),
        (lambda: Union([("ball", Transform())]), "surface of member 0"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(make, words):
    with pytest.raises(BadInput, match=words) as caught:
        make()
    assert has_one_line(caught.value)


def test_a_flipped_parameterisation_has_its_outside_on_the_other_side():
    one, two = (Parametric(saddle, ((-1, 1), (-1, 1)), is_flipped=flip) for flip in (False, True))
    np.testing.assert_allclose(one.normal((0.2, 0.3)), -two.normal((0.2, 0.3)))
    np.testing.assert_allclose(one.shape_operator((0.2, 0.3)), -two.shape_operator((0.2, 0.3)))
