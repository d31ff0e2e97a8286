"""The runs behind the page on predictive control: the document's system, plans by every method, loops.

1. *System*: the document's matrices of two pushers, written down by hand (`document_system`), against those
   that `taction.planning.linearise` makes of the world, on both levels. Contact variables there are impulses
   in units of their own, c = L λ with the matrix L of `ContactSystem.load`, and slacks are closing speeds in
   them: in the document's units C L⁻¹, h L⁻¹ D, h L⁻¹ E, h L⁻¹ F L⁻¹ and h L⁻¹ c on the level of positions,
   the same without h on that of velocities.
2. *Plans* from several starts over several horizons, by every method that takes them.
3. *Realised*: the inputs of a plan in the simulator, with the scheme of its level and steps as long.
4. *Bounds* that are too small, as multiples of the largest λ or η of the best plan.
5. *Loops*: scenarios under predictive control, with options of a method that the scenario leaves alone.

References: [CorrectionsNote, Eqs. (4) to (11)]; [StewartTrinkle1996]; [AnitescuPotra1997].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction.planning.dispatch import make_planner
from taction.planning.linearise import POSITION, VELOCITY, Lineariser
from taction.planning.predictive import PredictiveControl
from taction.planning.problem import Motion, Outcome, Plan, PlanningProblem
from taction.planning.system import ContactSystem, Guard
from taction.scenarios.base import Outcome as RunOutcome
from taction.scenarios.base import Values
from taction.scenarios.predictive_scenario import PredictiveScenario, Setup
from taction.scenarios.pushers import HIGH, LOW, PLACE, RADIUS, Pushers, random_start
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

SHORT_HORIZON = 6  # of plans on velocities, and of most that the simulator follows
BELOW = 1e-6  # relative: costs that differ by less are the same
SCHEMES = {POSITION: "stewart-trinkle", VELOCITY: "anitescu-potra"}


class Way(NamedTuple):
    """A method with its options."""

    key: str
    title: str
    method: str
    options: dict[str, Any]
    levels: tuple[str, ...] = (POSITION, VELOCITY)


WAYS = (
    Way("enumeration", "enumeration", "enumeration", {}),
    Way("daqp", "miqp (daqp)", "miqp", {"solver": "daqp"}),
    Way("scip", "miqp (scip)", "miqp", {"solver": "scip"}),
    Way("admm", "admm", "admm", {}),
    Way("direct", "direct", "direct", {}, (POSITION,)),
)
BY_KEY = {way.key: way for way in WAYS}


class Settings(NamedTuple):
    """How much."""

    horizon: int  # longest of the plans that are compared
    starts: int  # of loops from random starts
    duration: float | None  # of loops [s]; None: as scenarios have it
    pushes: Sequence[float]  # on the cart-pole [rad/s]
    solves: int  # that are timed
    say: Callable[[str], Any]

    def seeds(self) -> dict[int, Sequence[int]]:
        """Starts by horizon: fewer for long ones."""
        return {
            n: range(4) if n <= 4 else range(3) if n <= SHORT_HORIZON else range(2)
            for n in range(1, self.horizon + 1)
        }


# ----- The system -----------------------------------------------------------------------------------------


def document_system(level: str, h: float, masses: Sequence[float] = (1.0, 1.0, 1.0)) -> ContactSystem:
    """The pushers as the document has them, corrected, in its units: impulses [N s], gaps [m], speeds [m/s].

    With f(q) = J q + o and inputs on q₂ and q₃, (4) and (5) multiplied out are

        v⁺ = v + M⁻¹ (h S u + Jᵀ c),   q⁺ = q + h v⁺,   0 ≤ c ⊥ J q⁺ + o ≥ 0   or   0 ≤ c ⊥ J v⁺ ≥ 0.

    Args:
        level: of the gaps, ``"position"`` or ``"velocity"``.
        h: step [s].
        masses: of the puck, the right and the left pusher [kg].
    """
    J = np.array([[-1.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
    offset = np.array([HIGH - 2.0 * RADIUS, -LOW - 2.0 * RADIUS])
    light = np.diag(1.0 / np.asarray(masses, dtype=float))
    force, push, zero = h * light[:, 1:], light @ J.T, np.zeros((3, 3))
    A = np.block([[np.eye(3), h * np.eye(3)], [zero, np.eye(3)]])
    free = np.hstack([J, h * J]), h * J @ force
    guard = None
    if level == VELOCITY:
        guard = Guard(*free, offset, np.array([0, 1]))
        slack = np.hstack([np.zeros((2, 3)), J]), J @ force, J @ push, np.zeros(2)
    else:
        slack = *free, h * J @ push, offset
    return ContactSystem(
        A, np.vstack([h * force, force]), np.vstack([h * push, push]), np.zeros(6), *slack, h,
        load=np.eye(2), contacts=("right", "left"), inputs=("right", "left"), guard=guard,
    )  # fmt: skip


def pushers_system(level: str, h: float, masses: Sequence[float] = (1.0, 1.0, 1.0)) -> ContactSystem:
    """The same made of the world by `Lineariser`."""
    from taction.robots.pushers import pushers

    world = World(pushers(masses=masses, radius=RADIUS, d_min=LOW, d_max=HIGH))
    made = Lineariser(
        world, h, inputs=("right", "left"), level=level, has_friction=False, reach=HIGH - LOW + PLACE
    )
    return made.at(np.zeros(3))


def differences(made: ContactSystem, written: ContactSystem) -> dict[str, float]:
    """Largest differences of the matrices, by name, in the units of the one that was written down."""
    unit = np.linalg.inv(made.load)
    side = (made.dt if made.guard is None else 1.0) * unit
    ours = {
        "A": made.A, "B": made.B, "C": made.C @ unit, "d": made.d, "D": side @ made.D, "E": side @ made.E,
        "F": side @ made.F @ unit, "c": side @ made.c,
    }  # fmt: skip
    out = {name: float(np.abs(value - getattr(written, name)).max()) for name, value in ours.items()}
    if made.guard is not None and written.guard is not None:
        for name in ("G", "H", "g"):
            out[name] = float(np.abs(getattr(made.guard, name) - getattr(written.guard, name)).max())
    return out


# ----- Plans ----------------------------------------------------------------------------------------------


class PlanTrial(NamedTuple):
    """A plan of the pushers."""

    way: Way
    level: str
    horizon: int
    seed: int
    plan: Plan
    best: float  # cost by enumeration, infinite if there is no plan

    @property
    def excess(self) -> float:
        """Of its cost over that of enumeration, relative; NaN where one of both has none."""
        if not (math.isfinite(self.plan.objective) and math.isfinite(self.best)):
            return math.nan
        return (self.plan.objective - self.best) / max(abs(self.best), 1e-12)


class Task(NamedTuple):
    """The planning problem of the pushers' scenario on one level, from one start."""

    problem: PlanningProblem
    target: Array  # (6,)
    x0: Array  # (6,)
    q: Array  # (3,)
    v: Array  # (3,)
    world: World
    level: str


