"""Better contact modes near a given one: descent over the pieces of a program with complementarity.

What it looks for: a mode whose best point costs less than those of its neighbours. Neighbours differ in one
pair; in one pair at two steps in a row that change places; in one pair from some step on, all as it is not
there, the others of the last step closed or not; or in whether one contact is away.

Method, from a mode that has a point:
1. Where both of a pair vanish, the point lies in the neighbouring mode as well. If the multiplier of such a
   pair's equation is negative, leaving it costs less, and its mode is changed, of all such pairs at once: the
   old point obeys the new mode, so the cost never rises. Until no multiplier is.
2. Neighbours are tried from the last pair to the first, each with step 1; the first that costs less by more
   than `BETTER` is taken, and the round goes on from there. Until a round changed nothing, or ``tries``
   programs were solved.

Departures: a local search; nothing is proved.

Cost: a program each (`taction.solvers.mode_program`).

References: [LuoPangRalph1996] for step 1.
"""

from __future__ import annotations

import math

from taction._core.arrays import Array, IntArray
from taction._core.jit import inline_kernel, kernel
from taction._core.layout import Layout, floats, ints, nested
from taction.solvers.mode_program import ModeScratch, make_mode_scratch, solve_mode_program

BETTER = 1e-7  # relative: a cost that is lower by less is the same
BOTH = 1e-7  # pairs below this, relative to the largest, vanish both
NEGATIVE = 1e-9  # of multipliers, relative to the largest
CHANGES = 30  # of the mode in step 1, at most


class Search(Layout):
    """A search: the best mode so far, and memory."""

    is_open: IntArray = ints("p", "1 for pairs that are open in the best mode")
    is_away: IntArray = ints("c", "1 for contacts that are away there")
    w: Array = floats("n", "its point")
    value: Array = floats("1", "what that costs")
    old: IntArray = ints("p", "pairs of a mode before it was changed")
    place: IntArray = ints("2", "neighbour that is next, and how many in a row were no better")
    mode: ModeScratch = nested(ModeScratch, "a mode that is tried")


def make_search(n: int, p: int, c: int, r: int, m: int) -> Search:
    """Memory for n unknowns, p pairs, c free gaps, r bounds and m inputs."""
    return Search.allocate(_given={"mode": make_mode_scratch(n, p, c, r, m)}, n=n, p=p, c=c)


@inline_kernel
def keep(ws):
    """The mode at hand as the best."""
    for i in range(ws.is_open.shape[0]):
        ws.is_open[i] = ws.mode.is_open[i]
    for i in range(ws.is_away.shape[0]):
        ws.is_away[i] = ws.mode.is_away[i]
    for j in range(ws.w.shape[0]):
        ws.w[j] = ws.mode.w[j]
    ws.value[0] = ws.mode.value[0]


@kernel
def change_pairs(program, ws):
    """Step 1: change pairs that vanish and would rather not; returns how many there were."""
    mode, p = ws.mode, ws.is_open.shape[0]
    largest, force, changed = 0.0, 0.0, 0
    for i in range(p):
        largest = max(largest, abs(mode.w[program.pairs[i]]), abs(mode.slack[i]))
        force = max(force, abs(mode.multiplier[i]))
    for i in range(p):
        ws.old[i] = mode.is_open[i]
        if program.guard[i] >= 0 and mode.is_away[max(program.guard[i], 0)] == 1:
            continue
        other = mode.slack[i] if mode.is_open[i] == 1 else mode.w[program.pairs[i]]
        if abs(other) <= BOTH * largest and mode.multiplier[i] < -NEGATIVE * force:
            mode.is_open[i] = 1 - mode.is_open[i]
            changed += 1
    return changed


@kernel
def descend(program, cutoff, ws):
    """Step 1 from the mode in ws.mode; kept as the best if it costs less; returns programs, and if it does.

    cutoff: a first point that costs more is not looked for.
    """
    value, count, is_better = 0.0, 0, False
    while count < CHANGES:
        count += 1
        if not solve_mode_program(program, cutoff if count == 1 else math.inf, ws.mode):
            return count, is_better
        now = ws.mode.value[0]
        if count > 1 and now > value - BETTER * abs(value):
            return count, is_better
        value = now
        if ws.value[0] == math.inf or now < ws.value[0] - BETTER * abs(ws.value[0]):
            keep(ws)
            is_better = True
        if change_pairs(program, ws) == 0:
            return count, is_better
    return count, is_better


@inline_kernel
def load(ws):
    """The best mode as the one at hand."""
    for i in range(ws.is_open.shape[0]):
        ws.mode.is_open[i] = ws.is_open[i]
    for i in range(ws.is_away.shape[0]):
        ws.mode.is_away[i] = ws.is_away[i]


@kernel
def make_neighbour(program, number, width, ws):
    """Neighbour ``number`` of the best mode into ws.mode; returns whether there is such a one.

    Numbers below p change a pair; those below 2 p let it change places with itself a step later, width pairs
    on; those below 3 p and 4 p change it from there on, and close the others in the last step; the others let
    a contact be away, or come back with its first pair closed.
    """
    p = ws.is_open.shape[0]
    load(ws)
    if number < p:
        ws.mode.is_open[number] = 1 - ws.is_open[number]
        return True
    if number < 2 * p:
        i = number - p
        j = i + width
        if width == 0 or j >= p or ws.is_open[i] == ws.is_open[j]:
            return False
        ws.mode.is_open[i], ws.mode.is_open[j] = ws.is_open[j], ws.is_open[i]
        return True
    if number < 4 * p:
        i, is_last_closed = number % p, number >= 3 * p
        if width == 0 or (i + width >= p and not is_last_closed):
            return False
        for k in range(p - width, p):
            if is_last_closed:
                ws.mode.is_open[k] = 0
        for k in range(i, p, width):
            ws.mode.is_open[k] = 1 - ws.is_open[i]
        return True
    guard, is_first = number - 4 * p, True
    ws.mode.is_away[guard] = 1 - ws.is_away[guard]
    for i in range(p):
        if program.guard[i] == guard:
            ws.mode.is_open[i] = 0 if is_first and ws.mode.is_away[guard] == 0 else 1
            is_first = False
    return True


@kernel
def search_modes(program, width, tries, ws):
    """Step 2 from the best mode in ws; returns programs solved, and whether no neighbour is left."""
    p = ws.is_open.shape[0]
    total, count = 4 * p + ws.is_away.shape[0], 0
    while count < tries:
        if ws.place[1] >= total:
            return count, True
        number = ws.place[0]
        if number < p:
            number = p - 1 - number  # the last pair first
        ws.place[0] = (ws.place[0] + 1) % total
        ws.place[1] += 1
        if make_neighbour(program, number, width, ws):
            solved, is_better = descend(program, ws.value[0], ws)
            count += solved
            if is_better:
                ws.place[0], ws.place[1] = 0 if number >= p else ws.place[0], 0
    return count, False
