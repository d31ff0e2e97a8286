"""The energies of a state, for every kind of run.

A step books the energies of the state that it starts from (`taction.steppers.ledger`); what no step starts
from (the end of a run, a run without steps, smooth motion) is measured here: links, rotors, gravity, and the
model's own joint springs.

Bodies in absolute coordinates obey their joints where the last step looked, not where it ended, to second
order in the step. Their kinetic energy is therefore that of the bodies as they move, and not that of the
joint rates one reads off them; rotors and springs are those of the joints in either case.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from taction._core.arrays import Array
from taction.dynamics.energy import sum_links
from taction.dynamics.joint_law import JointLaw, passive_law
from taction.kinematics.absolute import to_joints
from taction.model.absolute import Absolute
from taction.model.model import Model
from taction.model.workspace import make_workspace


def energies(
    model: Model, q: Array, v: Array, absolute: Absolute | None = None, angle: Array | None = None
) -> tuple[Array, Array]:
    """Kinetic and potential energy of states [J], shape (n,) each.

    Args:
        model: what the steps move.
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
        absolute: the mechanism whose bodies ``model`` is, in absolute coordinates.
        angle: angles of its joints there, shape (n, m, 3).
    """
    ws = make_workspace(model)
    states = zip(np.ascontiguousarray(q), np.ascontiguousarray(v), strict=True)
    links = np.array([sum_links(model.tree, *state, ws)[4:] for state in states]).reshape(-1, 2)
    kinetic, potential = links[:, 0], links[:, 1]
    if absolute is not None and angle is not None:
        model = absolute.robot
        q, v = to_joints(absolute, q, v, angle)
        kinetic = kinetic + 0.5 * (model.tree.armature * v**2).sum(axis=1)
    return kinetic, potential + spring_energy(model, q)


@lru_cache(maxsize=8)
def _springs(model: Model) -> JointLaw:
    return passive_law(model)


def spring_energy(model: Model, q: Array) -> Array:
    """Energy of the model's own joint springs in configurations q (n, nq) [J], shape (n,)."""
    law = _springs(model)
    stretch = np.where(law.iq >= 0, q[:, law.iq] - model.rest, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # infinite where it overflows
        return np.asarray(0.5 * (law.K * stretch**2).sum(axis=1))
