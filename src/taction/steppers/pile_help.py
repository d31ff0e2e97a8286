"""What a pile of loose bodies asks of Python: orders of elimination and room, until its impulses are there.

Kernels for hundreds of contacts are in `taction.steppers.pile_solve`; they say what is missing, and are
called again. Memory grows meanwhile, and no bit of the result depends on that.

References: [AcaryBremondHuber2018] for the problem.
"""

from __future__ import annotations

from typing import Protocol

from taction._core.arrays import Array
from taction.contact.redundancy import NO_CHOICE
from taction.steppers import phases
from taction.steppers.columns import ITERATIONS, NOT_UNIQUE
from taction.steppers.pile_solve import flow_pile, solve_pile
from taction.steppers.scene import Memory, Options, Scene


class Helper(Protocol):
    """Who has the memory of a step, and makes it longer."""

    memory: Memory
    options: Options  # of the problem at hand

    def order(self, scene: Scene, missing: int) -> None:
        """Make what the problem at hand is missing."""
        ...


def help_pile(helper: Helper, scene: Scene, record: Array) -> None:
    """Impulses of hundreds of contacts of loose bodies; what was done goes into the record (COLUMNS,)."""
    done, steps, missing = 0, 0, phases.PILE
    while missing in (phases.PILE, phases.ORDER_BODIES):
        if missing == phases.ORDER_BODIES:
            helper.order(scene, missing)
        is_first, m = missing == phases.PILE, helper.memory
        missing, swept, steps = solve_pile(scene.tree.column, helper.options, is_first, m, m.blocks.r)
        done += swept
    if missing == phases.ORDER_FLOW:
        steps += _flow(helper, scene)
    record[ITERATIONS], record[NOT_UNIQUE] = done + steps, NO_CHOICE


def _flow(helper: Helper, scene: Scene) -> int:
    """The same for contacts of the exact law, after sweeps; returns systems."""
    systems, turn, is_new, is_all = 0, 0, True, False
    if len(helper.memory.flow.closed.turn) < len(helper.memory.blocks.rows.kind):
        helper.order(scene, phases.ORDER_FLOW)
    while not is_all:
        m, column = helper.memory, scene.tree.column
        missing, more, is_all = flow_pile(column, helper.options, turn, is_new, m, m.blocks.r)
        if is_new := missing == phases.DONE:
            systems, turn = systems + more, turn + 1
        else:
            helper.order(scene, missing)
    return systems
