"""Four-bar linkage: crank, coupler and rocker between two fixed pivots, a closed loop that swings freely.

Exact answer. The linkage has one degree of freedom. With a, b, c the lengths of crank, coupler and rocker,
d the distance of the pivots, θ, φ, ψ the bars' angles, closure and its derivatives by θ are

    a e^{iθ} + b e^{iφ} = d + c e^{iψ},                                                             (1)
    φ' = −a sin(θ − ψ) / (b sin(φ − ψ)),      ψ' = a sin(θ − φ) / (c sin(ψ − φ)),                   (2)
    φ'' = (c ψ'² − a cos(θ − ψ) − b φ'² cos(φ − ψ)) / (b sin(φ − ψ)),
    ψ'' = (a cos(θ − φ) + b φ'² − c ψ'² cos(ψ − φ)) / (c sin(ψ − φ)),                               (3)

and Lagrange's equation with the reduced inertia I(θ) and potential V(θ) of uniform bars is

    I θ̈ + ½ I' θ̇² + V' = 0,                                                                       (4)
    I = m₁ a²/3 + m₂ (a² + b² φ'²/3 + a b φ' cos(θ − φ)) + m₃ c² ψ'²/3.                              (5)

(4) is integrated by a Runge–Kutta method of order 8 with tolerance 1e-12: none of the code of this library.

In the simulation the loop is three joints and one closure, kept on the level of velocities and corrected in
position to first order: a step leaves the curvature of its own arcs, ½ h² ω² (a + b + c) at most, and the
next one removes it. So the gap (`joint_gap`) is of order 2 in the step and does not grow; 2e-5 s keep it
below 1e-8 m. The error of the angle is of order 1: bound S n (ω h)² / 2 with ω the largest of the rates and
√(g / l), l half the shortest bar, S = 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import SAFETY
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
CLOSED = 2e-9  # what the correction of positions leaves [m]
# z-axis of the loop's frame along the axes of the joints, −y
TURNED = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class FourBar(ContactScenario):
    """See the module text."""

    name = "four-bar"
    summary = "a four-bar linkage swinging: closed loop against the reduced equation of one angle"
    source = "classical mechanics: Lagrange's equation with configuration-dependent inertia"
    duration, dt, stepper = 1.0, 2e-5, "moreau"
    parameters = (
        Parameter("angle", 0.3, "rad", "of the crank at the start, above the line of the pivots"),
        Parameter("rate", 0.0, "rad/s", "of the crank at the start"),
        Parameter("crank", 0.4, "m", "length", minimum=1e-2),
        Parameter("coupler", 0.9, "m", "length", minimum=1e-2),
        Parameter("rocker", 0.7, "m", "length", minimum=1e-2),
        Parameter("base", 0.8, "m", "distance of the pivots", minimum=1e-2),
        Parameter("density", 1.0, "kg/m", "mass of the bars per length", minimum=1e-6),
        Parameter("loop", "point", "", "how the loop is closed", choices=("point", "hinge")),
        Parameter("side", 1.0, "", "which way the knee of coupler and rocker points", choices=(1.0, -1.0)),
    )
    units = by_unit(
        {
            "rad": "angle_error swing",
            "rad/s": "rate_error largest_rate",
            "m or rad": "joint_gap",
            "": "energy_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """Bars in the xz plane that touch nothing."""
        p = parameters
        b = ModelBuilder("four-bar", gravity=(0.0, 0.0, -GRAVITY))
        for bar in ("crank", "coupler", "rocker"):
            b.body(bar, rod(p[bar], p["density"]))
        axis = (0.0, -1.0, 0.0)
        b.revolute("left", parent="world", child="crank", axis=axis)
        b.revolute("elbow", parent="crank", child="coupler", axis=axis, pose=along(p["crank"]))
        b.revolute("right", parent="world", child="rocker", axis=axis, pose=along(p["base"]))
        b.loop(
            "knee", "coupler", "rocker", kind=p["loop"],
            pose=along(p["coupler"], TURNED), other_pose=along(p["rocker"], TURNED),
        )  # fmt: skip
        return World(b.build())

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Closed, with the rates that (2) gives."""
        p = parameters
        theta = p["angle"]
        phi, psi = bar_angles(theta, p)
        dphi, dpsi = bar_rates(theta, phi, psi, p)
        q = {"left": theta, "elbow": phi - theta, "right": psi}
        v = {"left": 1.0, "elbow": dphi - 1.0, "right": dpsi}
        names = [j.name for j in world.model.joints]
        return {"q": np.array([q[n] for n in names]), "v": p["rate"] * np.array([v[n] for n in names])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Errors of the crank's angle [rad] and rate [rad/s], of the energy, and the gap of the loop [m]."""
        joint = next(j for j in run.model.joints if j.name == "left")
        theta, rate = run.q[:, joint.q_slice.start], run.v[:, joint.v_slice.start]
        exact = reduced_motion(run.t, parameters)
        energy = run.kinetic + run.potential
        weight = GRAVITY * sum(b.inertia.mass * abs(b.inertia.com[0]) for b in run.model.spec.bodies)
        size = max(float(run.kinetic.max()), weight)
        return {
            "angle_error": float(np.abs(theta - exact[0]).max()),
            "rate_error": float(np.abs(rate - exact[1]).max()),
            "energy_error": float(np.abs(energy - energy[0]).max()) / size,
            "joint_gap": float(run.certificate.joint_gap or 0.0),
            "swing": float(np.ptp(exact[0])),
            "largest_rate": float(np.abs(run.v).max()),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """The angle at every step, and the loop closed at every step."""
        shortest = min(abs(b.inertia.com[0]) for b in run.model.spec.bodies)
        omega = max(metrics["largest_rate"], math.sqrt(GRAVITY / shortest))
        limit = SAFETY * run.steps * 0.5 * (omega * run.dt) ** 2
        arcs = 0.5 * (metrics["largest_rate"] * run.dt) ** 2 * bar_lengths(run)
        return [
            *above("the error of the crank's angle", metrics["angle_error"], limit, "rad"),
            *above("the error of the crank's rate", metrics["rate_error"], omega * limit, "rad/s"),
            *above("the relative energy error", metrics["energy_error"], limit),
            *above("the gap of the loop", metrics["joint_gap"], arcs + CLOSED, "m"),
        ]


def bar_lengths(run: Run) -> float:
    """Sum of the lengths of the bars [m]."""
    return float(sum(2.0 * b.inertia.com[0] for b in run.model.spec.bodies))


def rod(length: float, density: float) -> Inertia:
    """A uniform thin bar along x, from its end."""
    mass = density * length
    across = mass * length**2 / 12.0
    return Inertia(mass, np.array([0.5 * length, 0.0, 0.0]), np.diag([1e-3 * across, across, across]))


def along(length: float, rotation: Array | None = None) -> Transform:
    """A frame at the end of a bar."""
    axes = np.eye(3) if rotation is None else rotation
    return Transform(axes, np.array([length, 0.0, 0.0]))


def bar_angles(theta: float, p: Values) -> tuple[float, float]:
    """φ and ψ of equation (1).

    Raises:
        BadInput: the linkage cannot be closed at this angle.
    """
    a, b, c, d = p["crank"], p["coupler"], p["rocker"], p["base"]
    end = a * complex(math.cos(theta), math.sin(theta))
    span = d - end
    length = abs(span)
    if not abs(b - c) < length < b + c:
        raise BadInput(f"four-bar: the bars do not reach each other at an angle of {theta:.4g} rad")
    share = (b * b - c * c + length * length) / (2.0 * length)
    unit = span / length
    knee = end + unit * complex(share, p["side"] * math.sqrt(b * b - share * share))
    arm, leg = knee - end, knee - d
    return math.atan2(arm.imag, arm.real), math.atan2(leg.imag, leg.real)


def bar_rates(theta: float, phi: float, psi: float, p: Values) -> tuple[float, float]:
    """φ' and ψ' of equation (2)."""
    a, b, c = p["crank"], p["coupler"], p["rocker"]
    return (
        -a * math.sin(theta - psi) / (b * math.sin(phi - psi)),
        a * math.sin(theta - phi) / (c * math.sin(psi - phi)),
    )


def reduced_acceleration(theta: float, rate: float, p: Values) -> float:
    """θ̈ of equation (4) [rad/s²]."""
    a, b, c = p["crank"], p["coupler"], p["rocker"]
    m1, m2, m3 = (p["density"] * x for x in (a, b, c))
    phi, psi = bar_angles(theta, p)
    f1, p1 = bar_rates(theta, phi, psi, p)
    f2 = (c * p1**2 - a * math.cos(theta - psi) - b * f1**2 * math.cos(phi - psi)) / (b * math.sin(phi - psi))
    p2 = (a * math.cos(theta - phi) + b * f1**2 - c * p1**2 * math.cos(psi - phi)) / (c * math.sin(psi - phi))
    s, k = math.sin(theta - phi), math.cos(theta - phi)
    inertia = (
        m1 * a * a / 3.0 + m2 * (a * a + b * b * f1**2 / 3.0 + a * b * f1 * k) + m3 * c * c * p1**2 / 3.0
    )
    slope = m2 * (2.0 * b * b * f1 * f2 / 3.0 + a * b * (f2 * k - f1 * s * (1.0 - f1)))
    slope += 2.0 * m3 * c * c * p1 * p2 / 3.0
    weight = (0.5 * m1 + m2) * a * math.cos(theta) + 0.5 * m2 * b * math.cos(phi) * f1
    weight += 0.5 * m3 * c * math.cos(psi) * p1
    return -(0.5 * slope * rate * rate + GRAVITY * weight) / inertia


def reduced_motion(t: Array, p: Values) -> Array:
    """θ and θ̇ of equation (4) at times (n,), shape (2, n)."""
    from scipy.integrate import solve_ivp

    def slope(_: float, y: Array) -> list[float]:
        return [y[1], reduced_acceleration(y[0], y[1], p)]

    out = solve_ivp(
        slope, (0.0, float(t[-1])), [p["angle"], p["rate"]], method="DOP853", t_eval=np.minimum(t, t[-1]),
        rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    return np.asarray(out.y)
