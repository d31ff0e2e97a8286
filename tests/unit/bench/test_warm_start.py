"""The quadruped's contact problems, step by step."""

from __future__ import annotations

import numpy as np

from taction.bench.warm_start import TOLERANCE, bench_warm_start, standing_steps
from taction.contact.certificate import certify
from taction.solvers import solve


def test_the_last_step_is_a_good_guess():
    """After the first steps the last impulses leave a residual far below that of zero."""
    for problem, guess in standing_steps(12)[4:]:
        assert certify(problem, guess).residual < 0.2 * certify(problem, np.zeros(12)).residual
        assert solve(problem, guess=guess, tol=TOLERANCE).converged


def test_the_feet_carry_the_weight():
    problem, _ = standing_steps(1)[0]
    impulse = solve(problem, tol=TOLERANCE).impulse.reshape(4, 3)
    assert (impulse[:, 0] > 0.0).all()


def test_what_is_reported():
    row = bench_warm_start(steps=6, rounds=1)
    assert 0.0 < row["median"] <= row["longest"] and row["cold"] > 0.0
    assert row["residual"] <= TOLERANCE and 0 < row["sliding_steps"] <= row["steps"] == 6
