"""Whole-body control: terms against their definitions, the program against mechanics, soles, wrong input."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.control.walking.gaits import Gait
from taction.control.whole_body import Weights

MU = 0.6


@pytest.fixture(scope="module")
def robot():
    return ta.robots.walker()


@pytest.fixture(scope="module")
def body(robot):
    feet = {leg.name: ta.sole(robot.model, leg.name, robot.stance) for leg in robot.legs}
    return ta.WholeBody(robot.model, feet, frames=(robot.model.body_names[0],), friction=MU)


def random_state(robot, rng):
    model = robot.model
    return ta.integrate(model, robot.stance, 0.1 * rng.normal(size=model.nv)), rng.normal(size=model.nv)


def test_terms_are_those_of_the_model(robot, body):
    rng, model = np.random.default_rng(3), robot.model
    q, v = random_state(robot, rng)
    terms = body.look(q, v)
    np.testing.assert_allclose(terms.M, ta.mass_matrix(model, q), atol=1e-11)
    np.testing.assert_allclose(terms.bias, ta.bias_forces(model, q, v), atol=1e-9)
    for name, k in body.frames.items():
        point = body.feet[name].mean(axis=0) if name in body.feet else np.zeros(3)
        J = ta.jacobian(model, q, name, point)
        np.testing.assert_allclose(terms.J[k], J, atol=1e-12)
        np.testing.assert_allclose(terms.drift[k], ta.jacobian_dot_v(model, q, v, name, point), atol=1e-9)
        np.testing.assert_allclose(terms.rate[k], J @ v, atol=1e-12)
    whole = ta.totals(model, q, v)
    np.testing.assert_allclose(terms.centre, whole.com, atol=1e-12)
    np.testing.assert_allclose(terms.centre_rate, whole.com_velocity, atol=1e-12)
    # the acceleration of the centre of mass, by differences along the motion with v held
    h = 1e-5
    ahead, behind = (ta.totals(model, ta.integrate(model, q, s * h * v), v).com_velocity for s in (1, -1))
    drift = body.look(q, v).centre_drift
    np.testing.assert_allclose(drift, (ahead - behind) / (2 * h), atol=1e-6 * (1.0 + np.abs(drift).max()))


def test_the_answer_obeys_mechanics(robot, body):
    """Equation of motion with its forces and torques; nobody pushes the base; forces inside the cone."""
    rng, model = np.random.default_rng(4), robot.model
    base = body.model.body_names[0]
    for _ in range(20):
        q, v = random_state(robot, rng)
        v *= 0.2
        answer = body.solve(q, v, centre=3.0 * rng.normal(size=3), frames={base: (rng.normal(size=3), None)})
        assert answer.is_solved and answer.residual < 1e-9
        load = np.zeros(model.nv)
        for name, forces in answer.forces.items():
            for point, force in zip(body.feet[name], forces, strict=True):
                load += ta.jacobian(model, q, name, point)[3:].T @ force
                assert np.linalg.norm(force[:2]) <= MU * force[2] + 1e-8
        needed = ta.rnea(model, q, v, answer.acceleration) + model.damping * v - load
        np.testing.assert_allclose(needed[:6], 0.0, atol=1e-7)
        np.testing.assert_allclose(needed[6:], answer.tau[6:], atol=1e-7)
        assert not answer.tau[:6].any()


def test_wishes_that_can_be_met_are_met(robot, body):
    base, wish = robot.model.body_names[0], np.array([0.3, -0.2, 0.4])
    answer = body.solve(
        robot.stance, np.zeros(robot.model.nv), centre=wish, frames={base: (np.zeros(3), None)}
    )
    J = body.terms.centre_J
    np.testing.assert_allclose(J @ answer.acceleration, wish, atol=2e-3)  # weights, not priorities
    total = sum(f.sum(axis=0) for f in answer.forces.values())
    weight = robot.model.total_mass * np.array([0.0, 0.0, 9.81])
    np.testing.assert_allclose(total, weight + robot.model.total_mass * wish, rtol=1e-2)


def test_motors_keep_their_limits(robot):
    feet = {leg.name: ta.sole(robot.model, leg.name, robot.stance) for leg in robot.legs}
    free = ta.WholeBody(robot.model, feet).solve(robot.stance, np.zeros(robot.model.nv))
    largest = np.abs(free.tau).max()
    weak = ta.WholeBody(robot.model, feet, limit=0.8 * largest)
    answer = weak.solve(robot.stance, np.zeros(robot.model.nv))
    assert answer.is_solved and np.abs(answer.tau).max() <= 0.8 * largest * (1.0 + 1e-9)


def test_feet_in_the_air_push_nothing(robot, body):
    up, *others = body.feet
    answer = body.solve(robot.stance, np.zeros(robot.model.nv), standing=others)
    assert not answer.forces[up].any() and answer.is_solved


def test_a_walk_goes_on_as_its_last_period_does(robot, body):
    """Plans of 9 s and of 30 s ask for the same torques at 20 s, but for what is left of the start."""
    feet = {leg.name: ta.sole(robot.model, leg.name, robot.stance) for leg in robot.legs}
    q, v = robot.stance.copy(), np.zeros(robot.model.nv)
    q[0] = 0.2 * (20.0 - 1.5)  # where the plan is by then
    torques = []
    for duration in (9.0, 30.0):
        own = ta.WholeBody(robot.model, feet, frames=(robot.model.body_names[0],), friction=MU)
        walk = ta.WholeBodyWalk(own, robot.stance, gait="trot", speed=0.2, duration=duration)
        torques.append(walk(20.0, q, v))
    np.testing.assert_allclose(torques[0], torques[1], atol=1e-3 * np.abs(torques[1]).max())


def test_soles():
    """Below every sphere; the corners of a box; one point of what is round."""
    b = ta.ModelBuilder("foot")
    b.body("base", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.floating("root", child="base")
    for k, shape in enumerate((ta.Box((0.2, 0.1, 0.04)), ta.Ellipsoid((0.02, 0.02, 0.02)))):
        b.body(f"foot{k}", ta.Inertia.solid(shape, mass=1.0), [ta.Shape(shape)])
        b.revolute(f"ankle{k}", parent="base", child=f"foot{k}", axis=(0, 1, 0))
    model = b.build()
    box = ta.sole(model, "foot0")
    assert {tuple(np.round(p, 9)) for p in box} == {(x, y, -0.02) for x in (-0.1, 0.1) for y in (-0.05, 0.05)}
    assert ta.sole(model, "foot1").shape == (1, 3)
    with pytest.raises(ta.BadInput, match="base has no shape to stand on"):
        ta.sole(model, "base")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda m, f: ta.WholeBody(m, {"tail": [[0, 0, 0]]}), "tail"),
        (lambda m, f: ta.WholeBody(m, f, friction=0.0), "friction must be positive"),
        (lambda m, f: ta.WholeBody(m, f, weights=Weights(joints=-1.0)), "weights must be positive"),
        (lambda m, f: ta.WholeBody("robot", f), "first argument of WholeBody"),
        (
            lambda m, f: ta.WholeBody(m, f).solve(m.q0, np.zeros(m.nv), standing=["tail"]),
            "no foot or frame 'tail'",
        ),
        (lambda m, f: ta.WholeBodyWalk(ta.WholeBody(m, f), m.q0), "needs a frame"),
        (
            lambda m, f: ta.WholeBodyWalk(
                ta.WholeBody(m, f, frames=(m.body_names[0],)), m.q0, gait=Gait("hop", (0.0, 0.5), 1.0, 0.6)
            ),
            "hop is a gait of 2 legs, not of 4",
        ),
        (
            lambda m, f: ta.WholeBodyWalk(
                ta.WholeBody(m, f, frames=(m.body_names[0],)), m.q0, gait="trot", speed=np.nan
            ),
            "speed must be finite",
        ),
        (
            lambda m, f: ta.WholeBodyWalk(
                ta.WholeBody(m, f, frames=(m.body_names[0],)), m.q0, gait="trot", duration=1.0
            ),
            "a duration of at least 2.6 s is needed",
        ),
        (lambda m, f: ta.robots.biped("nobody"), "choose from g1, talos"),
    ],
)  # fmt: skip
def test_wrong_input_is_one_clear_line(robot, make, text):
    feet = {leg.name: ta.sole(robot.model, leg.name, robot.stance) for leg in robot.legs}
    with pytest.raises(ta.BadInput, match=text):
        make(robot.model, feet)
