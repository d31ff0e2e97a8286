"""Reduced against absolute coordinates: two formulations of one mechanism, of which each judges the other.

With momenta carried from midpoint to midpoint both discretise the same equations, so what differs is rounding
and the tolerance of the contact solver, and what impacts make of them: they are compared before those grow.

A snake that lies and slides has more contacts than lifting freedoms, so the law does not say how they share
its weight, and friction depends on that: even its velocities are not unique (`test_a_lying_snake_...`). There
both coordinates agree if they choose alike: with Gauss–Seidel sweeps in both, joints eliminated before, from
the same impulses of the step before. (Newton's method divides by a small proximal weight, so that rounding
shifts shares; `auto` sweeps in one and factors in the other.)

Run as a script it prints the distances of the centres of mass after one second at 0.1 ms (some minutes).
"""

import numpy as np
import pytest

import taction as ta
from taction.kinematics.forward import forward_kinematics
from taction.robots.snake import place_snake
from taction.scenarios import get_scenario
from taction.solvers.nsgs import NSGS

TOLERANCE = 1e-11
SWEEPS = NSGS(tol=1e-9, max_iterations=20_000)


def centre_of_mass(model, q):
    masses = np.array([body.inertia.mass for body in model.spec.bodies])
    places = forward_kinematics(model, q)
    offsets = np.array([body.inertia.com for body in model.spec.bodies])
    centres = places.position + np.einsum("bij,bj->bi", places.rotation, offsets)
    return masses @ centres / masses.sum()


def apart(world, dt, duration, stepper="moreau-momentum", solver="auto", residual=1e-8, **start):
    """Distance of the centres of mass at the end [m]."""
    ends = []
    for coordinates in ("reduced", "absolute"):
        sim = ta.Simulation(
            world, dt=dt, stepper=stepper, solver=solver, tol=TOLERANCE, coordinates=coordinates
        )
        run = sim.run(duration, **start)
        assert run.certificate.residual <= residual
        assert run.certificate.unconverged_steps == 0 or solver is SWEEPS
        assert run.energy.closure <= 1e-9
        ends.append(centre_of_mass(world.model, run.q[-1]))
    return float(np.abs(ends[0] - ends[1]).max())


def dropped(links):
    model = ta.robots.snake(links=links)
    q = place_snake(model, position=(0.0, 0.0, 0.2), incline=np.deg2rad(30))
    return ta.World(model, ground=ta.Plane(friction=1.0)), {"q": q}


def creeping():
    scenario = get_scenario("snake-undulation")
    values = scenario.settings({"compare": False, "ramp": 0.2})
    sim, start = scenario.make(values, 1e-3, None, {})
    return sim.world, start


def standing():
    model = ta.robots.quadruped()
    q = model.q0.copy()
    q[2] += 0.05
    return ta.World(model, ground=ta.Plane(friction=0.7)), {"q": q, "controller": ta.PD(kp=500.0, kd=20.0)}


def linkage():
    scenario = get_scenario("four-bar")
    values = scenario.settings({})
    world = scenario.world(values)
    return world, {k: v for k, v in scenario.start(values, world).items() if k in ("q", "v")}


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_a_snake_drops_alike(dt):
    world, start = dropped(6)
    assert apart(world, dt, 0.4, **start) <= 1e-6


@pytest.mark.long
def test_a_snake_creeps_alike():
    """Where sliding begins, sweeps end at residuals above their tolerance in a few steps, alike in both."""
    world, start = creeping()
    assert apart(world, 1e-4, 0.05, solver=SWEEPS, residual=1e-6, **start) <= 1e-9


def test_a_snake_creeps_alike_with_auto():
    """`auto` selects one of the many solutions, the same in both."""
    world, start = creeping()
    assert apart(world, 1e-3, 0.1, **start) <= 1e-8


def test_a_lying_snake_has_many_velocities():
    """Two certified solutions of one step, from different guesses, with different sliding velocities."""
    world, start = creeping()
    sim = ta.Simulation(world, dt=1e-3, stepper="moreau-momentum", tol=TOLERANCE)
    problem = sim.problem(sim.run(0.1, **start).state)
    guesses = np.zeros((2, problem.size))
    guesses[1, ::3] = np.random.default_rng(0).uniform(0.0, 0.3, problem.contacts)
    found = [ta.solve(problem, solver="newton", guess=g, tol=1e-12).impulse for g in guesses]
    assert max(ta.certify(problem, r).residual for r in found) <= 1e-11
    u, w = (problem.velocity(r) for r in found)
    assert np.abs(u - w).max() >= 1e-4


def test_a_quadruped_falls_alike():
    world, start = standing()
    assert apart(world, 5e-4, 0.2, **start) <= 1e-7


def test_schemes_of_order_one_converge_to_each_other():
    """Stewart and Trinkle's scheme takes velocity products at a point here, as differences there."""
    model = ta.robots.snake(links=3)
    rng = np.random.default_rng(0)
    start = {"q": model.q0 + 0.0, "v": rng.normal(size=model.nv)}
    start["q"][2] = 5.0
    world = ta.World(model)
    coarse, fine = (apart(world, h, 0.3, "stewart-trinkle", **start) for h in (2e-3, 1e-3))
    assert 1.8 <= coarse / fine <= 2.2


def test_a_four_bar_loop_turns_alike():
    world, start = linkage()
    for dt in (1e-3, 5e-4):
        assert apart(world, dt, 0.2, **start) <= 1e-8


if __name__ == "__main__":
    for what, (world, start), solver in (
        ("drop, 11 links", dropped(11), "auto"),
        ("gait, 11 links", creeping(), SWEEPS),
        ("quadruped", standing(), "auto"),
        ("four-bar", linkage(), "auto"),
    ):
        name = solver if isinstance(solver, str) else solver.name
        distance = apart(world, 1e-4, 1.0, solver=solver, residual=1e-6, **start)
        print(f"{what:16s} {name:7s} {distance:.1e} m", flush=True)
