"""Snake robot without wheels: cylindrical links joined by cardan joints, on two contact spheres each.

Source: [Transeth2006, Section II] for the geometry and Section VII for the numbers, which are those of a
water-hydraulic snake robot. Eleven links have 6 + 2·10 = 26 degrees of freedom and 22 contact spheres.

Geometry, as in the document: the frame of link i is at its centre of gravity G_i with e_z along the link.
The joint between links i and i + 1 is at +L/2 of the one and −L/2 of the other. Its axes are e_y of link i
and e_x of link i + 1, so that the relative rotation is R_y(α_h) R_x(α_v): q of the joint is (α_h, α_v). The
spheres are on the link's axis at ±L_GS; "front" is the one at +e_z.

Link 1 floats. Its coordinates are the document's own, (1) and (2): position of G_1 and quaternion, velocity
of G_1 in world axes and angular velocity in link axes. The other links are described by joint angles, not
by absolute coordinates, which removes the joint constraints (7)–(9) without changing the mechanism.

At q0 the snake lies straight along the world's x with e_y up, touching the ground: α_h then bends it
sideways (positive: the next link to the left, seen along +x) and α_v up and down (positive: the next link
down), as in Section V. The lateral undulation of Section VII-B sends its wave from link 1 to link n,
"from the front to the rear", so link 1 is the head although "front" spheres look towards link n.

Friction. The document's frame (21) on the ground has x along the projected link axis and y across it. Each
sphere's frame has x along e_z of the link, and contact uses nothing else of it: it projects that x onto the
tangent plane, t₁ = (e_z − (n·e_z) n)/‖·‖, and takes t₂ = n × t₁ (`taction.steppers.elements`,
`surface_frame`). On level ground n = ± e_z of the world and this is (21), whatever the roll of the link; on
other ground it is (21) in the tangent plane. The sign of n only mirrors t₂, across which friction is
symmetric. Friction may also differ between sliding head first (along −e_z, the direction of travel) and
tail first.

Departures
* Of a link that stands within 18° of the normal (|n·e_z| > 0.95) contact takes t₁ as the world's x or y in
  the tangent plane; (21) goes on with what is left of the projection. Crawling links do not meet this.
* The moments of inertia are the document's and not those of a solid cylinder, which would be 0.053 and
  0.022 kg m²; the cylinder is there to be seen and does not collide.
* Against obstacles two spheres per link would be a row of bumps that a peg locks into; with `skin` the
  links are round rods from joint to joint for them, and for them only.
* Adjacent spheres overlap (their centres are 0.066 m apart, their radii 0.0795 m); the robot never touches
  itself, see `taction.robots._parts`.
* K_d is printed in N m and is N m s.
"""

from __future__ import annotations

import math

import numpy as np

from taction._core.arrays import Array, as_float
from taction._core.errors import ModelError
from taction.math.transform import (
    Transform,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_quaternion,
)
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Capsule, Cylinder, Material, Shape, Sphere
from taction.robots._parts import (
    GRAVITY,
    OBSTACLE_GROUP,
    SKIN_GROUP,
    PIDGain,
    require_count,
    require_positive,
    robot_shape,
)

# Section VII: K_h of the angle about e_y (sideways), K_v of the angle about e_x (up and down)
SNAKE_GAINS = {"horizontal": PIDGain(kp=400.0, kd=20.0), "vertical": PIDGain(kp=200.0, kd=10.0)}

# columns e_z, e_x, e_y of the link
ALONG_LINK = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
# e_z of the link along the world's x, e_y up
LYING = (0.5, 0.5, 0.5, 0.5)


