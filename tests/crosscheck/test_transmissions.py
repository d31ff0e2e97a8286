"""Tendons, forces at sites and weights taken off, against MuJoCo's accelerations.

A step of a microsecond changes the velocity by h a; what is first order in h differs by 1e-6 of the rates of
change, some 1e3 per second here, so 1e-3 of the largest acceleration is asked for where springs are stiff,
and less is met.
"""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco>
  <option timestep="1e-6"/>
  <worldbody>
    <site name="wall" pos="0.1 0.4 0.9"/>
    <body name="upper" pos="0 0 1" {upper}>
      <joint name="a" axis="0 1 0"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" density="900" contype="0" conaffinity="0"/>
      <site name="hook" pos="0.2 0.02 0.05"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="b" axis="0 0.2 1"/>
        <joint name="c" axis="1 0 0"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0.05 0" density="900" contype="0" conaffinity="0"/>
        <site name="tip" pos="0.25 0.03 0.04" euler="20 30 40"/>
      </body>
    </body>
    <body name="drone" pos="1 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.08 0.02" density="300" contype="0" conaffinity="0"/>
      <site name="rotor" pos="0.08 0.05 0.01" euler="5 10 0"/>
    </body>
  </worldbody>
  {rest}
</mujoco>
"""
CASES = {
    "a fixed tendon with a spring and a damper": (
        "<tendon><fixed name='t' stiffness='40' damping='2' springlength='0.3'><joint joint='a' coef='1.5'/>"
        "<joint joint='b' coef='-0.7'/></fixed></tendon>"
    ),
    "a spring that is slack within a range": (
        "<tendon><fixed name='t' stiffness='90' springlength='-0.05 0.05'><joint joint='a' coef='1'/>"
        "<joint joint='c' coef='1'/></fixed></tendon>"
    ),
    "a motor on a fixed tendon": (
        "<tendon><fixed name='t'><joint joint='a' coef='1.5'/><joint joint='b' coef='-0.7'/></fixed></tendon>"
        "<actuator><motor tendon='t' gear='3'/></actuator>"
    ),
    "a servo with a range on a fixed tendon": (
        "<tendon><fixed name='t'><joint joint='a' coef='1.5'/><joint joint='b' coef='-0.7'/></fixed></tendon>"
        "<actuator><position tendon='t' kp='50' kv='1' forcerange='-2 1'/></actuator>"
    ),
    "a servo with a range beside springs of tendons": (
        "<tendon><fixed name='t' stiffness='40' springlength='0.3'><joint joint='a' coef='1.5'/>"
        "<joint joint='b' coef='-0.7'/></fixed></tendon>"
        "<actuator><position joint='c' kp='5' forcerange='-0.9 0.2'/>"
        "<position tendon='t' kp='50' kv='1' forcerange='-2 1'/></actuator>"
    ),
    "a path with a pulley": (
        "<tendon><spatial name='t' stiffness='60' damping='1' springlength='0.2'><site site='wall'/>"
        "<site site='hook'/><site site='tip'/><pulley divisor='2'/><site site='wall'/><site site='tip'/>"
        "</spatial></tendon>"
    ),
    "a motor on a path": (
        "<tendon><spatial name='t'><site site='wall'/><site site='hook'/><site site='tip'/></spatial>"
        "</tendon>"
        "<actuator><motor tendon='t' gear='-4'/></actuator>"
    ),
    "a servo on a path": (
        "<tendon><spatial name='t'><site site='wall'/><site site='hook'/><site site='tip'/></spatial>"
        "</tendon>"
        "<actuator><position tendon='t' kp='80' kv='3'/></actuator>"
    ),
    "a force and a torque at a site": (
        "<actuator><motor site='rotor' gear='0.1 0.2 1 0.01 0 0.03'/></actuator>"
    ),
    "a force at a site of a chain": "<actuator><motor site='tip' gear='1 0 2 0 0.1 0'/></actuator>",
}


def accelerations(rest: str, upper: str = "", u: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Ours and MuJoCo's at a configuration and velocity that are far from special."""
    text = ARM.format(rest=rest, upper=upper)
    peer = mujoco.MjModel.from_xml_string(text)
    model = compile_model(parse_mjcf(text))
    rng = np.random.default_rng(2)
    q = ta.integrate(model, model.q0, 0.4 * rng.normal(size=model.nv))
    v = 0.5 * rng.normal(size=model.nv)
    data = mujoco.MjData(peer)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
    mujoco.mj_forward(peer, data)
    sim = ta.Simulation(ta.World(model))
    controller = ta.Actuators(model, np.full(peer.nu, u)) if peer.nu else None
    run = sim.run(sim.dt, q=q, v=v, controller=controller)
    assert run.certificate.unconverged_steps == 0 and abs(run.energy.closure) < 1e-15
    if peer.nu:
        assert run.tau[0] == pytest.approx(data.qfrc_actuator, abs=1e-3)
    return (run.v[1] - run.v[0]) / sim.dt, np.array(data.qacc)


