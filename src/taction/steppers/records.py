"""What steps leave behind: states, records of steps, and a table of contacts.

References: [Moreau1988] for the step; its record's columns are in `taction.steppers.columns`.
"""

from __future__ import annotations

from taction._core.arrays import Array, IntArray
from taction._core.layout import Layout, floats, ints
from taction.model.model import Model
from taction.steppers.columns import COLUMNS


class Record(Layout):
    """States and step records of a run of n steps."""

    q: Array = floats("n + 1, nq", "configurations [m or rad]")
    v: Array = floats("n + 1, nv", "velocities [m/s or rad/s]")
    step: Array = floats("n, COLUMNS", "of `taction.steppers.columns`")
    angle: Array = floats("n + 1, t, 3", "of joints between bodies in absolute coordinates [rad]")
    tau: Array = floats("n, nr", "what controllers, actuators and servos did on the joints [N or N m]")


class ContactTable(Layout):
    """Contacts of all steps of a run, one row each; rows beyond ``count`` mean nothing."""

    count: IntArray = ints("1", "contacts there are")
    step: IntArray = ints("c", "which step")
    key: IntArray = ints("c, 3", "shapes and feature")
    point: Array = floats("c, 3", "where [m]")
    frame: Array = floats("c, 9", "columns normal, t₁, t₂")
    gap: Array = floats("c", "distance, negative in overlap [m]")
    impulse: Array = floats("c, 3", "along the frame, on the first shape [N s]")
    velocity: Array = floats("c, 3", "along the frame, first against second, at the end of the step [m/s]")


def make_record(model: Model, steps: int, ties: int = 0, joints: int | None = None) -> Record:
    """Room for so many steps.

    In absolute coordinates ties are joints between bodies, and ``joints`` the robot's degrees of freedom.
    """
    nr = model.nv if joints is None else joints
    return Record.allocate(n=steps, nq=model.nq, nv=model.nv, COLUMNS=COLUMNS, t=ties, nr=nr)


def make_table(capacity: int) -> ContactTable:
    """Room for so many contacts."""
    return ContactTable.allocate(c=capacity)


def longer(table: ContactTable, capacity: int) -> ContactTable:
    """The same contacts with room for ``capacity`` of them."""
    out = make_table(capacity)
    for name in ("step", "key", "point", "frame", "gap", "impulse", "velocity"):
        old = getattr(table, name)
        getattr(out, name)[: len(old)] = old
    out.count[0] = table.count[0]
    return out
