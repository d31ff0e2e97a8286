"""What a step needs: the scene that stays, the options, the state that moves, and working memory.

`Scene` is read-only and shared by all worlds of a batch (or replaced array by array where a parameter is
randomised). `State` is the least that continues a run bit for bit: positions, velocities, and the impulses of
the last step with the identities of their contacts, for the warm start. `Memory` is scratch: nothing in it is
read before it is written within a step, so that results do not depend on who used it before.

References: [Featherstone2008, Chapter 3] for the tree; the rest is bookkeeping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from taction._core.arrays import Array, IntArray, frozen
from taction.contact.assembly import Assembly, Chains, make_assembly, make_chains
from taction.dynamics.joint_law import JointLaw, passive_law
from taction.geometry.colliders import PLACED_WIDTH, Colliders, Contacts, make_contacts
from taction.geometry.detect import NARROW_SHAPE
from taction.geometry.filters import Filter
from taction.geometry.pair_list import BroadScratch, make_broad_scratch
from taction.model.model import Model, Tree
from taction.model.workspace import make_workspace
from taction.solvers.block_lu import DENSE
from taction.solvers.newton import Work, make_work

HISTORY = 2000  # residuals kept of one solve
POINT, HINGE, WELD = 0, 2, 3  # rows of orientation that a loop has


class Loops(NamedTuple):
    """Closures of kinematic loops, read-only: two frames that coincide."""

    link: IntArray  # (m, 2) links that carry them
    point: Array  # (2m, 3) origins of both frames of each loop, in their links [m]
    axes: Array  # (2m, 9) axes of both frames, in their links
    turning: IntArray  # (m,) rows of orientation: 0, 2 (about the frames' x and y axes) or 3


class Scene(NamedTuple):
    """Constants of a world."""

    tree: Tree
    chains: Chains
    law: JointLaw  # springs, dampers and linear controllers
    own: JointLaw  # the springs and dampers of the model alone
    lower: Array  # (nv,) stops
    upper: Array  # (nv,)
    dry: Array  # (nv,) dry friction of the joints [N or N m]
    follower: IntArray  # (m,) mimic joints
    leader: IntArray  # (m,)
    ratio: Array  # (m,)
    shift: Array  # (m,)
    loops: Loops
    colliders: Colliders
    filter: Filter
    surface: Array  # (n, 4) friction along x, y, against x, and restitution of each shape
    pair_key: IntArray  # (p,) pairs with numbers of their own, a · n + b, ascending
    pair_surface: Array  # (p, 4)


class Options(NamedTuple):
    """Numbers that choose how a step is done."""

    h: float  # time step [s]
    rule: int  # of `taction.steppers.rules`
    cone: int  # kind of contact blocks: EXACT or CONVEX of `taction.contact.sets`
    combine: int  # of `taction.steppers.elements`
    broad: int  # of `taction.geometry.broad_phase`
    tolerance: float  # of the relative natural-map residual
    is_external: bool  # the contact problem is solved outside


class State(NamedTuple):
    """What continues a run."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    count: IntArray  # (1,) contacts of the last step
    key: IntArray  # (c, 3) their shapes and features
    impulse: Array  # (c, 3) their impulses, contact axes [N s]
    joint_impulse: Array  # (3 nv + mimic joints + 6 loops,) of the joints' own rows


class Memory(NamedTuple):
    """Scratch of one world."""

    links: Array
    M: Array
    L: Array
    bias: Array
    force: Array
    zero: Array
    v_free: Array
    v_new: Array
    change: Array
    push: Array
    q: Array
    placed: Array
    reach: Array
    boxes: Array
    pairs: IntArray
    broad: BroadScratch
    narrow: Array
    contacts: Contacts
    warm: Array
    assembly: Assembly
    r: Array
    gap: Array
    frame: Array
    source: IntArray
    slot: IntArray
    row_dof: IntArray
    row_sign: Array
    kind: IntArray
    sets: Array
    target: Array
    sweeps: Array
    history: Array
    dense: Work
    large: Work
    large_start: IntArray
    large_column: IntArray


