"""Estimated errors of plain steps: beside what 64 times shorter ones do from the same start.

Samples compare a step with two halves; the estimate of the others follows from their velocities.
"""

import numpy as np
import pytest

import taction as ta
from moving_scenes import crank, tilted_disc
from taction.kinematics.state_distance import StateRuler
from taction.sim.motion_errors import estimate_errors, near
from taction.sim.step_samples import next_sample, pieces
from taction.steppers import columns as column
from taction.steppers import phases
from taction.steppers.driver import Driver
from taction.steppers.outside_solve import FEW

SCHEME, FINE = "half-flight", 64


def is_sample(n):
    return next_sample(n) == n


def tumbling_box():
    box = ta.free_body("box", ta.Box((0.1, 0.15, 0.05)), mass=1.0, position=(0, 0, 3))
    return ta.World(box), None, [1.0, 0.3, 0.0, 10.0, 3.0, 5.0]


def bouncing_ball():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.2))
    return ta.World(ball, ground=ta.Plane(friction=0.3, restitution=0.8)), None, [1.0, 0, 0, 0, 0, 10.0]


def fast_crank():
    return ta.World(ta.load_mjcf(crank())), None, [50.0, -62.5, 0.0]


def pendulum():
    return ta.World(ta.robots.double_pendulum()), [1.0, 0.5], None


def compared(world, q, v, dt, steps, coordinates="reduced", asked=lambda n: True):
    """A run, and true errors (k, 2) of the steps asked for, with their numbers (k,)."""
    sim = ta.Simulation(world, dt=dt, stepper=SCHEME, coordinates=coordinates)
    fine = ta.Simulation(world, dt=dt / FINE, stepper=SCHEME, coordinates=coordinates)
    start = sim.state(q, v)
    run, state, ruler, true, numbers = (
        sim.run(steps * dt, state=start),
        start,
        StateRuler(sim.engine.model),
        [],
        [],
    )
    for n in range(steps):
        end, _ = sim.step(state)
        if asked(n):
            exact = fine.run(dt, state=state).state
            true.append(ruler.measure(end.q, end.v, exact.q, exact.v))
            numbers.append(n)
        state = end
    return run, np.array(true), np.array(numbers)


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize(
    "scene", [lambda: tilted_disc(10.0), lambda: tilted_disc(30.0), tumbling_box], ids=["10", "30", "box"]
)
def test_smooth_errors_are_within_a_factor_of_three(scene, dt, coordinates):
    run, true, n = compared(*scene(), dt, 60, coordinates, lambda n: n % 5 == 0)
    errors = run.errors
    assert not errors.is_event.any()
    for estimate, exact in ((errors.position, true[:, 0]), (errors.velocity, true[:, 1])):
        ratio = estimate[n] / exact
        assert 1.0 / 3.0 <= ratio.min() and ratio.max() <= 3.0


@pytest.mark.parametrize("scene", [fast_crank, pendulum], ids=["crank", "pendulum"])
def test_samples_in_chains_and_loops_are_within_a_factor_of_three(scene):
    run, true, n = compared(*scene(), 1e-3, 200, "reduced", is_sample)
    ratio = run.errors.position[n] / true[:, 0]
    assert 1.0 / 3.0 <= ratio.min() and ratio.max() <= 3.0


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_an_impact_is_never_off_by_more_than_is_said(dt):
    world, q, v = bouncing_ball()
    struck = ta.Simulation(world, dt=dt, stepper=SCHEME).run(0.6, q=q, v=v).records[:, column.IMPACT] != 0.0
    run, true, n = compared(world, q, v, dt, len(struck), asked=lambda n: near(struck)[n])
    errors = run.errors
    assert struck.sum() >= 2 and errors.is_event[n].all()
    is_off = true[:, 0] > 1e-12
    assert is_off.sum() >= 2
    assert (errors.position[n] >= 0.1 * true[:, 0]).all() and (
        errors.velocity[n] >= 0.1 * true[:, 1] - 1e-12
    ).all()