def snake(
    *,
    links: int = 11,
    length: float = 0.269,
    radius: float = 0.0795,
    sphere_distance: float = 0.1016,
    mass: float = 7.0,
    inertia_transverse: float = 0.045,
    inertia_axial: float = 0.0055,
    friction: tuple[float, float] = (0.01, 0.05),
    backward: float | None = None,
    joint_limit: float = math.inf,
    skin: float | None = None,
    gravity: tuple[float, float, float] = GRAVITY,
) -> Model:
    """Snake robot of 6 + 2 (links − 1) degrees of freedom.

    Bodies are ``link1`` … Joints are ``root``, floating, and ``joint1`` …, universal.

    Args:
        links: number of links n, at least 1.
        length: L, joint to joint [m].
        radius: L_SC, of the links and of the contact spheres [m].
        sphere_distance: L_GS, from the link's centre to a sphere's centre [m].
        mass: of one link [kg].
        inertia_transverse: Θ_1, moment of inertia across the link [kg m²].
        inertia_axial: Θ_3, moment of inertia about the link's axis [kg m²].
        friction: Coulomb coefficients along and across the link, μ_Tx and μ_Ty; they count against ground of
            no less friction.
        backward: coefficient along the link while it slides tail first, towards link n, if that differs.
        joint_limit: stops of both angles of every joint, ± this [rad]; none by default.
        skin: coefficient of friction of the links' sides against obstacles (`taction.robots.terrain.pegs`):
            a capsule from joint to joint, which meets nothing else; no skin by default.
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range: no links, a link without length, mass or radius, …
    """
    require_count(links=links)
    require_positive(length=length, radius=radius, sphere_distance=sphere_distance, mass=mass)
    require_positive(inertia_transverse=inertia_transverse, inertia_axial=inertia_axial)
    inertia = Inertia(mass, np.zeros(3), np.diag([inertia_transverse, inertia_transverse, inertia_axial]))
    if np.shape(friction) != (2,):
        raise ModelError(f"friction needs two coefficients, along and across the link, got {friction!r}")
    if not joint_limit > 0.0:
        raise ModelError(f"joint_limit must be positive, got {joint_limit!r}")
    along, across = friction
    # x of a sphere is e_z of its link, which points to the tail: forward of the shape is tail first
    material = Material((along if backward is None else backward, across), backward=along)

    b = ModelBuilder("snake", gravity=gravity)
    for i in range(1, links + 1):
        shapes = _link_shapes(i, length, radius, sphere_distance, material)
        if skin is not None:
            shapes.append(_skin(i, length, radius, skin))
        b.body(f"link{i}", inertia, shapes)
    b.floating("root", child="link1", initial=np.array([0.0, 0.0, radius, *LYING]))
    for i in range(1, links):
        b.universal(
            f"joint{i}",
            parent=f"link{i}",
            child=f"link{i + 1}",
            pose=Transform.from_rpy((0.0, 0.0, 0.5 * length)),
            child_pose=Transform.from_rpy((0.0, 0.0, -0.5 * length)),
            axis=(0.0, 1.0, 0.0),
            axis2=(1.0, 0.0, 0.0),
            lower=-joint_limit,
            upper=joint_limit,
        )
    return b.build()


def place_snake(
    model: Model,
    *,
    position: tuple[float, float, float],
    incline: float = 0.0,
    yaw: float = 0.0,
    angles: Array | None = None,
) -> Array:
    """A configuration (nq,) of a snake: where link 1 is, and how the chain lies.

    Args:
        model: of `snake`, or of a world that holds it alone.
        position: centre of link 1 in the world [m].
        incline: angle by which the chain rises from link 1 on, along +x [rad].
        yaw: angle by which link 1 is turned about the vertical then [rad].
        angles: α_h and α_v of the joints, shape (links − 1, 2) [rad]; straight by default.

    Raises:
        BadInput: angles of another shape, or not finite.
    """
    q = np.array(model.q0)
    R = rotation_about([0.0, 0.0, 1.0], yaw) @ rotation_about([0.0, 1.0, 0.0], -incline)
    R = R @ rotation_from_quaternion(LYING)
    q[model.joint("root").q_slice] = [*position, *quaternion_from_rotation(R)]
    joints = [j for j in model.joints if j.name != "root"]
    if angles is not None:
        given = as_float(angles, (len(joints), 2), "angles")
        for joint, pair in zip(joints, given, strict=True):
            q[joint.q_slice] = pair
    return model.check_q(q)


def _link_shapes(i: int, length: float, radius: float, distance: float, material: Material) -> list[Shape]:
    """The cylinder that is seen and the two spheres that touch."""
    shapes = [robot_shape(Cylinder(radius, length), collides=False)]
    for name, z in (("front", distance), ("rear", -distance)):
        pose = Transform(ALONG_LINK, np.array([0.0, 0.0, z]))
        shapes.append(robot_shape(Sphere(radius), pose, material=material, name=f"link{i}_{name}"))
    return shapes


def _skin(i: int, length: float, radius: float, friction: float) -> Shape:
    """The side of a link, for obstacles."""
    rod, surface = Capsule(radius, length), Material((friction, friction))
    return Shape(rod, Transform(), surface, f"link{i}_skin", True, SKIN_GROUP, OBSTACLE_GROUP)
