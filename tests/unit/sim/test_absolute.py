"""A world stepped in absolute coordinates: joints stay closed, laws hold, and it moves as in reduced ones."""

import numpy as np
import pytest

import taction as ta
from taction._core.errors import BadInput
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.robots import quadruped, snake
from taction.scenarios import get_scenario
from taction.steppers import ledger as column


def arm(**joint):
    """Two links that hang on the world by hinges, with whatever the first joint is given."""
    b = ta.ModelBuilder("arm")
    b.body("upper", Inertia(1.0, np.array([0.0, 0.05, -0.3]), np.diag([0.04, 0.03, 0.01])))
    b.body("lower", Inertia(0.7, np.array([0.0, 0.0, -0.2]), np.diag([0.02, 0.03, 0.01])))
    b.revolute("shoulder", parent="world", child="upper", axis=(0, 1, 0), **joint)
    b.revolute("elbow", parent="upper", child="lower", axis=(1, 1, 0), pose=Transform.from_rpy((0, 0, -0.6)))
    return b.build()


def both(world, dt, duration, stepper="moreau-momentum", **how):
    return [
        ta.Simulation(world, dt=dt, coordinates=c, stepper=stepper).run(duration, **how)
        for c in ("reduced", "absolute")
    ]


def difference(model, runs):
    return float(np.abs(runs[0].q[-1] - runs[1].q[-1]).max())


@pytest.mark.parametrize(
    "joint",
    [
        {},
        {"damping": 0.5},
        {"stiffness": 20.0, "rest": 0.4},
        {"armature": 0.3},
        {"friction": 0.4},
        {"upper": 0.9},
    ],
)
def test_joints_and_what_acts_on_them(joint):
    world = ta.World(arm(**joint))
    start = {"q": np.array([0.7, -0.4]), "v": np.array([1.0, 2.0])}
    coarse, fine = (both(world, h, 0.4, **start) for h in (2e-3, 1e-3))
    for runs in (coarse, fine):
        assert runs[1].certificate.joint_gap <= 1e-12
        assert runs[1].certificate.residual <= 1e-8
        assert runs[1].energy.closure <= 1e-9
    # both are the midpoint rule and differ by its error, second order; a stop is met within a step
    limit = 2e-3 if "upper" in joint else 2e-4
    assert difference(world.model, coarse) <= limit
    assert difference(world.model, fine) <= 0.6 * limit


def test_a_servo_and_held_forces_act_alike():
    world = ta.World(arm())
    pd = ta.PD(kp=30.0, kd=2.0, target=np.array([0.3, -0.2]))
    assert difference(world.model, both(world, 1e-3, 0.4, controller=pd)) <= 1e-4
    push = both(world, 1e-3, 0.2, controller=lambda t, q, v: np.array([1.0, -0.2 - 0.1 * q[0]]))
    assert difference(world.model, push) <= 1e-4
    assert push[1].energy.actuation == pytest.approx(push[0].energy.actuation, rel=1e-2)


def test_a_snake_drops_with_closed_joints_and_exact_laws():
    model = snake(links=4)
    q = model.q0.copy()
    q[2] += 0.1
    q[7:] = 0.05
    run = ta.Simulation(ta.World(model, ground=ta.Plane(friction=1.0)), dt=1e-3, coordinates="absolute").run(
        0.3, q=q
    )
    c = run.certificate
    assert c.joint_gap <= 1e-12 and c.quaternion <= 1e-14
    assert max(c.signorini, c.cone, c.dissipation, c.residual) <= 1e-8
    assert c.unconverged_steps == 0 and run.energy.closure <= 1e-9
    assert run.coordinates == "absolute" and run.q.shape[1] == model.nq
    assert run.records[-1, column.CONTACTS] == 8
    energy = run.kinetic + run.potential
    assert np.diff(energy).max() <= 1e-6 * np.ptp(run.potential)


def test_a_quadruped_stands_alike():
    model = quadruped()
    world = ta.World(model, ground=ta.Plane(friction=0.7))
    pd = ta.PD(kp=500.0, kd=20.0)
    assert difference(model, both(world, 1e-3, 0.05, stepper="stewart-trinkle", controller=pd)) <= 1e-3


@pytest.mark.parametrize("stepper", ["moreau-momentum", "stewart-trinkle"])
def test_forces_on_a_floating_base_act(stepper):
    box = ta.free_body("box", ta.Box((0.2, 0.3, 0.1)), mass=2.0, position=(0, 0, 1.0))

    def push(t, q, v):
        return np.array([1.0, -2.0, 20.0, 0.01, 0.02, -0.03])

    runs = both(ta.World(box), 1e-3, 0.2, stepper=stepper, controller=push)
    assert np.abs(runs[1].v[-1, :3] - 0.2 * (np.array([1.0, -2.0, 20.0]) / 2.0 - [0, 0, 9.81])).max() <= 1e-12
    assert difference(box, runs) <= 1e-9 and np.abs(runs[1].v[-1, 3:]).min() > 0.1
    assert runs[1].energy.actuation == pytest.approx(runs[0].energy.actuation, rel=1e-9)


def test_pulling_a_block_starts_it_where_friction_ends():
    for ratio, slides in ((0.9999, False), (1.0001, True)):
        parameters = {"ratio": ratio, "direction": 37.0}
        o = get_scenario("block-push").run(coordinates="absolute", parameters=parameters)
        assert o.violations == [] and o.metrics["sliding"] is slides


def test_solvers_outside_the_step_see_held_forces():
    """A force on a joint is a given impulse of the problem, whoever solves it."""
    world = ta.World(arm())
    runs = [
        ta.Simulation(world, dt=1e-3, coordinates="absolute", solver=solver).run(
            0.05, controller=lambda t, q, v: np.array([3.0, -0.5])
        )
        for solver in ("auto", "modified-newton")
    ]
    assert difference(world.model, runs) <= 1e-9 and abs(runs[0].q[-1, 0]) > 1e-3


def test_the_problem_of_a_step_can_be_taken_out():
    model = snake(links=8)
    sim = ta.Simulation(ta.World(model, ground=ta.Plane()), dt=1e-3, coordinates="absolute")
    problem = sim.problem(sim.state(), tau=np.ones(model.nv))
    assert problem.contacts == 16
    assert ta.solve(problem, tol=1e-9).converged


def test_a_run_continues_bit_for_bit():
    model = snake(links=3)
    sim = ta.Simulation(ta.World(model, ground=ta.Plane()), dt=1e-3, coordinates="absolute")
    whole, half = sim.run(0.1), sim.run(0.05)
    rest = sim.run(0.05, state=half.state)
    assert np.array_equal(rest.state.q, whole.state.q) and np.array_equal(rest.q[-1], whole.q[-1])


def test_wrong_input_gets_one_clear_line():
    world = ta.World(arm())
    with pytest.raises(BadInput, match="coordinates 'polar': choose from reduced, absolute"):
        ta.Simulation(world, coordinates="polar")
    with pytest.raises(BadInput, match="reduced coordinates only"):
        ta.Simulation(world, coordinates="absolute", stepper="acceleration-level")
    with pytest.raises(BadInput, match="rollouts are in reduced coordinates"):
        ta.Simulation(world, coordinates="absolute").rollout(np.zeros((1, 4)))
    with pytest.raises(BadInput, match="make it a World"):
        ta.Simulation(arm(), coordinates="absolute")
