"""Servos with a largest force against closed forms: constant torque at the limit, a spring below it."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta

LENGTH, MASS, LIMIT = 0.5, 0.5, 30.0
INERTIA = MASS * LENGTH**2 / 3.0  # of a thin rod about its end


def rod(*, gravity: float = 0.0, **servo) -> ta.Model:
    """A 0.5 kg rod on a hinge, with a servo."""
    b = ta.ModelBuilder("rod", gravity=(0.0, 0.0, -gravity))
    own = ta.Inertia.solid(ta.Box((LENGTH, 1e-6, 1e-6)), mass=MASS)
    b.body("rod", own.placed(ta.Transform(translation=(LENGTH / 2, 0.0, 0.0))))
    b.revolute("hinge", parent="world", child="rod", axis=(0, -1, 0))
    b.actuator("servo", "hinge", **{"kind": "position", "force_range": (-LIMIT, LIMIT)} | servo)
    return b.build()


def changes_of_sign(force: np.ndarray) -> int:
    signs = np.sign(force[np.abs(force) > 1e-9 * LIMIT])
    return int((np.diff(signs) != 0).sum())


def moved(model, u, time, *, dt=1e-3, coordinates="reduced", stepper="stewart-trinkle", **options):
    sim = ta.Simulation(ta.World(model), dt=dt, coordinates=coordinates, stepper=stepper)
    run = sim.run(time, controller=ta.Actuators(model, [u]), **options)
    assert run.certificate.unconverged_steps == 0 and run.certificate.residual < 1e-9
    assert abs(run.energy.closure) < 1e-12
    return run


@pytest.mark.parametrize("coordinates", ["reduced", pytest.param("absolute", marks=pytest.mark.long)])
def test_the_saturated_phase_is_that_of_constant_torque(coordinates):
    """θ = τ t²/2I until the braking starts; a step of h is late by τ h t/2I, its order."""
    model = rod(kp=1e5, kv=4e3)
    for dt in (1e-3, 5e-4):
        run = moved(model, 2.0, 0.6, dt=dt, coordinates=coordinates)
        force = run.tau[:-1, 0]
        saturated = int(np.argmax(force < LIMIT * (1 - 1e-12)))
        assert saturated > 30 * 1e-3 / dt
        t = run.t[:saturated]
        error = np.abs(run.q[:saturated, 0] - LIMIT * t**2 / (2 * INERTIA))
        assert error.max() <= 1.01 * LIMIT * dt * t[-1] / (2 * INERTIA)
        assert changes_of_sign(force) <= 1
    assert run.q[-1, 0] == pytest.approx(2.0, abs=1e-3)


def test_no_chatter_where_it_holds():
    """At the target a servo of any gain holds the weight, sagging by weight over gain."""
    for kp in (1e3, 1e5, 1e8):
        run = moved(rod(gravity=9.81, kp=kp, kv=2 * np.sqrt(kp * INERTIA)), 0.0, 1.0)
        weight = MASS * 9.81 * LENGTH / 2
        assert run.tau[-1, 0] == pytest.approx(weight, rel=1e-3)
        assert run.q[-1, 0] == pytest.approx(-weight / kp, rel=1e-3)
        assert changes_of_sign(run.tau[:, 0]) == 0


def test_too_weak_a_servo_falls_with_its_limit():
    """With less than the weight's torque it gives all it has, and the rest accelerates."""
    run = moved(rod(gravity=9.81, kp=1e6, force_range=(-1.0, 0.7)), 0.0, 0.02)
    weight = MASS * 9.81 * LENGTH / 2
    assert (run.tau[1:, 0] == pytest.approx(0.7)) and run.tau[0, 0] == pytest.approx(0.7)
    assert run.v[-1, 0] == pytest.approx(-(weight - 0.7) / INERTIA * 0.02, rel=1e-3)


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "midpoint", "moreau", "acceleration-level"])
def test_within_its_limits_it_is_the_linear_servo(stepper):
    """The same bits as a servo without a range, whatever the scheme."""
    wide, free = rod(kp=50.0, kv=1.0), rod(kp=50.0, kv=1.0, force_range=(-np.inf, np.inf))
    a, b = (moved(model, 0.3, 0.1, stepper=stepper) for model in (wide, free))
    assert np.abs(a.q - b.q).max() < 1e-13
    assert np.abs(a.tau - b.tau).max() < 1e-10


def test_the_gear_turns_force_and_target():
    """τ = g clip(k (u − g q)): with g = −2 the joint is pushed the other way, twice as hard."""
    run = moved(rod(kp=1e5, kv=1e3, gear=-2.0, force_range=(-5.0, 5.0)), 1.0, 0.05)
    assert run.tau[0, 0] == pytest.approx(-10.0)
    assert run.v[20, 0] == pytest.approx(-10.0 / INERTIA * 0.02, rel=1e-9)


def test_a_bare_model_takes_the_same_steps():
    model = rod(kp=1e5, kv=4e3)
    bare = ta.Simulation(model, dt=1e-3, stepper="stewart-trinkle").run(
        0.1, controller=ta.Actuators(model, [2.0])
    )
    assert np.array_equal(bare.q, moved(model, 2.0, 0.1).q)
    with pytest.raises(ta.BadInput, match="leave the integrator out"):
        ta.Simulation(model, integrator="rk4").run(0.1, controller=ta.Actuators(model, [2.0]))


def test_a_pd_with_a_limit_is_the_same_servo():
    model = rod(kp=1e5, kv=4e3)
    sim = ta.Simulation(ta.World(model), dt=1e-3, stepper="stewart-trinkle")
    run = sim.run(0.1, controller=ta.PD(kp=1e5, kd=4e3, target=[2.0], limit=LIMIT))
    assert np.abs(run.q - moved(model, 2.0, 0.1).q).max() < 1e-13
    for wrong in (-1.0, "motor", [1.0, 2.0]):
        with pytest.raises(ta.BadInput, match="limit"):
            sim.run(0.1, controller=ta.PD(kp=1.0, limit=wrong))


@pytest.mark.long
def test_a_solver_outside_the_kernel_finds_the_same():
    model = rod(gravity=9.81, kp=1e5, kv=4e3, force_range=(-20.0, 30.0))
    inside = moved(model, 1.0, 0.1)
    sim = ta.Simulation(ta.World(model), dt=1e-3, solver="nsgs", stepper="stewart-trinkle")
    outside = sim.run(0.1, controller=ta.Actuators(model, [1.0]))
    assert np.abs(inside.q - outside.q).max() < 1e-8
    problem = sim.problem(sim.state(), controller=ta.Actuators(model, [1.0]))
    assert problem.W.shape == (1, 1)
