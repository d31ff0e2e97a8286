"""What a step asks of a solver outside of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from taction.solvers.auto import Auto
from taction.solvers.newton import Newton
from taction.steppers.outside_solve import FASTEST, FEW, _asked


@pytest.mark.parametrize("speed", [1e3 * FASTEST, 1e200, np.inf, np.nan])
def test_a_motion_that_has_run_away_gets_few_iterations(speed):
    """The last resorts of `auto` took a minute for one step at 1e22 m/s."""
    rows = SimpleNamespace(b=np.full(3, speed))
    with np.errstate(over="ignore"):
        assert _asked(Auto(tol=1e-9), rows, rows) == Auto(tol=1e-9, max_iterations=FEW)
        assert _asked(Newton(max_iterations=3), rows, rows).max_iterations == 3


@pytest.mark.parametrize("speed", [0.0, 1.0, 1e-3 * FASTEST])
def test_any_other_motion_gets_what_the_solver_takes(speed):
    rows = SimpleNamespace(b=np.full(3, speed))
    assert _asked(Auto(tol=1e-9), rows, rows) == Auto(tol=1e-9)
