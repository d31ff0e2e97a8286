"""Pendulum against a stop: a ball on a massless rod swings against a wall, or against the stop of its joint.

Exact answers, with I = m l² + ⅖ m R² about the hinge, released at rest at −α and stopped at the angle β:

    speed at the first hit      ω₁ = √(2 m g l (cos β − cos α) / I)                                  (1)
    after every hit             ω⁺ = −e ω⁻      (Newton's law; the wall has no friction)             (2)
    speed at hit n              ω_n = eⁿ⁻¹ ω₁: what it leaves with, it comes back with               (3)
    e = 1                       energy is constant; e = 0: it stops dead, and stays if β ≤ 0

A joint's stop has e = 0.

With Moreau's rule the swing is the Störmer–Verlet method: order 2, symmetric in time and symplectic; its
energy error stays below S (ω h)² for all times, ω the largest of ω₁ and √(m g l / I), S = 10. A hit is
noticed in the step whose midpoint is closed and turns (q, ω) into (q, −ω) for e = 1: (2) holds to rounding.
The speed at a hit is read where the step finds the pendulum, within half a step of β, where the weight
accelerates it by m g l sin β / I: (1) and (3) hold to S (ω h)² + h m g l |sin β| / (I ω₁) for the first hit
and, for e < 1, to one more such reading and to the play of ½ h ω in the angle for every hit before. Other
schemes have order 1: S ω h per swing. A pendulum at rest is held to the nanometre that the position
correction leaves; only the rule of Anitescu and Potra, which knows no gaps, stops it up to h ω₁ short of β,
from where it falls again.

References: [Moreau1988]; [HairerLubichWanner2006].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.shapes import Material, Plane, Shape, Sphere
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import SAFETY
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
ROUNDING = 1e-10  # relative: a step's impulse is solved to better than this
CLOSED = 2e-9  # the position correction leaves a nanometre, or a nanoradian at a joint, on either side


class PendulumImpact(ContactScenario):
    """See the module text."""

    name = "pendulum-impact"
    summary = "a pendulum swinging against a wall or a joint's stop: speed after each hit, energy"
    source = "classical mechanics: Newton's law of restitution"
    duration, dt, stepper = 3.0, 1e-3, "moreau"
    parameters = (
        Parameter(
            "restitution", 1.0, "", "Newton's coefficient; 0 with a joint's stop", minimum=0.0, maximum=1.0
        ),
        Parameter("stop", "wall", "", "what stops it", choices=("wall", "joint")),
        Parameter("release", 1.0, "rad", "angle of release, on the other side", minimum=1e-2, maximum=3.0),
        Parameter("angle", 0.0, "rad", "at which it is stopped", minimum=-1.4, maximum=1.4),
        Parameter("length", 0.5, "m", "from the hinge to the centre of the ball", minimum=1e-2),
        Parameter("radius", 0.05, "m", "of the ball", minimum=1e-3),
        Parameter("mass", 1.0, "kg", "of the ball", minimum=1e-6),
    )
    units = by_unit(
        {
            "rad/s": "speed_exact",
            "rad": "angle_limit angle_error",
            "": "hits sway reading restitution_error speed_error energy_error rest_error rest_limit",
        }
    )

    def world(self, parameters: Values) -> World:
        """A pendulum that swings towards x, and a wall that faces it."""
        p = parameters
        if abs(p["angle"]) >= p["release"]:
            raise BadInput(
                f"{self.name}: it never reaches {p['angle']:g} rad from a release at {-p['release']:g} rad"
            )
        is_joint = p["stop"] == "joint"
        if is_joint and p["restitution"] != 0.0:
            raise BadInput(f"{self.name}: a joint's stop has no restitution; set restitution=0")
        ball, at = Sphere(p["radius"]), Transform(translation=np.array([0.0, 0.0, -p["length"]]))
        b = ModelBuilder("pendulum", gravity=(0.0, 0.0, -GRAVITY))
        surface = Material((0.0, 0.0), p["restitution"])
        shape = Shape(ball, at, surface, "ball", collides=not is_joint)
        b.body("bob", Inertia.solid(ball, mass=p["mass"]).placed(at), [shape])
        limit = p["angle"] if is_joint else math.inf
        b.revolute("hinge", parent="world", child="bob", axis=(0.0, -1.0, 0.0), upper=limit)
        if not is_joint:
            # normal −x: the wall's z-axis
            axes = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
            x = p["length"] * math.sin(p["angle"]) + p["radius"]
            b.shape("world", Plane(), Transform(axes, np.array([x, 0.0, 0.0])), material=surface, name="wall")
        return World(b.build())

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """At rest at the angle of release."""
        return {"q": np.array([-parameters["release"]])}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Relative errors of speeds before and after hits, and of the energy at e = 1."""
        p, e = parameters, parameters["restitution"]
        first, pull = hit_speed(p), lever(p)
        v, q, h = run.v[:, 0], run.q[:, 0], run.dt
        sway = SAFETY * (max(first, math.sqrt(pull)) * h) ** 2
        hits, after = hit_steps(v, pull * h)
        speeds = v[hits]
        expected = first * e ** np.arange(len(hits))
        # what a reading half a step off, and the play of the angle, do to the speed
        reading = h * pull * (abs(math.sin(p["angle"])) + h * first)
        clear = expected > 20.0 * h * pull
        out: Metrics = {
            "hits": float(len(hits)),
            "speed_exact": first,
            "sway": sway,
            "reading": reading / first,
        }
        if len(hits):
            out["restitution_error"] = float(np.abs(v[after] + e * speeds)[clear].max(initial=0.0)) / first
            out["speed_error"] = float(np.abs(speeds - expected)[clear].max(initial=0.0)) / first
        if e == 1.0:
            energy = run.kinetic + run.potential
            out["energy_error"] = float(np.abs(energy - energy[0]).max()) / float(energy[0] - bottom(p))
        if e == 0.0 and len(hits) and p["angle"] <= 0.0:
            # hanging down it may swing by what the position correction leaves; on its stop it rests
            out["angle_limit"] = CLOSED * (1.0 + 1.0 / p["length"])
            swing = pull * h * first * (abs(math.sin(p["angle"])) + h * first)
            # the velocity-level rule stops it short of the stop by a step's way, from where it falls again
            short = run.integrator == "anitescu-potra"
            out["angle_limit"] += pull * h * h if short else 0.0
            out["rest_error"] = float(np.abs(v[after[0] :]).max()) / first
            out["rest_limit"] = (
                math.sqrt(pull) * out["angle_limit"] + math.sqrt(2.0 * swing) * short
            ) / first
            out["angle_error"] = float(abs(q[-1] - p["angle"]))
        return out

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Newton's law at every hit, speeds by the energy, and what is constant."""
        is_moreau = run.integrator == "moreau"
        swings = metrics["hits"] + 1.0
        coarse = 0.0 if is_moreau else swings * math.sqrt(SAFETY * metrics["sway"])
        found: list[str] = []
        if "speed_error" in metrics:
            limit = metrics["sway"] + 2.0 * swings * metrics["reading"] + coarse
            found += above("the relative error of the speed at a hit", metrics["speed_error"], limit)
            law = ROUNDING if is_moreau else coarse
            found += above("the relative error of the speed after a hit", metrics["restitution_error"], law)
        if "energy_error" in metrics:
            found += above("the relative energy error", metrics["energy_error"], metrics["sway"] + coarse)
        if "rest_error" in metrics:
            found += above("the relative speed of rest", metrics["rest_error"], metrics["rest_limit"])
            found += above(
                "the angle from its stop at rest", metrics["angle_error"], metrics["angle_limit"], "rad"
            )
        return found


def lever(p: Values) -> float:
    """The ratio m g l / I [1/s²]."""
    return GRAVITY * p["length"] / (p["length"] ** 2 + 0.4 * p["radius"] ** 2)


def bottom(p: Values) -> float:
    """Potential energy at the lowest point [J]."""
    return -float(p["mass"] * GRAVITY * p["length"])


def hit_speed(p: Values) -> float:
    """ω₁ of equation (1) [rad/s]."""
    return math.sqrt(2.0 * lever(p) * (math.cos(p["angle"]) - math.cos(p["release"])))


def hit_steps(v: Array, change: float) -> tuple[IntArray, IntArray]:
    """Indices into v (n + 1,) before and after each hit: it slows by more than twice a ``change`` [rad/s].

    A scheme that closes the gap in one step and stops in the next makes one hit of two steps.
    """
    k = np.flatnonzero((v[:-1] > 0.0) & (v[1:] - v[:-1] < -2.0 * change)).astype(np.int64)
    is_first = np.diff(k, prepend=-2) > 1
    is_last = np.append(is_first[1:], True)[: len(k)]
    return k[is_first], k[is_last] + 1
