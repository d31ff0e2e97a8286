"""Frames of a run: poses are those of the kinematics, contacts those of the steps."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from contact_worlds import tumbler
from helpers import assert_close, random_case
from taction.contact.redundancy import IMPULSES
from taction.drawing import motion
from taction.drawing.description import EDGE, INSIDE, OPEN, Frames
from taction.math.transform import quaternion_from_rotation, rotation_from_quaternion
from taction.sim.run import Run
from taction.steppers.columns import NOT_UNIQUE


def sliding(speed: float, friction: float = 0.4) -> Run:
    """A block on a plane with a speed along x, 60 steps."""
    block = ta.free_body("block", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    sim = ta.Simulation(ta.World(block, ground=ta.Plane(friction=friction)), dt=1e-3)
    return sim.run(0.06, v=[speed, 0, 0, 0, 0, 0])


def every(run: Run) -> Frames:
    return motion.frames_of_run(run, np.arange(run.steps + 1))


@pytest.fixture(scope="module")
def stack() -> Run:
    """Two boxes on each other, which the laws leave open, and a ball that falls beside them."""
    boxes = [
        ta.free_body(f"box{k}", ta.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.1 + 0.2 * k))
        for k in (0, 1)
    ]
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(1, 0, 0.11))
    world = ta.World(*boxes, ball, ground=ta.Plane(friction=0.5))
    return ta.Simulation(world, dt=2e-3).run(0.1)


# ----- Poses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_poses_are_those_of_forward_kinematics(seed):
    case = random_case(seed, 6)
    position, quaternion = motion.poses(case.model, case.q[None])
    pose = ta.forward_kinematics(case.model, case.q)
    assert_close(position[0], pose.position, 1e-12, 1.0)
    R = np.array([rotation_from_quaternion(p) for p in quaternion[0]])
    assert_close(R, pose.rotation, 1e-12, 1.0)


@pytest.mark.parametrize("largest", range(4))
def test_quaternions_come_back_from_rotations(largest):
    """Also of half turns, and where two components are equally large."""
    rng = np.random.default_rng(largest)
    for noise in (0.0, 1e-9, 1e-5, 0.3, 1.0):
        P = noise * rng.normal(size=(50, 4))
        P[:, largest] += 1.0
        P[25:, (largest + 1) % 4] = P[25:, largest]
        P /= np.linalg.norm(P, axis=1)[:, None]
        R = np.array([rotation_from_quaternion(p) for p in P])
        found = motion.quaternions(R)
        assert np.abs(np.abs((found * P).sum(axis=1)) - 1.0).max() < 1e-12
        assert_close([rotation_from_quaternion(p) for p in found], R, 1e-12)
        other = np.array([quaternion_from_rotation(r) for r in R])
        assert np.abs(np.abs((found * other).sum(axis=1)) - 1.0).max() < 1e-12


def test_quaternions_do_not_jump():
    """Two full turns about a tilted axis: neighbours stay on one side."""
    angle, axis = np.linspace(0.0, 4.0 * np.pi, 200), np.array([0.6, 0.0, 0.8])
    P = np.concatenate([np.cos(angle / 2)[:, None], np.sin(angle / 2)[:, None] * axis], axis=1)
    found = motion.continuous(motion.quaternions(np.array([rotation_from_quaternion(p) for p in P]))[:, None])
    assert (found[1:] * found[:-1]).sum(axis=-1).min() > 0.99
    assert_close(found[:, 0], P, 1e-12)


def test_the_centre_of_mass_is_that_of_the_dynamics():
    case = random_case(7, 8)
    Q = np.stack([case.q, case.model.q0])
    found = motion.centre_of_mass(case.model, *motion.poses(case.model, Q))
    assert_close(found, [ta.totals(case.model, q).com for q in Q], 1e-12, 1.0)


def test_rotation_of_vectors():
    rng = np.random.default_rng(3)
    P, v = rng.normal(size=(20, 4)), rng.normal(size=(20, 3))
    P /= np.linalg.norm(P, axis=1)[:, None]
    assert_close(
        motion.rotate(P, v), [rotation_from_quaternion(p) @ x for p, x in zip(P, v, strict=True)], 1e-12
    )


# ----- Contacts ------------------------------------------------------------------------------------------


def sums(frames: Frames, names: tuple[str, ...], frame: int) -> dict[str, np.ndarray]:
    """Force on each body and on the world in a frame."""
    out = {name: np.zeros(3) for name in (*names, "world")}
    for c in range(frames.first[frame], frames.first[frame + 1]):
        for body, sign in zip(frames.pair[c], (1.0, -1.0), strict=True):
            out["world" if body < 0 else names[body]] += sign * frames.force[c]
    return out


def test_forces_add_up_to_those_of_the_run(stack):
    frames, names = every(stack), tuple(stack.model.body_names)
    forces = stack.contact_forces()
    for frame in range(frames.count):
        found = sums(frames, names, frame)
        for name, force in found.items():
            assert_close(
                force, forces[name][min(frame, stack.steps - 1)], 1e-12, 1.0, f"{name}, frame {frame}"
            )


def test_a_force_acts_on_the_first_body_which_is_not_the_world_and_lies_above(stack):
    frames = every(stack)
    assert (frames.pair[:, 0] >= 0).all()
    assert (frames.normal[:, 2] > 0.99).all()
    assert ((frames.force * frames.normal).sum(axis=1) >= 0.0).all()
    both = frames.pair[(frames.pair >= 0).all(axis=1)]
    assert len(both) and (both == [1, 0]).all()


def test_the_tangent_is_across_the_normal():
    run = ta.Simulation(tumbler(), dt=2e-3).run(0.4)
    frames = every(run)
    assert len(frames.point) > 0
    assert_close(np.linalg.norm(frames.tangent, axis=1), np.ones(len(frames.tangent)), 1e-12)
    assert np.abs((frames.tangent * frames.normal).sum(axis=1)).max() < 1e-12


def test_a_sliding_block_is_on_the_edge_of_its_cones():
    frames = every(sliding(2.0))
    pressing = frames.state != OPEN
    assert pressing.any() and (frames.state[pressing] == EDGE).all()
    assert_close(frames.friction[pressing], np.full((pressing.sum(), 2), 0.4), 1e-15)
    assert frames.force[pressing, 0].max() < 0.0


def test_a_resting_block_is_inside_its_cones():
    frames = every(sliding(0.0))
    assert (frames.state == INSIDE).any() and not (frames.state == EDGE).any()


def test_without_friction_there_is_no_edge():
    frames = every(sliding(2.0, friction=0.0))
    assert not (frames.state == EDGE).any() and not frames.friction.any()


def test_a_ball_in_flight_has_no_contact_that_presses():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 1.0))
    run = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3).run(0.05)
    frames = every(run)
    assert not (frames.state != OPEN).any() and not frames.force.any()
    assert len(frames.first) == frames.count + 1


def test_open_frames_are_those_that_the_records_flag(stack):
    frames = every(stack)
    flagged = stack.records[:, NOT_UNIQUE] >= IMPULSES
    assert flagged.any()
    assert (frames.is_open[:-1] == flagged).all() and frames.is_open[-1] == flagged[-1]


def test_smooth_motion_has_no_contacts():
    run = ta.Simulation(ta.robots.chain(2), dt=1e-2).run(0.1)
    frames = motion.frames_of_run(run, np.array([0, 5, 10]))
    assert frames.count == 3 and not frames.first.any() and not len(frames.point) and not frames.is_open.any()


def test_of_many_contacts_the_largest_are_kept(stack, monkeypatch):
    monkeypatch.setattr(motion, "MOST_CONTACTS", 3)
    frames = motion.frames_of_run(stack, np.array([10]))
    every_size = np.linalg.norm(stack.contacts.impulse[stack.contacts.step == 10], axis=1) / stack.dt
    assert len(every_size) > 3
    assert_close(np.sort(np.linalg.norm(frames.force, axis=1)), np.sort(every_size)[-3:], 1e-12)
