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
from taction.model.shapes import Geometry, Shape, Sphere
from taction.model.visual import Visual

WORLD = "world"


@dataclass
class Mimic:
    """Coupling q = multiplier · q_of(joint) + offset of one single-coordinate joint to another.

    Without a joint to follow (``""``), q is held at the offset.
    """

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
        effort: largest force of all its actuators together [N or N m].
        max_velocity: largest speed [m/s or rad/s].
        damping: viscous friction [N s/m or N m s/rad].
        friction: Coulomb friction, largest force or torque [N or N m].
        armature: rotor inertia seen at the joint [kg or kg m²].
        stiffness: spring towards ``rest`` [N/m or N m/rad].
        rest: spring rest position [m or rad].
        initial: position coordinates of the neutral configuration; None for zeros and unit quaternions.
        mimic: coupling to another joint.
        force_range: bounds of the sum of the forces of its actuators, besides ``effort``, where they are not
            the same on both sides.
        source: what it is called in its file and where, for messages: ``joint 'knee' (robot.urdf:41)``.
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
    force_range: tuple[float, float] = (-np.inf, np.inf)
    source: str = ""

    __repr__ = brief_repr


@dataclass
class BodySpec:
    """A rigid body: its inertia and shapes in its own frame.

    Attributes:
        name: unique name.
        inertia: mass, centre of mass and moments.
        shapes: what it touches with.
        gravity_compensation: share of its weight that a force at its centre of mass takes off.
        visuals: what it looks like, in its own frame.
        source: what it is called in its file and where, for messages: ``link 'shank' (robot.urdf:30)``.
    """

    name: str
    inertia: Inertia = field(default_factory=Inertia)
    shapes: list[Shape] = field(default_factory=list)
    gravity_compensation: float = 0.0
    visuals: list[Visual] = field(default_factory=list)
    source: str = ""

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
class SiteSpec:
    """A named frame on a body: where sensors measure, actuators push and tendons pass.

    Attributes:
        name: unique name.
        body: name of the body that carries it, or ``"world"``.
        pose: its frame in the body.
        zone: the volume in which a touch sensor at this site feels, about its frame.
    """

    name: str
    body: str
    pose: Transform = field(default_factory=Transform)
    zone: Geometry = field(default_factory=lambda: Sphere(0.005))


@dataclass
class TendonSpec:
    """A length that depends on the configuration, with what acts along it.

    The length is Σ c q over joints of one coordinate, or the length of a path of straight pieces between
    sites.

    Attributes:
        name: unique name.
        joints: coefficient c by name of the joint.
        path: branches (divisor, names of sites): each adds the length of its pieces, divided by the divisor.
        lower: smallest length, −inf if free.
        upper: largest length, +inf if free.
        stiffness: of the spring along it [force per length].
        rest: lengths between which the spring is slack.
        damping: force per rate.
        friction: Coulomb friction, largest force.
        armature: inertia of the length's rate.
        force_range: bounds of the sum of the forces of its actuators.
        held: the length that it must have, None if it may change.
    """

    name: str
    joints: dict[str, float] = field(default_factory=dict)
    path: list[tuple[float, list[str]]] = field(default_factory=list)
    lower: float = -np.inf
    upper: float = np.inf
    stiffness: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    force_range: tuple[float, float] = (-np.inf, np.inf)
    held: float | None = None


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
    """An actuator: a force f by a law of its own, and what feels it.

    With l the length of the transmission (gear·q for a joint of one axis) and u the control, or the
    activation that stands for it, f is by kind

        motor      u
        position   kp (u − l) − kv l̇
        velocity   kv (u − l̇)
        affine     gain u + bias − kp l − kv l̇
        none       0; it keeps the place of an actuator that is not supported in the control vector

    Attributes:
        name: unique name.
        joint: the joint it drives, or ``""``: one axis feels gear·f, several feel f times ``gears``.
        kind: its law.
        gear: transmission ratio.
        kp: position gain [N/m or N m/rad].
        kv: velocity gain [N s/m or N m s/rad].
        control_range: bounds of u.
        force_range: bounds of f, before the gear.
        gain: force per control, of kind affine.
        bias: constant force, of kind affine.
        tendon: the tendon it pulls, or ``""``: a length that feels gear·f.
        site: the site it pushes, or ``""``: force and torque there are f times ``gears``.
        refsite: the site in whose axes that is and which feels the reaction, ``""`` for the site's own axes
            and no reaction.
        gears: six numbers of a site, or as many as its joint has velocity coordinates.
        activation: ``""``, or how an activation a follows u: ``"integrator"`` (ȧ = u), ``"filter"`` or
            ``"filterexact"`` (ȧ = (u − a)/T).
        time_constant: T [s].
        activation_range: bounds of a.
    """

    name: str
    joint: str = ""
    kind: str = "motor"
    gear: float = 1.0
    kp: float = 0.0
    kv: float = 0.0
    control_range: tuple[float, float] = (-np.inf, np.inf)
    force_range: tuple[float, float] = (-np.inf, np.inf)
    gain: float = 1.0
    bias: float = 0.0
    tendon: str = ""
    site: str = ""
    refsite: str = ""
    gears: tuple[float, ...] = ()
    activation: str = ""
    time_constant: float = 0.0
    activation_range: tuple[float, float] = (-np.inf, np.inf)


