"""`ModelSpec`: a robot, or a whole world of them, exactly as the user wrote it.

Bodies hang in a tree from ``"world"``: each body has one joint to its parent. Frames:

    X_parent,child(q) = joint.pose · X_J(q) · joint.child_pose⁻¹

`pose` places the joint frame in the parent body, `child_pose` places it in the child body (identity in
URDF, where the child frame is the joint frame). Axes are given in the joint frame.

Kinds of joints and their coordinates: `taction.model.joints`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.show import brief_repr
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.shapes import Shape

WORLD = "world"


@dataclass
class Mimic:
    """Coupling q = multiplier · q_of(joint) + offset of one single-coordinate joint to another."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass
class JointSpec:
    """A joint between two bodies; values per degree of freedom are one number or nv of them.

    Attributes:
        name: unique name.
        kind: what it allows.
        parent: name of the parent body, or ``"world"``.
        child: name of the child body.
        pose: joint frame in the parent body.
        child_pose: joint frame in the child body.
        axis: rotation or sliding axis in the joint frame; first axis of a universal joint.
        axis2: second axis of a universal joint, in the joint frame at q = 0.
        lower: lower limits [rad or m], −inf where free.
        upper: upper limits [rad or m], +inf where free.
        effort: largest actuator force [N or N m].
        max_velocity: largest speed [m/s or rad/s].
        damping: viscous friction [N s/m or N m s/rad].
        friction: Coulomb friction, largest force or torque [N or N m].
        armature: rotor inertia seen at the joint [kg or kg m²].
        stiffness: spring towards ``rest`` [N/m or N m/rad].
        rest: spring rest position [m or rad].
        initial: position coordinates of the neutral configuration; None for zeros and unit quaternions.
        mimic: coupling to another joint.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    pose: Transform = field(default_factory=Transform)
    child_pose: Transform = field(default_factory=Transform)
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    axis2: tuple[float, float, float] = (0.0, 1.0, 0.0)
    lower: float | Array = -np.inf
    upper: float | Array = np.inf
    effort: float | Array = np.inf
    max_velocity: float | Array = np.inf
    damping: float | Array = 0.0
    friction: float | Array = 0.0
    armature: float | Array = 0.0
    stiffness: float | Array = 0.0
    rest: float | Array = 0.0
    initial: Array | None = None
    mimic: Mimic | None = None

    __repr__ = brief_repr


@dataclass
class BodySpec:
    """A rigid body: its inertia and shapes in its own frame."""

    name: str
    inertia: Inertia = field(default_factory=Inertia)
    shapes: list[Shape] = field(default_factory=list)

    __repr__ = brief_repr


@dataclass
class LoopSpec:
    """The closure of a kinematic loop: two frames on two bodies that stay together.

    Attributes:
        name: unique name.
        body: name of the first body, or ``"world"``.
        other: name of the second body, or ``"world"``.
        pose: frame on the first body.
        other_pose: frame on the second body.
        kind: ``"point"`` (origins coincide), ``"hinge"`` (origins and z-axes) or ``"weld"`` (everything).
    """

    name: str
    body: str
    other: str
    pose: Transform = field(default_factory=Transform)
    other_pose: Transform = field(default_factory=Transform)
    kind: str = "point"

    __repr__ = brief_repr


@dataclass
class PairSpec:
    """Two shapes that touch whatever their groups, joints and exclusions say.

    Attributes:
        shape: key of one of them, `Shape.key`.
        other: key of the other.
        friction: coefficient of the pair.
    """

    shape: str
    other: str
    friction: float = 1.0


@dataclass
class ActuatorSpec:
    """An actuator on a single-coordinate joint: force = gear·clip(u) for a motor, a servo otherwise.

    Attributes:
        name: unique name.
        joint: name of the joint it drives.
        kind: ``"motor"`` (u is a force), ``"position"`` (kp (u − gear·q) − kv·gear·q̇) or
            ``"velocity"`` (kv (u − gear·q̇)); the joint feels gear times that.
        gear: transmission ratio.
        kp: position gain [N/m or N m/rad].
        kv: velocity gain [N s/m or N m s/rad].
        control_range: bounds of u.
        force_range: bounds of the actuator force before the gear.
    """

    name: str
    joint: str
    kind: str = "motor"
    gear: float = 1.0
    kp: float = 0.0
    kv: float = 0.0
    control_range: tuple[float, float] = (-np.inf, np.inf)
    force_range: tuple[float, float] = (-np.inf, np.inf)


@dataclass
class Keyframe:
    """A named state: position, velocity and control vectors in the order of the compiled model."""

    q: Array
    v: Array
    control: Array

    __repr__ = brief_repr


Part = TypeVar("Part", BodySpec, JointSpec)


def _named(parts: list[Part], name: str, what: str) -> Part:
    for part in parts:
        if part.name == name:
            return part
    raise ModelError(f"{what} {name!r} does not exist")


@dataclass
class ModelSpec:
    """A mechanism as written.

    Attributes:
        name: model name.
        bodies: every body but the world.
        joints: one joint per body.
        ground: shapes fixed to the world.
        actuators: motors and servos, in control order.
        exclude: pairs of bodies that never collide.
        pairs: shapes that touch in any case, and their friction.
        loops: closures of kinematic loops.
        keyframes: named states.
        gravity: acceleration [m/s²].
        timestep: suggested time step [s], or None.
        source: file it came from, for messages.
        check_inertia: False accepts bodies whose inertia no rigid body can have.
    """

    name: str = "model"
    bodies: list[BodySpec] = field(default_factory=list)
    joints: list[JointSpec] = field(default_factory=list)
    ground: list[Shape] = field(default_factory=list)
    actuators: list[ActuatorSpec] = field(default_factory=list)
    exclude: list[tuple[str, str]] = field(default_factory=list)
    pairs: list[PairSpec] = field(default_factory=list)
    loops: list[LoopSpec] = field(default_factory=list)
    keyframes: dict[str, Keyframe] = field(default_factory=dict)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    timestep: float | None = None
    source: str = ""
    check_inertia: bool = True

    __repr__ = brief_repr

    def body(self, name: str) -> BodySpec:
        """The body of that name."""
        return _named(self.bodies, name, "body")

    def joint(self, name: str) -> JointSpec:
        """The joint of that name."""
        return _named(self.joints, name, "joint")
