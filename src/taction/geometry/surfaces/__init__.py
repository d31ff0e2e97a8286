"""Smooth surfaces with their normals and curvatures: one file per surface.

`base` says what every surface answers, `implicit` how normals and curvatures follow from a function of the
point, `parametric` from any function of two parameters by way of `jet`. Frames are those of the shapes: axes
and normals of planes are z, the origin is the centre. What two of them do when they touch is in
`taction.geometry.contact_kinematics`.
"""

from __future__ import annotations

from taction.geometry.surfaces.base import ConvexSurface, PrincipalCurvatures, Surface
from taction.geometry.surfaces.cylinder import Cylinder
from taction.geometry.surfaces.ellipsoid import Ellipsoid
from taction.geometry.surfaces.implicit import ImplicitSurface
from taction.geometry.surfaces.parametric import Parametric
from taction.geometry.surfaces.plane import Plane
from taction.geometry.surfaces.sphere import Sphere
from taction.geometry.surfaces.superquadric import Superquadric
from taction.geometry.surfaces.torus import Torus
from taction.geometry.surfaces.union import Union

__all__ = [
    "ConvexSurface",
    "Cylinder",
    "Ellipsoid",
    "ImplicitSurface",
    "Parametric",
    "Plane",
    "PrincipalCurvatures",
    "Sphere",
    "Superquadric",
    "Surface",
    "Torus",
    "Union",
]
