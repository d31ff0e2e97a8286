"""`ModelBuilder`: what each call puts into the description."""

from __future__ import annotations

import numpy as np
import pytest

from taction._core.errors import ModelError
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.shapes import Box, Material, Plane, Shape, Sphere

BALL = Inertia.solid(Sphere(0.1))


@pytest.fixture
def builder():
    b = ModelBuilder("robot", gravity=(0.0, 0.0, -1.0))
    b.body("a", BALL)
    return b


@pytest.mark.parametrize("kind", list(JointKind))
def test_every_kind_has_a_method(builder, kind):
    pose = Transform(translation=(1, 2, 3))
    if kind is JointKind.CONTINUOUS:
        name = builder.joint("j", kind, parent="world", child="a", pose=pose)
    else:
        name = getattr(builder, kind.value)("j", parent="world", child="a", pose=pose)
    (spec,) = builder.spec.joints
    assert name == spec.name == "j"
    assert spec.kind is kind and spec.pose is pose and (spec.parent, spec.child) == ("world", "a")
    assert builder.build().nv == kind.nv


def test_names_are_returned(builder):
    assert builder.body("b") == "b"
    assert builder.revolute("j", parent="world", child="a") == "j"
    assert builder.actuator("m", "j", gear=3.0) == "m"
    assert builder.spec.actuators[0].gear == 3.0


def test_floating_hangs_from_the_world_by_default(builder):
    builder.floating("free", child="a")
    model = builder.build()
    assert model.spec.joints[0].parent == "world"
    assert model.name == "robot" and model.tree.gravity.tolist() == [0.0, 0.0, -1.0]


def test_kind_by_name_or_value(builder):
    builder.joint("j", "spherical", parent="world", child="a")
    assert builder.spec.joints[0].kind is JointKind.SPHERICAL
    with pytest.raises(ModelError, match="joint 'k': unknown kind 'hinge'; choose from fixed, revolute"):
        builder.joint("k", "hinge", parent="world", child="a")


def test_shapes_of_bodies_and_of_the_ground(builder):
    pose, material = Transform(translation=(0, 0, 1)), Material(restitution=0.5)
    builder.shape("a", Sphere(0.2), pose, material=material, name="ball", mask=6)
    builder.shape("world", Plane())
    (ball,), (ground,) = builder.spec.body("a").shapes, builder.spec.ground
    assert (ball.name, ball.pose, ball.material, ball.mask) == ("ball", pose, material, 6)
    assert isinstance(ground.geometry, Plane) and ground.material == Material()
    with pytest.raises(ModelError, match="body 'ghost' does not exist"):
        builder.shape("ghost", Sphere(1.0))


def test_the_caller_s_list_of_shapes_stays_the_caller_s():
    shapes = [Shape(Box((1, 1, 1)))]
    builder = ModelBuilder()
    builder.body("a", BALL, shapes)
    builder.shape("a", Sphere(1.0))
    assert len(shapes) == 1 and len(builder.spec.body("a").shapes) == 2


def test_build_validates(builder):
    with pytest.raises(ModelError, match="body 'a' is attached to nothing"):
        builder.build()


def test_the_example_of_the_module():
    b = ModelBuilder("pendulum")
    rod = b.body("rod", inertia=BALL)
    b.revolute(
        "hinge", parent="world", child=rod, axis=(0, 1, 0), child_pose=Transform(translation=(0, 0, 0.5))
    )
    model = b.build()
    assert (model.nq, model.nv) == (1, 1)
    assert str(model) == "<Model 'pendulum': 1 bodies, nq=1, nv=1>"


def test_spec_finds_by_name(builder):
    builder.fixed("weld", parent="world", child="a")
    assert builder.spec.body("a").inertia is BALL
    assert builder.spec.joint("weld").kind is JointKind.FIXED
    assert np.allclose(builder.spec.gravity, (0, 0, -1))
