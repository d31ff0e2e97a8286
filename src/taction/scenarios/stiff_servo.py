"""Stiff servo: the quadruped's motors pull its legs back into a pose, with the gains of the tables.

Gains of up to 70 000 N m/rad against legs of a few kilograms make modes of 57 to 1 400 rad/s that a velocity
gain of 1 N m s/rad hardly damps. The robot floats in free space, so that nothing but the servo matters.

Exact answers, for small deflections: with M the mass matrix and K, D the gains, the modes are M⁻¹ K φ = ω² φ,
and mode by mode the deflection obeys ẍ + c ẋ + ω² x = 0 with c = φᵀ D φ / φᵀ M φ. Per step of h its energy is
multiplied by
1. exp(−c h) in truth;
2. 1 / (1 + c h + ω² h²) if the gains act at the end of the step, which is implicit Euler: stable for every
   gain and step;
3. 1 − c h + ω² h² if they act at its start, which is explicit Euler: it blows up unless c > ω² h.
The deflection of the start, split into modes, therefore says what is left of the servo's energy at the end:
½ Σ k_p (q − target)² and the kinetic energy of the legs against the torso. Deflections of δ couple the modes,
so that a fraction of about δ² may move to the slowest one; and a torso left turning at w, because a method of
order 1 does not keep the angular momentum, deflects the joints by (w/ω)².

``implicit=false`` is case 3. (Semi-implicit Euler with explicit gains, the usual choice of simulators, is
stable while ω h < 2, here up to a step of 1.4 ms.)

References: [Ayit2015, Tables 5.1 to 5.3]; [BaraffWitkin1998, Eq. (5)].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.control.pd import PD
from taction.dynamics.crba import mass_matrix
from taction.dynamics.energy import totals
from taction.model.model import Model
from taction.robots.quadruped import QUADRUPED_GAINS, quadruped
from taction.scenarios.base import Metrics, Scenario, Values
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.simulation import Simulation

# Methods that evaluate the gains at the end of the step.
IMPLICIT = ("SemiImplicitEuler", "ImplicitEuler")


class StiffServo(Scenario):
    """See the module text."""

    name = "stiff-servo"
    summary = "a quadruped pulled into its pose by gains of 70 000 N m/rad: what is left of the deflection"
    source = "legged-robot thesis, Tables 5.1 to 5.3"
    duration, dt, integrator = 2.0, 5e-4, "semi-implicit-euler"
    parameters = (
        Parameter(
            "implicit", True, "", "gains act at the end of the step; false: at its start (explicit Euler)"
        ),
        Parameter("deflection", 0.05, "rad", "of every leg joint at the start", minimum=0.0, maximum=1.0),
        Parameter("gain_scale", 1.0, "", "factor on all position gains of the tables", minimum=0.0),
    )
    units = by_unit(
        {
            "rad": "pose_error",
            "rad/s": "max_speed_end max_speed fastest_mode slowest_mode",
            "m": "com_drift",
            "": "energy_left energy_left_exact stable",
        }
    )

    def build(self, parameters: Values, *, dt: float, integrator: str) -> tuple[Simulation, dict[str, Any]]:
        """A floating quadruped at rest, its joints deflected."""
        if not parameters["implicit"]:
            if integrator not in (self.integrator, "explicit-euler"):
                raise BadInput("stiff-servo: implicit=false means explicit Euler; leave the integrator out")
            integrator = "explicit-euler"
        model = quadruped(gravity=(0.0, 0.0, 0.0))
        q = np.array(model.q0)
        q[7:] += parameters["deflection"]
        controller = PD(kp=parameters["gain_scale"] * gains(model), kd=1.0)
        return Simulation(model, dt=dt, integrator=integrator), {"q": q, "controller": controller}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """What is left of deflection [rad], speed [rad/s] and energy; way of the centre of mass [m]."""
        kp = parameters["gain_scale"] * gains(run.model)
        deflection = run.q[[0, -1], 7:] - run.model.q0[7:]
        springs = 0.5 * (kp * deflection**2).sum(axis=1)
        left = springs[1] + internal_kinetic_energy(run.model, run.q[-1], run.v[-1])
        first, last = (totals(run.model, run.q[k]).com for k in (0, -1))
        servo = modes(run.model, kp, deflection[0])
        ratio = float(left / springs[0]) if springs[0] > 0.0 else 0.0
        exact, slowest = energy_left(run, servo)
        size, speed = float(np.abs(deflection[0]).max()), float(np.abs(run.v[-1]).max())
        coupled = size**2 * slowest
        if len(servo.rate) and size > 0.0:
            coupled += min(((speed / servo.rate.min()) ** 2 / size) ** 2, size**2)
        return {
            "pose_error": float(np.abs(deflection[1]).max()),
            "max_speed_end": speed,
            "max_speed": float(np.abs(run.v).max()),
            "energy_left": ratio,
            "energy_left_exact": exact,
            "com_drift": float(np.linalg.norm(last - first)),
            "fastest_mode": float(servo.rate.max(initial=0.0)),
            "slowest_mode": float(servo.rate.min()) if len(servo.rate) else 0.0,
            "stable": bool(ratio <= 2.0 * exact + coupled),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """The energy that is left."""
        if metrics["stable"]:
            return []
        left, exact = metrics["energy_left"], metrics["energy_left_exact"]
        return [f"{left:.3g} of the servo's energy is left, where {exact:.3g} should be"]


class Modes(NamedTuple):
    """Modes of the servo around its pose, shape (16,) each."""

    rate: Array  # ω [rad/s]
    damping: Array  # c [1/s]
    share: Array  # of the energy of a deflection


def gains(model: Model) -> Array:
    """Position gains of the tables in the order of the leg joints [N m/rad], shape (16,)."""
    return np.array(
        [
            next(gain.kp for part, gain in QUADRUPED_GAINS.items() if joint.name.endswith(part))
            for joint in model.joints[1:]
        ]
    )


def internal_kinetic_energy(model: Model, q: Array, v: Array) -> float:
    """Kinetic energy of the legs against the torso [J], without that of the robot as one rigid body.

    With b the torso's and j the joints' coordinates it is ½ v_jᵀ (M_jj − M_jb M_bb⁻¹ M_bj) v_j.
    """
    M = mass_matrix(model, q)
    locked = M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:])
    return float(0.5 * v[6:] @ locked @ v[6:])


def modes(model: Model, kp: Array, deflection: Array) -> Modes:
    """Modes of the position gains kp (16,), and how a deflection (16,) [rad] at rest is split among them."""
    K, D, x = np.zeros(model.nv), np.array(model.damping), np.zeros(model.nv)
    K[6:], D[6:], x[6:] = kp, D[6:] + 1.0, deflection
    M = mass_matrix(model, model.q0)
    root = np.linalg.inv(np.linalg.cholesky(M))
    squared, shape = np.linalg.eigh((root * K) @ root.T)
    shape = root.T @ shape
    # the six modes of the torso itself have no spring
    moving = squared > 1e-9 * max(float(squared.max()), 1e-300)
    squared, shape = squared[moving], shape[:, moving]
    energy = squared * (shape.T @ M @ x) ** 2
    damping = np.einsum("ik,i,ik->k", shape, D, shape)
    return Modes(np.sqrt(squared), damping, energy / max(float(energy.sum()), 1e-300))


def energy_left(run: Run, servo: Modes) -> tuple[float, float]:
    """Fraction of the servo's energy that should be left after a run, and that of the slowest mode alone."""
    h = run.dt
    phase = h * servo.damping
    log = np.log1p(phase + (h * servo.rate) ** 2) if run.integrator in IMPLICIT else phase
    left = np.exp(-run.steps * log)
    return float(servo.share @ left), float(left.max(initial=0.0))
