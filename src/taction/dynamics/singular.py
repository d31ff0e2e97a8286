"""Why a mass matrix is singular, in words: which joints move next to nothing together, and what would help.

A mechanism may be sound where it starts and lose its inertia on the way: three hinges through one point with
nothing between them are a ball joint until two axes meet (gimbal lock), and then a motion of the joints moves
no mass. Forces on that motion accelerate it without bound, whatever the step.

What has no inertia in any configuration is found by `taction.model.loose`; here one is given, and the answer
is the eigenvector of least eigenvalue of the mass matrix, scaled so that every joint alone counts as one.

References: [GolubVanLoan2013, Section 8.1].
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.dynamics.crba import mass_matrix
from taction.model.loose import called, loose_motions, some_of, tell_loose
from taction.model.model import Model
from taction.model.spec import BodySpec, JointSpec

# Share of the largest entry of a motion from which on a joint takes part in it.
TAKES_PART = 0.3
# Share of inertia above which a mass matrix is not singular by any rounding.
REGULAR = 1e-6


def tell_singular(model: Model, q: Array) -> str:
    """What makes the mass matrix singular at a configuration where it is known to be, q (nq,)."""
    if model.nv == 0 or not np.isfinite(q).all():
        return "the configuration is not finite"
    loose = loose_motions(model)
    if loose:
        return tell_loose(loose)
    share, motion = lightest_motion(model, q)
    if share > REGULAR:
        return "forces or velocities are so large that numbers overflow"
    return tell_motion(model, motion) if np.isfinite(share) else tell_overflow(model, q)


def lightest_motion(model: Model, q: Array) -> tuple[float, Array]:
    """The motion (nv,) of least inertia, and its share of what its joints move one at a time.

    The share is 0 where a joint alone moves nothing, and NaN where the mass matrix is not finite.
    """
    with np.errstate(all="ignore"):
        M = mass_matrix(model, q)
        alone = np.diag(M)
        if not np.isfinite(M).all():
            return np.nan, np.zeros(model.nv)
        if not (alone > 0.0).all():
            return 0.0, np.eye(model.nv)[np.argmin(alone)]
        scale = 1.0 / np.sqrt(alone)
        scaled = scale[:, None] * M * scale
        if not np.isfinite(scaled).all():
            return np.nan, np.zeros(model.nv)
        values, motions = np.linalg.eigh(scaled)
    return float(values[0]), motions[:, 0]


def tell_motion(model: Model, motion: Array) -> str:
    """Which joints move almost no mass together in a motion (nv,), and what to write instead."""
    share = np.abs(motion)
    least = TAKES_PART * share.max()
    spec = model.spec
    joints = [spec.joint(joint.name) for joint in model.joints if share[joint.v_slice].max() >= least]
    light = [body for body in _between(model, joints) if body.inertia.mass <= 0.0]
    bodies = light or [spec.body(joint.child) for joint in joints]
    whom = some_of(map(called, bodies))
    inertia = "<inertial>" if bodies[0].source else "inertia"
    rotor = "the joints an armature" if len(joints) > 1 else "the joint an armature, or make it fixed"
    moves = "move almost no mass together" if len(joints) > 1 else "moves almost no mass"
    return f"{some_of(map(called, joints))} {moves}; give {whom} an {inertia}, or {rotor}"


def tell_overflow(model: Model, q: Array) -> str:
    """Which joint moves masses so large or so far away that numbers overflow at a configuration (nq,)."""
    with np.errstate(all="ignore"):
        M = mass_matrix(model, q)
    bad = np.flatnonzero(~np.isfinite(M).all(axis=1))
    joints = [joint for joint in model.joints if np.isin(bad, range(joint.iv, joint.v_slice.stop)).any()]
    names = some_of(called(model.spec.joint(joint.name)) for joint in joints)
    return f"masses, lengths or displacements of {names or 'the joints'} are so large that numbers overflow"


def _between(model: Model, joints: list[JointSpec]) -> list[BodySpec]:
    """Children of joints and of all joints between them."""
    spec = model.spec
    above = {joint.child: joint for joint in spec.joints}
    ways = []
    for joint in joints:
        way = [joint.child]
        while above[way[-1]].parent in above:
            way.append(above[way[-1]].parent)
        ways.append(way[::-1])
    shared = min(len(way) for way in ways) - 1 if len(ways) > 1 else len(ways[0]) - 1
    while any(way[:shared] != ways[0][:shared] for way in ways):
        shared -= 1
    names = dict.fromkeys(name for way in ways for name in way[shared:])
    return [spec.body(name) for name in names]
