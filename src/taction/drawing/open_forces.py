"""In which steps of a run the laws leave single contact forces open, so that only their sums are determined.

A record says so of all impulses of a step (`taction.contact.redundancy`): also of those of joints alone, and
where dependence was assumed for the number of blocks and not tested. Nothing is open where nothing presses,
as in flight; and where the record does not settle it, contacts are asked themselves. With C the rows of the
Jacobian for the directions in which contacts that press may carry more or less, all three where one sticks
and the normal one where it slides,

    single contact forces are open  ⇔  rank C′ < number of rows of C,                              (1)

C′ being C without the columns of joints that dry friction holds: it takes up any force.

Departures: stops of joints do not count as holding them, so that (1) says too little rather than too much.
The record is believed where loops, couplings or tendons tie joints together, and where C is large.

Cost: of a step that is asked the singular values of C′, unless it has more rows than columns.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array, IntArray
from taction.contact.redundancy import IMPULSES, RANK, VELOCITIES
from taction.drawing.friction_use import friction_use, presses
from taction.kinematics.forward import place_links
from taction.kinematics.jacobian import point_jacobian
from taction.model.workspace import make_workspace
from taction.sim.contact_list import ContactList
from taction.sim.run import Run
from taction.sim.world import World
from taction.solvers.auto import CHOOSING
from taction.steppers.columns import CONTACTS, NOT_UNIQUE

# What is slower than this rests: a contact sticks, dry friction holds a joint [m/s or rad/s].
STILL = 1e-8
# Entries of the largest C that is asked: a robot with its contacts, no pile.
LARGEST = 4096


def open_steps(run: Run, steps: IntArray | None = None) -> Array:
    """Whether single contact forces are open in each of some steps of a run, or of all; shape (k,)."""
    steps = np.arange(run.steps) if steps is None else steps
    table, world = run.contacts, run.world
    if table is None or world is None or run.records is None or not len(table.gap):
        return np.zeros(len(steps), dtype=bool)
    pressing = np.flatnonzero(presses(table.impulse[:, 0]))
    begin, end = (np.searchsorted(table.step[pressing], steps, side=side) for side in ("left", "right"))
    is_open = (run.records[steps, NOT_UNIQUE] >= IMPULSES) & (end > begin)
    sticks = np.zeros(len(table.gap), dtype=bool)
    rubs = friction_use(run).rows
    sticks[rubs] = np.hypot(table.velocity[rubs, 1], table.velocity[rubs, 2]) <= STILL
    for k in np.flatnonzero(is_open & np.logical_not(is_settled(run, steps))).tolist():
        rows, step = pressing[begin[k] : end[k]], int(steps[k])
        is_free = (run.model.friction == 0.0) | (np.abs(run.v[step + 1]) > STILL)
        count = len(rows) + 2 * int(sticks[rows].sum())
        if count <= is_free.sum() and count * run.model.nv <= LARGEST:
            C = directions(world, run.q[step], table, rows, sticks[rows])
            is_open[k] = np.linalg.matrix_rank(C[:, is_free], tol=RANK**0.5) < count
    return is_open


def is_settled(run: Run, steps: IntArray) -> Array:
    """Where the record is believed: contacts that press were tested, or (1) does not know all that holds."""
    spec, records = run.model.spec, run.records
    assert records is not None
    is_tied = bool(run.model.couplings or spec.loops or spec.tendons)
    was_tested = (records[steps, NOT_UNIQUE] == VELOCITIES) & (run.coordinates == "reduced")
    return is_tied | (was_tested & (records[steps, CONTACTS] + run.model.nv <= CHOOSING))


def directions(world: World, q: Array, table: ContactList, rows: IntArray, sticks: Array) -> Array:
    """Unit rows of the Jacobian at q for contacts ``rows`` of a table, three of one that sticks, else one."""
    model = world.model
    ws, J = make_workspace(model), np.empty((6, model.nv))
    place_links(model.tree, q, ws)
    C = np.zeros((len(rows), 3, model.nv))
    for i, row in enumerate(rows.tolist()):
        axes, point = table.frame[row].reshape(3, 3), tuple(table.point[row].tolist())
        for shape, sign in zip(table.key[row, :2].tolist(), (1.0, -1.0), strict=True):
            body = int(world.shape_body[shape])
            if body >= 0:
                point_jacobian(model.tree, int(model.body_link[body]), point, ws, J)
                C[i] += sign * axes.T @ J[3:]
    chosen = np.stack([np.ones(len(rows), dtype=bool), sticks, sticks], axis=1)
    unit = C[chosen]
    return np.asarray(unit / np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-300))


def describe_steps(is_open: Array, run: Run) -> str:
    """A sentence about the steps of a run in which single contact forces are open; empty if none are."""
    if run.contacts is None or not is_open.any():
        return ""
    count = len(np.unique(run.contacts.step[presses(run.contacts.impulse[:, 0])]))
    steps = f"{count} steps" if count != 1 else "1 step"
    return f"In {int(is_open.sum())} of {steps} with contact single forces are not unique."
