"""Every public function of `taction.dynamics`: what it refuses, and the edges it accepts."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import random_case
from taction._core.errors import BadInput
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian
from taction.dynamics.energy import totals
from taction.dynamics.factor import factor_mass_matrix
from taction.dynamics.lagrangian import lagrangian_form
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia

POINT = [ContactPoint("body0", (0.0, 0.0, 0.0))]
# function of (model, q, v, w), and which of them it takes
CALLS = {
    "rnea": (rnea, ("q", "v", "vdot")),
    "aba": (aba, ("q", "v", "tau")),
    "bias": (lambda m, q, v, w: bias_forces(m, q, v), ("q", "v")),
    "gravity": (lambda m, q, v, w: gravity_forces(m, q), ("q",)),
    "mass_matrix": (lambda m, q, v, w: mass_matrix(m, q), ("q",)),
    "factor": (lambda m, q, v, w: factor_mass_matrix(m, q).L, ("q",)),
    "totals": (lambda m, q, v, w: totals(m, q, v).com, ("q", "v")),
    "lagrangian": (lambda m, q, v, w: lagrangian_form(m, q, v).C, ("q", "v")),
    "contact_jacobian": (lambda m, q, v, w: contact_jacobian(m, q, POINT), ("q",)),
    "contact_inertia": (lambda m, q, v, w: contact_inertia(m, q, POINT)[0], ("q",)),
}
BATCHES = ("rnea", "aba", "bias", "gravity", "mass_matrix")  # those that take (n, nq)
PLACES = {"q": 0, "v": 1, "vdot": 2, "tau": 2}
PAIRS = [(name, what) for name, (_, takes) in CALLS.items() for what in takes]


@pytest.fixture(scope="module")
def case():
    return random_case(11, 5)


def arguments(case):
    return [case.q, case.v, np.ones(case.model.nv)]


@pytest.mark.parametrize(("name", "what"), PAIRS)
def test_wrong_length(case, name, what):
    values = arguments(case)
    values[PLACES[what]] = values[PLACES[what]][:-1]
    with pytest.raises(BadInput, match=f"^{what}: expected shape"):
        CALLS[name][0](case.model, *values)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(("name", "what"), PAIRS)
def test_not_finite(case, name, what, bad):
    values = [x.copy() for x in arguments(case)]
    values[PLACES[what]][-1] = bad
    with pytest.raises(BadInput, match=f"^{what}: contains NaN or infinity"):
        CALLS[name][0](case.model, *values)


@pytest.mark.parametrize("name", CALLS)
def test_inputs_are_left_alone(case, name):
    values = arguments(case)
    before = [x.copy() for x in values]
    CALLS[name][0](case.model, *values)
    assert all(np.array_equal(a, b) for a, b in zip(values, before, strict=True))


@pytest.mark.parametrize("name", CALLS)
def test_read_only_and_strided_inputs(case, name):
    """Only the values count: frozen arrays such as model.q0, and every other entry of a longer array."""
    values = arguments(case)
    expected = CALLS[name][0](case.model, *values)
    strided = [np.repeat(x, 2)[::2] for x in values]
    assert np.array_equal(CALLS[name][0](case.model, *strided), expected)
    for x in strided:
        x.flags.writeable = False
    assert np.array_equal(CALLS[name][0](case.model, *strided), expected)


@pytest.mark.parametrize("name", BATCHES)
def test_batches_of_any_length(case, name):
    for n in (0, 1, 3):
        values = [np.tile(x, (n, 1)) for x in arguments(case)]
        assert CALLS[name][0](case.model, *values).shape[0] == n


@pytest.mark.parametrize("name", ["rnea", "aba", "bias"])
def test_one_state_and_many_velocities(case, name):
    """Mixed lengths must be refused (or broadcast), never computed in part."""
    q, v, w = arguments(case)
    with pytest.raises(BadInput):
        CALLS[name][0](case.model, q, np.tile(v, (3, 1)), np.tile(w, (3, 1)))


@pytest.mark.parametrize("name", ["rnea", "aba", "bias"])
def test_many_states_and_one_velocity(case, name):
    q, v, w = arguments(case)
    with pytest.raises(BadInput):
        CALLS[name][0](case.model, np.tile(q, (3, 1)), v, w)


@pytest.mark.parametrize("name", [name for name in CALLS if name not in BATCHES])
def test_batches_are_refused_where_they_mean_nothing(case, name):
    values = [np.tile(x, (2, 1)) for x in arguments(case)]
    with pytest.raises(BadInput):
        CALLS[name][0](case.model, *values)


@pytest.fixture(scope="module")
def static():
    """A world in which nothing moves."""
    b = ModelBuilder("static")
    b.body("body0", Inertia(1.0, np.zeros(3), np.eye(3)))
    b.fixed("weld", parent="world", child="body0")
    return b.build()


WITHOUT_FREEDOM = [
    "rnea",
    "aba",
    "bias",
    "gravity",
    "factor",
    "lagrangian",
    "mass_matrix",
    "contact_jacobian",
    "contact_inertia",
    "totals",
]


@pytest.mark.parametrize("name", WITHOUT_FREEDOM)
def test_a_world_in_which_nothing_moves(static, name):
    nothing = np.zeros(0)
    assert np.isfinite(CALLS[name][0](static, nothing, nothing, nothing)).all()
