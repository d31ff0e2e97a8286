"""Which states of a run become frames: evenly spaced, sixty a second, within a budget of bytes.

A run of less than a few seconds has more of them per second: it is watched slowly.
A body's pose takes 28 bytes a frame, a contact 40. Where all frames together would take more than the budget,
there are fewer of them per second; how many is said in a sentence, and so is everything else that was left
out. Curves are thinned on their own and keep every peak (`taction.drawing.panels`).
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import IntArray
from taction.drawing.motion import MOST_CONTACTS
from taction.drawing.number_text import short
from taction.sim.run import Run

PER_SECOND = 60.0
FEWEST = 180  # frames of a short run, if it has so many states
BUDGET = 6_000_000  # bytes of poses and contacts before they are compressed
POSE_BYTES, CONTACT_BYTES = 28, 40


def choose_rows(run: Run, budget: int = BUDGET) -> tuple[IntArray, str]:
    """States to show, and the sentence that says which."""
    seconds = max(float(run.t[-1] - run.t[0]), run.dt)
    contacts = 0.0
    if run.contacts is not None and run.steps:
        each = np.bincount(run.contacts.step, minlength=run.steps)
        contacts = float(np.minimum(each, MOST_CONTACTS).mean())
    per_frame = POSE_BYTES * len(run.model.body_names) + CONTACT_BYTES * contacts + 16
    wanted = max(int(np.ceil(seconds * PER_SECOND)), FEWEST) + 1
    most = max(2, min(int(budget / per_frame), wanted))
    if run.steps + 1 <= most:
        return np.arange(run.steps + 1), f"Every step is shown, {run.steps + 1} frames, in 32-bit numbers."
    stride = int(np.ceil(run.steps / (most - 1)))
    rows = np.arange(0, run.steps + 1, stride)
    if rows[-1] != run.steps:
        rows = np.append(rows, run.steps)
    rate = 1.0 / (stride * run.dt)
    return rows, (
        f"One in {stride} of {run.steps} steps is shown, {short(rate)} frames per second of simulated time, "
        "in 32-bit numbers; curves keep their peaks."
    )