@pytest.mark.parametrize("case", CASES)
def test_accelerations_are_those_of_mujoco(case):
    ours, theirs = accelerations(CASES[case])
    assert np.abs(ours - theirs).max() < 1e-3 * np.abs(theirs).max()
    nothing, _ = accelerations("")
    assert np.abs(ours - nothing).max() > 0.01 * np.abs(theirs).max()


def test_a_weight_taken_off():
    ours, theirs = accelerations("", upper="gravcomp='0.6'")
    assert np.abs(ours - theirs).max() < 1e-3 * np.abs(theirs).max()
    whole, _ = accelerations("")
    assert np.abs(ours - whole).max() > 0.1


def test_a_rope_carries_a_ball_at_its_length():
    """A tendon with a largest length holds a weight as a rope does: taut, no longer, tension the weight."""
    text = """
    <mujoco><option timestep="1e-3"/>
      <worldbody><site name="top" pos="0 0 1"/>
        <body name="ball" pos="0 0 0.6"><freejoint/><geom size="0.05" mass="2"/><site name="eye"/></body>
      </worldbody>
      <tendon><spatial limited="true" range="0 0.5"><site site="top"/><site site="eye"/></spatial></tendon>
    </mujoco>"""
    model = compile_model(parse_mjcf(text))
    run = ta.Simulation(ta.World(model)).run(1.0)
    lowest = 1.0 - run.q[:, 2].min()
    assert lowest <= 0.5 + 1e-6 and run.q[-1, 2] == pytest.approx(0.5, abs=1e-6)
    assert run.state.joint_impulse.max() == pytest.approx(2 * 9.81 * 1e-3, rel=1e-6)
    assert np.abs(run.v[-1]).max() < 1e-9


def test_a_held_length_of_three_joints():
    text = ARM.format(
        upper="",
        rest="<tendon><fixed name='t'><joint joint='a' coef='1'/><joint joint='b' coef='2'/>"
        "<joint joint='c' coef='-1'/></fixed></tendon><equality><tendon tendon1='t'/></equality>",
    ).replace("1e-6", "1e-3")
    model = compile_model(parse_mjcf(text))
    run = ta.Simulation(ta.World(model)).run(0.5)
    length = run.q[:, :3] @ [1.0, 2.0, -1.0]
    assert np.abs(length).max() < 1e-6 and np.abs(run.q[:, :3]).max() > 0.1
    assert run.certificate.residual < 1e-9


def test_tendons_need_joint_coordinates():
    model = compile_model(parse_mjcf(ARM.format(upper="", rest=CASES["a path with a pulley"])))
    with pytest.raises(ta.BadInput, match="coordinates='reduced'"):
        ta.Simulation(ta.World(model), coordinates="absolute")


@pytest.mark.long
def test_absolute_coordinates_push_no_sites_and_take_off_weights():
    model = compile_model(parse_mjcf(ARM.format(upper="", rest=CASES["a force and a torque at a site"])))
    sim = ta.Simulation(ta.World(model), coordinates="absolute")
    with pytest.raises(ta.BadInput, match="coordinates='reduced'"):
        sim.run(sim.dt, controller=ta.Actuators(model, [1.0]))
    lifted = compile_model(parse_mjcf(ARM.format(upper="gravcomp='0.6'", rest="")))
    ends = [ta.Simulation(ta.World(lifted), coordinates=c).run(1e-5).v[-1] for c in ("reduced", "absolute")]
    assert ends[1] == pytest.approx(ends[0], abs=1e-9)


