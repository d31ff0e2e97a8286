"""`ModelBuilder`: describe a mechanism in Python, body by body.

>>> import taction as ta
>>> b = ta.ModelBuilder("pendulum")
>>> rod = b.body("rod", inertia=ta.Inertia.solid(ta.Cylinder(0.01, 1.0), mass=1.0))
>>> hinge = b.revolute("hinge", parent="world", child=rod, axis=(0, 1, 0),
...                    child_pose=ta.Transform(translation=(0, 0, 0.5)))
>>> b.build().nv
1
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import as_float
from taction._core.errors import ModelError
from taction._core.expect import instance, number, numbers, sequence
from taction._core.names import instead
from taction._core.show import count, rows, some
from taction.math.transform import Transform, quaternion_from_rotation
from taction.model.compile import compile_model
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.shapes import Geometry, Material, Shape
from taction.model.spec import WORLD, ActuatorSpec, BodySpec, JointSpec, LoopSpec, ModelSpec
from taction.model.visual import MeshFile, Visual


class ModelBuilder:
    """Collects bodies and joints into a `ModelSpec`; `build` validates and compiles it."""

    def __init__(
        self, name: str = "model", *, gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    ) -> None:
        instance(name, str, "the name of a model", ModelError)
        self.spec = ModelSpec(name=name, gravity=numbers(gravity, 3, "gravity", ModelError))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        spec = self.spec
        return rows(
            f"<ModelBuilder {spec.name!r}>",
            f"bodies: {some(body.name for body in spec.bodies) or 'none'}",
            f"joints: {some(joint.name for joint in spec.joints) or 'none'}",
            f"ground: {count(spec.ground, 'shape')}" if spec.ground else "",
        )

    def body(self, name: str, inertia: Inertia | None = None, shapes: list[Shape] | None = None) -> str:
        """Add a body; returns its name. A body without inertia is allowed inside a chain."""
        instance(name, str, "the name of a body", ModelError)
        if inertia is not None:
            instance(inertia, Inertia, f"inertia of body {name!r}", ModelError)
        placed = sequence(shapes or [], f"shapes of body {name!r}", ModelError)
        for shape in placed:
            instance(shape, Shape, f"each shape of body {name!r}", ModelError)
        self.spec.bodies.append(BodySpec(name, inertia or Inertia(), placed))
        return name

    def shape(self, body: str, geometry: Geometry, pose: Transform | None = None, **options: Any) -> None:
        """Attach a collision shape to a body (or to ``"world"``); options are those of `Shape`."""
        shape = Shape(geometry, pose or Transform(), options.pop("material", Material()), **options)
        if body == WORLD:
            self.spec.ground.append(shape)
        else:
            self.spec.body(body).shapes.append(shape)

    def visual(self, body: str, geometry: Geometry | MeshFile, **options: Any) -> None:
        """Say what a body (or ``"world"``) looks like; options are the fields of `Visual`."""
        visual = Visual(geometry, **options)
        if body == WORLD:
            self.spec.ground_visuals.append(visual)
        else:
            self.spec.body(body).visuals.append(visual)

    def joint(self, name: str, kind: JointKind | str, *, parent: str, child: str, **options: Any) -> str:
        """Add a joint of any kind; options are the fields of `JointSpec`. Returns its name."""
        for what, text in (("name", name), ("parent", parent), ("child", child)):
            instance(text, str, f"the {what} of joint {name!r}", ModelError)
        known = [f.name for f in fields(JointSpec)]
        for option in options:
            if option not in known:
                raise ModelError(f"joint {name!r}: no option {option!r}; {instead(option, known)}")
        for what in ("pose", "child_pose"):
            instance(options.get(what, Transform()), Transform, f"{what} of joint {name!r}", ModelError)
        try:
            self.spec.joints.append(JointSpec(name, JointKind(kind), parent, child, **options))
        except ValueError:
            kinds = ", ".join(k.value for k in JointKind)
            raise ModelError(f"joint {name!r}: unknown kind {kind!r}; choose from {kinds}") from None
        return name

    def fixed(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Weld the child to the parent."""
        return self.joint(name, JointKind.FIXED, parent=parent, child=child, **options)

    def revolute(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Rotation about ``axis``."""
        return self.joint(name, JointKind.REVOLUTE, parent=parent, child=child, **options)

    def prismatic(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Translation along ``axis``."""
        return self.joint(name, JointKind.PRISMATIC, parent=parent, child=child, **options)

    def universal(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Cardan joint: rotation about ``axis``, then about ``axis2``."""
        return self.joint(name, JointKind.UNIVERSAL, parent=parent, child=child, **options)

    def cylindrical(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Sliding along ``axis`` and turning about it."""
        return self.joint(name, JointKind.CYLINDRICAL, parent=parent, child=child, **options)

    def spherical(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Ball joint."""
        return self.joint(name, JointKind.SPHERICAL, parent=parent, child=child, **options)

    def planar(self, name: str, *, parent: str, child: str, **options: Any) -> str:
        """Motion in the joint frame's xy-plane."""
        return self.joint(name, JointKind.PLANAR, parent=parent, child=child, **options)

    def floating(self, name: str, *, child: str, parent: str = WORLD, **options: Any) -> str:
        """Six free degrees of freedom (a floating base or a free object)."""
        return self.joint(name, JointKind.FLOATING, parent=parent, child=child, **options)

    def actuator(self, name: str, joint: str = "", **options: Any) -> str:
        """Add an actuator; options are the fields of `ActuatorSpec`. Returns its name."""
        self.spec.actuators.append(ActuatorSpec(name, joint, **options))
        return name

    def loop(self, name: str, body: str, other: str, **options: Any) -> str:
        """Close a kinematic loop; options are the fields of `LoopSpec`. Returns its name."""
        self.spec.loops.append(LoopSpec(name, body, other, **options))
        return name

    def build(self) -> Model:
        """Validate and compile.

        Raises:
            ModelError: the description is not a well-formed physical mechanism.
        """
        if not self.spec.bodies:
            raise ModelError(f"{self.spec.name}: there are no bodies")
        return compile_model(self.spec)


def free_body(
    name: str,
    geometry: Geometry,
    *,
    mass: float,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    rotation: ArrayLike | None = None,
    material: Material | None = None,
    inertia: Inertia | None = None,
) -> Model:
    """A rigid body that moves freely: one shape, with the inertia of a homogeneous solid.

    Args:
        name: of the model and of its body.
        geometry: its shape, about the body's origin.
        mass: [kg].
        position: of its origin [m].
        rotation: body axes in the world, shape (3, 3); the world's own by default.
        material: of its surface.
        inertia: instead of the homogeneous solid's.
    """
    instance(name, str, "the name of a body", ModelError)
    instance(geometry, Geometry, "the shape of a body", ModelError, "a Box, a Sphere or the like")
    mass = number(mass, f"the mass of {name!r}", ModelError)
    if inertia is not None:
        instance(inertia, Inertia, f"the inertia of {name!r}", ModelError)
    if material is not None:
        instance(material, Material, f"the material of {name!r}", ModelError)
    position = numbers(position, 3, f"the position of {name!r}", ModelError)  # type: ignore[assignment]
    if rotation is not None:
        rotation = as_float(rotation, (3, 3), f"the rotation of {name!r}")
    b = ModelBuilder(name)
    solid = Inertia.solid(geometry, mass=mass) if inertia is None else inertia
    b.body(name, solid, [Shape(geometry, Transform(), material or Material(), name)])
    quaternion = (1.0, 0.0, 0.0, 0.0) if rotation is None else quaternion_from_rotation(rotation)
    b.floating(f"{name} free", child=name, initial=np.array([*position, *quaternion]))
    return b.build()
