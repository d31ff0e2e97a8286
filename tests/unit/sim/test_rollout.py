"""Rollouts: the same bits however they are run, what controls and parameters mean, worlds that fail."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.sim.state import SimState

STEPS = 60
DT = 2e-3


@pytest.fixture(scope="module")
def tower():
    """Five boxes that fall on each other: contacts come and go, and buffers must grow."""
    boxes = [ta.free_body("box", ta.Box((0.2, 0.2, 0.2)), mass=1.0) for _ in range(5)]
    return ta.Simulation(ta.World(*boxes, ground=ta.Plane(friction=0.5)), dt=DT)


def tower_states(sim, count):
    rng = np.random.default_rng(1)
    q, v = np.tile(sim.model.q0, (count, 1)), 0.5 * rng.normal(size=(count, sim.model.nv))
    for k in range(5):
        q[:, 7 * k : 7 * k + 2] = 0.05 * rng.normal(size=(count, 2))
        q[:, 7 * k + 2] = 0.1 + 0.205 * k
        v[:, 6 * k + 2] -= 0.3 * k
    return q, v


@pytest.fixture(scope="module")
def fallen(tower):
    return tower.rollout(tower_states(tower, 8), steps=STEPS, threads=1)


def test_the_scene_is_rich_in_contact(fallen, tower):
    assert fallen.status == ["done"] * 8 and fallen.is_done.all() and len(fallen) == 8
    assert (fallen.steps == STEPS).all() and (fallen.unconverged == 0).all()
    assert max(len(state.key) for state in fallen.final) > 12  # more blocks than the small dense factor takes
    assert (fallen.residual < 1e-8).all() and (fallen.motion < 1e-9).all()
    assert fallen.residual.max() > 0


def test_threads_batches_and_order_change_no_bit(tower, fallen):
    q, v = tower_states(tower, 8)
    want = fallen.hashes()
    assert len(set(want)) == 8
    assert tower.rollout((q, v), steps=STEPS, threads=2).hashes() == want
    assert tower.rollout((q, v), steps=STEPS, threads=5).hashes() == want
    assert tower.rollout((q[::-1], v[::-1]), steps=STEPS, threads=2).hashes() == want[::-1]
    alone = tower.rollout(np.hstack([q, v])[5:6], steps=STEPS)
    assert alone.hashes() == want[5:6] and alone.threads == 1
    many = tower.rollout((np.tile(q, (8, 1)), np.tile(v, (8, 1))), steps=STEPS, threads=2)
    assert many.hashes() == want * 8


def test_a_world_is_what_a_run_gives(tower, fallen):
    q, v = tower_states(tower, 8)
    for i in (0, 7):
        run = tower.run(STEPS * DT, q=q[i], v=v[i])
        assert np.array_equal(run.q, fallen.q[i]) and np.array_equal(run.v, fallen.v[i])
        assert run.certificate.residual == fallen.residual[i]
        assert run.certificate.motion == fallen.motion[i]
        assert run.certificate.penetration == fallen.penetration[i]
        assert np.array_equal(run.state.impulse, fallen.final[i].impulse)


def test_restored_at_half_time(tower, fallen, tmp_path):
    half = tower.rollout(tower_states(tower, 8), steps=STEPS // 2)
    saved = []
    for i, state in enumerate(half.final):
        state.save(str(tmp_path / f"{i}.npz"))
        saved.append(SimState.load(str(tmp_path / f"{i}.npz")))
    rest = tower.rollout(saved[::-1], steps=STEPS - STEPS // 2, threads=2)
    assert np.array_equal(rest.q[::-1], fallen.q[:, STEPS // 2 :])
    assert np.array_equal(rest.v[::-1], fallen.v[:, STEPS // 2 :])
    assert [state.t for state in rest.final] == [pytest.approx(STEPS * DT)] * 8


def test_final_states_alone(tower, fallen):
    end = tower.rollout(tower_states(tower, 8), steps=STEPS, record="final")
    assert end.q.shape == (8, 1, tower.model.nq)
    assert np.array_equal(end.q[:, 0], fallen.q[:, -1]) and np.array_equal(end.v[:, 0], fallen.v[:, -1])
    assert np.array_equal(end.residual, fallen.residual)
    assert np.array_equal(end.final[3].impulse, fallen.final[3].impulse)


@pytest.mark.filterwarnings("ignore::taction.OverlapWarning")  # balls are put down blindly
def test_many_shapes_keep_no_order_between_worlds():
    """With this many shapes a sweep finds the pairs, and it keeps its last order to start from."""
    balls = [ta.free_body("ball", ta.Sphere(0.05), mass=0.1) for _ in range(30)]
    sim = ta.Simulation(ta.World(*balls, ground=ta.Plane(friction=0.5)), dt=DT)
    rng = np.random.default_rng(2)
    q = np.tile(sim.model.q0, (3, 1))
    for k in range(30):
        q[:, 7 * k : 7 * k + 3] = np.array([k % 5, k // 5 % 3, k // 15]) * 0.101 + [0, 0, 0.05]
        q[:, 7 * k : 7 * k + 2] += 0.002 * rng.normal(size=(3, 2))
    states = np.hstack([q, rng.normal(size=(3, sim.model.nv))])
    with pytest.warns(
        ta.OverlapWarning, match=r"3 of 3 worlds start with overlaps, the deepest of 0\.00557 m"
    ):
        together = sim.rollout(states, steps=15, threads=1)
    assert max(len(state.key) for state in together.final) > 32
    assert [sim.rollout(row[None], steps=15).hashes()[0] for row in states] == together.hashes()
    assert sim.rollout(states[::-1], steps=15, threads=2).hashes() == together.hashes()[::-1]


def arm(**servo):
    """Two links, horizontal at first, that can hit the ground; a servo and a motor."""
    b, middle = ta.ModelBuilder("arm"), ta.Transform.from_rpy((0.2, 0, 0))
    for k, (joint, parent, at) in enumerate(
        (("shoulder", "world", (0, 0, 0.3)), ("elbow", "link0", (0.4, 0, 0)))
    ):
        b.body(f"link{k}", ta.Inertia.solid(ta.Box((0.4, 0.1, 0.1)), mass=1.0).placed(middle))
        b.shape(f"link{k}", ta.Sphere(0.05), ta.Transform.from_rpy((0.4, 0, 0)))
        pose = ta.Transform.from_rpy(at)
        b.revolute(joint, parent=parent, child=f"link{k}", axis=(0.0, 1.0, 0.0), pose=pose)
    b.actuator("shoulder", "shoulder", kind="position", kp=30.0, kv=2.0, **servo)
    b.actuator("elbow", "elbow", gear=2.0)
    return b.build()


@pytest.fixture(scope="module")
def arms():
    return ta.Simulation(ta.World(arm(), ground=ta.Plane(friction=0.5)), dt=DT)


def commands(worlds, steps=40):
    rng = np.random.default_rng(3)
    return rng.uniform(-1, 1, size=(worlds, steps, 2))


def at(controls):
    return lambda t: controls[min(round(t / DT), len(controls) - 1)]


def test_joint_forces(arms):
    u = 5 * commands(3)
    out = arms.rollout(np.zeros((3, 4)), u)
    for i in range(3):
        run = arms.run(40 * DT, controller=lambda t, q, v, i=i: at(u[i])(t))
        assert np.array_equal(run.q, out.q[i]) and np.array_equal(run.v, out.v[i])
    assert arms.rollout(np.zeros((3, 4)), u[1]).hashes() == [out.hashes()[1]] * 3


def test_targets_of_a_pd(arms):
    """A constant target is that of the PD itself, bit for bit; a moving one is its force held over a step."""
    pd = ta.PD(50.0, 3.0, target=[0.3, -0.5], target_velocity=0.2)
    own = arms.rollout(np.zeros((2, 4)), steps=40, controller=pd)
    assert np.array_equal(own.q[1], arms.run(40 * DT, controller=pd).q)
    still = ta.PD(50.0, 3.0, target=[0.3, -0.5])
    told = arms.rollout(np.zeros((2, 4)), np.full((40, 2), [0.3, -0.5]), controller=ta.PD(50.0, 3.0))
    assert np.array_equal(told.q[0], arms.run(40 * DT, controller=still).q)
    told = arms.rollout(np.zeros((2, 4)), np.full((40, 2), [0.3, -0.5]), controller=pd)
    np.testing.assert_allclose(told.q, own.q, rtol=0, atol=1e-13)  # the same sum in another order
    one = ta.PD(50.0, 3.0, joints=["elbow"])
    moved = arms.rollout(np.zeros((1, 4)), np.linspace(0, 1, 40)[:, None], controller=one)
    assert moved.q[0, -1, 1] > 0.3 > moved.q[0, 10, 1]


def test_controls_of_actuators(arms):
    u = commands(3)
    out = arms.rollout(np.zeros((3, 4)), u, controller=ta.Actuators(arms.model, [0, 0]))
    for i in range(3):
        actuators = ta.Actuators(arms.model, at(u[i]))
        assert np.array_equal(arms.run(40 * DT, controller=actuators).q, out.q[i])
        own = arms.rollout(np.zeros((1, 4)), steps=40, controller=actuators)
        assert np.array_equal(own.q[0], out.q[i])


def test_masses(arms):
    """Twice the mass under twice the force moves the same; under the same force it does not."""
    u = commands(2)
    u[1] = 2 * u[0]
    out = arms.rollout(np.zeros((2, 4)), u, parameters={"mass_scale": [1.0, 2.0]})
    np.testing.assert_allclose(out.q[1], out.q[0], rtol=0, atol=1e-12)
    heavier = arms.rollout(np.zeros((2, 4)), u, parameters={"mass_scale": [[1.0, 1.0], [2.0, 2.0]]})
    assert heavier.hashes() == out.hashes()
    plain = arms.rollout(np.zeros((2, 4)), u)
    assert plain.hashes()[0] == out.hashes()[0] and plain.hashes()[1] != out.hashes()[1]


def test_friction():
    """A sliding box stops after v²/(2 μ g), to one step's way."""
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=1.0, position=(0, 0, 0.05))
    sim = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.5)), dt=1e-3)
    state = np.concatenate([sim.model.q0, [0.5, 0, 0, 0, 0, 0]])
    mu = np.array([0.2, 0.4, 0.5])
    for parameters in ({"friction": mu}, {"friction_scale": mu / 0.5 * [1, 1, 1]}):
        if "friction_scale" in parameters:  # the box's own coefficient is 1, so the ground's counts
            assert sim.world.surface[:, 0].tolist() == [0.5, 1.0]
        out = sim.rollout(np.tile(state, (3, 1)), steps=300, parameters=parameters)
        np.testing.assert_allclose(out.q[:, -1, 0], 0.5**2 / (2 * mu * 9.81), atol=0.5 * 1e-3)
    assert out.hashes()[2] == sim.rollout(state[None], steps=300).hashes()[0]


