"""Closed chains in a plane: what joints cannot move along is no equation, but for a file's digits."""

import numpy as np
import pytest

import taction as ta
from taction.contact.joint_rows import VOID
from taction.kinematics.loops import loop_gaps
from taction.steppers.columns import JOINT_GAP, TURNED

PARALLELOGRAM = """
<mujoco>
  <option gravity="0 0 0" timestep="0.002"/>
  <worldbody>
    <body name="base" pos="0.3 -0.2 0.5" euler="{base}">
      <body name="crank">
        <joint name="crank" axis="0 0 1" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0 0.05 0" size="0.005" mass="0.02" contype="0" conaffinity="0"/>
        <body name="coupler" pos="0 0.05 0">
          <joint name="coupler" axis="0 0 1"/>
          <geom type="capsule" fromto="0 0 0 0.03 0 0" size="0.005" mass="0.02" contype="0" conaffinity="0"/>
        </body>
      </body>
      <body name="rocker" pos="0.03 0 0">
        <joint name="rocker" axis="{tilt} 0 1"/>
        <geom type="capsule" fromto="0 0 0 0 0.05 0" size="0.005" mass="0.02" contype="0" conaffinity="0"/>
      </body>
    </body>
  </worldbody>
  <equality><connect body1="rocker" body2="coupler" anchor="0 0.05 0"/></equality>
  <actuator><position joint="crank" kp="100" kv="10"/></actuator>
</mujoco>
"""


@pytest.mark.parametrize("tilt", [0.0, 1e-11, 1e-8, 1e-6])
@pytest.mark.parametrize("base", ["0 0 0", "90 0 0", "33 -71 114"])
def test_a_parallelogram_follows_its_servo(base, tilt):
    """Axes that are parallel but for the last digits do not lock it, nor does rounding of the third row."""
    model = ta.load_mjcf(PARALLELOGRAM.format(base=base, tilt=tilt))
    run = ta.Simulation(ta.World(model)).run(1.0, controller=ta.Actuators(model, [0.4]))
    assert run.certificate.residual <= 1e-8 and run.certificate.unconverged_steps == 0
    assert np.abs(run.q[-1] - [0.4, -0.4, 0.4]).max() <= 1e-3  # e⁻¹⁰ of the way is left, and 2e-6 of its gap
    # The servo starts with a jump, after which bodies fly on for half a step before the loop is seen
    assert run.certificate.joint_gap <= 1e-4 * 0.05 and run.records[100:, JOINT_GAP].max() <= VOID * 0.05


def test_axes_that_are_not_parallel_lock():
    model = ta.load_mjcf(PARALLELOGRAM.format(base="0 0 0", tilt=0.1))
    run = ta.Simulation(ta.World(model)).run(0.3, controller=ta.Actuators(model, [0.4]))
    assert np.abs(run.q).max() <= 1e-6


def test_a_gap_across_the_plane_is_told():
    """Nothing can close it, so nothing tries; the certificate says how wide it is."""
    text = PARALLELOGRAM.format(base="33 -71 114", tilt=0.0)
    text = text.replace(
        '<body name="coupler" pos="0 0.05 0">', '<body pos="0 0.05 0"><site name="c" pos="0.03 0 0"/>'
    )
    text = text.replace(
        '<body name="rocker" pos="0.03 0 0">', '<body pos="0.03 0 0"><site name="r" pos="0 0.05 5e-4"/>'
    )
    text = text.replace('body1="rocker" body2="coupler" anchor="0 0.05 0"', 'site1="r" site2="c"')
    model = ta.load_mjcf(text)
    assert [gap.distance for gap in loop_gaps(model, model.q0)] == pytest.approx([5e-4])
    run = ta.Simulation(ta.World(model)).run(1.0, controller=ta.Actuators(model, [0.4]))
    assert run.certificate.joint_gap == pytest.approx(5e-4)
    assert run.records[200:, TURNED].max() <= 1e-6 and np.abs(run.q[-1] - [0.4, -0.4, 0.4]).max() <= 1e-3
