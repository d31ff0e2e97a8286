"""The example of the notes on predictive control: a free puck between two pushers, all on one line.

Coordinates: q₁ the puck, q₂ the right pusher, counted from the right, q₃ the left one. With balls of radius r
the gaps are

    f₁ = d_max − o₁ − q₁ − q₂,      f₂ = q₁ − q₃ − d_min − o₂,      o₁ = o₂ = 2 r.

References: [CorrectionsNote, Section 1].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.errors import ModelError
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Material, Shape, Sphere
from taction.model.spec import WORLD
from taction.robots._parts import require_positive


def pushers(
    *,
    masses: Sequence[float] = (1.0, 1.0, 1.0),
    radius: float = 0.05,
    d_min: float = -1.0,
    d_max: float = 1.0,
) -> Model:
    """Bodies and joints ``puck``, ``right``, ``left``: balls that slide along x, no gravity, no friction.

    The pushers never touch each other: the puck is between them.

    Args:
        masses: of the puck, the right and the left pusher [kg].
        radius: of all three [m].
        d_min: where the left pusher is with q₃ = 0 [m].
        d_max: where the right pusher is with q₂ = 0 [m].

    Raises:
        ModelError: a number is out of range.
    """
    if len(masses) != 3:
        raise ModelError(f"pushers: three masses, got {len(masses)}")
    require_positive(radius=radius, way=d_max - d_min - 4.0 * radius)
    b = ModelBuilder("pushers", gravity=(0.0, 0.0, 0.0))
    slick = Material(friction=(0.0, 0.0))
    for name, mass, axis, x in zip(
        ("puck", "right", "left"), masses, (1.0, -1.0, 1.0), (0.0, d_max, d_min), strict=True
    ):
        require_positive(**{f"{name} mass": mass})
        turning = 0.4 * mass * radius**2 * np.eye(3)
        b.body(name, Inertia(mass, np.zeros(3), turning), [Shape(Sphere(radius), material=slick)])
        b.prismatic(
            name, parent=WORLD, child=name, axis=(axis, 0.0, 0.0), pose=Transform.from_rpy((x, 0.0, 0.0)),
            effort=0.0 if name == "puck" else np.inf,
        )  # fmt: skip
    b.spec.exclude.append(("right", "left"))
    return b.build()