def test_a_world_that_fails_is_reported_and_the_others_go_on(arms):
    states = np.zeros((3, 4))
    states[1, 2:] = 1e200
    out = arms.rollout(states, steps=20, threads=1)
    assert out.status[0] == out.status[2] == "done" and "not finite" in out.status[1]
    assert out.is_done.tolist() == [True, False, True] and out.steps[1] < 20
    assert np.isnan(out.q[1, out.steps[1] + 1 :]).all() and np.isfinite(out.q[1, : out.steps[1] + 1]).all()
    assert np.isfinite(out.final[1].q).all() and np.isfinite(out.q[[0, 2]]).all()
    assert out.hashes()[0] == out.hashes()[2] == arms.rollout(states[:1], steps=20).hashes()[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give steps"),
        ({"steps": -1}, "steps"),
        ({"steps": 2, "record": "all"}, "record"),
        ({"steps": 2, "threads": 0}, "threads"),
        ({"controls": np.zeros((3, 5, 2))}, "controls"),
        ({"controls": np.zeros((5, 3))}, "2 joint forces"),
        ({"controls": np.zeros((5, 2)), "steps": 4}, "4 steps"),
        ({"controls": np.zeros((5, 3)), "controller": ta.PD(1.0)}, "PD targets"),
        ({"steps": 2, "controller": lambda t, q, v: q}, "Simulation.run"),
        ({"steps": 2, "parameters": {"gravity": [1, 2]}}, "'gravity'"),
        ({"steps": 2, "parameters": {"friction": [1, -2]}}, "negative"),
        ({"steps": 2, "parameters": {"friction": [1, 2], "friction_scale": [1, 2]}}, "not both"),
        ({"steps": 2, "parameters": {"mass_scale": [1, 0]}}, "positive"),
        ({"steps": 2, "parameters": {"mass_scale": [1.0]}}, "mass_scale"),
    ],
)
def test_bad_input(arms, options, message):
    with pytest.raises(ta.BadInput, match=message):
        arms.rollout(np.zeros((2, 4)), **options)


