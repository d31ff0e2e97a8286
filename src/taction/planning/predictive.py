"""`PredictiveControl`: plan from the state that is seen, apply the first input, plan again.

It is a controller for `Simulation.run`, asked every step of its system:

    control = PredictiveControl(problem, "admm", target=x_target)
    run = sim.run(3.0, controller=control, control_dt=problem.system(0).dt)
    control.record.solve_ms(50), control.record.infeasible_solves

What may go wrong is recorded, not raised: where no plan is found, in time or at all, the last good plan goes
on, input by input; after its end, and before there is any, inputs rest. States outside their set are recorded
with how far.

The system may be linearised again at every state that is seen (`lineariser`), for worlds that are far from
linear; or a function says what moves in each step, such as `taction.planning.along_path` for a path that is
expected.

References: [AydinogluWeiHuangPosa2024] for predictive control through contact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction.planning.dispatch import make_planner
from taction.planning.linearise import Lineariser
from taction.planning.planner import Planner
from taction.planning.problem import Motion, Outcome, Plan, PlanningProblem
from taction.planning.system import ContactSystem

Systems = Callable[[float, Array, Array, Array], ContactSystem | Sequence[ContactSystem]]


@dataclass(eq=False)
class PlanRecord:
    """What a predictive controller did.

    Attributes:
        t: times at which it planned [s].
        systems: of the first step of each plan.
        plans: what it found.
        states: x that it saw, shape (n,) each.
        inputs: u that it applied, shape (m,) each.
        violation: by how much the state was outside its set, zero inside.
        costs: what the state and the input cost, by the weights of the plan.
    """

    t: list[float] = field(default_factory=list)
    systems: list[ContactSystem] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    states: list[Array] = field(default_factory=list)
    inputs: list[Array] = field(default_factory=list)
    violation: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def note(
        self, t: float, problem: PlanningProblem, x: Array, u: Array, wanted: tuple[Array, Array], plan: Plan
    ) -> None:
        """Add a plan made at a time [s] and a state x, the input u that is applied, and x̄, ū there."""
        region, cost = problem.states, problem.cost
        assert region is not None
        e, f = x - wanted[0], u - wanted[1]
        self.t.append(float(t))
        self.systems.append(problem.system(0))
        self.states.append(x)
        self.inputs.append(u.copy())
        self.plans.append(plan)
        self.violation.append(float((region.A @ x - region.b).max(initial=0.0)))
        self.costs.append(float(e @ cost.states @ e + f @ cost.inputs @ f))

    @property
    def infeasible_solves(self) -> int:
        """How often there was no plan."""
        return sum(self.kept)

    @property
    def kept(self) -> list[bool]:
        """Of each time, whether the input came from an older plan, or from none."""
        return [plan.motion is None for plan in self.plans]

    def solve_ms(self, percentile: float) -> float:
        """Time that a share of the plans needed at most [ms]; percentile from 0 to 100."""
        times = [1e3 * plan.seconds for plan in self.plans]
        return float(np.percentile(times, percentile)) if times else 0.0

    @property
    def gap(self) -> float:
        """The largest optimality gap that was proved of a plan; infinite where none was."""
        return max((plan.gap for plan in self.plans if np.isfinite(plan.gap)), default=float("inf"))

    @property
    def unproved(self) -> int:
        """Of how many plans no gap was proved."""
        return sum(not np.isfinite(plan.gap) for plan in self.plans)


class PredictiveControl:
    """A controller that plans.

    Args:
        problem: what is asked at each time; its systems come from a world.
        method: a name of `taction.planning.dispatch.METHODS`, or a `Planner` made for the problem.
        target: x̄ as `Planner.solve` takes it, or a function of time [s] that gives it.
        rest: ū, likewise.
        lineariser: the world is linearised again with it at every state seen; or a function of time, q, v
            and the input that the last plan has for now, that gives the systems of the next plan. Targets are
            then functions of time and the new system of the first step, (t, system).
        options: of the method.

    Attributes:
        record: what it did since the motion began.
    """

    def __init__(
        self,
        problem: PlanningProblem,
        method: str | Planner = "admm",
        *,
        target: Any = None,
        rest: Any = None,
        lineariser: Lineariser | Systems | None = None,
        **options: Any,
    ) -> None:
        self.problem: PlanningProblem = instance(problem, PlanningProblem, "problem")
        if problem.system(0).simulation is None:
            raise BadInput("predictive control: the system was not made of a world")
        if isinstance(method, Planner):
            if options or lineariser is not None:
                raise BadInput("predictive control: a planner that is made already takes no options")
            self.planner = method
        else:
            self.planner = make_planner(method, problem, **options)
        self._options = options
        self.target, self.rest, self.lineariser = target, rest, lineariser
        self.record = PlanRecord()
        self._last: Plan | None = None  # the last good plan, its first step the next one
        system = problem.system(0)
        assert system.simulation is not None
        self.model = system.simulation.model
        known = {joint.name: joint.iv for joint in self.model.joints}
        self._dofs = [known[name] for name in system.inputs]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Joint forces (nv,) at a time [s], configuration (nq,) and velocities (nv,)."""
        if self.record.t and t <= self.record.t[-1]:
            self.record, self._last = PlanRecord(), None
        if self.lineariser is not None:
            u = np.zeros(len(self._dofs)) if self._last is None else self._last.u[0]
            again = self.lineariser
            systems = again.at(q, v, u) if isinstance(again, Lineariser) else again(t, q, v, u)
            self.problem = replace(self.problem, systems=systems)
            self.planner = make_planner(self.planner.name, self.problem, **self._options)
        system = self.problem.system(0)
        x = system.state(q, v)
        target, rest = self.problem.targets(self._at(self.target, t), self._at(self.rest, t))
        plan = self.planner.solve(x, target, rest, warm=self._last)
        good = plan if plan.motion is not None else self._last
        u = np.zeros(len(self._dofs)) if good is None else good.u[0]
        self.record.note(t, self.problem, x, u, (target[0], rest[0]), plan)
        self._last = None if good is None else moved_on(good)
        tau = np.zeros(self.model.nv)
        tau[self._dofs] = u
        return tau

    def _at(self, value: Any, t: float) -> ArrayLike | None:
        """A target at a time."""
        if not callable(value):
            return value
        out = value(t) if self.lineariser is None else value(t, self.problem.system(0))
        return np.asarray(out, dtype=float)


def moved_on(plan: Plan) -> Plan:
    """A plan as it is a step later, its last step twice."""
    motion = plan.motion
    assert motion is not None
    later = Motion(
        np.vstack([motion.x[1:], motion.x[-1:]]), np.vstack([motion.u[1:], motion.u[-1:]]),
        (*motion.contact[1:], motion.contact[-1]), (*motion.slack[1:], motion.slack[-1]),
    )  # fmt: skip
    return replace(plan, outcome=Outcome.FEASIBLE, motion=later, bound=-np.inf)
