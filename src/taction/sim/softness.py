"""Springs and dampers of a world's shapes, and the step that they allow.

What moves at a shape, m, is the least effective mass of a point at its surface in the neutral pose: of six
points, at its bounding radius along the axes of the world, the largest eigenvalue of J M⁻¹ Jᵀ, inverted.
Along the normal of a ball, which goes through its centre, it is that of the centre along those axes.

References: [Khatib1987] for effective mass at a point.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction._core.errors import BadInput, ModelError, StabilityWarning
from taction._core.jit import plain
from taction.contact.forces.parameters import EARTH, SoftContact, longest_step
from taction.contact.forces.soft_pair import (
    CURVATURE,
    IS_HERTZIAN,
    SOFT_WIDTH,
    SOFTNESS,
    normal_damping,
    normal_spring,
    shear_spring,
)
from taction.dynamics.delassus import ContactPoint, contact_inertia
from taction.geometry.filters import candidate_pairs
from taction.kinematics.forward import forward_kinematics
from taction.model.shapes import Capsule, Cylinder, Ellipsoid, Sphere
from taction.sim.world import World

AXES = np.concatenate([np.eye(3), -np.eye(3)])
ALONG, ACROSS = 0, 1  # columns of masses: along the normal, across it
spring_of, drag_of, damper_of = plain(normal_spring), plain(shear_spring), plain(normal_damping)


def make_springs(world: World, contact: SoftContact) -> tuple[Array, Array]:
    """Rows of `taction.contact.forces.soft_pair` (n, ·), and what moves at each shape (n, 2) [kg].

    Raises:
        BadInput: two shapes that may touch have nothing soft between them, or one has Young's modulus and the
            other a stiffness, or one has Young's modulus and both are flat.
    """
    model = world.model
    g = float(np.linalg.norm(model.tree.gravity)) or EARTH
    total = np.bincount(
        np.maximum(world.robot_of, 0), weights=[body.inertia.mass for body in model.spec.bodies], minlength=1
    )
    masses, rows = moving_masses(world), []
    for i, material in enumerate(world.materials):
        body = int(world.shape_body[i])
        is_fixed = body < 0 or not np.isfinite(masses[i]).all()
        weight = g * (float(total.max()) if body < 0 else float(total[world.robot_of[body]]))
        rows.append(
            contact.row(
                material,
                weight=weight or g,
                mass=float(masses[i, ALONG]),
                mass_across=float(masses[i, ACROSS]),
                radius=radius_of(world, i),
                is_fixed=is_fixed,
            )
        )
    table = np.array(rows).reshape(-1, SOFT_WIDTH)
    for a, b in distinct_pairs(world, np.column_stack([table, masses])):
        soft = [i for i in (a, b) if table[i, SOFTNESS] > 0.0]
        pair = f"{world.shape_names[a]} and {world.shape_names[b]}"
        if not soft and np.isfinite(masses[[a, b]]).any():
            raise BadInput(f"{world.name}: {pair} are both rigid; give one of them a stiffness")
        if len({table[i, IS_HERTZIAN] for i in soft}) == 2:
            raise BadInput(
                f"{world.name}: of {pair} one has a Young's modulus, the other a stiffness; choose one kind"
            )
        if table[[a, b], IS_HERTZIAN].any() and not table[[a, b], CURVATURE].any():
            raise BadInput(
                f"{world.name}: {pair} are both flat, and Hertz's force of a Young's modulus needs a curved "
                "shape; give a stiffness instead"
            )
    return frozen(table), masses


def distinct_pairs(world: World, numbers: Array) -> IntArray:
    """Pairs of shapes that may touch (p, 2), one for all that have the same numbers (n, ·)."""
    pairs = candidate_pairs(world.filter)
    kind = np.unique(numbers, axis=0, return_inverse=True)[1].ravel()
    _, first = np.unique(kind[pairs], axis=0, return_index=True)
    return np.asarray(pairs[np.sort(first)])


def moving_masses(world: World) -> Array:
    """Least effective masses of each shape (n, 2) [kg], along the normal and across; infinite if fixed."""
    model, colliders = world.model, world.colliders
    poses = forward_kinematics(model, model.q0)
    out = np.full((len(world.shape_names), 2), math.inf)
    for i, body in enumerate(world.shape_body):
        if body < 0 or colliders.link[i] == 0:
            continue
        own = model.body_rotation[body].T @ (colliders.centre[i] - model.body_offset[body])
        centre = poses.rotation[body] @ own + poses.position[body]
        name = model.body_names[int(body)]
        points = [ContactPoint(name, centre + colliders.bound[i] * axis, np.eye(3)) for axis in AXES]
        with np.errstate(all="ignore"):
            W, _ = contact_inertia(model, model.q0, [*points, ContactPoint(name, centre, np.eye(3))])
        if not np.isfinite(W).all():
            raise ModelError(
                f"{world.name}: masses or lengths at body {name!r} are so large that numbers overflow"
            )
        blocks = [W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] for k in range(len(AXES) + 1)]
        across = max(float(np.linalg.eigvalsh(block)[-1]) for block in blocks[:-1])
        along = float(blocks[-1].diagonal().max()) if isinstance(world.geometries[i], Sphere) else across
        out[i] = [1.0 / most if most > 0.0 else math.inf for most in (along, across)]
    return out


def radius_of(world: World, i: int) -> float:
    """Radius of curvature of shape i [m]: a ball's, a rod's, the mean of an ellipsoid's; infinite if flat."""
    shape = world.geometries[i]
    if isinstance(shape, (Sphere, Capsule, Cylinder)):
        return float(shape.radius)
    if isinstance(shape, Ellipsoid):
        return float(np.prod(shape.radii)) ** (1.0 / 3.0)
    return math.inf


