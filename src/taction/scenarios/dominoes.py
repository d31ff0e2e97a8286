"""Dominoes: a row of standing boxes; the first one, tilted past its balance, brings down all others.

Exact answers
1. Every domino ends tilted past its balance angle atan(thickness / height): once there it cannot come back.
2. They pass it one after the other, from the first to the last.
3. Nothing drives them, so energy never increases. A scheme of order 1 moves bodies with the velocity at the
   end of a step and books the weight at the mean velocity, so that a step in which a body's vertical velocity
   grows by Δv raises the sum by ½ m g h Δv at most, beyond the works of contacts, which are not positive. The
   rise that is allowed is therefore ½ g h Σ m max(Δv, 0), summed over bodies and steps; and, as what tips
   over leaves its balance at the rate ω = √(g / height) or so, (ω h)² of the kinetic energy by schemes of
   order 2.

The speed of the wave is reported: between the instants at which the second and the last domino pass their
balance. It has no closed form with sliding and repeated impacts.

References: [StewartTrinkle1996].
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.model.builder import free_body
from taction.model.shapes import Box, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]


class Dominoes(ContactScenario):
    """See the module text."""

    name = "dominoes"
    summary = "a row of dominoes brought down by the first: all fall in turn, energy never increases"
    source = "classical mechanics: energy and order of falling"
    duration, dt = 1.2, 1e-3
    parameters = (
        Parameter("count", 10, "", "number of dominoes", minimum=2, maximum=200),
        Parameter("spacing", 0.025, "m", "from one domino to the next, centre to centre", minimum=1e-3),
        Parameter("height", 0.05, "m", "of a domino", minimum=1e-3),
        Parameter("width", 0.025, "m", "of a domino, across the row", minimum=1e-3),
        Parameter("thickness", 0.0075, "m", "of a domino, along the row", minimum=1e-4),
        Parameter("mass", 0.01, "kg", "of a domino", minimum=1e-6),
        Parameter("friction", 0.5, "", "coefficient, everywhere", minimum=0.0),
        Parameter(
            "tilt", 1.2, "", "of the first one, in units of its balance angle", minimum=1.01, maximum=3.0
        ),
    )
    units = by_unit(
        {
            "rad": "largest_tilt",
            "m": "sideways",
            "m/s": "wave_speed",
            "": "count fallen energy_rise energy_rise_allowed in_turn",
        }
    )

    def world(self, parameters: Values) -> World:
        """A row along x."""
        p = parameters
        free = p["spacing"] - p["thickness"]
        if not 0.0 < free < 0.9 * p["height"]:
            raise BadInput(
                f"dominoes: spacing must lie between {p['thickness']:g} and "
                f"{p['thickness'] + 0.9 * p['height']:g} m, got {p['spacing']:g}"
            )
        angle = p["tilt"] * balance(p)
        if p["height"] * math.sin(angle) >= free:
            raise BadInput(
                "dominoes: the first one would touch the second; choose a larger spacing or less tilt"
            )
        surface = Material((p["friction"], p["friction"]))
        box = Box((p["thickness"], p["width"], p["height"]))
        out = []
        for i in range(p["count"]):
            s, c = (math.sin(angle), math.cos(angle)) if i == 0 else (0.0, 1.0)
            axes = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
            edge = np.array([0.5 * p["thickness"], 0.0, -0.5 * p["height"]])
            x, _, z = np.array([0.5 * p["thickness"] + i * p["spacing"], 0.0, 0.0]) - axes @ edge
            out.append(
                free_body(
                    f"domino{i}", box, mass=p["mass"], position=(x, 0.0, z), rotation=axes, material=surface
                )
            )
        return World(*out, ground=Plane(friction=p["friction"]), gravity=(0.0, 0.0, -GRAVITY))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """How many fell, when, and how much the energy ever rose, relative to the first domino's weight."""
        p = parameters
        angle = tilts(run.q)
        past = angle > balance(p)
        fallen = past[-1]
        energy = run.kinetic + run.potential
        rise = float((energy - np.minimum.accumulate(energy)).max())
        scale = p["mass"] * GRAVITY * p["height"]
        out: Metrics = {
            "count": float(p["count"]),
            "fallen": float(fallen.sum()),
            "energy_rise": rise / scale,
            "energy_rise_allowed": allowed_rise(run, p["mass"], p["height"]) / scale,
            "largest_tilt": float(angle.max()),
            "sideways": float(np.abs(run.q.reshape(len(run.t), -1, 7)[:, :, 1]).max()),
        }
        if fallen.all():
            instants = run.t[np.argmax(past, axis=0)]
            out["in_turn"] = bool((np.diff(instants[1:]) > 0.0).all())
            if p["count"] > 2 and instants[-1] > instants[1]:
                out["wave_speed"] = float((p["count"] - 2) * p["spacing"] / (instants[-1] - instants[1]))
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """All fall, in turn, and no energy is made; a run too short for the wave is judged by its energy."""
        found = above("the rise of the energy", metrics["energy_rise"], metrics["energy_rise_allowed"])
        is_over = float(run.kinetic[-1]) < 1e-3 * float(run.kinetic.max())
        if is_over and metrics["fallen"] < metrics["count"]:
            found.append(f"only {metrics['fallen']:.0f} of {metrics['count']:.0f} dominoes fell")
        if not metrics.get("in_turn", True):
            found.append("the dominoes did not fall in turn")
        return found


def balance(p: Values) -> float:
    """The angle at which the centre is above the edge [rad]."""
    return math.atan2(p["thickness"], p["height"])


def tilts(q: Array) -> Array:
    """Angles of the dominoes' long axes from the vertical [rad], shape (n + 1, count)."""
    _, _, _, _, x, y, _ = np.moveaxis(q.reshape(len(q), -1, 7), -1, 0)
    return np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))


def allowed_rise(run: Run, mass: float, height: float) -> float:
    """½ g h Σ m max(Δv_z, 0) over bodies and steps, and g h² / height of the kinetic energy [J]."""
    vertical = run.v.reshape(len(run.t), -1, 6)[:, :, 2]
    late = 0.5 * GRAVITY * run.dt * mass * np.maximum(np.diff(vertical, axis=0), 0.0).sum()
    return float(late + GRAVITY * run.dt**2 / height * run.kinetic.max())
