"""What a step says that cannot be taken."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.dynamics.singular import lightest_motion, tell_singular
from taction.kinematics.state_distance import centres_and_radii
from taction.robots.chain import chain
from taction.sim.failure import explain
from taction.steppers import phases

# three hinges through one point, nothing between them: where the middle one stands at its stop of 90 degrees,
# the first and the last turn about the same axis
GIMBAL = """<robot name="gimbal"><link name="base"/><link name="one"/><link name="two"/>
<link name="rod"><inertial><origin xyz="0 0 -0.4"/><mass value="1"/>
  <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="1e-4"/></inertial></link>
<joint name="yaw" type="continuous"><axis xyz="0 0 1"/><parent link="base"/><child link="one"/></joint>
<joint name="roll" type="revolute"><axis xyz="1 0 0"/><parent link="one"/><child link="two"/>
  <limit lower="-1.5707963267948966" upper="1.5707963267948966" effort="1" velocity="1"/></joint>
<joint name="pitch" type="continuous"><axis xyz="0 1 0"/><parent link="two"/><child link="rod"/></joint>
</robot>
"""


def test_gimbal_lock_is_named() -> None:
    """A push of the rod sideways drives the middle hinge into its stop: no step, however short, leads on."""
    model = ta.load_urdf(GIMBAL)
    sim = ta.Simulation(ta.World(model), stepper="stewart-trinkle")
    with pytest.raises(
        ta.IntegrationError,
        match=r"singular: joint 'yaw' \(<text>:4\) and joint 'pitch' \(<text>:7\) move almost no mass "
        r"together; give link 'one' \(<text>:1\) and link 'two' \(<text>:1\) an <inertial>, or the joints an "
        "armature",
    ):
        sim.run(2.0, q=[0.0, 1.4, 0.1], v=[0.3, 6.0, 0.5])


def test_a_state_that_overflows_is_not_blamed_on_the_mass() -> None:
    """A force that no step survives: the chain is as heavy as ever."""
    sim = ta.Simulation(ta.World(chain(4)))
    with pytest.raises(ta.IntegrationError, match="the state is not finite; reduce the time step"):
        sim.run(0.1, controller=lambda t, q, v: np.full(4, 1e200))


# after Drake's example of that name: point masses on massless rods
PENDULUM = """<robot name="pendulum"><link name="base">{base}</link>
<link name="upper"><inertial><origin xyz="0 0 -1"/><mass value="1"/>
  <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0 -2"/><mass value="1"/>
  <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><origin xyz="0 0.15 0"/><axis xyz="0 1 0"/>
  <parent link="base"/><child link="upper"/></joint>
<joint name="elbow" type="continuous"><origin xyz="0 0.1 -1"/><axis xyz="0 1 0"/>
  <parent link="upper"/><child link="lower"/></joint></robot>
"""


@pytest.mark.filterwarnings("ignore::taction._core.errors.UnsupportedFeatureWarning")
@pytest.mark.parametrize("base", ["", '<inertial><mass value="1"/></inertial>'])
def test_point_masses_in_a_row_are_told_by_name(base: str) -> None:
    fixed, floating = (
        ta.load_urdf(PENDULUM.format(base=base), floating_base=floats) for floats in (False, True)
    )
    assert ta.Simulation(ta.World(fixed)).run(1e-3).certificate.residual < 1e-9
    with pytest.raises(
        ta.ModelError, match=r"the floating base.*joint 'shoulder' .* together move link 'base' \(<"
    ):
        ta.Simulation(ta.World(floating))
    with pytest.raises(
        ta.ModelError, match=r"link 'upper' \(<text>:2\) has no inertia of its own about some axis"
    ):
        ta.Simulation(ta.World(fixed), coordinates="absolute")


@pytest.mark.parametrize("far", ["1e154", "1e155", "1e300"])
def test_lengths_that_overflow_are_told_by_the_joint(far: str) -> None:
    nested = f'<body pos="0 0 {far}"><joint name="{{}}" axis="1 0 0"/><geom size="0.1"/>'
    text = f"<mujoco><worldbody>{nested.format('a')}{nested.format('b')}</body></body></worldbody></mujoco>"
    with pytest.raises(
        ta.ModelError, match=r"joint 'b' \(<text>:1\) lies so far from those before it that .* overflow"
    ):
        ta.load_mjcf(text)


def test_sizes_that_overflow_measure_nothing() -> None:
    """A link of a subnormal mass, and a loop through a point at 1e200 m: no scale, and no raw warning."""
    b = ta.ModelBuilder("dust")
    b.body("speck", ta.Inertia(1e-310, np.zeros(3), np.eye(3)))
    b.floating("fly", child="speck")
    centre, radius = centres_and_radii(b.build())
    assert np.isfinite(centre).all() and not radius.any()
    loop = """<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1"/></body></worldbody>
    <equality><connect body1="a" anchor="1e200 0 0"/></equality></mujoco>"""
    assert ta.World(ta.load_mjcf(loop)).scene().joints.loops.size.max() == pytest.approx(1e200)


def test_slides_that_overflow_are_told_by_the_joint() -> None:
    b = ta.ModelBuilder("crane")
    for name in ("post", "car"):
        b.body(name, ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.revolute("turn", parent="world", child="post")
    b.prismatic("slide", parent="post", child="car", axis=(1, 0, 0))
    model = b.build()
    for why in (
        explain(phases.SINGULAR, model, np.array([0.0, 1e160])),
        tell_singular(model, np.array([0.0, 1e160])),
    ):
        assert why == "masses, lengths or displacements of joint 'turn' are so large that numbers overflow"
    assert lightest_motion(model, model.q0)[0] > 0.1


def test_a_rollout_says_it_as_well() -> None:
    sim = ta.Simulation(ta.World(ta.load_urdf(GIMBAL)), stepper="stewart-trinkle")
    start = sim.state([0.0, 1.4, 0.1], [0.3, 6.0, 0.5])
    assert (
        "joint 'yaw' (<text>:4) and joint 'pitch' (<text>:7) move almost"
        in sim.rollout([start], steps=100).status[0]
    )


def light(v: float) -> tuple[ta.Model, np.ndarray]:
    """A ball of 1e-18 kg on the ground and its velocity downwards: energies are numbers, squares are not."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1e-18, position=(0, 0, 0.1))
    return ball, np.array([0.0, 0, -v, 0, 0, 0])


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_residuals_that_overflow_end_the_motion(coordinates: str) -> None:
    """The kinetic energy is 2e292 J; a residual relative to a speed that overflows says nothing."""
    ball, v = light(2e155)
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane()), coordinates=coordinates)
    for move in (sim.run, lambda t, v: sim.step(sim.state(v=v))):
        with pytest.raises(ta.IntegrationError, match="not finite"):
            move(0.01, v=v)
    states = np.concatenate([sim.model.q0, v])[None]
    assert "not finite" in sim.rollout(states, steps=3).status[0]
    assert "not finite" in sim.batch(states).step().failed[0]


def test_energies_of_smooth_motion_that_overflow_end_it() -> None:
    """A slide of 1 kg at 1e155 m/s: nothing but its energy overflows."""
    b = ta.ModelBuilder("slide")
    b.body("mass", ta.Inertia(1.0, np.zeros(3), np.eye(3)))
    b.prismatic("slide", parent="world", child="mass", axis=(1, 0, 0))
    with pytest.raises(ta.IntegrationError, match=r"t = 0 s the state is not finite"):
        ta.Simulation(b.build()).run(0.01, v=[1e155])
