"""MJCF: groups of actuators that are switched off, numbers that overflow, words that are not known."""

from __future__ import annotations

import warnings

import pytest

import taction as ta
from mjcf_text import scene, unsupported
from taction._core.errors import ModelError
from taction.io.mjcf import parse_mjcf

BALL = '<body {}><freejoint/><geom size="0.1"/></body>'
SLIDE = '<body><joint name="j" type="slide"/><geom size="0.1"/></body>'
MOTORS = '<actuator><motor joint="j" group="{}"/><motor joint="j" group="2"/></actuator>'


@pytest.mark.parametrize(
    ("option", "group", "force"),
    [
        ("", 1, 2.0),
        ('<option actuatorgroupdisable="1"/>', 1, 1.0),
        ('<option actuatorgroupdisable="0 1 5"/>', 1, 1.0),
        ('<option actuatorgroupdisable="3"/>', 1, 2.0),
        ('<option actuatorgroupdisable="0"/><option actuatorgroupdisable="2"/>', 0, 0.0),
        ('<option actuatorgroupdisable="1"/><default><motor group="1"/></default>', "", 1.0),
    ],
)
def test_actuators_of_a_disabled_group_make_no_force(option, group, force):
    after = MOTORS.format(group).replace('group=""', "")
    weightless = '<option><flag gravity="disable"/></option>'
    model = ta.load_mjcf(f"<mujoco>{weightless}{option}<worldbody>{SLIDE}</worldbody>{after}</mujoco>")
    mass, dt = model.total_mass, 1e-3
    run = ta.Simulation(ta.World(model), dt=dt).run(dt, controller=ta.Actuators(model, [1.0, 1.0]))
    assert run.v[-1, 0] == pytest.approx(force * dt / mass, rel=1e-12)


def test_groups_are_whole_numbers():
    text = '<mujoco><option actuatorgroupdisable="0.5"/><worldbody>{}</worldbody>{}</mujoco>'
    with pytest.raises(ModelError, match="not an integer"):
        parse_mjcf(text.format(SLIDE, MOTORS.format(1)))


@pytest.mark.parametrize(
    ("joint", "motor", "reason"),
    [
        ('type="ball"', 'gear="0 -1e308 1"', r"gear=-1e\+308 is too large"),
        ('type="hinge" springdamper="1e-200 1e-200"', "", "endless spring or damper"),
        ('type="hinge" springdamper="1e-320 1"', "", "endless spring or damper"),
    ],
)
def test_numbers_that_overflow_are_refused_where_they_stand(joint, motor, reason):
    body = f'<body><joint name="j" {joint}/><geom size="0.1"/></body>'
    with pytest.raises(ModelError, match=f"<text>:1: .*{reason}"):
        scene(body, after=f'<actuator><motor joint="j" {motor}/></actuator>')


def test_a_class_in_a_default_is_listed():
    """MuJoCo refuses it; here it must not lend values to what inherits."""
    classes = '<default><geom class="a"/><default class="a"><geom size="2"/></default></default>'
    _, message = unsupported(f'<mujoco>{classes}<worldbody><geom size="1"/></worldbody></mujoco>')
    assert "default/geom class" in message


def test_a_misspelt_attribute_of_a_sensor_is_listed():
    sensors = '<sensor><jointpos joint="j" cutof="1"/><jointvel joint="j" user="1" nsample="2"/></sensor>'
    _, message = unsupported(f"<mujoco><worldbody>{SLIDE}</worldbody>{sensors}</mujoco>")
    assert "sensor cutof" in message and "user" not in message


def test_flags_of_solvers_are_no_loss():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert scene(BALL.format(""), '<option><flag sleep="enable" island="disable"/></option>').unread == ()


@pytest.mark.parametrize("numbers", ['ref="1e308" stiffness="4"', 'springref="1e308" stiffness="1e10"'])
def test_springs_that_overflow_end_a_run_clearly(numbers):
    """Stiffness times position: a warning of another library came out."""
    body = f'<body><joint type="slide" {numbers}/><geom size="0.1"/></body>'
    model = ta.load_mjcf(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(ta.IntegrationError, match="not finite"):
        ta.Simulation(ta.World(model)).run(0.01)
