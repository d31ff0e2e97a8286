"""Stack of boxes: it stands, and every box carries exactly what is above it.

Cubes of 0.2 m on level ground. Masses grow geometrically from 1 kg at the bottom to ``mass_ratio`` kg at the
top, so ``mass_ratio`` is that of the heaviest to the lightest, heavy on light if above 1, the hard order for
iterative solvers.

Exact answers, with boxes counted from the bottom:

    nothing moves or turns                                                                  (1)
    Σ Λ_N under box k  =  h g (m_k + m_{k+1} + …)                                           (2)

How the four corners of a box share the load is not unique; the sums are. `force_error` is the relative error
of the ground's, `load_error` the worst of all interfaces, over all steps. `displacement` is the largest of
any box [m], `tilt` the largest angle [rad]. Source: ours.

References: [Moreau1988]; [AcaryBremondHuber2018] for stacks as test problems.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.model.builder import free_body
from taction.model.shapes import Box, Material, Plane
from taction.scenarios.base import ContactScenario, Metrics, Values, above
from taction.scenarios.metric_units import by_unit
from taction.scenarios.parameter import Parameter
from taction.scenarios.tolerance import creep_speed
from taction.sim.run import Run
from taction.sim.world import World

GRAVITY = 9.81  # [m/s²]
EDGE = 0.2  # of a box [m]
FRICTION = 0.5


class BoxStack(ContactScenario):
    """See the module text."""

    name = "box-stack"
    summary = "a stack of boxes, heavy on light: it stands, and the loads are the weights"
    source = "ours: statics"
    duration, dt = 2.0, 1e-3
    parameters = (
        Parameter("boxes", 10, "", "number of boxes", minimum=1, maximum=100),
        Parameter(
            "mass_ratio",
            1.0,
            "",
            "mass of the top box over that of the bottom box",
            minimum=1e-6,
            maximum=1e6,
        ),
    )
    units = by_unit(
        {
            "m": "displacement",
            "rad": "tilt",
            "": "force_error load_error",
        }
    )

    def world(self, parameters: Values) -> World:
        """Boxes on top of each other."""
        surface = Material((FRICTION, FRICTION))
        boxes = [
            free_body(
                f"box{k}",
                Box((EDGE,) * 3),
                mass=float(m),
                position=(0.0, 0.0, (k + 0.5) * EDGE),
                material=surface,
            )
            for k, m in enumerate(masses(parameters["boxes"], parameters["mass_ratio"]))
        ]
        return World(*boxes, ground=Plane(friction=FRICTION))

    def metrics(self, run: Run, parameters: Values) -> Metrics:
        """Ways [m], tilt [rad] and relative errors of the loads."""
        q = run.q.reshape(len(run.q), parameters["boxes"], 7)
        way = np.linalg.norm(q[:, :, :3] - q[0, :, :3], axis=2)
        tilt = 2.0 * np.arcsin(np.minimum(np.linalg.norm(q[:, :, 4:], axis=2), 1.0))
        error = load_errors(run, masses(parameters["boxes"], parameters["mass_ratio"]))
        return {
            "displacement": float(way.max()),
            "tilt": float(tilt.max()),
            "force_error": float(error[:, 0].max()),
            "load_error": float(error.max()),
        }

    def violations(self, metrics: Metrics, run: Run) -> list[str]:
        """Equations (1) and (2)."""
        T, creep = float(run.t[-1] - run.t[0]), creep_speed(run, GRAVITY)
        boxes = run.model.nv // 6
        # each box creeps against the one below
        return [
            *above("the displacement of a box", metrics["displacement"], boxes * creep * T, "m"),
            *above("the tilt of a box", metrics["tilt"], boxes * creep * T / EDGE, "rad"),
            *above("the relative error of the ground's load", metrics["force_error"], 1e-8 * boxes),
            *above("the relative error of a load", metrics["load_error"], 1e-8 * boxes),
        ]


def masses(boxes: int, ratio: float) -> Array:
    """Masses from bottom to top [kg], shape (boxes,)."""
    return ratio ** (np.arange(boxes) / max(boxes - 1, 1))


def load_errors(run: Run, mass: Array) -> Array:
    """Relative error of the load under each box in each step, shape (steps, boxes)."""
    table = run.contacts
    assert table is not None and run.world is not None
    owner = np.maximum(run.world.shape_body[table.key[:, 0]], run.world.shape_body[table.key[:, 1]])
    load = np.zeros((run.steps, len(mass)))
    np.add.at(load, (table.step, owner), table.impulse[:, 0])
    weight = run.dt * GRAVITY * np.cumsum(mass[::-1])[::-1]
    return np.abs(load / weight - 1.0)
