"""Factored mass matrix: right-hand sides, singular mechanisms. Against dense solves: tests/identity."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import random_case
from taction._core.errors import BadInput
from taction.dynamics.factor import factor_ltdl, factor_mass_matrix
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia


def test_right_hand_sides():
    model, q, _, _ = random_case(1, 4)
    factor = factor_mass_matrix(model, q)
    assert factor.solve(np.zeros(model.nv)).shape == (model.nv,)
    assert factor.solve(np.zeros((0, model.nv))).shape == (0, model.nv)
    for bad in (np.zeros(model.nv + 1), np.zeros((2, model.nv + 1)), np.full(model.nv, np.nan)):
        with pytest.raises(BadInput, match="right-hand side"):
            factor.solve(bad)


def test_right_hand_side_is_left_alone():
    model, q, _, rng = random_case(2, 4)
    b = rng.normal(size=model.nv)
    before = b.copy()
    factor_mass_matrix(model, q).solve(b)
    assert np.array_equal(b, before)


def test_first_bad_pivot_is_reported():
    parents = np.array([-1, 0, 1])
    assert factor_ltdl(parents, np.arange(3), np.diag([1.0, 1.0, 1.0])) == 0
    assert factor_ltdl(parents, np.arange(3), np.diag([1.0, 0.0, 1.0])) == 2
    assert factor_ltdl(parents, np.arange(3), np.diag([-1.0, 1.0, 1.0])) == 1
    assert factor_ltdl(parents, np.arange(3), np.diag([1.0, 1.0, np.nan])) == 3


def test_a_singular_mechanism():
    """A point mass that slides along the axis it should turn about has no inertia about it."""
    b = ModelBuilder("singular")
    b.body("tube")
    b.body("bead", Inertia(1.0))
    b.revolute("turn", parent="world", child="tube")
    b.prismatic("slide", parent="tube", child="bead")
    b.spec.check_mass = False  # for kinematics
    with pytest.raises(
        ArithmeticError,
        match="singular: mass matrix is singular at degree of freedom 0: joint 'turn' moves body 'tube' and "
        "body 'bead', which have no inertia about the joint's axis",
    ):
        factor_mass_matrix(b.build(), [0.0, 0.0])
