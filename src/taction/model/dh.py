"""Denavit–Hartenberg chains: an arm from a table of four numbers per joint.

What it is: a chain of revolute and prismatic joints. Frame i is fixed to body i, and A_i is its placement
in frame i − 1:

    classic   A_i = Rot_z(θ_i) Trans_z(d_i) Trans_x(a_i) Rot_x(α_i)
    modified  A_i = Rot_x(α_i) Trans_x(a_i) Rot_z(θ_i) Trans_z(d_i)

Classic is the form of [DenavitHartenberg1955] and of most textbooks: joint i turns about or slides along
z_{i−1}, and frame i sits at the far end of body i. Modified is the form of [Craig2005, Chapter 3]: joint i
is on z_i, and frame i sits at the near end. Row i of a modified table prints α_{i−1} and a_{i−1}, the
numbers *before* joint i in the product, so ``rows[i].alpha`` here is what that row prints.

Notation
    θ_i   angle from x_{i−1} to x_i about z [rad]     d_i   distance along z [m]
    a_i   distance along x [m]                        α_i   angle from one z axis to the next about x [rad]
    q_i   joint coordinate: θ_i = theta + q_i of a revolute joint, d_i = d + q_i of a prismatic one

Method: Rot_z and Trans_z commute, so the joint motion X_J(q), which is Rot_z(q) or Trans_z(q), can be taken
out of A_i on one side:

    classic   A_i(q) = X_J(q) A_i(0)      the joint frame is frame i − 1; A_i(0)⁻¹ places it in body i
    modified  A_i(q) = A_i(0) X_J(q)      the joint frame is frame i; A_i(0) places it in body i − 1

which is a `JointSpec` as it stands. `forward_kinematics` of body i is then base · A_1 ⋯ A_i, and the
inertias of a table given in DH frames are used unchanged.

Departures: [BhargavaReport, Section 2.1] prints Trans_z(a) for the third classic factor and leaves its
matrix out of the product. It is Trans_x(a); the product printed there has the translation (a cos θ, a sin
θ, d) and is right. The same section lists the parameters in the order a, θ, α, d; here it is a, α, d, θ.

There is no default inertia: no number would be right for an arm, and a silent one would give wrong motion.

References: [DenavitHartenberg1955]; [Craig2005, Chapter 3]; [BhargavaReport, Section 2.1].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import ModelError
from taction._core.show import brief_repr
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.model import Model
from taction.model.shapes import Shape
from taction.model.spec import WORLD

Convention = Literal["classic", "modified"]

_KINDS = {"revolute": JointKind.REVOLUTE, "prismatic": JointKind.PRISMATIC}
_JOINT_FIELDS = ("lower", "upper", "effort", "max_velocity", "damping", "friction", "armature")


@dataclass(frozen=True)
class DHRow:
    """One row of a Denavit–Hartenberg table, and the joint's own numbers.

    Attributes:
        a: distance along x [m].
        alpha: angle about x [rad].
        d: distance along z [m]; of a prismatic joint, its value at q = 0.
        theta: angle about z [rad]; of a revolute joint, its value at q = 0.
        kind: ``"revolute"`` (q adds to theta) or ``"prismatic"`` (q adds to d).
        name: joint name; empty for ``joint1``, ``joint2``, …
        lower: lower limit of q [rad or m].
        upper: upper limit of q [rad or m].
        effort: largest actuator force [N or N m].
        max_velocity: largest speed [rad/s or m/s].
        damping: viscous friction [N m s/rad or N s/m].
        friction: Coulomb friction [N m or N].
        armature: rotor inertia seen at the joint [kg m² or kg].
    """

    a: float = 0.0
    alpha: float = 0.0
    d: float = 0.0
    theta: float = 0.0
    kind: Literal["revolute", "prismatic"] = "revolute"
    name: str = ""
    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    max_velocity: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        for what in ("a", "alpha", "d", "theta"):
            if not _is_finite(getattr(self, what)):
                raise ModelError(f"DH row: {what} must be a finite number, got {getattr(self, what)!r}")
        if self.kind not in _KINDS:
            raise ModelError(f"DH row: kind must be 'revolute' or 'prismatic', got {self.kind!r}")


def dh_transform(row: DHRow, q: float = 0.0, convention: Convention = "classic") -> Array:
    """A_i in closed form: the placement of frame i in frame i − 1.

    Args:
        row: the four parameters.
        q: joint coordinate [rad or m], added to theta or d.
        convention: ``"classic"`` or ``"modified"``; see the module text.

    Returns:
        Homogeneous matrix, shape (4, 4).

    Raises:
        ModelError: unknown convention, or q is not finite.
    """
    if convention not in get_args(Convention):
        raise ModelError(f"convention must be 'classic' or 'modified', got {convention!r}")
    if not _is_finite(q):
        raise ModelError(f"q must be a finite number, got {q!r}")
    theta = row.theta + q if row.kind == "revolute" else row.theta
    d = row.d + q if row.kind == "prismatic" else row.d
    a, ct, st, ca, sa = row.a, math.cos(theta), math.sin(theta), math.cos(row.alpha), math.sin(row.alpha)
    if convention == "classic":
        return np.array(
            [
                [ct, -st * ca, st * sa, a * ct],
                [st, ct * ca, -ct * sa, a * st],
                [0.0, sa, ca, d],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
    return np.array(
        [
            [ct, -st, 0.0, a],
            [st * ca, ct * ca, -sa, -d * sa],
            [st * sa, ct * sa, ca, d * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def dh_chain(
    rows: Sequence[DHRow],
    *,
    inertias: Sequence[Inertia] | None = None,
    shapes: Sequence[Sequence[Shape]] | None = None,
    convention: Convention = "classic",
    name: str = "chain",
    base: Transform | None = None,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
) -> Model:
    """Build the chain of a Denavit–Hartenberg table; the frame of body ``link<i>`` is DH frame i.

    Args:
        rows: the table, from the base outwards.
        inertias: one per row, in DH frame i. Required: see the module text.
        shapes: collision shapes per row, in DH frame i.
        convention: ``"classic"`` or ``"modified"``.
        name: model name.
        base: placement of DH frame 0 in the world; identity if omitted.
        gravity: acceleration in world axes [m/s²].

    Raises:
        ModelError: the table is empty, lists differ in length, or the chain is not a physical mechanism.
    """
    if not rows:
        raise ModelError(f"{name}: a DH chain needs at least one row")
    if inertias is None:
        raise ModelError(f"{name}: give the inertias of the {len(rows)} links, each in its DH frame")
    for what, values in (("inertias", inertias), ("shapes", shapes)):
        if values is not None and len(values) != len(rows):
            raise ModelError(f"{name}: {len(rows)} DH rows but {len(values)} {what}")

    b = ModelBuilder(name, gravity=gravity)
    parent, before = WORLD, base or Transform()
    for i, row in enumerate(rows):
        rest = dh_transform(row, 0.0, convention)
        placed = Transform(rest[:3, :3], rest[:3, 3])
        # one side of the joint carries the constant part of A_i; the base comes before the first joint
        pose, child_pose = before @ placed, Transform()
        if convention == "classic":
            pose, child_pose = before, placed.inverse()
        child = b.body(f"link{i + 1}", inertias[i], list(shapes[i]) if shapes else None)
        b.joint(
            row.name or f"joint{i + 1}",
            _KINDS[row.kind],
            parent=parent,
            child=child,
            pose=pose,
            child_pose=child_pose,
            **{field: getattr(row, field) for field in _JOINT_FIELDS},
        )
        parent, before = child, Transform()
    return b.build()


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False
