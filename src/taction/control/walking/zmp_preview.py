"""Preview control of the zero-moment point: how the centre of mass must move so that it follows a plan.

What it solves: a body of mass m moves at a constant height z above its feet. The point of the ground about
which gravity and inertia have no moment, the zero-moment point p, must stay where the feet can carry. Given
where it should be at all times, p*, find the motion c of the centre of mass that brings it there. Feet take
the load before the body can be above them, so that c must move *before* p* does: hence the preview.

Notation: c position of the centre of mass along one axis [m]; u its jerk [m/s³]; g gravity; T sampling time;
N samples of preview.

Equations. The cart on a table, sampled, u constant over T, x = (c, ċ, c̈):

    x⁺ = A x + B u,    p = C x,    C = (1, 0, −z/g)                                                    (1)

and the cost Σ Q e² + R u², e = Σ (p − p*) the running sum of the error, which leaves no error in the long
run. With P of the Riccati equation of the augmented system the optimal jerk is

    u = −G_e e − G_x x − Σ_{j=1…N} G_p(j) p*(k + j).                                                   (2)

Method: x and y are independent and have the same gains, which are computed once. Previews beyond the end of
the plan repeat its last value. c is only as good as (1): legs have mass, and the body does not keep its
height to the millimetre.

References: [Kajita2003, Sections III and IV] for (1) and (2); [Akbas2012] for quadrupeds; [Katayama1985] for
the gains of a preview.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_discrete_are

from taction._core.arrays import Array
from taction._core.errors import BadInput

WEIGHT = 1e6  # Q/R: how much an error of the point counts against jerk [m⁴/(m² s⁶)]
HORIZON = 1.6  # of the preview, Kajita's [s]


class PreviewGains(NamedTuple):
    """Gains of (2) and the system they are for."""

    A: Array  # (3, 3)
    B: Array  # (3,)
    C: Array  # (3,)
    error: float  # G_e
    state: Array  # (3,) G_x
    preview: Array  # (N,) G_p


def preview_gains(
    height: float, interval: float, *, gravity: float = 9.81, horizon: float = HORIZON, weight: float = WEIGHT
) -> PreviewGains:
    """Gains for a centre of mass at a height [m] and samples at an interval [s].

    Raises:
        BadInput: a number is not positive.
    """
    given = {"height": height, "interval": interval, "gravity": gravity, "horizon": horizon, "weight": weight}
    for name, value in given.items():
        if not (np.isfinite(value) and value > 0.0):
            raise BadInput(f"preview control: {name} must be positive and finite, got {value!r}")
    T = interval
    A = np.array([[1.0, T, T * T / 2.0], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
    B = np.array([T**3 / 6.0, T * T / 2.0, T])
    C = np.array([1.0, 0.0, -height / gravity])
    whole = np.zeros((4, 4))  # of the running error and the state
    whole[0, 0], whole[0, 1:], whole[1:, 1:] = 1.0, C @ A, A
    push = np.concatenate([[C @ B], B])[:, None]
    Q, R = np.diag([weight, 0.0, 0.0, 0.0]), np.eye(1)
    P = solve_discrete_are(whole, push, Q, R)
    share = 1.0 / float((R + push.T @ P @ push)[0, 0])
    K = share * (push.T @ P @ whole)[0]
    closed = whole - push @ K[None]
    count = max(round(horizon / interval), 1)
    preview, carried = np.empty(count), -(closed.T @ P[:, 0])
    for j in range(count):
        preview[j] = -K[0] if j == 0 else share * float(push[:, 0] @ carried)
        if j:
            carried = closed.T @ carried
    return PreviewGains(A, B, C, float(K[0]), K[1:], preview)


def follow_zmp(plan: Array, gains: PreviewGains) -> tuple[Array, Array]:
    """Centre of mass and zero-moment point that follow a plan, shape (n, d) each [m].

    Args:
        plan: where the point should be at every sample [m], shape (n, d): d axes. The centre of mass starts
            at rest above its first value.
        gains: of `preview_gains`.
    """
    count, d = len(gains.preview), plan.shape[1]
    ahead = np.concatenate([plan, np.repeat(plan[-1:], count, axis=0)])
    # Σ_j G_p(j) p*(k + j) of all k at once
    seen = np.stack(
        [np.convolve(ahead[:, i], gains.preview[::-1], mode="valid")[1:] for i in range(d)], axis=1
    )
    x = np.zeros((3, d))
    x[0] = plan[0]
    error = np.zeros(d)
    centre, point = np.empty_like(plan), np.empty_like(plan)
    for k in range(len(plan)):
        centre[k], point[k] = x[0], gains.C @ x
        error = error + point[k] - plan[k]
        jerk = -gains.error * error - gains.state @ x - seen[k]
        x = gains.A @ x + gains.B[:, None] * jerk
    return centre, point
