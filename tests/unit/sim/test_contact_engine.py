"""Worlds, runs, states, events, errors of simulation through contact."""

from dataclasses import replace

import numpy as np
import pytest

import taction as ta
from taction.contact.redundancy import NO_CHOICE, VELOCITIES
from taction.steppers.columns import ITERATIONS, NOT_UNIQUE

H = 1e-3


def boxes(count=3):
    rng = np.random.default_rng(5)
    parts = [
        ta.free_body(
            "box", ta.Box((0.2, 0.2, 0.2)), mass=1.0, position=(*rng.uniform(-0.05, 0.05, 2), 0.15 + 0.25 * k)
        )
        for k in range(count)
    ]
    return ta.World(*parts, ground=ta.Plane(friction=0.5))


def test_runs_continue_bit_for_bit(tmp_path):
    sim = ta.Simulation(boxes(), dt=H)
    whole = sim.run(0.4)
    first = sim.run(0.2)
    first.state.save(tmp_path / "state.npz")
    rest = sim.run(0.2, state=ta.SimState.load(tmp_path / "state.npz"))
    assert whole.hashes[200:] == rest.hashes
    assert len(set(whole.hashes)) > 300  # it did move
    assert rest.t[0] == pytest.approx(0.2)
    assert sim.run(0.4).hashes == whole.hashes


def test_pieces_and_growing_buffers_do_not_change_a_run():
    """An idle controller cuts the run into single steps; forty contacts outgrow the first buffers."""
    sim = ta.Simulation(boxes(10), dt=H)
    nothing = np.zeros(sim.model.nv)
    assert sim.run(0.3).hashes == sim.run(0.3, controller=lambda t, q, v: nothing).hashes


def test_names_of_several_parts():
    arm = ta.robots.double_pendulum()
    world = ta.World(arm, arm, ta.free_body("ball", ta.Sphere(0.1), mass=1.0), ground=ta.Plane())
    assert world.model.nv == 2 + 2 + 6
    names = world.model.body_names
    assert len(set(names)) == len(names) and "ball" in names
    assert any(name.startswith("double_pendulum1/") or "1/" in name for name in names)


def test_union_and_height_field_in_a_world():
    parts = [(ta.Box((0.1, 0.1, 0.1)), ta.Transform(translation=(x, 0, 0))) for x in (-0.2, 0.2)]
    dumbbell = ta.free_body("dumbbell", ta.Union(parts), mass=2.0, position=(0, 0, 0.06))
    run = ta.Simulation(ta.World(dumbbell, ground=ta.Plane(friction=0.5)), dt=H).run(0.3)
    assert run.q[-1, 2] == pytest.approx(0.05, abs=1e-9)
    assert int(run.records[-1, 17]) == 8  # four corners of each box
    field = ta.HeightField(np.zeros((5, 5)), cell=(0.5, 0.5))
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0.1, 0.05, 0.2))
    run = ta.Simulation(ta.World(ball, ground=field), dt=H).run(0.5)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-8)


def test_events_and_stop():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 1.0))
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=H)
    run = sim.run(1.0, events={"half way": lambda t, q, v: q[2] - 0.55}, stop=lambda t, q, v: q[2] < 0.3)
    (when, name), *others = run.events
    assert name == "half way" and not others
    assert when == pytest.approx(np.sqrt(2 * 0.45 / 9.81), abs=H)
    assert run.q[-1, 2] < 0.3 <= run.q[-2, 2]


def test_strict_run_raises_with_time_contact_and_residual():
    sim = ta.Simulation(boxes(2), dt=H, solver=ta.SOLVERS["pgs"](max_iterations=1), strict=True)
    with pytest.raises(ta.CertificateError, match=r"t = .* residual is .* worst at contact of"):
        sim.run(0.5)


