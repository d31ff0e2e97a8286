"""Performance profiles: the definition on small tables, and pages that open without a network."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from taction._core.errors import BadInput
from taction.report.profiles import MARGIN, cost_table, performance_profile, save_profiles

NAN, INF = math.nan, math.inf


def test_by_hand():
    """Four problems; ratios of a: 1, 2, fail, fail; of b: 2, 1, 1, fail."""
    curves = performance_profile({"a": [1.0, 4.0, NAN, INF], "b": [2.0, 2.0, 5.0, NAN]})
    assert list(curves) == ["b", "a"]
    assert curves["a"].tau.tolist() == [1.0, 2.0] and curves["a"].rho.tolist() == [0.25, 0.5]
    assert curves["b"].tau.tolist() == [1.0, 2.0] and curves["b"].rho.tolist() == [0.5, 0.75]
    end = math.log2(2.0 * MARGIN)
    assert curves["a"].area == pytest.approx((0.25 * 1.0 + 0.5 * (end - 1.0)) / end)
    assert [curves["a"].at(tau) for tau in (1.0, 1.99, 2.0, 1e9)] == [0.25, 0.25, 0.5, 0.5]


def test_definition_on_random_tables():
    rng = np.random.default_rng(0)
    costs = rng.lognormal(size=(3, 40))
    costs[rng.random(costs.shape) < 0.2] = INF
    curves = performance_profile(dict(zip("abc", costs, strict=True)))
    best = costs.min(axis=0)
    for name, row in zip("abc", costs, strict=True):
        for tau in (1.0, 1.1, 2.0, 10.0, 1e6):
            solved = [c <= tau * b for c, b in zip(row, best, strict=True) if math.isfinite(c)]
            assert curves[name].at(tau) == pytest.approx(sum(solved) / 40)
        assert 0.0 <= curves[name].area <= 1.0


def test_units_do_not_matter():
    a = performance_profile({"a": [1.0, 2.0], "b": [2.0, 1.5]})
    b = performance_profile({"a": [8.0, 2048.0], "b": [16.0, 1536.0]})
    assert a["a"].tau.tolist() == b["a"].tau.tolist() and a["a"].area == b["a"].area


def test_solver_that_solves_nothing():
    curves = performance_profile({"none": [NAN, NAN], "all": [1.0, 2.0]})
    assert curves["none"].tau.tolist() == [1.0] and curves["none"].rho.tolist() == [0.0]
    assert curves["none"].area == 0.0 and curves["all"].area == 1.0


def test_nobody_solves_anything():
    assert performance_profile({"a": [NAN]})["a"].at(5.0) == 0.0


@pytest.mark.parametrize("costs", [{}, {"a": []}, {"a": [1.0], "b": [1.0, 2.0]}, {"a": [0.0]}, {"a": [-1.0]}])
def test_bad_tables(costs):
    with pytest.raises(BadInput):
        performance_profile(costs)


def record(solver, case, seconds, *, solved=True, iterations=5, status="converged"):
    return {
        "solver": solver,
        "case": case,
        "contacts": 4,
        "seconds": seconds,
        "iterations": iterations,
        "residual": 1e-9 if solved else None,
        "status": status,
        "solved": solved,
    }


RECORDS = [
    record("fast", "one", 1e-5, iterations=0),
    record("fast", "two <&>", 2e-2),
    record("slow", "one", 3e-4),
    record("slow", "two <&>", 9.0, solved=False, status="time limit"),
]


def test_costs_of_records():
    table = cost_table([*RECORDS, record("other", "three", 2.0, iterations=None)], "iterations")
    np.testing.assert_array_equal(table["fast"], [1.0, 5.0, NAN])  # no iterations count as one
    np.testing.assert_array_equal(table["slow"], [5.0, NAN, NAN])
    assert "other" not in table
    np.testing.assert_array_equal(cost_table(RECORDS, "seconds")["slow"], [3e-4, NAN])


def test_files(tmp_path):
    paths = save_profiles(RECORDS, tmp_path / "deep", title="Ours & theirs", note="tolerance 1e-08")
    assert [p.name for p in paths] == ["profiles.png", "profiles.html"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    page = paths[1].read_text(encoding="utf-8")
    assert "Ours &amp; theirs" in page and "tolerance 1e-08" in page and "two &lt;&amp;&gt;" in page
    assert not re.search(r"(?:src|href)=\"(?!data:)|https?://|@import|<script", page)  # nothing is fetched
    assert 'class="best">10 µs' in page and 'class="failed">time limit' in page
    assert page.count("<tr>") == 3 + 3  # heads and rows of both tables


def test_nothing_to_draw(tmp_path):
    with pytest.raises(BadInput, match="no results"):
        save_profiles([], tmp_path)
