"""A world along a path as one linear complementarity system per step, all with one origin.

What it makes: for configurations q_k and velocities v_k, k < N, at which the world is expected, the systems
of `taction.planning.linearise` there, with states counted from one q₀: with e_k = (q₀ − q_k, 0),

    x⁺ = A_k x + B_k u + C_k λ + (d_k + A_k e_k − e_k),      η = D_k x + E_k u + F_k λ + (c_k + D_k e_k).

Why: a system holds the levers of its contacts. Linearised where a leg is now, it knows nothing of how the leg
will lean while it stands, and counts the push of the first instant for all of the stance.

Departures: coordinates are numbers that are added, so that worlds with floating or ball joints are refused.

Cost: N linearisations.

References: [StewartTrinkle1996] for the systems; [AydinogluWeiHuangPosa2024] for their use in control.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import as_float
from taction._core.errors import BadInput
from taction._core.expect import instance
from taction.planning.linearise import Lineariser
from taction.planning.system import ContactSystem


def along_path(
    lineariser: Lineariser, origin: ArrayLike, q: ArrayLike, v: ArrayLike
) -> tuple[ContactSystem, ...]:
    """Systems near configurations (N, nq) and velocities (N, nv), their states counted from an origin (nq,).

    Raises:
        BadInput: wrong shapes, or coordinates that are not added.
    """
    model = instance(lineariser, Lineariser, "lineariser").model
    if model.nq != model.nv:
        raise BadInput(f"along_path: {model.name} has joints whose coordinates are not added")
    start = as_float(origin, (model.nq,), "origin")
    q = as_float(q, (None, model.nq), "q")
    v = as_float(v, (len(q), model.nv), "v")
    out = []
    for place, rate in zip(q, v, strict=True):
        system = lineariser.at(place, rate)
        e = np.concatenate([start - place, np.zeros(model.nv)])
        out.append(
            replace(system, d=system.d + system.A @ e - e, c=system.c + system.D @ e, origin=start,
                    guard=None if system.guard is None
                    else system.guard._replace(g=system.guard.g + system.guard.G @ e))
        )  # fmt: skip
    return tuple(out)
