"""What a step does not do twice: problems posed again, solved again, where nothing has happened."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taction as ta
from taction.bench.step import Stepper, law_of, step_cases
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.steppers.columns import IMPACT, ITERATIONS, KINETIC, POTENTIAL
from taction.steppers.scene import POSED_ANEW

SCHEME = "half-flight"


def of_case(name):
    """The stepper of a case of the bench, after the steps before its clock runs."""
    case = next(c for c in step_cases() if c.name == name)
    model = compile_model(parse_mjcf(case.mjcf))
    stepper = Stepper(ta.Simulation(ta.World(model), dt=1e-3, stepper=SCHEME), law_of(model))
    stepper.advance(case.settle)
    return stepper


@pytest.mark.parametrize("gap", [4e-7, 9e-7])
def test_a_face_a_micrometre_open_at_one_side_does_not_strike(gap):
    """The rule lets such gaps be, so they count as closed where the step starts, too."""
    half = 0.1
    box = ta.free_body("box", ta.Box((2 * half, 2 * half, 2 * half)), mass=1.0)
    world = ta.World(box, ground=ta.Plane(friction=0.5))
    tilt = gap / (2 * half)
    x, y, z, w = Rotation.from_euler("y", tilt).as_quat()
    height = half * (np.cos(tilt) + np.sin(tilt))
    stepper = Stepper(ta.Simulation(world, dt=1e-3, stepper=SCHEME), None)
    stepper.state.q[:] = 0.0, 0.0, height, w, x, y, z
    for _ in range(5):
        stepper.advance(1)
        gaps = stepper.driver.memory.sight.contacts.gap[:4]
        assert gaps.max() == pytest.approx(gap, rel=0.01)
        assert stepper.driver.memory.motion.said[POSED_ANEW] == 0
        assert stepper.record.step[0, IMPACT] == 0.0


@pytest.mark.long
def test_a_pile_at_rest_is_posed_once():
    """Faces of eight points, some of which carry nothing for a step; now and then one opens or closes."""
    stepper, again = of_case("20 boxes, at rest"), 0
    for _ in range(20):
        stepper.advance(1)
        again += stepper.driver.memory.motion.said[POSED_ANEW] > 0
    assert again <= 5


@pytest.mark.parametrize("name", ["quadruped, standing", "humanoid, standing"])
def test_impulses_of_a_robot_that_stands_are_kept(name):
    """What ends a motion of rounding starts it again in the next step, the other way, if kept."""
    stepper = of_case(name)
    stepper.advance(100)
    assert stepper.record.step[:, ITERATIONS].sum() <= 5


def test_energies_at_the_start_are_those_of_the_state():
    """They come from the pass over the links that the scheme makes there anyway."""
    model = ta.load_mjcf(
        """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .05" pos=".03 0 0"/>
        <body pos=".3 0 0"><joint type="hinge" axis="0 1 0" armature=".02"/>
        <geom type="capsule" size=".03 .1"/></body></body></worldbody></mujoco>"""
    )
    rng = np.random.default_rng(5)
    v = rng.normal(size=model.nv)
    run = ta.Simulation(ta.World(model), dt=1e-3, stepper=SCHEME).run(0.005, v=v)
    own = ta.totals(model, run.q[0], run.v[0])
    assert run.records[0, KINETIC] == pytest.approx(own.kinetic, rel=1e-13)
    assert run.records[0, POTENTIAL] == pytest.approx(own.potential, rel=1e-12)
