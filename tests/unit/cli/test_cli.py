"""The command line: exit codes, one JSON object and nothing else on stdout, one line for bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import taction as ta
from helpers import hide_module
from taction import scenarios
from taction.cli.listing import KINDS
from taction.cli.main import main
from taction.scenarios import GROUPS, SCENARIOS
from taction.scenarios.base import ContactScenario
from taction.scenarios.metric_units import UNITS
from taction.sim.contact_setup import LAWS
from taction.steppers import INTEGRATORS
from taction.steppers.schemes.dispatch import SCHEMES

QUICK = ("run", "double-pendulum", "--duration", "0.02")
# before they run, they plan for seconds
PLANNED = ("planar-push", "cartpole-swing", "push-recovery", "humanoid-3d-walk")


def taction(*words: str) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "taction", *words], capture_output=True, text=True, check=False
    )


def read(text: str) -> dict:
    """JSON as strict parsers read it: NaN and Infinity are errors."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} in JSON")

    return json.loads(text, parse_constant=refuse)


# ----- Done: 0 -------------------------------------------------------------------------------------------


def test_run(capsys):
    assert main(QUICK) == 0
    out, err = capsys.readouterr()
    assert "all passed" in out and "rk4" in out and "energy_error" in out
    assert "Traceback" not in err


def test_a_command_leaves_warnings_as_they_were():
    shown = warnings.showwarning
    assert main(["--version"]) == 0
    assert warnings.showwarning is shown


def test_run_json(capsys):
    assert main([*QUICK, "--json"]) == 0
    result = read(capsys.readouterr().out)
    assert result["scenario"] == "double-pendulum" and result["integrator"] == "rk4"
    assert result["contact"] is None and result["solver"] is None and result["coordinates"] == "reduced"
    assert result["dt"] == 1e-3 and result["steps"] == 20 and result["checks"] == []
    assert result["wall_s"] > 0 and result["first_call_s"] > 0
    assert result["certificate"]["motion"] < 1e-12 and result["certificate"]["signorini"] is None
    assert result["energy"]["initial"] == pytest.approx(result["energy"]["final"])
    assert result["metrics"]["blew_up"] is False
    assert result["parameters"]["q1"] == 2.0


def test_run_options_arrive(capsys):
    words = [
        "run",
        "swinging-chain",
        "--integrator",
        "semi-implicit-euler",
        "--dt",
        "0.002",
        "--duration",
        "0.1",
    ]
    assert main([*words, "--set", "links=3", "planar=true", "--json"]) == 0  # several after one --set
    assert read(capsys.readouterr().out)["parameters"]["planar"] is True
    assert main([*words, "--set", "links=3", "--set", "planar=true", "--json"]) == 0
    result = read(capsys.readouterr().out)
    assert result["integrator"] == "semi-implicit-euler" and result["dt"] == 0.002 and result["steps"] == 50
    assert result["parameters"]["links"] == 3 and result["parameters"]["planar"] is True


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] if n in PLANNED else []) for n in SCENARIOS]
)
def test_every_scenario_runs(name, capsys):
    assert main(["run", name, "--duration", "0.02", "--json"]) == 0
    result = read(capsys.readouterr().out)
    assert result["scenario"] == name and result["metric_units"].keys() == result["metrics"].keys()
    assert set(result["metric_units"].values()) <= UNITS


def test_list_json(capsys):
    assert main(["list", "--json"]) == 0
    result = read(capsys.readouterr().out)
    assert [s["name"] for s in result["scenarios"]] == list(SCENARIOS)
    assert {i["name"]: i["order"] for i in result["integrators"]} == {
        k: m.order for k, m in INTEGRATORS.items()
    }
    assert {"quadruped", "snake", "double_pendulum"} <= {r["name"] for r in result["robots"]}
    first = result["scenarios"][0]["parameters"][0]
    assert first == {
        "name": "q1",
        "default": 2.0,
        "unit": "rad",
        "help": "first angle at the start, from hanging",
        "choices": [],
        "minimum": None,
        "maximum": None,
    }


