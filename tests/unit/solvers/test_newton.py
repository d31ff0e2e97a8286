"""Newton's method in compiled form: what it starts from is the problem and the guess, nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from taction.contact.blocks import make_blocks
from taction.contact.elements import Contact
from taction.contact.problem import ContactProblem
from taction.solvers.newton import WEIGHT, load, order_newton, solve_components


def chain(contacts):
    """Contacts in a row, each coupled with the next, pressed and pulled aside."""
    rng = np.random.default_rng(contacts)
    n = 3 * contacts
    W = 2.0 * np.eye(n) + 0.3 * (np.eye(n, k=3) + np.eye(n, k=-3))
    return make_blocks(ContactProblem(W, rng.normal(size=n) - 0.5, [Contact(0.4)] * contacts)).rows


@pytest.mark.parametrize("contacts", [4, 20])
def test_nothing_is_read_that_a_solve_before_left(contacts):
    rows, solutions = chain(contacts), []
    for rubbish in (0.0, np.nan, np.inf):
        work, r, history = order_newton(rows), np.zeros(3 * contacts), np.empty(100)
        work.vectors[:] = work.jacobian[:] = work.lu[:] = work.inverse[:] = work.level[:] = rubbish
        load(rows, r, work)
        steps, error = solve_components(1e-12, WEIGHT, 100, work, r, history)
        assert steps > 1 and error <= 1e-12
        solutions.append(r)
    assert (solutions[0] == solutions[1]).all() and (solutions[0] == solutions[2]).all()
