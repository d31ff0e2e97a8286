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
from taction.geometry.filters import Filter
from taction.geometry.support import SCRATCH_COLUMNS, SCRATCH_ROWS
from taction.model.absolute import Ties, no_ties
from taction.model.model import Model, Tree, narrow
from taction.model.workspace import make_workspace
from taction.solvers.elimination_order import DENSE
from taction.solvers.newton_memory import NewtonMemory, make_newton_memory

HISTORY = 2000  # residuals kept of one solve
POINT, HINGE, WELD = 0, 2, 3  # rows of orientation that a loop has
TIE = -2  # source of a block that is a joint between bodies in absolute coordinates
# Columns of Scene.motors: what acts on a joint velocity of a robot in absolute coordinates
STIFFNESS, DAMPING, CONSTANT = 0, 1, 2  # of the linear law of the joint, controllers included
OWN_STIFFNESS, OWN_DAMPING, OWN_CONSTANT = 3, 4, 5  # of the model alone
ARMATURE, LOWER, UPPER, DRY = 6, 7, 8, 9  # rotor inertia, stops, dry friction
MOTOR_WIDTH = 10


class Loops(NamedTuple):
    """Closures of kinematic loops, read-only: two frames that coincide."""

    link: IntArray  # (m, 2) links that carry them
    point: Array  # (2m, 3) origins of both frames of each loop, in their links [m]
    axes: Array  # (2m, 9) axes of both frames, in their links
    turning: IntArray  # (m,) rows of orientation: 0, 2 (about the frames' x and y axes) or 3


class Joints(NamedTuple):
    """Non-smooth elements of the joints, read-only."""

    lower: Array  # (nv,) stops
    upper: Array  # (nv,)
    dry: Array  # (nv,) dry friction [N or N m]
    follower: IntArray  # (m,) mimic joints
    leader: IntArray  # (m,)
    ratio: Array  # (m,)
    shift: Array  # (m,)
    loops: Loops


class Surfaces(NamedTuple):
    """Friction, restitution and adhesion: columns of `taction.steppers.elements`; read-only."""

    link: IntArray  # (n,) link that carries each shape
    shape: Array  # (n, SURFACE_WIDTH) of each shape
    pair_key: IntArray  # (p,) pairs with numbers of their own, a · n + b, ascending
    pair: Array  # (p, SURFACE_WIDTH) those numbers


class Scene(NamedTuple):
    """Constants of a world."""

    tree: Tree  # narrow
    chains: Chains
    law: JointLaw  # springs, dampers and linear controllers
    own: JointLaw  # the springs and dampers of the model alone
    joints: Joints
    surfaces: Surfaces
    colliders: Colliders
    filter: Filter
    ties: Ties  # joints of bodies in absolute coordinates, none in joint coordinates
    motors: Array  # (nr, MOTOR_WIDTH) what acts on their velocities


class Options(NamedTuple):
    """Numbers that choose how a step is done."""

    h: float  # time step [s]
    rule: int  # of `taction.steppers.rules`
    cone: int  # kind of contact blocks: EXACT or CONVEX of `taction.contact.laws.dispatch`
    combine: int  # of `taction.steppers.elements`
    broad: int  # of `taction.geometry.broad_phase`
    tolerance: float  # of the relative natural-map residual
    is_external: bool  # the contact problem is solved outside
    force_h: float  # time over which forces act [s]: h, or 0 in a collision
    move_h: float  # time over which positions move [s], likewise
    is_direct: bool  # joints are in the problem: no Gauss–Seidel, factorisations only
    is_momentum: bool  # links carry their momenta from midpoint to midpoint, as free bodies do
    is_projected: bool  # bodies move straight, and their joints are closed after the step


class State(NamedTuple):
    """What continues a run."""

    q: Array  # (nq,)
    v: Array  # (nv,)
    last: Array  # (nq,) where the last step looked: the links' momenta are those of v there
    count: IntArray  # type: ignore[assignment]  # (1,) contacts of the last step
    key: IntArray  # (c, 3) their shapes and features
    impulse: Array  # (c, 3) their impulses, contact axes [N s]
    joint_impulse: Array  # (3 nv + mimic joints + 6 loops + 6 ties + 3 nr + theirs,) of the joints' own rows


# Rows of Motion.dof
BIAS, FORCE, ZERO, FREE, NEW, CHANGE, PUSH, MOMENTUM, DOF_ROWS = range(9)


class Motion(NamedTuple):
    """Scratch of the dynamics."""

    links: Array  # (n, WIDTH) of `taction.model.workspace`
    M: Array  # (nv, depth) mass matrix
    L: Array  # (nv, depth) factor of the mass matrix with implicit joint laws
    q: Array  # (nq,) where the rule looks
    dof: Array  # (DOF_ROWS, nv) bias and joint forces, zero, free and new velocity, change, displacement, M v


class Sight(NamedTuple):
    """Scratch of contact detection."""

    placed: Array
    reach: Array
    boxes: Array
    pairs: IntArray
    pair_count: IntArray  # (1,)
    narrow: Array
    contacts: Contacts
    key: IntArray  # (c, 3) identities of the contacts
    warm: Array  # (c, 3) impulses of the step before


class Push(NamedTuple):
    """Scratch of the position correction: the blocks of a step with other sets and velocities."""

    kind: IntArray
    sets: Array
    target: Array
    sweeps: Array  # (2, 3k), also of Gauss–Seidel


class Memory(NamedTuple):
    """Scratch of one world."""

    motion: Motion
    sight: Sight
    blocks: Assembly
    push: Push
    dense: NewtonMemory  # for a few blocks, all coupled
    large: NewtonMemory  # for many, ordered for one pattern
    history: Array