def test_controller_at_its_own_rate():
    asked = []
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 1.0))
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=H)

    def lift(t, q, v):
        asked.append(t)
        return [0, 0, 9.81, 0, 0, 0]

    run = sim.run(0.1, controller=lift, control_dt=0.02)
    np.testing.assert_allclose(asked, 0.02 * np.arange(5), atol=1e-12)
    np.testing.assert_allclose(run.v, 0.0, atol=1e-13)
    assert run.energy.actuation == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contact": "sticky"}, "contact 'sticky': choose from"),
        ({"stepper": "leapfrog"}, "stepper 'leapfrog': choose from"),
        ({"dt": -1.0}, "dt must be positive"),
        ({"tol": 0.5}, "tol: must lie between"),
        ({"integrator": "rk4"}, "stepper, not an integrator"),
        ({"contact": "lcp", "solver": "newton"}, "cannot solve the law"),
    ],
)
def test_bad_choices_are_one_clear_line(change, message):
    with pytest.raises(ta.BadInput, match=message):
        ta.Simulation(boxes(1), **change)


def test_bad_worlds_and_runs_are_one_clear_line():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    with pytest.raises(ta.BadInput, match="made of models"):
        ta.World("ball")
    with pytest.raises(ta.BadInput, match="combine 'sum'"):
        ta.World(ball, combine="sum")
    with pytest.raises(ta.BadInput, match="no body 'floor'"):
        ta.World(ball, pairs=[ta.ContactPair("ball", "floor")])
    with pytest.raises(ta.BadInput, match="ground: expected a shape"):
        ta.World(ball, ground="plane")
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane()))
    with pytest.raises(ta.BadInput, match="whole multiple of dt"):
        sim.run(0.1, control_dt=0.0015)
    with pytest.raises(ta.BadInput, match="not both"):
        sim.run(0.1, state=sim.state(), q=ball.q0)
    with pytest.raises(ta.BadInput, match="controller output"):
        sim.run(0.1, controller=lambda t, q, v: [0.0])
    with pytest.raises(ta.BadInput, match="not a saved state"):
        ta.SimState.load(__file__)
    with pytest.raises(ta.ModelError, match="union is made of convex parts"):
        ta.Union([(ta.Plane(), ta.Transform())])


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_the_problem_of_a_step_has_its_controller_in_it(coordinates):
    """A function is asked at the state; what it says adds to the forces that are given."""
    robot = ta.robots.chain(2)
    sim = ta.Simulation(ta.World(robot), coordinates=coordinates)
    state = sim.state(q=[0.3, -0.2], v=[1.0, 0.5], t=2.0)

    def push(t, q, v):
        return [t * q[0], v[1]]

    both = sim.problem(state, controller=push, tau=[0.1, 0.0])
    np.testing.assert_allclose(both.b, sim.problem(state, tau=[0.1 + 2.0 * 0.3, 0.5]).b, atol=1e-12)
    with pytest.raises(ta.BadInput, match="controller output"):
        sim.problem(state, controller=lambda t, q, v: [1.0])


def test_impulses_that_solve_the_problem_are_kept_with_what_was_left_open():
    """At rest nothing is solved; whether impulses were selected is a part of the state."""
    box = ta.free_body("box", ta.Box((0.4, 0.2, 0.1)), mass=2.0)
    world = ta.World(box, ground=ta.Plane(friction=0.5))
    sim = ta.Simulation(world, dt=1e-3, stepper="stewart-trinkle")
    run = sim.run(0.2, q=[0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
    assert run.records[0, ITERATIONS] > 0 and (run.records[-50:, ITERATIONS] == 0).all()
    assert (run.records[-50:, NOT_UNIQUE] == VELOCITIES).all() and run.state.not_unique == [VELOCITIES]
    loads = run.state.impulse[:, 0]
    assert len(loads) == 4 and np.ptp(loads) <= 1e-6 * loads.max()  # selected once, and still
    unsure = sim.run(0.01, state=replace(run.state, not_unique=np.array([NO_CHOICE])))
    assert unsure.certificate.no_choice == 10
    pushed = sim.run(0.01, state=replace(run.state, v=run.state.v + 1e-3, not_unique=np.array([NO_CHOICE])))
    assert pushed.certificate.no_choice == 0