def test_bad_states(arms):
    for states in (np.zeros((2, 3)), np.zeros((0, 4)), [[0, 0, 0, np.nan]], np.zeros(4), []):
        with pytest.raises(ta.BadInput, match="states"):
            arms.rollout(states, steps=1)
    with pytest.raises(ta.BadInput, match="leave the integrator out"):
        ta.Simulation(arm(), integrator="rk4").rollout(np.zeros((1, 4)), steps=1)


@pytest.mark.parametrize("kind", ["actuators", "pd"])
def test_servos_with_limits_are_those_of_a_run(kind):
    model = arm(force_range=(-1.0, 1.0))
    sim = ta.Simulation(ta.World(model), dt=DT)
    make = {"actuators": ta.Actuators(model, [0.3, -0.2]), "pd": ta.PD(80.0, 1.0, [0.3, -0.2], limit=1.0)}
    run = sim.run(20 * DT, controller=make[kind])
    assert 0 < (np.abs(run.tau[:20]) == 1.0).sum()
    out = sim.rollout(np.zeros((2, 4)), steps=20, controller=make[kind])
    told = sim.rollout(np.zeros((2, 4)), np.tile([0.3, -0.2], (20, 1)), controller=make[kind])
    for batch in (out, told):
        assert np.array_equal(batch.q[1], run.q)


