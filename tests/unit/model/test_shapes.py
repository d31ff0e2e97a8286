"""Shapes and materials: what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from taction._core.errors import BadInput, ModelError
from taction.model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Material, Mesh, Sphere


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize(
    ("make", "what"),
    [
        (Sphere, "sphere radius"),
        (lambda x: Capsule(x, 1.0), "capsule radius"),
        (lambda x: Capsule(1.0, x), "capsule length"),
        (lambda x: Cylinder(x, 1.0), "cylinder radius"),
        (lambda x: Cylinder(1.0, x), "cylinder length"),
        (lambda x: Cone(x, 1.0), "cone radius"),
        (lambda x: Cone(1.0, x), "cone height"),
        (lambda x: Box((1.0, x, 1.0)), "box size"),
        (lambda x: Ellipsoid((1.0, 1.0, x)), "ellipsoid radius"),
    ],
)
def test_sizes_must_be_positive(make, what, bad):
    with pytest.raises(ModelError, match=f"{what} must be positive and finite"):
        make(bad)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"friction": (-0.1, 1.0)}, "friction must be non-negative"),
        ({"friction": (1.0, np.nan)}, "friction must be non-negative"),
        ({"restitution": 1.1}, r"restitution must lie in \[0, 1\]"),
        ({"restitution": np.nan}, r"restitution must lie in \[0, 1\]"),
        ({"viscous": -1.0}, "viscous friction must be non-negative"),
        ({"viscous": np.inf}, "viscous friction must be non-negative"),
    ],
)
def test_materials(options, message):
    with pytest.raises(ModelError, match=message):
        Material(**options)


def test_meshes():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    assert mesh.vertices.dtype == np.float64 and mesh.faces.shape == (1, 3)
    with pytest.raises(ModelError, match="face 0 uses vertex"):
        Mesh(mesh.vertices, [[0, 1, 3]])
    with pytest.raises(ModelError, match="face 0 uses vertex"):
        Mesh(mesh.vertices, [[0, 1, -1]])
    with pytest.raises(BadInput, match="mesh vertices"):
        Mesh([[0, 0]], [[0, 0, 0]])
