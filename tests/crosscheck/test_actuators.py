"""Every actuator of MJCF puts the forces on the joints that its description here says, and MuJoCo does.

The description is evaluated in this file by its definition, at random states, controls and activations.
"""

import warnings
from itertools import pairwise

import numpy as np
import pytest

import taction as ta
from taction.io.mjcf import parse_mjcf
from taction.kinematics.forward import forward_kinematics
from taction.kinematics.jacobian import jacobian
from taction.model.compile import compile_model
from taction.model.spec import WORLD

mujoco = pytest.importorskip("mujoco")

SCENE = """<mujoco>
  <default>
    <default class="c"><position kp="7" dampratio="0.5" timeconst="0.2"/></default>
    <default class="i"><general inheritrange="0.5"/></default>
  </default>
  <worldbody>
    <site name="w" pos="0.1 0.2 0.3" euler="20 30 40"/>
    <body name="a" pos="1 2 3"><freejoint name="f"/><geom size="0.1"/>
      <site name="sa" pos="0.1 0.2 0.3" euler="10 20 80"/></body>
    <body name="b" pos="0 0.2 0.3"><joint name="j" axis="0 1 0" range="-30 90" ref="20"/>
      <geom size="0.1" pos="0.3 0 0"/>
      <body name="c" pos="0 0.2 0.3"><joint name="k" axis="0 1 1" armature="0.1"/>
        <geom size="0.2" pos="0 0.1 0"/><site name="sc" pos="0.1 0 0.2"/></body></body>
    <body name="d"><joint name="ball" type="ball"/><geom size="0.1" pos="0.3 0 0"/></body>
  </worldbody>
  <tendon>
    <fixed name="t" range="-1 3"><joint joint="j" coef="2"/><joint joint="k" coef="-3"/></fixed>
    <spatial name="p"><site site="w"/><site site="sc"/><site site="sa"/></spatial>
  </tendon>
  <actuator>{}</actuator>
</mujoco>"""

LAWS = (
    '<motor joint="j" gear="3" armature="0.3" damping="2"/>',
    '<motor joint="j" gear="3" ctrlrange="-0.5 0.2" forcerange="-0.1 0.3"/>',
    '<position joint="j" kp="3" dampratio="1"/>',
    '<position joint="k" kp="3" dampratio="0.7" gear="5" forcerange="-1 2"/>',
    '<position tendon="t" kp="3" dampratio="1" gear="-5"/>',
    '<position joint="j" kp="3" inheritrange="0.5"/>',
    '<position tendon="t" inheritrange="1"/>',
    '<position class="c" joint="j"/>',
    '<position class="i" joint="j" kp="2"/>',
    '<position class="c" joint="j" kp="2" kv="3" timeconst="0"/>',
    '<intvelocity joint="j" kp="3" kv="2" actrange="-0.3 0.1"/>',
    '<intvelocity class="i" joint="j" kp="3" dampratio="0.5"/>',
    '<velocity tendon="t" kv="3"/>',
    '<cylinder joint="j" area="3" timeconst="0.2" bias="1 -2 -3"/>',
    '<cylinder joint="j" diameter="3"/>',
    '<general joint="j" dyntype="integrator" gainprm="3" biastype="affine" biasprm="0 -3 -1"/>',
    '<general joint="j" dyntype="filter" dynprm="0.3" gainprm="-3" actlimited="true" actrange="-0.2 0.1"/>',
    '<general joint="j" gainprm="3" biastype="affine" biasprm="1 -3 1"/>',
    '<general joint="j" gainprm="3" biastype="affine" biasprm="1 -2 -1" forcerange="-1 1"/>',
    '<general class="i" joint="j" gainprm="2" biastype="affine" biasprm="0 -2"/>',
    '<general joint="j" gainprm="0" biastype="affine" biasprm="2 0 -2"/>',
    '<motor tendon="p" gear="2"/>',
    '<position tendon="p" kp="2" kv="0.3"/>',
    '<motor site="sa" gear="1 2 3 4 5 6"/>',
    '<general site="sc" gear="1 2 3 4 5 6" gainprm="-2" forcerange="-1 3"/>',
    '<motor site="sc" refsite="w" gear="1 2 3 4 5 6"/>',
    '<motor site="sa" refsite="sc" gear="1 2 3 4 5 6"/>',
    '<motor joint="f" gear="1 2 3 4 5 6"/>',
    '<motor joint="ball" gear="1 2 3"/>',
    '<motor jointinparent="j" gear="2"/>',
)


