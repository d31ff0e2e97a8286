"""Wobbling disk: Euler's disk, which rolls on its rim while its centre stays where it is, for ever.

Notation: mass m, radius r, half thickness b; moments A across and C along the axis; θ the tilt of the axis e₃
from the vertical, e_u the direction in the disk's plane that leads up; the rim touches at c = −r e_u − b e₃
from the centre.

Exact answer: a steady motion in which the axis goes round the vertical at the rate Ω and the centre stays.
The disk turns about the line from the rim to its centre, ω = w c/‖c‖, so that both are at rest; its axis is
carried round by that if ω's part across e₃ is that of the precession, w r/‖c‖ = Ω sin θ. Moments about the
centre, with the weight alone at the rim, F = m g ẑ:

    (C ω₃ − A Ω cos θ) Ω sin θ = −m g (r cos θ − b sin θ),     ω₃ = Ω sin θ b / r.

Energy is kept, since nothing slides; what a scheme of first order makes of rolling where curvature turns
takes it away within a second, at a step of a millisecond. A real disk loses energy to the air and to the
ground, and comes down in a whirr.

Error of the scheme: order 2; over n steps the energy above that of the lying disk may be wrong by S n (Ω h)³.
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
from taction.scenarios.tolerance import SAFETY
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]


class WobblingDisk(ContactScenario):
    """See the module text."""

    name = "wobbling-disk"
    summary = "Euler's disk: rolls on its rim, centre at rest, and keeps its energy"
    source = "classical mechanics: steady motions of a rolling disk"
    duration, dt, stepper = 10.0, 1e-3, "midpoint"
    parameters = (
        Parameter("tilt", 10.0, "deg", "of the disk from lying flat", minimum=1.0, maximum=80.0),
        Parameter("radius", 0.1, "m", "of the disk", minimum=1e-3),
        Parameter("thickness", 0.01, "m", "of the disk", minimum=1e-5),
        Parameter("mass", 1.0, "kg", "of the disk", minimum=1e-6),
        Parameter("friction", 1.0, "", "coefficient", minimum=0.0),
    )
    units = by_unit(
        {
            "rad/s": "rate",
            "deg": "tilt_error",
            "m": "centre_moved",
            "": "loss energy_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """A disk on a plane, tilted about x."""
        p, tilt = parameters, math.radians(parameters["tilt"])
        s, c = math.sin(tilt), math.cos(tilt)
        axes = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        height = p["radius"] * s + 0.5 * p["thickness"] * c
        disk = free_body(
            "disk", Cylinder(p["radius"], p["thickness"]), mass=p["mass"], position=(0.0, 0.0, height),
            rotation=axes, material=Material((p["friction"], p["friction"])),
        )  # fmt: skip
        return World(disk, ground=Plane(friction=p["friction"]), gravity=(0.0, 0.0, -GRAVITY))

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """In the steady motion: turning about the line from the rim to the centre."""
        p, rate = parameters, precession_rate(parameters)
        across = rate * math.sin(math.radians(p["tilt"]))
        return {"v": np.array([0, 0, 0, 0, across, across * 0.5 * p["thickness"] / p["radius"]])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Loss of the energy above that of the lying disk; how far tilt and centre wander."""
        p = parameters
        energy = run.kinetic + run.potential
        above_lying = energy[0] - p["mass"] * GRAVITY * 0.5 * p["thickness"]
        _, qx, qy, _ = run.q[:, 3:].T
        tilt = np.degrees(np.arccos(np.clip(1.0 - 2.0 * (qx * qx + qy * qy), -1.0, 1.0)))
        return {
            "rate": precession_rate(p),
            "loss": float((energy[0] - energy[-1]) / above_lying),
            "energy_error": float(np.abs(energy - energy[0]).max() / above_lying),
            "tilt_error": float(np.abs(tilt - p["tilt"]).max()),
            "centre_moved": float(np.linalg.norm(run.q[:, :2] - run.q[0, :2], axis=1).max()),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """The energy stays, to second order."""
        limit = SAFETY * run.steps * (metrics["rate"] * run.dt) ** 3
        return above("the relative change of the energy", metrics["energy_error"], limit)


def precession_rate(p: Values) -> float:
    """Ω [rad/s].

    Raises:
        BadInput: the disk would come to lie on its other face, or stand.
    """
    m, r, b, tilt = p["mass"], p["radius"], 0.5 * p["thickness"], math.radians(p["tilt"])
    s, c = math.sin(tilt), math.cos(tilt)
    A, C = m * (3.0 * r * r + 4.0 * b * b) / 12.0, 0.5 * m * r * r
    lever = m * GRAVITY * (r * c - b * s)
    stiffness = (A * c - C * s * b / r) * s
    if lever <= 0.0 or stiffness <= 0.0:
        raise BadInput(f"wobbling-disk: a disk tilted by {p['tilt']:g}° does not roll on this rim")
    return math.sqrt(lever / stiffness)
