"""The start bench: rows, limits, and processor time of the process's own children."""

from __future__ import annotations

import pytest

from taction.bench import start
from taction.bench.start import JOBS, Job, bench_start


@pytest.mark.long
def test_rows_of_a_job_that_compiles_nothing():
    """``taction list`` in place of a run: all of its time is counted, cold and warm."""
    result = bench_start(rounds=1, jobs=(Job("list", ("list", "--json"), 60.0, 60.0),))
    assert result["bench"] == "start"
    names = [row["case"] for row in result["rows"]]
    assert names == ["list, cold", "list, cold, processor time", "list, warm"]
    cold, work, warm = (row["ours"] for row in result["rows"])
    assert cold > 0.0 and work > 0.05 and 0.0 < warm < 60.0
    assert [row["limit"] for row in result["rows"]] == [60.0, 60.0, 1.5]
    assert all(row["unit"] == "s" and row["peer"] is None for row in result["rows"])


def test_a_job_that_fails_says_so(tmp_path):
    with pytest.raises(RuntimeError, match="unknown scenario"):
        start._time(Job("nothing", ("run", "nothing"), 1.0, 1.0), str(tmp_path))


def test_the_first_run_is_cold_and_the_best_of_the_rest_is_warm(monkeypatch):
    times = iter([(30.0, 40.0), (3.0, 2.0), (1.0, 0.9), (2.0, 1.0)])
    monkeypatch.setattr(start, "_time", lambda job, cache: next(times))
    rows = bench_start(rounds=3, jobs=JOBS[1:])["rows"]
    assert [row["ours"] for row in rows] == [30.0, 40.0, 1.0]


def test_a_contact_job_stands_beside_the_smooth_one():
    """Ten steps of a snake; limits as the documentation has them."""
    smooth, contact = JOBS
    assert smooth.words[1] == "double-pendulum" and contact.words[1] == "snake-undulation"
    assert (contact.cold, contact.work, contact.warm) == (40.0, 60.0, 1.5)