@pytest.fixture(autouse=True)
def away(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a log file in the current folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def pair():
    """One model with all of them."""
    text = SCENE.format("".join(LAWS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mujoco.MjModel.from_xml_string(text), compile_model(parse_mjcf(text))


def test_forces(pair):
    theirs, ours = pair
    data, rng = mujoco.MjData(theirs), np.random.default_rng(2)
    assert len(ours.spec.actuators) == theirs.nu == len(LAWS)
    for _ in range(3):
        data.qpos[:], data.qvel[:] = rng.uniform(-1, 1, theirs.nq), rng.uniform(-1, 1, theirs.nv)
        mujoco.mj_normalizeQuat(theirs, data.qpos)
        data.ctrl[:], data.act[:] = rng.uniform(-2, 2, theirs.nu), rng.uniform(-0.1, 0.1, theirs.na)
        mujoco.mj_forward(theirs, data)
        acts = iter(data.act)
        for i, actuator in enumerate(ours.spec.actuators):
            u = next(acts) if actuator.activation else np.clip(data.ctrl[i], *actuator.control_range)
            J, length = transmission(ours, actuator, data.qpos)
            force = law(actuator, u, length, J @ data.qvel)
            mujoco.mju_sparse2dense(
                row := np.zeros((1, theirs.nv)), data.actuator_moment, data.moment_rownnz[i : i + 1],
                data.moment_rowadr[i : i + 1], data.moment_colind,
            )  # fmt: skip
            felt = row[0] * data.actuator_force[i]
            np.testing.assert_allclose(J * force, felt, rtol=1e-10, atol=1e-12, err_msg=LAWS[i])


def test_ranges_and_activations(pair):
    theirs, ours = pair
    kinds = {0: "", 1: "integrator", 2: "filter", 3: "filterexact"}
    for i, actuator in enumerate(ours.spec.actuators):
        assert actuator.activation == kinds[theirs.actuator_dyntype[i]]
        if theirs.actuator_ctrllimited[i]:
            assert actuator.control_range == pytest.approx(theirs.actuator_ctrlrange[i], rel=1e-12)
        if theirs.actuator_actlimited[i]:
            assert actuator.activation_range == pytest.approx(theirs.actuator_actrange[i], rel=1e-12)
        if actuator.activation.startswith("filter"):
            assert actuator.time_constant == theirs.actuator_dynprm[i, 0]
        assert np.isfinite(actuator.control_range[1]) == theirs.actuator_ctrllimited[i]
        assert np.isfinite(actuator.activation_range[1]) == theirs.actuator_actlimited[i]


def law(actuator, u, length, rate):
    """The force by the definition of `ActuatorSpec`."""
    force = {
        "motor": u,
        "position": actuator.kp * (u - length) - actuator.kv * rate,
        "velocity": actuator.kv * (u - rate),
        "affine": actuator.gain * u + actuator.bias - actuator.kp * length - actuator.kv * rate,
    }[actuator.kind]
    return np.clip(force, *actuator.force_range)


def transmission(model, actuator, q):
    """How the joints feel a unit force, shape (nv,), and the length."""
    J, length = np.zeros(model.nv), 0.0
    if actuator.site:
        body, R, p = site(model, actuator.site, q)
        J6 = jacobian_of(model, q, body, p)
        if actuator.refsite:
            other, R, p = site(model, actuator.refsite, q)
            J6 = J6 - jacobian_of(model, q, other, p)
        gears = np.array(actuator.gears)
        return (R @ gears[3:]) @ J6[:3] + (R @ gears[:3]) @ J6[3:], 0.0
    if actuator.gears:
        J[model.joint(actuator.joint).v_slice] = actuator.gears
        return J, 0.0
    tendons = {tendon.name: tendon for tendon in model.spec.tendons}
    tendon = tendons.get(actuator.tendon)
    for name, c in (tendon.joints if tendon else {actuator.joint: 1.0}).items():
        J[model.joint(name).iv] += c
        length += c * q[model.joint(name).iq]
    for divisor, names in tendon.path if tendon else ():
        ends = [site(model, name, q) for name in names]
        for (a, _, x), (b, _, y) in pairwise(ends):
            gap = world(model, b, y, q) - world(model, a, x, q)
            size = np.linalg.norm(gap)
            length += size / divisor
            J += gap / size / divisor @ (jacobian_of(model, q, b, y) - jacobian_of(model, q, a, x))[3:]
    return actuator.gear * J, actuator.gear * length


def site(model, name, q):
    """Body, axes in the world, and point on the body of a site."""
    (found,) = [s for s in model.spec.sites if s.name == name]
    R = np.eye(3) if found.body == WORLD else forward_kinematics(model, q).rotation[model.body(found.body)]
    return found.body, R @ found.pose.rotation, found.pose.translation


def world(model, body, p, q):
    if body == WORLD:
        return p
    poses, b = forward_kinematics(model, q), model.body(body)
    return poses.rotation[b] @ p + poses.position[b]


def jacobian_of(model, q, body, p):
    return np.zeros((6, model.nv)) if body == WORLD else jacobian(model, q, body, p)


def test_sensors_of_laws_with_a_gain():
    """Length, rate and force are those before the gain: MuJoCo's, for motors with any gain."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body><joint name="j" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
      <actuator><general name="a" joint="j" gear="2" gainprm="3" forcerange="-2 9"/></actuator>
      <sensor><actuatorpos actuator="a"/><actuatorvel actuator="a"/><actuatorfrc actuator="a"/></sensor>
    </mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), ta.load_mjcf(text, strict=True)
    for control in (0.7, -5.0):
        data = mujoco.MjData(theirs)
        data.qpos[:], data.qvel[:], data.ctrl[:] = 0.3, 0.2, control
        run = ta.Simulation(ours, stepper="stewart-trinkle").run(
            0.01, q=[0.3], v=[0.2], controller=ta.Actuators(ours, [control])
        )
        while data.time < 0.01 - 1e-9:
            mujoco.mj_step(theirs, data)
        mujoco.mj_forward(theirs, data)
        readings = [float(run.sensors[sensor.name][-1, 0]) for sensor in ours.spec.sensors]
        np.testing.assert_allclose(readings, data.sensordata, rtol=1e-9)


def test_a_constant_force_on_a_ball_joint():
    """A law of a bias alone pushes joints of several axes, too."""
    text = """<mujoco><option gravity="0 0 0" timestep="1e-5"/><worldbody>
      <body><joint name="j" type="ball"/><geom size="0.1" mass="1"/></body></worldbody>
      <actuator><general joint="j" gear="1 2 3" gainprm="2" biastype="affine" biasprm="1"/></actuator>
    </mujoco>"""
    theirs, ours = mujoco.MjModel.from_xml_string(text), ta.load_mjcf(text, strict=True)
    data = mujoco.MjData(theirs)
    data.ctrl[:] = 0.5
    mujoco.mj_step(theirs, data)
    run = ta.Simulation(ours).run(1e-5, controller=ta.Actuators(ours, [0.5]))
    np.testing.assert_allclose(run.v[-1], data.qvel, rtol=1e-12)
