"""Rolling disk: a flat cylinder that rolls on its rim without slipping, straight on or round a circle.

Notation: mass m, radius r, half thickness b, moments A across and C along the axis; θ the angle of the axis
e₃ from the vertical (lean = 90° − θ), e_u the direction in the disk's plane that leads up, e_h = e_u × e₃
horizontal; the lower rim touches at −r e_u − b e₃ from the centre.

Exact answers
1. *Straight* (``lean=0``): upright, v and ω = v / r stay as they are.
2. *Circle*: the lean is constant, the axis goes round at the constant rate Ω, the centre with speed V on a
   circle of radius ρ = V / Ω. With ω = Ω sin θ e_u + ω₃ e₃, rolling means

       V = b Ω sin θ − r ω₃,                                                                       (1)

   the force at the rim is F = m g ẑ + m V Ω (cos θ e_u − sin θ e₃), and the balance of moments about the
   centre, (C ω₃ − A Ω cos θ) Ω sin θ = −r F₃ + b F_u, becomes with (1)

       (C sin θ b / r − A cos θ) sin θ Ω² − V (C sin θ / r + m (r sin θ + b cos θ)) Ω
           + m g (r cos θ − b sin θ) = 0,                                                          (2)

   for b = 0 the equation of the textbooks. The root that tends to 0 with the lean is the one taken. A disk
   that leans less than atan(b / r) has its weight inside its lower rim and cannot roll so; it is refused.
   Friction must carry m V Ω: μ ≥ V Ω / g.

Error of the scheme: order 1 in the step. Lean and Ω are not held by anything but the motion itself, a
steady motion that is stable for fast disks, so errors grow in proportion to time: the bound is S n (ω h)² /
2 with n steps, ω = |ω₃| + Ω and S = 2, and 1 + Ω T times that for the path, which sums up errors of its
direction. Upright rolling needs no force at all, and its speed stays to rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.errors import BadInput
from taction.model.builder import free_body
from taction.model.shapes import Cylinder, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
STRAIGHT = 1e-9  # relative error of what stays to rounding and to the tolerance of the solver


class RollingDisk(ContactScenario):
    """See the module text."""

    name = "rolling-disk"
    summary = "a disk rolling on its rim, straight or round a circle, against the closed form"
    source = "classical mechanics: steady motions of a rolling disk"
    duration, dt = 1.0, 1e-4
    parameters = (
        Parameter("speed", 2.0, "m/s", "of the centre", minimum=1e-2),
        Parameter("lean", 0.3, "rad", "of the disk from upright; 0 rolls straight", minimum=0.0, maximum=1.4),
        Parameter("radius", 0.1, "m", "of the disk", minimum=1e-3),
        Parameter("thickness", 0.01, "m", "of the disk", minimum=1e-5),
        Parameter("mass", 0.5, "kg", "of the disk", minimum=1e-6),
        Parameter("friction", 1.0, "", "coefficient", minimum=0.0),
    )
    units = by_unit(
        {
            "rad/s": "turn_rate spin",
            "rad": "lean_error",
            "m": "radius_exact",
            "": "speed_error line_error circle_error place_error friction_needed",
        }
    )

    def world(self, parameters: Values) -> World:
        """A disk on a plane."""
        p = parameters
        theta = 0.5 * math.pi - p["lean"]
        height = p["radius"] * math.sin(theta) + 0.5 * p["thickness"] * math.cos(theta)
        s, c = math.sin(theta), math.cos(theta)
        axes = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        disk = free_body(
            "disk", Cylinder(p["radius"], p["thickness"]), mass=p["mass"], position=(0.0, 0.0, height),
            rotation=axes, material=Material((p["friction"], p["friction"])),
        )  # fmt: skip
        return World(disk, ground=Plane(friction=p["friction"]), gravity=(0.0, 0.0, -GRAVITY))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """In the steady motion: along y, the axis tilted towards x."""
        rate, spin = steady_motion(parameters)
        across = rate * math.cos(parameters["lean"])
        return {"v": np.array([0.0, parameters["speed"], 0.0, -across, 0.0, spin])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Relative errors of speed and path; change of the lean [rad]."""
        p = parameters
        rate, spin = steady_motion(p)
        x, y, t = run.q[:, 0], run.q[:, 1], run.t
        speed = np.hypot(run.v[:, 0], run.v[:, 1])
        _, qx, qy, _ = run.q[:, 3:].T
        lean = np.arcsin(np.clip(1.0 - 2.0 * (qx * qx + qy * qy), -1.0, 1.0))
        out: Metrics = {
            "turn_rate": rate,
            "spin": spin,
            "speed_error": float(np.abs(speed / p["speed"] - 1.0).max()),
            "lean_error": float(np.abs(lean - p["lean"]).max()),
        }
        if p["lean"] == 0.0:
            path = max(p["speed"] * float(t[-1]), p["radius"])
            out["line_error"] = float(np.hypot(x, y - p["speed"] * t).max()) / path
            return out
        radius = p["speed"] / rate
        off = np.hypot(x + radius * (1.0 - np.cos(rate * t)), y - radius * np.sin(rate * t))
        out["radius_exact"] = radius
        out["circle_error"] = float(np.abs(np.hypot(x + radius, y) / radius - 1.0).max())
        out["place_error"] = float(off.max()) / radius
        out["friction_needed"] = p["speed"] * rate / GRAVITY
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """What is steady stays as it is."""
        if "line_error" in metrics:
            return [
                *above("the relative change of the speed", metrics["speed_error"], STRAIGHT),
                *above("the relative distance from the straight path", metrics["line_error"], STRAIGHT),
                *above("the change of the lean", metrics["lean_error"], STRAIGHT, "rad"),
            ]
        phase = (abs(metrics["spin"]) + abs(metrics["turn_rate"])) * run.dt
        limit = 2.0 * run.steps * 0.5 * phase**2 + STRAIGHT
        path = limit * (1.0 + metrics["turn_rate"] * float(run.t[-1]))
        return [
            *above("the relative change of the speed", metrics["speed_error"], limit),
            *above("the relative distance from the circle", metrics["circle_error"], path),
            *above("the relative distance from the place on the circle", metrics["place_error"], path),
            *above("the change of the lean", metrics["lean_error"], limit, "rad"),
        ]


