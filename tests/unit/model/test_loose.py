"""Motions that nothing resists: which are found, and how they are told."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import random_case
from taction._core.errors import ModelError
from taction.dynamics.crba import mass_matrix
from taction.kinematics.configuration import integrate
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.compile import compile_model
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.loose import loose_motions, require_inertia
from taction.model.model import Model
from taction.model.spec import BodySpec, JointSpec, ModelSpec

BALL = Inertia(1.0, np.zeros(3), np.eye(3))
POINT = Inertia(1.0)


def model(*joints: tuple, **inertias: Inertia) -> Model:
    """Of joints (name, kind, parent, child, options); bodies without an inertia given have none."""
    b = ModelBuilder("m")
    b.spec.check_mass = False
    for name, kind, parent, child, *options in joints:
        b.body(child, inertias.get(child, Inertia()))
        b.joint(name, kind, parent=parent, child=child, **(options[0] if options else {}))
    return b.build()


def at(x: float, y: float, z: float) -> Transform:
    return Transform(translation=(x, y, z))


def found(m: Model) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(tuple(j.name for j in f.joints), tuple(b.name for b in f.bodies)) for f in loose_motions(m)]


@pytest.mark.parametrize("seed", range(6))
def test_sound_robots_have_none(seed: int) -> None:
    assert loose_motions(random_case(seed, 8).model) == []


def test_a_base_without_mass_turns_back_what_a_hinge_on_it_turns() -> None:
    m = model(("float", "floating", "world", "base"), ("hinge", "revolute", "base", "arm"), arm=BALL)
    assert found(m) == [(("float", "hinge"), ("base",))]
    with pytest.raises(
        ModelError,
        match=r"^m: joint 'float' and joint 'hinge' together move body 'base', which has no mass: give it an "
        r"inertia, one of the joints an armature, or make it fixed$",
    ):
        require_inertia(m)


def test_two_hinges_that_do_not_meet_hold_a_base_without_mass() -> None:
    """Of a base that carries two wheels on one axle no rotation is free but that about the axle; on two axles
    that cross none is, but then the base still falls without turning: all its inertia is theirs."""
    wheels = [("float", "floating", "world", "base")]
    wheels += [
        (f"w{k}", "revolute", "base", f"wheel{k}", {"pose": at(0, k, 0), "axis": (0, 1, 0)}) for k in (-1, 1)
    ]
    assert found(model(*wheels, **{"wheel-1": BALL, "wheel1": BALL}))[0][0] == ("float", "w-1", "w1")
    wheels[2][4]["axis"] = (1, 0, 0)
    assert found(model(*wheels, **{"wheel-1": BALL, "wheel1": BALL})) == []


def test_point_masses_in_a_row() -> None:
    """A chain of point masses resists its hinges; a base that is one does not resist turning with them."""
    row = [("a", "revolute", "base", "upper", {"axis": (0, 1, 0), "pose": at(0, 0.15, 0)})]
    row += [("b", "revolute", "upper", "lower", {"axis": (0, 1, 0), "pose": at(0, 0.1, -1)})]
    below = {"upper": POINT.placed(at(0, 0, -1)), "lower": POINT.placed(at(0, 0, -2))}
    assert found(model(("fix", "fixed", "world", "base"), *row, base=POINT, **below)) == []
    assert found(model(("float", "floating", "world", "base"), *row, base=POINT, **below)) == [
        (("float", "a"), ("base",))
    ]


def test_a_special_angle_is_no_fault() -> None:
    """Three hinges through one point are a ball joint; that two axes may meet is said when they do."""
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    names = ["world", "one", "two", "ball"]
    joints = [
        (k, "revolute", names[i], names[i + 1], {"axis": axis}) for i, (k, axis) in enumerate(axes.items())
    ]
    assert loose_motions(model(*joints, ball=BALL)) == []
    joints[2] = ("z", "revolute", "two", "ball", {"axis": (0, 1, 0)})
    assert found(model(*joints, ball=BALL)) == [(("y", "z"), ("two",))]


def test_rotors_count() -> None:
    free = ("float", "floating", "world", "base")
    assert (
        loose_motions(model(free, ("hinge", "revolute", "base", "arm", {"armature": 1e-3}), arm=BALL)) == []
    )
    turning = {"armature": (1.0, 1.0, 1.0, 0.1, 0.1, 0.1)}
    assert loose_motions(model((*free, turning))) == []
    assert len(loose_motions(model((*free, {"armature": (1.0, 1.0, 1.0, 0.1, 0.0, 0.1)})))) == 1


def test_all_joints_of_an_arm_without_masses() -> None:
    names = ["world", *"abcdefghijkl"]
    m = model(*((f"j{k}", "revolute", names[k], names[k + 1]) for k in range(12)))
    assert [joints[0] for joints, _ in found(m)] == [f"j{k}" for k in range(12)]
    with pytest.raises(
        ModelError,
        match=r"joint 'j0' moves body 'a', body 'b' and 10 more, which have no mass: .*likewise joints 'j1', "
        r".*, 'j8' and 3 more",
    ):
        require_inertia(m)


@pytest.mark.parametrize("seed", range(8))
def test_the_mass_matrix_agrees(seed: int) -> None:
    """Of random trees with bodies that lack something: found where it is singular in random poses."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "spherical", "universal", "planar", "floating", "fixed")
    bodies, joints, kept = [], [], ["world"]
    for k in range(6):
        some = (
            Inertia(),
            POINT.placed(at(*rng.normal(size=3))),
            Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 0.0])),
        )
        bodies.append(BodySpec(f"b{k}", [*some, BALL, BALL, BALL][rng.integers(6)]))
        parent, kind = kept[rng.integers(len(kept))], kinds[rng.integers(len(kinds))]
        axes = {"axis": tuple(rng.normal(size=3)), "axis2": tuple(rng.normal(size=3))}
        joints.append(JointSpec(f"j{k}", JointKind(kind), parent, f"b{k}", at(*rng.normal(size=3)), **axes))
        kept.append(f"b{k}")
    m = compile_model(ModelSpec(bodies=bodies, joints=joints, check_mass=False))
    if not m.nv:
        return
    values = np.linalg.eigvalsh(mass_matrix(m, integrate(m, m.q0, rng.uniform(0.3, 1.0, m.nv))))
    assert bool(loose_motions(m)) == (values[0] < 1e-12 * values[-1])  # masses and lengths are near 1


def test_a_light_link_is_no_fault() -> None:
    """A placeholder of 1e-9 kg m² below a base of 100 kg m² still answers forces, however fast."""
    tiny, heavy = Inertia(1e-6, np.zeros(3), 1e-9 * np.eye(3)), Inertia(100.0, np.zeros(3), 100.0 * np.eye(3))
    names = ("world", "base", "tiny", "top")
    joints = [(f"j{k}", "revolute", names[k], names[k + 1]) for k in range(3)]
    m = model(*joints, base=heavy, tiny=tiny, top=heavy)
    assert loose_motions(m) == []
