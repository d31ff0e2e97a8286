"""Why a step could not be taken, in words.

A mechanism may be sound where it starts and lose its inertia on the way: three hinges through one point with
nothing between them are a ball joint until two axes meet (gimbal lock), and then a motion of the joints moves
no mass. Forces on that motion accelerate it without bound, whatever the step. The message names its joints.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.dynamics.crba import mass_matrix
from taction.model.model import Model
from taction.steppers import phases

MESSAGES = {
    phases.SINGULAR: "the mass matrix is singular",
    phases.NOT_FINITE: "the state is not finite; reduce the time step",
    phases.TOO_MANY_CONTACTS: "more contacts were found than max_contacts allows",
}
# A motion counts as massless if its inertia is this share of what its joints move one at a time, and a
# hundredth of that share in the neutral configuration: long chains have slight motions everywhere
MASSLESS, LOST = 1e-3, 1e-2


def explain(missing: int, model: Model, q: Array) -> str:
    """Why no step leads on from a configuration.

    Args:
        missing: what the step returned, of `taction.steppers.phases`.
        model: in joint coordinates.
        q: the last one reached (nq,).
    """
    massless = () if missing == phases.TOO_MANY_CONTACTS else _massless(model, q)
    if not massless:
        return MESSAGES[missing]
    joints = " and ".join(repr(name) for name in massless)
    return (
        f"the mass matrix is singular: {joints} move almost no mass together; give the bodies between "
        "them an inertia, or the joints an armature"
    )


def _massless(model: Model, q: Array) -> tuple[str, ...]:
    """The joints of the motion that moves least mass, if that is next to none."""
    if model.nv == 0 or not np.isfinite(q).all():
        return ()
    before, _ = _slightest(model, model.q0)
    now, motion = _slightest(model, q)
    if now > min(MASSLESS, LOST * before):
        return ()
    share = np.abs(motion)
    return tuple(joint.name for joint in model.joints if share[joint.v_slice].max(initial=0.0) > 0.3)


def _slightest(model: Model, q: Array) -> tuple[float, Array]:
    """The motion of least inertia relative to that of its joints one at a time, and that ratio."""
    M = mass_matrix(model, q)
    scale = 1.0 / np.sqrt(np.diag(M))
    values, motions = np.linalg.eigh(scale[:, None] * M * scale)
    return float(values[0]), motions[:, 0]
