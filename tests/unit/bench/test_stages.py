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


def test_shares_sum_to_one_and_stages_to_about_the_step(case):
    """Within a factor of two: the sum leaves out copies, and loops over one stage keep caches warm."""
    result = bench_stages(rounds=3, cases=[case])
    row = result["rows"][0]
    assert [s["stage"] for s in row["stages"]] == list(STAGES)
    assert sum(s["share"] for s in row["stages"]) == pytest.approx(1.0)
    assert sum(s["ours"] for s in row["stages"]) == pytest.approx(row["sum"])
    assert all(s["ours"] >= 0.0 for s in row["stages"])
    assert 0.5 < row["sum"] / row["step"] < 2.0


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