def test_list(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    words = {word.strip(",") for line in lines for word in line.split()}
    known = (*SCENARIOS, *GROUPS, *KINDS, *INTEGRATORS, "quadruped", *SCHEMES, *LAWS)
    assert set(known) - {"scenarios"} <= words
    assert max(map(len, lines)) <= 80 and len(lines) <= 40  # one screen
    assert main(["list", "scenarios"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line.split(maxsplit=1) for line in lines] == [[s.name, s.summary] for s in SCENARIOS.values()]


def test_list_one(capsys):
    assert main(["list", "stiff-servo"]) == 0
    out = capsys.readouterr().out
    scenario = SCENARIOS["stiff-servo"]
    assert out.startswith(f"stiff-servo: {scenario.summary}\n") and scenario.source in out
    assert "implicit=true" in out and "true | false" in out
    for parameter in scenario.parameters:
        assert f"  {parameter.name}=" in out and parameter.help in out and parameter.unit in out
    assert main(["list", "stiff-servo", "--json"]) == 0
    one = read(capsys.readouterr().out)
    assert main(["list", "--json"]) == 0
    everything = read(capsys.readouterr().out)
    assert one in everything["scenarios"] and one["name"] == "stiff-servo"
    for kind, (key, _) in KINDS.items():
        assert main(["list", kind]) == 0
        out = capsys.readouterr().out
        assert all(thing["name"] in out and thing["summary"] in out for thing in everything[key])
        assert main(["list", kind, "--json"]) == 0
        assert read(capsys.readouterr().out) == {key: everything[key]}


def test_list_of_what_is_not_there(capsys):
    assert main(["list", "snake-undulaton"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.endswith("is called 'snake-undulaton'; did you mean 'snake-undulation'?\n")


def test_list_of_contact(capsys):
    """Models and schemes are those that a simulation takes, each with a line of its own."""
    assert main(["list", "--json"]) == 0
    result = read(capsys.readouterr().out)
    assert [m["name"] for m in result["contact_models"]] == list(LAWS)
    assert {s["name"]: s["summary"] for s in result["steppers"]} == {
        name: scheme.summary for name, scheme in SCHEMES.items()
    }
    assert list(LAWS) == ["exact", "convex", "lcp", "penalty", "compliant"]
    assert len({m["summary"] for m in result["contact_models"]}) == len(LAWS)
    for scenario in result["scenarios"]:
        assert (scenario["integrator"] is None) == (scenario["contact"] is not None)
        assert (scenario["stepper"] is None) == (scenario["contact"] is None)


def test_help_and_version(capsys):
    for words in ([], ["--help"], ["run", "--help"], ["bench", "--help"]):
        assert main(words) == 0
        assert "Usage" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("taction ")


def test_json_is_pure_in_a_process_of_its_own():
    done = taction(*QUICK, "--json")
    assert done.returncode == 0, done.stderr
    assert read(done.stdout)["steps"] == 20
    assert done.stdout.startswith("{") and done.stdout.endswith("}\n")


@pytest.mark.parametrize("words", [QUICK, ("list",), (*QUICK, "--json"), ("list", "--json")], ids=" ".join)
def test_output_survives_a_terminal_that_knows_ascii_only(words):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "taction", *words]
    done = subprocess.run(command, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


# ----- Violated: 1 ---------------------------------------------------------------------------------------


def test_blow_up(capsys):
    assert main(["run", "stiff-servo", "--set", "implicit=false", "--json"]) == 1
    out, err = capsys.readouterr()
    result = read(out)
    assert result["metrics"] == {"blew_up": True} and len(result["checks"]) == 1
    assert result["energy"]["final"] is None and result["certificate"]["motion"] is None
    assert err.splitlines()[-1].startswith("taction: stiff-servo: quadruped: at t = ")


def test_blow_up_for_people(capsys):
    assert main(["run", "stiff-servo", "--set", "implicit=false"]) == 1
    assert "1 failed" in capsys.readouterr().out


def test_failed_check(capsys):
    """A step so coarse that Euler's method loses the top."""
    words = ["run", "spinning-top", "--integrator", "explicit-euler", "--dt", "0.001", "--json"]
    assert main(words) == 1
    out, err = capsys.readouterr()
    result = read(out)
    assert result["checks"] and result["metrics"]["blew_up"] is False
    assert err.count("taction: spinning-top:") == len(result["checks"])


def test_not_a_number_is_null(capsys):
    assert main([*QUICK, "--set", "mode=1", "--json"]) == 1
    assert read(capsys.readouterr().out)["metrics"]["frequency"] is None


# ----- Bad input: 2 --------------------------------------------------------------------------------------

BAD = {
    "no such command": (["frobnicate"], "No such command 'frobnicate'"),
    "no scenario": (["run"], "Missing argument"),
    "unknown scenario": (["run", "pendulum"], "unknown scenario 'pendulum'; choose from double-pendulum"),
    "a scenario misspelt": (
        ["run", "tumbling-bx"],
        "did you mean 'tumbling-box'? choose from double-pendulum",
    ),
    "no file to render": (["render", "nosuch.h5"], "nosuch.h5: no such file"),
    "too many words": (["run", "double-pendulum", "now"], "'now': expected key=value"),
    "unknown document": (["reproduce", "lizard"], "document 'lizard': choose from snake"),
    "a document's name cut short": (
        ["reproduce", "mp"],
        "choose from snake, ellipsoids, quadruped, walking, mpc",
    ),
    "page of plans into a file": (["reproduce", "mpc", "--out"], "requires an argument"),
    "page of plans with a word too many": (["reproduce", "mpc", "now"], "unexpected extra argument"),
    "unknown coordinates": (
        ["run", "box-stack", "--coordinates", "polar"],
        "coordinates 'polar': choose from reduced, absolute",
    ),
    "unknown option": ([*QUICK, "--fast"], "No such option: --fast"),
    "option without value": (["run", "double-pendulum", "--dt"], "requires an argument"),
    "step is a word": (["run", "double-pendulum", "--dt", "small"], "Invalid value for '--dt'"),
    "step is negative": (
        ["run", "double-pendulum", "--dt", "-0.001"],
        "dt must be positive and finite, got -0.001",
    ),
    "step is zero": (["run", "double-pendulum", "--dt", "0"], "dt must be positive"),
    "step is not a number": (["run", "double-pendulum", "--dt", "nan"], "dt must be positive"),
    "step is infinite": (["run", "double-pendulum", "--dt", "inf"], "dt must be positive"),
    "step is tiny": (["run", "double-pendulum", "--dt", "1e-15"], "choose a larger dt"),
    "duration is negative": (["run", "double-pendulum", "--duration", "-1"], "duration must be positive"),
    "duration below a step": (["run", "double-pendulum", "--duration", "1e-6"], "shorter than one step"),
    "duration is endless": (["run", "double-pendulum", "--duration", "inf"], "duration must be positive"),
    "unknown integrator": ([*QUICK, "--integrator", "verlet"], "unknown integrator 'verlet'; choose from"),
    "unknown key": ([*QUICK, "--set", "q9=1"], "unknown parameter 'q9'; there are q1"),
    "no equals sign": ([*QUICK, "--set", "q1"], "--set 'q1': expected key=value"),
    "no value": ([*QUICK, "--set", "q1="], "--set 'q1=': expected key=value"),
    "key twice": ([*QUICK, "--set", "q1=1", "--set", "q1=2"], "--set q1: given twice"),
    "value is a word": ([*QUICK, "--set", "q1=one"], "q1: expected a number, got 'one'"),
    "value out of range": ([*QUICK, "--set", "m1=-1"], "m1: must be at least"),
    "not a whole number": (["run", "swinging-chain", "--set", "links=2.5"], "links: expected a whole number"),
    "a number of many digits": (
        ["run", "swinging-chain", "--set", "links=" + "9" * 400],
        "between 1 and 500, got 999",
    ),
    "not a switch": ([*QUICK, "--set", "point_masses=2"], "point_masses: expected true or false"),
    "not a choice": (
        ["run", "quadruped-flight", "--set", "legs=stiff"],
        "legs: choose from limp, held, got 'stiff'",
    ),
    "not the physics": (["run", "spinning-top", "--set", "spin=1"], "too slow to stay up"),
    "bench without a command": (["bench"], "Missing command"),
    "bench of nothing": (["bench", "luck"], "No such command 'luck'"),
}


@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input(words, message, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1, err
    assert err.startswith("taction: ") and message in err


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_output_folder_that_cannot_be_made(place, tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    assert main([*QUICK, "--out", str(tmp_path / place)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and err.startswith("taction: --out ")


@pytest.mark.parametrize(
    "words", [["run", "pendulum", "--json"], ["run", "double-pendulum", "--dt", "x"], ["nope"]]
)
def test_bad_input_in_a_process_of_its_own(words):
    done = taction(*words)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("taction: ")


def test_interrupted(monkeypatch, capsys):
    import taction.scenarios.base as base

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(base.Simulation, "run", stop)
    assert main(QUICK) == 130
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err


# ----- Files ---------------------------------------------------------------------------------------------


def test_out(tmp_path, capsys):
    folder = tmp_path / "deep" / "run"
    assert main([*QUICK, "--out", str(folder), "--json"]) == 0
    out, err = capsys.readouterr()
    assert read((folder / "summary.json").read_text(encoding="utf-8")) == read(out)
    with np.load(folder / "run.npz", allow_pickle=False) as file:
        assert file["q"].shape == (21, 2)
    for picture in ("energy.png", "coordinates.png", "motion.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
        assert picture in err


@pytest.mark.parametrize("name", ["swinging-chain", "spinning-top", "quadruped-flight"])
def test_pictures_of_other_mechanisms(name, tmp_path):
    assert main(["run", name, "--duration", "0.02", "--out", str(tmp_path), "--json"]) == 0
    assert {p.name for p in tmp_path.glob("*.png")} == {"energy.png", "coordinates.png", "motion.png"}


def test_out_of_a_blow_up(tmp_path, capsys):
    assert main(["run", "stiff-servo", "--set", "implicit=false", "--out", str(tmp_path)]) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["summary.json"]
    assert read((tmp_path / "summary.json").read_text(encoding="utf-8"))["metrics"]["blew_up"] is True


def test_out_without_matplotlib(tmp_path, monkeypatch, capsys):
    hide_module(monkeypatch, "matplotlib")
    assert main([*QUICK, "--out", str(tmp_path), "--json"]) == 0
    err = capsys.readouterr().err
    assert "no pictures: matplotlib is not installed (pip install 'taction[plot]')" in err
    assert {p.name for p in tmp_path.iterdir()} == {"run.npz", "summary.json"}


# ----- Through contact, and the page --------------------------------------------------------------------


class Drop(ContactScenario):
    """A ball falls on a plane and stays there."""

    name, summary, source = "drop", "a ball falls on a plane", "Newton's second law"
    parameters = ()
    duration, dt = 0.1, 1e-3

    def world(self, parameters):
        ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.11))
        return ta.World(ball, ground=ta.Plane(friction=0.5))

    def metrics(self, run, parameters):
        return {"height": float(run.q[-1, 2])}

    def violations(self, metrics, run):
        return [] if abs(metrics["height"] - 0.1) < 1e-6 else [f"it is at {metrics['height']:g} m"]


@pytest.fixture
def drop(monkeypatch):
    load = scenarios._load
    monkeypatch.setitem(GROUPS, "ours", ("drop",))
    monkeypatch.setattr(scenarios, "_load", lambda name: Drop() if name == "drop" else load(name))
    return ["run", "drop"]


def test_contact_out(drop, tmp_path, capsys):
    assert main([*drop, "--out", str(tmp_path), "--report", "--json"]) == 0
    out, err = capsys.readouterr()
    result = read(out)
    assert result["contact"] == "exact" and result["integrator"] == "half-flight" and result["steps"] == 100
    recorded = ta.load_run(tmp_path / "run.h5")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as file:
        assert np.array_equal(file["q"], recorded.q) and np.array_equal(file["records"], recorded.records)
    assert recorded.is_complete and recorded.summary["certificate"] == result["certificate"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "run.h5" in err and f"wrote {tmp_path / 'report.html'}" in err


def test_contact_choices(drop, tmp_path, capsys):
    assert main([*drop, "--contact", "convex", "--stepper", "moreau", "--out", str(tmp_path)]) == 0
    assert "convex, solver auto" in capsys.readouterr().out
    attributes = ta.load_run(tmp_path / "run.h5").attributes
    assert attributes["contact"] == "convex" and attributes["scheme"] == "moreau"


def test_a_failed_check_still_has_its_page(drop, tmp_path, capsys):
    assert main([*drop, "--duration", "0.01", "--out", str(tmp_path), "--report"]) == 1
    assert "1 failed" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_report_without_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*QUICK, "--report", "--json"]) == 0
    out, err = capsys.readouterr()
    assert read(out)["scenario"] == "double-pendulum"
    assert "wrote double-pendulum-report.html" in err
    assert [p.name for p in tmp_path.iterdir()] == ["double-pendulum-report.html"]


def test_report_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "report.html").mkdir()
    assert main([*QUICK, "--out", str(tmp_path), "--report"]) == 2
    assert "report.html cannot be written" in capsys.readouterr().err


def test_a_report_needs_no_plots(tmp_path, monkeypatch, capsys):
    hide_module(monkeypatch, "matplotlib")
    monkeypatch.chdir(tmp_path)
    assert main([*QUICK, "--report"]) == 0
    assert (tmp_path / "double-pendulum-report.html").stat().st_size > 100_000
    assert "Traceback" not in capsys.readouterr().err


def test_a_list_shows_the_scheme_of_a_contact_scenario(drop, capsys):
    assert main(["list", "drop"]) == 0
    assert "half-flight, contact exact, reduced coordinates, dt = 0.001 s" in capsys.readouterr().out
