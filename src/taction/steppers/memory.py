"""Working memory of a world's steps: how much of each kind its scene asks for.

What the arrays mean is declared in `taction.steppers.scene`.

References: [Featherstone2008, Chapter 3] for the tree whose sizes these are; the rest is bookkeeping.
"""

from __future__ import annotations

import numpy as np

from taction._core.kinds import LinkKind
from taction.contact.assembly import make_assembly
from taction.contact.forces.soft_pair import TWIST_SOFTNESS
from taction.dynamics.tree_flight import FLIGHT_ROWS
from taction.geometry.colliders import PLACED_WIDTH, make_contacts
from taction.geometry.detect import TRAVEL_WIDTH
from taction.geometry.pair_list import make_broad_scratch
from taction.geometry.scratch import SCRATCH_COLUMNS, SCRATCH_ROWS
from taction.model.model import Model
from taction.model.workspace import AXES, WIDTH, make_workspace
from taction.solvers.auto import CHOOSING, ROBOT
from taction.solvers.elimination_order import DENSE
from taction.solvers.newton_memory import Work, make_work
from taction.solvers.state_flow import no_flow
from taction.steppers.columns import COLUMNS
from taction.steppers.impact_memory import IMPACT_NUMBERS, Impact
from taction.steppers.scene import (
    CONTACT_START,
    DOF_ROWS,
    ENTRIES,
    FLIGHT_STATES,
    HISTORY,
    LOOP_START,
    MOTOR_WIDTH,
    SAID,
    START_WIDTH,
    Flight,
    Memory,
    Motion,
    Options,
    Push,
    Scene,
    Sight,
    joint_count,
)

QUATERNIONS = (LinkKind.SPHERICAL, LinkKind.FLOATING)  # links with a coordinate more than velocities


def make_sight(shapes: int, pairs: int, contacts: int, memory: int) -> Sight:
    """Scratch of contact detection for so many shapes, pairs and contacts with so many numbers of memory."""
    return Sight.allocate(
        _given={"contacts": make_contacts(contacts), "broad": make_broad_scratch(shapes)},
        n=shapes,
        p=pairs,
        c=contacts,
        m=memory,
        CONTACT_START=CONTACT_START,
        PLACED_WIDTH=PLACED_WIDTH,
        TRAVEL_WIDTH=TRAVEL_WIDTH,
        SCRATCH_ROWS=SCRATCH_ROWS,
        SCRATCH_COLUMNS=SCRATCH_COLUMNS,
    )


def make_flight(scene: Scene, is_measured: bool) -> Flight:
    """Scratch of bodies in absolute coordinates that fly in joint coordinates, if the scheme does so."""
    tree = scene.robot.tree
    flies = is_measured and len(scene.robot.link) > 0
    n, nv = (len(tree.parent), len(tree.dof_parent)) if flies else (0, 0)
    nq = nv + int(np.isin(tree.kind[:n], QUATERNIONS).sum())
    links = np.zeros((n, WIDTH))
    links[:1, AXES : AXES + 9] = np.eye(3).ravel()
    sizes = {"FLIGHT_STATES": FLIGHT_STATES, "FLIGHT_ROWS": FLIGHT_ROWS}
    return Flight.allocate(_given={"links": links}, nq=nq, nv=nv, **sizes)


def make_memory(
    model: Model,
    scene: Scene,
    contacts: int,
    pairs: int,
    entries: int | None = None,
    options: Options | None = None,
    dense: Work | None = None,
) -> Memory:
    """Scratch for so many contacts, pairs and entries of W.

    options: of the scheme's first pass, which say what a contact remembers, and whether velocities are
    measured where a step starts; without them neither. dense: for a few blocks, if it is there already.
    """
    nv, n = model.nv, len(scene.colliders.kind)
    depth = int(scene.tree.column.max(initial=0)) + 1
    own = max(nv, 8 * len(scene.ties.turn)) + len(scene.ties.follow)
    each = 2 if scene.surfaces.viscous.any() else 1
    each += bool(np.isfinite(scene.surfaces.soft[:, TWIST_SOFTNESS]).any())
    blocks = each * contacts + len(scene.joints.follower) + 2 * len(scene.joints.loops.turning) + own + 1
    blocks += len(scene.servos) + 4 * len(scene.transmissions)
    law = scene.law._replace(**{name: np.zeros(nv) for name in ("K", "D", "b")})
    entries = max(DENSE * DENSE, 8 * blocks) if entries is None else entries
    if dense is None:
        dense = make_work(DENSE, DENSE * DENSE, DENSE * DENSE, 1)
    memory, is_measured = (0, False) if options is None else (options.memory, options.is_measured)
    sight = make_sight(n, pairs, contacts, memory)
    back = make_sight(n, contacts, contacts, memory) if is_measured else make_sight(0, 1, 1, 0)
    parts = {
        "motion": Motion.allocate(
            _given={"links": make_workspace(model), "law": law, "flight": make_flight(scene, is_measured)},
            nv=nv,
            n=model.n_links,
            nq=model.nq,
            depth=depth,
            nr=len(scene.motors),
            nj=joint_count(scene),
            m=len(scene.servos),
            t=len(scene.transmissions),
            e=len(scene.transmissions.dof),
            MOTOR_WIDTH=MOTOR_WIDTH,
            DOF_ROWS=DOF_ROWS,
            l=len(scene.joints.loops.turning),
            START_WIDTH=START_WIDTH,
            LOOP_START=LOOP_START,
            FLIGHT_ROWS=FLIGHT_ROWS,
            SAID=SAID,
            ENTRIES=ENTRIES,
        ),
        "sight": sight,
        "back": back,
        "blocks": make_assembly(model, blocks, entries, has_tendons=len(scene.transmissions) > 0),
        "impact": Impact.allocate(k=blocks, nv=nv, IMPACT_NUMBERS=IMPACT_NUMBERS, COLUMNS=COLUMNS),
        "push": Push.allocate(k=blocks, n=model.n_links, j=max(nv, len(scene.motors))),
        "dense": dense,
        "large": dense,
        "loose": dense,
        "flow": no_flow(),
    }
    return Memory.allocate(_given=parts, s=3 * blocks, d=CHOOSING, ROBOT=ROBOT, HISTORY=HISTORY)
