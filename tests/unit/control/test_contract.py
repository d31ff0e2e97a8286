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
    law, feedback = read_controller(ta.PD(kp=3.0), model)
    assert feedback is None and law.K == [3.0]

    def push(t, q, v):
        return [1.0]

    assert read_controller(push, model) == Control(None, push)
    assert read_controller(None, model) == Control(None, None)


def test_actuators_act_inside_and_outside():
    model = rod(kind="position", kp=5.0)
    servo = ta.Actuators(model, [0.2])
    law, feedback = read_controller(servo, model)
    assert law.K == [5.0] and feedback(0.0, np.zeros(1), np.zeros(1)) == [1.0]


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
