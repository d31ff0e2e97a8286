"""What a loop of one's own costs above the compiled step: steppers, functions as controllers, actuators.

Each way takes the same steps of a standing quadruped with servos; a row is its time per step less that of
steps in one compiled call, in microseconds. Best of several, in turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction.bench.step import Stepper, from_mjcf
from taction.bench.step_models import quadruped_mjcf
from taction.bench.timing import best_times
from taction.control.actuators import Actuators
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.steppers.columns import RESIDUAL

SETTLE, STEPS = 1000, 200
STEPPER_LIMIT = 10.0  # of a step taken alone [µs]


def bench_loops(rounds: int, tol: float) -> list[dict[str, Any]]:
    """Rows of `taction bench step`: time above the compiled step."""
    compiled: Stepper = from_mjcf(quadruped_mjcf(), tol)
    compiled.advance(SETTLE)
    compiled.keep()
    sim, model = compiled.sim, compiled.sim.model
    state = compiled.engine.outer(compiled.state, 0.0)
    actuators = Actuators(model, np.zeros(len(model.spec.actuators)))
    alone, told = sim.begin(state=state, controller=actuators), sim.begin(state=state, controller=actuators)
    u, tau = np.zeros(len(model.spec.actuators)), np.zeros(model.nv)
    free = Simulation(World(model), dt=sim.dt, tol=tol)

    def one_call() -> None:
        compiled.restore()
        compiled.advance(STEPS)

    def one_by_one() -> None:
        alone.reset(state)
        for _ in range(STEPS):
            alone.step(tau)

    def with_controls() -> None:
        told.reset(state)
        for _ in range(STEPS):
            told.step(ctrl=u)

    def pure() -> None:
        now = state
        for _ in range(STEPS):
            now, _ = sim.step(now, ctrl=u)

    ways = {
        "one call": one_call,
        "stepper.step(tau)": one_by_one,
        "stepper.step(ctrl=u)": with_controls,
        "sim.step(state, ctrl=u)": pure,
        "run, Actuators": lambda: free.run(STEPS * sim.dt, state=state, controller=actuators),
        "run, without a controller": lambda: free.run(STEPS * sim.dt, state=state),
        "run, a function": lambda: free.run(STEPS * sim.dt, state=state, controller=lambda t, q, v: tau),
    }
    for way in ways.values():
        way()
    times = {name: 1e6 * t / STEPS for name, t in best_times(ways, rounds=rounds).items()}
    base = {"run, a function": times["run, without a controller"]}
    return [
        {
            "case": f"above the compiled step: {name}",
            "ours": times[name] - base.get(name, times["one call"]),
            "peer": None,
            "peer_name": None,
            "unit": "µs",
            "ratio": None,
            "limit": STEPPER_LIMIT if name == "stepper.step(tau)" else None,
            "residual": float(alone.report.record[RESIDUAL]),
            "peer_residual": None,
            "nv": model.nv,
            "steps": STEPS,
            "dt": sim.dt,
        }
        for name in ways
        if name not in ("one call", "run, without a controller")
    ]
