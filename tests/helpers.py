"""What tests share: random mechanisms, Hypothesis strategies around them, error measures, real robots."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from taction._core.arrays import Array
from taction.kinematics.configuration import random_state
from taction.math.transform import Transform, rotation_from_quaternion
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.shapes import Box

EPS = float(np.finfo(float).eps)
TOOLS = Path(__file__).parents[1] / "tools"

# Property tests repeat exactly from run to run; a slow machine is no failure.
PROPERTY = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)

# ----- What is not installed -----------------------------------------------------------------------------


def hide_module(monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    """Make importing a library fail, as where it is not installed."""
    real = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == hidden:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)


# ----- Programs beside the package ------------------------------------------------------------------------


@contextmanager
def imported_program(monkeypatch: pytest.MonkeyPatch, path: Path) -> Iterator[ModuleType]:
    """A file outside the package as a module; what it imports from its folder is forgotten afterwards."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(str(path.parent))
    try:
        yield importlib.import_module(path.stem)
    finally:
        for name in set(sys.modules) - known:
            if Path(getattr(sys.modules[name], "__file__", None) or "").parent == path.parent:
                del sys.modules[name]


# ----- Errors ---------------------------------------------------------------------------------------------


def has_one_line(error: BaseException) -> bool:
    """Whether a message is one line that says something."""
    return bool(str(error).strip()) and "\n" not in str(error)


def relative_error(a: Any, b: Any, scale: float = 0.0) -> float:
    """Largest difference of two arrays, relative to the largest entry of b (or to ``scale``, if larger)."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf
    size = max(scale, np.abs(b).max(initial=0.0))
    worst = np.abs(a - b).max(initial=0.0)
    return float(worst / size) if worst else 0.0


def assert_close(a: Any, b: Any, tolerance: float, scale: float = 0.0, what: str = "") -> None:
    """Fail, with the worst entry, unless two arrays agree to a relative error of ``tolerance``."""
    error = relative_error(a, b, scale)
    if not error <= tolerance:
        difference = np.abs(np.asarray(a) - np.asarray(b))
        where = np.unravel_index(int(np.argmax(difference)), difference.shape)
        raise AssertionError(
            f"{what or 'arrays'} differ by {error:.2e} > {tolerance:.2e}, worst at {tuple(map(int, where))}: "
            f"{np.asarray(a)[where]!r} against {np.asarray(b)[where]!r}"
        )


# ----- Random mechanisms ----------------------------------------------------------------------------------

KINDS = tuple(JointKind)
SINGLE_AXIS = tuple(kind for kind in JointKind if kind.is_single)


def random_direction(rng: np.random.Generator) -> Array:
    """Uniform unit vector."""
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def random_rotation(rng: np.random.Generator) -> Array:
    """Uniform rotation matrix."""
    return rotation_from_quaternion(rng.normal(size=4))


def random_pose(rng: np.random.Generator, spread: float = 0.5) -> Transform:
    """Uniform orientation, position within ``spread`` [m]."""
    return Transform(random_rotation(rng), rng.uniform(-spread, spread, 3))


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A box of 0.1 to 10 kg somewhere on the body, so a possible rigid body whatever is drawn."""
    box = Box(tuple(rng.uniform(0.05, 0.5, 3)))
    return Inertia.solid(box, mass=10.0 ** rng.uniform(-1, 1)).placed(random_pose(rng, 0.3))


