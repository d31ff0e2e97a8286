"""Stages of a step: their names, their sum against the step, and that timing changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from taction.bench import stages
from taction.bench.stages import bench_stages
from taction.bench.step import Case, from_mjcf
from taction.bench.step_models import quadruped_mjcf
from taction.steppers.stages import STAGES, repeat_stage, repeat_step


@pytest.fixture(scope="module")
def case() -> Case:
    """A quadruped that stands."""
    return Case("standing", quadruped_mjcf(), 300, 2, 1.0)


def test_shares_sum_to_one_and_each_part_of_the_step_counts_once(case, monkeypatch):
    """Whatever a loop measures: what several stages have in common is taken off all but one of them."""
    spent = {what: 1e-6 * 2.0**what for what, _ in STAGES.values()}
    monkeypatch.setattr(stages, "_loop", lambda engine, what: what)
    monkeypatch.setattr(stages, "_best", lambda what, rounds: 1e-3 if what is None else spent[what])
    row = bench_stages(rounds=3, cases=[case])["rows"][0]
    assert [s["stage"] for s in row["stages"]] == list(STAGES) and row["step"] == pytest.approx(1e3)
    for stage in row["stages"]:
        what, without = STAGES[stage["stage"]]
        alone = 1e6 * (spent[what] - sum(spent[other] for other in without))
        assert stage["ours"] == pytest.approx(max(alone, 0.0))
    assert sum(s["share"] for s in row["stages"]) == pytest.approx(1.0)
    assert sum(s["ours"] for s in row["stages"]) == pytest.approx(row["sum"])


@pytest.mark.long
def test_repeated_stages_and_steps_give_the_bits_of_one_step(case):
    """What is timed is the step itself: after all of it, the state is that of `Driver.advance`."""
    engine = from_mjcf(case.mjcf, 1e-9)
    engine.advance(case.settle)
    engine.keep()
    engine.advance(1)
    q, v = engine.state.q.copy(), engine.state.v.copy()
    force, row = engine.drive[0], engine.engine.record(1).step[0]
    driver = engine.driver

    def fresh():
        engine.restore()
        return driver.with_room(engine.state)

    state = fresh()
    common = (engine.scene, driver.options, force)
    assert repeat_step(3, *common, fresh(), driver.memory, state, np.zeros(1), row) == 0
    assert state.q.tobytes() == q.tobytes() and state.v.tobytes() == v.tobytes()
    state = fresh()
    for what in dict.fromkeys(what for what, _ in STAGES.values()):
        repeat_stage(2, what, *common, driver.memory, state, np.zeros(1), row)
    assert state.q.tobytes() == q.tobytes()


def test_repetitions_fill_a_spell():
    counts = []

    def run(count: int) -> float:
        counts.append(count)
        return 1e-4 * count

    assert stages._best(run, 2) == pytest.approx(1e-4)
    assert counts[2:] == [20, 20]
