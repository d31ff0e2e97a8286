"""Pinched capsule: a rod held between two pads, far inside the friction cone, must not creep.

The scene of a bug report against a simulator with regularised friction: a capsule of radius 4 mm and 45 g
between two pads with μ = 0.7, pressed by 12 to 60 N: each pad alone could hold 19 to 95 times its weight of
0.44 N. There it sinks at 50 to 2 300 µm/s, and never stops. The pads are boxes on damped slides along x,
pushed by servos whose targets lie 2 mm inside the capsule, so their stiffness is force / 2 mm. The capsule is
free, horizontal (along y) as in the report, or vertical with ``axis=vertical``; gravity pulls it down along
the pads. Its length, 40 mm, and the pads' mass, 100 g, are ours.

Exact answers, with F the force of each pad:

    2 μ F ≥ m g:   the capsule never moves, and each pad carries F                          (1)

`creep_rate` is the mean speed of the capsule over the last half of the run [µm/s], `displacement` how far its
centre went [m]. What is left is the solver's tolerance. Less force than (1) needs is refused.

Departures: the load of a line contact may lie anywhere along the line, since the pads cannot tilt, so that
the step has many solutions. With the share s ≤ ½ of it at one end of a horizontal capsule, that end is held
only if 4 s μ F ≥ m g; otherwise it sinks about the other end, and this, too, satisfies every law of contact.
The compiled solver starts evenly enough (s = 0.42, kept from step to step) to hold from 1.2 times the least
force of (1) on; the forces of the report are 38 times as large or more. Lemke's method ends at a basic
solution, s = 0: under ``lcp`` the capsule swings down, and the check says so. A vertical capsule is held by
any share.

References: [MujocoPinchReport]; [Todorov2014] for the regularised model; [Moreau1988].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taction._core.errors import BadInput
from taction.control.pd import PD
from taction.math.transform import Transform, rotation_about
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.shapes import Box, Capsule, Material
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
RADIUS, LENGTH, MASS = 0.004, 0.04, 0.045  # of the capsule [m, m, kg]
PAD, PAD_MASS = (0.01, 0.08, 0.08), 0.1  # [m, kg]
SQUEEZE = 0.002  # of the servos' targets beyond the surface [m]
DAMPING = 10.0  # of the slides [N s/m]


class PinchedCapsule(ContactScenario):
    """See the module text."""

    name = "pinched-capsule"
    summary = "a capsule held between two pads, far inside the friction cone: it must not creep"
    source = "MuJoCo issue 3328"
    duration, dt = 10.0, 1e-3
    parameters = (
        Parameter("force", 30.0, "N", "of each pad", minimum=0.0, maximum=1e4),
        Parameter("mu", 0.7, "", "coefficient of friction", minimum=0.0),
        Parameter("axis", "horizontal", "", "of the capsule", choices=("horizontal", "vertical")),
    )
    units = by_unit(
        {
            "m": "displacement",
            "µm/s": "creep_rate",
            "rad": "rotation",
            "N": "load",
            "": "load_error margin",
        }
    )

    def world(self, parameters: Values) -> World:
        """Pads that touch the capsule."""
        force, mu = parameters["force"], parameters["mu"]
        if 2.0 * mu * force < MASS * GRAVITY:
            least = f"{MASS * GRAVITY / (2.0 * mu):.4g} N" if mu > 0.0 else "friction"
            raise BadInput(
                f"{self.name}: force {force:g} N cannot hold the capsule; at least {least} is needed"
            )
        surface = Material((mu, mu))
        b = ModelBuilder("pinched capsule")
        for name, side in (("left", -1.0), ("right", 1.0)):
            b.body(name, Inertia.solid(Box(PAD), mass=PAD_MASS))
            b.shape(name, Box(PAD), material=surface, name=name)
            at = Transform(translation=np.array([side * (RADIUS + 0.5 * PAD[0]), 0.0, 0.0]))
            b.prismatic(
                f"{name} slide", parent="world", child=name, axis=(-side, 0, 0), pose=at, damping=DAMPING
            )
        shape = Capsule(RADIUS, LENGTH)
        turn = rotation_about([1.0, 0.0, 0.0], 0.5 * np.pi * (parameters["axis"] == "horizontal"))
        b.body("capsule", Inertia.solid(shape, mass=MASS).placed(Transform(turn)))
        b.shape("capsule", shape, Transform(turn), material=surface, name="capsule")
        b.floating("capsule free", child="capsule")
        return World(b.build())

    def start(self, parameters: Values, world: World) -> dict[str, Any]:
        """Servos that press with the force from the first step on."""
        slides = ("left slide", "right slide")
        return {"controller": PD(kp=parameters["force"] / SQUEEZE, target=[SQUEEZE, SQUEEZE], joints=slides)}

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Ways [m], creep [µm/s], rotation [rad] and loads of the pads."""
        joint = run.model.joint("capsule free")
        at = run.q[:, joint.iq : joint.iq + 3]
        half = run.steps // 2
        span = float(run.t[-1] - run.t[half])
        load = run.contact_forces()["left"][:, 0]
        force = parameters["force"]
        return {
            "displacement": float(np.linalg.norm(at[-1] - at[0])),
            "creep_rate": 1e6 * float(np.linalg.norm(at[-1] - at[half])) / span,
            "rotation": 2.0 * float(np.linalg.norm(run.q[-1, joint.iq + 4 : joint.iq + 7])),
            "load": float(-load.mean()),
            "load_error": float(np.abs(load + force).max()) / force,
            "margin": 2.0 * parameters["mu"] * force / (MASS * GRAVITY),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equation (1)."""
        # the weight is what pulls; the pads' own free velocities are larger, so this is stricter than need be
        T, creep = float(run.t[-1] - run.t[0]), creep_speed(run, GRAVITY)
        force = PAD_MASS * creep_speed(run, metrics["load"] / PAD_MASS + GRAVITY) / run.dt
        return [
            *above("the displacement of the capsule", metrics["displacement"], creep * T, "m"),
            *above("the creep of the capsule", metrics["creep_rate"], 1e6 * creep, "µm/s"),
            *above("the rotation of the capsule", metrics["rotation"], creep * T / RADIUS, "rad"),
            *above("the relative error of the pads' load", metrics["load_error"], force / metrics["load"]),
        ]
