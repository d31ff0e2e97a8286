"""Contact problems with answers on paper: blocks on slopes, pushed blocks, spheres, stacks."""

from __future__ import annotations

import numpy as np
import pytest

from contact_problems import UP, G, box_on_ground, make_scene, point_rows, stack
from taction.contact.certificate import certify
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit, Unilateral
from taction.contact.problem import ContactProblem
from taction.solvers import SOLVERS, solve

H = 0.01
# enumeration takes half a minute for the four corners of a block; its own tests have closed forms
EXACT = [name for name in SOLVERS if "exact" in SOLVERS[name].laws and name != "enumeration"]


def solved(problem, solver="auto", tol=1e-11):
    solution = solve(problem, solver, tol=tol)
    if not solution.converged:
        assert solver not in ("auto", "newton", "nsgs"), solution.message
        pytest.skip(f"{solver}: {solution.message}")
    assert certify(problem, solution.impulse).residual <= 2.0 * tol
    return solution


@pytest.mark.parametrize("degrees", [0.0, 10.0, 26.0, 27.0, 45.0, 80.0])
@pytest.mark.parametrize("solver", EXACT)
def test_block_on_a_slope(solver, degrees):
    """Sticks below atan μ; above it slides with g (sin − μ cos); the load is m g cos either way."""
    mu, mass, angle = 0.5, 2.0, np.radians(degrees)  # atan 0.5 = 26.57°
    down = np.array(
        [G * np.sin(angle), 0.0, -G * np.cos(angle), 0.0, 0.0, 0.0]
    )  # slope as the ground, x downhill
    size = (1.0, 0.6, 0.0)  # flat, so that the moment of friction does not shift the load
    scene = box_on_ground(H * down, mu, mass=mass, size=size)
    solution = solved(scene.problem, solver, 1e-8 if solver not in ("auto", "newton") else 1e-11)
    total = solution.impulse.reshape(-1, 3).sum(axis=0)
    speed = H * max(0.0, G * (np.sin(angle) - mu * np.cos(angle)))
    hold = mass * H * G * min(np.sin(angle), mu * np.cos(angle))
    assert total == pytest.approx([mass * G * H * np.cos(angle), -hold, 0.0], abs=1e-6 * mass * G * H)
    assert solution.velocity.reshape(-1, 3) == pytest.approx(
        np.tile([0.0, speed, 0.0], (4, 1)), abs=1e-6 * G * H
    )


@pytest.mark.parametrize("heading", np.linspace(0.0, 2.0 * np.pi, 7)[:-1])
@pytest.mark.parametrize(("push", "slides"), [(0.04, False), (0.06, True), (3.0, True)])
def test_pushed_block(heading, push, slides):
    """Friction opposes the push, whatever its direction; μ g h = 0.049 m/s is the limit."""
    mu = 0.5
    d = np.array([np.cos(heading), np.sin(heading)])
    scene = box_on_ground([*(push * d), -G * H, 0.0, 0.0, 0.0], mu, mass=1.0, size=(1.0, 1.0, 0.0))
    u = solved(scene.problem).velocity.reshape(-1, 3)
    left = max(0.0, push - mu * G * H)
    assert (left > 0.0) == slides
    assert u == pytest.approx(np.tile([0.0, *(left * d)], (4, 1)), abs=1e-10)


@pytest.mark.parametrize("push", [0.1, 5.0])
def test_sphere_rolls_or_slides(push):
    """A sphere struck through its centre: it rolls after the step if the push is at most 7/2 μ g h."""
    mu, mass, radius = 0.5, 3.0, 0.2
    M = np.diag([mass] * 3 + [0.4 * mass * radius**2] * 3)
    v = np.array([push, 0.0, -G * H, 0.0, 0.0, 0.0])
    scene = make_scene(point_rows(np.array([0.0, 0.0, -radius])), M, v, [Contact(mu)])
    solution = solved(scene.problem)
    friction = min(2.0 / 7.0 * mass * push, mu * mass * G * H)
    assert solution.impulse == pytest.approx([mass * G * H, -friction, 0.0], rel=1e-9, abs=1e-12)
    assert solution.velocity[1] == pytest.approx(push - 3.5 * friction / mass, abs=1e-10)
    assert (abs(solution.velocity[1]) < 1e-10) == (push <= 3.5 * mu * G * H)


@pytest.mark.parametrize("law", ["exact", "convex", "frictionless"])
def test_stack_carries_what_is_above(law):
    masses = [3.0, 1.0, 7.0, 0.5, 2.0]
    solution = solved(stack(masses, law=law).problem)
    load = solution.impulse.reshape(len(masses), 4, 3)[:, :, 0].sum(axis=1)
    assert load == pytest.approx(G * 0.01 * np.cumsum(masses[::-1])[::-1], rel=1e-8)
    assert np.abs(solution.velocity).max() <= 1e-9


