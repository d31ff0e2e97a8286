"""Numbers that carry their derivatives: every rule against differences, and what has no derivative."""

from __future__ import annotations

import numpy as np
import pytest

from taction._core.errors import BadInput
from taction.geometry.surfaces.jet import PAIRS, RULES, as_jet, parameters_as_jets

U = 0.4, 0.7


def check(f, h=1e-3, tolerance=1e-8):
    """Value, gradient and Hessian of f at U against differences of fourth order."""
    jet = as_jet(f(*parameters_as_jets(*U)))
    assert jet.value == pytest.approx(float(f(*U)), rel=1e-15)
    for i, e in enumerate(np.eye(2)):

        def along(s, e=e):
            return as_jet(f(*parameters_as_jets(U[0] + s * h * e[0], U[1] + s * h * e[1])))

        weights = ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0))
        slope = sum(w * along(s).value for s, w in weights) / (12.0 * h)
        bend = sum(w * along(s).first for s, w in weights) / (12.0 * h)
        assert jet.first[i] == pytest.approx(slope, abs=tolerance)
        np.testing.assert_allclose(jet.second[i], bend, atol=tolerance)


@pytest.mark.parametrize("name", RULES)
def test_functions_of_one_number(name):
    function = getattr(np, name)
    check(lambda u, v: function(u * v + 0.1 * u))


@pytest.mark.parametrize("name", PAIRS)
def test_functions_of_two_numbers(name):
    function = getattr(np, name)
    check(lambda u, v: function(u + 0.1 * v, v * v))
    check(lambda u, v: function(u + 0.1, 2.0) + function(1.5, v) + function(v, u))


def test_operators_and_whole_powers():
    check(lambda u, v: 1.0 / (u - 3.0) + 2.0**v - (-u) ** 3 + abs(-v) ** 0.5 + (u - 0.4) ** 2 + u**1 + v**0)
    check(lambda u, v: np.arctan2(v, -u) + np.arctan2(-u, v * 0.1))


def test_arrays_of_jets():
    u, v = parameters_as_jets(*U)
    R = np.array([[0.6, -0.8], [0.8, 0.6]])
    turned = R @ np.array([u, v])
    np.testing.assert_allclose([x.value for x in turned], R @ U)
    np.testing.assert_allclose([x.first for x in turned], R)
    np.testing.assert_allclose([x.first for x in np.array([1.0, 2.0]) * u], [[1.0, 0.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (lambda u, v: np.floor(u), "np.floor of a surface parameter"),
        (lambda u, v: np.sqrt(u - 0.4), "np.sqrt has no derivatives at 0"),
        (lambda u, v: np.log(-v), "np.log has no derivatives at -0.7"),
        (lambda u, v: (u - 0.4) ** 1.5, "the power 1.5 has no derivatives at 0"),
        (lambda u, v: (-u) ** 0.5, "the power 0.5 has no derivatives"),
    ],
)
def test_what_has_no_derivatives_is_named(f, words):
    with pytest.raises(BadInput, match=words):
        f(*parameters_as_jets(*U))
