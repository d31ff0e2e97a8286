"""Step-size study of a model of contact: how its end depends on the step, and from which step on it blows up.

Method
1. Runs with the step times each of `FACTORS`, over the same time; the *end difference* is the largest
   distance of a point of a body at the end from where the run with the finest step has it at that time [m].
2. If none of them blew up and contact is an explicit force, the step is doubled up to `MOST` times the step
   asked for, until one does.
3. `HALVINGS` bisections between the longest step that did not and the shortest that did.
4. The *order of the overlap* p is that of the line through all runs that did not blow up, log depth over log
   step: 1 for what a scheme overlooks until its next look, which scatters between nothing and h v, and 0 for
   what a spring gives way.

A model whose steps are slow is studied over a part of the time: what `BUDGET` allows, and no less than
`LEAST` of the coarsest steps. A line goes through `LINE` points or more.

References: [HairerNorsettWanner1993, Section IV.2] for explicit steps of stiff springs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taction._core.arrays import Array
from taction.kinematics.forward import forward_kinematics
from taction.sim.contact_summary import LEFT_MOST
from taction.sim.run import Run
from taction.studies.contender import Attempt, Contender

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MOST = 256.0
HALVINGS = 3
BUDGET = 10.0  # [s]
LEAST, LINE = 4, 3


@dataclass(frozen=True)
class StepRow:
    """One run: its step [s]; end difference and overlap [m], if known; why and when [s] it ended early."""

    dt: float
    end_difference: float | None
    penetration: float | None
    failure: str
    failure_time: float | None


@dataclass(frozen=True)
class StepStudy:
    """Runs of one model, by step.

    Attributes:
        contact: name of the model.
        duration: of every run [s].
        rows: from the finest step to the coarsest.
        longest_stable: the longest step below every one that blew up [s].
        shortest_unstable: the shortest one that blew up [s], None if none did.
        predicted: longest step of one point of contact by its spring and damper [s], None for laws.
    """

    contact: str
    duration: float
    rows: list[StepRow]
    longest_stable: float | None
    shortest_unstable: float | None
    predicted: float | None

    @property
    def overlap_order(self) -> float | None:
        """Method 4; None where the study tells nothing, for want of overlap or of steps."""
        rows = [row for row in self.rows if not row.failure and (row.penetration or 0.0) > LEFT_MOST]
        if len(rows) < LINE:
            return None
        steps, depths = (np.log([getattr(row, name) for row in rows]) for name in ("dt", "penetration"))
        return float(np.polyfit(steps, depths, 1)[0])


def study_steps(contender: Contender, dt: float, duration: float, cost: float) -> StepStudy:
    """Run a contender with many steps around dt, for a duration or less; a step takes ``cost``, all in s."""
    whole = FACTORS[-1] * dt
    steps = BUDGET / (max(cost, 1e-9) * sum(1.0 / factor for factor in FACTORS))
    duration = min(duration, max(steps * dt, LEAST * whole))
    duration = math.floor(duration / whole + 1e-9) * whole if duration >= whole else duration
    factors = [factor for factor in FACTORS if factor * dt <= duration * (1.0 + 1e-9)]
    found = {factor * dt: _attempt(contender, factor * dt, duration) for factor in factors}
    predicted = contender.allowed_step
    step = max(found)
    while predicted is not None and not _failed(found) and 2.0 * step <= min(MOST * dt, 0.25 * duration):
        step = 2.0 * step
        found[step] = _attempt(contender, step, duration)
    finest = found[min(found)]
    rows = [_row(step, found[step], finest) for step in sorted(found)]
    for _ in range(HALVINGS):
        low, high = _bracket(found)
        if low is None or high is None:
            break
        middle = math.sqrt(low * high)
        found[middle] = _attempt(contender, middle, duration)
    low, high = _bracket(found)
    return StepStudy(contender.name, duration, rows, low, high, predicted)


def end_distance(run: Run, other: Run) -> float:
    """Largest distance of a body at the end of a run from where another has it at that time [m]."""
    k = int(np.abs(other.t - run.t[-1]).argmin())
    return float(np.linalg.norm(places(run, -1) - places(other, k), axis=2).max())


def places(run: Run, k: int) -> Array:
    """Where all bodies are in the state k of a run [m], shape (bodies, 4, 3).

    Four points of each: its centre of mass, and points at its radius of gyration along its axes, so that
    turning about a pivot or a centre is seen, too.
    """
    pose = forward_kinematics(run.model, run.q[k])
    out = np.zeros((len(pose.position), 4, 3))
    for i, body in enumerate(run.model.spec.bodies):
        own = body.inertia
        radius = math.sqrt(0.5 * float(np.trace(own.matrix)) / own.mass) if own.mass > 0.0 else 0.0
        points = own.com + radius * np.concatenate([np.zeros((1, 3)), np.eye(3)])
        out[i] = points @ pose.rotation[i].T + pose.position[i]
    return out


def _attempt(contender: Contender, dt: float, duration: float) -> Attempt:
    return contender.attempt(dt, max(math.floor(duration / dt + 1e-9), 1) * dt)


def _row(step: float, attempt: Attempt, finest: Attempt) -> StepRow:
    distance = None
    depth = None if attempt.run is None else attempt.run.certificate.penetration
    if attempt.run is not None and finest.run is not None and not (attempt.failure or finest.failure):
        distance = end_distance(attempt.run, finest.run)
    return StepRow(step, distance, depth, attempt.failure, attempt.time)


def _failed(found: dict[float, Attempt]) -> list[float]:
    return [step for step, attempt in found.items() if attempt.failure]


def _bracket(found: dict[float, Attempt]) -> tuple[float | None, float | None]:
    """The longest step below every one that failed, and the shortest that failed."""
    high = min(_failed(found), default=None)
    low = max((step for step in found if high is None or step < high), default=None)
    return low, high
