"""Replays of recorded forces, drives along a path, pushes: exact where they must be, else one clear line."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.control.walking.base import base_of

H = 1e-3


@pytest.fixture(scope="module")
def walker():
    """A planar humanoid on the ground, its simulation, and a path of its joints."""
    world = ta.World(ta.robots.planar_humanoid(bend=0.6), ground=ta.Plane(friction=0.8))
    sim = ta.Simulation(world, dt=H, stepper="stewart-trinkle")
    return sim, ta.planar_walk(sim.model, speed=0.6, period=1.0, start=0.05, ramp=0.5).path


@pytest.fixture(scope="module")
def recorded(walker):
    sim, path = walker
    return sim.run(0.5, controller=ta.PathDrives(sim.model, path, H))


def on_path(run, path):
    return np.abs(run.q[:, 2:] - path.at(run.t)[0]).max()


# ----- Drives along a path --------------------------------------------------------------------------------


def test_joints_are_where_the_path_is_after_every_step(walker, recorded):
    assert on_path(recorded, walker[1]) < 1e-12
    assert not recorded.tau[:, :2].any()  # nobody pushes the base


def test_drives_catch_up_after_a_wrong_start(walker):
    sim, path = walker
    q = sim.model.q0.copy()
    q[1] += 1.0  # in the air
    q[2:] += 1e-3
    run = sim.run(0.4, q=q, controller=ta.PathDrives(sim.model, path, H))
    error = np.abs(run.q[:, 2:] - path.at(run.t)[0]).max(axis=1)
    assert error[0] == pytest.approx(1e-3) and error[-1] < 1e-8
    z = 0.5 * (1.0 + np.sqrt(1.0 - 4.0 * 50.0 * H))  # of e_{n+1} = e_n − k h e_{n−1}
    np.testing.assert_allclose(error[41:80] / error[40:79], z, rtol=1e-6)


def test_drives_with_limits_lag_and_come_back(walker):
    sim, path = walker
    free = sim.run(0.4, controller=ta.PathDrives(sim.model, path, H))
    limit = 0.4 * np.abs(free.tau).max()
    run = sim.run(0.4, controller=ta.PathDrives(sim.model, path, H, limit=limit))
    assert np.abs(run.tau).max() <= limit * (1.0 + 1e-9)
    assert on_path(run, path) > 1e-6


def test_a_run_of_drives_continues_bit_for_bit(walker):
    sim, path = walker
    drives = ta.PathDrives(sim.model, path, H)
    first = sim.run(0.1, controller=drives)
    assert (
        sim.run(0.2, controller=drives).hashes[100:]
        == sim.run(0.1, state=first.state, controller=drives).hashes
    )


# ----- Replays --------------------------------------------------------------------------------------------


def test_open_loop_repeats_what_was_recorded(walker, recorded):
    """Until rounding has grown: each step is the same problem, with forces given in place of velocities."""
    sim, _ = walker
    run = sim.run(0.3, controller=ta.Replay(sim.model, recorded))
    assert np.abs(run.q - recorded.q[:301]).max() < 1e-9
    np.testing.assert_array_equal(run.tau[:300], recorded.tau[:300])


def test_feedback_has_nothing_to_do_where_nothing_differs(walker, recorded):
    sim, _ = walker
    fed = sim.run(0.3, controller=ta.Replay(sim.model, recorded, kp=4000.0, kd=80.0))
    assert np.abs(fed.tau[:300] - recorded.tau[:300]).max() < 1e-2 * np.abs(recorded.tau).max()
    assert np.abs(fed.q - recorded.q[:301]).max() < 1e-5


def test_a_recorded_run_is_read_from_a_file_as_well(walker, recorded, tmp_path):
    sim, _ = walker
    again = ta.load_run(recorded.save(tmp_path / "walk.npz"))
    open_loop = [ta.Replay(sim.model, run) for run in (recorded, again)]
    times = H * np.arange(20)
    np.testing.assert_array_equal(*(c.schedule(times) for c in open_loop))


def test_forces_are_those_of_the_step_that_a_time_is_in(walker, recorded):
    replay = ta.Replay(walker[0].model, recorded, kp=100.0)
    m = len(replay.dofs)
    given = replay.schedule(np.array([0.0, 0.4 * H, H, 99 * H, 0.499, 0.5, 7.0]))
    np.testing.assert_array_equal(given[[0, 1, 2, 3, 4], :m], recorded.tau[[0, 0, 1, 99, 499]][:, 2:])
    assert not given[5:, :m].any()  # after the end there are none
    np.testing.assert_array_equal(given[[0, 2, 4], m : 2 * m], recorded.q[[1, 2, 500]][:, 2:])
    halfway = 0.6 * recorded.q[1, 2:] + 0.4 * recorded.q[2, 2:]
    np.testing.assert_allclose(given[1, m : 2 * m], halfway, atol=1e-12)
    np.testing.assert_array_equal(given[5:, m : 2 * m], recorded.q[[500, 500]][:, 2:])
    assert not given[5:, 2 * m :].any()


def test_a_rollout_replays_as_a_run_does(walker, recorded):
    sim, _ = walker
    for options in ({}, {"kp": 4000.0, "kd": 80.0}, {"kp": 4000.0, "kd": 80.0, "limit": 300.0}):
        controller = ta.Replay(sim.model, recorded, **options)
        run = sim.run(0.05, controller=controller)
        start = np.concatenate([sim.model.q0, np.zeros(sim.model.nv)])
        batch = sim.rollout(start[None], steps=50, controller=controller, threads=1)
        np.testing.assert_array_equal(batch.q[0], run.q)


def test_limits_bound_what_a_replay_does(walker, recorded):
    sim, _ = walker
    run = sim.run(0.1, controller=ta.Replay(sim.model, recorded, limit=30.0))  # without gains
    np.testing.assert_allclose(run.tau[:100], np.clip(recorded.tau[:100], -30.0, 30.0), atol=1e-9)
    run = sim.run(0.3, controller=ta.Replay(sim.model, recorded, kp=4000.0, kd=80.0, limit=30.0))
    assert np.abs(run.tau).max() == pytest.approx(30.0)


# ----- Pushes ---------------------------------------------------------------------------------------------


def ball():
    return ta.free_body("ball", ta.Sphere(0.1), mass=2.0, position=(0, 0, 1.0))


@pytest.mark.parametrize("impulse", [(3.0, 0.0, 0.0), (1.0, -2.0, 0.5)])
def test_a_push_on_a_free_body_is_its_change_of_momentum(impulse):
    model = ball()
    sim = ta.Simulation(ta.World(model), dt=H)
    hold = ta.with_push(lambda t, q, v: np.zeros(6), sim.model, ta.Push(impulse, at=0.05, lasting=0.02))
    free, pushed = sim.run(0.1), sim.run(0.1, controller=hold)
    np.testing.assert_allclose(2.0 * (pushed.v - free.v)[-1, :3], impulse, atol=1e-12)
    np.testing.assert_array_equal(pushed.v[:51], free.v[:51])


def test_a_push_beside_every_kind_of_controller(walker, recorded):
    sim, path = walker
    push, model = ta.Push((6.0, 0.0, 2.0), at=0.1, lasting=0.05), sim.model
    base = base_of(model)
    for controller in (
        ta.PathDrives(model, path, H),
        ta.Replay(model, recorded, kp=4000.0, kd=80.0),
        ta.Replay(model, recorded, kp=4000.0, kd=80.0, limit=400.0),
        lambda t, q, v: np.zeros(8),
        lambda t, q, v, seen: np.zeros(8),
    ):
        run = sim.run(0.2, controller=ta.with_push(controller, model, push))
        impulse = H * run.tau[:-1, base.dofs].sum(axis=0) @ base.directions
        np.testing.assert_allclose(impulse, [6.0, 0.0, 2.0], atol=1e-9)
        assert not run.tau[:100, base.dofs].any() and not run.tau[150:-1, base.dofs].any()


def test_where_a_base_is_and_how_it_leans(walker):
    model = walker[0].model
    base = base_of(model)
    q = np.array([model.q0, model.q0])
    q[1, :2] += [0.3, -0.2]
    np.testing.assert_allclose(base.place(q)[1] - base.place(q)[0], [0.3, 0.0, -0.2], atol=1e-15)
    np.testing.assert_allclose(base.place(q)[0], ta.forward_kinematics(model, q[0]).position[1], atol=1e-15)
    np.testing.assert_array_equal(base.upright(q), 1.0)
    robot = ta.robots.quadruped()
    base, q = base_of(robot), robot.q0.copy()
    q[:3], q[3:7] = [1.0, 2.0, 3.0], [np.cos(0.2), 0.0, np.sin(0.2), 0.0]
    np.testing.assert_allclose(base.place(q[None])[0], [1.0, 2.0, 3.0])
    assert base.upright(q[None])[0] == pytest.approx(np.cos(0.4))


# ----- What cannot be -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda m, p, r: ta.Replay(m, 3.0), "must be a Run"),
        (lambda m, p, r: ta.Replay(None, r), "first argument"),
        (lambda m, p, r: ta.Replay(ball(), r), "8 coordinates"),
        (lambda m, p, r: ta.Replay(m, r, kp=-1.0), "negative"),
        (lambda m, p, r: ta.Replay(m, r, kp=[1.0, 2.0]), "one number or 6"),
        (lambda m, p, r: ta.Replay(m, r, joints=["tail"]), "tail"),
        (lambda m, p, r: ta.PathDrives(m, None, H), "path must be"),
        (lambda m, p, r: ta.PathDrives(m, p, 0.0), "dt must be positive"),
        (lambda m, p, r: ta.PathDrives(m, p, H, limit=-1.0), "negative"),
        (lambda m, p, r: ta.PathDrives(ball(), p, H), "right_hip"),
        (lambda m, p, r: ta.Push((1.0, 2.0)), "3 numbers"),
        (lambda m, p, r: ta.Push((1.0, 0.0, 0.0), lasting=0.0), "positive time"),
        (lambda m, p, r: ta.with_push(ta.PD(kp=1.0), m, ta.Push((1.0, 0.0, 0.0))), "PD"),
    ],
)
def test_wrong_input_is_one_clear_line(walker, recorded, call, text):
    sim, path = walker
    with pytest.raises(ta.BadInput, match=text) as found:
        call(sim.model, path, recorded)
    assert "\n" not in str(found.value)


def test_drives_are_for_one_step_and_one_model(walker):
    sim, path = walker
    drives = ta.PathDrives(sim.model, path, H)
    with pytest.raises(ta.BadInput, match=r"for steps of 0\.001 s"):
        ta.Simulation(sim.world, dt=2.0 * H).run(0.01, controller=drives)
    other = ta.Simulation(ta.World(ta.robots.planar_humanoid(), ground=ta.Plane()), dt=H)
    with pytest.raises(ta.BadInput, match="belong to"):
        other.run(0.01, controller=drives)
    with pytest.raises(ta.BadInput, match="belongs to"):
        other.run(0.01, controller=ta.Replay(sim.model, sim.run(0.01)))
