"""Shapes and materials as data: one file per shape.

Sizes are full extents or radii in metres, about the shape's own centre. The axis of a capsule, cylinder or
cone and the normal of a plane are z. Each file says all there is to say of a shape outside of kernels: what
is refused, its inertia as a solid, the points it is drawn by, and its numbers for collision (`base` has the
list). Who wants to know asks the shape; nobody goes through their classes.

`SOLIDS` has one small example of every convex shape, for all that must be tried with each: compilation ahead
of use and tests.
"""

from __future__ import annotations

import numpy as np

from taction.model.shapes.base import Collider, Geometry
from taction.model.shapes.box import Box
from taction.model.shapes.capsule import Capsule
from taction.model.shapes.cone import Cone
from taction.model.shapes.cylinder import Cylinder
from taction.model.shapes.ellipsoid import Ellipsoid
from taction.model.shapes.height_field import HeightField
from taction.model.shapes.material import Material
from taction.model.shapes.mesh import Mesh
from taction.model.shapes.placed import Shape
from taction.model.shapes.plane import Plane
from taction.model.shapes.sphere import Sphere
from taction.model.shapes.union import Union

__all__ = [
    "SOLIDS",
    "Box",
    "Capsule",
    "Collider",
    "Cone",
    "Cylinder",
    "Ellipsoid",
    "Geometry",
    "HeightField",
    "Material",
    "Mesh",
    "Plane",
    "Shape",
    "Sphere",
    "Union",
]

CORNERS = 0.05 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)

SOLIDS: dict[str, Geometry] = {
    "sphere": Sphere(0.05),
    "capsule": Capsule(0.05, 0.1),
    "box": Box((0.1, 0.1, 0.1)),
    "cylinder": Cylinder(0.05, 0.1),
    "ellipsoid": Ellipsoid((0.05, 0.05, 0.06)),
    "hull": Mesh(CORNERS),
    "cone": Cone(0.05, 0.1),
}
