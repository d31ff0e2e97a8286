"""Small MJCF files that MuJoCo takes: they load here, with the same numbers, and say what they lack."""

import warnings

import numpy as np
import pytest

import taction as ta
from taction.dynamics.crba import mass_matrix

mujoco = pytest.importorskip("mujoco")

POINTS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\n"
BODY = '<body name="b"><joint name="j" {}/><geom size="0.1" mass="1"/></body>'


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a log file in the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def both(text, expected=()):
    """The model in MuJoCo and here; expected: what is listed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = ta.load_mjcf(text)
    assert [entry.what for entry in ours.unread] == list(expected)
    return mujoco.MjModel.from_xml_string(text), ours


@pytest.mark.parametrize("kind", ["legacy", "convex", "shell"])
def test_a_mesh_of_points_is_their_hull(away, kind):
    (away / "x.obj").write_text(POINTS)
    text = f"""<mujoco><asset><mesh name="m" file="{away}/x.obj" inertia="{kind}"/></asset>
      <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    theirs, ours = both(text)
    assert ours.total_mass == pytest.approx(theirs.body_mass[1], rel=1e-6)
    (visual,) = ours.spec.bodies[0].visuals
    assert len(visual.geometry.faces) > 3
    for few in ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "# nothing\n"):
        (away / "x.obj").write_text(few)
        with pytest.raises(ta.ModelError, match=r"x\.obj: needs at least four vertices, or triangles"):
            ta.load_mjcf(text)


FRUSTUM = """v -1 -1 0\nv 1 -1 0.2\nv 1 1 0\nv -1 1 0.3\nv -2 -1 1\nv 1 -2 1.1\nv 1 1 1.4\nv -1 1 1\n"""
WARPED = "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"


@pytest.mark.parametrize("kind", ["legacy", "exact", "shell"])
def test_faces_of_four_corners_need_not_be_plane(away, kind):
    """The diagonal is the shorter one, so mass and inertia are MuJoCo's; of more corners, that is listed."""
    text = f"""<mujoco><asset><mesh name="m" file="{away}/x.obj" inertia="{kind}"/></asset>
      <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    (away / "x.obj").write_text(FRUSTUM + WARPED)
    theirs, ours = both(text)
    inertia = ours.spec.bodies[0].inertia
    assert inertia.mass == pytest.approx(theirs.body_mass[1], rel=1e-6)
    np.testing.assert_allclose(inertia.com, theirs.body_ipos[1], atol=1e-6)
    (away / "x.obj").write_text(FRUSTUM + "v 0 -1.5 0.5\n" + WARPED.replace("f 1 2 6 5", "f 1 2 6 9 5"))
    both(text, ["mesh of polygons"])


@pytest.mark.parametrize("options", ['limited="true"', 'limited="true" range="0 0"', 'range="0 45"'])
def test_limits_of_ball_joints_are_listed(options):
    body = BODY.format(f'type="ball" {options}')
    both(f"<mujoco><worldbody>{body}</worldbody></mujoco>", ["joint range of a ball joint"])


@pytest.mark.parametrize("attribute", ["damping", "frictionloss"])
def test_what_would_drive_instead_of_taking_energy_is_listed(attribute):
    body = BODY.format(f'{attribute}="-0.1"')
    _, ours = both(f"<mujoco><worldbody>{body}</worldbody></mujoco>", [f"negative {attribute}"])
    assert ours.spec.joints[0].damping == ours.spec.joints[0].friction == 0.0


@pytest.mark.parametrize("span", ["-inf inf", "-1 inf", "-inf 2", "-1 2"])
def test_ranges_may_have_no_end(span):
    body = BODY.format(f'type="slide" range="{span}"')
    motor = f'<motor joint="j" ctrlrange="{span}"/>'
    theirs, ours = both(f"<mujoco><worldbody>{body}</worldbody><actuator>{motor}</actuator></mujoco>")
    np.testing.assert_array_equal((ours.lower[0], ours.upper[0]), theirs.jnt_range[0])
    np.testing.assert_array_equal(ours.spec.actuators[0].control_range, theirs.actuator_ctrlrange[0])


@pytest.mark.parametrize("switch", ["true", "false", "auto"])
def test_an_inherited_range_is_switched_like_another(switch):
    body = BODY.format('type="slide" range="-1 3"')
    servo = f'<position joint="j" kp="3" inheritrange="0.5" ctrllimited="{switch}"/>'
    theirs, ours = both(f"<mujoco><worldbody>{body}</worldbody><actuator>{servo}</actuator></mujoco>")
    expected = theirs.actuator_ctrlrange[0] if theirs.actuator_ctrllimited[0] else (-np.inf, np.inf)
    np.testing.assert_allclose(ours.spec.actuators[0].control_range, expected)


def test_names_that_are_made_up_give_way():
    text = f"""<mujoco><worldbody>{BODY.format("")}</worldbody>
      <tendon><fixed><joint joint="j" coef="1"/></fixed>
      <fixed name="tendon0"><joint joint="j" coef="1"/></fixed></tendon>
      <actuator><motor joint="j"/><motor name="actuator0" joint="j"/></actuator>
      <sensor><clock/><clock name="sensor0"/></sensor>
      <keyframe><key qpos="1"/><key name="key0" qpos="2"/></keyframe></mujoco>"""
    theirs, ours = both(text)
    spec = ours.spec
    assert (len(spec.tendons), len(spec.keyframes)) == (theirs.ntendon, theirs.nkey) == (2, 2)
    assert [tendon.name for tendon in spec.tendons] == ["tendon0_", "tendon0"]
    assert list(spec.keyframes) == ["key0_", "key0"] and spec.keyframes["key0"].q == [2.0]
    assert [sensor.name for sensor in spec.sensors] == ["sensor0_", "sensor0"]


ACTUATED = """<mujoco><option gravity="0 0 0"/><worldbody><site name="w" pos="2 0 0"/>
  <body><joint name="j" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/><site name="s"/></body>
  <body pos="0 1 0"><joint name="ball" type="ball"/><geom size="0.1" mass="1" pos="0.3 0 0"/></body>
  </worldbody><tendon><fixed name="t" damping="0.3"><joint joint="j" coef="2"/></fixed>
  <spatial name="p"><site site="w"/><site site="s"/></spatial></tendon><actuator>{}</actuator></mujoco>"""


@pytest.mark.parametrize(
    "acting",
    [
        '<motor tendon="t" gear="3" damping="0.1"/>',
        '<motor tendon="p" gear="-3" damping="0.1"/>',
        '<motor joint="ball" gear="2 3 4" damping="0.1" armature="0.2"/>',
    ],
)
def test_damping_of_actuators(acting):
    """The change of velocity over a short step, as in MuJoCo."""
    h = 1e-6
    text = ACTUATED.format(acting).replace("<option ", f'<option timestep="{h}" ')
    theirs, ours = both(text)
    data, v = mujoco.MjData(theirs), np.array([0.5, 1.0, 2.0, 3.0])
    data.qvel[:] = v
    mujoco.mj_step(theirs, data)
    run = ta.Simulation(ta.World(ours)).run(h, v=v)
    # to the first order in h, and to the rounding of v / h
    np.testing.assert_allclose((run.v[-1] - v) / h, (data.qvel - v) / h, rtol=1e-4, atol=1e-8)
    M = np.zeros((4, 4))
    mujoco.mj_fullM(theirs, data, M)
    np.testing.assert_allclose(mass_matrix(ours, data.qpos.copy()), M, atol=1e-12)


def test_inertia_of_actuators_along_tendons_is_listed():
    _, ours = both(
        ACTUATED.format('<motor tendon="t" gear="3" armature="0.1"/>'), ["actuator armature along a tendon"]
    )
    assert ours.spec.tendons[0].armature == pytest.approx(0.9)
    with pytest.raises(ta.ModelError, match="need an actuator on a joint or tendon, not on a site"):
        ta.load_mjcf(ACTUATED.format('<motor site="s" damping="0.1"/>'))


@pytest.mark.parametrize("flag, sleeps", [("enable", True), ("disable", False)])
def test_bodies_that_start_asleep_are_listed(flag, sleeps):
    """MuJoCo lets such a body hang in the air until something touches it, if sleeping is switched on."""
    text = f"""<mujoco><option><flag sleep="{flag}"/></option><worldbody>
      <body sleep="init"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unread = ta.load_mjcf(text).unread
    assert ("body sleep" in [entry.what for entry in unread]) == sleeps
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    mujoco.mj_step(theirs, data, nstep=50)
    assert (data.qpos[2] == 0.0) == sleeps


