"""Swinging chain: many links from a fixed point, released at an angle; the longer, the more it whips.

Exact answer: kinetic plus potential energy is constant; with damping, the energy ledger closes to order 2.

The joint axes alternate between y and x, so that the chain bends in both planes; ``planar=true`` keeps it in
one. Source: ours; the chain is the yardstick of the scaling benchmark.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction.kinematics.forward import body_velocities
from taction.robots.chain import ALTERNATING, chain
from taction.scenarios.base import Metrics, Scenario, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import energy_error, error_bound, fastest_rate
from taction.sim.run import Run
from taction.sim.simulation import Simulation


class SwingingChain(Scenario):
    """See the module text."""

    name = "swinging-chain"
    summary = "a chain of many links released at an angle: energy"
    source = "ours: conservation of energy"
    duration, dt, integrator = 5.0, 1e-3, "rk4"
    parameters = (
        Parameter("links", 20, "", "number of links", minimum=1, maximum=500),
        Parameter("angle", 1.0, "rad", "of the whole chain at the start, from hanging"),
        Parameter("bend", 0.05, "rad", "every joint's angle at the start"),
        Parameter("length", 0.3, "m", "of one link", minimum=1e-3),
        Parameter("mass", 1.0, "kg", "of one link", minimum=1e-6),
        Parameter("damping", 0.0, "N m s/rad", "viscous friction of every joint", minimum=0.0),
        Parameter("planar", False, "", "all joint axes parallel"),
    )
    units = by_unit(
        {
            "rad/s": "max_joint_speed",
            "m/s": "max_tip_speed",
            "": "energy_error",
        }
    )

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """A chain at rest, slightly bent."""
        p = parameters
        model = chain(
            p["links"],
            length=p["length"],
            mass=p["mass"],
            damping=p["damping"],
            axes=ALTERNATING[:1] if p["planar"] else ALTERNATING,
        )
        start = np.full(model.nq, p["bend"])
        start[0] = p["angle"]
        return Simulation(model, dt=dt, integrator=integrator), {"q": start}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Energy error relative to the largest energy; speeds [m/s, rad/s]."""
        every = max(1, run.steps // 500)
        tips = [
            body_velocities(run.model, q, v).linear[-1]
            for q, v in zip(run.q[::every], run.v[::every], strict=True)
        ]
        return {
            "energy_error": energy_error(run),
            "max_joint_speed": float(np.abs(run.v).max()),
            "max_tip_speed": float(np.linalg.norm(tips, axis=1).max()),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy or ledger."""
        order = 2 if run.model.damping.any() else None
        limit = error_bound(run, fastest_rate(run.v, run.dt), order=order)
        return above("the relative energy error", metrics["energy_error"], limit)
