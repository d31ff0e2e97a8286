"""Humanoids ready to be walked with, from the files of example-robot-data or any URDF file.

A `Biped` is a model with what its file does not say: the stance from which it walks, and which bodies are its
feet.

Feet: of all bodies at the end of a chain of at least `HINGES` hinges from the base, the two whose shapes
reach lowest. Stance: the pose ``half_sitting`` or ``standing`` or the first one of the SRDF file; without
one, knees are bent, by inverse kinematics that lowers the base by `LOWER` of its height above the soles
while the feet keep their places. It starts with every joint of the legs moved a little towards the middle of
its range: knees can only bend one way.

References: [Siciliano2009, Section 3.7] for the iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray
from taction._core.errors import BadInput
from taction.control.walking.base import base_link, base_of, base_pose, dofs_to
from taction.control.walking.soles import sole
from taction.io.urdf import load_urdf
from taction.kinematics.forward import forward_kinematics
from taction.kinematics.jacobian import jacobian
from taction.model.model import Model
from taction.robots.files import robot_files

HINGES = 4
LOWER = 0.05
MIDDLE = 0.1  # part of the way to the middle of its range that a joint starts from
ITERATIONS, REACHED, DAMPING = 200, 1e-10, 1e-6

# Files of example-robot-data below its folder of robots: URDF, SRDF
FILES = {
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", None),
    "talos": ("talos_data/robots/talos_reduced_box.urdf", "talos_data/srdf/talos.srdf"),
}


class Biped(NamedTuple):
    """A humanoid, its stance and its feet."""

    model: Model
    stance: Array  # (nq,)
    feet: tuple[str, str]  # right, left
    base: str  # name of the body that is kept upright


def biped(name: str = "g1") -> Biped:
    """A humanoid by name, or from a URDF file.

    Raises:
        BadInput: no such robot, or one without two feet.
    """
    urdf, srdf = robot_files(name, FILES)
    model = load_urdf(urdf, floating_base=True, srdf=srdf)
    poses = model.spec.keyframes
    kept = next((poses[pose] for pose in ("half_sitting", "standing", *poses) if pose in poses), None)
    stance = model.q0 if kept is None else model.check_q(kept.q, f"pose of {srdf}")
    feet = find_feet(model, stance)
    if kept is None:
        stance = bent_knees(model, feet)
    return Biped(model, stance, feet, base_of(model).body)


def find_feet(model: Model, q: Array) -> tuple[str, str]:
    """Bodies of the right and the left foot in a stance (nq,).

    Raises:
        BadInput: there are no two.
    """
    base, tree, low = base_link(model), model.tree, {}
    poses = forward_kinematics(model, q)
    for link in range(1, model.n_links):
        if (tree.parent == link).any() or len(dofs_to(model, link)) < HINGES or link == base:
            continue
        body = int(np.flatnonzero(model.body_link == link)[-1])
        name = model.body_names[body]
        try:
            points = sole(model, name, q)
        except BadInput:
            continue  # nothing to stand on
        low[name] = (points @ poses.rotation[body].T + poses.position[body]).mean(axis=0)
    feet = sorted(low, key=lambda name: low[name][2])[:2]
    if len(feet) < 2:
        raise BadInput(f"{model.name} has no two feet at the end of chains of {HINGES} hinges or more")
    right, left = sorted(feet, key=lambda name: low[name][1])
    return right, left


def bent_knees(model: Model, feet: tuple[str, str], lower: float = LOWER) -> Array:
    """The neutral configuration with the base lowered on bent knees, shape (nq,).

    Args:
        model: the robot.
        feet: bodies that stay where they are.
        lower: by which part of its height above the soles.

    Raises:
        BadInput: the legs cannot do that.
    """
    q = model.q0.copy()
    start = forward_kinematics(model, q)
    ids = [model.body(name) for name in feet]
    bottom = min((sole(model, n) @ start.rotation[b].T + start.position[b])[:, 2].min()
                 for n, b in zip(feet, ids, strict=True))  # fmt: skip
    height = float(base_pose(model, q)[1][2]) - bottom
    base = base_of(model)
    q[base.coordinates] -= base.directions @ np.array([0.0, 0.0, lower * height])
    places = {j.iv + k: j.iq + k for j in model.joints for k in range(j.kind.nv)}
    for foot, body in zip(feet, ids, strict=True):
        dofs = np.array(dofs_to(model, int(model.body_link[body])), dtype=np.int64)
        at = np.array([places[int(d)] for d in dofs])
        middle = 0.5 * (model.lower[dofs] + model.upper[dofs])
        q[at] += MIDDLE * np.where(np.isfinite(middle), middle - q[at], 0.0)
        _reach(model, foot, start.rotation[body], start.position[body], dofs, at, q)
    return q


def _reach(model: Model, foot: str, R: Array, x: Array, dofs: IntArray, at: Array, q_io: Array) -> None:
    """Turn joints until a foot has axes R (3, 3) and place x (3,)."""
    body = model.body(foot)
    for _ in range(ITERATIONS):
        poses = forward_kinematics(model, q_io)
        turn = R @ poses.rotation[body].T
        error = np.concatenate(
            [
                0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]),
                x - poses.position[body],
            ]
        )
        if np.abs(error).max() < REACHED:
            return
        J = jacobian(model, q_io, foot)[:, dofs]
        step = J.T @ np.linalg.solve(J @ J.T + DAMPING * np.eye(6), error)
        q_io[at] = np.clip(q_io[at] + step, model.lower[dofs], model.upper[dofs])
    raise BadInput(f"{model.name}: the leg of {foot} cannot bend its knee; give it a pose")