def pushers_task(level: str, horizon: int, seed: int) -> Task:
    """What the scenario `pushers` asks, with its defaults, on a level of ours."""
    scenario = Pushers()
    values = scenario.settings({"horizon": horizon, "seed": seed})
    world = scenario.make_world(values, 0.0)
    setup = scenario.setup(values, world)
    system = pushers_system(level, values["plan_dt"])
    problem = replace(setup.problem, systems=system)
    return Task(
        problem, np.asarray(setup.target), system.state(setup.q, setup.v), setup.q, setup.v, world, level
    )


def moving_task(level: str, horizon: int) -> Task:
    """The same while both pushers touch the puck, which moves at 1.5 m/s."""
    task = pushers_task(level, horizon, 0)
    q, v = np.array([0.3, 0.6, 1.2]), np.array([1.5, 0.0, 0.0])
    return task._replace(x0=task.problem.system(0).state(q, v), q=q, v=v)


def study_plans(
    starts: dict[int, Sequence[int]],
    *,
    levels: Sequence[str] = (POSITION, VELOCITY),
    time_limit: float = 60.0,
) -> list[PlanTrial]:
    """Plans of every method; starts: seeds by horizon. Each method plans once before it is timed."""
    out = []
    for level in levels:
        for horizon, seeds in starts.items():
            first = pushers_task(level, horizon, 0)
            makers = {
                way.key: make_planner(way.method, first.problem, time_limit=time_limit, **way.options)
                for way in WAYS
                if level in way.levels
            }
            for planner in makers.values():
                planner.solve(first.x0, first.target)
            for seed in seeds:
                x0 = first.problem.system(0).state(*random_start(seed))
                plans = {key: planner.solve(x0, first.target) for key, planner in makers.items()}
                best = plans["enumeration"].objective
                out += [
                    PlanTrial(BY_KEY[key], level, horizon, seed, plan, best) for key, plan in plans.items()
                ]
    return out


class Realised(NamedTuple):
    """A plan, and what the simulator makes of its inputs."""

    task: Task
    plan: Plan
    run: Run
    error: float  # largest difference of a coordinate or velocity [m or m/s]
    impulses: Array  # by contact and step, of the plan, (N, 2) [N s]
    forces: Array  # the same of the simulator, means over a step, (N, 2) [N]
    edge: float  # least |free gap| of a step on the level of velocities [m]; infinite on the other


def realise(task: Task, plan: Plan) -> Realised:
    """The inputs of a plan in the simulator, with the scheme of its level."""
    system, motion = task.problem.system(0), plan.motion
    assert motion is not None
    sim = Simulation(task.world, dt=system.dt, contact="exact", stepper=SCHEMES[task.level])
    count = len(motion.u)

    def inputs(t: float, q: Array, v: Array) -> Array:
        return np.array([0.0, *motion.u[min(round(t / system.dt), count - 1)]])

    run = sim.run(count * system.dt, q=task.q, v=task.v, controller=inputs)
    planned = [np.concatenate(system.place(x)) for x in motion.x]
    error = float(np.abs(np.hstack([run.q, run.v]) - planned).max())
    forces = run.contact_forces()
    pressed = np.column_stack([np.abs(forces[name][:count, 0]) for name in ("right", "left")])
    edge = np.inf
    if system.guard is not None:
        y = system.guard
        edge = min(
            float(np.abs(y.G @ x + y.H @ u + y.g).min()) for x, u in zip(motion.x, motion.u, strict=False)
        )
    return Realised(task, plan, run, error, loads(system, motion), pressed, edge)


