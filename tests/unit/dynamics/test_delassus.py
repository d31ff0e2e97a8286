"""Contact-space inertia: closed forms, degenerate contacts, input checks. Both methods: tests/identity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close, random_case
from taction._core.errors import BadInput
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian
from taction.math.transform import skew
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia

METHODS = ("jacobian", "unit_forces")
MOMENTS = np.diag([0.1, 0.2, 0.25])


@pytest.fixture(scope="module")
def two_bodies():
    b = ModelBuilder("two", gravity=(0.0, 0.0, -9.81))
    for name, mass in (("a", 2.0), ("b", 3.0)):
        b.body(name, Inertia(mass, np.zeros(3), MOMENTS))
        b.floating(f"free {name}", child=name)
    return b.build()


def free_body(mass, arm):
    """W of a free rigid body at a point: 1/m − r̃ I⁻¹ r̃."""
    return np.eye(3) / mass - skew(arm) @ np.linalg.inv(MOMENTS) @ skew(arm)


@pytest.mark.parametrize("method", METHODS)
def test_free_bodies(two_bodies, method):
    x, axes = np.array([0.3, -0.2, 0.5]), np.eye(3)
    alone = contact_inertia(two_bodies, two_bodies.q0, [ContactPoint("a", x, axes)], method=method)[0]
    assert_close(alone, free_body(2.0, x), 1e-14)
    between = [ContactPoint("a", x, axes, other="b")]
    both = contact_inertia(two_bodies, two_bodies.q0, between, method=method)[0]
    assert_close(both, free_body(2.0, x) + free_body(3.0, x), 1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_gives_at_a_contact_of_a_body_with_itself_or_of_the_world(two_bodies, method):
    x = (0.1, 0.2, 0.3)
    contacts = [ContactPoint("a", x, other="a"), ContactPoint("b", x)]
    W, response = contact_inertia(two_bodies, two_bodies.q0, contacts, method=method)
    assert not W[:3].any() and not W[:, :3].any() and not response[:, :3].any()
    assert W[3:, 3:].any()


@pytest.mark.parametrize("method", METHODS)
def test_no_contacts(two_bodies, method):
    W, response = contact_inertia(two_bodies, two_bodies.q0, [], method=method)
    assert W.shape == (0, 0) and response.shape == (12, 0)
    assert contact_jacobian(two_bodies, two_bodies.q0, []).shape == (0, 12)


@pytest.mark.parametrize("method", METHODS)
def test_symmetric_positive_semidefinite(method):
    case = random_case(21, 7)
    contacts = [ContactPoint(name, case.rng.normal(size=3)) for name in case.model.body_names]
    W = contact_inertia(case.model, case.q, contacts, method=method)[0]
    assert_close(W, W.T, 1e-10)
    assert np.linalg.eigvalsh((W + W.T) / 2)[0] > -1e-10 * np.abs(W).max()


def test_default_frame_has_its_normal_up(two_bodies):
    J = contact_jacobian(two_bodies, two_bodies.q0, [ContactPoint("a", (0, 0, 0))])
    assert J[:, :3].tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        (ContactPoint("ghost", (0, 0, 0)), "two: no body 'ghost'"),
        (ContactPoint("a", (0, 0, 0), other="ghost"), "two: no body 'ghost'"),
        (ContactPoint("a", (0, 0)), "contact point: expected shape"),
        (ContactPoint("a", (0, 0, np.nan)), "contact point: contains NaN"),
        (ContactPoint("a", (0, 0, 0), np.eye(2)), "contact frame: expected shape"),
    ],
)
def test_bad_contacts(two_bodies, contact, message):
    with pytest.raises(BadInput, match=message):
        contact_inertia(two_bodies, two_bodies.q0, [contact])


def test_unknown_method(two_bodies):
    with pytest.raises(BadInput, match="method 'magic': choose 'jacobian' or 'unit_forces'"):
        contact_inertia(two_bodies, two_bodies.q0, [], method="magic")