def make_scene(
    model: Model,
    colliders: Colliders,
    filter: Filter,
    surface: Array,
    *,
    law: JointLaw | None = None,
    loops: Loops | None = None,
    pairs: dict[tuple[int, int], Sequence[float]] | None = None,
) -> Scene:
    """The constants of a world.

    Args:
        model: everything that moves.
        colliders: its collision shapes.
        filter: which pairs of them may touch.
        surface: friction along x, y, against x, and restitution of each shape, shape (n, 4).
        law: linear controllers, on top of the model's own springs and dampers.
        loops: closures of kinematic loops.
        pairs: surfaces of pairs (a, b), a < b, that have numbers of their own.
    """
    own = passive_law(model)
    n = len(colliders.kind)
    keys = sorted((a * n + b, tuple(row)) for (a, b), row in (pairs or {}).items())
    none = Loops(
        frozen(np.zeros((0, 2)), np.int64), frozen(np.zeros((0, 3))), frozen(np.zeros((0, 9))), frozen([], np.int64)
    )
    return Scene(
        tree=model.tree,
        chains=Chains(*(frozen(a, np.int64) for a in make_chains(model.tree))),
        law=own if law is None else own + law,
        own=own,
        lower=frozen(model.lower),
        upper=frozen(model.upper),
        dry=frozen(model.friction),
        follower=frozen([c.follower_v for c in model.couplings], np.int64),
        leader=frozen([c.leader_v for c in model.couplings], np.int64),
        ratio=frozen([c.multiplier for c in model.couplings]),
        shift=frozen([c.offset for c in model.couplings]),
        loops=none if loops is None else loops,
        colliders=colliders,
        filter=filter,
        surface=frozen(surface),
        pair_key=frozen([k for k, _ in keys], np.int64),
        pair_surface=frozen(np.array([row for _, row in keys]).reshape(-1, 4)),
    )


def make_state(scene: Scene, q: Array, v: Array, capacity: int) -> State:
    """A state at rest from contact: no impulses to start from."""
    joints = 3 * len(v) + len(scene.follower) + 6 * len(scene.loops.turning)
    return State(
        q=np.array(q),
        v=np.array(v),
        count=np.zeros(1, dtype=np.int64),
        key=np.zeros((capacity, 3), dtype=np.int64),
        impulse=np.zeros((capacity, 3)),
        joint_impulse=np.zeros(joints),
    )


def make_memory(model: Model, scene: Scene, contacts: int, pairs: int, entries: int | None = None) -> Memory:
    """Scratch for so many contacts, pairs and entries of W."""
    nv, n = model.nv, len(scene.colliders.kind)
    blocks = contacts + len(scene.follower) + 2 * len(scene.loops.turning) + nv + 1
    entries = max(DENSE * DENSE, 8 * blocks) if entries is None else entries
    assembly = make_assembly(model, blocks, entries)
    dense = make_work(make_assembly(model, DENSE, DENSE * DENSE).rows)
    return Memory(
        links=make_workspace(model),
        M=np.zeros((nv, nv)),
        L=np.zeros((nv, nv)),
        bias=np.zeros(nv),
        force=np.zeros(nv),
        zero=np.zeros(nv),
        v_free=np.zeros(nv),
        v_new=np.zeros(nv),
        change=np.zeros(nv),
        push=np.zeros(nv),
        q=np.zeros(model.nq),
        placed=np.zeros((n, PLACED_WIDTH)),
        reach=np.zeros(n),
        boxes=np.zeros((n, 6)),
        pairs=np.zeros((pairs, 2), dtype=np.int64),
        broad=make_broad_scratch(n),
        narrow=np.zeros(NARROW_SHAPE),
        contacts=make_contacts(contacts),
        warm=np.zeros((contacts, 3)),
        assembly=assembly,
        r=np.zeros(3 * blocks),
        gap=np.zeros(3 * blocks),
        frame=np.zeros((blocks, 9)),
        source=np.zeros(blocks, dtype=np.int64),
        slot=np.zeros((blocks, 3), dtype=np.int64),
        row_dof=np.zeros((blocks, 3), dtype=np.int64),
        row_sign=np.zeros((blocks, 3)),
        kind=np.zeros(blocks, dtype=np.int64),
        sets=np.zeros((blocks, 6)),
        target=np.zeros(3 * blocks),
        sweeps=np.zeros((2, 3 * blocks)),
        history=np.zeros(HISTORY),
        dense=dense,
        large=dense,
        large_start=np.zeros(1, dtype=np.int64),
        large_column=np.zeros(0, dtype=np.int64),
    )
