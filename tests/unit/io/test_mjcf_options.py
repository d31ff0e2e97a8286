"""Options of MJCF: groups of actuators that are off, sleep, and options of attached models."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import taction as ta
from mjcf_text import scene, unsupported
from taction._core.errors import ModelError
from taction.io.mjcf import parse_mjcf, read_mjcf

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
    ("option", "policy", "is_listed"),
    [
        ('<option><flag sleep="enable"/></option>', "init", True),
        ('<option><flag sleep="enable"/></option>', "allowed", False),
        ('<option><flag sleep="enable"/><flag sleep="disable"/></option>', "init", False),
        ("", "init", False),
    ],
)
def test_a_body_that_is_asleep_at_the_start_is_listed(option, policy, is_listed):
    text = f"<mujoco>{option}<worldbody>{BALL}</worldbody></mujoco>".format(f'sleep="{policy}"')
    if is_listed:
        _, message = unsupported(text)
        assert "body sleep (model.xml:1): it moves from the beginning" in message
    else:
        assert parse_mjcf(text).unread == ()


@pytest.mark.parametrize(
    ("joint", "motor", "reason"),
    [
        ('type="ball"', 'gear="0 -1e308 1"', "gear='0 -1e308 1' is too large"),
        ('type="hinge" springdamper="1e-200 1e-200"', "", "asks for an endless spring or damper"),
        ('type="hinge" springdamper="1e-320 1"', "", "asks for an endless spring or damper"),
    ],
)
def test_numbers_that_overflow_are_refused_where_they_stand(joint, motor, reason):
    body = f'<body><joint name="j" {joint}/><geom size="0.1"/></body>'
    with pytest.raises(ModelError, match=f"<text>:1: .*{reason}"):
        scene(body, after=f'<actuator><motor joint="j" {motor}/></actuator>')


# ----- Options of attached models ---------------------------------------------------------------------------

CHILD = '<mujoco model="c">{}<worldbody>' + BALL.format('name="x"') + "</worldbody></mujoco>"
MAIN = (
    '<mujoco><compiler conflict="{}"/>{}<asset><model name="c" file="c.xml"/></asset>'
    '<worldbody><attach model="c" body="x" prefix="p"/></worldbody></mujoco>'
)


def attached(folder, policy, own, child):
    (folder / "c.xml").write_text(CHILD.format(child))
    (folder / "main.xml").write_text(MAIN.format(policy, own))
    return read_mjcf(folder / "main.xml")


@pytest.mark.parametrize(
    ("policy", "own", "child", "timestep", "gravity"),
    [
        ("warning", "", '<option timestep="0.02" gravity="0 0 -1"/>', 0.002, -9.81),
        ("error", "", '<option timestep="0.02" gravity="0 0 -1"/>', 0.002, -9.81),
        ("merge", "", '<option timestep="0.02" gravity="0 0 -1"/>', 0.02, -1.0),
        ("merge", '<option timestep="0.01"/>', '<option timestep="0.02" gravity="0 0 -1"/>', 0.01, -1.0),
        ("merge", '<option timestep="0.01"/>', '<option timestep="0.001"/>', 0.001, -9.81),
        ("merge", '<option gravity="0 0 -1"/>', '<option gravity="0 0 -1.0"/>', 0.002, -1.0),
        ("merge", '<option gravity="0 0 -1"/>', '<option><flag gravity="disable"/></option>', 0.002, 0.0),
        ("warning", "", '<option><flag gravity="disable"/></option>', 0.002, -9.81),
    ],
)
def test_which_options_of_an_attached_model_hold(tmp_path, policy, own, child, timestep, gravity):
    spec = attached(tmp_path, policy, own, child)
    assert spec.timestep == timestep and spec.gravity == (0.0, 0.0, gravity)


@pytest.mark.parametrize(
    ("policy", "own", "child"),
    [
        ("merge", '<option gravity="0 0 -1"/>', '<option gravity="0 0 -2"/>'),
        ("error", '<option gravity="0 0 -1"/>', '<option gravity="0 0 -2"/>'),
        ("error", '<option timestep="0.1"/>', '<option timestep="0.2"/>'),
        (
            "error",
            '<option><flag contact="enable"/></option>',
            '<option><flag contact="disable"/></option>',
        ),
    ],
)
def test_options_that_contradict_each_other_are_refused(tmp_path, policy, own, child):
    with pytest.raises(
        ModelError, match=f"c.xml:1: .* conflict='{policy}'> refuses it; write conflict='warning'"
    ):
        attached(tmp_path, policy, own, child)


@pytest.mark.parametrize("policy", ["warning", "merge", "error"])
def test_mujoco_says_the_same(tmp_path, policy):
    mujoco = pytest.importorskip("mujoco")
    for own in ("", '<option timestep="0.01"/>', '<option gravity="0 0 -5"/>'):
        for child in (
            "",
            '<option timestep="0.003"/>',
            '<option gravity="0 0 -1"><flag contact="disable"/></option>',
        ):
            try:
                spec = attached(tmp_path, policy, own, child)
            except ModelError:
                spec = None
            try:
                model = mujoco.MjModel.from_xml_path(str(tmp_path / "main.xml"))
            except ValueError:
                assert spec is None, (own, child)
                continue
            assert spec is not None, (own, child)
            assert spec.timestep == model.opt.timestep
            np.testing.assert_array_equal(spec.gravity, model.opt.gravity)
            is_off = bool(model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT)
            assert spec.bodies[0].shapes[0].collides != is_off


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
