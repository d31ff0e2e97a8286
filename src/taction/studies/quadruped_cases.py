"""The runs behind the page of the legged-robot document: its five experiments, and what may explain them.

Each experiment runs twice, with exact contact and with the springs of `quadruped_motion.SPRINGS`. Besides:

1. *springs*: the five experiments with other stiffness k under explicit integration, dampers c ∝ √k. A mass m
   on such a spring is stable with steps h while h √(k/m) < 2, less with a damper; beyond, contact makes
   energy;
2. *the document's method*: contact forces on the level of accelerations by projected Gauss–Seidel with its
   limit of sweeps and its ε, beside the same equations solved and beside the default;
3. *variants* of the falls: a robot that starts tilted and touches with its leg tips alone; gains applied with
   the state at the start of a step.

References: [Ayit2015, Sections 4.4, 5.3 and 5.4].
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BlowUpWarning, StabilityWarning
from taction.contact.forces.parameters import Penalty, SoftContact
from taction.robots.walkers import Walker
from taction.scenarios import get_scenario
from taction.scenarios.base import Metrics, Outcome
from taction.scenarios.quadruped_motion import SPRINGS, QuadrupedScenario, measures
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.softness import allowed_step, make_springs
from taction.solvers.base import Solver
from taction.solvers.pgs import PGS
from taction.steppers.columns import FRICTION, IMPACT, RESIDUAL

STIFFNESS = (1e5, 1e6, 1e7, 5e7, 1e8)  # of the study [N/m]
SPRING_TIME, METHOD_TIME, VARIANT_TIME = 3.0, 0.4, 4.0  # simulated [s]
SWEEPS, EPSILON = 100, 1e-20  # Table 5.2
TILT = 60.0  # of the robot that is made to tip over [deg]


class Case(NamedTuple):
    """One experiment of the document."""

    key: str  # what its figures' names begin with
    title: str
    scenario: str
    parameters: Mapping[str, Any]
    section: str
    figure: int  # number of its first figure in Chapter 5; the other five follow


CASES = (
    Case("trot", "Trot", "quadruped-trot", {}, "5.4.1", 2),
    Case("fall_10cm", "Fall from 0.1 m", "quadruped-fall", {"height": 0.1}, "5.4.2", 8),
    Case("fall_50cm", "Fall from 0.5 m", "quadruped-fall", {"height": 0.5}, "5.4.3", 14),
    Case("fall_150cm", "Fall from 1.5 m", "quadruped-fall", {"height": 1.5}, "5.4.4", 20),
    Case("jump", "Jump", "quadruped-jump", {}, "5.4.5", 26),
)
LAWS = ("exact", "penalty")


class Trial(NamedTuple):
    """A run of an experiment, with its measures whether it finished or not."""

    case: Case
    law: str
    robot: Walker
    run: Run
    metrics: Metrics
    violations: list[str]


def quadruped_scenario(case: Case) -> QuadrupedScenario:
    """The scenario of an experiment."""
    scenario = get_scenario(case.scenario)
    assert isinstance(scenario, QuadrupedScenario)
    return scenario


def run_case(
    case: Case, contact: str | SoftContact, duration: float, dt: float, **more: Any
) -> tuple[Walker, Outcome]:
    """Run an experiment; ``more`` are parameters of the scenario."""
    scenario = quadruped_scenario(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)  # the study is about that
        outcome = scenario.run(
            contact=contact, parameters={**case.parameters, **more}, duration=duration, dt=dt
        )
    return scenario.walker(outcome.parameters), outcome


def run_trial(case: Case, law: str, duration: float, dt: float, **more: Any) -> Trial:
    """Run an experiment and measure it."""
    return as_trial(case, law, *run_case(case, law, duration, dt, **more))


def as_trial(case: Case, law: str, robot: Walker, outcome: Outcome) -> Trial:
    """An outcome with the shared measures, also of a run that blew up, up to there."""
    assert outcome.run is not None, outcome.violations
    run = outcome.run
    found = {**measures(run, robot), **outcome.metrics} if run.blew_up else dict(outcome.metrics)
    step_work = np.zeros(1) if run.records is None else run.records[:, [FRICTION, IMPACT]].sum(axis=1)
    found |= {
        "lowest": float(run.q[:, 2].min()),
        "rebound": rebound(run),
        "largest_gain": float(step_work.max(initial=0.0)),
        "largest_gain_after": gain_after(run),
    }
    return Trial(case, law, robot, run, found, outcome.violations)


def rebound(run: Run) -> float:
    """Highest base after it first went up again after contact [m]; its height at the end if it never did."""
    assert run.contacts is not None
    pressed = run.contacts.step[run.contacts.impulse[:, 0] > 0.0]
    z = run.q[int(pressed[0]) if len(pressed) else -1 :, 2]
    up = np.flatnonzero(np.diff(z) > 0.0)
    return float(z[up[0] :].max()) if len(up) else float(z[-1])


def gain_after(run: Run) -> float:
    """Largest work of contact in one step with the velocities after it, Λ·u⁺ over all contacts [J].

    The laws of rigid contact make it negative or zero. The ledger has the mean of the velocities before and
    after, with which a foot that moved off and is pressed back within a step seems to gain energy.
    """
    assert run.contacts is not None
    work = np.zeros(run.steps)
    np.add.at(work, run.contacts.step, (run.contacts.impulse * run.contacts.velocity).sum(axis=1))
    return float(work.max(initial=0.0))


class SpringTrial(NamedTuple):
    """An experiment with springs of some stiffness."""

    case: Case
    stiffness: float  # [N/m]
    damping: float  # [N s/m]
    allowed: float  # longest stable step of one foot on its spring [s]
    ended: float  # simulated up to there [s]
    has_blown_up: bool
    has_fallen: bool
    peak_force: float  # on one foot, mean over a step [N]
    contact_work: float  # of dampers and friction [J]
    overlap: float  # deepest [m]


def measure_springs(
    case: Case, springs: SoftContact, allowed: float, robot: Walker, outcome: Outcome
) -> SpringTrial:
    """What came of springs; a run that left no record blew up at once."""
    run, k, c = outcome.run, springs.stiffness or 0.0, springs.damping or 0.0
    if run is None:
        return SpringTrial(case, k, c, allowed, 0.0, True, False, math.inf, math.inf, math.inf)
    m = measures(run, robot)
    return SpringTrial(
        case, k, c, allowed, float(run.t[-1]), bool(run.blew_up), bool(m["fell"]), m["peak_force"],
        m["contact_work"], run.certificate.penetration or 0.0,
    )  # fmt: skip


def study_springs(duration: float, dt: float) -> list[SpringTrial]:
    """All experiments with all stiffnesses, explicit."""
    assert SPRINGS.stiffness is not None and SPRINGS.damping is not None
    scenario, out = quadruped_scenario(CASES[0]), []
    world = scenario.world(scenario.settings())
    for k in STIFFNESS:
        springs = Penalty(stiffness=k, damping=SPRINGS.damping * math.sqrt(k / SPRINGS.stiffness))
        allowed = allowed_step(world, springs, *make_springs(world, springs))[0]
        for case in CASES:
            robot, outcome = run_case(case, springs, min(duration, SPRING_TIME), dt)
            out.append(measure_springs(case, springs, allowed, robot, outcome))
    return out


class MethodTrial(NamedTuple):
    """The fall from 0.1 m with one way to find contact forces."""

    name: str
    run: Run
    metrics: Metrics
    worst: float  # natural-map residual, relative
    usual: float  # its median over the steps


def study_methods(duration: float, dt: float) -> list[MethodTrial]:
    """The document's method, its equations solved, and the default."""
    ways: list[tuple[str, str, str | Solver]] = [
        ("default: impulses and velocities, solved", "", "auto"),
        ("accelerations, solved", "acceleration-level", "auto"),
        (
            f"accelerations, Gauss–Seidel with {SWEEPS} sweeps (the document's)", "acceleration-level",
            PGS(max_iterations=SWEEPS, step_tol=EPSILON),
        ),
    ]  # fmt: skip
    case = CASES[1]
    scenario, out = quadruped_scenario(case), []
    values = scenario.settings(case.parameters)
    world = scenario.world(values)
    for name, scheme, solver in ways:
        simulation = Simulation(world, dt=dt, contact="exact", stepper=scheme or None, solver=solver)
        start = scenario.start(values, world)
        simulation.run(dt, **start)  # kernels are loaded here and not in what is timed
        run = simulation.run(min(duration, METHOD_TIME), **start)
        assert run.records is not None
        residual = run.records[:, RESIDUAL]
        found = measures(run, scenario.walker(values))
        out.append(MethodTrial(name, run, found, float(residual.max()), float(np.median(residual))))
    return out


