"""A world stepped in absolute coordinates: joints stay closed, laws hold, and it moves as in reduced ones."""

import numpy as np
import pytest

import taction as ta
from taction._core.errors import BadInput
from taction.math.transform import Transform
from taction.model.inertia import Inertia
from taction.model.spec import Mimic
from taction.robots import quadruped, snake
from taction.scenarios import get_scenario
from taction.steppers import columns as column


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
    # velocities turn before or after forces act: works differ by ½ h² ω × Θ ω · Θ⁻¹ τ per step
    assert runs[1].energy.actuation == pytest.approx(runs[0].energy.actuation, rel=1e-7)


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


def gripper(kind="revolute", apart=False):
    """A palm that falls with two fingers, of which one follows the other; apart: each on a bar of its own."""
    b = ta.ModelBuilder("gripper")
    b.body("palm", Inertia(1.0, np.zeros(3), np.diag([0.02, 0.03, 0.04])))
    b.floating("base", parent="world", child="palm")
    for side, name in ((1.0, "left"), (-1.0, "right")):
        parent = "palm"
        if apart:
            parent = f"{name} bar"
            b.body(parent, Inertia(0.2, np.zeros(3), np.diag([0.002, 0.002, 0.002])))
            b.revolute(f"{name} hinge", parent="palm", child=parent, axis=(0, 1, 0))
        b.body(name, Inertia(0.3, np.array([0.0, 0.0, 0.1]), np.diag([0.002, 0.003, 0.001])))
        mimic = None if side > 0 else Mimic("left", -1.5, 0.2)
        getattr(b, kind)(
            name, parent=parent, child=name, axis=(1, 0.2, 0), mimic=mimic,
            pose=Transform.from_rpy((0.0, 0.1 * side, 0.05)),
        )  # fmt: skip
    return b.build()


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_that_follows_another(kind):
    model = gripper(kind)
    world = ta.World(model)
    start = {"v": np.array([0.1, 0.2, 0.3, 1.0, -0.5, 0.7, 2.0, 0.0])}
    runs = both(world, 1e-3, 0.3, **start)
    for run in runs:
        left, right = (run.q[:, j.iq] for j in run.model.joints if j.name in ("left", "right"))
        assert np.abs(right - (-1.5 * left + 0.2)).max() <= 1e-9
        assert run.energy.closure <= 1e-9
    assert np.ptp(runs[1].q[:, -1]) > 0.1
    assert difference(model, runs) <= 1e-9


def test_a_follower_on_two_other_bodies_is_refused():
    with pytest.raises(ta.ModelError, match="joint 'right' follows 'left', which shares no body with it"):
        ta.Simulation(ta.World(gripper(apart=True)), coordinates="absolute")


def test_rollouts_are_the_runs_in_joint_coordinates():
    model = snake(links=3)
    world = ta.World(model, ground=ta.Plane(friction=0.4))
    sim = ta.Simulation(world, dt=1e-3, coordinates="absolute")
    rng = np.random.default_rng(0)
    v = 0.1 * rng.normal(size=(3, model.nv))
    q = np.repeat(model.q0[None], 3, axis=0)
    hold = ta.PD(kp=50.0, kd=2.0)
    batch = sim.rollout((q, v), steps=30, controller=hold, threads=2)
    ends = sim.rollout((q, v), steps=30, controller=hold, threads=1, record="final")
    for i in range(3):
        run = sim.run(0.03, q=q[i], v=v[i], controller=hold)
        assert np.array_equal(batch.q[i], run.q) and np.array_equal(batch.v[i], run.v)
        assert np.array_equal(ends.q[i, 0], run.q[-1]) and np.array_equal(ends.v[i, 0], run.v[-1])
    heavy = sim.rollout((q, v), steps=30, controller=hold, parameters={"mass_scale": [1.0, 2.0, 4.0]})
    assert np.array_equal(heavy.q[0], batch.q[0]) and not np.array_equal(heavy.q[1], batch.q[1])
    again = sim.rollout(batch.final, steps=5, controller=hold)
    assert again.status == ["done"] * 3 and np.array_equal(again.q[:, 0], batch.q[:, -1])


def test_bodies_that_move_straight_and_are_put_back():
    """The scheme as the snake's authors wrote it: second order away from moving along the joints."""
    world = ta.World(arm())
    start = {"q": np.array([0.7, -0.4]), "v": np.array([1.0, 2.0])}
    apart = []
    for h in (2e-3, 1e-3, 5e-4):
        runs = [
            ta.Simulation(world, dt=h, coordinates="absolute", stepper=s).run(0.4, **start)
            for s in ("moreau-momentum", "moreau-projected")
        ]
        assert runs[1].certificate.joint_gap <= 1e-12 and runs[1].energy.closure <= 1e-9
        apart.append(difference(world.model, runs))
    assert 3.5 <= apart[0] / apart[1] <= 4.5 and 3.5 <= apart[1] / apart[2] <= 4.5


def test_a_state_of_other_coordinates_is_refused():
    world = ta.World(arm())
    reduced, absolute = (ta.Simulation(world, coordinates=c) for c in ("reduced", "absolute"))
    with pytest.raises(BadInput, match="state: of another world or other coordinates"):
        absolute.problem(reduced.state())
    with pytest.raises(BadInput, match="state"):
        reduced.run(0.01, state=absolute.state())


def test_wrong_input_gets_one_clear_line():
    world = ta.World(arm())
    with pytest.raises(BadInput, match="coordinates 'polar': choose from reduced, absolute"):
        ta.Simulation(world, coordinates="polar")
    with pytest.raises(BadInput, match="reduced coordinates only"):
        ta.Simulation(world, coordinates="absolute", stepper="acceleration-level")
    with pytest.raises(BadInput, match="'moreau-projected' works in absolute coordinates only"):
        ta.Simulation(world, stepper="moreau-projected")
    with pytest.raises(BadInput, match="an integrator chooses nothing but the step"):
        ta.Simulation(arm(), coordinates="absolute", integrator="rk4")
