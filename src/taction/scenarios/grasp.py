"""Grasp: two flat fingers squeeze a box and hold, lift or shake it; it slips exactly where it must.

A hand on a vertical rail carries two fingers on horizontal rails, boxes with faces of 6 × 6 cm, each pressed
with the force F against a box of 1 kg, 10 × 20 × 10 cm. Each finger touches with four corners, of which the
laws of contact leave open how they share F and the weight; and since friction is bounded by the share, not
even the motion is determined by them. The choice of a vanishing compliance (`taction.solvers.selection`)
loads symmetric corners alike, and then there is one answer.

Exact answers, with g' = g plus the largest acceleration of the hand upwards, m the mass, ±a, ±b the corners
of a finger and d the distance of its centre from the centre of mass, along y:

    d = 0:   held while 2 μ F ≥ m g'                                                                (1)
    d > 0:   held while the four corners, each with μ F / 4, can carry m g'/2 and the moment m g' d/2.
At that limit the box turns about a point at a distance s on the other side, and friction opposes that:
    Σ (s ± a)/ρ± · 2 μ F/4 = m g'/2,    Σ (b² + a (a ± s))/ρ± · 2 μ F/4 = m g' d/2,   ρ±² = (s ± a)² + b²
(2) whose quotient is one equation for s. Equal loads are the best: the set of loads that hold is convex and
symmetric to the face's axis.

`squeeze` is F in units of the least that (1) or (2) allows; `slip` the farthest that a point of the box, at
its centre of mass, moved against the hand [m]; `imbalance` the largest relative difference between loads of
corners (d = 0). Motions: ``hold``; ``lift``, 0.5 m in 2 s by a polynomial of fifth degree, then still;
``shake``, the same lift, then 3 mm at 5 Hz. The servo of the hand knows the weight and the acceleration; a
moving target is met one step late.

References: [Goyal1991] for the limit of combined force and moment; [Moreau1988].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction.control.tracking import Tracking
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.shapes import Box, Material
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
MASS, SIZE = 1.0, (0.1, 0.2, 0.1)  # of the box [kg, m]
FINGER, FINGER_MASS, HAND_MASS = (0.02, 0.06, 0.06), 0.1, 0.5  # [m, kg, kg]
STIFFNESS, DAMPING = 1e6, 2e3  # of the hand's servo [N/m, N s/m]
REACH = 2e-3  # how far inside the box the fingers' servos aim [m]
LIFT, LIFT_TIME = 0.5, 2.0  # [m, s]
SHAKE, FREQUENCY, RAMP = 3e-3, 5.0, 0.5  # [m, Hz, s]
MOTIONS = ("hold", "lift", "shake")
SLIP = 1e-6  # allowed [m]


class Grasp(ContactScenario):
    """See the module text."""

    name = "grasp"
    summary = "two flat fingers hold, lift and shake a box: it slips exactly where it must"
    source = "closed form of limit analysis"
    duration, dt = 1.0, 1e-3
    parameters = (
        Parameter(
            "squeeze", 1.05, "", "force of a finger over the least that holds", minimum=0.1, maximum=100.0
        ),
        Parameter("offset", 0.0, "m", "of the fingers from the centre of mass", minimum=0.0, maximum=0.05),
        Parameter("mu", 0.5, "", "coefficient of friction", minimum=0.05, maximum=2.0),
        Parameter("motion", "hold", "", "of the hand", choices=MOTIONS),
    )
    units = by_unit(
        {
            "m": "slip height",
            "rad": "rotation",
            "N": "least_force",
            "": "imbalance is_holding",
        }
    )

    def world(self, parameters: Values) -> World:
        """Fingers that touch the box."""
        surface = Material((parameters["mu"],) * 2)
        b = ModelBuilder("grasp")
        b.body("hand", Inertia.solid(Box((0.05, 0.05, 0.05)), mass=HAND_MASS))
        b.prismatic("rail", parent="world", child="hand", axis=(0, 0, 1))
        for name, side in (("left", -1.0), ("right", 1.0)):
            b.body(name, Inertia.solid(Box(FINGER), mass=FINGER_MASS))
            b.shape(name, Box(FINGER), material=surface, name=name)
            at = Transform(translation=np.array([side * 0.5 * (SIZE[0] + FINGER[0]), 0.0, 0.0]))
            b.prismatic(f"{name} slide", parent="hand", child=name, axis=(-side, 0, 0), pose=at)
        b.body("box", Inertia.solid(Box(SIZE), mass=MASS))
        b.shape("box", Box(SIZE), material=surface, name="box")
        b.floating("box free", child="box")
        return World(b.build())

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """The box beside the fingers, servos that carry the weight and press from the first step on."""
        motion, force = parameters["motion"], parameters["squeeze"] * least_force(parameters)
        q = world.model.q0.copy()
        q[world.model.joint("box free").iq + 1] = parameters["offset"]
        total = MASS + HAND_MASS + 2.0 * FINGER_MASS

        def reference(t: float) -> tuple[list[float], list[float]]:
            z, rate, acceleration = path(motion, t)
            return [z + total * (GRAVITY + acceleration) / STIFFNESS, REACH, REACH], [rate, 0.0, 0.0]

        gains = [STIFFNESS, force / REACH, force / REACH]
        joints = ("rail", "left slide", "right slide")
        return {"q": q, "controller": Tracking(world.model, reference, gains, [DAMPING, 0.0, 0.0], joints)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Slip and height [m], rotation [rad], loads."""
        joint, rail = run.model.joint("box free"), run.model.joint("rail").iq
        way = run.q[:, joint.iq : joint.iq + 3] - run.q[0, joint.iq : joint.iq + 3]
        height = run.q[:, rail] - run.q[0, rail]
        way[:, 2] -= height
        table = run.contacts
        assert table is not None
        loads = table.impulse[table.step == run.steps - 1, 0] / run.dt
        imbalance = float(np.ptp(loads) / loads.mean()) if len(loads) and parameters["offset"] == 0.0 else 0.0
        return {
            "slip": float(np.linalg.norm(way, axis=1).max()),
            "rotation": 2.0 * float(np.linalg.norm(run.q[:, joint.iq + 4 : joint.iq + 7], axis=1).max()),
            "height": float(height[-1]),
            "least_force": least_force(parameters),
            "imbalance": imbalance,
            "is_holding": parameters["squeeze"] >= 1.0,
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (2)."""
        T = float(run.t[-1] - run.t[0])
        if metrics["is_holding"]:
            return [
                *above("the slip of a box that is held", metrics["slip"], SLIP, "m"),
                *above("the imbalance of the corners' loads", metrics["imbalance"], 1e-6),
            ]
        lack = above("the slip that is missing", 1e-4 * T * T - float(metrics["slip"]), 0.0, "m")
        return lack if T >= 0.5 else []


def path(motion: str, t: float) -> tuple[float, float, float]:
    """Height [m], velocity and acceleration of the hand."""
    if motion == "hold":
        return 0.0, 0.0, 0.0
    x = min(t / LIFT_TIME, 1.0)
    z = LIFT * x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
    v = LIFT / LIFT_TIME * 30.0 * x * x * (1.0 - x) ** 2
    a = LIFT / LIFT_TIME**2 * 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
    if motion == "lift" or t <= LIFT_TIME:
        return z, v, a
    w, s = 2.0 * math.pi * FREQUENCY, t - LIFT_TIME
    y = min(s / RAMP, 1.0)  # amplitude, without a jump of acceleration
    A, B, C = y**3 * (10.0 - 15.0 * y + 6.0 * y * y), 30.0 * y * y * (1.0 - y) ** 2 / RAMP, 0.0
    C = 60.0 * y * (1.0 - y) * (1.0 - 2.0 * y) / RAMP**2
    sine, cosine = math.sin(w * s), math.cos(w * s)
    rate, acceleration = B * sine + A * w * cosine, C * sine + 2.0 * B * w * cosine - A * w * w * sine
    return z + SHAKE * A * sine if s else z, SHAKE * rate, SHAKE * acceleration


def largest_acceleration(motion: str) -> float:
    """Of the hand, upwards [m/s²]."""
    times = np.linspace(0.0, LIFT_TIME + 2.0, 40_001)
    return max(path(motion, float(t))[2] for t in times) if motion != "hold" else 0.0


def least_force(parameters: Values) -> float:
    """Of a finger, by (1) or (2) [N]."""
    weight = MASS * (GRAVITY + largest_acceleration(parameters["motion"]))
    a, b, d = 0.5 * FINGER[1], 0.5 * FINGER[2], parameters["offset"]
    if d == 0.0:
        return weight / (2.0 * parameters["mu"])

    def sums(s: float) -> tuple[float, float]:
        far, near = math.hypot(s + a, b), math.hypot(s - a, b)
        return (s + a) / far + (s - a) / near, (b * b + a * (a + s)) / far + (b * b + a * (a - s)) / near

    low, high = 0.0, 1e3 * a
    for _ in range(200):
        s = 0.5 * (low + high)
        force, moment = sums(s)
        low, high = (s, high) if moment > d * force else (low, s)
    return 0.5 * weight / (0.5 * parameters["mu"] * sums(low)[0])
