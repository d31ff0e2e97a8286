"""The bench of loading: rows, the copy that MuJoCo reads, and children that fail."""

from __future__ import annotations

import pytest

from taction.bench import load
from taction.bench.dynamics import robot_data


def test_rows(monkeypatch):
    calls = []

    def child(function, robot, cache=None):
        calls.append((function, robot))
        return {"wall": 0.2 + len(calls), "work": 0.1}

    monkeypatch.setattr(load, "_child", child)
    monkeypatch.setattr(load, "mujoco_name", lambda: "mujoco 4")
    monkeypatch.setattr(load, "ROBOTS", {"panda": "panda.urdf"})
    first, second = load.bench_load(rounds=2)["rows"]
    assert first["case"] == "panda, first" and second["case"] == "panda, second"
    assert first["peer_name"] == "mujoco 4" and first["ratio"] == 1.0 and second["peer"] is None
    assert (first["limit"], second["limit"]) == (1.5, 0.3)
    assert calls == [("time_theirs", "panda")] * 2 + [("time_ours", "panda")] * 5


def test_mujoco_reads_the_copy(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    if robot_data() is None:
        pytest.skip("example-robot-data is not installed")
    model = mujoco.MjModel.from_xml_path(str(load._for_mujoco("panda", tmp_path)))
    assert (model.nv, model.nmesh) == (9, 9)


def test_a_child_that_fails_says_so():
    with pytest.raises(RuntimeError, match="no_such_function"):
        load._child("no_such_function", "panda")