@dataclass
class SensorSpec:
    """A named reading, as files describe it.

    Attributes:
        name: unique name.
        kind: what it measures, in MJCF's words: ``jointpos``, ``framequat``, ``gyro``, ``touch`` ...
        part: what it is attached to: ``"joint"``, ``"tendon"``, ``"actuator"``, ``"site"``, ``"body"`` (for
            frames, that of its inertia), ``"xbody"`` (its own frame), ``"geom"``, ``"camera"`` or ``""``.
        target: name of that.
        other_part: the same of the frame in which it is measured, ``""`` for the world.
        other: name of that.
        cutoff: largest reading, 0 for none.
    """

    name: str
    kind: str
    part: str = ""
    target: str = ""
    other_part: str = ""
    other: str = ""
    cutoff: float = 0.0


@dataclass
class Keyframe:
    """A named state: position, velocity and control vectors in the order of the compiled model.

    Attributes:
        q: positions, shape (nq,).
        v: velocities, shape (nv,).
        control: controls, shape (nu,).
        activation: activations of the actuators that have one, in their order.
    """

    q: Array
    v: Array
    control: Array
    activation: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Unread:
    """Something that a file says and that is not heeded.

    Attributes:
        what: its name.
        where: its place, ``file:line``.
        changes: what is different by that, in a few words.
    """

    what: str
    where: str
    changes: str

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
        sites: named frames.
        tendons: lengths with limits, springs, dampers and actuators of their own.
        sensors: named readings.
        keyframes: named states.
        gravity: acceleration [m/s²].
        timestep: suggested time step [s], or None.
        source: file it came from, for messages.
        unread: what the file says and is not heeded.
        check_inertia: False accepts bodies whose inertia no rigid body can have.
        check_mass: False accepts joints that move what has no inertia: kinematics need none, and the model is
            refused when it is to move (`taction.model.loose`).
        ground_visuals: what is fixed to the world looks like; its planes and height fields are in ``ground``.
    """

    name: str = "model"
    bodies: list[BodySpec] = field(default_factory=list)
    joints: list[JointSpec] = field(default_factory=list)
    ground: list[Shape] = field(default_factory=list)
    actuators: list[ActuatorSpec] = field(default_factory=list)
    exclude: list[tuple[str, str]] = field(default_factory=list)
    pairs: list[PairSpec] = field(default_factory=list)
    loops: list[LoopSpec] = field(default_factory=list)
    sites: list[SiteSpec] = field(default_factory=list)
    tendons: list[TendonSpec] = field(default_factory=list)
    sensors: list[SensorSpec] = field(default_factory=list)
    keyframes: dict[str, Keyframe] = field(default_factory=dict)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    timestep: float | None = None
    source: str = ""
    unread: tuple[Unread, ...] = ()
    check_inertia: bool = True
    check_mass: bool = True
    ground_visuals: list[Visual] = field(default_factory=list)

    __repr__ = brief_repr

    def body(self, name: str) -> BodySpec:
        """The body of that name."""
        return _named(self.bodies, name, "body")

    def joint(self, name: str) -> JointSpec:
        """The joint of that name."""
        return _named(self.joints, name, "joint")
