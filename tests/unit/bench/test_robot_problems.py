"""Random problems from robots: consistent, repeatable, of every kind, and counted honestly."""

from __future__ import annotations

import json

import numpy as np
import pytest

from taction.bench import robot_problems
from taction.bench.robot_problems import MOST_CONTACTS, bench_robot_problems, random_frame, robot_problem
from taction.contact.elements import Bilateral, Contact, JointFriction, JointLimit
from taction.contact.feasibility import self_stress


def test_a_problem_is_drawn_from_its_seed_alone():
    first, again = (robot_problem(np.random.default_rng([3, 7])) for _ in range(2))
    assert np.array_equal(first.W, again.W) and np.array_equal(first.b, again.b)
    assert first.elements == again.elements and first.name == again.name


@pytest.mark.parametrize("contacts", [1, 2, 17, MOST_CONTACTS])
def test_problems_are_consistent(contacts):
    for i in range(4):
        p = robot_problem(np.random.default_rng([0, i]), contacts)
        assert p.contacts == contacts
        assert np.abs(p.W - p.W.T).max() <= 1e-10 * np.abs(p.W).max()
        values, vectors = np.linalg.eigh(p.W)
        assert values[0] >= -1e-10 * values[-1]
        # b = J v: it has nothing along the directions that W cannot move
        still = vectors[:, values <= 1e-10 * values[-1]]
        assert np.abs(still.T @ p.b).max(initial=0.0) <= 1e-4 * np.abs(p.b).max()
        assert contacts > 20 or self_stress(p) is None


def test_all_kinds_occur():
    problems = [robot_problem(np.random.default_rng([0, i]), 6) for i in range(60)]
    elements = [e for p in problems for e in p.elements]
    contacts = [e for e in elements if isinstance(e, Contact)]
    assert {type(e) for e in elements} == {Contact, JointLimit, JointFriction, Bilateral}
    assert any(e.friction == 0.0 for e in contacts) and max(e.friction for e in contacts) > 1.2
    assert any(e.friction != e.lateral for e in contacts) and any(e.friction != e.backward for e in contacts)
    assert {p.name.split(",")[0] for p in problems} == set(robot_problems.ROBOTS)
    sizes = [robot_problem(np.random.default_rng([1, i])).contacts for i in range(60)]
    assert min(sizes) == 1 and max(sizes) > 100


def test_frames_are_right_handed_and_near_the_vertical():
    rng = np.random.default_rng(0)
    for _ in range(50):
        frame = random_frame(rng, 0.5)
        assert frame.T @ frame == pytest.approx(np.eye(3), abs=1e-14) and np.linalg.det(frame) > 0.0
        assert frame[2, 0] >= np.cos(0.5) - 1e-12


def test_the_bench_counts_what_was_solved(capsys):
    result = bench_robot_problems(12, seed=5, contacts=4)
    json.dumps(result)
    assert result["count"] == 12 == result["solved"] + len(result["failures"])
    assert sum(result["statuses"].values()) == 12 and result["not_finite"] == 0
    assert result["solved"] == 12 and result["worst_residual"] <= 1e-9
    robot_problems.main(["--count", "2", "--contacts", "2"])
    assert "2 of 2 solved" in capsys.readouterr().out


def test_the_bench_names_its_failures(capsys):
    robot_problems.main(["--count", "6", "--solver", "nsgs", "--tol", "1e-12", "--contacts", "12", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["failures"] and result["solved"] < 6
    for failure in result["failures"]:
        p = robot_problem(np.random.default_rng([failure["seed"], failure["index"]]), 12)
        assert failure["problem"] == p.name and not (failure["residual"] or 1.0) <= 1e-12
