"""Rollouts against MuJoCo's: many worlds over many steps, on the same number of threads.

Both get the same MJCF text, initial states and random controls of the servos, and give all states back; ours
also the certificate of every step. MuJoCo's rollouts (``mujoco.rollout``) keep their threads between calls
and are given as many. The figure is the time per world and step; residuals as in `taction.bench.step`, the
peer's over some steps of the first world.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.bench.mujoco_peer import MujocoPeer, mujoco_name
from taction.bench.step import SAMPLES
from taction.bench.step_models import humanoid_mjcf, quadruped_mjcf
from taction.bench.timing import best_times, machine
from taction.control.actuators import Actuators
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.model.model import Model
from taction.sim.simulation import TOLERANCE, Simulation
from taction.sim.world import World

WORLDS, STEPS = 64, 500
HOLD = 50  # steps for which a control is held
REACH = 0.1  # standard deviation of the servos' targets [rad]


def bench_rollout(
    *,
    rounds: int = 3,
    worlds: int = WORLDS,
    steps: int = STEPS,
    threads: int | None = None,
    tol: float = TOLERANCE,
    robots: Sequence[str] = ("quadruped", "humanoid"),
) -> dict[str, Any]:
    """Time per world and step of rollouts; rows as in the documentation of ``taction bench``."""
    crew = threads or os.cpu_count() or 1
    texts = {"quadruped": quadruped_mjcf, "humanoid": humanoid_mjcf}
    rows = [_compare(name, texts[name](), rounds, worlds, steps, crew, tol) for name in robots]
    return {"bench": "rollout", "machine": machine(), "tol": tol, "threads": crew, "rows": rows}


def start_and_controls(model: Model, worlds: int, steps: int) -> tuple[Array, Array]:
    """Initial states (n, nq + nv), and controls (n, steps, nu) that jump now and then."""
    rng, nu = np.random.default_rng(0), len(model.spec.actuators)
    q = np.tile(model.q0, (worlds, 1))
    q[:, 2] += 0.02 * rng.uniform(size=worlds)
    v = 0.1 * rng.normal(size=(worlds, model.nv))
    jumps = REACH * rng.normal(size=(worlds, -(-steps // HOLD), nu))
    return np.hstack([q, v]), np.ascontiguousarray(np.repeat(jumps, HOLD, axis=1)[:, :steps])


def _compare(
    name: str, text: str, rounds: int, worlds: int, steps: int, threads: int, tol: float
) -> dict[str, Any]:
    model = compile_model(parse_mjcf(text))
    sim = Simulation(World(model), tol=tol)
    states, controls = start_and_controls(model, worlds, steps)
    actuators = Actuators(model, np.zeros(controls.shape[2]))

    def ours() -> Any:
        return sim.rollout(states, controls, controller=actuators, threads=threads)

    row: dict[str, Any] = {"peer": None, "ratio": None, "peer_residual": None}
    result, scale = ours(), 1e6 / (worlds * steps)
    contenders: dict[str, Any] = {"ours": ours}
    if mujoco_name() is None:
        row["ours"] = scale * best_times(contenders, rounds=rounds)["ours"]
    else:
        import mujoco
        from mujoco import rollout

        peer = MujocoPeer(text)
        start = np.hstack([np.zeros((worlds, 1)), states])  # time first
        datas = [mujoco.MjData(peer.model) for _ in range(threads)]
        with rollout.Rollout(nthread=threads) as pool:
            contenders["peer"] = lambda: pool.rollout(peer.model, datas, start, controls)
            times = best_times(contenders, rounds=rounds)
        row |= {who: scale * t for who, t in times.items()}
        row["ratio"] = times["ours"] / times["peer"]
        peer.data.qpos[:], peer.data.qvel[:] = states[0, : model.nq], states[0, model.nq :]
        row |= peer.judge(steps, SAMPLES, controls[0])
    return {
        "case": f"{name}, {worlds} worlds × {steps} steps, {threads} threads",
        "peer_name": mujoco_name(),
        "unit": "µs",
        "limit": 1.0,
        "residual": float(result.residual.max()),
        "penetration": float(result.penetration.max()),
        "failed": int((~result.is_done).sum()),
        "unconverged": int(result.unconverged.sum()),
        "worlds": worlds,
        "steps": steps,
        "threads": threads,
        **row,
    }
