"""The hopper: hops that are counted twice, its path against its own derivatives, what its check sees."""

from __future__ import annotations

import numpy as np
import pytest

from scenario_battery import assert_described, assert_sees_certificate, assert_sees_metric
from taction import BadInput
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome
from taction.scenarios.hopper import GRAVITY, LENGTH, RADIUS, leaning_path, lift, path

SETTINGS = get_scenario("hopper").settings({"speed": 0.4})


def run(duration: float, **parameters: object) -> Outcome:
    return get_scenario("hopper").run(duration=duration, parameters=parameters)


@pytest.fixture(scope="module")
def ahead() -> Outcome:
    return run(1.0, speed=0.5)


def foot_height(o: Outcome) -> np.ndarray:
    q = o.run.q
    return q[:, 1] - (LENGTH - RADIUS + q[:, 4]) * np.cos(q[:, 2] + q[:, 3]) - RADIUS


@pytest.mark.long
def test_it_hops_ahead_once_a_period(ahead):
    assert_described("hopper")
    m = ahead.metrics
    assert ahead.violations == [] and not m["fell"] and not m["blew_up"]
    assert ahead.run.certificate.residual <= 1e-8 and ahead.run.energy.closure <= 1e-9
    assert m["hops"] == 2.0 and m["short_flights"] <= 2.0 and m["infeasible_solves"] == 0.0
    up = foot_height(ahead) > 0.02  # by the place of the foot, not by its forces
    assert (up[1:] & ~up[:-1]).sum() == 2
    assert 0.09 < m["peak_height"] < 0.13 and np.abs(ahead.run.q[:, 2]).max() < 0.05
    assert ahead.run.q[-1, 0] > 0.03


@pytest.mark.long
def test_the_foot_lands_softly(ahead):
    """The impulse of a landing is little against that of the stance."""
    force = ahead.run.contact_forces()["foot"][:, 2]
    lands = np.flatnonzero((force[1:] > 0.0) & (force[:-1] == 0.0)) + 1
    stance = 0.5 * ahead.run.model.total_mass * GRAVITY  # N s in a period
    assert len(lands) >= 2 and (force[lands] * ahead.run.dt < 0.1 * stance).all()


@pytest.mark.long
def test_flights_are_parabolas(ahead):
    """Between two stances the centre of mass has nothing but its weight."""
    from taction.dynamics.energy import totals

    t, q, v = ahead.run.t, ahead.run.q, ahead.run.v
    k, last = np.searchsorted(t, [0.2, 0.35])
    before, after = (totals(ahead.run.model, q[i], v[i]).com_velocity for i in (k, last))
    assert after[2] - before[2] == pytest.approx(-GRAVITY * (t[last] - t[k]), abs=1e-4)
    assert after[0] - before[0] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(
    ("metric", "value"), [("hops", 0.0), ("fell", True), ("impulse_error", 1e-3), ("complementarity", 1e-3)]
)
def test_the_check_sees_a_wrong_answer(metric, value, ahead):
    assert_sees_metric(ahead, metric, value)


@pytest.mark.long
def test_the_check_sees_a_wrong_certificate(ahead):
    assert_sees_certificate(ahead, "residual of the contact laws", residual=1e-3)


@pytest.mark.long
def test_in_place_it_stays_in_place_and_level():
    o = run(0.45)
    assert o.violations == [] and o.metrics["hops"] == 1.0
    assert np.abs(o.run.q[:, [0, 2, 3]]).max() < 1e-6


@pytest.mark.long
def test_a_push_moves_the_body_by_its_impulse():
    pushed, free = (run(0.26, push=p, push_time=0.14) for p in (2.0, 0.0))  # in the air
    way = pushed.run.v[-1] - free.run.v[-1]
    assert pushed.violations == [] and pushed.metrics["may_fall"]
    assert way[0] == pytest.approx(2.0 / pushed.run.model.total_mass, rel=0.2)


@pytest.mark.long
@pytest.mark.parametrize("method", ["direct", "miqp"])
def test_other_methods_plan_it(method):
    """Branch and bound would take minutes; the plan by consensus that it begins with obeys everything."""
    pytest.importorskip({"direct": "casadi", "miqp": "daqp"}[method])
    o = run(0.04, method=method, **({"time_limit": 1e-3} if method == "miqp" else {}))
    assert o.violations == [] and o.metrics["infeasible_solves"] == 0.0
    planned = np.array(get_scenario("hopper").control.record.inputs)[:, 1]
    assert (planned > 100.0).all()  # the leg carries more than twice the weight


def test_too_many_modes_are_refused():
    with pytest.raises(BadInput, match="modes, more than"):
        run(0.02, method="enumeration")


def test_the_path_is_what_its_rates_say():
    t = np.linspace(0.013, 2.2, 997)
    v, d = path(t, SETTINGS)[1], 1e-6
    slope = (path(t + d, SETTINGS)[0] - path(t - d, SETTINGS)[0]) / (2.0 * d)
    assert np.allclose(slope, v, rtol=0.0, atol=1e-4)
    bend = (path(t + d, SETTINGS)[1] - path(t - d, SETTINGS)[1])[:, 1] / (2.0 * d)
    assert np.allclose(bend + GRAVITY, lift(t, SETTINGS), rtol=0.0, atol=1e-3)


def test_a_leg_stands_where_it_is_and_swings_ahead_of_an_error():
    q, v = path(0.0, SETTINGS)
    q[3], v[0] = 0.1, 0.5
    t = 0.01 * np.arange(30)
    place, _ = leaning_path(t, q, v, SETTINGS)
    foot = place[:, 0] - LENGTH * np.sin(place[:, 3])
    assert place[0, 3] == pytest.approx(np.arcsin((LENGTH + q[4]) * np.sin(0.1) / LENGTH))
    stands = t < 0.09
    assert np.allclose(foot[stands] - foot[0], (place[:, 0] - v[0] * t)[stands] - place[0, 0], atol=1e-9)
    v[0] = 0.9
    faster, _ = leaning_path(t + 0.3, q, v, SETTINGS)
    v[0] = 0.5
    slower, _ = leaning_path(t + 0.3, q, v, SETTINGS)
    assert faster[9, 3] < slower[9, 3] < 0.0  # just before it lands
