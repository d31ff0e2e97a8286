"""Compiling a list of kernels together: each once, whatever happens to the processes."""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import taction
from taction._core import jit_share
from taction._core.jit_share import Claims, Plan, compile_shared
from taction._core.jit_trace import callees, reachable, traced
from taction.sim import examples
from taction.steppers.impulse_step import advance

DEAD = 2**22 + 1  # larger than any process id


@pytest.fixture(scope="module")
def plan() -> Plan:
    """What a step of the example needs."""
    with traced() as calls:
        examples.take_step("stewart-trinkle", "exact", "reduced")
    return Plan(list(calls))


def test_a_trace_tells_what_a_step_calls(plan):
    """Every kernel has one specialisation, and those without an entry are counted with their callers."""
    kernels = [call.kernel for call in plan.order]
    outer = [call.kernel for call in plan.order if call.is_outer]
    assert advance in outer
    assert len(kernels) == len({(call.kernel, call.is_outer) for call in plan.order})
    assert len(kernels) > 150
    called = {callee for kernel in reachable(outer) for callee in callees(kernel)}
    assert plan.total == len(outer) + len(called)


def test_reachable_kernels_come_before_their_callers():
    order = reachable([advance])
    for i, kernel in enumerate(order):
        assert set(callees(kernel)) <= set(order[:i])


def test_entries_wait_for_what_they_call(plan):
    for call, needs in plan.needs.items():
        assert call not in needs and not any(need.is_outer for need in needs)
        assert {need.kernel for need in needs} <= set(reachable([call.kernel]))


def test_claims_are_exclusive_and_those_of_the_dead_do_not_count(tmp_path, monkeypatch):
    claims, others = Claims(tmp_path), Claims(tmp_path)
    assert claims.claim("a") and not others.claim("a")
    claims.finish("a")
    assert others.is_done("a")
    assert claims.claim("b")
    claims.release("b")
    assert others.claim("b")
    for file in tmp_path.glob("*.claim"):
        file.write_text(str(DEAD))
    assert claims.claim("b")
    assert not others.claim("b")
    monkeypatch.setattr(jit_share, "PATIENCE", -1.0)
    assert others.claim("b")
    claims.finish("b")
    others.finish("b")  # both had it: no harm
    assert claims.is_done("b")


class Fake:
    """A plan of two entries, the second of which calls the first."""

    class Entry:
        is_outer = False

        def __init__(self, name: str, does):
            self.name, self.compile = name, does

    def __init__(self, *does):
        self.order = [self.Entry(f"entry {i}", d) for i, d in enumerate(does)][::-1]
        self.needs = {c: set(self.order[i + 1 :]) for i, c in enumerate(self.order)}
        self.kernels, self.work = dict.fromkeys(self.order, 1), dict.fromkeys(self.order, 1.0)
        self.total = len(does)


def test_a_kernel_that_does_not_compile_stops_nobody(tmp_path):
    done = []

    def fail() -> None:
        raise ValueError

    compile_shared(Fake(fail, lambda: done.append(1)), tmp_path)
    assert done == [1]


def test_an_interrupt_leaves_the_kernel_to_others(tmp_path):
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compile_shared(Fake(interrupt), tmp_path)
    done = []
    compile_shared(Fake(lambda: done.append(1)), tmp_path)
    assert done == [1]


def test_a_helper_that_dies_is_replaced(tmp_path, monkeypatch):
    """Its claim is taken over as soon as its process is gone, though nobody waited for it."""
    looks = itertools.count()

    def look_again(pause: float) -> None:
        assert next(looks) < 500, "nobody took it over"
        time.sleep(pause)

    monkeypatch.setattr(jit_share, "PATIENCE", math.inf)  # its age does not count
    monkeypatch.setattr(jit_share, "time", SimpleNamespace(time=time.time, sleep=look_again))
    (helper,) = jit_share.start_helpers("import time; time.sleep(60)", 1)
    claims, done = Claims(tmp_path), []
    assert claims.claim("entry 0")
    next(tmp_path.glob("*.claim")).write_text(str(helper.pid))
    helper.kill()
    compile_shared(Fake(lambda: done.append(1)), tmp_path)
    assert done == [1]


def test_no_helpers_no_harm(monkeypatch):
    """Where processes cannot be started, and in helpers themselves, there are none."""

    def refuse(*_args, **_options):
        raise OSError

    monkeypatch.setattr(jit_share.subprocess, "Popen", refuse)
    assert jit_share.start_helpers("pass", 3) == []
    monkeypatch.setenv(jit_share.HELPER, "1")
    assert jit_share.start_helpers("pass", 3) == []


AFTER = """
import json, sys
from taction._core.jit_trace import reachable
from taction.steppers.impulse_step import advance
import taction as ta
import logging
logging.disable(logging.CRITICAL)
from numba.core import event
class Count(event.Listener):
    names = []
    def on_start(self, e): self.names.append(e.data["dispatcher"].py_func.__name__)
    def on_end(self, e): pass
from taction.sim.warm_up import compile_step
for coordinates in ("reduced", "absolute"):
    compile_step("stewart-trinkle", "exact", coordinates)
with event.install_listener("numba:compile", Count()):
    ball = ta.free_body("ball", ta.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.049))
    for coordinates in ("reduced", "absolute"):
        ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3, coordinates=coordinates).run(0.01)
faces = {k.__name__: [len(f.overloads) for f in (k._inner, k._outer) if f] for k in reachable([advance])}
print(json.dumps([Count.names, {k: f for k, f in faces.items() if max(f, default=0) > 1}]))
"""


def test_after_the_warm_up_nothing_is_left_to_compile():
    """Types of the trace are those of a run: no kernel compiles anew, and none has two specialisations."""
    environment = {**os.environ, "PYTHONPATH": str(Path(taction.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", AFTER], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    compiled, several = json.loads(done.stdout)
    assert compiled == []
    assert several == {}
