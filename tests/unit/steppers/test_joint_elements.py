"""Stops, dry friction and couplings of joints where they meet."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

SLIDER = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
<body><joint name="x" type="slide" axis="1 0 0" limited="true" range="-0.1 0.1" frictionloss="3"/>
<geom type="sphere" size="0.1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("stop", "sign"), [(-0.1, 1.0), (0.1, -1.0)])
def test_a_joint_leaves_its_stop_against_its_friction(stop, sign):
    """Pressed with 5 N, pulled with 2.9 N, and with 7 N: it stays, stays, and moves with (7 − 3)/2 m/s²."""
    sim = ta.Simulation(ta.World(ta.load_mjcf(SLIDER)))
    pull = lambda t: sign * (-5.0 if t < 0.0995 else 2.9 if t < 0.1995 else 7.0)  # noqa: E731
    run = sim.run(0.4, q=[stop], controller=lambda t, q, v: np.array([pull(t)]))
    assert np.abs(run.q[:200] - stop).max() <= 1e-9
    # With constant forces v = a t and x = a t² / 2 exactly
    n = np.arange(201)
    assert np.abs(run.v[200:, 0] - sign * 2.0 * 1e-3 * n).max() <= 1e-10
    assert np.abs(run.q[200:, 0] - stop - sign * 2.0 * 1e-6 * n * n / 2).max() <= 1e-9
    assert run.energy.joint_friction == pytest.approx(-3.0 * abs(run.q[-1, 0] - stop), rel=1e-2)
    assert abs(run.energy.closure) <= 1e-12


def test_a_closed_stop_takes_the_friction_along():
    """One row where the stop is reached, two where it is near: two rows that hold alike are not unique."""
    sim = ta.Simulation(ta.World(ta.load_mjcf(SLIDER)))
    at_stop = sim.problem(sim.state(q=[-0.1]), tau=[-5.0])
    near = sim.problem(sim.state(q=[-0.0999]), tau=[-5.0])
    assert [type(e).__name__ for e in at_stop.elements] == ["Unilateral"]
    assert at_stop.elements[0].adhesion == pytest.approx(3e-3)
    assert [type(e).__name__ for e in near.elements] == ["JointLimit", "JointFriction"]


COUPLED = """<mujoco><option timestep="0.002"/><worldbody>
<body><joint name="a" axis="0 1 0" limited="true" range="10 60"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/></body>
<body pos="0 1 0"><joint name="b" axis="0 1 0" limited="true" range="-60 -10"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/></body></worldbody>
<equality><joint joint1="a" joint2="b"/></equality></mujoco>"""


def test_what_contradicts_is_shared_and_comes_to_rest():
    """Two joints that are to be equal, with stops 20° apart: each gives way by 10°, and nothing moves."""
    model = ta.load_mjcf(COUPLED)
    sim = ta.Simulation(ta.World(model))
    with pytest.warns(ta.RangeWarning, match=r"a at 0 by 0\.175 rad .*; b at 0 by 0\.175 rad"):
        run = sim.run(1.0, q=np.zeros(2))
    late = run.q[run.t > 0.5]
    assert np.ptp(late, axis=0).max() <= 1e-6
    assert late[-1] == pytest.approx(np.zeros(2), abs=1e-6)  # two rods alike: in equal parts
    assert abs(late[-1, 0] - late[-1, 1]) <= 1e-7  # equations before stops
    assert run.certificate.unconverged_steps == 0
