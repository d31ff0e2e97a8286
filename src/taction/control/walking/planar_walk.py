"""Walks of robots whose torso slides without turning: joint angles over time, from kinematics alone.

What it solves: joint angles of a planar walker such that it walks along x. Its torso cannot lean, so that no
zero-moment point has to be kept; what a walk asks for is that feet which stand do not slip and that feet
which land do so at rest.

Method
1. *Torso*: at the height of the stance, ahead by X(t), which grows with the speed after a ramp
   (`taction.control.walking.footsteps.progress`).
2. *Feet*: stand still on the ground, so that against the torso they move backward at its speed, and swing
   from place to place with velocity and acceleration zero at both ends (`foot_path`); they keep their angle.
3. *Inverse kinematics* (`taction.control.walking.legs`): the angles of all legs, sampled, as a `JointPath`
   that starts at rest in the stance and repeats its last period for ever.

Gaits: legs in pairs that lift in turn, with a duty of 0.5 where nothing else is asked for: one foot of two,
or one diagonal of four, carries at any time. Where more legs stand than that, their angles must fit each
other to the last digit, or those of them carry that happen to be longer by a nanometre: motors that follow
angles without giving way leave the loads of such legs open.

The centre of mass moves with the torso and with the swinging legs, so that the ground must push ahead and
back by what their momentum changes. With the mass m_s of a swinging leg, a speed v and a time in the air T_s,
that is about ± 6 m_s v/T_s.

References: [BhargavaReport, Section 5] for the walks; [Hildebrand1965] for gaits as duty and phase.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction._core.expect import instance, number
from taction._core.show import brief_repr
from taction.control.joint_path import JointPath
from taction.control.walking.base import base_pose
from taction.control.walking.footsteps import foot_path, progress
from taction.control.walking.gaits import Gait
from taction.control.walking.legs import Leg, find_legs, in_order, joint_path
from taction.model.model import Model

INTERVAL = 1e-3  # between two samples [s]
STEPS = Gait("steps", (0.0, 0.5), period=0.8, duty=0.5)
TROT = Gait("trot", (0.0, 0.5, 0.5, 0.0), period=0.6, duty=0.5)


@dataclass(frozen=True, eq=False)
class PlanarWalk:
    """A walking reference, sampled up to where it repeats itself.

    Attributes:
        path: joint angles; the last period is repeated for ever.
        t: times of the samples [s], shape (n,).
        body: of the torso's origin [m], shape (n, 3).
        feet: of all feet [m], shape (n, legs, 3).
        gait: when legs lift.
        legs: right, left; or right back, left back, right front, left front.
        speed: of the torso once it is steady [m/s].
    """

    path: JointPath
    t: Array
    body: Array
    feet: Array
    gait: Gait
    legs: tuple[Leg, ...]
    speed: float

    __repr__ = brief_repr

    @property
    def step_length(self) -> float:
        """From a foot that carried to the next one that does [m]."""
        return self.speed * self.gait.period / self.gait.beats


def planar_walk(
    model: Model,
    *,
    speed: float = 0.7,
    step_height: float = 0.05,
    period: float | None = None,
    duty: float | None = None,
    start: float = 0.2,
    ramp: float = 1.0,
    gait: Gait | None = None,
    q: ArrayLike | None = None,
    interval: float = INTERVAL,
) -> PlanarWalk:
    """A reference of joint angles with which a planar walker walks along x.

    Args:
        model: a robot of two or four legs of three parallel hinges, whose torso slides along x and z.
        speed: ahead [m/s]; negative: backward.
        step_height: by which feet rise [m].
        period: of the gait [s]; its own by default.
        duty: part of the period that feet stand; the gait's own by default.
        start: how long it stands first [s].
        ramp: time in which the speed grows [s].
        gait: when legs lift; one after the other of two legs, diagonals of four by default.
        q: stance, shape (nq,); the neutral configuration by default.
        interval: between two samples, or a little less, so that a period has a whole number of them [s].

    Raises:
        BadInput: no planar walker, impossible numbers, or a step that a leg cannot reach or a joint's stop
            forbids.
    """
    instance(model, Model, "planar_walk: the first argument")
    given = {"step_height": step_height, "start": start, "ramp": ramp, "speed": speed, "interval": interval}
    for name, value in given.items():
        least = {"speed": -np.inf, "interval": np.finfo(float).tiny}.get(name, 0.0)
        if not (np.isfinite(number(value, f"planar_walk: {name}")) and value >= least):
            raise BadInput(f"planar_walk: {name} is out of range, got {value!r}")
    stance = model.q0 if q is None else model.check_q(q, "stance")
    legs = _legs(model, stance)
    shape = gait or (STEPS if len(legs) == 2 else TROT)
    if len(shape.lift) != len(legs):
        raise BadInput(f"planar_walk: a gait of {len(shape.lift)} legs for a robot of {len(legs)}")
    shape = replace(
        shape, period=shape.period if period is None else period, duty=shape.duty if duty is None else duty
    )
    count = max(int(np.ceil(shape.period / interval - 1e-9)), 2)
    interval = shape.period / count
    # feet look half a stance ahead when they land: two periods after the ramp all is periodic
    periods = int(np.ceil((start + ramp) / shape.period)) + 3
    t = interval * np.arange(periods * count + 1, dtype=np.float64)
    R, origin = base_pose(model, stance)
    homes = np.array([origin + R @ leg.home for leg in legs])
    feet = np.stack(
        [
            foot_path(t, home, shape, k, start=start, speed=speed, ramp=ramp, height=step_height)
            for k, home in enumerate(homes)
        ],
        axis=1,
    )
    body = np.tile(origin, (len(t), 1))
    body[:, 0] += progress(t, start, speed, ramp)
    path = joint_path(model, legs, feet, body, R, interval, repeated=count)
    return PlanarWalk(path, t, body, feet, shape, legs, float(speed))


def _legs(model: Model, stance: Array) -> tuple[Leg, ...]:
    """Right and left, or those of a quadruped in order."""
    legs = find_legs(model, stance)
    if not all(leg.is_planar for leg in legs) or len(legs) not in (2, 4):
        raise BadInput(
            f"{model.name} is no planar walker: two or four legs of three parallel hinges are needed, "
            f"{len(legs)} legs were found"
        )
    if len(legs) == 4:
        return in_order(model, legs)
    return tuple(sorted(legs, key=lambda leg: float((base_pose(model, stance)[0] @ leg.home)[1])))