def make_scene(
    model: Model,
    colliders: Colliders,
    filter: Filter,
    surface: Array,
    *,
    law: JointLaw | None = None,
    loops: Loops | None = None,
    pairs: dict[tuple[int, int], Sequence[float]] | None = None,
    ties: Ties | None = None,
    motors: Array | None = None,
) -> Scene:
    """The constants of a world.

    Args:
        model: everything that moves.
        colliders: its collision shapes.
        filter: which pairs of them may touch.
        surface: friction along x, y, against x, restitution and adhesion of each shape, shape (n, 5).
        law: linear controllers, on top of the model's own springs and dampers.
        loops: closures of kinematic loops.
        pairs: surfaces of pairs (a, b), a < b, that have numbers of their own.
        ties: joints, if the model is one of bodies in absolute coordinates.
        motors: what acts on them, from `joint_motors`.
    """
    own = passive_law(model)
    n = len(colliders.kind)
    keys = sorted((a * n + b, tuple(row)) for (a, b), row in (pairs or {}).items())
    none = Loops(
        frozen(np.zeros((0, 2)), np.int64),
        frozen(np.zeros((0, 3))),
        frozen(np.zeros((0, 9))),
        frozen([], np.int64),
    )
    return Scene(
        tree=narrow(model.tree),
        chains=Chains(*(frozen(a, np.int64) for a in make_chains(model.tree))),
        law=own if law is None else own + law,
        own=own,
        joints=Joints(
            lower=frozen(model.lower),
            upper=frozen(model.upper),
            dry=frozen(model.friction),
            follower=frozen([c.follower_v for c in model.couplings], np.int64),
            leader=frozen([c.leader_v for c in model.couplings], np.int64),
            ratio=frozen([c.multiplier for c in model.couplings]),
            shift=frozen([c.offset for c in model.couplings]),
            loops=none if loops is None else loops,
        ),
        surfaces=Surfaces(
            link=colliders.link,
            shape=frozen(surface),
            pair_key=frozen([k for k, _ in keys], np.int64),
            pair=frozen(np.array([row for _, row in keys]).reshape(-1, surface.shape[1])),
        ),
        colliders=colliders,
        filter=filter,
        ties=no_ties() if ties is None else ties,
        motors=frozen(np.zeros((0, MOTOR_WIDTH))) if motors is None else motors,
    )


def joint_motors(robot: Model, law: JointLaw | None = None) -> Array:
    """What acts on the joint velocities of a robot, shape (nr, MOTOR_WIDTH): own, and a linear controller."""
    own = passive_law(robot)
    total = own if law is None else own + law
    columns = (total.K, total.D, total.b, own.K, own.D, own.b, robot.tree.armature)
    return frozen(np.column_stack([*columns, robot.lower, robot.upper, robot.friction]))


def make_state(scene: Scene, q: Array, v: Array, capacity: int, last: Array | None = None) -> State:
    """A state at rest from contact: no impulses to start from."""
    joints = 3 * len(v) + len(scene.joints.follower) + 6 * len(scene.joints.loops.turning)
    joints += 6 * len(scene.ties.kind) + 3 * len(scene.motors) + len(scene.ties.follow)
    return State(
        q=np.array(q),
        v=np.array(v),
        last=np.array(q if last is None else last),
        count=np.zeros(1, dtype=np.int64),
        key=np.zeros((capacity, 3), dtype=np.int64),
        impulse=np.zeros((capacity, 3)),
        joint_impulse=np.zeros(joints),
    )


def make_memory(model: Model, scene: Scene, contacts: int, pairs: int, entries: int | None = None) -> Memory:
    """Scratch for so many contacts, pairs and entries of W."""
    nv, n = model.nv, len(scene.colliders.kind)
    depth = int(scene.tree.column.max(initial=0)) + 1
    own = max(nv, 8 * len(scene.ties.kind)) + len(scene.ties.follow)
    blocks = contacts + len(scene.joints.follower) + 2 * len(scene.joints.loops.turning) + own + 1
    entries = max(DENSE * DENSE, 8 * blocks) if entries is None else entries
    none = np.zeros(0, dtype=np.int64)
    dense = make_newton_memory((DENSE, DENSE * DENSE, DENSE * DENSE, 1), none, none)
    return Memory(
        motion=Motion(
            links=make_workspace(model),
            M=np.zeros((nv, depth)),
            L=np.zeros((nv, depth)),
            q=np.zeros(model.nq),
            dof=np.zeros((DOF_ROWS, nv)),
        ),
        sight=Sight(
            placed=np.zeros((n, PLACED_WIDTH)),
            reach=np.zeros(n),
            boxes=np.zeros((n, 6)),
            pairs=np.zeros((pairs, 2), dtype=np.int64),
            pair_count=np.zeros(1, dtype=np.int64),
            narrow=np.zeros((SCRATCH_ROWS, SCRATCH_COLUMNS)),
            contacts=make_contacts(contacts),
            key=np.zeros((contacts, 3), dtype=np.int64),
            warm=np.zeros((contacts, 3)),
        ),
        blocks=make_assembly(model, blocks, entries),
        push=Push(
            kind=np.zeros(blocks, dtype=np.int64),
            sets=np.zeros((blocks, 6)),
            target=np.zeros(3 * blocks),
            sweeps=np.zeros((2, 3 * blocks)),
        ),
        dense=dense,
        large=dense,
        history=np.zeros(HISTORY),
    )