def test_top_of_a_stack_slides_off_and_drags_the_next():
    """Two boxes: friction between them accelerates the lower one up to what the ground holds."""
    scene = stack([1.0, 1.0], mu=0.3, push=1.0)
    solution = solved(scene.problem)
    shear = solution.impulse.reshape(2, 4, 3)[:, :, 1].sum(axis=1)
    # 0.3 m g h on top is less than the 0.3·2 m g h that the ground can hold: the lower one stays
    assert shear == pytest.approx([-0.3 * G * 0.01, -0.3 * G * 0.01], rel=1e-8)
    assert solution.velocity.reshape(2, 4, 3)[1, :, 1] == pytest.approx(1.0 - 0.3 * G * 0.01, rel=1e-9)


def test_orthotropic_block_turns_towards_the_slippery_axis():
    """Friction is normal to the ellipse: with μ₂ = 0 the block keeps its speed across and loses it along."""
    J = point_rows(np.zeros(3))
    v = np.array([1.0, 1.0, -0.1, 0.0, 0.0, 0.0])
    for mu in ([0.5, 0.0], [0.5, 0.2], [0.2, 0.7, 0.9]):
        scene = make_scene(J, np.eye(6), v, [Contact(*mu)])
        solution = solved(scene.problem)
        u = solution.velocity[1:]
        axes = np.array([mu[0], mu[1]])  # it slides forward: the coefficient of +t₁ counts
        assert solution.impulse[1:] == pytest.approx(-0.1 * axes**2 * u / np.hypot(*(axes * u)), rel=1e-9)
    forward = solved(make_scene(J, np.eye(6), v * [1, 0, 1, 1, 1, 1], [Contact(0.2, 0.2, 0.9)]).problem)
    back = solved(make_scene(J, np.eye(6), v * [-1, 0, 1, 1, 1, 1], [Contact(0.2, 0.2, 0.9)]).problem)
    assert (forward.impulse[1], back.impulse[1]) == pytest.approx((-0.02, 0.09), rel=1e-9)


def test_viscous_friction_adds_to_coulombs():
    """|Λ_T| = μ Λ_N + ν |u_T| while sliding."""
    scene = make_scene(
        point_rows(np.zeros(3)), np.eye(6), np.array([2.0, 0, -0.5, 0, 0, 0]), [Contact(0.4, viscous=0.25)]
    )
    solution = solved(scene.problem)
    u = (2.0 - 0.4 * 0.5) / 1.25
    assert solution.velocity == pytest.approx([0.0, u, 0.0], abs=1e-10)
    assert solution.impulse == pytest.approx([0.5, -0.4 * 0.5 - 0.25 * u, 0.0], abs=1e-10)


def test_compliance_is_a_spring_in_series():
    problem = ContactProblem([[2.0]], [-3.0], [Unilateral()], compliance=[1.0])
    assert solved(problem).impulse == pytest.approx([1.0])


@pytest.mark.parametrize("solver", EXACT)
def test_one_of_each_element(solver):
    """Uncoupled rows: every answer can be read off."""
    elements = [Unilateral(), JointLimit(), JointFriction(0.5), JointFriction(0.5), Bilateral(2)]
    problem = ContactProblem(
        np.diag([1.0, 2.0, 4.0, 1.0, 1.0, 5.0]), [-1.0, 3.0, 1.0, -2.0, 7.0, -5.0], elements
    )
    solution = solved(problem, solver, 1e-9)
    assert solution.impulse == pytest.approx([1.0, 0.0, -0.25, 0.5, -7.0, 1.0], abs=1e-7)
    assert solution.velocity == pytest.approx([0.0, 3.0, 0.0, -1.5, 0.0, 0.0], abs=1e-7)


def test_tilted_frames_see_the_same_slope():
    """A block on a slope in world axes equals one in the axes of the slope."""
    angle = np.radians(40.0)
    R = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    world = make_scene(
        point_rows(np.zeros(3), R @ UP), np.eye(6), np.array([0, 0, -1.0, 0, 0, 0]), [Contact(0.4)]
    )
    own = make_scene(
        point_rows(np.zeros(3)), np.eye(6), np.array([*(R.T @ [0, 0, -1.0]), 0, 0, 0]), [Contact(0.4)]
    )
    assert solved(world.problem).impulse == pytest.approx(solved(own.problem).impulse, abs=1e-12)
