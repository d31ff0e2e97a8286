"""The judge's own geometry: the nearest point by its definition, apart from the solvers' projection."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taction._core.jit import plain
from taction.contact import cone_distance
from taction.contact.cone_distance import outside_cone, outside_interval, section_reach
from taction.contact.friction_cone import project_cone

EPSILON = 2.0**-52
SOLVERS_SIDE = ("taction.contact.friction_cone", "taction.contact.laws", "taction.solvers")
coefficient = st.one_of(st.just(0.0), st.floats(1e-3, 1e2))
number = st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-100 else 0.0)  # its square is no denormal number


def boundary(plus, minus, lateral, count=720):
    """Rays (count, 3) of the rim: by their angle, nothing else."""
    angle = 2.0 * np.pi * np.arange(count) / count
    along = np.where(np.cos(angle) >= 0.0, plus, minus)
    return np.column_stack([np.ones(count), along * np.cos(angle), lateral * np.sin(angle)])


@given(coefficient, coefficient, coefficient, number, number, number)
def test_the_nearest_point_by_its_definition(plus, minus, lateral, n, x1, x2):
    """y = x − e is in K, e is in the polar cone, y ⊥ e: these three, and only these, make y the nearest
    point.

    e is known to some ε ‖x‖; a ray of slope a is off by that times a. 100 ε leaves room for the bracket's
    end.
    """
    x = np.array([n, x1, x2])
    e = np.array(outside_cone(plus, minus, lateral, n, x1, x2))
    y, size, steep = x - e, float(np.linalg.norm(x)), 1.0 + max(plus, minus, lateral)
    slack = 100.0 * EPSILON * size * steep
    a = plus if y[1] >= 0.0 else minus
    assert y[0] >= -slack
    assert abs(y[1]) <= a * y[0] + slack and abs(y[2]) <= lateral * y[0] + slack
    assert math.hypot(lateral * y[1], a * y[2]) <= a * lateral * y[0] + slack * (a + lateral)
    rays = boundary(plus, minus, lateral)
    assert (rays @ e).max() <= slack * steep and abs(float(e @ y)) <= slack * size


@given(coefficient, coefficient, coefficient, number, number, number)
def test_two_ways_to_the_same_point(plus, minus, lateral, n, x1, x2):
    """The rays of this file and the secular equation of the solvers; both to some ε ‖x‖."""
    e = np.array(outside_cone(plus, minus, lateral, n, x1, x2))
    y = np.array(project_cone(plus, minus, lateral, n, x1, x2))
    size = math.sqrt(n * n + x1 * x1 + x2 * x2)
    assert np.abs(np.array([n, x1, x2]) - e - y).max() <= 200.0 * EPSILON * size


@given(coefficient, coefficient, coefficient, number, number)
def test_reach_is_the_largest_product(plus, minus, lateral, w1, w2):
    """σ(w) against all rays of the rim: those at half a degree from the best lose 1 − cos ½° ≤ 4e-5 of it."""
    best = float((boundary(plus, minus, lateral)[:, 1:] @ [w1, w2]).max())
    reach = section_reach(plus, minus, lateral, w1, w2)
    assert best * (1.0 - 4.0 * EPSILON) <= reach <= best + 4e-5 * reach + 1e-300


def test_interval():
    assert outside_interval(-1.0, 2.0, 3.0) == 1.0 and outside_interval(-1.0, 2.0, -3.0) == -2.0
    assert outside_interval(-1.0, math.inf, 1e300) == 0.0 and outside_interval(0.0, 0.0, 5.0) == 5.0


def test_shares_nothing_with_the_solvers():
    """No function of the module that solvers project with is reachable from here."""
    for name, value in vars(cone_distance).items():
        module = getattr(plain(value), "__module__", "")
        assert not str(module).startswith(
            ("taction.contact.friction_cone", "taction.contact.laws", "taction.solvers")
        ), name


@pytest.mark.parametrize("shape", [(0.5, 0.5, 0.5), (0.9, 0.4, 0.2)])
def test_no_scale_is_special(shape):
    """K is a cone: e(s x) = s e(x), to rounding, from 10⁻¹⁵⁰ to 10¹⁵⁰."""
    x = np.array([0.3, 0.7, -0.4])
    one = np.array(outside_cone(*shape, *x))
    for s in (1e-150, 1e-8, 1e8, 1e150):
        assert np.array(outside_cone(*shape, *(s * x))) / s == pytest.approx(one, rel=1e-14)