def steady_motion(p: Values) -> tuple[float, float]:
    """Ω and ω₃ [rad/s] of equations (1) and (2).

    Raises:
        BadInput: there is no such steady motion, or friction cannot hold it.
    """
    m, r, b, v = p["mass"], p["radius"], 0.5 * p["thickness"], p["speed"]
    if p["lean"] == 0.0:
        return 0.0, -v / r
    if p["lean"] <= math.atan2(b, r):
        raise BadInput(f"rolling-disk: lean must be 0 or above {math.atan2(b, r):.4g} rad, got {p['lean']:g}")
    s, c = math.cos(p["lean"]), math.sin(p["lean"])
    A, C = m * (3.0 * r * r + 4.0 * b * b) / 12.0, 0.5 * m * r * r
    square = (C * s * b / r - A * c) * s
    linear = v * (C * s / r + m * (r * s + b * c))
    weight = m * GRAVITY * (r * c - b * s)
    root = linear * linear - 4.0 * square * weight
    if root < 0.0:
        raise BadInput(f"rolling-disk: no steady circle at {v:g} m/s with a lean of {p['lean']:g} rad")
    rate = 2.0 * weight / (linear + math.sqrt(root))
    if v * rate > p["friction"] * GRAVITY:
        raise BadInput(
            f"rolling-disk: this circle needs a friction of {v * rate / GRAVITY:.4g}, got {p['friction']:g}"
        )
    return rate, (b * rate * s - v) / r
