"""The runs behind the page of the report on contact and friction: pendulum, walks, and why replays fall.

1. *Pendulum*: the double pendulum of its Figure 4, with every integrator, over a long time: where its energy
   goes.
2. *Replays*: forces recorded from a walk by inverse dynamics act once more in the forward simulation, its
   Figure 5, open loop and with feedback, while one thing differs (`CHANGES`): rounding alone, the step, the
   tolerance of the solver, all masses, a push.

Divergence of a replay: the largest difference d(t) of a coordinate from the recorded one [m or rad]. A walk
that is unstable in open loop has d ≈ d₀ e^{λt} while d is small. λ is the slope of the line of least squares
through log d, from the last time at which d is below `SMALL` times what it was at first, to the first above
`LARGE`, if d grows by a factor of `RANGE` between them: what a change does by itself is not exponential.

A robot has fallen where its torso is below half of its height in the stance.

References: [BhargavaReport, Sections 3.1 and 6, Figures 4 and 5].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.control.push import Push, with_push
from taction.control.replay import Replay
from taction.control.walking.base import base_of
from taction.robots.walkers import leg_gains
from taction.scenarios import get_scenario
from taction.scenarios.base import Values
from taction.scenarios.walking_motion import distance, fall_time, has_fallen, heavier, peak_torque
from taction.scenarios.walking_scenario import PUSHING, WalkingScenario
from taction.sim.run import Run
from taction.sim.simulation import TOLERANCE, Simulation
from taction.sim.world import World
from taction.steppers import INTEGRATORS

SMALL, LARGE = 30.0, 1e-2  # times the first difference; [m or rad]: between them growth is exponential
ROUNDING = 1e-13  # differences of coordinates that are rounding [m or rad]
RANGE = 1e3  # over which differences must grow for a rate
PUSH_PER_MASS = 0.3  # [m/s]: what the push of `CHANGES` would do to the speed of the whole robot


class Change(NamedTuple):
    """What differs between a recorded walk and its replay."""

    key: str
    title: str
    steps: int = 1  # steps in place of one
    tol: float = TOLERANCE  # of the solver
    solver: str = "auto"  # goes on to rounding, whatever the tolerance
    error: float = 0.0  # relative, of all masses
    is_pushed: bool = False


CHANGES = (
    Change("nothing", "nothing but rounding"),
    Change("step", "half the step", steps=2),
    Change("tolerance", "a solver (admm) that stops at 10⁻⁶", tol=1e-6, solver="admm"),
    Change("model", "masses 1 % larger", error=0.01),
    Change("push", "a push", is_pushed=True),
)


class ReplayTrial(NamedTuple):
    """A replay that differs in one thing."""

    change: Change
    has_feedback: bool
    run: Run
    t: Array  # times at which both motions are known (n,) [s]
    divergence: Array  # (n,) [m or rad]
    rate: float | None  # exponential, of the divergence [1/s]; None where it does not grow like that
    fall_time: float | None  # [s]
    distance: float  # [m]
    peak_torque: float  # [N m]


class RecordedWalk(NamedTuple):
    """A walk by inverse dynamics, and what a replay of it needs."""

    scenario: WalkingScenario
    parameters: Values
    run: Run
    gains: tuple[float, float]  # of feedback [N m/rad], [N m s/rad]
    push: Push


def record_walk(
    name: str = "humanoid-walk", *, duration: float = 8.0, dt: float = 1e-3, push_time: float = 1.0
) -> RecordedWalk:
    """Record a walk of a walking scenario by inverse dynamics.

    Args:
        name: ``"humanoid-walk"`` or ``"four-legged-walk"``.
        duration: of the walk [s].
        dt: time step [s].
        push_time: when a push of the study would begin [s].
    """
    scenario = get_scenario(name)
    assert isinstance(scenario, WalkingScenario)
    parameters = scenario.settings()
    nominal = scenario.nominal(parameters, dt)
    run = scenario.record(parameters, nominal, duration)
    gains = leg_gains(run.model, scenario.reference(parameters, run.model).legs)
    push = Push((PUSH_PER_MASS * run.model.total_mass, 0.0, 0.0), push_time, PUSHING)
    return RecordedWalk(scenario, parameters, run, gains, push)


def replay(walk: RecordedWalk, change: Change, *, has_feedback: bool) -> ReplayTrial:
    """Replay a recorded walk where one thing differs, until its end or a fall."""
    recorded = walk.run
    assert recorded.world is not None
    world = recorded.world
    if change.error:
        world = World(heavier(world.model, change.error))
    simulation = Simulation(
        world, dt=recorded.dt / change.steps, contact=recorded.contact, stepper=recorded.integrator,
        tol=change.tol,
        solver=change.solver,
    )  # fmt: skip
    kp, kd = walk.gains if has_feedback else (0.0, 0.0)
    controller = Replay(simulation.model, recorded, kp, kd)
    if change.is_pushed:
        controller = with_push(controller, simulation.model, walk.push)
    base, start = base_of(simulation.model), recorded.q[0]
    run = simulation.run(
        float(recorded.t[-1]),
        q=start,
        v=recorded.v[0],
        controller=controller,
        stop=lambda t, q, v: bool(has_fallen(base, start, q[None])[0]),
    )
    again = run.q[:: change.steps]
    n = min(len(again), len(recorded.t))
    apart = np.abs(again[:n] - recorded.q[:n]).max(axis=1)
    t, after = recorded.t[:n], walk.push.at + walk.push.lasting if change.is_pushed else 0.0
    return ReplayTrial(
        change, has_feedback, run, t, apart, growth_rate(t, apart, after), fall_time(run), distance(run),
        peak_torque(run),
    )  # fmt: skip


def growth_rate(t: Array, apart: Array, after: float = 0.0) -> float | None:
    """Exponential rate λ [1/s] of distances (n,) at times (n,) [s], from a time [s] on; see the module text.

    None where too little of the growth is exponential.
    """
    is_late = t >= after
    t, apart = t[is_late], apart[is_late]
    if not (apart > LARGE).any():
        return None
    last = int(np.argmax(apart > LARGE))
    moving = np.flatnonzero(apart[:last] > ROUNDING)
    if not len(moving):
        return None
    least = SMALL * float(apart[moving[: max(len(moving) // 20, 1)]].max())
    below = np.flatnonzero(apart[:last] < least)
    first = int(below[-1]) + 1 if len(below) else 0
    if first >= last or apart[last] < RANGE * apart[first]:
        return None
    return float(np.polyfit(t[first:last], np.log(apart[first:last]), 1)[0])


def study_replays(walk: RecordedWalk) -> list[ReplayTrial]:
    """Every change, open loop and with feedback, in turn."""
    return [replay(walk, change, has_feedback=fed) for change in CHANGES for fed in (False, True)]


class EnergyTrial(NamedTuple):
    """The double pendulum with one integrator."""

    integrator: str
    order: int
    run: Run
    error: Array  # of the energy over time, relative to its scale, (n + 1,)
    drift: float  # slope of the line of least squares through it, per second
    largest: float  # largest |error|
    wall_us: float  # time of a step [µs]


def study_energy(duration: float = 60.0, dt: float = 2e-3) -> list[EnergyTrial]:
    """The chaotic swing of the double pendulum with every integrator: where its energy goes.

    The scale of the energy is the largest kinetic energy that it can have: all that it starts with above the
    rest below.
    """
    scenario, out = get_scenario("double-pendulum"), []
    values = scenario.settings()
    for name, method in INTEGRATORS.items():
        simulation, start = scenario.build(values, dt=dt, integrator=name)
        simulation.run(dt, **start)  # kernels are loaded here and not in what is timed
        run = simulation.run(duration, **start)
        lowest = simulation.run(0.0, q=np.zeros(run.model.nq)).total_energy[0]
        error = (run.total_energy - run.total_energy[0]) / (run.total_energy[0] - lowest)
        out.append(
            EnergyTrial(
                name, method.order, run, error, float(np.polyfit(run.t, error, 1)[0]),
                float(np.abs(error).max()), 1e6 * run.wall_s / run.steps,
            )
        )  # fmt: skip
    return out
