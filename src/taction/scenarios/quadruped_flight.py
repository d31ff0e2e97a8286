"""Quadruped in flight: thrown and tumbling, with limp legs or legs held by their motors.

Exact answers: no force acts from outside but the weight, whatever the joints do, so that
1. the linear momentum is p_0 + m g t, and the centre of mass flies the parabola c_0 + (p_0/m) t + g t²/2;
2. the angular momentum about the centre of mass is constant;
3. the energy ledger closes: kinetic and potential energy change by the work of the motors and of the joints'
   viscous friction, summed by the trapezoidal rule (order 2).

Departures: the gains that hold the legs are softer than those of the tables, so that a fixed step of 1 ms
resolves the servo's own oscillation; ``stiff-servo`` has the tables' gains. The joints' Coulomb friction is
not in the smooth motion: it is a set-valued force and comes with contact.

References: [Ayit2015, Section 5.2 and Tables 5.1 and 5.2].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction.control.pd import PD
from taction.dynamics.energy import totals
from taction.robots.quadruped import quadruped
from taction.scenarios.base import Metrics, Scenario, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import energy_error, error_bound, fastest_rate
from taction.sim.run import Run
from taction.sim.simulation import Simulation


class QuadrupedFlight(Scenario):
    """See the module text."""

    name = "quadruped-flight"
    summary = "a quadruped thrown and tumbling in the air: momentum, parabola and energy"
    source = "legged-robot thesis, Tables 5.1 and 5.2; conservation laws of free flight"
    duration, dt, integrator = 1.0, 1e-3, "rk4"
    parameters = (
        Parameter("legs", "limp", "", "limp, or held in the neutral stance", choices=("limp", "held")),
        Parameter("speed_x", 1.5, "m/s", "forward speed of the torso at the start"),
        Parameter("speed_z", 4.0, "m/s", "upward speed of the torso at the start"),
        Parameter("roll", 1.0, "rad/s", "angular velocity about the torso's x axis"),
        Parameter("pitch", -3.0, "rad/s", "about its y axis"),
        Parameter("yaw", 0.5, "rad/s", "about its z axis"),
        Parameter("kp", 200.0, "N m/rad", "position gain of held legs", minimum=0.0),
        Parameter("kd", 5.0, "N m s/rad", "velocity gain of held legs", minimum=0.0),
        Parameter("viscous", 0.3, "N m s/rad", "viscous friction of the leg joints", minimum=0.0),
    )
    units = by_unit(
        {
            "m": "com_error peak_height distance_x",
            "": "momentum_error linear_momentum_error angular_momentum_error energy_error",
        }
    )

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """A quadruped in its neutral stance with the velocity of a throw."""
        p = parameters
        model = quadruped(joint_viscous=p["viscous"])
        v = np.zeros(model.nv)
        v[:6] = [p["speed_x"], 0.0, p["speed_z"], p["roll"], p["pitch"], p["yaw"]]
        start: dict[str, Any] = {"v": v}
        if p["legs"] == "held":
            start["controller"] = PD(kp=p["kp"], kd=p["kd"])
        return Simulation(model, dt=dt, integrator=integrator), start

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Relative errors of momentum and energy, and the distance from the parabola [m]."""
        sums = [totals(run.model, q, v) for q, v in zip(run.q, run.v, strict=True)]
        mass, t = sums[0].mass, run.t[:, None]
        gravity = np.array(run.model.spec.gravity)
        com, linear, angular = (
            np.array([getattr(s, name) for s in sums])
            for name in ("com", "linear_momentum", "angular_momentum")
        )
        parabola = com[0] + linear[0] / mass * t + 0.5 * gravity * t**2
        fall = linear - (linear[0] + mass * gravity * t)
        return {
            "momentum_error": max(_relative(fall, linear), _relative(angular - angular[0], angular)),
            "linear_momentum_error": _relative(fall, linear),
            "angular_momentum_error": _relative(angular - angular[0], angular),
            "com_error": float(np.abs(com - parabola).max()),
            "energy_error": energy_error(run),
            "peak_height": float(com[:, 2].max()),
            "distance_x": float(com[-1, 0] - com[0, 0]),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Momentum and parabola to the order of the method, the ledger to order 2."""
        rate = fastest_rate(run.v[:, 3:], run.dt)
        limit = error_bound(run, rate)
        works = run.model.damping.any() or run.tau.any()
        return [
            *above("the relative momentum error", metrics["momentum_error"], limit),
            # the torso is about a metre long, so that relative errors of angles are metres
            *above("the distance from the parabola", metrics["com_error"], limit, "m"),
            *above(
                "the relative energy error",
                metrics["energy_error"],
                error_bound(run, rate, order=2 if works else None),
            ),
        ]


def _relative(error: np.ndarray, size: np.ndarray) -> float:
    """Largest error, relative to the largest vector of a series."""
    return float(np.linalg.norm(error, axis=1).max() / max(np.linalg.norm(size, axis=1).max(), 1e-300))
