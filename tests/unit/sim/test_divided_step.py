"""Steps that divide themselves: as accurate as asked for, the same bits in every way of running.

Steps are of 20 ms, ten times too long for what moves here, so that plain ones are wrong by far.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taction as ta
from moving_scenes import crank, tilt, tilted_disc
from taction.sim.divided_step import shortened
from taction.sim.joined_parts import join_contacts, join_rows
from taction.steppers import columns as column
from taction.steppers.records import make_table

SCHEME, COORDINATES = "half-flight", ("reduced", "absolute")
GRAVITY, BOUNCE, DROP = 9.81, 0.8, 0.5


def bouncing_ball():
    """A ball that falls from `DROP` above its rest, and what comes back of its velocity."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1 + DROP))
    return ta.World(ball, ground=ta.Plane(friction=0.3, restitution=BOUNCE))


def height(time):
    """Of the ball above its rest, at a time, in closed form."""
    z, v = DROP, 0.0
    while True:
        strikes = (v + np.sqrt(v * v + 2.0 * GRAVITY * z)) / GRAVITY
        if time < strikes:
            return z + v * time - 0.5 * GRAVITY * time**2
        time, v, z = time - strikes, BOUNCE * np.sqrt(v * v + 2.0 * GRAVITY * z), 0.0


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_disc_on_its_rim_keeps_its_tilt_at_steps_of_20_ms(coordinates):
    """Order 2: halved parts are off by an eighth each, all of them together by a quarter."""
    world, q, v = tilted_disc(10.0)
    off = []
    for accuracy in (None, 1e-4, 1e-5, 1e-6):
        sim = ta.Simulation(world, dt=0.02, stepper=SCHEME, coordinates=coordinates, accuracy=accuracy)
        run = sim.run(0.5, q=q, v=v)
        off.append(np.abs(tilt(run) - 10.0).max())
        if accuracy is not None:
            assert run.certificate.steps_inaccurate == 0
            assert run.records[:, column.POSITION_ERROR].max() <= 8.0 * accuracy
    assert off[0] > 1.0 > 0.2 > off[1] > 3.0 * off[2] > 9.0 * off[3]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("accuracy", [1e-3, 2e-4])
def test_a_ball_bounces_when_it_must(accuracy, coordinates):
    """Each bounce is off by at most the accuracy, and what it is off by in time is carried on."""
    world = bouncing_ball()
    run = ta.Simulation(world, dt=0.02, stepper=SCHEME, coordinates=coordinates, accuracy=accuracy).run(1.3)
    exact = 0.1 + np.array([height(t) for t in run.t])
    bounces = (run.records[:, column.PARTS] > 2).sum()
    assert 2 <= bounces <= 8
    assert np.abs(run.q[:, 2] - exact).max() <= 2 * bounces * accuracy
    assert run.certificate.steps_inaccurate == 0
    # The impulse of a bounce is that of its mass and velocities: parts of a step are one contact
    strikes = np.bincount(run.contacts.step, minlength=run.steps)
    assert strikes.max() == 1
    first = run.contacts[run.contacts.step == np.flatnonzero(strikes)[0]]
    speed = np.sqrt(2.0 * GRAVITY * DROP)
    assert abs(first.impulse[0, 0] / ((1.0 + BOUNCE) * speed) - 1.0) <= 0.01


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_fast_crank_keeps_its_energy(coordinates):
    """At 300 rad/s a step of 5 ms turns it by 1.5 rad."""
    world = ta.World(ta.load_mjcf(crank()))
    drift = []
    for accuracy in (None, 1e-3, 1e-4):
        sim = ta.Simulation(world, dt=5e-3, stepper=SCHEME, coordinates=coordinates, accuracy=accuracy)
        run = sim.run(0.05, v=[300.0, -375.0, 0.0])
        drift.append(np.abs(run.kinetic / run.kinetic[0] - 1.0).max())
    assert drift[0] > 0.02 > 2e-3 > drift[1] > drift[2]


