"""A quadruped under predictive control: the plan decides which feet carry, and the robot does it."""

from __future__ import annotations

import numpy as np
import pytest

from scenario_battery import assert_described, assert_sees_certificate, assert_sees_metric
from taction import BadInput
from taction.scenarios import get_scenario
from taction.scenarios.base import Outcome

pytestmark = pytest.mark.long


def run(duration: float, **parameters: object) -> Outcome:
    return get_scenario("quadruped-mpc").run(duration=duration, parameters=parameters)


@pytest.fixture(scope="module")
def steps() -> tuple[Outcome, object]:
    """The first two beats of a trot."""
    return run(1.65, speed=0.2), get_scenario("quadruped-mpc").control


def test_it_stands_then_trots(steps):
    o, _ = steps
    assert_described("quadruped-mpc")
    assert o.violations == [] and o.metrics["falls"] == 0.0 and o.metrics["steps"] == 4.0
    assert o.run.certificate.residual <= 1e-8 and o.run.energy.closure <= 1e-9
    assert o.metrics["infeasible_solves"] == 0.0 and o.metrics["complementarity"] < 1e-8
    assert 0.0 < o.metrics["distance"] < 0.1


def test_plans_and_ground_agree_on_which_feet_carry(steps):
    """In the middle of each beat two diagonal feet are planned to carry, and carry."""
    o, control = steps
    force = o.run.contact_forces()
    for t, pair in ((0.9, {0, 1, 2, 3}), (1.14, {1, 2}), (1.44, {0, 3})):
        k = int(np.searchsorted(control.record.t, t + 1e-9)) - 1
        impulse = control.record.plans[k].motion.contact[0]
        assert set(np.flatnonzero(impulse > 0.05)) == pair
        i = int(np.searchsorted(o.run.t, t))
        carries = {f for f, name in enumerate(control.body.feet) if force[name][i, 2] > 0.0}
        assert carries == pair


def test_the_body_stays_level(steps):
    states = np.array(steps[1].record.states)
    assert np.abs(states[:, 3:6]).max() < 0.02
    assert np.ptp(states[:, 2]) < 0.01


@pytest.mark.parametrize(("metric", "value"), [("complementarity", 1e-3), ("least_force", -1.0)])
def test_the_check_sees_a_wrong_answer(metric, value, steps):
    assert_sees_metric(steps[0], metric, value)


def test_the_check_sees_a_wrong_certificate(steps):
    assert_sees_certificate(steps[0], "residual of the contact laws", residual=1e-3)


def test_the_program_knows_the_robots_inertia():
    """Mass times the squares of distances from the centre of mass, link by link."""
    o = run(0.01)
    robot, model, q = get_scenario("quadruped-mpc").control.robot, o.run.model, o.run.q[0]
    from taction.kinematics.forward import forward_kinematics

    poses = forward_kinematics(model, q)
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for b, name in enumerate(model.body_names):
        own = model.spec.body(name).inertia
        R, place = poses.rotation[b], poses.position[b] + poses.rotation[b] @ own.com
        mass, first = mass + own.mass, first + own.mass * place
        second += R @ own.matrix @ R.T + own.mass * (place @ place * np.eye(3) - np.outer(place, place))
    c = first / mass
    exact = second - mass * (c @ c * np.eye(3) - np.outer(c, c))
    assert robot.mass == pytest.approx(mass)
    assert np.allclose(robot.inertia, exact, rtol=0.0, atol=1e-9 * mass)


def test_other_methods_plan_it():
    pytest.importorskip("casadi")
    o = run(0.04, method="direct")
    assert o.violations == [] and o.metrics["infeasible_solves"] == 0.0


def test_too_many_modes_are_refused():
    with pytest.raises(BadInput, match="modes, more than"):
        run(0.02, method="enumeration")
