"""The snake document's own simulation: its matrices, scheme, projection, drop and lateral undulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import taction as ta
from helpers import assert_close
from taction._core.errors import BadInput, IntegrationError, ModelError
from taction.control.waves import MotionPattern, lateral_undulation
from taction.math.transform import quaternion_from_rotation, rotation_about
from taction.reference.friction_ellipse import Ellipses
from taction.reference.transeth_data import SnakeParameters, SnakeState
from taction.reference.transeth_kinematics import quaternion_rates, rotations
from taction.reference.transeth_snake import TransethSnake
from taction.robots import snake
from taction.solvers import solve

G = 9.81
UNEQUAL = {
    "links": 4,
    "length": (0.2, 0.3, 0.25, 0.4),
    "sphere_distance": (0.05, 0.1, 0.1, 0.15),
    "mass": (1.0, 3.0, 2.0, 5.0),
    "inertia_transverse": (0.01, 0.03, 0.02, 0.06),
    "inertia_axial": (0.002, 0.004, 0.003, 0.01),
}


def tumbling(links=3, **options):
    """A bent robot high above the floor with velocities that its joints allow, and its joint angles."""
    d = TransethSnake(SnakeParameters(**{"links": links, **options}))
    rng = np.random.default_rng(2)
    angles = rng.uniform(-0.5, 0.5, (d.n - 1, 2))
    q = d.drop_state(0.3, 20.0).q
    R = rotations(q[:, 3:])[0]
    for i, (h, v) in enumerate(angles):
        R = R @ rotation_about((0.0, 1.0, 0.0), h) @ rotation_about((1.0, 0.0, 0.0), v)
        q[i + 1, 3:] = quaternion_from_rotation(R)
    q = d.project(q)
    u = rng.normal(size=6 * d.n) * np.tile([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], d.n)
    W_J, inverse = d.matrices(q)[2], 1.0 / d.M.ravel()
    if d.n > 1:
        u -= inverse * (W_J @ np.linalg.solve(W_J.T @ (inverse[:, None] * W_J), W_J.T @ u))
    return d, SnakeState(q, u.reshape(d.n, 6), np.zeros((2 * d.n, 3))), angles


def spin(d, q, u):
    """Angular momentum about the centre of gravity (3,)."""
    linear, angular = d.momenta(q, u)
    return angular - np.cross(d.centre(q), linear)


@pytest.fixture(scope="module")
def drop():
    d = TransethSnake()
    return d, d.run(1.5)


# ----- Kinematics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("friction_at", ["centre", "contact"])
def test_matrices_are_the_derivatives_of_the_gaps(friction_at):
    """Central differences along any u; step 1e-6 leaves 1e-12 of truncation and 1e-10 of rounding."""
    d, state, _ = tumbling(**UNEQUAL, friction_at=friction_at)
    q, h = state.q, 1e-6
    u = np.random.default_rng(5).normal(size=(d.n, 6))
    R = rotations(q[:, 3:])
    W_N, W_T, W_J = d.matrices(q)
    assert (W_N.shape, W_T.shape, W_J.shape) == ((24, 8), (24, 16), (24, 12))
    velocity = np.hstack([u[:, :3], quaternion_rates(q[:, 3:], u[:, 3:])])
    ahead, behind = q + h * velocity, q - h * velocity
    assert_close(W_N.T @ u.ravel(), (d.contact_gaps(ahead) - d.contact_gaps(behind)) / (2.0 * h), 1e-8)
    assert_close(W_J.T @ u.ravel(), ((d.joint_gaps(ahead) - d.joint_gaps(behind)) / (2.0 * h)).ravel(), 1e-8)
    # tangential velocities have no gap: sphere centres, or body-fixed points below them, in the frames (21)
    for a in range(2 * d.n):
        i, s = a % d.n, d.arm[a % d.n] * (1.0 if a < d.n else -1.0)
        arm = np.array([0.0, 0.0, s])
        if friction_at == "contact":
            arm = arm - d.parameters.radius * R[i][2]
        point = [p[i, :3] + rotations(p[:, 3:])[i] @ arm for p in (ahead, behind)]
        along = np.array([R[i][0, 2], R[i][1, 2], 0.0]) / np.hypot(R[i][0, 2], R[i][1, 2])
        frame = np.stack([along, np.cross([0.0, 0.0, 1.0], along)])
        expected = frame @ (point[0] - point[1]) / (2.0 * h)
        assert_close(W_T.T[2 * a : 2 * a + 2] @ u.ravel(), expected, 1e-8, scale=1.0)


def test_friction_frames_of_vertical_links():
    """The limit of a link pitched up from lying along +x: x forward, y to the left."""
    d = TransethSnake(SnakeParameters(links=1))
    upright, almost = (d.matrices(d.drop_state(angle, 1.0).q)[1] for angle in (np.pi / 2, np.pi / 2 - 1e-6))
    assert_close(upright, almost, 1e-5)


def test_joint_angles_and_rates():
    d, state, angles = tumbling(5)
    assert_close(d.joint_angles(state.q), angles, 1e-12)
    h = 1e-6
    velocity = np.hstack([state.u[:, :3], quaternion_rates(state.q[:, 3:], state.u[:, 3:])])
    rate = (d.joint_angles(state.q + h * velocity) - d.joint_angles(state.q - h * velocity)) / (2.0 * h)
    assert_close(d.joint_rates(state.q, state.u), rate, 1e-8)


def test_projection_closes_the_joints_and_keeps_what_it_should():
    d, state, _ = tumbling(6)
    q = state.q + 0.01 * np.random.default_rng(0).normal(size=state.q.shape)
    axes = rotations(q[:, 3:])[:, :, 2]
    p = d.project(q)
    assert np.abs(d.joint_gaps(q)).max() > 1e-3
    assert np.abs(d.joint_gaps(p)).max() <= 1e-14 * 20.0  # rounding at a height of 20 m
    assert np.abs(np.linalg.norm(p[:, 3:], axis=1) - 1.0).max() <= 1e-15
    assert_close(rotations(p[:, 3:])[:, :, 2], axes, 1e-14)
    assert_close(p[0, :3], q[0, :3], 0.0)
    assert_close(rotations(p[:, 3:])[0], rotations(q[:, 3:])[0], 1e-14)
    assert_close(d.project(p), p, 1e-15)


# ----- Forces ---------------------------------------------------------------------------------------------


def test_torques_are_internal_and_have_the_signs_of_the_document():
    """A positive torque turns link i about its own axis and link i + 1 back: the joint angle falls."""
    d, state, _ = tumbling(4)
    tau = np.random.default_rng(1).normal(size=(3, 2))
    applied = d.applied_torques(state.q, tau)
    R = rotations(state.q[:, 3:])
    assert np.abs(np.einsum("iab,ib->a", R, applied[:, 3:])).max() <= 1e-14
    power = float((applied * state.u).sum())
    assert power == pytest.approx(-float((tau * d.joint_rates(state.q, state.u)).sum()), rel=1e-12)


@pytest.mark.parametrize("damping", ["joint", "link"])
def test_controllers_hold_the_joints(damping):
    """In free flight without gravity, from bent angles to zero, whichever reading of the damping."""
    d, state, angles = tumbling(5, damping=damping, gravity=0.0)
    run = d.run(1.0, 1e-3, MotionPattern(), state=d.at_rest(state.q))
    assert np.abs(angles).max() > 0.3
    assert np.abs(d.joint_angles(run.q[-1])).max() <= 0.02
    assert np.abs(d.joint_rates(run.q[-1], run.u[-1])).max() <= 0.2


@pytest.mark.parametrize("mu", [(0.01, 0.05), (0.3, 0.3), (0.0, 0.4), (0.0, 0.0)])
def test_projection_on_the_friction_ellipse(mu):
    """Optimality: what was taken off points along the normal cone, so no point of the ellipse is nearer."""
    rng = np.random.default_rng(3)
    normal = np.concatenate([[0.0], rng.uniform(0.0, 2.0, 40)])
    x = rng.normal(size=(2, 41)) * rng.choice([0.01, 1.0], 41)
    ellipses = Ellipses(mu, 41)
    for _ in range(2):  # the second call starts from the first one's roots
        y = np.array(ellipses.project(x[0], x[1], normal))
    angle = np.linspace(-np.pi, np.pi, 720)
    for k in range(41):
        a, b = mu[0] * normal[k], mu[1] * normal[k]
        assert (abs(y[0, k]) <= a * (1 + 1e-12)) and (abs(y[1, k]) <= b * (1 + 1e-12))
        rim = np.stack([a * np.cos(angle), b * np.sin(angle)])
        assert (((x[:, k] - y[:, k]) @ (rim - y[:, k : k + 1])) <= 1e-12).all()


# ----- Flight ---------------------------------------------------------------------------------------------


def test_flight_conserves_momentum():
    """Linear exactly, and the centre of a single link falls on a parabola; spin to first order."""
    drift = []
    for dt in (2e-3, 1e-3):
        d, state, _ = tumbling(3)
        run = d.run(0.2, dt, state=state)
        fall = np.array([0.0, 0.0, -G * 0.2 * d.mass.sum()])
        linear = d.momenta(run.q[-1], run.u[-1])[0] - d.momenta(state.q, state.u)[0]
        assert_close(linear, fall, 1e-13)
        drift.append(np.abs(spin(d, run.q[-1], run.u[-1]) - spin(d, state.q, state.u)).max())
    assert drift[0] / drift[1] == pytest.approx(2.0, abs=0.1)
    d, state, _ = tumbling(1)
    run = d.run(0.2, 2e-3, state=state)
    assert_close(run.q[-1, 0, :3], state.q[0, :3] + 0.2 * state.u[0, :3] - [0.0, 0.0, 0.02 * G], 1e-13)


@pytest.mark.parametrize("midpoint", ["implicit", "explicit"])
def test_order_against_the_general_simulator(midpoint):
    """Errors against a solution of order 4 in joint coordinates halve with the step."""
    d, state, angles = tumbling(3, midpoint=midpoint)
    q = np.concatenate([state.q[0], angles.ravel()])
    v = np.concatenate([state.u[0], d.joint_rates(state.q, state.u).ravel()])
    exact = ta.Simulation(snake(links=3), dt=1e-3, integrator="rk4").run(0.2, q=q, v=v)
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        run = d.run(0.2, dt, state=state)
        end, u = run.q[-1], run.u[-1]
        errors.append(
            [
                np.abs(end[0, :3] - exact.q[-1][:3]).max(),
                np.abs(d.joint_angles(end).ravel() - exact.q[-1][7:]).max(),
                np.abs(d.joint_rates(end, u).ravel() - exact.v[-1][6:]).max(),
            ]
        )
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert (np.abs(order - 1.0) <= 0.1).all(), order
    assert errors[-1][0] <= 1e-3 and errors[-1][1] <= 2e-3


def test_both_readings_of_the_midpoint_are_one_scheme():
    """The two p_M are parallel, hence so are the p_E, and Section VI-C normalises them."""
    runs = []
    for midpoint in ("implicit", "explicit"):
        d, state, _ = tumbling(4, midpoint=midpoint)
        runs.append(d.run(0.2, 2e-3, state=state))
    assert_close(runs[0].q, runs[1].q, 1e-12)
    assert_close(runs[0].u, runs[1].u, 1e-12)


# ----- Contact --------------------------------------------------------------------------------------------


def test_drop(drop):
    """Free fall of z_1 until the rear sphere is down, jumps of the velocity there, rest at the end."""
    _, run = drop
    touch = np.sqrt(2.0 * (0.38 - 0.1016 * 0.5 - 0.0795) / G)
    k = int(np.argmax(run.iterations > 0))  # end of the first step with contact
    assert run.t[k] == pytest.approx(touch, abs=1.5e-3)  # seen at a midpoint, within the step after it
    assert_close(run.q[:k, 0, 2], 0.38 - 0.5 * G * run.t[:k] ** 2, 1e-12)
    jump = np.diff(run.u[:, 0, 2])
    assert jump[: k - 1] == pytest.approx(-G * 1e-3)
    assert jump[k - 1] > 1.0 and (np.abs(jump) > 1.0).sum() == 2  # its rear and its front sphere
    assert np.abs(run.u[-1]).max() <= 1e-6
    assert np.abs(run.q[-1, :, 1]).max() <= 1e-12  # the plane of the fall is kept


def test_drop_keeps_joints_and_quaternions(drop):
    _, run = drop
    assert run.joint_gap.max() <= 1e-12
    assert np.abs(np.linalg.norm(run.q[:, :, 3:], axis=2) - 1.0).max() <= 1e-15


def test_drop_never_gains_energy(drop):
    """Up to what (70) leaves open: velocities of contacts are off by ε/r, with impulses Λ, in each step."""
    d, run = drop
    p = d.parameters
    open_work = run.normal_impulse[1:].sum(axis=1) * p.epsilon / min(p.r_N, p.r_T)
    assert (np.diff(run.energy) <= 1e-11 * run.energy[0] + open_work).all()
    assert run.energy[-1] < 0.1 * run.energy[0]


def test_drop_penetrates_by_no_more_than_a_step(drop):
    d, run = drop
    speed = np.abs(run.u[:, :, 2]).max() + d.arm.max() * np.abs(run.u[:, :, 3:]).max()
    assert min(d.contact_gaps(q).min() for q in run.q[::5]) >= -1e-3 * speed
    assert run.change.max() < d.parameters.epsilon  # every step converged


def test_at_rest_the_floor_carries_the_weight(drop):
    d, run = drop
    assert run.normal_impulse[-1].sum() == pytest.approx(d.mass.sum() * G * 1e-3, rel=1e-6)


def test_impulses_are_those_of_the_general_solvers():
    """A bent robot thrown at the floor, two spheres touching."""
    d = TransethSnake(SnakeParameters(epsilon=1e-12, max_iterations=20_000))
    state = d.drop_state()
    for _ in range(400):
        state = d.step(state).state
    problem, active = d.contact_problem(state)
    step = d.step(state)
    assert len(active) == 2 and (step.active == active).all()
    expected = solve(problem, tol=1e-12).impulse
    found = np.concatenate([step.state.impulse[active].ravel(), step.joint_impulse.ravel()])
    assert_close(found, expected, 1e-8)


@pytest.mark.long
@pytest.mark.parametrize(("friction", "travels"), [((0.01, 0.05), True), ((0.05, 0.05), False)])
def test_lateral_undulation_needs_orthotropic_friction(friction, travels):
    """Towards link 1, against the wave; with isotropic friction not a fiftieth of that in the same time."""
    d = TransethSnake(SnakeParameters(friction=friction))
    run = d.run(2.0, 1e-3, lateral_undulation(), state=d.drop_state(0.0, d.parameters.radius))
    way = d.centre(run.q[-1]) - d.centre(run.q[0])
    if travels:
        assert way[0] == pytest.approx(-0.216, rel=0.02)  # 0.2155 m with a quarter of the step
    else:
        assert abs(way[0]) <= 0.216 / 50.0
    error = d.joint_angles(run.q[-1]) - lateral_undulation().at(2.0, 10)[0]
    # without feed-forward the joint lags by K_d/K_p: 0.05 s · A ω = 0.06 rad, and by its inertia
    assert np.abs(error[:, 0]).max() <= 0.08 and np.abs(error[:, 1]).max() <= 1e-6
    assert run.joint_gap.max() <= 1e-12 and run.change.max() < d.parameters.epsilon


def test_a_warm_start_saves_iterations():
    d = TransethSnake()
    first = d.step(d.drop_state(0.0, d.parameters.radius - 1e-6))
    again = d.step(first.state)
    assert len(first.active) == 22 and again.iterations < first.iterations


def test_parameters_that_are_too_large_are_reported():
    d = TransethSnake(SnakeParameters(r_N=50.0))
    with pytest.raises(IntegrationError, match=r"at t = 0 s: Modified Newton.*r_N = 50 kg"):
        d.run(0.01, state=d.drop_state(0.0, d.parameters.radius - 1e-6))


def test_bad_input():
    for options in ({"mass": (1.0, 2.0)}, {"friction": (0.1,)}, {"links": 0}, {"r_N": -1.0}, {"mass": 0.0}):
        with pytest.raises(ModelError):
            SnakeParameters(**options)
    with pytest.raises(BadInput, match="midpoint"):
        replace(SnakeParameters(), midpoint="trapezoidal")
    d = TransethSnake(SnakeParameters(links=2))
    with pytest.raises(BadInput, match="torques"):
        d.step(d.drop_state(), np.zeros(2))
    with pytest.raises(BadInput, match="dt"):
        d.step(d.drop_state(), dt=0.0)
    with pytest.raises(BadInput, match="duration"):
        d.run(-1.0)
