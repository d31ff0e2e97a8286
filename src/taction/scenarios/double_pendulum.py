"""Double pendulum: a chaotic swing that keeps its energy, or a small one in a normal mode of known frequency.

Exact answers
1. Without damping, kinetic plus potential energy is constant. With damping, the energy ledger closes: what is
   missing is the work of the joint friction, summed by the trapezoidal rule (order 2).
2. In the small, with θ_1 = q_1 and θ_2 = q_1 + q_2 the links' angles from the vertical, A θ̈ + B θ = 0 with

       rods     A = [(m_1/3 + m_2) l_1²,  m_2 l_1 l_2 / 2;  ·,  m_2 l_2² / 3]
                B = diag((m_1/2 + m_2) g l_1,  m_2 g l_2 / 2)
       points   A = [(m_1 + m_2) l_1²,  m_2 l_1 l_2;  ·,  m_2 l_2²]
                B = diag((m_1 + m_2) g l_1,  m_2 g l_2)

   so that ω² are the two roots of det(B − ω² A) = 0. ``mode=1`` starts in the slow mode, ``mode=2`` in the
   fast one. Its frequency is measured between the first and the last zero of q_1; a finite amplitude a
   changes it by O(a²).

References: [BhargavaReport, Section 3.1 and Figure 4].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction.robots.pendulum import double_pendulum
from taction.scenarios.base import Metrics, Scenario, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import energy_error, error_bound, fastest_rate
from taction.sim.run import Run
from taction.sim.simulation import Simulation

GRAVITY = 9.81  # [m/s²]


class DoublePendulum(Scenario):
    """See the module text."""

    name = "double-pendulum"
    summary = "two links swinging freely: energy, or the frequency of a small normal mode"
    source = "forward-dynamics example of the report on contact and friction, its Figure 4"
    duration, dt, integrator = 10.0, 1e-3, "rk4"
    parameters = (
        Parameter("q1", 2.0, "rad", "first angle at the start, from hanging"),
        Parameter("q2", 0.5, "rad", "second angle at the start, relative to the first link"),
        Parameter("m1", 1.0, "kg", "mass of the upper link", minimum=1e-6),
        Parameter("m2", 1.0, "kg", "mass of the lower link", minimum=1e-6),
        Parameter("l1", 1.0, "m", "length of the upper link", minimum=1e-3),
        Parameter("l2", 1.0, "m", "length of the lower link", minimum=1e-3),
        Parameter("point_masses", False, "", "masses at the ends of massless rods, in place of uniform rods"),
        Parameter("damping", 0.0, "N m s/rad", "viscous friction of both joints", minimum=0.0),
        Parameter(
            "mode", 0, "", "0 starts at q1, q2; 1 or 2 in the slow or fast normal mode", choices=(0, 1, 2)
        ),
        Parameter("amplitude", 1e-3, "rad", "of q1 in a normal mode", minimum=1e-9, maximum=0.5),
    )
    units = by_unit(
        {
            "rad/s": "max_speed frequency frequency_exact",
            "rad": "amplitude",
            "": "energy_error frequency_error",
        }
    )

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """A pendulum at rest in its first position."""
        p = parameters
        model = double_pendulum(
            masses=(p["m1"], p["m2"]),
            lengths=(p["l1"], p["l2"]),
            point_masses=p["point_masses"],
            damping=p["damping"],
            gravity=(0.0, 0.0, -GRAVITY),
        )
        start = np.array([p["q1"], p["q2"]])
        if p["mode"]:
            start = normal_mode(p)[1]
        return Simulation(model, dt=dt, integrator=integrator), {"q": start}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Energy error relative to the largest energy; in a normal mode, frequencies [rad/s]."""
        out: Metrics = {"energy_error": energy_error(run), "max_speed": float(np.abs(run.v).max())}
        if parameters["mode"] and parameters["damping"] == 0.0:
            exact, _ = normal_mode(parameters)
            measured = measured_frequency(run.t, run.q[:, 0])
            out["frequency"], out["frequency_exact"] = measured, exact
            out["frequency_error"] = abs(measured / exact - 1.0)
            out["amplitude"] = float(np.abs(run.q).max())
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Energy or ledger, and the frequency of a normal mode."""
        damped = bool(run.model.damping.any())
        rate = max(fastest_rate(run.v, run.dt), metrics.get("frequency_exact", 0.0))
        found = above(
            "the relative energy error",
            metrics["energy_error"],
            error_bound(run, rate, order=2 if damped else None),
        )
        if math.isnan(metrics.get("frequency", 0.0)):
            found.append("the run is too short to measure a frequency: q1 has fewer than two zeros")
        elif "frequency_error" in metrics:
            # linear interpolation of a zero is wrong by (ωh)³/10 of a radian at most, at either end of the
            # run
            phase = metrics["frequency_exact"] * run.dt
            reading = phase**3 / (phase * run.steps)
            limit = error_bound(run, metrics["frequency_exact"]) + metrics["amplitude"] ** 2 + reading
            found += above("the relative frequency error", metrics["frequency_error"], limit)
        return found


def normal_mode(p: Values) -> tuple[float, Array]:
    """Frequency [rad/s] of a normal mode in closed form, and the configuration of its amplitude."""
    m1, m2, l1, l2 = p["m1"], p["m2"], p["l1"], p["l2"]
    # moments: of the upper link and of the lower, as fractions of m l² and m l
    second, first = (1.0, 1.0) if p["point_masses"] else (1.0 / 3.0, 0.5)
    a, b, d = (second * m1 + m2) * l1**2, first * m2 * l1 * l2, second * m2 * l2**2
    e, f = (first * m1 + m2) * GRAVITY * l1, first * m2 * GRAVITY * l2
    # (a d − b²) x² − (a f + d e) x + e f = 0 for x = ω²
    A, B, C = a * d - b * b, a * f + d * e, e * f
    large = (B + math.sqrt(B * B - 4.0 * A * C)) / (2.0 * A)
    squared = large if p["mode"] == 2 else C / (A * large)
    shape = (e - squared * a) / (squared * b)  # θ_2 / θ_1
    return math.sqrt(squared), p["amplitude"] * np.array([1.0, shape - 1.0])


def measured_frequency(t: Array, x: Array) -> float:
    """Frequency [rad/s] between the first and the last zero of a signal; NaN if it has fewer than two."""
    k = np.nonzero(np.sign(x[:-1]) != np.sign(x[1:]))[0]
    zeros = t[k] + (t[k + 1] - t[k]) * x[k] / (x[k] - x[k + 1])
    if len(zeros) < 2:
        return math.nan
    return math.pi * (len(zeros) - 1) / float(zeros[-1] - zeros[0])
