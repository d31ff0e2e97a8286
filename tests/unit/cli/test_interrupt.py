"""Ctrl-C at the command line: exit code 130, one line, and what was done is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import taction as ta
from taction.cli.main import main
from taction.scenarios import get_scenario

# The command, in a process that says when steps are taken; background processes may ignore the signal.
COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from taction.cli.main import main
from taction.sim import engine
from taction.sim.{course} import {name} as Course
advance, count = Course.advance, [0]
def counted(self, end):
    count[0] += 1
    if count[0] == {pieces}:
        print("steps", file=sys.stderr, flush=True)
    return advance(self, end)
Course.advance = counted
sys.exit(main(sys.argv[1:]))
"""
SMOOTH = COMMAND.format(course="smooth_engine", name="SmoothCourse", pieces=20)
CONTACT = COMMAND.format(course="contact_course", name="ContactCourse", pieces=20)


def interrupt(code: str, *words: object) -> tuple[int, str, list[str]]:
    """Exit code, output and lines of complaint of a command that gets SIGINT while it takes steps."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = [process.stderr.readline()]
    while said[-1] not in ("steps\n", ""):
        said.append(process.stderr.readline())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert said[-1] == "steps\n" and "Traceback" not in err, err
    return process.returncode, out, err.splitlines()


def test_run_through_contact(tmp_path):
    out = tmp_path / "out"
    code, text, err = interrupt(
        CONTACT, "run", "bouncing-ball", "--duration", 200, "--out", out, "--report", "--json"
    )
    assert code == 130
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert summary == json.loads(text)
    assert summary["stopped"] and summary["metrics"] == {} and summary["checks"] == []
    assert err[-1].startswith("taction: stopped at t = ")
    assert err[-1].endswith(f" of 200 s; what is done is kept in {out}")
    assert {p.name for p in out.iterdir()} == {"summary.json", "run.h5", "run.npz"}  # nobody waits for views
    h5, npz = ta.load_run(out / "run.h5"), ta.load_run(out / "run.npz")
    assert h5.stopped and npz.stopped and h5.steps == npz.steps == summary["steps"] > 0
    some = min(h5.steps, 300)
    whole = get_scenario("bouncing-ball").run(duration=some * h5.dt).run
    assert whole is not None
    assert np.array_equal(h5.q, npz.q) and np.array_equal(h5.q[: some + 1], whole.q)


def test_run_without_a_folder():
    code, text, err = interrupt(SMOOTH, "run", "double-pendulum", "--duration", 1000)
    assert code == 130 and "none: stopped" in text and "rk4" in text
    assert len(err) == 1 and err[0].startswith("taction: stopped at t = ") and err[0].endswith(" of 1000 s")


def test_compare_leaves_no_empty_page(tmp_path):
    words = ("compare", "bouncing-ball", "--contact", "exact,convex", "--duration", 200)
    code, text, err = interrupt(CONTACT, *words, "--out", tmp_path / "new" / "deep")
    assert code == 130 and text == "" and err[-1] == "taction: interrupted"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("scenario", ["nope", "double-pendulum"])
def test_a_command_that_fails_leaves_no_empty_file(scenario, tmp_path):
    (tmp_path / "old.txt").write_text("kept")
    assert main(["run", scenario, "--set", "nope=1", "--out", str(tmp_path)]) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["old.txt"]


def test_interrupted_while_measuring(monkeypatch, tmp_path, capsys):
    def metrics(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(get_scenario("double-pendulum")), "metrics", metrics)
    assert main(["run", "double-pendulum", "--duration", "0.02", "--out", str(tmp_path)]) == 130
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert summary["stopped"] and summary["steps"] == 20 and not ta.load_run(tmp_path / "run.npz").stopped
    assert "stopped at t = 0.02 of 0.02 s" in capsys.readouterr().err
