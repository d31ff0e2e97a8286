"""Ctrl-C in a run: what was done is returned and written, and equals the beginning of the whole run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import taction as ta
from taction.sim.interrupt import Patience, whole_runs

# A ball on a plane for longer than anyone waits. Its process says when steps are taken, and compares what is
# left with the beginning of a run that nobody stopped.
LONG = """
import signal, sys, warnings
import numpy as np
import taction as ta
signal.signal(signal.SIGINT, signal.default_int_handler)
ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.12))
sim = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)) if {contact} else ball, dt=1e-3)
sim.run(0.01)
calls = []
def progress(t):
    calls.append(t)
    if len(calls) == 3:
        print("steps", flush=True)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    run = sim.run({duration}, v=(0, 0, 0, 0.3, 0, 0), record={record!r}, progress=progress)
assert run.stopped and run.summary()["stopped"] and ", stopped>" in repr(run)
assert [w.category for w in said] == [ta.StoppedWarning], said
assert str(said[0].message) == (
    f"stopped by Ctrl-C at t = {{run.t[-1]:.6g}} s of {duration} s; what was done is kept"
)
whole = sim.run(run.steps * 1e-3, v=(0, 0, 0, 0.3, 0, 0))
assert not whole.stopped and 0 < run.steps == whole.steps
for name in ("t", "q", "v", "tau", "kinetic", "potential"):
    assert np.array_equal(getattr(run, name), getattr(whole, name)), name
assert run.state.to_bytes() == whole.state.to_bytes()
print(run.steps)
"""


def interrupt(code: str, *words: str) -> tuple[int, str, str]:
    """Exit code, output and complaints of a process that gets SIGINT after its first line of output."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert first == "steps\n", err
    return process.returncode, out, err


@pytest.mark.parametrize("contact", [True, False])
def test_what_is_left_is_the_beginning_of_the_whole_run(contact, tmp_path):
    path = tmp_path / "run.h5"
    duration = 3000 if contact else 300
    code, out, err = interrupt(LONG.format(contact=contact, duration=duration, record=str(path)))
    assert code == 0 and err == ""
    recorded = ta.load_run(path)
    assert recorded.stopped and not recorded.is_complete and recorded.steps == int(out)
    assert recorded.summary["stopped"] and "stopped" in repr(recorded) and recorded.as_run().stopped


def ball() -> ta.Simulation:
    return ta.Simulation(ta.free_body("ball", ta.Sphere(0.1), mass=1.0), dt=1e-3)


@pytest.fixture
def ctrl_c():
    """What Ctrl-C does, with Python's own handler in place."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("where", ["controller", "stop", "progress"])
def test_in_what_the_user_wrote(where, ctrl_c, tmp_path):
    def interrupted(t, *_):
        if t > 0.0205:
            ctrl_c()
            raise AssertionError("an interrupt is raised at once here")
        return np.zeros(6) if where == "controller" else False

    with pytest.warns(ta.StoppedWarning, match=r"at t = 0\.0[23]\d* s of 1 s"):
        run = ball().run(1.0, **{where: interrupted})
    whole = ball().run(run.steps * 1e-3, controller=lambda t, q, v: np.zeros(6))
    assert run.stopped and 21 <= run.steps < 200 and np.array_equal(run.q, whole.q)
    npz = ta.load_run(run.save(tmp_path / "run.npz"))
    assert npz.stopped and npz.as_run().summary() == run.summary()
    assert not ta.load_run(whole.save(tmp_path / "whole.npz")).stopped


def test_at_once_where_runs_must_be_whole(ctrl_c, tmp_path):
    path = tmp_path / "run.h5"

    def late(t):
        if t > 0.5:
            ctrl_c()

    with whole_runs(), pytest.raises(KeyboardInterrupt):
        ball().run(1.0, progress=late, record=str(path))
    left = ta.load_run(path)
    assert not left.stopped and not left.is_complete and left.steps >= 500


def test_a_run_inside_a_controller_ends_the_run_around_it(ctrl_c):
    def planned(t, q, v):
        ball().run(0.002, stop=lambda t, q, v: ctrl_c() is None if len(asked) > 5 else False)
        asked.append(t)
        return np.zeros(6)

    asked: list[float] = []
    with pytest.warns(ta.StoppedWarning, match=r"at t = 0\.006 s of 1 s"):
        assert ball().run(1.0, controller=planned).steps == 6


def test_a_second_one_does_not_wait(ctrl_c):
    with pytest.raises(KeyboardInterrupt), Patience(True):
        ctrl_c()
        ctrl_c()
        raise AssertionError("two were waiting")


def test_handlers_are_put_back(ctrl_c):
    ball().run(0.01)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    done = threading.Thread(target=lambda: ball().run(0.01))  # no handler can be set there
    done.start()
    done.join()
