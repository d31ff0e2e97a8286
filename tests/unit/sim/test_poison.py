"""Scratch may hold anything before a step: filled with NaN it gives the same bits."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import taction as ta
box = ta.Box((0.3, 0.3, 0.2))
boxes = [ta.free_body(f"b{i}", box, mass=2.0, position=(0.02 * i, 0, 0.11 + 0.21 * i)) for i in (0, 1)]
for parts in ([ta.robots.snake(links=3)], boxes):
    world = ta.World(*parts, ground=ta.Plane(friction=0.7))
    sim = ta.Simulation(world, dt=1e-3, stepper="moreau-momentum", coordinates="COORDINATES")
    print(sim.run(0.2).hashes[-1])
"""


@pytest.mark.long
@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_poisoned_scratch_changes_nothing(coordinates):
    words = [sys.executable, "-c", CODE.replace("COORDINATES", coordinates)]
    out = [
        subprocess.run(words, env={**os.environ, "TACTION_POISON": p}, check=True, capture_output=True).stdout
        for p in ("0", "1")
    ]
    assert out[0] == out[1] and len(out[0].split()) == 2
