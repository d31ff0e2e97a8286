"""A slider with blocks of rows on it, by hand: what tests of a step's parts share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taction.contact.assembly import (
    COMPLIANCE,
    GAP,
    LENGTH,
    OFFSET,
    PART,
    ROW_DOF,
    SOURCE,
    TREE,
    VELOCITY,
    Assembly,
    couple,
    half_solve,
    lay_out,
)
from taction.geometry.compile import compile_colliders
from taction.geometry.filters import make_filter
from taction.model.builder import ModelBuilder
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.steppers.elements import SURFACE_WIDTH
from taction.steppers.memory import make_memory
from taction.steppers.scene import Memory, Scene, make_scene

MASS = 2.0
NAN = math.nan


def slider(**joint: Any) -> tuple[Model, Scene, Memory]:
    """A mass on a slide along x; memory full of NaN, with its mass matrix and factor in place."""
    b = ModelBuilder("slider")
    b.body("mass", Inertia(MASS, np.zeros(3), np.eye(3)))
    b.prismatic("slide", parent="world", child="mass", axis=(1, 0, 0), **joint)
    model = b.build()
    scene = make_scene(
        model, compile_colliders([]), make_filter([], [0, 0], [], []), np.zeros((0, SURFACE_WIDTH))
    )
    memory = make_memory(model, scene, 4, 4)
    for array in (
        memory.motion.links,
        memory.motion.q,
        memory.motion.dof,
        memory.blocks.number,
        memory.blocks.J,
    ):
        array[:] = NAN
    memory.motion.M[:] = memory.motion.L[:] = MASS
    return model, scene, memory


def add_block(
    blocks: Assembly, J: Any, kind: int, set_: Any, r: Any, *, source: int, gap: Any, u: Any
) -> None:
    """Three rows J (3,) on the slider's velocity, with set, impulses, violations and end velocities (3,)."""
    k = int(blocks.count[0])
    blocks.count[0] = k + 1
    blocks.index[k, TREE : TREE + 3] = 1, 0, 0
    blocks.index[k, PART : PART + 4] = 0, 1, 1, 1
    blocks.index[k, ROW_DOF : ROW_DOF + 3] = -1
    assert blocks.index[k, LENGTH] == 1
    blocks.index[k, SOURCE], blocks.dof[k, 0], blocks.J[k, 0] = source, 0, J
    blocks.rows.kind[k], blocks.rows.sets[k] = kind, set_
    blocks.number[k, VELOCITY : VELOCITY + 3] = u
    blocks.number[k, GAP : GAP + 3] = gap
    blocks.number[k, OFFSET : OFFSET + 3] = blocks.number[k, COMPLIANCE : COMPLIANCE + 3] = 0.0
    blocks.r[3 * k : 3 * k + 3] = r


def assemble(scene: Scene, memory: Memory) -> None:
    """W of the blocks there are."""
    blocks = memory.blocks
    lay_out(len(blocks.rows.column), blocks)
    for k in range(int(blocks.count[0])):
        half_solve(scene.tree, memory.motion.L, k, blocks)
    couple(scene.tree.column, memory.motion.L, blocks)
