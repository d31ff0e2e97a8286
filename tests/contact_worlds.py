"""Small worlds with contact and few freedoms, for planning."""

from __future__ import annotations

import math

import numpy as np

import taction as ta

RUBBER = ta.Material(friction=0.4)


def wall(side: float, at: float) -> ta.Shape:
    """A half-space whose normal is along side · x, at x = at."""
    c = math.cos(0.5 * side * math.pi)
    rotation = np.array([[c, 0.0, side], [0.0, 1.0, 0.0], [-side, 0.0, c]])
    return ta.Shape(ta.Plane(), ta.Transform(rotation.round(15), (at, 0.0, 0.0)), RUBBER, f"wall {side:+.0f}")


def cart_pole(apart: float = 0.5, friction: float = 0.3) -> ta.World:
    """A cart on a rail, a pole with a ball at its tip, walls on both sides."""
    b = ta.ModelBuilder("cart-pole")
    b.body("cart", ta.Inertia.solid(ta.Box((0.2, 0.1, 0.1)), mass=1.0))
    b.body("pole", ta.Inertia.solid(ta.Sphere(0.05), mass=0.3))
    b.shape("pole", ta.Sphere(0.05), material=ta.Material(friction=friction))
    b.prismatic("slide", parent="world", child="cart", axis=(1, 0, 0), lower=-0.6, upper=0.7, damping=0.1)
    b.revolute(
        "hinge", parent="cart", child="pole", axis=(0, 1, 0), damping=0.02, stiffness=0.3, rest=0.1,
        child_pose=ta.Transform(translation=(0.0, 0.0, -0.5)),
    )  # fmt: skip
    return ta.World(b.build(), ground=[wall(1.0, -apart), wall(-1.0, apart)])


def hopper() -> ta.World:
    """A body in the plane with a hip and a leg that slides; a ball for a foot, dry friction in the hip."""
    b = ta.ModelBuilder("hopper")
    b.body("x")
    b.body("z")
    b.body("trunk", ta.Inertia.solid(ta.Box((0.3, 0.1, 0.1)), mass=3.0))
    b.body("thigh", ta.Inertia.solid(ta.Box((0.05, 0.05, 0.2)), mass=0.5))
    b.body("foot", ta.Inertia.solid(ta.Sphere(0.03), mass=0.2))
    b.shape("foot", ta.Sphere(0.03), material=RUBBER)
    b.prismatic("forward", parent="world", child="x", axis=(1, 0, 0))
    b.prismatic("up", parent="x", child="z", axis=(0, 0, 1), initial=np.array([0.5]))
    b.revolute("pitch", parent="z", child="trunk", axis=(0, 1, 0))
    b.revolute("hip", parent="trunk", child="thigh", axis=(0, 1, 0), friction=0.1, lower=-0.8, upper=0.8)
    b.prismatic(
        "leg", parent="thigh", child="foot", axis=(0, 0, -1), lower=0.2, upper=0.6, armature=0.01,
        initial=np.array([0.4]),
    )  # fmt: skip
    return ta.World(b.build(), ground=ta.Plane(friction=0.7))


def pushers() -> ta.World:
    """Three balls of 1 kg on one line: the middle one has no drive of its own."""
    b = ta.ModelBuilder("pushers", gravity=(0.0, 0.0, 0.0))
    for name, x in (("left", -0.3), ("puck", 0.0), ("right", 0.3)):
        b.body(name, ta.Inertia.solid(ta.Sphere(0.05), mass=1.0), [ta.Shape(ta.Sphere(0.05))])
        b.prismatic(f"{name} x", parent="world", child=name, axis=(1, 0, 0), initial=np.array([x]))
    return ta.World(b.build(), exclude=[("left", "right")])


def finger() -> ta.World:
    """A box in the plane on the ground, and a ball on two slides that can push it."""
    b = ta.ModelBuilder("finger")
    b.body("shift")
    b.body("rise")
    b.body("box", ta.Inertia.solid(ta.Box((0.2, 0.2, 0.1)), mass=1.0))
    b.body("arm")
    b.body("ball", ta.Inertia.solid(ta.Sphere(0.04), mass=0.5), [ta.Shape(ta.Sphere(0.04), material=RUBBER)])
    b.shape("box", ta.Box((0.2, 0.2, 0.1)), material=RUBBER)
    b.prismatic("x", parent="world", child="shift", axis=(1, 0, 0))
    b.prismatic("z", parent="shift", child="rise", axis=(0, 0, 1), initial=np.array([0.05]))
    b.revolute("turn", parent="rise", child="box", axis=(0, 1, 0))
    b.prismatic("finger x", parent="world", child="arm", axis=(1, 0, 0), initial=np.array([-0.2]))
    b.prismatic("finger z", parent="arm", child="ball", axis=(0, 0, 1), initial=np.array([0.08]))
    return ta.World(b.build(), ground=ta.Plane(friction=0.5))


def tumbler() -> ta.World:
    """A capsule that floats, with a ball on a ball joint, over sloping ground."""
    b = ta.ModelBuilder("tumbler")
    b.body("rod", ta.Inertia.solid(ta.Capsule(0.05, 0.3), mass=1.0))
    b.body("bob", ta.Inertia.solid(ta.Sphere(0.06), mass=0.4))
    b.shape("rod", ta.Capsule(0.05, 0.3), material=RUBBER)
    b.shape("bob", ta.Sphere(0.06))
    b.floating("free", child="rod", initial=np.array([0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0]))
    b.spherical(
        "neck", parent="rod", child="bob", pose=ta.Transform(translation=(0.1, 0.0, 0.2)), damping=0.02,
        child_pose=ta.Transform(translation=(0.0, 0.1, -0.1)),
    )  # fmt: skip
    a = 0.2
    slope = np.array([[math.cos(a), 0.0, math.sin(a)], [0.0, 1.0, 0.0], [-math.sin(a), 0.0, math.cos(a)]])
    return ta.World(
        b.build(), ground=ta.Shape(ta.Plane(), ta.Transform(slope), ta.Material(friction=(0.5, 0.2)))
    )


def die() -> ta.World:
    """A box that flies and tumbles alone over the ground, its centre of mass beside its origin."""
    b = ta.ModelBuilder("die")
    solid = ta.Inertia.solid(ta.Box((0.2, 0.1, 0.06)), mass=0.8).placed(
        ta.Transform(translation=(0.02, 0.01, 0.0))
    )
    b.body("die", solid, [ta.Shape(ta.Box((0.2, 0.1, 0.06)), material=RUBBER)])
    b.floating("free", child="die", initial=np.array([0.0, 0.0, 0.25, 0.8, 0.6, 0.0, 0.0]))
    return ta.World(b.build(), ground=ta.Plane(friction=0.5))


WORLDS = {f.__name__: f for f in (cart_pole, hopper, pushers, finger, tumbler, die)}
