"""Inverse dynamics with contact in a compiled loop: a quadruped that stands, and one with random velocities.

What is timed is the step under drives (`taction.steppers.held_drives`) from a state that is restored each
time: contacts, their forces by the exact law, forces of the twelve motors, certificate and energy ledger.
Standing goes on from the impulses of the step before; states with random velocities start from none. Mean
over the states, of the best of several rounds each.

The peer is MuJoCo's ``mj_inverse`` at the same states, on the same text. It is given the accelerations of all
freedoms, those of the base as well, and finds contact forces of its soft law from these without solving
anything: another problem, shown for scale. Its calls come from Python, a microsecond each.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import IntegrationError
from taction.bench.mujoco_peer import MujocoPeer, mujoco_name
from taction.bench.step import from_mjcf
from taction.bench.step_models import quadruped_mjcf
from taction.control.drives import Drives
from taction.sim.simulation import Simulation
from taction.sim.state import SimState
from taction.steppers.columns import CONTACTS, ITERATIONS, RESIDUAL
from taction.steppers.stages import repeat_step

SETTLE, STATES, REPEAT = 1000, 50, 40
SPEED, HURRY = 0.3, 10.0  # of random states [m/s, rad/s] and requests [rad/s²]
LIMIT = 50.0  # µs


def bench_inverse(rounds: int, tol: float) -> list[dict[str, Any]]:
    """Rows of `taction bench step`: time of an inverse dynamics with contact."""
    text = quadruped_mjcf()
    before = from_mjcf(text, tol)
    before.advance(SETTLE)
    sim, rng = before.sim, np.random.default_rng(0)
    rest, nv = before.engine.outer(before.state, 0.0), sim.model.nv
    drives = Drives(sim.model)
    cases: dict[str, list[tuple[SimState, Array]]] = {"standing": [(rest, np.zeros(len(drives.dofs)))]}
    cases["random velocities"] = []
    for _ in range(STATES):
        v = SPEED * rng.normal(size=nv)
        wanted = v[drives.dofs] + sim.dt * HURRY * rng.normal(size=len(drives.dofs))
        cases["random velocities"].append((sim.state(rest.q, v), wanted))
    loop = _Loop(sim, drives)
    peer = None if mujoco_name() is None else MujocoPeer(text)
    rows = []
    for name, asked in cases.items():
        found = [loop.time(state, wanted, rounds) for state, wanted in asked]
        others = [
            _time_peer(peer, s, v, sim.dt, rounds) for (s, _), (_, v, _) in zip(asked, found, strict=True)
        ]
        ours, theirs = float(np.mean([t for t, _, _ in found])), float(np.mean(others)) if peer else None
        rows.append(
            {
                "case": f"inverse dynamics, {name}",
                "ours": ours,
                "peer": theirs,
                "peer_name": f"{mujoco_name()} mj_inverse" if peer else None,
                "unit": "µs",
                "ratio": ours / theirs if theirs else None,
                "limit": LIMIT,
                "residual": max(float(record[RESIDUAL]) for _, _, record in found),
                "peer_residual": None,
                "longest": max(t for t, _, _ in found),
                "contacts": float(np.mean([record[CONTACTS] for _, _, record in found])),
                "iterations": float(np.mean([record[ITERATIONS] for _, _, record in found])),
                "nv": nv,
                "states": len(asked),
                "dt": sim.dt,
            }
        )
    return rows


class _Loop:
    """Steps under drives, each repeated in one compiled call.

    Args:
        sim: of a world.
        drives: whose commands are velocities.
    """

    def __init__(self, sim: Simulation, drives: Drives) -> None:
        self.engine, self.drives, self.model = sim.engine, drives, sim.model
        self.scene = self.engine.scene(drives.joint_law(sim.model), drives.servos(sim.model))
        self.driver = self.engine.driver(self.scene)

    def time(self, state: SimState, wanted: Array, rounds: int) -> tuple[float, Array, Array]:
        """Best time of a step [µs], velocities (nv,) at its end, and its record."""
        drive, record = self.drives.drive(self.model, wanted[None]), self.engine.record(1)
        self.driver.advance(self.scene, drive, 0, 1, self.engine.inner(state), record)  # memory grows here
        kept, now = (self.driver.with_room(self.engine.inner(state)) for _ in range(2))
        best, row, weight = np.inf, record.step[0], np.zeros(1)
        for _ in range(rounds):
            begin = time.perf_counter()
            missing = repeat_step(
                REPEAT, self.scene, self.driver.options, drive[0], kept, self.driver.memory, now, weight, row
            )
            best = min(best, 1e6 * (time.perf_counter() - begin) / REPEAT)
            if missing:
                raise IntegrationError(f"{self.model.name}: the step needs help from outside")
        return best, now.v.copy(), row


def _time_peer(peer: MujocoPeer | None, state: SimState, after: Array, dt: float, rounds: int) -> float:
    """Best time of ``mj_inverse`` at a state [µs], for velocities ``after`` (nv,) a step later."""
    if peer is None:
        return 0.0
    import mujoco

    best, m, d = np.inf, peer.model, peer.data
    d.qpos[:], d.qvel[:] = state.q, state.v
    acceleration = (after - state.v) / dt
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(REPEAT):
            d.qacc[:] = acceleration
            mujoco.mj_inverse(m, d)
        best = min(best, 1e6 * (time.perf_counter() - begin) / REPEAT)
    return best
