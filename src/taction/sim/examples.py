"""Small examples of everything that is compiled, to see what compiles.

Each entry of `EXAMPLES` calls some kernels the way users do. Run as plain Python (`taction._core.jit_trace`)
they tell which kernels there are to compile, and for which types; run compiled, they compile what that
missed. They are tiny, since plain Python is slow, and take as many branches as they can: a step has shapes
of every common kind close to each other, joints with stops, dry friction and springs, and few contacts. A
test checks that together they reach every kernel of the package.

References: none; nothing here is computed for its result.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from taction.contact.elements import Bilateral, Contact, Element, JointFriction, JointLimit, Unilateral
from taction.contact.lcp import LinearComplementarityProblem
from taction.contact.problem import ContactProblem
from taction.control.drives import Drives
from taction.control.pd import PD
from taction.control.whole_body import WholeBody
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia, contact_jacobian
from taction.dynamics.energy import totals
from taction.dynamics.factor import factor_mass_matrix
from taction.dynamics.lagrangian import lagrangian_form
from taction.dynamics.rnea import bias_forces, gravity_forces, rnea
from taction.geometry.broad_phase import ALL_PAIRS, GRID, SWEEP, find_pairs
from taction.geometry.pair_list import make_broad_scratch
from taction.kinematics.configuration import difference, integrate
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.kinematics.jacobian import jacobian, jacobian_dot_v
from taction.kinematics.loops import close_loops
from taction.kinematics.state_distance import StateRuler
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder, free_body
from taction.model.compile import compile_model
from taction.model.inertia import Inertia
from taction.model.model import Model
from taction.model.shapes import SOLIDS, Box, Capsule, HeightField, Plane, Shape, Sphere
from taction.model.spec import WORLD, SiteSpec, TendonSpec
from taction.sim.contact_setup import LAWS
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.solvers import SOLVERS, solve
from taction.solvers.consensus import ConsensusProgram, ConsensusScratch, seek_consensus
from taction.solvers.elimination_order import DENSE
from taction.solvers.lemke import solve_lcp
from taction.solvers.mode_program import ModeProgram
from taction.solvers.mode_search import descend, make_search, search_modes
from taction.solvers.quadratic_program import solve_quadratic_program
from taction.steppers import INTEGRATORS
from taction.steppers.columns import COLUMNS
from taction.steppers.contact_solve import MANY
from taction.steppers.late_search import search_pairs
from taction.steppers.phases import ORDER_FLOW
from taction.steppers.pile_solve import flow_pile
from taction.steppers.schemes import half_flight, stewart_trinkle
from taction.steppers.schemes.dispatch import SCHEMES

DT = 1e-3  # s
LOOSE = 1e-2  # tolerance: few iterations, since plain Python takes them


def robot() -> Model:
    """A trunk with an arm and a hand: joints with stops, dry friction and a spring."""
    b = ModelBuilder("example")
    for name, shape in (("trunk", Box((0.1, 0.1, 0.1))), ("arm", Capsule(0.05, 0.1)), ("hand", Sphere(0.05))):
        b.body(name, Inertia.solid(shape, mass=1.0), [Shape(shape, Transform())])
    b.floating("free", child="trunk", initial=np.array([0.0, 0.0, 0.0499, 1.0, 0.0, 0.0, 0.0]))
    turn = {"axis": (0.0, 1.0, 0.0), "lower": -0.1, "upper": 0.0, "friction": 0.1, "stiffness": 1.0}
    b.revolute("elbow", parent="trunk", child="arm", pose=Transform.from_rpy((0.2, 0.0, 0.2)), **turn)
    b.universal("wrist", parent="arm", child="hand", pose=Transform.from_rpy((0.2, 0.0, 0.0)))
    return b.build()


def world(closer: float = 0.0) -> World:
    """The robot on the ground, among a box, a ball and two rods close by; some of them closer [m]."""
    box, rod, ball = Box((0.1, 0.1, 0.1)), Capsule(0.05, 0.1), Sphere(0.05)
    bodies = [
        free_body("box", box, mass=1.0, position=(0.0999 - closer, 0.09, 0.11)),
        free_body("ball", ball, mass=1.0, position=(-0.09, -0.09, 0.05)),
        free_body("rod", rod, mass=1.0, position=(closer - 0.0988, 0.0, 0.16)),
        free_body("stake", rod, mass=1.0, position=(0.28, 0.08, 0.1)),
    ]
    return World(robot(), *bodies, ground=Plane(friction=0.5))


def take_step(stepper: str, contact: str, coordinates: str) -> None:
    """One step through contact."""
    sim = Simulation(world(), dt=DT, tol=LOOSE, stepper=stepper, contact=contact, coordinates=coordinates)
    sim.run(DT)


def pull_along_tendons() -> None:
    """A step with a servo at its limit, and tendons over joints and over sites."""
    arm = ModelBuilder("arm")
    for name, parent in (("upper", WORLD), ("lower", "upper")):
        arm.body(name, Inertia.solid(Sphere(0.05), mass=1.0))
        arm.revolute(f"{name} turn", parent=parent, child=name, pose=Transform.from_rpy((0.2, 0.0, 0.0)))
    spec = arm.spec
    spec.sites += [SiteSpec("wall", WORLD, Transform.from_rpy((0.0, 0.3, 0.0))), SiteSpec("eye", "lower")]
    spec.tendons += [
        TendonSpec("sum", joints={"upper turn": 1.0, "lower turn": -0.5}, lower=0.0, friction=0.1),
        TendonSpec("rope", path=[(1.0, ["wall", "eye"])], upper=0.5, stiffness=1.0, damping=0.1),
    ]
    model = compile_model(spec)
    Simulation(World(model), dt=DT, tol=LOOSE).run(DT, controller=PD(100.0, 1.0, [1.0, 1.0], limit=0.1))


def drive_joints() -> None:
    """A step with drives, one of them at its limit."""
    place = World(robot(), ground=Plane(friction=0.5))
    for stepper in (half_flight.SCHEME.name, stewart_trinkle.SCHEME.name):
        sim = Simulation(place, dt=DT, tol=LOOSE, stepper=stepper)
        sim.begin(controller=Drives(sim.model, limit=[1e-3, 1e3, 1e3])).step(ctrl=[1.0, 1.0, 0.0])


def compare_states() -> None:
    """How far two states are from each other, as errors of time steps are measured."""
    model = robot()
    q, v = model.q0, np.zeros(model.nv)
    StateRuler(model).measure(q, v, q, v)


def control_the_body() -> None:
    """A robot under whole-body control: terms, program, solution."""
    model = robot()
    body = WholeBody(model, {model.body_names[0]: np.zeros((1, 3))}, limit=None)
    body.solve(model.q0, np.zeros(model.nv), centre=np.zeros(3))
    solve_quadratic_program(np.eye(2), np.ones(2), np.eye(2), np.zeros(2))


def seek_a_plan() -> None:
    """Two steps of a body before a wall: consensus, then modes nearby."""
    n, one = 4, np.eye(4)  # input and impulse of each step
    S = np.array([[-1.0, 1.0, 0.0, 0.0], [-2.0, 1.0, -1.0, 1.0]])
    none, guard, pairs = np.zeros((0, n)), np.full(2, -1), np.array([1, 3])
    K = np.vstack([one[pairs], S, one[:1]])
    ws = ConsensusScratch.allocate(n=n, t=len(K), c=0)
    ws.y[:], ws.z[:] = 0.0, 0.0
    program = ConsensusProgram(
        g=np.array([-1.0, 0.0, -1.0, 0.0]), P=np.array([np.linalg.inv(one + K.T @ K)]), penalty=np.ones(1),
        K=K, k=np.zeros(len(K)), weight=np.ones(len(K)), guard=guard,
    )  # fmt: skip
    seek_consensus(program, ws)
    modes = ModeProgram(
        H=one, g=program.g, S=S, s=np.full(2, 0.5), A=one[:1], b=np.ones(1), G=none, gamma=np.zeros(0),
        pairs=pairs, inputs=np.array([0, 2]), guard=guard,
    )  # fmt: skip
    search = make_search(n, 2, 0, 1, 2)
    search.mode.is_open[:], search.value[0], search.place[:] = 1, math.inf, 0
    descend(modes, math.inf, search)
    search_modes(modes, 1, 10, search)


def push_apart() -> None:
    """A step from overlaps that one step cannot repair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Simulation(world(closer=0.02), dt=DT, tol=LOOSE).run(DT)


