"""Equations eliminated from a problem: the same solution, and what cannot be eliminated."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import taction as ta
from taction.contact.condense import condense


def problem(seed=0, sparse=False, compliance=False):
    """Two contacts and two joints, of three and two rows, on a random inertia."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(11, 14))
    W = J @ J.T
    elements = [ta.Contact(0.5), ta.Bilateral(3), ta.Contact(0.8), ta.Bilateral(2)]
    R = rng.uniform(0.1, 0.3, 11) if compliance else None
    return ta.ContactProblem(csr_array(W) if sparse else W, rng.normal(size=11), elements, compliance=R)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("compliance", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_rest_has_the_solution_of_the_whole(sparse, compliance, seed):
    whole = problem(seed, sparse, compliance)
    rest = condense(whole)
    assert rest.problem.size == 6 and [type(e) for e in rest.problem.elements] == [ta.Contact, ta.Contact]
    r = ta.solve(rest.problem, tol=1e-12).impulse
    assert ta.certify(whole, rest.restore(r)).residual <= 1e-10
    # velocities of the rows that are left are the same
    np.testing.assert_allclose(
        rest.problem.law_velocity(r), whole.law_velocity(rest.restore(r))[rest.kept], atol=1e-10
    )


def test_some_equations_may_stay():
    rest = condense(problem(), [1 + 2, 4, 5])
    assert [type(e) for e in rest.problem.elements] == [ta.Contact, ta.Contact, ta.Bilateral]


@pytest.mark.parametrize(
    ("rows", "message"), [([0], "row 0 is no equation"), ([3, 4], "from row 3 on belong together")]
)
def test_bad_rows_are_refused(rows, message):
    with pytest.raises(ta.BadInput, match=message):
        condense(problem(), rows)


def test_equations_that_repeat_are_refused():
    W = np.ones((2, 2))
    with pytest.raises(ta.BadInput, match="repeat each other"):
        condense(ta.ContactProblem(W, np.zeros(2), [ta.Bilateral(2)]))


def test_absolute_coordinates_condense_to_reduced_ones():
    """The joints of bodies eliminated: W and b of the same step in joint coordinates."""
    model = ta.robots.snake(links=5)
    world = ta.World(model, ground=ta.Plane(friction=0.4))
    rng = np.random.default_rng(3)
    v = 0.1 * rng.normal(size=model.nv)
    problems = []
    for coordinates in ("reduced", "absolute"):
        sim = ta.Simulation(world, dt=1e-3, stepper="moreau-momentum", coordinates=coordinates)
        problems.append(sim.problem(sim.state(v=v)))
    rest = condense(problems[1]).problem
    assert rest.elements == problems[0].elements
    np.testing.assert_allclose(rest.matrix, problems[0].matrix, atol=1e-10 * abs(rest.matrix).max())
    np.testing.assert_allclose(rest.b, problems[0].b, atol=1e-12)
