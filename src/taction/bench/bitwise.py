"""Does a run repeat bit for bit? A falling tower of boxes, in every way the same world can be run.

Every state is hashed; a row compares two ways, step by step: one thread and two, alone and in a batch of 64,
in one piece and after saving the state to a file and loading it half way. ``ours`` is how many of the states
differ, so that 0 is the only good number; there is no peer in this measurement.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.bench.timing import machine
from taction.model.builder import free_body
from taction.model.shapes import Box, Plane
from taction.sim.simulation import Simulation
from taction.sim.state import SimState
from taction.sim.world import World

BOXES = 5
DT = 1e-3


def bench_bitwise(*, steps: int = 1000, worlds: int = 64) -> dict[str, Any]:
    """States that differ between ways of running the same world.

    Args:
        steps: of each world.
        worlds: in the batch, each from a slightly different start.
    """
    sim = Simulation(_tower(), dt=DT)
    states = _starts(sim, worlds)
    one, two = (sim.rollout(states, steps=steps, threads=n) for n in (1, 2))
    alone = sim.rollout(states[:1], steps=steps, threads=1)
    q, v = states[0, : sim.model.nq], states[0, sim.model.nq :]
    whole = sim.run(steps * DT, q=q, v=v)
    first = sim.run((steps // 2) * DT, q=q, v=v)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "state.npz")
        assert first.state is not None
        first.state.save(path)
        rest = sim.run((steps - steps // 2) * DT, state=SimState.load(path))
    middle = steps // 2
    rows = [
        _row("1 thread, 2 threads", _differing(one.q, one.v, two.q, two.v), worlds * (steps + 1)),
        _row(
            f"alone, in a batch of {worlds}",
            _differing(alone.q[0], alone.v[0], two.q[0], two.v[0]),
            steps + 1,
        ),
        _row("rollout, run", _differing(alone.q[0], alone.v[0], whole.q, whole.v), steps + 1),
        _row(
            f"in one piece, saved and restored at step {middle}",
            _differing(whole.q[middle:], whole.v[middle:], rest.q, rest.v),
            steps - middle + 1,
        ),
    ]
    assert whole.contacts is not None
    contacts = int(np.bincount(whole.contacts.step).max())
    for row in rows:
        row |= {"residual": float(two.residual.max()), "most_contacts": contacts}
    return {"bench": "bitwise", "machine": machine(), "rows": rows, "final_hash": whole.hashes[-1]}


def _tower() -> World:
    """Boxes above each other, a little askew, that fall on the ground and on each other."""
    rng = np.random.default_rng(7)
    boxes = [
        free_body(
            "box", Box((0.2, 0.2, 0.2)), mass=1.0, position=(*rng.uniform(-0.06, 0.06, 2), 0.15 + 0.25 * k)
        )
        for k in range(BOXES)
    ]
    return World(*boxes, ground=Plane(friction=0.5))


def _starts(sim: Simulation, worlds: int) -> Array:
    rng = np.random.default_rng(8)
    states = np.tile(np.concatenate([sim.model.q0, np.zeros(sim.model.nv)]), (worlds, 1))
    states[:, sim.model.nq :] += 0.3 * rng.normal(size=(worlds, sim.model.nv))
    return states


def _differing(q: Array, v: Array, other_q: Array, other_v: Array) -> int:
    """States of which a bit differs."""
    return int(((q != other_q).any(-1) | (v != other_v).any(-1)).sum())


def _row(case: str, differing: int, states: int) -> dict[str, Any]:
    return {
        "case": case,
        "ours": differing,
        "peer": None,
        "peer_name": None,
        "unit": f"of {states} states differ",
        "ratio": None,
        "peer_residual": None,
    }
