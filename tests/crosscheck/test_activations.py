"""Activations of actuators, which filter or integrate their controls, against MuJoCo's."""

import dataclasses

import numpy as np
import pytest

import taction as ta
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model

mujoco = pytest.importorskip("mujoco")

SLOW = """
<mujoco><option timestep="0.002"/>
  <worldbody><body><joint name="a" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
    <body pos="0 0 -0.5"><joint name="b" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/></body></body></worldbody>
  <actuator>
    <general joint="a" dyntype="filter" dynprm="0.05" gainprm="3" ctrllimited="true" ctrlrange="-1 0.8"/>
    <intvelocity joint="b" kp="20" kv="0.5" actrange="-0.4 0.4"/>
    <motor joint="b"/>
    <position joint="a" kp="4" timeconst="0.03" forcerange="-1 1"/>
    <general joint="b" dyntype="filterexact" dynprm="0.02" gaintype="fixed" gainprm="1.5" biastype="affine"
      biasprm="0.1 -2 -0.3"/>
  </actuator>
</mujoco>"""


def test_activations_follow_as_in_mujoco():
    """Filters and integrators, their ranges, and forces: activations to rounding, motions to order h."""
    peer = mujoco.MjModel.from_xml_string(SLOW)
    peer.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model = compile_model(parse_mjcf(SLOW))
    data = mujoco.MjData(peer)
    data.act[:] = first = [0.1, -0.2, 0.05, 0.3]
    controls = np.random.default_rng(4).uniform(-1.5, 1.5, size=(40, 1, 5)).repeat(20, axis=1).reshape(-1, 5)
    sim = ta.Simulation(ta.World(model))
    start = dataclasses.replace(sim.state(), act=np.array(first))
    stepper = sim.begin(state=start, controller=ta.Actuators(model, np.zeros(5)))
    for u in controls:
        data.ctrl[:] = u
        mujoco.mj_step(peer, data)
        stepper.step(ctrl=u)
        assert stepper.state().act == pytest.approx(data.act, abs=1e-13)
    assert stepper.q == pytest.approx(data.qpos, abs=5e-3)  # both of order h, at some rad/s
    held = ta.Actuators(model, lambda t: controls[round(t / sim.dt)])
    run = sim.run(len(controls) * sim.dt, state=start, controller=held)
    assert np.array_equal(run.q[-1], stepper.q) and np.array_equal(run.state.act, stepper.state().act)
    half = sim.run(0.5 * len(controls) * sim.dt, state=start, controller=held)
    rest = sim.run(0.5 * len(controls) * sim.dt, state=half.state, controller=held)
    assert np.array_equal(rest.q[-1], run.q[-1]) and np.array_equal(rest.state.act, run.state.act)
    out = sim.rollout([start, half.state], controls, controller=held)
    assert np.array_equal(out.q[0, -1], run.q[-1]) and np.array_equal(out.final[0].act, run.state.act)
    again = type(start).from_bytes(half.state.to_bytes())
    assert np.array_equal(again.act, half.state.act)


def test_another_number_of_activations_is_refused():
    model = compile_model(parse_mjcf(SLOW))
    sim = ta.Simulation(ta.World(model))
    start = dataclasses.replace(sim.state(), act=np.zeros(3))
    with pytest.raises(ta.BadInput, match="4 activations expected, got 3"):
        sim.run(0.01, state=start, controller=ta.Actuators(model, np.zeros(5)))


def test_servos_that_feed_energy_in_are_listed_and_idle():
    text = SLOW.replace('<motor joint="b"/>', '<position joint="b" kp="-3"/>')
    with pytest.warns(ta.UnsupportedFeatureWarning, match="actuator/position"):
        model = compile_model(parse_mjcf(text))
    assert model.spec.actuators[2].kind == "none"
