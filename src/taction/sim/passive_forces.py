"""Forces that a model has by itself besides its joints' own: springs of tendons, and weights taken off.

References: MuJoCo XML reference, ``tendon`` and ``gravcomp``.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import frozen
from taction.dynamics.servo import Servo, Servos, make_servos
from taction.model.model import Model
from taction.model.spec import ModelSpec, TendonSpec
from taction.steppers.scene import Lifts


def tendon_springs(spec: ModelSpec) -> Servos:
    """Springs and dampers along the tendons of a description."""
    out: list[Servo] = []
    for t, tendon in enumerate(spec.tendons):
        out += _springs(t, tendon)
    return make_servos(out)._replace(driven=0)


def _springs(t: int, tendon: TendonSpec) -> list[Servo]:
    """A spring about one length, or one on each side of the lengths between which it is slack; a damper."""
    (low, high), k, d = tendon.rest, tendon.stiffness, tendon.damping
    if k > 0.0 and low != high:
        slack = [Servo(k, 0.0, high=0.0, transmission=t, rest=k * high) if np.isfinite(high) else None]
        slack.append(Servo(k, 0.0, low=0.0, transmission=t, rest=k * low) if np.isfinite(low) else None)
        damper = [Servo(0.0, d, transmission=t)] if d > 0.0 else []
        return [servo for servo in slack if servo is not None] + damper
    return [Servo(k, d, transmission=t, rest=k * low)] if k > 0.0 or d > 0.0 else []


def make_lifts(model: Model) -> Lifts:
    """Weights that forces at the centres of mass take off."""
    lifted = [(b, body) for b, body in enumerate(model.spec.bodies) if body.gravity_compensation != 0.0]
    share = np.array([body.gravity_compensation * body.inertia.mass for _, body in lifted])
    first = [
        m * (model.body_rotation[b] @ body.inertia.com + model.body_offset[b])
        for m, (b, body) in zip(share, lifted, strict=True)
    ]
    return Lifts(
        link=frozen([model.body_link[b] for b, _ in lifted], np.int64),
        mass=frozen(share),
        first=frozen(np.array(first).reshape(-1, 3)),
    )
