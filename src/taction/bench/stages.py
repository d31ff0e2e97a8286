"""Where the time of a step goes: µs and share of every stage, and their sum against the whole step.

The models are those of `taction.bench.step`. From the state in the middle of the timed steps one step is
taken; then each of its stages is repeated in a compiled loop (`taction.steppers.stages`), and the step
itself is taken again and again from that state, best of several rounds. What the sum leaves of the whole is
what stands between stages: copying states and records, and caches that a loop over one stage keeps warm.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taction._core.errors import IntegrationError
from taction.bench.step import Case, Stepper, from_mjcf, step_cases
from taction.bench.timing import machine
from taction.sim.simulation import TOLERANCE
from taction.steppers.stages import STAGES, repeat_stage, repeat_step

SPELL = 2e-3  # s that one timed call takes, at least


def bench_stages(
    *, rounds: int = 7, tol: float = TOLERANCE, cases: Sequence[Case] | None = None
) -> dict[str, Any]:
    """Time of every stage of a step; one row per case with a list of stages.

    Args:
        rounds: timed repetitions; the best counts.
        tol: tolerance of our contact solver on the relative natural-map residual.
        cases: those of `taction.bench.step.step_cases` by default.
    """
    rows = [time_case(case, rounds, tol) for case in (step_cases() if cases is None else cases)]
    return {"bench": "stages", "machine": machine(), "tol": tol, "rows": rows}


def time_case(case: Case, rounds: int, tol: float) -> dict[str, Any]:
    """The row of a case."""
    engine = from_mjcf(case.mjcf, tol)
    engine.advance(case.settle + case.steps // 2)
    engine.keep()
    engine.advance(1)
    times = {what: _best(_loop(engine, what), rounds) for what in {w for w, _ in STAGES.values()}}
    stages = {
        name: max(times[what] - sum(times[other] for other in without), 0.0)
        for name, (what, without) in STAGES.items()
    }
    whole, total = _best(_loop(engine, None), rounds), sum(stages.values())
    return {
        "case": case.name,
        "unit": "µs",
        "step": 1e6 * whole,
        "sum": 1e6 * total,
        "stages": [
            {"stage": name, "ours": 1e6 * spent, "share": spent / total} for name, spent in stages.items()
        ],
    }


def _loop(engine: Stepper, stage: int | None) -> Callable[[int], float]:
    """Seconds that so many repetitions of a stage take, or of the whole step."""
    driver, record = engine.driver, engine.engine.record(1)
    common = engine.scene, driver.options, engine.drive[0]
    row, weight = record.step[0], np.zeros(1)

    def run(count: int) -> float:
        engine.restore()
        kept = driver.with_room(engine.state)
        engine.restore()
        state = driver.with_room(engine.state)
        begin = time.perf_counter()
        if stage is None:
            missing = repeat_step(count, *common, kept, driver.memory, state, weight, row)
            if missing:
                raise IntegrationError(f"{engine.sim.model.name}: the step needs help from outside")
        else:
            repeat_stage(count, stage, *common, driver.memory, state, weight, row)
        return time.perf_counter() - begin

    return run


def _best(run: Callable[[int], float], rounds: int) -> float:
    """Seconds of one repetition, the best of several rounds of a few milliseconds each."""
    run(1)
    count = max(1, int(SPELL / max(run(1), 1e-7)))
    return min(run(count) for _ in range(rounds)) / count