def test_samples_depend_on_numbers_alone_and_change_no_bit():
    world, q, v = tilted_disc(30.0)
    sim = ta.Simulation(world, dt=1e-3, stepper=SCHEME)
    run = sim.run(0.4, q=q, v=v)
    sampled = run.records[:, column.POSITION_ERROR] > 0.0
    assert sampled.tolist() == [is_sample(n) for n in range(400)]
    asked = sim.run(0.4, q=q, v=v, stop=lambda t, q, v: False)  # in pieces of one step
    assert np.array_equal(asked.q, run.q) and np.array_equal(asked.records, run.records)
    state = sim.state(q, v)
    for _ in range(40):
        state, report = sim.step(state)
        assert report.record[column.POSITION_ERROR] == 0.0
    assert np.array_equal(state.q, run.q[40])
    covered = [n for first, last, _ in pieces(7, 300) for n in range(first, last)]
    assert covered == list(range(7, 300))
    assert sum(is_sample(n) for n in range(10_000)) <= 30


def test_a_sample_spares_last_resorts_and_says_nothing_of_unsolved_steps(monkeypatch):
    """Such a problem takes all solvers half a minute; the error of a step that is not solved is no use."""
    world, q, v = tilted_disc(30.0)
    asked = []

    def leave_unsolved(driver, *arguments):
        part = arguments[4]
        part.step[0, column.UNCONVERGED] = 1.0
        asked.append(driver.solver.max_iterations)
        return phases.DONE, arguments[3], None

    monkeypatch.setattr(Driver, "take_step", leave_unsolved)
    sim = ta.Simulation(world, dt=1e-3)
    run = sim.run(0.02, q=q, v=v)
    assert asked == [FEW, FEW]  # of samples 2 and 18, the first half alone
    assert not run.records[:, column.POSITION_ERROR].any()
    asked.clear()
    ta.Simulation(world, dt=1e-3, solver="nsgs").run(0.02, q=q, v=v)  # it solves all, and needs what it needs
    assert len(asked) == 2 and min(asked) > FEW


def test_the_certificate_says_what_steps_are_off_by(tmp_path):
    world, q, v = tilted_disc(30.0)
    run = ta.Simulation(world, dt=1e-3, stepper=SCHEME).run(0.2, q=q, v=v)
    c, errors = run.certificate, run.errors
    assert c.position_error == errors.position.max() and c.error_sum == errors.position.sum()
    assert c.error_share == errors.share[-1] and "steps are off by up to" in str(run)
    again = ta.load_run(run.save(tmp_path / "run.h5"))
    assert np.array_equal(again.errors.position, errors.position)
    old = estimate_errors(run.model, run.dt, run.v, np.where(run.records > 0, run.records, 0.0))
    assert len(old.position) == run.steps
    with pytest.raises(ta.BadInput, match="without contact"):
        ta.Simulation(ta.robots.double_pendulum(), integrator="rk4").run(0.01).errors  # noqa: B018


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_strict_run_refuses_steps_that_are_too_long(coordinates):
    """Rolling and swinging; at 1 ms it has nothing to say, and names an accuracy that serves otherwise."""
    long = {"stepper": SCHEME, "coordinates": coordinates, "strict": True}
    for scene, dt in (
        (lambda: tilted_disc(10.0), 0.01),
        (lambda: tilted_disc(30.0), 0.02),
        (fast_crank, 0.02),
    ):
        world, q, v = scene()
        with pytest.raises(ta.CertificateError, match=r"steps are too long|open by|time steps alone"):
            ta.Simulation(world, dt=dt, **long).run(1.0, q=q, v=v)
        ta.Simulation(world, dt=1e-3, **long).run(0.5, q=q, v=v)
    world, q, v = tilted_disc(10.0)
    with pytest.raises(ta.CertificateError, match="accuracy=") as said:
        ta.Simulation(world, dt=0.01, **long).run(1.0, q=q, v=v)
    accuracy = float(str(said.value).rpartition("=")[2])
    ta.Simulation(world, dt=0.01, accuracy=accuracy, **long).run(0.3, q=q, v=v)
