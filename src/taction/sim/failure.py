"""Why a step could not be taken, in words; `taction.dynamics.singular` knows it of mass matrices."""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.dynamics.singular import lightest_motion, tell_motion, tell_overflow, tell_singular
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
    if missing == phases.TOO_MANY_CONTACTS or model.nv == 0 or not np.isfinite(q).all():
        return MESSAGES[missing]
    now, motion = lightest_motion(model, q)
    if np.isnan(now):
        return tell_overflow(model, q)
    if missing == phases.SINGULAR:
        return f"{MESSAGES[missing]}: {tell_singular(model, q)}"
    before, _ = lightest_motion(model, model.q0)
    if now <= min(MASSLESS, LOST * before):
        return f"{MESSAGES[phases.SINGULAR]}: {tell_motion(model, motion)}"
    return MESSAGES[missing]
