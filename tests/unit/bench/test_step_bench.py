"""The step and rollout benches: promised fields, the same mechanism on both sides, a judge that can tell."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

from taction.bench import rollout, step
from taction.bench.mujoco_peer import MujocoPeer
from taction.bench.step_models import humanoid_mjcf, pile_mjcf, quadruped_mjcf
from taction.bench.whole_body import bench_whole_body
from taction.contact.certificate import certify
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.solvers import solve

FIELDS = {"case", "ours", "peer", "peer_name", "unit", "ratio", "residual", "peer_residual"}


@pytest.mark.parametrize(("text", "nv"), [(quadruped_mjcf(), 18), (humanoid_mjcf(), 29), (pile_mjcf(), 120)])
def test_both_read_the_same_mechanism(text, nv):
    ours, theirs = compile_model(parse_mjcf(text)), mujoco.MjModel.from_xml_string(text)
    assert ours.nv == theirs.nv == nv and ours.nq == theirs.nq
    assert ours.total_mass == pytest.approx(theirs.body_mass.sum())
    np.testing.assert_allclose(ours.q0, theirs.qpos0, atol=1e-12)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    assert data.ncon == 0  # nothing overlaps at the start
    assert theirs.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert theirs.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON


def test_rows_of_the_step_bench():
    cases = [
        step.Case("standing", quadruped_mjcf(), 150, 20, 1.0),
        step.Case("two", pile_mjcf(2), 0, 60, 1.5),
    ]
    result = step.bench_step(rounds=1, cases=cases)
    json.dumps(result)
    assert result["bench"] == "step" and [row["case"] for row in result["rows"]] == ["standing", "two"]
    for row in result["rows"]:
        assert row.keys() >= FIELDS and row["peer_name"] == f"mujoco {mujoco.__version__}"
        assert row["ratio"] == pytest.approx(row["ours"] / row["peer"])
        assert row["residual"] <= 1e-8 and row["unconverged"] == 0
    standing = result["rows"][0]
    assert standing["contacts"] == standing["peer_contacts"] == 4
    assert standing["peer_penetration"] > 1e-5 > standing["penetration"]


def test_rows_of_whole_body_control():
    rows = bench_whole_body(rounds=2)
    json.dumps(rows)
    assert [row["case"] for row in rows] == ["whole-body program, g1", "whole-body program, document"]
    for row in rows:
        assert row.keys() >= FIELDS and row["residual"] < 1e-9 and 0.0 < row["ours"] <= row["longest"]


def test_rows_of_the_rollout_bench():
    result = rollout.bench_rollout(rounds=1, worlds=3, steps=80, threads=2, robots=["quadruped"])
    json.dumps(result)
    (row,) = result["rows"]
    assert row.keys() >= FIELDS and row["ratio"] == pytest.approx(row["ours"] / row["peer"])
    assert row["failed"] == row["unconverged"] == 0 and row["residual"] <= 1e-8


def test_without_the_peer(monkeypatch):
    for module in (step, rollout):
        monkeypatch.setattr(module, "mujoco_name", lambda: None)
    rows = step.bench_step(rounds=1, cases=[step.Case("q", quadruped_mjcf(), 0, 5, 1.0)])["rows"]
    rows += rollout.bench_rollout(rounds=1, worlds=2, steps=5, robots=["quadruped"])["rows"]
    for row in rows:
        assert row.keys() >= FIELDS and row["ours"] > 0
        assert row["peer"] is row["ratio"] is row["peer_residual"] is row["peer_name"] is None


def test_the_problem_of_the_peer_is_the_step_it_took():
    """u = W Λ + b is its own contact velocity; exact impulses of that problem pass the same judge."""
    peer = MujocoPeer(quadruped_mjcf())
    peer.data.qvel[:2] = 0.3
    peer.advance(80)
    problem, impulse = peer.problem()
    assert problem.contacts == 4 == peer.data.ncon
    rows = peer.data.efc_address if hasattr(peer.data, "efc_address") else peer.data.contact.efc_address
    J = np.array(peer.data.efc_J).reshape(-1, peer.model.nv)
    u = np.concatenate([J[r : r + 3] @ peer.data.qvel for r in rows])
    np.testing.assert_allclose(problem.velocity(impulse), u, atol=1e-12)
    assert certify(problem, solve(problem).impulse).residual < 1e-8 < peer.residual()


def test_bitwise_counts_states_that_differ():
    """Small: three worlds that fall on each other for a tenth of a second."""
    from taction.bench.bitwise import _differing, bench_bitwise

    result = bench_bitwise(steps=100, worlds=3)
    assert [row["ours"] for row in result["rows"]] == [0, 0, 0, 0]
    assert result["rows"][0]["most_contacts"] >= 4
    q = np.zeros((4, 2))
    other = q.copy()
    other[2, 1] = 5e-324
    assert _differing(q, q, other, q) == 1


@pytest.mark.long
def test_inverse_dynamics_in_a_compiled_loop(monkeypatch):
    from taction.bench import inverse

    monkeypatch.setattr(inverse, "STATES", 3)
    standing, moving = inverse.bench_inverse(1, 1e-9)
    assert standing["contacts"] == 4 and standing["nv"] == 18 and standing["limit"] == 50.0
    assert max(standing["residual"], moving["residual"]) <= 1e-9
    assert 0.0 < moving["ours"] <= moving["longest"] and moving["states"] == 3


def test_soft_contact_against_exact_contact():
    from taction.bench.soft import bench_soft

    rows = bench_soft(1, 1e-9)
    assert [row["peer_name"] for row in rows] == ["exact contact"] * 3
    standing, _, rolling = rows
    assert standing["contacts"] == 4 and 1e-5 < standing["penetration"] < 1e-2
    assert standing["limit"] == 1.0 and standing["ratio"] > 0.0 and standing["peer_residual"] < 1e-8
    assert rolling["residual"] > 1e-3  # a force does not keep the laws of rigid contact
