"""What the benches print: the fields that were promised, residuals that hold, nothing about speed."""

from __future__ import annotations

import json

import pytest

from taction.bench import dynamics
from taction.bench.timing import best_times, machine

FIELDS = {"case", "ours", "peer", "peer_name", "unit", "ratio", "residual", "peer_residual"}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(dynamics, "BATCH", 4)
    monkeypatch.setattr(dynamics, "CHAINS", (2, 8))


def test_against_the_peer(small):
    pytest.importorskip("pinocchio")
    if dynamics.robot_data() is None:
        pytest.skip("example-robot-data is not installed")
    result = dynamics.bench_dynamics(rounds=1)
    json.dumps(result)
    assert result["bench"] == "dynamics" and result["machine"]["cores"] >= 1
    assert all(FIELDS <= row.keys() for row in result["rows"])
    compared = [row for row in result["rows"] if row["peer"] is not None]
    kinds = ("aba", "rnea", "crba")
    assert {row["case"] for row in compared} == {f"{n} {k}" for n in dynamics.ROBOTS for k in kinds}
    for row in compared:
        assert row["ratio"] == pytest.approx(row["ours"] / row["peer"])
        assert row["residual"] < 1e-10 and row["peer_residual"] < 1e-10
    longest = [row for row in result["rows"] if row["case"].startswith("chain-8")]
    assert len(longest) == 2 and all("slope" in row and row["residual"] < 1e-12 for row in longest)


def test_without_the_peer(small, monkeypatch):
    monkeypatch.setattr(dynamics, "robot_data", lambda: None)
    rows = dynamics.bench_dynamics(rounds=1)["rows"]
    assert all(FIELDS <= row.keys() and row["peer"] is None and row["ratio"] is None for row in rows)
    assert {row["case"] for row in rows} >= {"quadruped aba", "quadruped rnea", "quadruped crba"}


def test_contenders_take_turns():
    calls = []
    best = best_times({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3)
    assert calls == ["a", "b"] * 4  # one round to warm up
    assert set(best) == {"a", "b"} and all(t >= 0 for t in best.values())


def test_machine_is_plain_data():
    json.dumps(machine())
