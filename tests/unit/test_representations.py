"""What everything public shows of itself: at most ten lines, with what one wants to know."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction._core.show import LINES, WIDTH, brief
from taction.model.spec import BodySpec


@pytest.fixture(scope="module")
def things(tmp_path_factory) -> dict[str, object]:
    robot = ta.robots.quadruped()
    world = ta.World(robot, ground=ta.Plane(friction=0.7))
    sim = ta.Simulation(world, dt=1e-3, strict=True)
    smooth = ta.Simulation(robot, integrator="semi-implicit-euler").run(0.01)
    run = sim.run(0.02, controller=ta.PD(kp=80, kd=2), events={"low": lambda t, q, v: q[2] - 0.774})
    problem = sim.problem(run.state)
    solution = ta.solve(problem)
    snake = ta.robots.snake(links=200)
    corners = np.random.default_rng(0).normal(size=(500, 3))
    q, v = robot.q0, np.zeros(robot.nv)
    lcp = ta.LinearComplementarityProblem(np.eye(40), np.ones(40))
    return {
        "model": robot, "snake": snake, "world": world, "sim": sim, "run": run, "state": run.state,
        "certificate": run.certificate, "energy": run.energy, "problem": problem, "solution": solution,
        "judged": ta.certify(problem, solution.impulse), "smooth": ta.Simulation(robot, integrator="rk4"),
        "smooth run": smooth, "snake world": ta.World(snake, ground=ta.Plane()),
        "recorded": ta.load_run(run.save(tmp_path_factory.mktemp("runs") / "run.h5")),
        "rollout": sim.rollout((np.tile(q, (3, 1)), np.zeros((3, robot.nv))), steps=2),
        "mesh": ta.Mesh(corners), "field": ta.HeightField(np.zeros((50, 60)), (0.1, 0.1)),
        "union": ta.Union([(ta.Sphere(0.1), ta.Transform())] * 30), "shape": ta.Shape(ta.Box((1, 2, 3))),
        "pd": ta.PD(kp=np.full(16, 80.0), kd=2),
        "transform": ta.Transform.from_rpy((1, 2, 3), (0.1, 0.2, 0.3)),
        "actuators": ta.Actuators(robot, np.zeros(16)), "inertia": ta.Inertia.solid(ta.Sphere(0.1), mass=1.0),
        "material": ta.Material(), "builder": ta.ModelBuilder("arm"), "contact": ta.Contact(0.5), "lcp": lcp,
        "lcp solution": ta.solve_lcp(lcp), "unique": ta.indeterminacy(problem, solution.impulse),
        "point": ta.ContactPoint("torso", (0, 0, 0)), "samples": run.resample(0.005), "spec": robot.spec,
        "poses": ta.forward_kinematics(robot, q), "totals": ta.totals(robot, q, v), "contacts": run.contacts,
        "factor": ta.factor_mass_matrix(robot, q), "lagrangian": ta.lagrangian_form(robot, q, v),
        "velocities": ta.body_velocities(robot, q, v), "joint": robot.spec.joints[0], "row": ta.DHRow(),
    }  # fmt: skip


def test_ten_lines_at_most(things):
    for name, thing in things.items():
        lines = repr(thing).split("\n")
        assert len(lines) <= LINES and max(len(line) for line in lines) <= WIDTH + 40, name
        assert " at 0x" not in repr(thing), name


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("model", ["'quadruped'", "17 bodies", "96.8 kg", "nq=23", "nv=22", "torso", "root (floating)"]),
        ("world", ["'quadruped'", "ground: ground", "gravity: (0, 0, -9.81) m/s²", "96.8 kg"]),
        ("sim", ["dt = 0.001 s", "half-flight", "exact", "auto", "reduced", "strict"]),
        ("run", ["20 steps of 0.001 s", "exact", "certificate: residual", "energy: ", "1 event", "contacts"]),
        ("smooth run", ["10 steps", "SemiImplicitEuler", "left out: "]),
        ("recorded", ["20 steps", "'quadruped'", "written by taction"]),
        ("certificate", ["residual=", "motion=", "unconverged_steps=0"]),
        ("rollout", ["3 worlds", "2 steps", "3 done"]),
        ("problem", ["36 rows", "4 Contact, 8 Bilateral, 16 JointFriction", "'exact'"]),
        ("solution", ["status=converged", "residual="]),
        ("state", ["t=0.02", "q=array (23,)"]),
        ("mesh", ["vertices=array (500, 3)"]),
        ("transform", ["Transform(xyz=[1, 2, 3] m, rpy=[0.1, 0.2, 0.3] rad)"]),
        ("builder", ["'arm'", "bodies: none"]),
        ("inertia", ["mass=1", "matrix=[[0.004, 0, 0], [0, 0.004, 0], [0, 0, 0.004]]"]),
    ],
)
def test_what_one_wants_to_know(things, name, wanted):
    text = repr(things[name])
    assert [word for word in wanted if word not in text] == [], text


def test_values_in_a_few_words():
    assert brief(1 / 3) == "0.333333" and brief(True) == "True" and brief((1.0,)) == "(1,)"
    assert brief(np.zeros((0, 3))) == "array (0, 3)" and brief([BodySpec("a")] * 20) == "20 BodySpec"
    assert brief(b"abc") == "3 bytes" and len(brief("x" * 500)) < 70
    assert brief({str(k): k for k in range(10)}) == "{0, 1, 2, 3, 4, 5 and 4 more}"


def test_tab_shows_our_names_alone():
    assert set(dir(ta)) == {*ta.__all__, "__version__"}
