"""``taction solve``: JSON, exit codes, nothing solved before everything is read."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

import taction.contact.certificate as certificate
from taction.cli.main import main
from taction.contact.elements import Bilateral, Contact
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem
from taction.io.problem_file import save_problem
from taction.solvers import SOLVERS
from taction.solvers.base import Iterations, Solver, Status

FIELDS = {"name", "contacts", "status", "residual", "iterations", "seconds", "solver", "message"}
# w₂ = −1 whatever z ≥ 0 is.
WITHOUT_SOLUTION = LinearComplementarityProblem(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([-1.0, -1.0]))


def contact_problem(contacts=2, **options):
    rng = np.random.default_rng(contacts)
    A = 0.2 * rng.normal(size=(3 * contacts, 3 * contacts))
    b = rng.normal(size=3 * contacts)
    b[::3] = -1.0
    return ContactProblem.from_friction(A @ A.T + np.eye(len(b)), b, np.full(contacts, 0.4), **options)


@dataclass(frozen=True, kw_only=True)
class Idle(Solver):
    """Leaves the guess as it is, and says what it is told to say."""

    says: Status = Status.ITERATION_LIMIT

    name = "idle"
    summary = "does nothing"
    laws = ("exact",)

    def iterate(self, blocks, r_io):
        return Iterations(self.says, 0, np.zeros(0))


@dataclass(frozen=True, kw_only=True)
class Boaster(Idle):
    says: Status = Status.CONVERGED

    name = "boaster"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(SOLVERS, "idle", Idle)
    monkeypatch.setitem(SOLVERS, "boaster", Boaster)
    save_problem(contact_problem(2), tmp_path / "b.hdf5")
    save_problem(contact_problem(3), tmp_path / "a.npz")
    return tmp_path


def read(text):
    return json.loads(text)


def test_json(folder, capsys):
    assert main(["solve", str(folder / "b.hdf5"), str(folder / "a.npz"), "--json"]) == 0
    result = read(capsys.readouterr().out)
    assert result["tol"] == 1e-8 and result["solver"] == "auto"
    assert [(p["name"], p["contacts"]) for p in result["problems"]] == [("b", 2), ("a", 3)]
    for problem in result["problems"]:
        assert FIELDS <= problem.keys()
        assert problem["status"] == "converged" and problem["residual"] <= 1.001e-8 and problem["seconds"] > 0


def test_folder_means_its_problem_files(folder, capsys):
    (folder / "notes.txt").write_text("not a problem")
    assert main(["solve", str(folder), "--json", "--tol", "1e-6"]) == 0
    result = read(capsys.readouterr().out)
    assert [p["name"] for p in result["problems"]] == ["a", "b"] and result["tol"] == 1e-6


def test_for_people(folder, capsys):
    assert main(["solve", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "2 of 2 solved to 1e-08" in out and "converged" in out and "residual" in out


def test_law(folder, capsys):
    assert main(["solve", str(folder), "--law", "frictionless", "--json"]) == 0
    assert {p["law"] for p in read(capsys.readouterr().out)["problems"]} == {"frictionless"}


def test_equations_are_solved_too(tmp_path, capsys):
    problem = ContactProblem(np.eye(5) + 0.1, -np.ones(5), [Contact(0.3), Bilateral(2)])
    save_problem(problem, tmp_path / "p.hdf5")
    assert main(["solve", str(tmp_path / "p.hdf5"), "--json"]) == 0
    assert read(capsys.readouterr().out)["problems"][0]["rows"] == 5


def test_residual_is_the_certificate_s(folder, capsys, monkeypatch):
    real = certificate.certify
    judged = []

    def certify(problem, impulse):
        judged.append(real(problem, impulse))
        return judged[-1]

    monkeypatch.setattr(certificate, "certify", certify)
    assert main(["solve", str(folder / "a.npz"), "--json"]) == 0
    assert read(capsys.readouterr().out)["problems"][0]["residual"] == judged[0].residual


def test_not_converged_is_one(folder, capsys):
    assert main(["solve", str(folder), "--solver", "idle", "--json"]) == 1
    out, err = capsys.readouterr()
    assert [p["status"] for p in read(out)["problems"]] == ["iteration limit"] * 2
    assert "taction: a: iteration limit: " in err


def test_a_solver_that_boasts_is_found_out(folder, capsys):
    assert main(["solve", str(folder / "a.npz"), "--solver", "boaster", "--json"]) == 1
    problem = read(capsys.readouterr().out)["problems"][0]
    assert problem["status"] == "not certified" and problem["residual"] > 0.1
    assert "certificate finds" in problem["message"]


def test_linear_complementarity(tmp_path, capsys):
    save_problem(LinearComplementarityProblem(np.eye(3), np.array([-1.0, 2.0, 0.0])), tmp_path / "lcp.npz")
    assert main(["solve", str(tmp_path / "lcp.npz"), "--json"]) == 0
    problem = read(capsys.readouterr().out)["problems"][0]
    assert problem["status"] == "converged" and problem["solver"] == "lemke" and problem["contacts"] == 0
    assert problem["min_w"] == 0.0 and problem["min_z"] == 0.0 and problem["complementarity"] == 0.0


def test_without_solution_is_one(tmp_path, capsys):
    save_problem(WITHOUT_SOLUTION, tmp_path / "lcp.npz")
    assert main(["solve", str(tmp_path / "lcp.npz"), "--json"]) == 1
    problem = read(capsys.readouterr().out)["problems"][0]
    assert problem["status"] == "infeasible" and problem["min_w"] < 0.0


def test_out(folder, tmp_path, capsys):
    out = tmp_path / "deep" / "solutions"
    assert main(["solve", str(folder / "a.npz"), "--out", str(out), "--json"]) == 0
    row = read(capsys.readouterr().out)["problems"][0]
    with np.load(out / "a.npz", allow_pickle=False) as file:
        assert read(str(file["summary"])) == row
        problem = contact_problem(3)
        np.testing.assert_allclose(problem.velocity(file["impulse"]), file["velocity"], rtol=1e-12)
        assert certificate.certify(problem, file["impulse"]).residual == row["residual"]


# ----- Bad input: nothing is solved ----------------------------------------------------------------------


@pytest.fixture
def nothing_is_solved(monkeypatch):
    def solve(*_, **__):
        raise AssertionError("solved before all input was checked")

    monkeypatch.setattr(Solver, "solve", solve)


BAD = {
    "no file": ([], "Missing argument"),
    "file that is not there": (["a.npz", "c.npz"], "c.npz: no such file"),
    "broken file": (["a.npz", "broken.hdf5"], "broken.hdf5: cannot be read as HDF5"),
    "empty folder": (["empty"], "empty: no problem files"),
    "other kind": (["notes.txt"], "notes.txt: unknown kind of file"),
    "unknown solver": (["a.npz", "--solver", "luck"], "--solver luck: choose from auto"),
    "unknown law": (["a.npz", "--law", "sticky"], "--law sticky: choose from exact"),
    "solver and law": (
        ["a.npz", "--solver", "idle", "--law", "convex"],
        "'idle' does not know the law 'convex'",
    ),
    "law of an lcp": (["lcp.npz", "--law", "convex"], "lcp.npz: --law is for contact problems"),
    "tolerance of zero": (["a.npz", "--tol", "0"], "--tol 0: must lie between 0 and 1"),
    "tolerance is nan": (["a.npz", "--tol", "nan"], "--tol nan: must lie"),
    "two of a name": (["a.npz", "a.npz", "--out", "out"], "two problems are called 'a'"),
    "out is a file": (["a.npz", "--out", "notes.txt"], "notes.txt: File exists"),
}


@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input(folder, words, message, capsys, monkeypatch, nothing_is_solved):
    monkeypatch.chdir(folder)
    (folder / "empty").mkdir()
    (folder / "notes.txt").write_text("no problem")
    (folder / "broken.hdf5").write_text("no HDF5")
    save_problem(WITHOUT_SOLUTION, folder / "lcp.npz")
    assert main(["solve", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1, err
    assert err.startswith("taction: ") and message in err


def test_list_names_the_solvers(capsys):
    assert main(["list", "--json"]) == 0
    listed = read(capsys.readouterr().out)["solvers"]
    assert [s["name"] for s in listed] == list(SOLVERS)
    assert all(s["summary"] and s["laws"] for s in listed)
    assert main(["list", "solvers"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Contact solvers") and all(s["summary"] in out for s in listed)