CLOTH = """<mujoco><worldbody>{0}<flexcomp name="flag" type="grid" count="3 3 1" spacing="0.1 0.1 0.1"
  dim="2" mass="1"><pin id="0"/></flexcomp></worldbody>{1}</mujoco>"""


def test_parts_of_what_is_not_read():
    """An equality with a body of a flexcomp is listed with it; other things say where their part is."""
    body, equality = (
        BODY.format(""),
        '<equality><connect body1="b" body2="flag_1" anchor="0 0 0"/></equality>',
    )
    text = CLOTH.format(body, equality + '<contact><exclude body1="b" body2="flag_1"/></contact>')
    _, ours = both(text, ["worldbody/flexcomp", "equality/connect with 'flag_1', which is not read"])
    assert ours.spec.loops == [] and ours.spec.exclude == []
    tendon = '<actuator><motor joint="flag_1"/></actuator>'
    with pytest.raises(
        ta.ModelError, match="'flag_1' does not exist here: flexcomp 'flag' in line 1 is not read"
    ):
        ta.load_mjcf(CLOTH.format(body, tendon))


@pytest.mark.parametrize(
    "text, said",
    [
        ('<equality><connect body1="bb" anchor="0 0 0"/></equality>', "body 'bb' does not exist; there are"),
        ('<actuator><motor joint="jj"/></actuator>', "joint 'jj' does not exist; there are j"),
        ('<sensor><jointpos joint="J"/></sensor>', "joint 'J' does not exist; "),
        (
            '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 1 9"/></asset>'
            '<worldbody><geom type="mesh" mesh="m"/></worldbody>',
            r"mesh 'm': face 0 uses vertex 9, but vertices are numbered 0 to 3",
        ),
        (
            '<worldbody><geom type="ellipsoid" size="1"/></worldbody>',
            "an ellipsoid needs 3 positive numbers",
        ),
        (
            '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed>\n<fixed name="t"/></tendon>',
            "the name 't' is used twice, first in line 1",
        ),
    ],
)
def test_messages_lead_on(text, said):
    with pytest.raises(ta.ModelError, match=said):
        ta.load_mjcf(f"<mujoco><worldbody>{BODY.format('')}</worldbody>{text}</mujoco>")