def random_axes(rng: np.random.Generator) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two axes of any length, at least 30 degrees from parallel."""
    first = random_direction(rng)
    second = random_direction(rng)
    while np.linalg.norm(np.cross(first, second)) < 0.5:
        second = random_direction(rng)
    return tuple(first * rng.uniform(0.1, 3)), tuple(second * rng.uniform(0.1, 3))


def random_tree(
    rng: np.random.Generator,
    n: int,
    kinds: Sequence[JointKind] = KINDS,
    *,
    roots: Sequence[JointKind] | None = None,
    armature: bool = True,
    gravity: Sequence[float] | None = None,
) -> Model:
    """A random world of n bodies: topology, joints, placements, inertias and rotors are all drawn.

    Some bodies are massless, but only where the mass matrix stays regular: frames welded to others, bodies
    driven against a rotor, and bodies on one axis that carry a massive body on another.

    Args:
        rng: source of everything random.
        n: number of bodies; about one in five starts a new tree at the world.
        kinds: joints to choose from.
        roots: joints to choose from for bodies attached to the world; ``kinds`` by default.
        armature: whether joints may have rotors.
        gravity: acceleration [m/s²]; random by default.
    """
    gravity = tuple(rng.normal(scale=5.0, size=3) if gravity is None else gravity)
    parent = [-1 if i == 0 or rng.random() < 0.2 else int(rng.integers(max(0, i - 4), i)) for i in range(n)]
    choices = [kinds if p >= 0 or roots is None else roots for p in parent]
    chosen = [choice[int(rng.integers(len(choice)))] for choice in choices]
    if all(kind is JointKind.FIXED for kind in chosen):
        chosen[-1] = next(kind for kind in choices[-1] if kind is not JointKind.FIXED)
    last = max(i for i in range(n) if chosen[i] is not JointKind.FIXED)
    rotor = [
        armature and kind not in (JointKind.FIXED, JointKind.FLOATING) and rng.random() < 0.5
        for kind in chosen
    ]
    massless = [False] * n
    for i in reversed(range(n)):
        carries = {chosen[j] for j in range(n) if parent[j] == i and not massless[j]}
        if chosen[i] is JointKind.FIXED:
            may_be = True
        elif chosen[i] is JointKind.SPHERICAL:
            may_be = rotor[i] and not carries.isdisjoint(SINGLE_AXIS)
        elif rotor[i]:
            may_be = True
        else:
            may_be = chosen[i] in SINGLE_AXIS and not carries.isdisjoint(SINGLE_AXIS)
        massless[i] = may_be and i != last and rng.random() < 0.25

    builder = ModelBuilder("random tree", gravity=gravity)
    for i in range(n):
        builder.body(f"body{i}", None if massless[i] else random_inertia(rng))
        axis, axis2 = random_axes(rng)
        builder.joint(
            f"joint{i}",
            chosen[i],
            parent="world" if parent[i] < 0 else f"body{parent[i]}",
            child=f"body{i}",
            pose=random_pose(rng),
            child_pose=random_pose(rng),
            axis=axis,
            axis2=axis2,
            armature=rng.uniform(0.01, 0.1, chosen[i].nv) if rotor[i] else 0.0,
        )
    return builder.build()


class Case(NamedTuple):
    """A random mechanism in a random state, and the generator for whatever else a test draws."""

    model: Model
    q: Array
    v: Array
    rng: np.random.Generator


def random_case(seed: int, n: int, **options: Any) -> Case:
    """The case that belongs to a seed and a number of bodies; options are those of `random_tree`."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, **options)
    return Case(model, *random_state(model, rng, 2.0), rng)


def cases(max_bodies: int = 8, **options: Any) -> st.SearchStrategy[Case]:
    """Random cases; options are those of `random_tree`."""
    return st.builds(
        lambda seed, n: random_case(seed, n, **options),
        st.integers(0, 2**32 - 1),
        st.integers(1, max_bodies),
    )


# ----- Real robots ----------------------------------------------------------------------------------------


# URDF files below `robot_data`: arms, hands, quadrupeds, bipeds, humanoids, mobile robots.
ROBOTS = {
    "double_pendulum": "double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_continuous": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "finger_edu": "finger_edu_description/robots/finger_edu.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "a1": "a1_description/urdf/a1.urdf",
    "b1_z1": "b1_description/urdf/b1-z1.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "laikago": "laikago_description/urdf/laikago.urdf",
    "anymal_b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_b_kinova": "anymal_b_simple_description/robots/anymal-kinova.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "centauro": "centauro_description/urdf/centauro.urdf",
    "g1": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "simple_humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "human": "human_description/robots/human.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
}
