"""Double pendulum: two links in the xz-plane, hinged to the world and to each other.

Source: the forward-dynamics example of [BhargavaReport, Section 3.1 and Figure 4], which gives no numbers;
1 kg and 1 m per link are ours.

Geometry: both links hang straight down at q = 0. The joints turn about +y, so with q_1 the angle of the
first link and q_2 that of the second relative to the first, the ends are at

    p_1 = (−l_1 sin q_1, 0, −l_1 cos q_1),   p_2 = p_1 + (−l_2 sin(q_1 + q_2), 0, −l_2 cos(q_1 + q_2)).

Choices: the links are slender uniform rods (m l²/12 across, nothing about their own axis), or, with
``point_masses``, massless rods with all mass at the end, which is the chaotic system of the textbooks.
Either way the model has exactly the moments of the closed form; the radius only gives the shapes a
thickness.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.errors import ModelError
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Capsule, Sphere
from taction.model.spec import WORLD
from taction.robots._parts import GRAVITY, require_not_negative, require_positive, robot_shape


def double_pendulum(
    *,
    masses: Sequence[float] = (1.0, 1.0),
    lengths: Sequence[float] = (1.0, 1.0),
    point_masses: bool = False,
    radius: float = 0.02,
    damping: float = 0.0,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Two-link pendulum: bodies ``upper`` and ``lower``, joints ``shoulder`` and ``elbow``.

    Args:
        masses: of the upper and the lower link [kg].
        lengths: of the upper and the lower link [m].
        point_masses: put each mass at the end of its link, in place of a uniform rod.
        radius: radius of the shapes [m]: the rods, and balls of 2.5 times that for point masses.
        damping: viscous friction of both joints [N m s/rad].
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    if len(masses) != 2 or len(lengths) != 2:
        raise ModelError(f"double_pendulum: two masses and two lengths, got {len(masses)} and {len(lengths)}")
    b = ModelBuilder("double_pendulum", gravity=gravity)
    require_positive(radius=radius)
    require_not_negative(damping=damping)
    parent, pose = WORLD, Transform()
    names = (("upper", "shoulder"), ("lower", "elbow"))
    for (body, joint), mass, length in zip(names, masses, lengths, strict=True):
        require_positive(**{f"{body} mass": mass, f"{body} length": length})
        across = 0.0 if point_masses else mass * length**2 / 12
        com = np.array([0.0, 0.0, -length if point_masses else -0.5 * length])
        shapes = [robot_shape(Capsule(radius, length), (0.0, 0.0, -0.5 * length), collides=not point_masses)]
        if point_masses:
            shapes.append(robot_shape(Sphere(2.5 * radius), (0.0, 0.0, -length)))
        b.body(body, Inertia(mass, com, np.diag([across, across, 0.0])), shapes)
        b.revolute(joint, parent=parent, child=body, pose=pose, axis=(0.0, 1.0, 0.0), damping=damping)
        parent, pose = body, Transform.from_rpy((0.0, 0.0, -length))
    return b.build()
