"""Plans through contact: time of one plan of two pushers and a puck over ten steps, by consensus and MIQP.

What is timed is `Planner.solve` from Python, on one thread: from random starts without a plan before
(*cold*), and in a loop of forty plans from each of a few starts, each with the plan before it (*loop*).
Median and 99th percentile; beside them the largest optimality gap that the method proved and how many plans
it proved nothing about, what its plans cost more than the best, by branch and bound, and the largest
complementarity of a plan. Near the target, where all modes cost next to nothing, branch and bound is ended
after `PATIENCE`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction.bench.timing import machine
from taction.planning.dispatch import make_planner
from taction.planning.planner import Planner
from taction.planning.predictive import moved_on
from taction.planning.problem import Plan
from taction.scenarios.predictive_scenario import Setup
from taction.scenarios.pushers import Pushers, random_start

HORIZON = 10
LIMITS = {"admm": 5.0, "miqp": 200.0}  # of the median [ms]
PATIENCE = 2.0  # of one plan [s]
LOOPS, STEPS = 5, 40


def bench_plan(starts: int = 50) -> dict[str, Any]:
    """Rows of `taction bench plan`, from so many random starts."""
    scenario = Pushers()
    parameters = scenario.settings({"horizon": HORIZON})
    made = scenario.setup(parameters, scenario.make_world(parameters, 0.0))
    planners = {name: make_planner(name, made.problem, time_limit=PATIENCE) for name in LIMITS}
    for planner in planners.values():
        _cold(planner, made, 2)
    cold = {name: _cold(planner, made, starts) for name, planner in planners.items()}
    rows = [_row(f"{name}, cold", name, plans, cold["miqp"]) for name, plans in cold.items()]
    loops = {name: _loops(planner, made) for name, planner in planners.items()}
    rows += [_row(f"{name}, loop", name, plans, None) for name, plans in loops.items()]
    return {"bench": "plan", "machine": machine(), "rows": rows}


def _cold(planner: Planner, made: Setup, starts: int) -> list[Plan]:
    system = made.problem.system(0)
    return [planner.solve(system.state(*random_start(k)), made.target) for k in range(1, starts + 1)]


def _loops(planner: Planner, made: Setup) -> list[Plan]:
    """Plans along motions of the system itself."""
    plans: list[Plan] = []
    for k in range(1, LOOPS + 1):
        x, warm = made.problem.system(0).state(*random_start(k)), None
        for _ in range(STEPS):
            plan = planner.solve(x, made.target, warm=warm)
            plans.append(plan)
            x, warm = plan.x[1], moved_on(plan)
    return plans


def _row(case: str, name: str, plans: list[Plan], best: list[Plan] | None) -> dict[str, Any]:
    times = [1e3 * plan.seconds for plan in plans]
    gaps = [plan.gap for plan in plans if np.isfinite(plan.gap)]
    return {
        "case": f"pushers, {HORIZON} steps, {case}", "ours": float(np.median(times)), "peer": None,
        "peer_name": None, "unit": "ms", "ratio": None, "limit": LIMITS[name],
        "residual": max(plan.motion.complementarity for plan in plans if plan.motion), "peer_residual": None,
        "p99": float(np.percentile(times, 99.0)), "gap": max(gaps, default=None),
        "unproved": len(plans) - len(gaps),
        "excess": None if best is None else max(
            plan.objective / other.objective - 1.0 for plan, other in zip(plans, best, strict=True)
        ),
        "plans": len(plans),
    }  # fmt: skip
