"""Estimated errors of smooth motion in twenty scenes, beside steps that are 64 times shorter.

Samples are the steps that a run takes again as two halves; between them an estimate follows the velocities.
"""

import numpy as np
import pytest

import taction as ta
from moving_scenes import GIMBAL, PENDULUM, crank, leaning_coin, tilted_disc
from taction.kinematics.state_distance import StateRuler
from taction.sim.step_samples import next_sample

FINE = 64
STEPS = 80
# Errors that solvers of contact problems and rounding leave are no matter of steps [m], [m/s]
LEAST = 1e-12, 1e-7

FLOOR = '<geom type="plane" size="9 9 1" friction="{0}"/>'
ROLLER = (
    '<body pos="0 0 0.05"><freejoint/><geom type="capsule" fromto="-0.1 0 0 0.1 0 0" size="0.05"/></body>'
)
ON_BALL = """<geom type="sphere" size="1"/>
  <body pos="0 0.1 1.0954451150103321"><freejoint/><geom type="sphere" size="0.1"/></body>"""
TOP = """<body pos="0 0 0.02" euler="15 0 0"><freejoint/>
  <geom type="sphere" size="0.02" mass="0.05" friction="0"/>
  <geom type="cylinder" fromto="0 0 0.05 0 0 0.07" size="0.05" mass="0.3" contype="0" conaffinity="0"/>
  </body>"""
ROD = '<body><joint type="ball"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02"/></body>'


def world_of(text):
    return ta.World(ta.load_mjcf(f"<mujoco><worldbody>{text}</worldbody></mujoco>"), self_collision="none")


def file_of(text):
    return ta.World(ta.load_mjcf(text), self_collision="none")


def arm(links=4):
    """Hinges about axes across each other."""
    text = ""
    for k in range(links):
        at, axis = ("0 0 -0.3" if k else "0 0 0"), ("0 1 0", "1 0 0", "0 0 1")[k % 3]
        text += f'<body pos="{at}"><joint type="hinge" axis="{axis}"/>'
        text += '<geom type="capsule" fromto="0 0 0 0.05 0 -0.3" size="0.02"/>'
    return world_of(text + "</body>" * links)


def alone(shape, position, friction=0.3, gravity=(0.0, 0.0, -9.81), has_ground=True):
    body = ta.free_body("body", shape, mass=1.0, position=position)
    return ta.World(body, ground=ta.Plane(friction=friction) if has_ground else None, gravity=gravity)


def flying(model, seed, size):
    """A mechanism thrown into the air, all its joints in motion."""
    world = ta.World(model, contact=False)
    return world, None, size * np.random.default_rng(seed).normal(size=world.model.nv)


BALL, BOX = ta.Sphere(0.1), ta.Box((0.2, 0.2, 0.1))
SCENES = {
    "disc that rolls in place, 10 degrees": lambda: tilted_disc(10.0),
    "disc that rolls in place, 30 degrees": lambda: tilted_disc(30.0),
    "coin on a circle": leaning_coin,
    "box that tumbles": lambda: (
        alone(ta.Box((0.1, 0.15, 0.05)), (0, 0, 3), has_ground=False), None, [1.0, 0.3, 0.0, 10.0, 3.0, 5.0]
    ),
    "gyroscope in a gimbal": lambda: (file_of(GIMBAL), [0.0, 1.0, 0.0], [0.0, 2.0, 100.0]),
    "crank, 50 rad/s": lambda: (file_of(crank()), None, [50.0, -62.5, 0.0]),
    "crank, 300 rad/s": lambda: (file_of(crank()), None, [300.0, -375.0, 0.0]),
    "double pendulum, wide": lambda: (file_of(PENDULUM), [2.5, 1.0], None),
    "double pendulum, narrow": lambda: (file_of(PENDULUM), [0.5, 0.2], None),
    "ball that rolls": lambda: (alone(BALL, (0, 0, 0.1)), None, [1.0, 0.3, 0.0, -3.0, 10.0, 2.0]),
    "ball that slides": lambda: (alone(BALL, (0, 0, 0.1), 0.1), None, [2.0, 0.5, 0.0, 0.0, -5.0, 3.0]),
    "box that slides and turns": lambda: (alone(BOX, (0, 0, 0.05)), None, [2.0, 0.0, 0.0, 0.0, 0.0, 3.0]),
    "box on a slope": lambda: (
        alone(BOX, (0, 0, 0.05), 0.1, (4.0, 0.0, -9.0)), None, [0.5, 0.2, 0.0, 0.0, 0.0, 1.0]
    ),
    "capsule that rolls": lambda: (world_of(FLOOR.format(1.0) + ROLLER), None, [0, 0.5, 0, -10.0, 0, 0]),
    "ball that rolls off a ball": lambda: (world_of(ON_BALL), None, [0.5, 0.0, 0.0, 0.0, 5.0, 0.0]),
    "top on a smooth floor": lambda: (world_of(FLOOR.format(0.0) + TOP), None, [0, 0, 0, 0, 0, 150.0]),
    "spherical pendulum": lambda: (world_of(ROD), None, [3.0, 2.0, 1.0]),
    "arm": lambda: (arm(), [1.0, 0.5, 0.3, 0.2], [1.0, -2.0, 3.0, 1.0]),
    "quadruped in flight, its joints sprung": lambda: flying(ta.robots.quadruped(), 2, 3.0),
    "snake in flight": lambda: flying(ta.robots.snake(), 3, 2.0),
}  # fmt: skip


def test_there_are_twenty():
    assert len(SCENES) == 20


@pytest.mark.long
@pytest.mark.parametrize("name", list(SCENES))
def test_samples_of_smooth_motion_are_within_a_factor_of_three(name):
    """Of places in all scenes; of velocities but for cranks, whose loop rings by what two halves share."""
    world, q, v = SCENES[name]()
    sim, fine = ta.Simulation(world, dt=1e-3), ta.Simulation(world, dt=1e-3 / FINE)
    state, ruler = sim.state(q, v), StateRuler(sim.engine.model)
    run, compared = sim.run(STEPS * sim.dt, state=state), 0
    errors = run.errors
    assert not errors.is_event.any()
    for n in range(STEPS):
        end, _ = sim.step(state)
        if next_sample(n) == n:
            exact = fine.run(sim.dt, state=state).state
            true = ruler.measure(end.q, end.v, exact.q, exact.v)
            for estimate, size, least in zip((errors.position, errors.velocity), true, LEAST, strict=True):
                if size > least and not (least == LEAST[1] and "crank" in name):
                    assert size / 3.0 <= estimate[n] <= 3.0 * size
                    compared += 1
                elif size <= least:
                    assert estimate[n] <= 10.0 * least
        state = end
    assert compared > 0 or "rolls" in name  # flat ways of balls and rollers are exact