def allowed_step(
    world: World, contact: SoftContact, table: Array, masses: Array
) -> tuple[float, tuple[int, int]]:
    """Longest explicit step that every pair's spring and damper allow at one point of contact [s].

    Args:
        world: whose shapes may touch.
        contact: what their forces are.
        table: of `make_springs`.
        masses: of the same.

    Returns:
        The step, infinite where no pair limits it, and the shapes of the pair that does.
    """
    worst, which, g = math.inf, (0, 0), float(np.linalg.norm(world.model.tree.gravity)) or EARTH
    for a, b in distinct_pairs(world, np.column_stack([table, masses])):
        inverse = 1.0 / masses[a] + 1.0 / masses[b]
        if not inverse.all():
            continue
        m, across = 1.0 / inverse
        K, p, share = spring_of(table, a, b)
        damping = damper_of(table, contact.is_crossley, share, a, b)
        if p != 1.0:
            K = p * (m * g) ** (1.0 - 1.0 / p) * K ** (1.0 / p)  # slope where it carries that mass
        if contact.is_crossley:
            damping *= m * g
        along, drag = drag_of(table, a, b)
        springs = ((K, damping, m), (along, drag, across))
        limits = [longest_step(*spring) for spring in springs if spring[0] > 0.0]
        limit = min(limits, default=math.inf)
        if limit < worst:
            worst, which = limit, (int(a), int(b))
    return worst, which


def warn_of_step(world: World, contact: SoftContact, table: Array, masses: Array, dt: float) -> None:
    """Name the pair whose spring and damper ask for the shortest explicit step, if that is shorter than dt.

    Warns:
        StabilityWarning: there is one.
    """
    worst, which = allowed_step(world, contact, table, masses)
    if worst < dt:
        a, b = (world.shape_names[i] for i in which)
        warnings.warn(
            f"{world.name}: steps of {dt:g} s are longer than the spring and damper of {a} and {b} allow, "
            f"{worst:.3g} s at one point of contact; take shorter ones, softer springs, or "
            "integration='implicit'",
            StabilityWarning,
            stacklevel=4,
        )