def loads(system: ContactSystem, motion: Motion) -> Array:
    """Normal impulses of every contact in every step, (N, k) [N s]."""
    return np.array([system.load @ z for z in motion.contact])


def touches(plan: Plan) -> bool:
    """Whether a contact acts in a plan."""
    return plan.motion is not None and any((z > 1e-9).any() for z in plan.motion.contact)


class BoundTrial(NamedTuple):
    """A plan with a bound of ours."""

    share: float  # of the largest λ or η of the best plan
    plan: Plan


def study_bounds(task: Task, shares: Sequence[float]) -> tuple[Plan, list[BoundTrial]]:
    """The best plan, and what is found with bounds that are shares of its largest λ or η."""
    best = make_planner("miqp", task.problem).solve(task.x0, task.target)
    motion = best.motion
    assert motion is not None
    top = max(float(np.concatenate(part).max()) for part in (motion.contact, motion.slack))
    return best, [
        BoundTrial(s, make_planner("miqp", task.problem, big_m=s * top).solve(task.x0, task.target))
        for s in shares
    ]


# ----- Loops ----------------------------------------------------------------------------------------------


class Loop(NamedTuple):
    """A scenario under predictive control."""

    outcome: RunOutcome
    control: PredictiveControl
    title: str

    @property
    def run(self) -> Run:
        """Its motion."""
        assert self.outcome.run is not None, self.outcome.violations
        return self.outcome.run


class _Limited(PredictiveScenario):
    """What is added to a scenario: options of its method."""

    options: dict[str, Any]

    def setup(self, parameters: Values, world: World) -> Setup:
        setup = super().setup(parameters, world)  # type: ignore[safe-super]
        return setup._replace(options={**setup.options, **self.options})


class LimitedPushers(_Limited, Pushers):
    """`pushers` with options of the method."""


def close_loop(
    scenario: PredictiveScenario, title: str, duration: float | None = None, **parameters: Any
) -> Loop:
    """Run a scenario under predictive control."""
    outcome = scenario.run(duration=duration, parameters=parameters)
    assert scenario.control is not None
    return Loop(outcome, scenario.control, title)


def limited(scenario: _Limited, **options: Any) -> _Limited:
    """A scenario with options of its method."""
    scenario.options = options
    return scenario


def predicted_forces(loop: Loop) -> tuple[Array, Array]:
    """Sums of the normal forces of the first step of each plan, and times of planning, (k,) [N], (k,) [s].

    Where there was no plan, NaN.
    """
    record = loop.control.record
    out = [
        np.nan if plan.motion is None else float((system.load @ plan.motion.contact[0]).sum()) / system.dt
        for plan, system in zip(record.plans, record.systems, strict=True)
    ]
    return np.array(out), np.array(record.t)


def realised_forces(run: Run, size: int) -> tuple[Array, Array]:
    """Sums of all normal forces of a run, means over so many steps, and their times, (k,) [N], (k,) [s]."""
    total = np.zeros(run.steps)
    if run.contacts is not None:
        np.add.at(total, run.contacts.step, run.contacts.impulse[:, 0] / run.dt)
    count = run.steps // size
    return total[: count * size].reshape(count, size).mean(axis=1), run.t[: count * size : size]


def moving_time(run: Run) -> float:
    """When the puck has moved by a millimetre [s]; infinite if it never does."""
    moved = np.abs(run.q[:, 0] - run.q[0, 0]) > 1e-3
    return float(run.t[np.argmax(moved)]) if moved.any() else math.inf


class Speed(NamedTuple):
    """Times of many plans from random starts, without a plan nearby."""

    way: Way
    milliseconds: Array  # (k,)
    gaps: Array  # (k,)
    outcomes: tuple[Outcome, ...]


def study_speed(seeds: Sequence[int], horizon: int, time_limit: float) -> list[Speed]:
    """Plans of the pushers on the level of positions by those methods that are meant for loops."""
    task, out = pushers_task(POSITION, horizon, 0), []
    for key in ("admm", "daqp"):
        way = BY_KEY[key]
        planner = make_planner(way.method, task.problem, time_limit=time_limit, **way.options)
        planner.solve(task.x0, task.target)
        plans = [
            planner.solve(task.problem.system(0).state(*random_start(seed)), task.target) for seed in seeds
        ]
        out.append(
            Speed(
                way, np.array([1e3 * p.seconds for p in plans]), np.array([p.gap for p in plans]),
                tuple(p.outcome for p in plans),
            )
        )  # fmt: skip
    return out
