"""Bounds of contacts: by hand where that can be done, and never below what steps of the system do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planning_cases import STEP, block_problem, bouncer_problem, pushers, pushers_problem
from taction import BadInput
from taction.planning.big_m import compute_bounds, given_bounds, pair_name
from taction.planning.problem import Polytope

NOWHERE = Polytope(np.zeros((0, 6)), np.zeros(0))


def bounds_of(problem, x0=None):
    return compute_bounds(problem.system(0), problem.states, problem.inputs, x0)


def test_of_pushers_by_hand():
    """A pusher goes from 5 to −5 m/s against its input: 10 N s and h · 10 N. Gaps: 0.9 + 2 + 2."""
    bounds = bounds_of(pushers_problem(1))
    assert bounds.contact == pytest.approx([10.0 + 10.0 * STEP] * 2, rel=1e-5)
    assert bounds.slack == pytest.approx([4.9] * 2, rel=1e-5)


def test_of_a_start_that_is_given():
    """From rest at 0 the same pusher goes to −5 m/s; it may not be slower than that."""
    bounds = bounds_of(pushers_problem(1), np.zeros(6))
    assert bounds.contact == pytest.approx([5.0 + 10.0 * STEP] * 2, rel=1e-5)
    assert (bounds.slack < bounds_of(pushers_problem(1)).slack).all()


def test_of_friction_whose_speed_presses_nothing():
    """Variables (press, pull, pull, speed): the last may grow and move nothing, but need not above 3."""
    bounds = bounds_of(block_problem(1))
    press = 3.0 + 3.0 + STEP * (9.81 + 5.0)  # from −3 to 3 m/s, against weight and a force down
    assert bounds.contact == pytest.approx([press, 0.5 * press, 0.5 * press, 3.0], rel=1e-5)
    assert bounds.slack == pytest.approx([1.0 / STEP, 6.0, 6.0, 0.5 * press], rel=1e-5)


def test_of_guards_on_both_sides():
    """Free gaps: 1 ± (1.5 + h 6) + h² 10 at most; those below zero only as far as x⁺ ∈ X lets them."""
    bounds = bounds_of(bouncer_problem(1))
    assert (bounds.gap_high >= 1.0 + 1.5).all() and (bounds.gap_low >= 0.5).all()
    assert bounds.away_low == pytest.approx([6.0] * 2, rel=1e-5)
    assert bounds.away_high == pytest.approx([6.0] * 2, rel=1e-5)


@pytest.mark.parametrize("make", [pushers_problem, block_problem, bouncer_problem])
def test_no_step_inside_the_sets_exceeds_them(make):
    problem, rng, seen = make(1), np.random.default_rng(4), 0
    system, bounds = problem.system(0), bounds_of(problem)
    n, m, _ = system.sizes
    high, low = problem.states.b[:n], -problem.states.b[n:]
    top, bottom = problem.inputs.b[:m], -problem.inputs.b[m:]
    for _ in range(400):
        x, u = rng.uniform(low, high), rng.uniform(bottom, top)
        after, z = system.step(x, u)
        if (problem.states.A @ after > problem.states.b).any():
            continue
        seen += bool((z > 0.0).any())
        slack = system.D @ x + system.E @ u + system.F @ z + system.c
        away = np.zeros(len(z), dtype=bool)
        if system.guard is not None:
            gap = system.guard.G @ x + system.guard.H @ u + system.guard.g
            away = gap[system.guard.contact] > 0.0
            assert (gap <= bounds.gap_high).all() and (-gap <= bounds.gap_low).all()
        assert (z <= bounds.contact).all()
        assert (slack[~away] <= bounds.slack[~away]).all()
        assert (slack[away] <= bounds.away_high[away]).all() and (-slack <= bounds.away_low)[away].all()
    assert seen > 10


def test_without_bounds_of_states_the_contact_is_named():
    problem = pushers_problem(1)
    with pytest.raises(BadInput, match=r"pair 0 \(right\) has no bound: give bounds of states or inputs"):
        compute_bounds(problem.system(0), NOWHERE, problem.inputs)
    for free, name in ((1, "right"), (2, "left")):
        reach = np.array([2.0, 2.0, 2.0, 5.0, 5.0, 5.0])
        reach[free] = np.inf
        with pytest.raises(BadInput, match=rf"the slack of pair {free - 1} \({name}\) has no bound"):
            compute_bounds(problem.system(0), Polytope.box(-reach, reach), problem.inputs)


def test_a_region_without_points_has_nothing_to_bound():
    empty = Polytope(np.array([[1.0] + [0.0] * 5, [-1.0] + [0.0] * 5]), np.array([0.0, -1.0]))
    problem = pushers_problem(1)
    assert (compute_bounds(problem.system(0), empty, problem.inputs).contact <= 1e-5).all()


def test_pairs_are_called_by_their_contacts():
    assert pair_name(pushers(), 1) == "pair 1 (left)"
    assert pair_name(block_problem(1).system(0), 2) == "pair 2"
    assert pair_name(bouncer_problem(1).system(0), 0) == "pair 0 (left)"
    assert pair_name(replace(pushers(), contacts=()), 0) == "pair 0"


def test_one_number_for_all():
    bounds = given_bounds(bouncer_problem(1).system(0), 7.0)
    assert all((part == 7.0).all() and len(part) == 2 for part in vars(bounds).values())
