"""Restitution after Newton and after Poisson: balls, a cradle, rods with friction, energy."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import make_scene, point_rows, random_scene
from taction._core.errors import BadInput
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction, Unilateral
from taction.contact.problem import ContactProblem
from taction.contact.restitution import with_newton_restitution
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_jacobian
from taction.kinematics.forward import forward_kinematics
from taction.robots import chain
from taction.solvers import solve
from taction.solvers.poisson import solve_poisson


def newton(problem, e):
    """Impulses of an impact with velocities b before."""
    solution = solve(with_newton_restitution(problem, e, problem.b), tol=1e-12)
    assert solution.converged
    return solution.impulse


def poisson(problem, e):
    impact = solve_poisson(problem, e, tol=1e-12)
    assert impact.converged
    assert impact.velocity == pytest.approx(problem.velocity(impact.impulse), abs=1e-10)
    return impact.impulse


LAWS = [newton, poisson]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_ball_on_the_ground(law, e):
    p = make_scene(
        point_rows(np.zeros(3)), 2.0 * np.eye(6), np.array([0, 0, -3.0, 0, 0, 0]), [Contact(0.5)]
    ).problem
    assert p.velocity(law(p, e)) == pytest.approx([3.0 * e, 0.0, 0.0], abs=1e-10)
    leaving = make_scene(
        point_rows(np.zeros(3)), np.eye(6), np.array([0, 0, 1.0, 0, 0, 0]), [Contact(0.5)]
    ).problem
    assert law(leaving, e) == pytest.approx(np.zeros(3))


def cradle(v):
    """Three equal balls in a row that touch; rows are the two contacts, positive when they part."""
    return make_scene(
        np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]), np.eye(3), np.array(v), [Unilateral(), Unilateral()]
    )


def after(scene, impulse):
    return scene.v + np.linalg.solve(scene.M, scene.J.T @ impulse)


def test_cradle():
    """One ball in, e = 1. The laws agree, since both contacts act throughout; momentum and energy are kept.

    Neither gives the textbook's (0, 0, 1), which is a sequence of impacts and not a simultaneous one.
    """
    scene = cradle([1.0, 0.0, 0.0])
    by_newton, by_poisson = (
        after(scene, newton(scene.problem, 1.0)),
        after(scene, poisson(scene.problem, 1.0)),
    )
    assert by_newton == pytest.approx([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0])
    assert by_poisson == pytest.approx([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0])
    for v in (by_newton, by_poisson):
        assert v.sum() == pytest.approx(1.0) and v @ v == pytest.approx(1.0)


def test_cradle_with_both_sides_approaching():
    scene = cradle([1.0, 0.0, -1.0])
    for law in LAWS:
        assert after(scene, law(scene.problem, 1.0)) == pytest.approx([-1.0, 0.0, 1.0])
        assert after(scene, law(scene.problem, 0.5)) == pytest.approx([-0.5, 0.0, 0.5])


def test_rocking_rod():
    """A rod falls on one end while the other rests and is pressed on the ground by the blow.

    Without friction and with one coefficient the laws agree. If only the resting end is elastic, Newton's law
    sees no approach there and nothing comes back; Poisson's gives back what that end had carried.
    """
    J = np.array([[1.0, -0.5], [1.0, 0.5]])  # ends of a rod of unit length, from centre velocity and spin
    M = np.diag([1.0, 1.0 / 12.0])
    scene = make_scene(J, M, np.array([-0.5, -1.0]), [Unilateral(), Unilateral()])
    assert scene.problem.b == pytest.approx([0.0, -1.0])
    for law in LAWS:
        assert scene.problem.velocity(law(scene.problem, 0.5)) == pytest.approx([0.0, 0.5], abs=1e-9)
    assert scene.problem.velocity(newton(scene.problem, [1.0, 0.0])) == pytest.approx([0.0, 0.0], abs=1e-9)
    # 1/6 comes back at the first end and would press the second down by 1/3: another 1/12 there stops that
    assert scene.problem.velocity(poisson(scene.problem, [1.0, 0.0])) == pytest.approx([0.5, 0.0], abs=1e-9)


def rod(angle=0.6, mu=0.4, v=(1.0, 0.0, -1.0, 0.0, 0.0, 0.0)):
    """A slender rod that strikes the ground with one end, in the xz-plane."""
    arm = 0.5 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    M = np.diag([1.0, 1.0, 1.0, 1 / 12, 1 / 12, 1e-3])
    return make_scene(point_rows(arm), M, np.array(v), [Contact(mu)])


def test_rod_with_friction():
    scene = rod(mu=0.9, v=(0.2, 0.0, -1.0, 0.0, 0.0, 0.0))  # friction stops the tip during compression
    e = 0.7
    a, b = newton(scene.problem, e), poisson(scene.problem, e)
    assert scene.problem.velocity(a)[0] == pytest.approx(e, abs=1e-9)  # Newton: of the approach
    compression = solve(scene.problem, tol=1e-12).impulse
    assert b == pytest.approx(
        (1.0 + e) * compression, abs=1e-9
    )  # Poisson: of the impulse, nothing else touches
    assert np.abs(a - b).max() > 1e-3
    assert certify(scene.problem, b).cone < 1e-12


def test_poisson_never_gains_energy():
    rng = np.random.default_rng(0)
    worst = -np.inf
    for k in range(60):
        scene = random_scene(rng, int(rng.integers(1, 9)), int(rng.integers(1, 4)), sections=1 + k % 3)
        for e in (0.0, 0.5, 1.0):
            gain = scene.energy(poisson(scene.problem, e)) / scene.energy() - 1.0
            worst = max(worst, gain)
    assert worst <= 1e-9


def double_pendulum_impact(q, v, mu):
    """A double pendulum whose tip strikes the ground."""
    model = chain(2, axes=[(0.0, 1.0, 0.0)])
    poses = forward_kinematics(model, q)
    tip = poses.position[1] + poses.rotation[1] @ [0.0, 0.0, -0.3]
    J = contact_jacobian(model, q, [ContactPoint("link2", tip)])
    return make_scene(J, mass_matrix(model, q), np.asarray(v), [Contact(mu)])


@pytest.mark.long
def test_newton_can_gain_energy_with_friction_and_poisson_does_not():
    """Kane's paradox: friction changes the motion, and Newton's law still demands its normal speed."""
    rng = np.random.default_rng(0)
    gains = {"newton": 0, "poisson": 0}
    count = 0
    for _ in range(400):
        q, v, mu = rng.uniform(-1, 1, 2), rng.normal(size=2), rng.uniform(0.1, 1.0)
        scene = double_pendulum_impact(q, v, mu)
        if scene.problem.b[0] >= 0.0:
            continue
        count += 1
        for law in LAWS:
            gains[law.__name__] += scene.energy(law(scene.problem, 0.8)) > scene.energy() * (1.0 + 1e-9)
    assert count > 150 and gains["poisson"] == 0
    assert gains["newton"] > 0.02 * count


@pytest.mark.parametrize("law", LAWS)
def test_no_restitution_is_the_plain_problem(law):
    p = random_scene(np.random.default_rng(4), 4, 3).problem
    assert p.velocity(law(p, 0.0)) == pytest.approx(solve(p, tol=1e-12).velocity, abs=1e-9)


def test_only_approaching_unilateral_rows_change():
    elements = [Contact(0.5), Contact(0.5), Bilateral(1), JointFriction(1.0), Unilateral()]
    before = np.array([-1.0, -2.0, -3.0, 1.0, -2.0, 3.0, -4.0, -5.0, -6.0])
    p = ContactProblem(np.eye(9), before, elements)
    change = with_newton_restitution(p, [0.5, 0.5, 0.5, 0.5, 0.25], before).b - p.b
    assert change == pytest.approx([-0.5, 0, 0, 0, 0, 0, 0, 0, -1.5])


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan, [0.5, 0.5], "bouncy"])
def test_bad_coefficients_are_refused(bad):
    p = ContactProblem(np.eye(1), [-1.0], [Unilateral()])
    with pytest.raises(BadInput, match="restitution"):
        with_newton_restitution(p, bad, p.b)
    with pytest.raises(BadInput, match="restitution"):
        solve_poisson(p, bad)
