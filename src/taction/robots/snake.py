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

Friction: `Material.friction` counts along the shape's x and y, so each sphere's frame has x along the link,
y along the link's e_x, which is sideways at q0. When a link rolls about its axis that y is no longer in the
ground plane. The document's friction frame (21) uses the projected link axis and its horizontal normal:
contact has to use x only.

Departures
* The moments of inertia are the document's and not those of a solid cylinder, which would be 0.053 and
  0.022 kg m²; the cylinder is there to be seen and does not collide.
* Adjacent spheres overlap (their centres are 0.066 m apart, their radii 0.0795 m); the robot never touches
  itself, see `taction.robots._parts`.
* K_d is printed in N m and is N m s.
"""

from __future__ import annotations

import numpy as np

from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import Cylinder, Material, Shape, Sphere
from taction.robots._parts import GRAVITY, PIDGain, require_count, require_positive, robot_shape

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
        friction: Coulomb coefficients along and across the link, μ_Tx and μ_Ty.
        gravity: acceleration [m/s²].

    Raises:
        ModelError: a number is out of range.
    """
    require_count(links=links)
    require_positive(length=length, radius=radius, sphere_distance=sphere_distance, mass=mass)
    require_positive(inertia_transverse=inertia_transverse, inertia_axial=inertia_axial)
    inertia = Inertia(mass, np.zeros(3), np.diag([inertia_transverse, inertia_transverse, inertia_axial]))
    material = Material(friction=friction)

    b = ModelBuilder("snake", gravity=gravity)
    for i in range(1, links + 1):
        b.body(f"link{i}", inertia, _link_shapes(i, length, radius, sphere_distance, material))
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
        )
    return b.build()


def _link_shapes(i: int, length: float, radius: float, distance: float, material: Material) -> list[Shape]:
    """The cylinder that is seen and the two spheres that touch."""
    shapes = [robot_shape(Cylinder(radius, length), collides=False)]
    for name, z in (("front", distance), ("rear", -distance)):
        pose = Transform(ALONG_LINK, np.array([0.0, 0.0, z]))
        shapes.append(robot_shape(Sphere(radius), pose, material=material, name=f"link{i}_{name}"))
    return shapes