def test_a_rollout_is_a_table_too():
    """A row per world and state that it reached, named as in a run."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 2.0))
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3)
    states = np.tile(np.concatenate([sim.model.q0, np.zeros(6)]), (2, 1))
    out = sim.rollout(states, steps=5, threads=1)
    columns, (name, *_) = out.columns(), [joint.name for joint in sim.model.joints]
    assert columns["world"][0].tolist() == [0] * 6 + [1] * 6
    assert columns["step"][0].tolist() == 2 * list(range(6)) and columns[f"v[{name}.z]"][1] == "m/s"
    np.testing.assert_allclose(columns["t"][0][:6], 1e-3 * np.arange(6), atol=1e-15)
    assert np.array_equal(columns[f"q[{name}.z]"][0], out.q[:, :, 2].ravel())
    ends = sim.rollout(states, steps=5, threads=1, record="final").columns()
    assert ends["step"][0].tolist() == [5, 5] and ends["t"][0].tolist() == pytest.approx([5e-3, 5e-3])


def test_a_rollout_is_a_data_frame_where_there_is_pandas():
    pandas = pytest.importorskip("pandas")
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 2.0))
    sim = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3)
    frame = sim.rollout((sim.model.q0[None], np.zeros((1, 6))), steps=5, threads=1).to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 6 and frame.attrs["units"]["t"] == "s"
