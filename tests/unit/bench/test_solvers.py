"""``taction bench solvers``: what is promised in the JSON, who judges, and what counts as solved."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from taction._core.errors import BadInput
from taction.bench import solvers as bench
from taction.bench.contact_peers import PeerResult, pinocchio_name, read_peers, run_pinocchio
from taction.cli.main import main
from taction.contact.elements import Contact, Unilateral
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem
from taction.io.problem_file import save_problem
from taction.solvers import SOLVERS
from taction.solvers.base import Iterations, Solver, Status

FIELDS = {
    "case",
    "ours",
    "peer",
    "peer_name",
    "unit",
    "ratio",
    "residual",
    "peer_residual",
    "solver",
    "contacts",
}


@dataclass(frozen=True, kw_only=True)
class Boaster(Solver):
    """Claims success and has done nothing."""

    name = "boaster"
    summary = "claims success"

    def iterate(self, blocks, r_io):
        return Iterations(Status.CONVERGED, 3, np.zeros(0))


@dataclass(frozen=True, kw_only=True)
class Diagonal(Solver):
    """Solves problems of contacts that stick, with a diagonal W; knows its own time."""

    name = "diagonal"
    summary = "exact for a diagonal W"
    laws = ("exact",)

    def iterate(self, blocks, r_io):
        rows = blocks.rows
        r_io[:] = -rows.b / rows.value[rows.diagonal][:, [0, 4, 8]].ravel()
        return Iterations(Status.CONVERGED, 1, np.zeros(0))

    def time_kernel(self, problem, rounds):
        return 1e-6 * rounds


def sticking(contacts: int, **options) -> ContactProblem:
    b = np.tile([-1.0, 0.1, -0.1], contacts)
    return ContactProblem.from_friction(2.0 * np.eye(3 * contacts), b, np.full(contacts, 0.5), **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(SOLVERS, "boaster", Boaster)
    monkeypatch.setitem(SOLVERS, "diagonal", Diagonal)
    save_problem(sticking(4), tmp_path / "four.hdf5")
    save_problem(sticking(1), tmp_path / "one.npz")
    save_problem(LinearComplementarityProblem(np.eye(2), np.ones(2)), tmp_path / "lcp.npz")
    return tmp_path


def run(folder, **options):
    chosen = {"solvers": ["diagonal", "boaster"], "rounds": 2, "peers": False, **options}
    return bench.bench_solvers(folder, **chosen)


def test_json(folder):
    result = json.loads(json.dumps(run(folder)))
    assert result["bench"] == "solvers" and result["machine"]["cores"] >= 1
    assert [row["case"] for row in result["rows"]] == ["one", "four"]  # no linear complementarity problem
    for row in result["rows"]:
        assert FIELDS <= row.keys() and row["unit"] == "ms" and row["residual"] <= 1.001e-8
        assert row["peer"] is None and row["ratio"] is None and row["ours"] > 0
    assert result["summary"] == {
        "geometric_mean": None,
        "worst_ratio": None,
        "compared": 0,
        "solved": 2,
        "of": 2,
    }
    pairs = {(r["solver"], r["case"]) for r in result["solvers"]}
    assert pairs == {(s, c) for s in ("auto", "diagonal", "boaster") for c in ("one", "four")}


def test_the_certificate_judges_and_kernels_time_themselves(folder):
    records = {(r["solver"], r["case"]): r for r in run(folder)["solvers"]}
    boast = records["boaster", "one"]
    assert boast["solved"] is False and boast["status"] == "not certified" and boast["residual"] > 0.1
    exact = records["diagonal", "four"]
    assert exact["solved"] is True and exact["residual"] < 1e-15 and exact["seconds"] == 2e-6


def test_laws_that_a_solver_does_not_know_are_passed_over(folder):
    save_problem(sticking(2, law="convex"), folder / "convex.npz")
    cases = {r["case"] for r in run(folder)["solvers"] if r["solver"] == "diagonal"}
    assert cases == {"one", "four"}


def test_slower_than_the_limit_is_a_failure(folder):
    records = run(folder, limit_s=1e-6)["solvers"]
    slow = next(r for r in records if r["solver"] == "diagonal")
    assert slow["solved"] is False and slow["status"] == "time limit"


def test_ratio_is_to_the_fastest_peer(folder):
    (folder / "peers.csv").write_text(
        "problem,contacts,siconos_1e-4,ms,pinocchio_1e-4,ms,siconos_1e-8,ms,pinocchio_1e-8,ms\n"
        "one,1,A,0.1,B,0.2,A,4.0,B,2.0\nfour,4,A,0.1,B,0.2,A,8.0,,\n"
    )
    result = run(folder)
    one, four = result["rows"]
    assert (one["peer"], one["peer_name"], one["peer_source"]) == (2.0, "pinocchio", "peers.csv")
    assert (four["peer"], four["peer_name"]) == (8.0, "siconos")
    ratios = [one["ours"] / 2.0, four["ours"] / 8.0]
    assert [one["ratio"], four["ratio"]] == pytest.approx(ratios)
    assert result["summary"]["geometric_mean"] == pytest.approx(math.sqrt(ratios[0] * ratios[1]))
    assert result["summary"]["worst_ratio"] == pytest.approx(max(ratios))
    assert run(folder, tol=1e-6)["rows"][0]["peer"] is None


def test_side_by_side_beats_times_from_elsewhere_only_if_faster(folder, monkeypatch):
    (folder / "peers.csv").write_text("problem,contacts,siconos_1e-8,ms\none,1,A,4.0\nfour,4,A,1.0\n")
    results = [
        PeerResult("pinocchio-pgs", 1e-4, 5, 1e-3, False),
        PeerResult("pinocchio-admm-osqp", 2e-3, 5, 1e-9, True),
    ]
    monkeypatch.setattr(bench, "pinocchio_name", lambda: "pinocchio 0")
    monkeypatch.setattr(bench, "run_pinocchio", lambda *_, **__: results)
    one, four = run(folder, peers=True)["rows"]
    assert (one["peer"], one["peer_name"], one["peer_residual"]) == (2.0, "pinocchio 0 admm-osqp", 1e-9)
    assert one["peer_source"] == "side by side" and four["peer_source"] == "peers.csv"


@pytest.mark.skipif(pinocchio_name() is None, reason="Pinocchio's contact solvers are not installed")
def test_pinocchio_solves_the_same_problem():
    rng = np.random.default_rng(0)
    A = 0.3 * rng.normal(size=(9, 9))
    W = A @ A.T + np.eye(9)
    W[0, 8] += 1e-4  # a slight asymmetry must not keep the peer from its answer
    problem = ContactProblem.from_friction(W, rng.normal(size=9), [0.3, 0.5, 0.7])
    results = run_pinocchio(problem, tol=1e-8, rounds=1, limit_s=2.0)
    assert [r.solver for r in results] == ["pinocchio-admm-osqp", "pinocchio-admm-spectral", "pinocchio-pgs"]
    for result in results:
        assert result.is_solved and result.residual <= 1e-8 and result.seconds > 0 and result.iterations > 0


@pytest.mark.parametrize(
    "problem",
    [
        ContactProblem(np.eye(1), -np.ones(1), [Unilateral()]),
        ContactProblem(np.eye(3), -np.ones(3), [Contact(0.3, lateral=0.5)]),
        sticking(1, law="convex"),
        sticking(1, compliance=np.ones(3)),
    ],
)
def test_pinocchio_is_not_asked_what_it_cannot_say(problem):
    assert run_pinocchio(problem, tol=1e-8, rounds=1, limit_s=1.0) == []


def test_generated_problems():
    problems = bench.generate_problems()
    again = bench.generate_problems()
    assert len(problems) == len({p.name for p in problems}) == 12
    for a, b in zip(problems, again, strict=True):
        assert (a.W != b.W).nnz == 0 and (a.b == b.b).all() and a.contacts > 0
        low = np.linalg.eigvalsh(a.W.toarray())[0]
        assert low > -1e-12 * abs(a.W).max() and (a.b[::3] < 0.0).any()
    by_name = {p.name: p for p in problems}
    assert np.linalg.matrix_rank(by_name["plate-8"].W.toarray()) == 6  # hyperstatic: one body, 64 contacts
    assert by_name["plate-8"].contacts == 64
    assert {e.friction for e in by_name["pile-mixed-friction"].elements} == {0.0, 0.1, 1.5}


def test_a_block_that_slides_has_the_jacobian_of_a_rigid_body():
    """Σ of the normal impulses of a unit push at each corner lifts the block without turning it."""
    problem = next(p for p in bench.generate_problems() if p.name == "sliding-block")
    u = problem.velocity(np.tile([1.0, 0.0, 0.0], 4)) - problem.b
    np.testing.assert_allclose(u.reshape(4, 3), np.tile([4.0, 0.0, 0.0], (4, 1)), atol=1e-14)


def test_built_in_set_is_used_without_a_folder(monkeypatch):
    monkeypatch.setattr(bench, "generate_problems", lambda: [sticking(1, name="tiny")])
    assert [row["case"] for row in run(None, solvers=[])["rows"]] == ["tiny"]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"solvers": ["luck"]}, "unknown solver 'luck'"), ({"tol": 0.0}, "tol: 0 must lie")],
)
def test_bad_options(folder, options, message):
    with pytest.raises(BadInput, match=message):
        run(folder, **options)


def test_folder_without_contact_problems(tmp_path):
    save_problem(LinearComplementarityProblem(np.eye(2), np.ones(2)), tmp_path / "lcp.npz")
    with pytest.raises(BadInput, match="no contact problems"):
        run(tmp_path, solvers=[])


@pytest.mark.parametrize(
    "text", ["name,ms\n", "problem,a_1e-8,ms\nx,A\n", "problem,a_1e-8,ms\nx,A,fast\n", ""]
)
def test_broken_table_of_peers(tmp_path, text):
    (tmp_path / "peers.csv").write_text(text)
    with pytest.raises(BadInput, match=r"peers\.csv: not a table of peers"):
        read_peers(tmp_path / "peers.csv", 1e-8)


def test_command(folder, tmp_path, capsys):
    out = tmp_path / "report"
    words = ["bench", "solvers", str(folder), "--solver", "diagonal", "--rounds", "1", "--no-peers"]
    assert main([*words, "--out", str(out), "--json"]) == 0
    printed, err = capsys.readouterr()
    result = json.loads(printed)
    assert json.loads((out / "solvers.json").read_text(encoding="utf-8")) == result
    assert {p.name for p in out.iterdir()} == {"solvers.json", "profiles.png", "profiles.html"}
    assert "wrote solvers.json, profiles.png, profiles.html" in err
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "auto solved 2 of 2; no peer to compare with" in printed and "diagonal" in printed
