"""The parts of a divided step as one: a row of its record, and a row per contact.

Works add up, energies are those at the start, residuals and overlaps are the worst, what springs hold in the
end is what the last part says; forces of drives are the mean over time. Impulses of one contact add up, in
the axes that it has in the end, so that impulse over dt is the mean force; place, gap and velocity are those
of the last part in which it was there.

References: [Moreau1988] for the work of an impulse; the rest is bookkeeping.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taction._core.arrays import Array
from taction.steppers import columns as column
from taction.steppers.records import ContactTable

# Columns that add up, and those of which the last part speaks; of the others the largest counts
ADDED = (*column.ADDED, column.ACTUATION, column.CORRECTION)
FIRST = (column.KINETIC, column.POTENTIAL, column.STORED)
LAST = (column.STORED_AFTER,)
NAMED = (column.WORST_A, column.WORST_B)  # those of the part with the largest residual


def join_rows(parts: Sequence[tuple[Array, Array, int]]) -> tuple[Array, Array]:
    """Record (COLUMNS,) and forces of drives (nr,) of a step.

    Args:
        parts: of each in turn its record, its forces, and its level: it lasts 2^−level of the step.
    """
    rows = np.array([row for row, _, _ in parts])
    out = rows.max(axis=0)
    out[list(ADDED)] = rows[:, list(ADDED)].sum(axis=0)
    out[list(FIRST)] = rows[0, list(FIRST)]
    out[list(LAST)] = rows[-1, list(LAST)]
    out[list(NAMED)] = rows[int(rows[:, column.RESIDUAL].argmax()), list(NAMED)]
    share = np.array([0.5**level for _, _, level in parts])
    return out, share @ np.array([tau for _, tau, _ in parts])


def join_contacts(table: ContactTable, start: int) -> None:
    """Contacts of a table from row ``start`` on, of one step: those of one key become one, in their order."""
    end = int(table.count[0])
    last: dict[tuple[int, ...], int] = {}
    total: dict[tuple[int, ...], Array] = {}
    for n in range(start, end):
        key = tuple(table.key[n].tolist())
        impulse = table.frame[n].reshape(3, 3) @ table.impulse[n]
        total[key] = total[key] + impulse if key in total else impulse
        last[key] = n
    if len(last) == end - start:
        return
    rows = [last[key] for key in sorted(last)]
    for name in ("step", "key", "point", "frame", "gap", "impulse", "velocity"):
        array = getattr(table, name)
        array[start : start + len(rows)] = array[rows]
    for n, key in enumerate(sorted(last), start):
        table.impulse[n] = table.frame[n].reshape(3, 3).T @ total[key]
    table.count[0] = start + len(rows)
