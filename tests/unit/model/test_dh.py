"""Denavit–Hartenberg chains: frames, motion against closed forms of small arms, and bad tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taction._core.errors import ModelError
from taction.dynamics.crba import mass_matrix
from taction.dynamics.rnea import bias_forces, gravity_forces
from taction.kinematics.forward import forward_kinematics
from taction.math.transform import Transform, rotation_about
from taction.model.dh import DHRow, dh_chain, dh_transform
from taction.model.inertia import Inertia
from taction.model.shapes import Sphere

BALL = Inertia.solid(Sphere(0.1), mass=1.0)
CONVENTIONS = ("classic", "modified")

lengths = st.floats(-2.0, 2.0)
angles = st.floats(-np.pi, np.pi)
rows = st.builds(
    DHRow, a=lengths, alpha=angles, d=lengths, theta=angles, kind=st.sampled_from(["revolute", "prismatic"])
)


def rot(axis: int, angle: float) -> np.ndarray:
    return Transform(rotation=rotation_about(np.eye(3)[axis], angle)).matrix


def trans(axis: int, distance: float) -> np.ndarray:
    return Transform(translation=distance * np.eye(3)[axis]).matrix


def four_factors(row: DHRow, q: float, convention: str) -> np.ndarray:
    theta, d = row.theta + q * (row.kind == "revolute"), row.d + q * (row.kind == "prismatic")
    if convention == "classic":
        return rot(2, theta) @ trans(2, d) @ trans(0, row.a) @ rot(0, row.alpha)
    return rot(0, row.alpha) @ trans(0, row.a) @ rot(2, theta) @ trans(2, d)


@given(row=rows, q=angles, convention=st.sampled_from(CONVENTIONS))
def test_closed_form_is_the_product_of_the_four_factors(row, q, convention):
    np.testing.assert_allclose(dh_transform(row, q, convention), four_factors(row, q, convention), atol=1e-14)


def test_closed_form_of_the_report():
    """The matrix printed on the right of A_i; its third factor translates along x."""
    th, al, a, d = 0.3, -0.7, 0.4, 0.9
    c, s, ca, sa = np.cos(th), np.sin(th), np.cos(al), np.sin(al)
    expected = [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]]
    np.testing.assert_allclose(dh_transform(DHRow(a=a, alpha=al, d=d, theta=th)), expected, atol=1e-16)


@settings(deadline=None, max_examples=60)
@given(data=st.data(), table=st.lists(rows, min_size=1, max_size=7), convention=st.sampled_from(CONVENTIONS))
def test_body_frames_are_the_products_of_the_a_matrices(data, table, convention):
    q = np.array(data.draw(st.lists(angles, min_size=len(table), max_size=len(table))))
    base = Transform.from_rpy(xyz=(0.3, -1.0, 2.0), rpy=(0.4, -0.2, 1.1))
    model = dh_chain(table, inertias=[BALL] * len(table), convention=convention, base=base)
    poses = forward_kinematics(model, q)
    expected = base.matrix
    for i, row in enumerate(table):
        expected = expected @ four_factors(row, q[i], convention)
        assert model.body_names[i] == f"link{i + 1}"
        np.testing.assert_allclose(poses.rotation[i], expected[:3, :3], atol=1e-13)
        np.testing.assert_allclose(poses.position[i], expected[:3, 3], atol=1e-12)


@given(table=st.lists(rows, min_size=1, max_size=6), q=angles)
def test_the_two_conventions_cut_the_same_product_at_other_places(table, q):
    """Modified rows carry a and α of the row before; the frames then differ by Tx(a) Rx(α)."""
    classic = modified = np.eye(4)
    a, alpha = 0.0, 0.0
    for row in table:
        classic = classic @ dh_transform(row, q, "classic")
        modified = modified @ dh_transform(DHRow(a, alpha, row.d, row.theta, row.kind), q, "modified")
        a, alpha = row.a, row.alpha
        np.testing.assert_allclose(modified @ trans(0, a) @ rot(0, alpha), classic, atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_planar_two_link_arm(convention):
    """M, C v and g of the vertical 2R arm of the textbooks: l_c from the joint, I about the mass centre."""
    m1, m2, l1, l2, lc1, lc2, i1, i2, g = 3.0, 2.0, 0.7, 0.5, 0.3, 0.2, 0.11, 0.05, 9.81
    if convention == "classic":  # frame i at the far end of link i
        table, back = [DHRow(a=l1), DHRow(a=l2)], (l1, l2)
    else:  # frame i at the joint
        table, back = [DHRow(), DHRow(a=l1)], (0.0, 0.0)
    inertias = [
        Inertia(m1, np.array([lc1 - back[0], 0, 0]), np.diag([i1, i1, i1])),
        Inertia(m2, np.array([lc2 - back[1], 0, 0]), np.diag([i2, i2, i2])),
    ]
    model = dh_chain(table, inertias=inertias, convention=convention, gravity=(0.0, -g, 0.0))
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, v = rng.uniform(-3, 3, 2), rng.uniform(-3, 3, 2)
        c2, h = np.cos(q[1]), -m2 * l1 * lc2 * np.sin(q[1])
        m12 = m2 * (lc2**2 + l1 * lc2 * c2) + i2
        M = [
            [m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + i1 + i2, m12],
            [m12, m2 * lc2**2 + i2],
        ]
        C = np.array([[h * v[1], h * (v[0] + v[1])], [-h * v[0], 0.0]])
        end = m2 * lc2 * g * np.cos(q[0] + q[1])
        weight = np.array([(m1 * lc1 + m2 * l1) * g * np.cos(q[0]) + end, end])
        np.testing.assert_allclose(mass_matrix(model, q), M, rtol=1e-13, atol=1e-14)
        np.testing.assert_allclose(gravity_forces(model, q), weight, atol=1e-12)
        np.testing.assert_allclose(bias_forces(model, q, v), C @ v + weight, atol=1e-12)


def test_polar_arm():
    """A hinge about the vertical and a slider across it: M = diag(I + m r², m), bias (2 m r ṙ q̇, −m r q̇²)."""
    m, hub, r0 = 2.0, 0.4, 0.5
    table = [DHRow(alpha=np.pi / 2), DHRow(d=r0, kind="prismatic")]
    inertias = [Inertia(1.0, np.zeros(3), hub * np.eye(3)), Inertia(m)]
    model = dh_chain(table, inertias=inertias)
    q, v = np.array([0.8, 0.3]), np.array([1.5, -0.7])
    r = r0 + q[1]
    np.testing.assert_allclose(mass_matrix(model, q), np.diag([hub + m * r * r, m]), atol=1e-14)
    np.testing.assert_allclose(
        bias_forces(model, q, v), [2 * m * r * v[1] * v[0], -m * r * v[0] ** 2], atol=1e-13
    )


def test_joint_numbers_are_kept():
    numbers = {
        "lower": -1.0,
        "upper": 2.0,
        "effort": 30.0,
        "max_velocity": 4.0,
        "damping": 0.1,
        "friction": 0.2,
    }
    row = DHRow(a=1.0, name="elbow", armature=0.3, **numbers)
    model = dh_chain([row, DHRow(kind="prismatic")], inertias=[BALL, BALL], name="arm")
    assert model.name == "arm"
    assert [j.name for j in model.joints] == ["elbow", "joint2"]
    assert {k: float(getattr(model, k)[0]) for k in numbers} == numbers
    assert model.tree.armature[0] == 0.3


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: dh_chain([], inertias=[]), "at least one row"),
        (lambda: dh_chain([DHRow(a=1.0)]), "inertias of the 1 links"),
        (lambda: dh_chain([DHRow(a=1.0)], inertias=[BALL, BALL]), "1 DH rows but 2 inertias"),
        (lambda: dh_chain([DHRow(a=1.0)], inertias=[BALL], shapes=[]), "1 DH rows but 0 shapes"),
        (lambda: dh_chain([DHRow(a=1.0)], inertias=[Inertia()]), "has no mass"),
        (lambda: dh_chain([DHRow(a=1.0, lower=2.0, upper=1.0)], inertias=[BALL]), "above upper limit"),
        (lambda: dh_chain([DHRow(a=1.0)], inertias=[BALL], convention="craig"), "'classic' or 'modified'"),
        (lambda: dh_transform(DHRow(), 0.0, "craig"), "'classic' or 'modified'"),
        (lambda: dh_transform(DHRow(), np.nan), "q must be a finite number"),
        (lambda: DHRow(a=np.inf), "a must be a finite number"),
        (lambda: DHRow(alpha="x"), "alpha must be a finite number"),
        (lambda: DHRow(kind="helical"), "kind must be"),
        (lambda: dh_chain([DHRow(name="j"), DHRow(name="j")], inertias=[BALL, BALL]), "used twice"),
    ],
)
def test_bad_tables(build, message):
    with pytest.raises(ModelError, match=message):
        build()
