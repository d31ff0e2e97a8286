"""What a simulation sees of a controller: its law inside the step, its forces outside, its commands."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.control.contract import Commanded, Control, HasJointLaw, Scheduled, read_controller
from taction.control.tracking import Tracking


def rod(**servo) -> ta.Model:
    b = ta.ModelBuilder("rod")
    b.body("rod", ta.Inertia.solid(ta.Box((0.1, 0.1, 0.5)), mass=1.0))
    b.revolute("hinge", parent="world", child="rod", axis=(0, 1, 0))
    b.actuator("servo", "hinge", **servo)
    return b.build()


def test_a_pd_acts_inside_the_step_and_a_function_outside():
    model = rod()
    control = read_controller(ta.PD(kp=3.0), model)
    assert control.feedback is None and control.servos is None and control.law.K == [3.0]

    def push(t, q, v):
        return [1.0]

    assert read_controller(push, model) == Control(None, push)
    assert read_controller(None, model) == Control(None, None)


def test_actuators_are_a_law_and_a_plan():
    model = rod(kind="position", kp=5.0)
    control = read_controller(ta.Actuators(model, lambda t: [0.2 + t]), model)
    assert control.law.K == [5.0] and control.servos is None and control.feedback is None
    assert control.plan(np.array([0.0, 1.0]), np.zeros(0), 0.1)[0] == pytest.approx(np.array([[1.0], [6.0]]))


def test_a_servo_with_a_range_is_an_element_and_its_input_follows_the_joint_forces():
    model = rod(kind="position", kp=5.0, kv=0.5, gear=2.0, force_range=(-3.0, 4.0))
    control = read_controller(ta.Actuators(model, [0.2]), model)
    assert control.law.K == [0.0]
    servos = control.servos
    assert (servos.gear, servos.stiffness, servos.damping) == ([2.0], [5.0], [0.5])
    assert (servos.low, servos.high) == ([-3.0], [4.0])
    assert control.plan(np.zeros(1), np.zeros(0), 0.1)[0] == pytest.approx(np.array([[0.0, 1.0]]))


def test_a_pd_with_a_limit_is_a_servo():
    model = rod()
    control = read_controller(ta.PD(kp=3.0, kd=0.1, target=[2.0], target_velocity=5.0, limit=1.5), model)
    assert control.law.K == [0.0] and (control.servos.low, control.servos.high) == ([-1.5], [1.5])
    assert control.plan(np.zeros(1), np.zeros(0), 0.1)[0] == pytest.approx(np.array([[0.0, 6.5]]))


@pytest.mark.parametrize(
    ("make", "contracts"),
    [
        (lambda model: ta.PD(kp=1.0), {HasJointLaw, Commanded}),
        (lambda model: ta.Actuators(model, [0.0]), {HasJointLaw, Commanded, Scheduled}),
        (lambda model: Tracking(model, lambda t: ([t], [1.0]), kp=1.0), {HasJointLaw, Commanded, Scheduled}),
        (lambda model: lambda t, q, v: [0.0], set()),
    ],
)
def test_who_keeps_which_contract(make, contracts):
    controller = make(rod())
    assert {c for c in (HasJointLaw, Commanded, Scheduled) if isinstance(controller, c)} == contracts


def test_neither_linear_nor_a_function():
    with pytest.raises(ta.BadInput, match=r"controller must be a PD or a function \(t, q, v\), not str"):
        read_controller("PD", rod())


def test_a_controller_of_another_model():
    with pytest.raises(ta.BadInput, match="belong to rod, not to double_pendulum"):
        read_controller(ta.Actuators(rod(), [0.0]), ta.robots.double_pendulum())
