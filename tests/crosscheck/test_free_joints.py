"""Rotor inertia and dry friction of free and ball joints, where defaults of MJCF files put them."""

import numpy as np
import pytest

import taction as ta

mujoco = pytest.importorskip("mujoco")

TEXT = """
<mujoco>
  <option gravity="0.3 0 -9.81" timestep="0.0005" integrator="implicitfast"/>
  <default><joint {numbers}/></default>
  <worldbody>
    <body pos="0 0 1">
      <joint type="free"/>
      <geom type="box" size="0.2 0.1 0.05" mass="2" contype="0" conaffinity="0"/>
      <body pos="0.2 0 0" euler="20 0 10">
        <joint axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.5" contype="0" conaffinity="0"/>
        <body pos="0.3 0 0">
          <joint type="ball"/>
          <geom type="box" size="0.05 0.1 0.02" pos="0.05 0 0" mass="0.4" contype="0" conaffinity="0"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def start(model):
    rng = np.random.default_rng(3)
    q = ta.integrate(model, model.q0, rng.normal(size=model.nv))
    return q, rng.normal(size=model.nv)


def pair(numbers):
    text = TEXT.format(numbers=numbers)
    model = ta.load_mjcf(text, strict=True)
    return model, mujoco.MjModel.from_xml_string(text)


def test_rotors_are_in_the_mass_matrix_and_in_forward_dynamics():
    model, theirs = pair('armature="0.7"')
    (q, v), data = start(model), mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_forward(theirs, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(theirs, data, M)
    assert np.abs(ta.mass_matrix(model, q) - M).max() <= 1e-13
    assert np.abs(ta.aba(model, q, v, np.zeros(model.nv)) - data.qacc).max() <= 1e-11
    points = [ta.ContactPoint(model.body_names[k], (0.1, 0.0, 0.0)) for k in (0, -1)]
    ways = [ta.contact_inertia(model, q, points, method=way)[0] for way in ("jacobian", "unit_forces")]
    assert np.abs(ways[0] - ways[1]).max() <= 1e-12


@pytest.mark.parametrize(
    "numbers", ['armature="0.7"', 'frictionloss="0.3"', 'armature="0.2" frictionloss="1"']
)
def test_motion(numbers):
    """Both are of first order in the step; MuJoCo's friction is soft, and made as hard as it goes."""
    model, theirs = pair(numbers)
    theirs.dof_solref[:], theirs.dof_solimp[:] = (1e-3, 1.0), (0.999, 0.9999, 1e-6, 0.5, 2.0)
    (q, v), data = start(model), mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = q, v
    run = ta.Simulation(ta.World(model)).run(0.3, q=q, v=v)
    mujoco.mj_step(theirs, data, len(run.t) - 1)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.1
    ours, other = ta.forward_kinematics(model, run.q[-1]), ta.forward_kinematics(model, data.qpos)
    assert np.abs(ours.position - other.position).max() <= 2e-3
    assert np.abs(ours.rotation - other.rotation).max() <= 5e-3
