"""A jump as a reference of joint angles: crouch, extend, draw the legs in, land, stand up.

What it solves: joint angles over time with which a legged robot jumps straight up from its stance, to be
followed by joint controllers alone.

Notation: L distance of the feet below the base, L₀ in the stance [m]; v speed at which the legs extend at the
end [m/s]; g gravity.

Method. Feet stay below their homes and move together; L(t) is pieced together from

    stand     L = L₀
    crouch    from L₀ to L_c = L₀ − depth, smoothly, and a rest there
    extend    L = L_c + ½ a t² with a = v²/(2 (L_e − L_c)), up to L_e = L₀ + rise/2: speed v at the end
    brake     L = L_e + v t − ½ b t², up to L₀ + rise, where the legs stop: the feet leave the ground
    flight    for 2 v/g: the legs are drawn in to L₀
    land      the feet yield from L₀ to L_c, smoothly, while the ground comes; then back to L₀

and inverse kinematics gives the angles (`taction.control.walking.legs`).

The body leaves the ground more slowly than v, since feet and shanks that hardly moved while it was pushed
must be taken along: momentum is kept, so that a robot whose legs have half of its mass loses a third of v.
The flight is planned with v all the same; landing early or late is left to the joint controllers. Legs that
all bend the same way carry angular momentum when they stop, and the body pitches in the air; where front and
back legs bend towards each other it goes straight up.

References: [Ayit2015, Section 5.4.5], which names crouch and extension and prints no numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.show import brief_repr
from taction.control.joint_path import JointPath
from taction.control.walking.base import base_pose
from taction.control.walking.footsteps import smooth_step
from taction.control.walking.legs import find_legs, joint_path
from taction.model.model import Model

INTERVAL = 2e-3  # between two samples [s]
CROUCH, REST, DRAW, LAND, RISE_UP = 0.6, 0.2, 0.2, 0.25, 0.8  # how long phases last [s]


@dataclass(frozen=True, eq=False)
class Jump:
    """A jump as a reference, sampled.

    Attributes:
        path: joint angles.
        t: times of the samples [s], shape (n,).
        length: of the feet below the base [m], against the stance, shape (n,).
        phases: when each begins [s], by name.
    """

    path: JointPath
    t: Array
    length: Array
    phases: dict[str, float]

    __repr__ = brief_repr


def jump(
    model: Model,
    *,
    speed: float = 4.0,
    depth: float = 0.25,
    rise: float = 0.05,
    start: float = 0.5,
    q: ArrayLike | None = None,
    feet: tuple[str, ...] | None = None,
    interval: float = INTERVAL,
) -> Jump:
    """A reference of joint angles with which a legged robot jumps up.

    Args:
        model: a robot with a floating base and legs of three or four hinges.
        speed: v, at which the legs extend at the end [m/s].
        depth: of the crouch below the stance [m].
        rise: by which the legs are longer than in the stance where they stop [m].
        start: how long it stands first [s].
        q: stance, shape (nq,); the neutral configuration by default.
        feet: bodies that carry the feet; found by default, see `find_legs`.
        interval: between two samples [s].

    Raises:
        BadInput: no legs, impossible numbers, or a length that a leg cannot reach.
    """
    for name, value in {"speed": speed, "depth": depth, "rise": rise, "interval": interval}.items():
        if not (np.isfinite(value) and value > 0.0):
            raise BadInput(f"jump: {name} must be positive and finite, got {value!r}")
    if not (np.isfinite(start) and start >= 0.0):
        raise BadInput(f"jump: start must be finite and not negative, got {start!r}")
    stance = model.q0 if q is None else model.check_q(q, "stance")
    legs = find_legs(model, stance, feet)
    stroke, brake = depth + 0.5 * rise, 0.5 * rise
    gravity = float(np.linalg.norm(model.tree.gravity)) or 9.81
    lasts = {
        "stand": start, "crouch": CROUCH, "rest": REST, "extend": 2.0 * stroke / speed,
        "brake": 2.0 * brake / speed, "draw": DRAW, "fly": max(2.0 * speed / gravity - DRAW, 0.0),
        "land": LAND, "rise": RISE_UP,
    }  # fmt: skip
    begins = dict(zip(lasts, np.cumsum([0.0, *list(lasts.values())[:-1]]).tolist(), strict=True))
    t = np.asarray(interval * np.arange(round(sum(lasts.values()) / interval) + 2), dtype=np.float64)

    def through(phase: str) -> Array:
        return np.clip((t - begins[phase]) / max(lasts[phase], 1e-9), 0.0, 1.0)

    smooth = {phase: smooth_step(through(phase)) for phase in ("crouch", "draw", "land", "rise")}
    slowed = through("brake")
    length = stroke * through("extend") ** 2 + brake * slowed * (2.0 - slowed) - rise * smooth["draw"]
    length += depth * (smooth["rise"] - smooth["crouch"] - smooth["land"])
    R, origin = base_pose(model, stance)
    homes = np.array([origin + R @ leg.home for leg in legs])
    placed = np.repeat(homes[None], len(t), axis=0)
    placed[:, :, 2] -= length[:, None]
    path = joint_path(model, legs, placed, np.tile(origin, (len(t), 1)), R, interval)
    return Jump(path, t, length, begins)