def study_variants(duration: float, dt: float) -> dict[str, Trial]:
    """Falls with exact contact that differ in one thing, by name."""
    time = min(duration, VARIANT_TIME)
    half, high = CASES[2], CASES[3]
    out = {
        "tips": run_trial(half, "exact", time, dt, body_contacts=False),
        "tilted_tips": run_trial(half, "exact", time, dt, body_contacts=False, tilt=TILT),
        "tilted_body": run_trial(half, "exact", time, dt, tilt=TILT),
    }
    return out | {f"explicit_{case.key}": run_explicit(case, time, dt) for case in (half, high)}


def run_explicit(case: Case, duration: float, dt: float) -> Trial:
    """A fall whose joint forces come from the state at the start of each step, without the integral part.

    That part has time constants of 50 s and more.
    """
    scenario = quadruped_scenario(case)
    values = scenario.settings(case.parameters)
    world, robot = scenario.world(values), scenario.walker(values)
    q = scenario.start(values, world)["q"]
    dofs = np.concatenate([leg.dofs for leg in robot.legs])
    angles = np.concatenate([leg.coordinates for leg in robot.legs])

    def forces(t: float, now: Array, v: Array) -> Array:
        tau = np.zeros(world.model.nv)
        tau[dofs] = robot.kp * (q[angles] - now[angles]) - robot.kd * v[dofs]
        return tau

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlowUpWarning)
        run = Simulation(world, dt=dt, contact="exact").run(duration, q=q, controller=forces)
    metrics = scenario.metrics(run, values)
    outcome = Outcome(
        case.scenario, run.integrator, run.contact, run.solver, run.coordinates, dt, duration, values, run,
        metrics, scenario.check(metrics, run), None,
    )  # fmt: skip
    return as_trial(case, "exact", robot, outcome)
