"""Where a step stopped, what it needs, and where it goes on.

A kernel cannot allocate, order a large factor, or call a solver chosen by name. Where one of these is needed
the step stops with a status that says what, having changed no state, and is called again from that point
(`taction.steppers.driver`).

References: [Moreau1988] for the step; the rest is bookkeeping.
"""

from __future__ import annotations

# What a step needs before it can go on
DONE, FIND_PAIRS, GENERAL_PAIRS, MORE_PAIRS, MORE_CONTACTS, MORE_ENTRIES = 0, 1, 2, 3, 4, 5
ORDER, ORDER_BODIES, PILE, SOLVE_OUTSIDE, MORE_RECORDS, ORDER_PUSH, BOUND_PUSH = 6, 7, 8, 9, 10, 11, 12
PART = 13  # the last step is done, but for loose bodies that overlap where it ended
# Where it ends: with contacts found, as asked; or because it cannot go on
FOUND, SINGULAR, NOT_FINITE, TOO_MANY_CONTACTS = 14, 15, 16, 17
# A servo left its limits: the step itself starts again, with the servo as a row
SERVO_LIMIT = 18
# Of a pile, outside the step: room for the factor of its closed contacts
ORDER_FLOW = 19
# Where it goes on: from the start with servos as they are, from the start, with pairs found, with all
# contacts found, with its problem posed, with an ordering, with impulses that the scheme has not seen yet,
# with impulses that stay, with a correction of positions that is bounded
AGAIN, BEGIN, NARROW, MATCH, SOLVE, STRONG, CHECK, FINISH, MOVE = -1, 0, 1, 2, 3, 4, 5, 6, 7
