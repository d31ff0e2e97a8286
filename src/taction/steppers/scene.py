"""What a step needs: the scene that stays, the options, the state that moves, and working memory.

`Scene` is read-only and shared by all worlds of a batch (or replaced array by array where a parameter is
randomised). `State` is the least that continues a run bit for bit: positions, velocities, the impulses of the
last step with the identities and memories of their contacts, the turns of joints, wrenches held. `Memory` is
scratch: nothing in it is read before it is written within a step, so that results do not depend on who used
it before.

References: [Featherstone2008, Chapter 3] for the tree; the rest is bookkeeping.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray, frozen
from taction._core.layout import Layout, flag, flags, floats, ints, nested, number, whole
from taction.contact.assembly import Assembly
from taction.contact.chains import Chains, make_chains
from taction.contact.forces.soft_pair import SOFT_WIDTH
from taction.contact.transmission import Transmissions, no_transmissions
from taction.dynamics.joint_law import JointLaw, passive_law
from taction.dynamics.servo import Servos, make_servos
from taction.geometry.colliders import Colliders, Contacts
from taction.geometry.filters import Filter
from taction.geometry.pair_list import BroadScratch
from taction.model.absolute import Absolute, Ties, no_ties
from taction.model.model import Model, Tree, narrow
from taction.solvers.newton_memory import Work
from taction.solvers.state_flow import FlowMemory
from taction.steppers.impact_memory import Impact

HISTORY = 2000  # residuals kept of one solve
POINT, HINGE, WELD = 0, 2, 3  # rows of orientation that a loop has
RIGID, EXPLICIT, IMPLICIT = 0, 1, 2  # what contacts are: set-valued laws, or forces taken so
# Sources of blocks that are no contact, beside −1: a joint between bodies in absolute coordinates, a servo,
# the viscous friction of the contact before it, the spring or damper of a tendon, the moment about the normal
# of the soft contact before it
TIE, SERVO, DAMPER, SPRING, TWIST = -2, -3, -4, -5, -6
# Columns of Scene.motors: what acts on a joint velocity of a robot in absolute coordinates
STIFFNESS, DAMPING, CONSTANT = 0, 1, 2  # of the linear law of the joint, controllers included
OWN_STIFFNESS, OWN_DAMPING, OWN_CONSTANT = 3, 4, 5  # of the model alone
ARMATURE, LOWER, UPPER, DRY = 6, 7, 8, 9  # rotor inertia, stops, dry friction
MOTOR_WIDTH = 10


class Loops(Layout):
    """Closures of kinematic loops, read-only: two frames that coincide."""

    link: IntArray = ints("m, 2", "links that carry them")
    point: Array = floats("2*m, 3", "origins of both frames of each loop, in their links [m]")
    axes: Array = floats("2*m, 9", "axes of both frames, in their links")
    turning: IntArray = ints("m", "rows of orientation: 0, 2 (about the frames' x and y axes) or 3")
    size: Array = floats("m", "how large what it connects is, seen from the loop [m]")


class Joints(Layout):
    """Non-smooth elements of the joints, read-only."""

    lower: Array = floats("nv", "stops [m or rad]")
    upper: Array = floats("nv", "stops [m or rad]")
    dry: Array = floats("nv", "dry friction [N or N m]")
    follower: IntArray = ints("m", "mimic joints")
    leader: IntArray = ints("m", "joints they follow")
    ratio: Array = floats("m", "q_f = ratio q_l + shift")
    shift: Array = floats("m", "of that [m or rad]")
    loops: Loops = nested(Loops, "closures of loops")


class Surfaces(Layout):
    """Friction, restitution and adhesion: columns of `taction.steppers.elements`; read-only."""

    link: IntArray = ints("n", "link that carries each shape")
    shape: Array = floats("n, SURFACE_WIDTH", "of each shape")
    viscous: Array = floats("n", "viscous friction of each shape [N s/m]")
    pair_key: IntArray = ints("p", "pairs with numbers of their own, a · n + b, ascending")
    pair: Array = floats("p, SURFACE_WIDTH", "those numbers")
    soft: Array = floats("s, SOFT_WIDTH", "of each shape, of `taction.contact.forces.soft_pair`; or none")


class Lifts(Layout):
    """Shares of weights that forces at the centres of mass take off, read-only."""

    link: IntArray = ints("l", "link of each")
    mass: Array = floats("l", "share of its mass [kg]")
    first: Array = floats("l, 3", "share of its first moment, in the link [kg m]")


class Robot(Layout):
    """The mechanism in joint coordinates, read-only; of a scene in these, its own tree and chains."""

    tree: Tree = nested(Tree, "narrow")
    chains: Chains = nested(Chains, "ways from links to the world")
    link: IntArray = ints("b", "link that each body is, the world first; none in joint coordinates")
    centre: Array = floats("b, 3", "centre of mass of each body in that link [m]")


class Scene(Layout):
    """Constants of a world."""

    tree: Tree = nested(Tree, "narrow")
    chains: Chains = nested(Chains, "ways from links to the world")
    law: JointLaw = nested(JointLaw, "springs, dampers and linear controllers")
    own: JointLaw = nested(JointLaw, "the springs and dampers of the model alone")
    joints: Joints = nested(Joints, "stops, dry friction, couplings, loops")
    surfaces: Surfaces = nested(Surfaces, "friction and restitution")
    colliders: Colliders = nested(Colliders, "collision shapes")
    filter: Filter = nested(Filter, "which pairs of them may touch")
    ties: Ties = nested(Ties, "joints of bodies in absolute coordinates, none in joint coordinates")
    robot: Robot = nested(Robot, "the same bodies in joint coordinates")
    motors: Array = floats("nr, MOTOR_WIDTH", "what acts on their velocities")
    servos: Servos = nested(Servos, "with limits, or along transmissions")
    transmissions: Transmissions = nested(Transmissions, "tendons, and sites that are pushed")
    lifts: Lifts = nested(Lifts, "weights taken off links")


class Options(Layout):
    """Numbers that choose how a step is done."""

    h: float = number("time step [s]")
    rule: int = whole("which contacts take part: of `taction.steppers.schemes.dispatch`")
    ahead: float = number("where the scheme looks, as a share of the step")
    reach_h: float = number("time within which contacts may close that are looked for [s]")
    margin: float = number("how much farther shapes are looked at than they can come, each [m]")
    coordinates: int = whole("of `taction.steppers.coordinates.dispatch`")
    cone: int = whole("kind of contact blocks: EXACT or CONVEX of `taction.contact.laws.dispatch`")
    combine: int = whole("of `taction.steppers.elements`")
    broad: int = whole("of `taction.geometry.broad_phase`")
    tolerance: float = number("of the relative natural-map residual")
    is_external: bool = flag("the contact problem is solved outside")
    force_h: float = number("time over which forces act [s]: h, or 0 in a collision")
    move_h: float = number("time over which positions move [s], likewise")
    needs_turning: bool = flag("the rule asks for the normal acceleration that velocities cause")
    asks_free_motion: bool = flag("the rule asks the free motion: contacts that hold on take part always")
    is_momentum: bool = flag("links carry their momenta from midpoint to midpoint, as free bodies do")
    is_projected: bool = flag("bodies move straight, and their joints are closed after the step")
    is_split: bool = flag("links fly freely to where the scheme looks and on from there, forces act there")
    is_measured: bool = flag("laws allow for what flight changed, measured since the step began")
    memory: int = whole("numbers kept of each contact")
    push: float = number("how far the correction of positions moves a point of contact in a step [m]")
    turn: float = number("how far it turns a link in a step [rad]")
    is_parting: bool = flag("what overlaps where a step ends is parted there")
    is_search: bool = flag("the step ends when its contacts are found")
    soft: int = whole("RIGID laws, or springs and dampers, EXPLICIT or IMPLICIT")
    restitution: int = whole("its law, of `taction.steppers.impact_memory`")
    is_crossley: bool = flag("their dampers are Hunt and Crossley's, else Kelvin and Voigt's")


class State(Layout):
    """What continues a run."""

    q: Array = floats("nq", "configuration [m or rad]")
    v: Array = floats("nv", "velocity [m/s or rad/s]")
    last: Array = floats(
        "nq", "where the last step looked, the links' momenta being those of v there; or bodies as they fly"
    )
    count: IntArray = ints("1", "contacts of the last step")
    key: IntArray = ints("c, 3", "their shapes and features")
    impulse: Array = floats("c, 3", "their impulses, contact axes [N s]")
    joint_impulse: Array = floats(
        "j", "of the joints' own rows: stops, dry friction, couplings, loops, ties [N s or N m s]"
    )
    not_unique: IntArray = ints("1", "what was not unique about all these, of `taction.contact.redundancy`")
    memory: Array = floats("c, m", "what a scheme or a law keeps of each contact, besides its impulse")
    angle: Array = floats("t, 3", "of joints between bodies in absolute coordinates, turns included [rad]")
    wrench: Array = floats("w, 6", "held on links from outside, moment first, world axes [N m, N]; or none")


# Rows of Motion.dof: bias forces c; held, and with the joint law; zero; velocities free, new and their
# change; M (v⁺ − v); correction of positions per time; gradient of the potential energy; M v; velocities
# before forces act; how free flight changes them after that; their mean meanwhile, and Coriolis forces at
# that; by how much less bodies turn than by their spins; forces of drives that are held
BIAS, HELD, FORCE, ZERO, FREE, NEW, CHANGE, GAIN, PUSH, SLOPE, MOMENTUM = range(11)
BEFORE, FLIGHT, MEAN, CORIOLIS, LAG, DRIVE, DOF_ROWS = range(11, 18)


# Entries of Motion.entry: in absolute coordinates where bodies are looked at, rows of joints, how bodies
# move, what is closed; servos; lengths and rows of tendons; a correction of positions that is bounded; soft
# contacts, and what their springs do; drives held, those behind what is stuck, their forces, dry friction;
# where the step starts, what flight has changed since, whether laws change; flight of trees, and their
# momenta through a correction of positions
LOOK_ENTRY, TIES_ENTRY, END_ENTRY, CLOSE_ENTRY, SERVOS_ENTRY = range(5)
LENGTHS_ENTRY, TENDONS_ENTRY, BOUND_ENTRY, SOFT_ENTRY, SPRINGS_ENTRY = range(5, 10)
HOLD_ENTRY, STUCK_ENTRY, DRIVES_ENTRY, DRY_ENTRY = range(10, 14)
START_ENTRY, BACK_ENTRY, CHECK_ENTRY, FLIGHT_ENTRY, CARRY_ENTRY, ENTRIES = range(14, 20)


# Columns of Motion.start: origin, its velocity and the angular velocity of a link, world axes (3 each)
START_ORIGIN, START_SPEED, START_OMEGA, START_WIDTH = 0, 3, 6, 9
# Columns of Motion.loop_start: velocity and angular velocity of the first frame against the second, along the
# first one's axes (3 each), and the larger of both frames' speeds and rates, in the world
LOOP_SPEED, LOOP_OMEGA, LOOP_FASTEST, LOOP_TURNS, LOOP_START = 0, 3, 6, 7, 8
# Places of Motion.said: how many times the contact problem was looked at after its answer; whether a flight
# could not be followed; where the links are placed: not known, where the step starts, or where it looks
POSED_ANEW, LOST_FLIGHT, PLACED, SAID = 0, 1, 2, 3
SOMEWHERE, AT_START, IN_MIDDLE = 0, 1, 2
# Columns of Sight.start: whether a contact persists, and its velocity where the step starts, along its frame
PERSISTS, START_VELOCITY, CONTACT_START = 0, 1, 4


# Rows of Flight.q and Flight.v: a state, where its flight leads, and where the correction of positions does
TAKEN_OFF, FLOWN, PUT_RIGHT, FLIGHT_STATES = 0, 1, 2, 3


class Flight(Layout, scratch=True):
    """Scratch of bodies in absolute coordinates that fly in joint coordinates; empty in these."""

    links: Array = floats("b, WIDTH", "of `taction.model.workspace`", is_kept=True)
    q: Array = floats("FLIGHT_STATES, nq", "joint coordinates, at the rows above")
    v: Array = floats("FLIGHT_STATES, nv", "their velocities")
    zero: Array = floats("nv", "zeros", is_kept=True)
    flight_q: Array = floats("FLIGHT_ROWS, nq", "of `taction.dynamics.tree_flight`")
    flight_v: Array = floats("FLIGHT_ROWS, nv", "likewise")


class Motion(Layout, scratch=True):
    """Scratch of the dynamics."""

    links: Array = floats("n, WIDTH", "of `taction.model.workspace`", is_kept=True)
    M: Array = floats("nv, depth", "mass matrix")
    L: Array = floats("nv, depth", "factor of the mass matrix with implicit joint laws")
    q: Array = floats("nq", "where the scheme looks")
    law: JointLaw = nested(JointLaw, "of this step: servos that are linear included")
    motors: Array = floats("nr, MOTOR_WIDTH", "of this step, likewise")
    is_row: IntArray = ints("m", "1 for servos that are rows of the problem", is_kept=True)
    length: Array = floats("t", "of transmissions where the scheme looks")
    arm: Array = floats("e", "their moment arms")
    entry: IntArray = ints(
        "ENTRIES",
        "addresses of the kernels of `taction.steppers.late_rows`, 0 where none is needed",
        is_kept=True,
    )
    acted: Array = floats("nj", "force of controllers, actuators and servos on each joint [N or N m]")
    flight_q: Array = floats("FLIGHT_ROWS, nq", "of `taction.dynamics.tree_flight`")
    flight_v: Array = floats("FLIGHT_ROWS, nv", "likewise")
    flight: Flight = nested(Flight, "of joined bodies in absolute coordinates")
    start: Array = floats("n, START_WIDTH", "links where the step starts, at the columns above")
    loop_start: Array = floats("l, LOOP_START", "of loops there, at the columns above")
    said: IntArray = ints("SAID", "what the step has found out, at the places above", is_kept=True)
    dof: Array = floats(
        "DOF_ROWS, nv", "vectors over the degrees of freedom, at the rows above", is_kept=True
    )


class Sight(Layout, scratch=True):
    """Scratch of contact detection."""

    placed: Array = floats("n, PLACED_WIDTH", "shapes in the world")
    travel: Array = floats("n, TRAVEL_WIDTH", "how they do so, of `taction.geometry.detect` [m]")
    reach: Array = floats("n", "how far shapes can move within the step [m]")
    boxes: Array = floats("n, 6", "bounds of shapes, reach included [m]")
    pairs: IntArray = ints("p, 2", "shapes that may touch")
    pair_count: IntArray = ints("1", "how many of those there are")
    narrow: Array = floats("SCRATCH_ROWS, SCRATCH_COLUMNS", "scratch of the narrow phase")
    contacts: Contacts = nested(Contacts, "what was found")
    key: IntArray = ints("c, 3", "identities of the contacts")
    warm: Array = floats("c, 3", "impulses of the step before [N s]")
    memory: Array = floats("c, m", "memories of the step before")
    start: Array = floats("c, CONTACT_START", "of contacts that persist, at the columns above")
    broad: BroadScratch = nested(BroadScratch, "of broad phases for many shapes")
    entry: IntArray = ints(
        "2", "addresses of the kernels of `taction.steppers.late_search`, 0 before they are needed",
        is_kept=True,
    )  # fmt: skip


# Entries of Sight.entry
PAIRS_ENTRY, GENERAL_ENTRY = 0, 1


class Push(Layout, scratch=True):
    """Scratch of the position correction: the blocks of a step with other sets and velocities."""

    kind: IntArray = ints("k", "of `taction.contact.laws.dispatch`")
    sets: Array = floats("k, 6", "of `taction.contact.laws.dispatch`")
    target: Array = floats("3*k", "gaps per step [m/s]")
    impulse: Array = floats("3*k", "impulses that close the gaps [N s]")
    cap: Array = floats("k", "most that a contact may push [N s]")
    scale: Array = floats("n", "share of the correction that each kinematic tree takes")
    room: Array = floats("2, j", "of joints, downwards and upwards, to stops without a row [m or rad]")
    is_eased: NDArray[np.bool_] = flags("1", "whether loops give way, see `taction.steppers.push_easing`")
    is_held: NDArray[np.bool_] = flags("1", "whether its bounds hold it back")


class Memory(Layout):
    """Scratch of one world."""

    motion: Motion = nested(Motion, "of the dynamics")
    sight: Sight = nested(Sight, "of contact detection")
    back: Sight = nested(Sight, "where the step started, of the pairs in contact")
    blocks: Assembly = nested(Assembly, "of the contact problem")
    push: Push = nested(Push, "of the position correction")
    impact: Impact = nested(Impact, "of an impact in phases")
    dense: Work = nested(Work, "for a few blocks, or those of one robot, taken as all coupled")
    large: Work = nested(Work, "for many, ordered for one pattern")
    loose: Work = nested(Work, "for many, in the space of the bodies")
    flow: FlowMemory = nested(FlowMemory, "for piles of contacts with the same friction all round")
    gram: Array = floats("18*d*d + 54*ROBOT*d", "of `taction.solvers.active_system`, where a choice is made")
    sweeps: Array = floats("2, s", "of Gauss–Seidel")
    history: Array = floats("HISTORY", "residuals of one solve")


def make_scene(
    model: Model,
    colliders: Colliders,
    filter: Filter,
    surface: Array,
    *,
    viscous: Array | None = None,
    soft: Array | None = None,
    law: JointLaw | None = None,
    loops: Loops | None = None,
    pairs: dict[tuple[int, int], Sequence[float]] | None = None,
    absolute: Absolute | None = None,
    motors: Array | None = None,
    servos: Servos | None = None,
    transmissions: Transmissions | None = None,
    lifts: Lifts | None = None,
) -> Scene:
    """The constants of a world.

    Args:
        model: everything that moves.
        colliders: its collision shapes.
        filter: which pairs of them may touch.
        surface: friction along x, y, against x, restitution and adhesion of each shape, shape (n, 5).
        viscous: viscous friction of each shape [N s/m], shape (n,); none by default.
        soft: springs and dampers of each shape, of `taction.contact.forces.parameters`; none by default.
        law: linear controllers, on top of the model's own springs and dampers.
        loops: closures of kinematic loops.
        pairs: surfaces of pairs (a, b), a < b, that have numbers of their own.
        absolute: what it is made of, if the model is one of bodies in absolute coordinates.
        motors: what acts on them, from `joint_motors`.
        servos: with limits, or along transmissions.
        transmissions: tendons, and sites that are pushed.
        lifts: weights taken off links.
    """
    own, tree, chains = passive_law(model), narrow(model.tree), make_chains(model.tree)
    n = len(colliders.kind)
    keys = sorted((a * n + b, tuple(row)) for (a, b), row in (pairs or {}).items())
    none = Loops(
        frozen(np.zeros((0, 2)), np.int64),
        frozen(np.zeros((0, 3))),
        frozen(np.zeros((0, 9))),
        frozen([], np.int64),
        frozen([]),
    )
    return Scene(
        tree=tree,
        chains=chains,
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
            viscous=frozen(np.zeros(n) if viscous is None else viscous),
            pair_key=frozen([k for k, _ in keys], np.int64),
            pair=frozen(np.array([row for _, row in keys]).reshape(-1, surface.shape[1])),
            soft=frozen(np.zeros((0, SOFT_WIDTH)) if soft is None else soft),
        ),
        colliders=colliders,
        filter=filter,
        ties=no_ties() if absolute is None else absolute.ties,
        robot=make_robot(absolute, tree, chains),
        motors=frozen(np.zeros((0, MOTOR_WIDTH))) if motors is None else motors,
        servos=make_servos() if servos is None else servos,
        transmissions=no_transmissions() if transmissions is None else transmissions,
        lifts=no_lifts() if lifts is None else lifts,
    )


def make_robot(absolute: Absolute | None, tree: Tree, chains: Chains) -> Robot:
    """What bodies in absolute coordinates are in joint coordinates; else the tree and chains of the scene."""
    if absolute is None:
        return Robot(tree, chains, frozen([], np.int64), frozen(np.zeros((0, 3))))
    robot = absolute.robot.tree
    return Robot(narrow(robot), make_chains(robot), frozen(absolute.link, np.int64), frozen(absolute.centre))


def no_lifts() -> Lifts:
    """Nothing taken off."""
    return Lifts(frozen([], np.int64), frozen([]), frozen(np.zeros((0, 3))))


def joint_count(scene: Scene) -> int:
    """Degrees of freedom of the robot, on which controllers act."""
    return len(scene.motors) or len(scene.law.K)


def joint_motors(robot: Model, law: JointLaw | None = None) -> Array:
    """What acts on the joint velocities of a robot, shape (nr, MOTOR_WIDTH): own, and a linear controller."""
    own = passive_law(robot)
    total = own if law is None else own + law
    columns = (total.K, total.D, total.b, own.K, own.D, own.b, robot.tree.armature)
    return frozen(np.column_stack([*columns, robot.lower, robot.upper, robot.friction]))


def make_state(
    scene: Scene,
    q: Array,
    v: Array,
    capacity: int,
    last: Array | None = None,
    angle: Array | None = None,
    memory: int = 0,
) -> State:
    """A state without contact: no impulses to start from; memory: numbers kept of each contact."""
    joints = 3 * len(v) + len(scene.joints.follower) + 6 * len(scene.joints.loops.turning)
    joints += 6 * len(scene.ties.turn) + 3 * len(scene.motors) + len(scene.ties.follow)
    joints += 4 * len(scene.transmissions)
    return State(
        q=np.array(q),
        v=np.array(v),
        last=np.array(q if last is None else last),
        count=np.zeros(1, dtype=np.int64),
        key=np.zeros((capacity, 3), dtype=np.int64),
        impulse=np.zeros((capacity, 3)),
        joint_impulse=np.zeros(joints),
        not_unique=np.zeros(1, dtype=np.int64),
        memory=np.zeros((capacity, memory)),
        angle=np.zeros((len(scene.ties.turn), 3)) if angle is None else np.array(angle),
        wrench=np.zeros((0, 6)),
    )