def test_impacts_with_friction_are_those_of_plain_steps():
    """Without gravity, a ball that strikes at once: impulses do not depend on how a step is divided."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        e, mu = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
        world = ta.World(ball, ground=ta.Plane(friction=mu, restitution=e), gravity=(0, 0, 0))
        v = [*rng.uniform(-1.0, 1.0, 2), -rng.uniform(0.5, 2.0), *rng.uniform(-20.0, 20.0, 3)]
        ends = []
        for accuracy in (None, 1e-5):
            run = ta.Simulation(world, dt=1e-3, stepper=SCHEME, accuracy=accuracy).run(2e-3, v=v)
            turn = Rotation.from_quat(run.q[-1, [4, 5, 6, 3]])
            ends.append([*run.v[-1, :3], *turn.apply(run.v[-1, 3:])])  # the spin in the world
        assert np.abs(np.subtract(*ends)).max() <= 1e-9


def chain_world(links=4):
    """Capsules in ball joints that fall on the ground and bounce."""
    body = f'<geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.02" mass="0.1"/>{"{}"}'
    text = body.format("")
    for _ in range(links - 1):
        text = body.format(f'<body pos="0.1 0 0"><joint type="ball"/>{text}</body>')
    xml = f'<mujoco><worldbody><body pos="0 0 0.1"><freejoint/>{text}</body></worldbody></mujoco>'
    return ta.World(ta.load_mjcf(xml), ground=ta.Plane(friction=0.5, restitution=0.3))


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_runs_steps_batches_and_rollouts_are_equal_bit_for_bit(coordinates):
    """Also from a state in the middle: nothing but the start of a step decides how it is divided."""
    world = chain_world()
    sim = ta.Simulation(world, dt=0.01, stepper=SCHEME, coordinates=coordinates, accuracy=1e-4)
    start = sim.state(v=0.5 * np.cos(np.arange(world.model.nv)))
    run = sim.run(0.25, state=start)
    assert run.records[:, column.PARTS].max() > 4
    state, stepper, states = start, sim.begin(state=start), []
    for n in range(25):
        state, report = sim.step(state)
        stepper.step()
        states.append(state)
        assert report.parts == run.records[n, column.PARTS]
        assert np.array_equal(sim.engine.look(state)[0], run.q[n + 1])
        assert np.array_equal(stepper.q, run.q[n + 1]) and np.array_equal(stepper.v, run.v[n + 1])
        here = run.contacts[run.contacts.step == n]
        assert np.array_equal(stepper.contacts.shape, here.key[:, :2])
        assert np.array_equal(stepper.contacts.gap, here.gap)
    rest = sim.run(0.15, state=states[9])
    assert np.array_equal(rest.q, run.q[10:]) and np.array_equal(rest.v, run.v[10:])
    for threads in (1, 2):
        out = sim.rollout([start, states[3], start], steps=20, threads=threads)
        for k, first in ((0, 0), (1, 4), (2, 0)):
            assert np.array_equal(out.q[k], run.q[first : first + 21])
        batch = sim.batch([start, states[3]], threads=threads)
        for _ in range(5):
            batch.step()
        assert np.array_equal(batch.q, run.q[[5, 9]])


def test_the_drive_is_held_over_a_step_and_controllers_are_asked_once():
    """A mass under a force that switches, on rough ground that it strikes."""
    world, asked = bouncing_ball(), []

    def law(t, q, v):
        asked.append(t)
        force = np.zeros(6)
        force[0] = 3.0 if round(t / 0.02) % 2 else -1.0
        return force

    run = ta.Simulation(world, dt=0.02, stepper=SCHEME, accuracy=1e-3).run(0.5, controller=law)
    assert np.allclose(asked, run.t[:-1])
    assert np.array_equal(run.tau[:-1, 0], [3.0 if n % 2 else -1.0 for n in range(25)])
    falls = run.t < 0.3
    push = np.where(np.arange(run.steps) % 2, 3.0, -1.0)
    speed = np.append(0.0, np.cumsum(0.02 * push))
    assert np.abs(run.v[falls, 0] - speed[falls]).max() <= 1e-12
    assert abs(run.energy.remainder) <= 1e-9


def test_plain_steps_stay_as_they_are():
    world, q, v = tilted_disc(30.0)
    plain = ta.Simulation(world, dt=1e-3, stepper=SCHEME)
    assert (
        "accuracy" not in repr(plain) and type(plain.engine.driver(plain.engine.scene())).__name__ == "Driver"
    )
    run = plain.run(0.01, q=q, v=v)
    assert not run.records[:, column.PARTS].any() and not run.accuracy


def test_what_cannot_be_reached_is_said():
    """A ball that strikes at 3 m/s is off by 60 µm in parts of 20 µs."""
    world = bouncing_ball()
    given = {"dt": 0.02, "stepper": SCHEME, "accuracy": 1e-7, "most_divisions": 4}
    with pytest.warns(ta.AccuracyWarning, match=r"less accurate than asked for.*parts; take a shorter dt"):
        run = ta.Simulation(world, **given).run(0.4)
    assert run.certificate.steps_inaccurate == 1 and "less accurate than asked for" in str(run)
    with pytest.raises(ta.CertificateError, match="less accurate than asked for"):
        ta.Simulation(world, strict=True, **given).run(0.4)
    out = ta.Simulation(world, **given).rollout([run.state], steps=20)
    assert out.inaccurate.shape == (1,)


def test_the_setting_is_kept_in_files(tmp_path):
    run = ta.Simulation(bouncing_ball(), dt=0.02, stepper=SCHEME, accuracy=1e-3).run(0.1)
    assert run.settings["accuracy"] == "0.001 m" and "accuracy 0.001 m" in repr(run)
    again = ta.load_run(run.save(tmp_path / "run.h5"))
    assert again.as_run().settings == run.settings
    assert again.certificate == run.certificate


@pytest.mark.parametrize("accuracy", [0.0, -1.0, np.nan, np.inf, "fine"])
def test_impossible_accuracies_are_refused(accuracy):
    with pytest.raises(ta.BadInput, match="accuracy"):
        ta.Simulation(bouncing_ball(), accuracy=accuracy)


def test_other_impossible_arguments_are_refused():
    with pytest.raises(ta.BadInput, match="most_divisions"):
        ta.Simulation(bouncing_ball(), accuracy=1e-3, most_divisions=0)
    with pytest.raises(ta.BadInput, match="an integrator chooses nothing"):
        ta.Simulation(ta.robots.double_pendulum(), accuracy=1e-3, integrator="rk4")


@pytest.mark.parametrize(
    "stepper",
    ["stewart-trinkle", "midpoint", "moreau", "moreau-momentum", "anitescu-potra", "acceleration-level"],
)
def test_every_scheme_divides_its_steps(stepper):
    """A double pendulum that swings freely: errors fall with the accuracy, at order 1, too."""
    model = ta.robots.double_pendulum()
    world, q = ta.World(model), [1.0, 0.5]
    exact = ta.Simulation(model, dt=0.02, integrator="dormand-prince").run(0.2, q=q)
    off = []
    for accuracy in (1e-4, 3e-6):
        run = ta.Simulation(world, dt=0.02, stepper=stepper, accuracy=accuracy).run(0.2, q=q)
        assert run.certificate.steps_inaccurate == 0
        off.append(np.abs(run.q - exact.q).max())
    assert off[1] <= max(0.5 * off[0], 1e-4) and off[1] <= 1e-3


def test_parts_become_one_row():
    rows = np.zeros((2, column.COLUMNS))
    rows[:, column.KINETIC], rows[:, column.FRICTION] = [5.0, 4.0], [-1.0, -0.5]
    rows[:, column.RESIDUAL], rows[:, column.WORST_A] = [1e-9, 1e-12], [3.0, -1.0]
    rows[:, column.STORED], rows[:, column.STORED_AFTER] = [0.1, 0.2], [0.2, 0.3]
    row, tau = join_rows([(rows[0], np.array([1.0]), 1), (rows[1], np.array([3.0]), 1)])
    assert row[column.KINETIC] == 5.0 and row[column.FRICTION] == -1.5 and tau[0] == 2.0
    assert row[column.RESIDUAL] == 1e-9 and row[column.WORST_A] == 3.0
    assert row[column.STORED] == 0.1 and row[column.STORED_AFTER] == 0.3


def test_impulses_of_one_contact_add_up_in_its_last_axes():
    table = make_table(4)
    table.count[0] = 3
    table.key[:3] = [[1, 2, 0], [0, 1, 5], [1, 2, 0]]
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    table.frame[:3] = [np.eye(3).ravel(), np.eye(3).ravel(), turned.ravel()]
    table.impulse[:3] = [[1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 2.0, 0.0]]
    join_contacts(table, 0)
    assert table.count[0] == 2
    assert table.key[:2].tolist() == [[0, 1, 5], [1, 2, 0]]
    # (1, 0, 0) in the world, and (−2, 0, 0): −1 along x, which is the second axis backwards
    assert np.allclose(table.impulse[:2], [[0.5, 0.0, 0.0], [0.0, 1.0, 0.0]])


def test_lengths_of_a_part_are_shorter_and_nothing_else():
    sim = ta.Simulation(bouncing_ball(), dt=0.02, stepper=SCHEME)
    (whole,), (part,) = sim.engine.passes, shortened(sim.engine.passes, 3)
    for name in whole._fields:
        is_length = name in ("h", "force_h", "move_h", "reach_h", "push", "turn")
        assert getattr(part, name) == (0.125 if is_length else 1) * getattr(whole, name)
