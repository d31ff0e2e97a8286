"""How far a run ends from MuJoCo's, and one word that says why where it is far.

MuJoCo has contacts, stops and equalities as stiff as they go and the same pairs excluded, and starts where
nothing overlaps and stops are kept. An end within `PLACE` and `ANGLE` is the same one and needs no word.

* "coarse": with MuJoCo's finer step our end is within the limits, so it is the step of the file.
* "chaotic": MuJoCo with half its step parts from itself by a tenth of the limits, and until then we are
  within them, with its step.
* "convex": MuJoCo lets a contact that strikes and slides on separate at μ times its speed, as its convex cone
  does and Coulomb's does not, and until then we are within the limits.
* "torsion": we are within them where MuJoCo has no torsional and no rolling friction either.
* "fluid", "muscle" and others: the file asks for what rigid contact, joints and motors have not.
* "contradictory": what the file asks of stops, loops and contacts is never all kept, by MuJoCo neither;
  "far out": it starts so far beyond that it is still on its way in when the run ends, at a bounded speed;
  "violated": neither, a failure.
* "differs" is none of these, and a failure.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from stiff_mujoco import FINE, Stiff

import taction as ta
from taction.kinematics.loops import loop_gaps
from taction.steppers.columns import AT_BOUND

PLACE, ANGLE = 0.01, 0.02  # within which two ends are the same [m, rad]
INSTANTS = 100  # of a run that are compared
CLEAN = 1e-5  # overlap, or joint beyond its stop, from which stiff MuJoCo may start [m or rad]
FAILURES = ("differs", "violated")
# what a file asks for and rigid contact, joints and motors do not have: word → how `Model.unread` names it
REASONS = {
    "fluid": ("fluid", "density", "viscosity", "wind"),
    "muscle": ("muscle", "dyntype", "activation"),
    "spatial-tendon": ("spatial/geom",),
    "adhesion": ("adhesion",),
    "site-force": ("site",),
    "terrain": ("hfield",),
    "rotor": ("tendon armature",),
    "mesh-mass": ("fitted to a mesh", "mesh of polygons"),
}


def compare(
    path: Path, model: ta.Model, run: Any, fine: Any, row: dict[str, Any], order: Any
) -> dict[str, Any]:
    """Distance of the end from stiff MuJoCo's, and why.

    Args:
        path: the file, as MuJoCo reads it.
        model: ours.
        run: our run.
        fine: our run on from a step, with so many times finer steps.
        row: what is known of the run: `exempt` and `unread`.
        order: which of our coordinates are MuJoCo's, in its order.
    """
    refined, begin = max(1, round(run.dt / FINE)), first_clean(model, run)
    if begin < 0:
        is_theirs = Stiff(path, run, row["exempt"], 0, order).violation(refined) > CLEAN
        is_on_its_way = run.records[-1, AT_BOUND] > 0.0
        return {"reason": "contradictory" if is_theirs else "far out" if is_on_its_way else "violated"}
    stiff = Stiff(path, run, row["exempt"], begin, order)
    every = max(1, (len(run.t) - 1 - begin) // INSTANTS)
    ours, times = run.q[begin::every], run.t[begin::every]
    one, two = (stiff.motion(n, every, len(times)) for n in (refined, 2 * refined))
    place, angle = distance(model, ours[-1], two[-1])
    out = {"place": place, "angle": angle, "from": times[0], "until": times[-1], "reason": ""}
    if place <= PLACE and angle <= ANGLE:
        return out
    parted = (k for k in range(len(ours)) if not is_near(model, one[k], two[k], 0.1))
    last = next(parted, len(ours)) - 1
    finer = ours if refined == 1 else fine(begin, refined).q[:: every * refined]
    out["until"] = times[last]
    if is_near(model, finer[last], two[last]):
        return out | {"reason": "coarse" if last == len(ours) - 1 else "chaotic"}
    has_ground = not any("hfield" in what for what in row["unread"])  # what strikes is all there
    struck = stiff.first_struck(2 * refined, every, last) if has_ground else last
    if struck < last and is_near(model, finer[struck], two[struck]):
        return out | {"reason": "convex", "until": times[struck]}
    if any("condim" in what for what in row["unread"]):
        plain = replace(stiff, dimensions=3).motion(2 * refined, every, last + 1)
        if is_near(model, finer[last], plain[last]):
            return out | {"reason": "torsion"}
    for word, names in REASONS.items():
        if any(name in what for what in row["unread"] for name in names):
            return out | {"reason": word}
    return out | {"reason": "differs"}


def first_clean(model: ta.Model, run: Any) -> int:
    """First step of a run at which nothing overlaps, all stops are kept and loops closed, or −1.

    Many files start with feet in the ground or knees beyond their stops. We mend that at a bounded speed;
    MuJoCo made stiff shoots it apart, and what follows means nothing.
    """
    contacts, is_clean = run.contacts, np.ones(len(run.t) - 1, dtype=bool)
    is_clean[contacts.step[contacts.gap < -CLEAN]] = False
    for joint in model.joints:
        at = run.q[:-1, joint.q_slice]
        if at.shape[1] == 1:
            lower, upper = model.lower[joint.iv], model.upper[joint.iv]
            is_clean &= (at[:, 0] > lower - CLEAN) & (at[:, 0] < upper + CLEAN)
    for k in np.flatnonzero(is_clean):
        if all(gap.distance < CLEAN and gap.angle < CLEAN for gap in loop_gaps(model, run.q[k])):
            return int(k)
    return -1


def is_near(model: ta.Model, a: np.ndarray, b: np.ndarray, share: float = 1.0) -> bool:
    """Whether two configurations are within a share of the limits; not where one is NaN."""
    place, angle = distance(model, a, b)
    return place <= share * PLACE and angle <= share * ANGLE


def distance(model: ta.Model, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """How far bodies are apart [m], and turned [rad], at most."""
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return np.inf, np.inf
    one, two = ta.forward_kinematics(model, a), ta.forward_kinematics(model, b)
    turned = np.einsum("bij,bij->b", one.rotation, two.rotation)
    place = float(np.linalg.norm(one.position - two.position, axis=1).max(initial=0.0))
    return place, float(np.arccos(np.clip(0.5 * (turned - 1.0), -1.0, 1.0)).max(initial=0.0))
