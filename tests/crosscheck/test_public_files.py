"""The sweep over public files: what it takes for a robot, what it says of one, and how it counts."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from helpers import imported_program

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")

PENDULUM = """<robot name="pendulum"><!-- <mujoco> -->
  <link name="base"/>
  <link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.01"/></inertial></link>
  <joint name="hinge" type="continuous"><origin rpy="1 0 0"/><parent link="base"/><child link="rod"/>
    <axis xyz="1 0 0"/></joint></robot>"""
BOX = '<mujoco><worldbody><body><freejoint/><geom type="box" size="1 1 1"/></body></worldbody></mujoco>'


@pytest.fixture
def sweep(monkeypatch):
    with imported_program(monkeypatch, Path(__file__).parent / "public_files.py") as found:
        yield found


def told(path, is_brief=False):
    row = {}
    importlib.import_module("model_row").examine(path, 0.1, is_brief, row.update)
    return row | {"digest": path.name, "is_urdf": path.suffix == ".urdf"}


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "arms/pendulum.urdf": PENDULUM,
        "arms/notes.xml": "<notes/>",
        "arms/description.xml": PENDULUM,
        "boxes/box.xml": BOX,
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_file_is_told_by_its_root_and_its_name(sweep, folder):
    assert [path.name for path in sweep.descriptions(folder)] == ["pendulum.urdf", "box.xml"]


@pytest.mark.parametrize("name", ["arms/pendulum.urdf", "boxes/box.xml"])
def test_a_run_is_held_against_both_peers(sweep, folder, name):
    row = told(folder / name)
    assert row["outcome"] == "ran" and sweep.verdict(row, 20.0) == ""
    assert row["mujoco"] == "loads" and row["mass"] < 1e-12
    assert row["place"] < 1e-3 and row["angle"] < 2e-3 and row["reason"] == ""


def test_a_refusal_counts_where_a_peer_loads_the_file(sweep, folder):
    bad = folder / "arms" / "bad.urdf"
    bad.write_text(PENDULUM.replace('mass value="1"', 'mass value="-1"'))
    row = told(bad)
    assert (
        row["outcome"] == "refused" and row["pinocchio"] == "loads" and sweep.verdict(row, 20.0) == "refused"
    )
    assert sweep.verdict(row | {"bare": "ran"}, 20.0) == "without meshes"
    assert sweep.verdict(row | {"at": "world"}, 20.0) == "cannot move"
    assert sweep.verdict(row | {"is_urdf": False, "mujoco": "bad"}, 20.0) == "refused by MuJoCo too"
    assert sweep.verdict(row | {"pinocchio": "bad", "mujoco": "bad"}, 20.0) == ""


def test_tables_count_by_package_and_message(sweep, folder):
    rows = {"arms/pendulum.urdf": told(folder / "arms/pendulum.urdf", is_brief=True)}
    rows["boxes/box.xml"] = {
        "outcome": "raw",
        "text": "ZeroDivisionError: 3.5 in 'x' at hull.py:7",
        "digest": "",
    }
    rows = {name: row | {"verdict": sweep.verdict(row, 20.0)} for name, row in rows.items()}
    arms, boxes, every = sweep.table(rows).splitlines()[2:]
    assert arms.startswith("| arms | 1 | 1 | – | – | 0 | 0 | 0 |") and "| 1 of 1 |" in arms
    assert boxes.startswith("| boxes | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |")
    assert every.startswith("| **all** | 2 | 1 |")
    assert "| 1 | raw | ZeroDivisionError: N in '…' at hull.py:N | boxes/box.xml |" in sweep.findings(
        rows, folder
    )
