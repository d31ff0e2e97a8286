"""`PredictiveScenario`: a world that is controlled by plans through contact.

Controller: `taction.planning.predictive.PredictiveControl` with one of the planning methods, made for the
*nominal* world and asked every ``plan_dt``; the world that moves has all masses larger by ``model_error``,
takes shorter steps, and may be pushed.

Metrics: `final_error`, defined by each scenario; `objective`, what the motion cost, by the weights of the
plan, at the times of planning; `planned_objective`, what the first plan costs; `gap`, the largest optimality
gap that was proved, none where none was, and `unproved`, of how many plans none was; `solve_ms_median`,
`solve_ms_p99`; `infeasible_solves`, how often there was no plan, so that an older one went on;
`state_violation`, the largest excess of a state over its set; `prediction_error`, the largest difference of a
state from what the plan before had for it; `complementarity`, the largest min(λ, η) of a plan; `fell`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.dispatch import METHODS
from taction.planning.linearise import Lineariser
from taction.planning.predictive import PlanRecord, PredictiveControl, Systems
from taction.planning.problem import PlanningProblem
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.sim.world import World

COMPLEMENTARITY = 1e-8
PATIENCE = 0.1  # of one plan by branch and bound [s]


PLAN_UNITS = by_unit(
    {
        "ms": "solve_ms_median solve_ms_p99",
        "SI": "state_violation complementarity",
        "": "objective planned_objective gap unproved infeasible_solves",
    }
)


class Setup(NamedTuple):
    """What a scenario plans."""

    problem: PlanningProblem
    target: Any  # x̄, or a function of time, as `PredictiveControl` takes it
    q: Array  # where it starts, (nq,)
    v: Array  # (nv,)
    rest: Any = None
    lineariser: Lineariser | Systems | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - of every method; never changed


class PredictiveScenario(ContactScenario):
    """A world under predictive control.

    Attributes:
        control: the controller of the latest run, with what it planned.
    """

    control: PredictiveControl | None = None
    source = "notes on predictive control through contact"
    units = PLAN_UNITS | by_unit(
        {
            "SI": "prediction_error",
            "": "fell",
        }
    )

    @abstractmethod
    def make_world(self, parameters: Values, error: float) -> World:
        """The world with all masses larger by a relative error."""

    @abstractmethod
    def setup(self, parameters: Values, world: World) -> Setup:
        """What is planned, for the nominal world."""

    @abstractmethod
    def error(self, run: Run, parameters: Values) -> float:
        """How far the end of a run is from what was wanted."""

    def fell(self, q: Array, parameters: Values) -> bool:
        """Whether a configuration (nq,) is one from which there is no way back; the run ends there."""
        return False

    def disturbance(self, parameters: Values, t: float) -> Array | float:
        """Forces (nv,) that act besides the inputs at a time [s]; none by default."""
        return 0.0

    def world(self, parameters: Values) -> World:
        """The world that moves."""
        return self.make_world(parameters, parameters["model_error"])

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At the start, under control."""
        p = parameters
        s = self.setup(p, self.make_world(p, 0.0))
        control = self.control = PredictiveControl(
            s.problem, p["method"], target=s.target, rest=s.rest, lineariser=s.lineariser, **self.limits(p, s)
        )

        def forces(t: float, q: Array, v: Array) -> Array:
            return control(t, q, v) + self.disturbance(p, t)

        def stop(t: float, q: Array, v: Array) -> bool:
            return self.fell(q, p)

        return {"q": s.q, "v": s.v, "controller": forces, "control_dt": p["plan_dt"], "stop": stop}

    def limits(self, parameters: Values, setup: Setup) -> dict[str, Any]:
        """Options of the method: those of the setup, with the time that a plan may take."""
        patience = setup.options.get("time_limit", PATIENCE)
        return {**setup.options, "time_limit": plan_time(parameters, patience)}

    def make(
        self, parameters: Values, dt: float, integrator: str | None, contact: dict[str, Any]
    ) -> tuple[Simulation, dict[str, Any]]:
        """As of all scenarios; the time between plans must be a whole number of steps."""
        plan_dt = parameters["plan_dt"]
        ratio = plan_dt / dt
        if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-9 * ratio:
            raise BadInput(f"{self.name}: plan_dt = {plan_dt:g} s must be a whole multiple of dt = {dt:g} s")
        return super().make(parameters, dt, integrator, contact)

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """See the module text."""
        assert self.control is not None
        return plan_metrics(self.control.record) | {
            "final_error": self.error(run, parameters),
            "prediction_error": self._prediction_error(),
            "fell": self.fell(run.q[-1], parameters),
        }

    def _prediction_error(self) -> float:
        """How far states are from the plan before; of worlds that are linearised once."""
        assert self.control is not None
        record = self.control.record
        if self.control.lineariser is not None:
            return float("nan")
        errors = [
            float(np.abs(plan.motion.x[1] - x).max())
            for plan, x in zip(record.plans[:-1], record.states[1:], strict=True)
            if plan.motion is not None
        ]
        return max(errors, default=0.0)

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """What is asked of every method: contacts of plans are complementary."""
        return complementary_violations(metrics)


def plan_time(parameters: Values, patience: float) -> float:
    """How long one plan may take [s].

    All methods but branch and bound limit their own work, so their plans, and the motion, do not depend on
    how fast or how busy a machine is. Branch and bound gets so much patience [s]; what it has found by then
    depends on the machine.
    """
    return float(parameters["time_limit"]) or (patience if parameters["method"] == "miqp" else math.inf)


def plan_metrics(record: PlanRecord) -> Metrics:
    """What a record of plans says, as in the module text."""
    plans = [plan for plan in record.plans if plan.motion is not None]
    return {
        "objective": float(sum(record.costs)),
        "planned_objective": plans[0].objective if plans else float("inf"),
        "gap": record.gap,
        "unproved": float(record.unproved),
        "solve_ms_median": record.solve_ms(50.0),
        "solve_ms_p99": record.solve_ms(99.0),
        "infeasible_solves": float(record.infeasible_solves),
        "state_violation": max(record.violation, default=0.0),
        "complementarity": max((plan.motion.complementarity for plan in plans if plan.motion), default=0.0),
    }


def complementary_violations(metrics: Metrics) -> list[str]:
    """Plans whose contacts are not complementary."""
    return above("the complementarity of a plan", float(metrics["complementarity"]), COMPLEMENTARITY)


def predictive_parameters(horizon: int, plan_dt: float) -> tuple[Parameter, ...]:
    """What can be set of every such scenario, with defaults."""
    return (
        Parameter("method", "admm", "", "how it plans", choices=tuple(METHODS)),
        Parameter("horizon", horizon, "", "steps that a plan looks ahead", minimum=1, maximum=1000),
        Parameter(
            "plan_dt", plan_dt, "s", "step of the plan, and time between two", minimum=1e-3, maximum=1.0
        ),
        Parameter("time_limit", 0.0, "s", "of one plan; 0: none, but for miqp", minimum=0.0),
        Parameter("model_error", 0.0, "", "relative error of all masses", minimum=-0.9, maximum=9.0),
    )