@pytest.mark.parametrize("stepper", ["midpoint", "moreau"])
def test_schemes_that_look_ahead_take_lengths_where_they_look(stepper):
    """A rope that a falling ball pulls taut, and a spring along a path: each as with the default scheme.

    Both differ from it by first order in the step of 1e-4 s, at speeds of some m/s: below a millimetre.
    """
    text = """
    <mujoco><option timestep="1e-4"/>
      <worldbody><site name="top" pos="0 0 1"/>
        <body name="ball" pos="0.2 0 0.7"><freejoint/><geom size="0.05" mass="2"/><site name="eye"/></body>
      </worldbody>
      <tendon><spatial {}><site site="top"/><site site="eye"/></spatial></tendon>
    </mujoco>"""
    for options in ("limited='true' range='0 0.5'", "stiffness='300' damping='5' springlength='0.3'"):
        model = compile_model(parse_mjcf(text.format(options)))
        one, two = (ta.Simulation(ta.World(model), stepper=s).run(0.4) for s in ("stewart-trinkle", stepper))
        assert np.abs(one.q[-1, :3] - two.q[-1, :3]).max() < 1e-3
        if "range" in options:
            assert np.linalg.norm(two.q[:, :3] - [0, 0, 1], axis=1).max() < 0.5 + 1e-5


def test_tendons_over_many_branches():
    """A length over the tips of six fingers, which have more freedoms than three chains; limits of each."""
    finger = (
        "<body pos='{0} 0 0'><joint name='a{0}' axis='0 1 0'/><geom type='capsule' size='0.02 0.1'/>"
        "<body pos='0 0 -0.2'><joint name='b{0}' axis='0 1 0'/><geom type='capsule' size='0.02 0.1'/>"
        "</body></body>"
    )
    tips = "".join(f"<joint joint='b{i}' coef='{1 + 0.2 * i:.1f}'/>" for i in range(6))
    own = "".join(
        f"<fixed name='t{i}' limited='true' range='-0.2 0.05'><joint joint='a{i}' coef='1'/>"
        f"<joint joint='b{i}' coef='0.5'/></fixed>"
        for i in range(6)
    )
    text = f"""<mujoco><option gravity="0 0 0" timestep="1e-4" integrator="implicitfast"/>
      <default><geom contype="0" conaffinity="0"/></default>
      <worldbody><body><joint name="palm" axis="0 1 0"/><geom size="0.1"/>
        {"".join(finger.format(i) for i in range(6))}</body></worldbody>
      <tendon>
        <fixed name="all" limited="true" range="-1 0"><joint joint="palm" coef="0.3"/>{tips}</fixed>{own}
      </tendon></mujoco>"""
    peer = mujoco.MjModel.from_xml_string(text)
    model = compile_model(parse_mjcf(text))
    peer.tendon_solref_lim[:], peer.tendon_solimp_lim[:] = (2e-4, 4.0), (0.99, 0.9999, 1e-6, 0.5, 2.0)
    sim = ta.Simulation(ta.World(model))
    v = np.tile([0.3, 1.0], 7)[:13]
    data = mujoco.MjData(peer)
    data.qvel[:] = v
    steps = 1500
    mujoco.mj_step(peer, data, steps)
    run = sim.run(steps * sim.dt, v=v)
    assert run.certificate.unconverged_steps == 0 and run.certificate.residual < 1e-8
    arms = np.array([0.3] + [x for i in range(6) for x in (0.0, 1 + 0.2 * i)])
    assert (run.q @ arms).max() < 1e-6  # the limit of the whole
    # both are of first order in the step of 1e-4 s, at accelerations of some 10 rad/s²
    assert run.q[-1] == pytest.approx(data.qpos, abs=2e-3)
