"""SimBenchmark's energy test of an articulated robot: lifted for a second, then two seconds of free flight.

A quadruped with limp, frictionless joints is pulled up at its torso with twice its weight for 1 s, which sets
its legs swinging; then it is let go, and flies for 2 s: the run. It touches nothing.

Exact answer: in flight kinetic plus potential energy stays what it was when the robot was let go.

Metric, as in the benchmark: `energy_error` is the mean over the steps of (E(t) − E(0))² [J²].
`relative_energy_error` is the largest |E(t) − E(0)|, relative to the largest kinetic energy.

Departures: the benchmark's ANYmal is the quadruped of `taction.robots`, three times as heavy, in its neutral
stance, at rest with its torso 2 m high. The lift is simulated with the method and step of the run. The
benchmark's step is 5 ms.

References: [KangHwangbo2018], ANYmal energy test; [Ayit2015, Tables 5.1 and 5.2].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction.robots.quadruped import quadruped
from taction.scenarios.base import Metrics, Scenario, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import error_bound, fastest_rate
from taction.sim.run import Run
from taction.sim.simulation import Simulation

LIFT_S, HEIGHT = 1.0, 2.0  # [s], [m]


class SimbenchEnergy(Scenario):
    """See the module text."""

    name = "simbench-energy"
    summary = "a limp quadruped thrown into the air: energy in flight"
    source = "SimBenchmark, ANYmal energy test; conservation of energy"
    duration, dt, integrator = 2.0, 1e-3, "rk4"
    parameters = (
        Parameter("lift", 2.0, "", "force that throws the robot, in weights", minimum=0.0, maximum=10.0),
    )
    units = by_unit(
        {
            "J²": "energy_error",
            "J": "energy",
            "1/s": "steps_per_second",
            "": "relative_energy_error",
        }
    )

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """The robot at the moment when it is let go."""
        model = quadruped(joint_viscous=0.0, joint_coulomb=0.0)
        simulation = Simulation(model, dt=dt, integrator=integrator)
        pull = np.zeros(model.nv)
        pull[2] = parameters["lift"] * model.total_mass * -model.spec.gravity[2]
        q = np.array(model.q0)
        q[2] = HEIGHT
        lifted = simulation.run(LIFT_S, q=q, controller=lambda t, q, v: pull)
        return simulation, {"q": lifted.q[-1], "v": lifted.v[-1]}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Errors of the energy in flight."""
        energy = run.kinetic + run.potential
        error = energy - energy[0]
        return {
            "energy_error": float((error**2).mean()),
            "relative_energy_error": float(np.abs(error).max() / max(float(run.kinetic.max()), 1e-300)),
            "energy": float(energy[0]),
            "steps_per_second": run.steps / run.wall_s,
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy to the order of the method."""
        limit = error_bound(run, fastest_rate(run.v[:, 3:], run.dt))
        return above("the relative energy error", metrics["relative_energy_error"], limit)
