"""Which joints have motors, as far as a description says."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.control.drives import motor_joints
from taction.model.spec import TendonSpec

# joints through which no motor acts, of the robots whose joints with scalar coordinates are not all driven
BARE = {
    "planar_humanoid": {"base_x", "base_z"},
    "four_legged": {"base_x", "base_z"},
    "hopper": {"x", "z", "pitch"},
    "cart_pole": {"hinge"},
    "pushers": {"puck"},
    "block_and_pusher": {"base"},
    "quadruped": {"root"},
    "snake": {"root"},
    "double_pendulum": set(),
}


@pytest.mark.parametrize("robot", BARE)
def test_robots_have_no_motors_on_their_bases(robot):
    model = getattr(ta.robots, robot)()
    driven = motor_joints(model)
    assert {joint.name for joint in model.joints} - set(driven) == BARE[robot]
    assert len(ta.Drives(model).dofs) == sum(model.joint(name).kind.nv for name in driven)


def chain(actuated=(), **efforts):
    b = ta.ModelBuilder("chain")
    for k, name in enumerate("abc"):
        b.body(f"link {name}", ta.Inertia(1.0, np.zeros(3), np.eye(3)))
        parent = "world" if k == 0 else f"link {'abc'[k - 1]}"
        b.revolute(
            name, parent=parent, child=f"link {name}", axis=(0, 1, 0), effort=efforts.get(name, np.inf)
        )
    for name in actuated:
        b.actuator(name, name)
    return b


def test_actuators_say_first_then_efforts_then_nothing():
    assert motor_joints(chain().build()) == ("a", "b", "c")
    assert motor_joints(chain(b=0.0).build()) == ("a", "c")
    assert motor_joints(chain(a=0.0, b=0.0, c=0.0).build()) == ("a", "b", "c")  # a file that is silent
    assert motor_joints(chain(["b"], b=0.0).build()) == ("b",)
    pulled = chain(["a"])
    pulled.spec.tendons.append(TendonSpec("t", joints={"b": 1.0, "c": -1.0}))
    pulled.spec.actuators.append(type(pulled.spec.actuators[0])("t", tendon="t"))
    assert motor_joints(pulled.build()) == ("a", "b", "c")


def test_inverse_dynamics_of_a_robot_that_stands_pulls_at_nothing_in_the_sky():
    """The feet carry the weight, 30 kg times g; the base joints, which have no motors, carry nothing."""
    model = ta.robots.four_legged()
    world = ta.World(model, ground=ta.Plane(friction=0.8))
    found = ta.inverse_dynamics(world, model.q0, np.zeros(model.nv), np.zeros(model.nv))
    assert found.is_solved and not found.tau[:2].any()
    weight = sum(force[2] for force in found.forces.values())
    assert weight == pytest.approx(9.81 * model.total_mass, rel=1e-9)
