"""Models without a world, with forces that integrators do not know, against MuJoCo without contacts."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model

mujoco = pytest.importorskip("mujoco")

H, STEPS = 1e-4, 4000
ARM = """
<mujoco>
  <option timestep="1e-4"/>
  <worldbody>
    <site name="wall" pos="0.1 0.4 0.9"/>
    <body name="upper" pos="0 0 1" gravcomp="{gravcomp}">
      <joint name="a" axis="0 1 0"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" density="900" contype="0" conaffinity="0"/>
      <site name="hook" pos="0.2 0.02 0.05"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="b" axis="0 0.2 1"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0.05 0" density="900" contype="0" conaffinity="0"/>
        <site name="tip" pos="0.25 0.03 0.04"/>
      </body>
    </body>
  </worldbody>
  {rest}
</mujoco>
"""
SITES = "<site site='tip'/><site site='hook'/><site site='wall'/>"
PATH = "<tendon><spatial name='t' {how}>" + SITES + "</spatial></tendon>"
CASES = {
    "gravity compensation": {"gravcomp": "1", "rest": ""},
    "springs of tendons": {"gravcomp": "0", "rest": PATH.format(how="stiffness='15' springlength='0.3'")},
    "dampers of tendons": {"gravcomp": "0", "rest": PATH.format(how="damping='60'")},
    "friction of tendons": {"gravcomp": "0", "rest": PATH.format(how="frictionloss='8'")},
    "limits of tendons": {"gravcomp": "0", "rest": PATH.format(how="limited='true' range='0.86 2'")},
}
# MuJoCo lets friction creep and limits give way, a few per cent of the motion
SOFT = {"friction of tendons": 0.03, "limits of tendons": 0.03}


@pytest.mark.parametrize("what", CASES)
def test_a_model_alone_moves_under_all_its_forces(what):
    text = ARM.format(**CASES[what])
    model = compile_model(parse_mjcf(text))
    run = ta.Simulation(model, dt=H, stepper="stewart-trinkle").run(STEPS * H)
    peer = mujoco.MjModel.from_xml_string(text)
    peer.tendon_solref_lim[:] = 3e-4, 1.0  # as stiff as its step allows: limits are rigid here
    peer.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, motion = mujoco.MjData(peer), [np.zeros(2)]
    for _ in range(STEPS):
        mujoco.mj_step(peer, data)
        motion.append(data.qpos.copy())
    dropped = ta.Simulation(model, dt=H, integrator="rk4").run(STEPS * H)
    assert what in dropped.left_out and what not in run.left_out
    effect = np.abs(dropped.q - motion).max()
    assert effect > 0.05  # what was left out matters
    # both are of first order: steps of 1e-4 s in a motion of some 0.1 s
    assert np.abs(run.q - motion).max() <= SOFT.get(what, 2e-3) * effect
    assert run.certificate.unconverged_steps == 0