def part_bodies() -> None:
    """What follows a step that ends with an overlap."""
    box = free_body("box", Box((0.1, 0.1, 0.1)), mass=1.0, position=(0.0, 0.0, 0.0499))
    engine = Simulation(World(box, ground=Plane(friction=0.5)), dt=DT, tol=LOOSE).engine
    scene = engine.scene()
    engine.driver(scene).part(scene, np.zeros(6), engine.inner(engine.start(None, None)), np.zeros(COLUMNS))


def take_step_of_many() -> None:
    """A step with as many contacts of loose bodies as make a pile."""
    box = Box((0.1, 0.1, 0.1))
    bodies = [
        free_body(f"box{i}", box, mass=1.0, position=(0.2 * i, 0.0, 0.05)) for i in range(MANY // 4 + 1)
    ]
    Simulation(World(*bodies, ground=Plane(friction=0.5)), dt=DT, tol=LOOSE).run(DT)


def flow_through_a_pile() -> None:
    """What is tried where Newton's method fails on a pile."""
    box = Box((0.1, 0.1, 0.1))
    bodies = [free_body(f"box{i}", box, mass=1.0, position=(0.2 * i, 0.0, 0.05)) for i in range(4)]
    engine = Simulation(World(*bodies, ground=Plane(friction=0.5)), dt=DT, tol=LOOSE).engine
    scene = engine.scene()
    driver = engine.driver(scene)
    driver.pose(scene, np.zeros(engine.robot.nv), engine.inner(engine.start(None, None)))
    driver.order(scene, ORDER_FLOW)
    flow_pile(scene.tree.column, driver.options, 0, True, driver.memory, driver.memory.blocks.r)


def take_smooth_step(integrator: str) -> None:
    """One step without contact."""
    Simulation(robot(), dt=DT, integrator=integrator).run(DT)


def compute_dynamics() -> None:
    """The public functions of a model."""
    model = robot()
    q, v = model.q0, np.zeros(model.nv)
    points = [ContactPoint("hand", np.zeros(3)), ContactPoint("arm", np.zeros(3), other="trunk")]
    rnea(model, q, v, v)
    aba(model, q, v, v)
    bias_forces(model, q, v)
    totals(model, q, v)
    body_velocities(model, q, v)
    lagrangian_form(model, q, v)
    mass_matrix(model, q)
    gravity_forces(model, q)
    forward_kinematics(model, q)
    factor_mass_matrix(model, q).solve(v)
    contact_jacobian(model, q, points)
    for method in ("jacobian", "unit_forces"):
        contact_inertia(model, q, points, method=method)
    jacobian(model, q, "hand")
    jacobian_dot_v(model, q, v, "hand")
    difference(model, q, integrate(model, q, v, 0.1))


def close_a_loop() -> None:
    """A triangle of two links and the world."""
    b = ModelBuilder("loop")
    for name in ("upper", "lower"):
        b.body(name, Inertia.solid(Sphere(0.1), mass=1.0))
    b.revolute("first", parent=WORLD, child="upper")
    b.revolute("second", parent="upper", child="lower", pose=Transform.from_rpy((0.3, 0.0, 0.0)))
    b.loop("closure", "lower", WORLD, pose=Transform.from_rpy((0.3, 0.0, 0.0)))
    model = b.build()
    close_loops(model, np.array([0.3, 0.3]))


def touch_rare_shapes() -> None:
    """Convex shapes in general, and terrain."""
    field = HeightField(np.zeros((3, 3)), (0.3, 0.3))
    bodies = [
        free_body(
            f"body{i}",
            s,
            mass=1.0,
            position=(0.09 * i, 0.0, 0.05),
            inertia=Inertia.solid(Sphere(0.1), mass=1.0),
        )
        for i, s in enumerate(SOLIDS.values())
    ]
    Simulation(World(*bodies, ground=field), dt=DT, tol=LOOSE).run(DT)


def find_many_pairs() -> None:
    """The broad phases for many shapes, alone and in a step."""
    scene = world()
    n = len(scene.colliders.kind)
    boxes = np.tile([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], (n, 1))
    for method in (ALL_PAIRS, SWEEP, GRID):
        find_pairs(method, scene.filter, boxes, make_broad_scratch(n), np.zeros((n * n, 2), dtype=np.int64))
    engine = Simulation(scene, dt=DT, tol=LOOSE).engine
    driver = engine.driver(engine.scene())
    search_pairs(driver.options, scene.filter, driver.memory.sight)


def solve_a_problem(solver: str, law: str) -> None:
    """One contact problem with an element of every kind, as far as the law and the solver allow."""
    elements: list[Element] = [Contact(0.5), Contact(0.5, lateral=0.3 if law == "exact" else 0.5)]
    if solver != "enumeration":  # whose cost is exponential
        elements += [Bilateral(1), Unilateral(), JointLimit(), JointFriction(0.1)]
    rows = sum(element.rows for element in elements)
    W, b = 2.0 * np.eye(rows), np.full(rows, -1.0)
    W[0, 3] = W[3, 0] = 0.5
    solve(ContactProblem(W, b, elements, law=law), solver, tol=LOOSE)


def solve_a_chain() -> None:
    """More blocks than a dense factor takes, each coupled with the next."""
    n = 3 * (DENSE + 1)
    W = 2.0 * np.eye(n) + 0.1 * (np.eye(n, k=3) + np.eye(n, k=-3))
    solve(ContactProblem(W, np.full(n, -1.0), [Contact(0.5)] * (DENSE + 1)), "newton", tol=LOOSE)


def solve_a_complementarity_problem() -> None:
    """Lemke's method."""
    solve_lcp(LinearComplementarityProblem(2.0 * np.eye(2), np.array([-1.0, 1.0])))


# Schemes, laws and coordinates that go together
STEPS = [
    (name, contact, coordinates)
    for name, scheme in SCHEMES.items()
    for contact in LAWS
    for coordinates in scheme.coordinates
]

EXAMPLES: dict[str, Callable[[], Any]] = {
    **{
        f"{stepper} {contact} {coordinates}": partial(take_step, stepper, contact, coordinates)
        for stepper, contact, coordinates in STEPS
        if contact == "exact" or stepper == "stewart-trinkle"  # laws differ alike in all schemes
    },
    **{name: partial(take_smooth_step, name) for name in INTEGRATORS},
    "dynamics": compute_dynamics,
    "loops": close_a_loop,
    "distance": compare_states,
    "overlap": push_apart,
    "parting": part_bodies,
    "tendons": pull_along_tendons,
    "drives": drive_joints,
    "whole body": control_the_body,
    "plan": seek_a_plan,
    "pile": take_step_of_many,
    "flow": flow_through_a_pile,
    "rare shapes": touch_rare_shapes,
    "many shapes": find_many_pairs,
    **{f"{n} {law}": partial(solve_a_problem, n, law) for n, s in SOLVERS.items() for law in s.laws},
    "chain": solve_a_chain,
    "lcp": solve_a_complementarity_problem,
}


def run_all() -> None:
    """Every example, whatever becomes of it."""
    for example in EXAMPLES.values():
        with suppress(Exception):
            example()
