"""Tables of the page on predictive control."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from taction.drawing.number_text import number
from taction.report.page import table
from taction.studies.mpc_cases import BY_KEY, Loop, PlanTrial


def summary_table(trials: Sequence[PlanTrial]) -> str:
    """Methods by level, over all horizons and starts."""
    rows = []
    for level, way in dict.fromkeys((t.level, t.way.key) for t in trials):
        mine = [t for t in trials if (t.level, t.way.key) == (level, way)]
        known = [t.excess for t in mine if not math.isnan(t.excess)]
        times = [1e3 * t.plan.seconds for t in mine]
        words = ", ".join(f"{name} {n}" for name, n in Counter(t.plan.outcome.value for t in mine).items())
        rows.append(
            [level, BY_KEY[way].title, f"{len(mine)}", words, measure(max(known, default=math.nan)),
             measure(max(t.plan.gap for t in mine)), f"{np.median(times):.1f}",
             f"{max(times):.0f}",
             f"{np.median([t.plan.effort for t in mine]):.0f}"]
        )  # fmt: skip
    head = [
        "level", "method", "plans", "outcomes", "largest excess", "largest gap", "median [ms]",
        "longest [ms]", "effort, median",
    ]  # fmt: skip
    return table(head, rows, (2, 4, 5, 6, 7, 8))


def plan_table(trials: Sequence[PlanTrial]) -> str:
    """Every plan."""
    rows = [
        [t.level, f"{t.horizon}", f"{t.seed}", t.way.title,
         "–" if t.plan.motion is None else f"{t.plan.objective:.8g}",
         measure(t.excess), measure(t.plan.gap),
         f"{1e3 * t.plan.seconds:.1f}",
         f"{t.plan.effort}", t.plan.outcome.value]
        for t in trials
    ]  # fmt: skip
    head = ["level", "steps", "start", "method", "cost", "excess", "gap", "time [ms]", "effort", "outcome"]
    return table(head, rows, (1, 2, 4, 5, 6, 7, 8))


def loop_table(loops: Sequence[Loop], first: str = "method") -> str:
    """Metrics of loops of the pushers."""
    keys = (
        "final_error",
        "final_speed",
        "objective",
        "infeasible_solves",
        "solve_ms_median",
        "solve_ms_p99",
        "gap",
    )
    rows = [
        [loop.title, *(measure(loop.outcome.metrics[key]) for key in keys),
         "failed" if loop.outcome.violations else "passed"]
        for loop in loops
    ]  # fmt: skip
    head = [
        first, "final error [m]", "final speed [m/s]", "cost", "without a plan", "median [ms]",
        "99 of 100 [ms]", "largest gap", "checks",
    ]  # fmt: skip
    return table(head, rows, range(1, 8))


def case_table(loops: Sequence[Loop], keys: Sequence[str]) -> str:
    """Metrics of scenarios, one column each."""
    rows = [[key.replace("_", " "), *(measure(loop.outcome.metrics[key]) for loop in loops)] for key in keys]
    rows.append(["fell", *("yes" if loop.outcome.metrics["fell"] else "no" for loop in loops)])
    rows.append(["checks", *("failed" if loop.outcome.violations else "passed" for loop in loops)])
    return table(["", *(loop.title for loop in loops)], rows, range(1, len(loops) + 1))


def measure(value: float) -> str:
    """A metric as text; nothing where it is not known."""
    return "–" if not math.isfinite(value) else number(value, ".3g")
