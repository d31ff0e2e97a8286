"""Compile the step twice as fast on the first use: a second process takes the solver's half.

Numba compiles one kernel at a time per process. On a cold cache the step takes about a minute and a half of
that, half of it for the solver and the end of the step, which need nothing from the first half. `begin`
starts a process that compiles those into the common disk cache, while this process compiles what comes first;
when it gets to the other half, that is on the disk. Without a second core, or where a process cannot be
started, nothing is lost.

References: [Moreau1988] for the step; the rest is a matter of tools.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

import numpy as np

from taction._core.jit import CACHE_DIR, JIT_ENABLED
from taction.contact.laws.dispatch import EXACT
from taction.geometry.compile import compile_colliders
from taction.geometry.filters import make_filter
from taction.model.builder import free_body
from taction.model.shapes import Sphere
from taction.solvers import make_solver
from taction.steppers import phases
from taction.steppers.contact_solve import solve_contacts
from taction.steppers.driver import Driver, make_record
from taction.steppers.elements import SURFACE_WIDTH
from taction.steppers.finish import finish_step
from taction.steppers.scene import Options, make_scene, make_state

_children: list[subprocess.Popen[bytes]] = []


def begin() -> None:
    """Start compiling the second half of the step in another process, if the cache is cold."""
    if _children or not JIT_ENABLED or (os.cpu_count() or 1) < 2 or "TACTION_WARM_UP" in os.environ:
        return
    if any(CACHE_DIR.rglob("impulse_step.advance-*.nbi")):
        return
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "TACTION_WARM_UP": "1",
    }
    try:
        child = subprocess.Popen(
            [sys.executable, "-c", "from taction.steppers.warm_up import compile_second_half as c; c()"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return
    _children.append(child)
    atexit.register(child.kill)


def compile_second_half() -> None:
    """Call the solver and the end of a step once, on a ball in empty space."""
    model = free_body("ball", Sphere(1.0), mass=1.0)
    scene = make_scene(
        model, compile_colliders([]), make_filter([], [0, 0], [], []), np.zeros((0, SURFACE_WIDTH))
    )
    options = Options(1e-3, 1, 0.0, 1e-3, 0, EXACT, 0, 0, 1e-9, False, 1e-3, 1e-3, False, False)
    driver = Driver(model, scene, (options,), make_solver("auto"), "exact")
    m, state, record = driver.memory, make_state(scene, model.q0, np.zeros(6), 32), make_record(model, 1)
    solve_contacts(
        options, phases.BEGIN, m.blocks, m.dense, m.large, m.sweeps, m.history, np.zeros(1), m.blocks.r
    )
    finish_step(scene, options, np.zeros(6), m, state, record.step[0])
