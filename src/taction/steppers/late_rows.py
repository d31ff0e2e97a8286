"""Parts of the step that most robots never need, called from it by their addresses.

Joints between bodies in absolute coordinates, servos that are rows, drives, tendons, soft contacts: compiled
for worlds that have them, and only then (`taction._core.jit_call`). The addresses are noted before the first
step.

References: [Moreau1988] for force elements with offsets.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction._core.jit import address_of, plain
from taction.dynamics.carry_momenta import carry_momenta
from taction.dynamics.tree_flight import fly_trees
from taction.steppers.change_laws import change_laws
from taction.steppers.columns import COLUMNS
from taction.steppers.coordinates import absolute
from taction.steppers.coordinates.dispatch import has_joint_rows
from taction.steppers.coordinates.reduced import REDUCED
from taction.steppers.held_drives import book_dry, drive_forces, free_stuck, hold_drives
from taction.steppers.look_back import look_back, note_start
from taction.steppers.scene import (
    BACK_ENTRY,
    CARRY_ENTRY,
    CHECK_ENTRY,
    CLOSE_ENTRY,
    DRIVES_ENTRY,
    DRY_ENTRY,
    END_ENTRY,
    FLIGHT_ENTRY,
    HOLD_ENTRY,
    LENGTHS_ENTRY,
    LOOK_ENTRY,
    RIGID,
    SERVOS_ENTRY,
    SOFT_ENTRY,
    SPRINGS_ENTRY,
    START_ENTRY,
    STUCK_ENTRY,
    TENDONS_ENTRY,
    TIES_ENTRY,
    ZERO,
    Flight,
    Memory,
    Motion,
    Options,
    Scene,
    State,
)
from taction.steppers.servo_rows import gather_servos
from taction.steppers.soft_contacts import finish_soft, gather_soft_contacts
from taction.steppers.tendon_rows import gather_tendons, measure_tendons


def note_addresses(scene: Scene, options: Options, drive: Array, state: State, memory: Memory) -> None:
    """Note in the memory where the kernels are that steps of this scene call; drive (nr + m,)."""
    motion, blocks = memory.motion, memory.blocks
    if plain(has_joint_rows)(options):
        motion.entry[LOOK_ENTRY] = address_of(absolute.look, scene, options, state, motion)
        motion.entry[CLOSE_ENTRY] = address_of(absolute.close, scene, options, motion, state, drive)
        motion.entry[TIES_ENTRY] = address_of(absolute.gather, scene, options, drive, state, motion, blocks)
        motion.entry[END_ENTRY] = address_of(absolute.end_step, scene, options, True, motion, state)
    elif len(scene.servos):
        motion.entry[SERVOS_ENTRY] = address_of(gather_servos, scene, options, drive, state, motion, blocks)
        if np.isinf(scene.servos.damping).any() and not options.is_split:
            note_drives(scene, options, drive, memory)
    if options.is_measured:
        note_flight(scene, options, state, memory)
    if options.soft != RIGID:
        motion.entry[SOFT_ENTRY] = address_of(
            gather_soft_contacts, scene, options, memory.sight, motion, blocks
        )
        motion.entry[SPRINGS_ENTRY] = address_of(finish_soft, scene, options, memory, np.zeros(COLUMNS))
    if len(scene.transmissions):
        motion.entry[LENGTHS_ENTRY] = address_of(measure_tendons, scene, motion)
        motion.entry[TENDONS_ENTRY] = address_of(gather_tendons, scene, options, state, motion, blocks)


def note_flight(scene: Scene, options: Options, state: State, memory: Memory) -> None:
    """Note where the kernels are of schemes that measure what flight changes."""
    motion, tree, chains = memory.motion, scene.robot.tree, scene.robot.chains
    motion.entry[START_ENTRY] = address_of(note_start, scene, options, state, memory, np.zeros(COLUMNS))
    motion.entry[BACK_ENTRY] = address_of(look_back, scene, options, state, memory)
    motion.entry[CHECK_ENTRY] = address_of(change_laws, scene, options, memory)
    if chains.alone[chains.dof_link].all():
        return
    ws: Motion | Flight = motion
    zero, q, v = motion.dof[ZERO], state.q, state.v
    if options.coordinates != REDUCED:
        ws = motion.flight
        zero, q, v = ws.zero, ws.q[0], ws.v[0]
    motion.entry[FLIGHT_ENTRY] = address_of(fly_trees, tree, 0.0, q, v, zero, True, ws, q, v)
    motion.entry[CARRY_ENTRY] = address_of(carry_momenta, tree, q, q, v, ws, v)


def note_drives(scene: Scene, options: Options, drive: Array, memory: Memory) -> None:
    """Note where the kernels of drives are; drive (nr + m,)."""
    motion, blocks, record = memory.motion, memory.blocks, np.zeros(COLUMNS)
    motion.entry[HOLD_ENTRY] = address_of(hold_drives, scene, options, drive, motion)
    motion.entry[STUCK_ENTRY] = address_of(free_stuck, scene, blocks, motion)
    motion.entry[DRIVES_ENTRY] = address_of(drive_forces, scene, options, blocks, motion)
    motion.entry[DRY_ENTRY] = address_of(book_dry, scene, options, drive, motion, record)
