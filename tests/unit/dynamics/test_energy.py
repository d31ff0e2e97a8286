"""Energy, momentum, centre of mass: closed forms. Conservation: tests/identity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import assert_close
from taction.dynamics.energy import totals
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia


@pytest.fixture(scope="module")
def free():
    b = ModelBuilder(gravity=(0.0, 0.0, -10.0))
    b.body("a", Inertia(2.0, [0.1, 0.0, 0.0], np.diag([0.1, 0.2, 0.25])))
    b.floating("free", child="a")
    return b.build()


def test_a_free_body(free):
    """c = x + R c₀; l = m (u + ω × c₀); k = I ω; T = ½ m |ċ|² + ½ ω·I ω; V = −m g·c."""
    q, v = np.array([1.0, 2, 3, 1, 0, 0, 0]), np.array([1.0, 0, 0, 0, 0, 2.0])
    sums = totals(free, q, v)
    assert sums.mass == 2.0
    assert_close(sums.com, [1.1, 2, 3], 1e-15)
    assert_close(sums.linear_momentum, [2.0, 0.4, 0.0], 1e-15)
    assert_close(sums.com_velocity, [1.0, 0.2, 0.0], 1e-15)
    assert_close(sums.angular_momentum, [0, 0, 0.5], 1e-14)
    assert_close(sums.kinetic, 0.5 * 2 * (1 + 0.04) + 0.5 * 0.25 * 4, 1e-15)
    assert_close(sums.potential, 60.0, 1e-15)
    assert_close(sums.energy, sums.kinetic + sums.potential, 1e-15)


def test_at_rest_by_default(free):
    sums = totals(free, free.q0)
    assert sums.kinetic == 0.0 and not sums.linear_momentum.any()


def test_rotors_have_energy_but_no_momentum():
    b = ModelBuilder()
    b.body("a", Inertia(1.0, np.zeros(3), np.eye(3)))
    b.revolute("j", parent="world", child="a", armature=3.0)
    sums = totals(b.build(), [0.0], [2.0])
    assert_close(sums.kinetic, 0.5 * (1.0 + 3.0) * 4.0, 1e-15)
    assert_close(sums.angular_momentum, [0, 0, 2.0], 1e-15)
