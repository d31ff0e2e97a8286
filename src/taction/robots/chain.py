"""Serial chain of n equal links from a fixed base: the yardstick of the scaling benchmark.

Source: ours. A link is a solid cylinder of 0.3 m, 0.1 m across and 1 kg (420 kg/m³, the density of a robot
arm with its motors), so that n = 6 or 7 is about a table-top arm.

Geometry: the chain hangs along −z at q = 0; each body's frame is at its joint. The joint axes repeat a
cycle, by default y, x, y, x, …: bending in both planes at every second joint, so that the motion is truly
spatial and no algorithm can profit from parallel axes. ``axes=[(0, 1, 0)]`` gives the planar chain.
"""

from __future__ import annotations

from collections.abc import Sequence

from taction._core.errors import ModelError
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Cylinder, Material
from taction.model.spec import WORLD
from taction.robots._parts import GRAVITY, require_count, require_not_negative, require_positive, robot_shape

ALTERNATING = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0))


def chain(
    n: int,
    *,
    length: float = 0.3,
    radius: float = 0.05,
    mass: float = 1.0,
    axes: Sequence[tuple[float, float, float]] = ALTERNATING,
    damping: float = 0.0,
    armature: float = 0.0,
    friction: float = 0.5,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Chain of ``n`` links: bodies ``link1`` …, revolute joints ``joint1`` … (n freedoms).

    Args:
        n: number of links, at least 1.
        length: of one link, joint to joint [m].
        radius: of one link [m].
        mass: of one link [kg].
        axes: joint axes, repeated in a cycle.
        damping: viscous friction of each joint [N m s/rad].
        armature: rotor inertia of each joint [kg m²].
        friction: Coulomb coefficient of the links' surface.
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_count(n=n)
    require_positive(length=length, radius=radius, mass=mass)
    require_not_negative(damping=damping, armature=armature)
    if not len(axes):
        raise ModelError("chain: give at least one joint axis")
    b = ModelBuilder(f"chain{n}", gravity=gravity)
    solid, middle = Cylinder(radius, length), Transform.from_rpy((0.0, 0.0, -0.5 * length))
    inertia = Inertia.solid(solid, mass=mass).placed(middle)
    parent, pose = WORLD, Transform()
    for i in range(n):
        shape = robot_shape(solid, middle, material=Material(friction=(friction, friction)))
        child = b.body(f"link{i + 1}", inertia, [shape])
        b.revolute(
            f"joint{i + 1}",
            parent=parent,
            child=child,
            pose=pose,
            axis=axes[i % len(axes)],
            damping=damping,
            armature=armature,
        )
        parent, pose = child, Transform.from_rpy((0.0, 0.0, -length))
    return b.build()
