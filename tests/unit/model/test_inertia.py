"""Rigid-body inertia: closed forms against integrals, sums, placements, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY, assert_close, random_inertia, random_pose
from taction._core.errors import BadInput, ModelError
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere

CLOSE = 1e-13
seeds = st.integers(0, 2**32 - 1)

# Two triangles per side of the unit cube, outward.
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
TETRAHEDRON_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def of_revolution(radius, edges) -> tuple[float, float, float]:
    """Volume and moments (Ixx, Izz) at unit density of a solid of revolution about z, by Gauss quadrature.

    Slices of radius R: dm = π R² dz, dIzz = π R⁴/2 dz, dIxx = (π R⁴/4 + π R² z²) dz. R² is a polynomial of
    degree 2 in z between the edges, so that 8 points are exact.
    """
    nodes, weights = np.polynomial.legendre.leggauss(8)
    m = xx = zz = 0.0
    for a, b in itertools.pairwise(edges):
        z, w = (a + b) / 2 + (b - a) / 2 * nodes, (b - a) / 2 * weights
        R2 = np.array([radius(x) ** 2 for x in z])
        m += w @ (np.pi * R2)
        zz += w @ (np.pi * R2**2 / 2)
        xx += w @ (np.pi * R2**2 / 4 + np.pi * R2 * z**2)
    return m, xx, zz


def test_sphere():
    I = Inertia.solid(Sphere(0.3), mass=2.0)
    assert_close(I.matrix, 0.4 * 2.0 * 0.09 * np.eye(3), CLOSE)
    assert I.mass == 2.0 and not I.com.any()


def test_box_and_ellipsoid():
    a, b, c = 0.2, 0.5, 0.9
    sides = np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert_close(Inertia.solid(Box((a, b, c)), mass=3.0).matrix, 3.0 / 12 * sides, CLOSE)
    assert_close(Inertia.solid(Ellipsoid((a, b, c)), mass=3.0).matrix, 3.0 / 5 * sides, CLOSE)
    assert_close(Inertia.solid(Ellipsoid((a, a, a))).matrix, Inertia.solid(Sphere(a)).matrix, CLOSE)


@pytest.mark.parametrize(
    ("shape", "radius", "edges"),
    [
        (Cylinder(0.2, 0.7), lambda z: 0.2, [-0.35, 0.35]),
        (Cone(0.2, 0.7), lambda z: 0.2 * (0.35 - z) / 0.7, [-0.35, 0.35]),
        (Sphere(0.4), lambda z: np.sqrt(0.16 - z * z), [-0.4, 0.4]),
        (Ellipsoid((0.3, 0.3, 0.5)), lambda z: 0.3 * np.sqrt(1 - (z / 0.5) ** 2), [-0.5, 0.5]),
        (
            Capsule(0.2, 0.7),
            lambda z: np.sqrt(0.04 - max(0.0, abs(z) - 0.35) ** 2),
            [-0.55, -0.35, 0.35, 0.55],
        ),
    ],
    ids=["cylinder", "cone", "sphere", "ellipsoid", "capsule"],
)
def test_solids_of_revolution_against_quadrature(shape, radius, edges):
    m, xx, zz = of_revolution(radius, edges)
    I = Inertia.solid(shape, density=1.0)
    assert_close(I.mass, m, CLOSE)
    assert_close(I.about_origin, np.diag([xx, xx, zz]), CLOSE)


def test_density_and_mass():
    assert Inertia.solid(Box((0.1, 0.2, 0.3))).mass == pytest.approx(6.0)  # water: 1000 kg/m³
    assert Inertia.solid(Box((0.1, 0.2, 0.3)), density=500.0).mass == pytest.approx(3.0)
    heavy, light = Inertia.solid(Sphere(1.0), mass=8.0), Inertia.solid(Sphere(1.0), mass=2.0)
    assert_close(heavy.matrix, 4 * light.matrix, CLOSE)
    assert_close(light.scaled(8.0).matrix, heavy.matrix, CLOSE)


@PROPERTY
@given(seeds)
def test_mesh_of_a_box_anywhere(seed):
    rng = np.random.default_rng(seed)
    size, pose = rng.uniform(0.1, 2.0, 3), random_pose(rng, 2.0)
    mesh = Mesh(pose.apply((CUBE - 0.5) * size), CUBE_FACES)
    expected = Inertia.solid(Box(tuple(size)), density=700.0).placed(pose)
    I = Inertia.solid(mesh, density=700.0)
    # the sum over tetrahedra from the origin cancels: 2 m away from a box of 0.1 m leaves (2/0.1)² ε
    assert_close(I.mass, expected.mass, 1e-11)
    assert_close(I.com, expected.com, 1e-11)
    assert_close(I.matrix, expected.matrix, 1e-10)


def test_mesh_of_a_tetrahedron():
    """Right tetrahedron with legs 1: V = 1/6, ∫x = 1/24, ∫x² = 1/60, ∫xy = 1/120."""
    I = Inertia.solid(Mesh(TETRAHEDRON, TETRAHEDRON_FACES), density=1.0)
    assert_close(I.mass, 1 / 6, CLOSE)
    assert_close(I.com, [0.25] * 3, CLOSE)
    expected = 2 / 60 * np.eye(3) - (np.ones((3, 3)) - np.eye(3)) / 120
    assert_close(I.about_origin, expected, CLOSE)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (Plane(), "plane has no volume"),
        (Mesh(), "has no faces"),
        (Mesh(TETRAHEDRON, TETRAHEDRON_FACES[:, ::-1]), "open or inside out"),
    ],
)
def test_shapes_without_inertia(shape, message):
    with pytest.raises(ModelError, match=message):
        Inertia.solid(shape)


@PROPERTY
@given(seeds)
def test_placement_and_parallel_axes(seed):
    """Kinetic energy does not depend on the frame: ½ m |u + ω × c|² + ½ ωᵀ I_c ω."""
    rng = np.random.default_rng(seed)
    I, X = random_inertia(rng), random_pose(rng)
    u, w = rng.normal(size=(2, 3))  # of the outer frame's origin, outer axes
    J = I.placed(X)

    def energy(I, u, w):
        c = u + np.cross(w, I.com)
        return 0.5 * I.mass * c @ c + 0.5 * w @ I.matrix @ w

    inner_u, inner_w = X.rotation.T @ (u + np.cross(w, X.translation)), X.rotation.T @ w
    assert_close(energy(J, u, w), energy(I, inner_u, inner_w), CLOSE)
    about_origin = 0.5 * w @ J.about_origin @ w
    assert_close(energy(J, np.zeros(3), w), about_origin, CLOSE)


@PROPERTY
@given(seeds)
def test_sum(seed):
    rng = np.random.default_rng(seed)
    parts = [random_inertia(rng) for _ in range(3)]
    total = Inertia.sum(parts)
    assert_close(total.mass, sum(p.mass for p in parts), CLOSE)
    assert_close(total.mass * total.com, sum(p.mass * p.com for p in parts), CLOSE, 1.0)
    assert_close(total.about_origin, sum(p.about_origin for p in parts), CLOSE)
    total.check("sum")


def test_sum_of_nothing_is_nothing():
    assert Inertia.sum([]).mass == 0.0
    assert not Inertia.sum([Inertia(), Inertia()]).matrix.any()


def test_halves_make_a_whole():
    half = Inertia.solid(Box((1.0, 1.0, 0.5)), density=1.0)
    up, down = (half.placed(Transform(translation=(0, 0, z))) for z in (0.25, -0.25))
    assert_close(Inertia.sum([up, down]).matrix, Inertia.solid(Box((1, 1, 1)), density=1.0).matrix, CLOSE)


@PROPERTY
@given(seeds)
def test_possible_bodies_pass(seed):
    random_inertia(np.random.default_rng(seed)).check("body")


def test_the_edges_of_what_is_possible_pass():
    Inertia().check("nothing")
    Inertia(1.0).check("point")
    Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 0.0])).check("rod")
    Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.0])).check("disc")
    Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.0005])).check("disc, printed with four digits")


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        (Inertia(-1.0, np.zeros(3), np.eye(3)), "part: mass must be positive, got -1 kg"),
        (Inertia(0.0, np.zeros(3), np.eye(3)), "part: mass must be positive, got 0 kg"),
        (Inertia(-1.0), "mass must be positive"),
        (Inertia(1.0, np.zeros(3), [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), "is not symmetric"),
        (Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, -0.1])), "is not positive semi-definite"),
        (Inertia(1.0, np.zeros(3), [[1, 2, 0], [2, 1, 0], [0, 0, 1]]), "is not positive semi-definite"),
        (Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.1])), "violate the triangle inequality"),
    ],
)
def test_impossible_bodies(inertia, message):
    with pytest.raises(ModelError, match=message):
        inertia.check("part")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan,), "mass: contains NaN"),
        (([1.0, 2.0],), "mass: expected shape"),
        ((1.0, [0, 0]), r"centre of mass: expected shape \(3,\), got \(2,\)"),
        ((1.0, [0, 0, np.inf]), "centre of mass: contains NaN or infinity"),
        ((1.0, [0, 0, 0], np.eye(2)), "inertia matrix: expected shape"),
        ((1.0, [0, 0, 0], "x"), "inertia matrix: not a numeric array"),
    ],
)
def test_bad_numbers(arguments, message):
    with pytest.raises(BadInput, match=message):
        Inertia(*arguments)
