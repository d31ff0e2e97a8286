"""Batches step by step: the bits of single steps, contact forces, records, worlds that fail, wrong calls."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.sim.columns import RECORD_COLUMNS

N = 5
SLIDER = """<mujoco model="pusher"><option timestep="0.002"/><worldbody><geom type="plane" size="9 9 1"/>
<body name="box" pos="0 0 0.1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide"/>
<geom type="box" size="0.1 0.1 0.1" mass="1"/><site name="s" size="0.2"/></body></worldbody>
<actuator><motor name="push" joint="x" gear="2"/></actuator>
<sensor><touch name="touch" site="s"/><jointvel name="speed" joint="x"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def sim() -> ta.Simulation:
    return ta.Simulation(ta.World(ta.load_mjcf(SLIDER)))


@pytest.fixture(scope="module")
def tower() -> ta.Simulation:
    """Three boxes that fall on each other: contacts come and go, and buffers must grow."""
    boxes = [ta.free_body("box", ta.Box((0.2, 0.2, 0.2)), mass=1.0) for _ in range(3)]
    return ta.Simulation(ta.World(*boxes, ground=ta.Plane(friction=0.5)), dt=2e-3)


def tower_states(sim) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q, v = np.tile(sim.model.q0, (N, 1)), 0.5 * rng.normal(size=(N, sim.model.nv))
    for k in range(3):
        q[:, 7 * k : 7 * k + 2] = 0.05 * rng.normal(size=(N, 2))
        q[:, 7 * k + 2] = 0.1 + 0.205 * k
    return q, v


@pytest.mark.parametrize("threads", [1, 3])
def test_the_bits_of_single_steps(tower, threads):
    """Forces that a policy makes of what it sees: any difference would grow."""
    q, v = tower_states(tower)
    batch = tower.batch((q, v), threads=threads)
    states = [tower.state(a, b) for a, b in zip(q, v, strict=True)]
    for _ in range(40):
        report = batch.step(-0.3 * batch.v)
        single = [tower.step(state, -0.3 * state.v) for state in states]
        states = [state for state, _ in single]
        assert np.array_equal(report.q, [state.q for state in states])
        assert np.array_equal(report.v, [state.v for state in states])
        assert np.array_equal(report.record, [each.record for _, each in single])
    assert report.touching.max() >= 8 and report.is_converged.all() and not report.failed
    assert np.array_equal(batch.state(2).impulse, states[2].impulse) and np.allclose(batch.t, 40 * tower.dt)


def test_controls_and_targets_are_those_of_single_steps(sim):
    u = np.linspace(-30.0, 30.0, N)[:, None]  # beyond friction, which is one
    batch, states = sim.batch(N), [sim.state() for _ in range(N)]
    for k in range(6):
        ctrl = None if k == 3 else u  # a step without, in between
        report = batch.step(ctrl=ctrl)
        states = [sim.step(s, ctrl=None if ctrl is None else u[i])[0] for i, s in enumerate(states)]
        assert np.array_equal(report.v, [state.v for state in states])
    assert np.abs(report.v[:, 0]).max() > 0.0 and report.v[2, 0] == 0.0
    hold = ta.PD(kp=50.0, kd=1.0, joints=["x"])
    batch, one = sim.batch(2, controller=hold), sim.begin(controller=hold)
    for k in range(5):
        report = batch.step(ctrl=[[0.1 * k], [0.0]])
        one.step(ctrl=[0.1 * k])
        assert np.array_equal(report.q[0], one.q)


def test_forces_and_sensors(sim):
    batch = sim.batch(3)
    tau = np.zeros((3, 2))
    tau[:, 0] = (0.0, 2.0, 4.0)  # within friction, which is one
    report = batch.step(tau)
    assert np.allclose(report.force("box"), [[0, 0, 9.81], [-2, 0, 9.81], [-4, 0, 9.81]], atol=1e-9)
    assert np.allclose(report.forces["world"], -report.force("box"), atol=1e-12)
    assert np.allclose(report.sensors["touch"][:, 0], 9.81) and report.sensors["speed"].shape == (3, 1)
    assert len(report.contacts(1)) == report.touching[1]
    batch.step(tau)
    with pytest.raises(ta.BadInput, match="gone with the next one"):
        report.sensors["touch"] if "sensors" not in vars(report) else report.contacts(0)
    with pytest.raises(ta.BadInput, match=r"no body 'bax' that can touch; there are world, box"):
        batch.step().force("bax")


def test_the_record_is_a_table(sim):
    batch = sim.batch(2, record=True)
    for k in range(4):
        report = batch.step(np.full((2, 2), 0.1 * k))
        if k == 1:
            batch.reset(0)
    columns = batch.columns()
    assert all(len(array) == 8 for array, _ in columns.values())
    assert columns["world"][0].tolist() == [0, 1] * 4 and columns["step"][0].tolist() == [
        0,
        0,
        1,
        1,
        2,
        2,
        3,
        3,
    ]
    assert np.allclose(columns["t"][0][-2:], (2 * sim.dt, 4 * sim.dt))
    assert np.array_equal(columns["v[x]"][0][-2:], report.v[:, 0]) and columns["v[x]"][1] == "m/s"
    assert {column.name for column in RECORD_COLUMNS} < columns.keys()
    assert columns["force[box.z]"][1] == "N" and columns["sensor[touch]"][1] == "N"
    pandas = pytest.importorskip("pandas")
    frame = batch.to_dataframe()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 8 and frame.attrs["units"]["q[x]"] == "m"


def test_a_world_that_fails_waits_for_its_reset():
    arms = ta.Simulation(ta.World(ta.robots.double_pendulum()), dt=1e-3)
    v = np.zeros((3, 2))
    v[1] = 1e200  # overflows when squared
    batch = arms.batch((np.zeros((3, 2)), v), threads=2)
    for _ in range(20):
        report = batch.step()
    assert list(report.failed) == [1] and "not finite" in report.failed[1] and "1 world failed" in repr(batch)
    assert "1 world failed" in repr(report) and repr(report).count("\n") == 2
    assert np.isnan(report.q[1]).all() and np.isfinite(report.q[[0, 2]]).all()
    assert all(np.isnan(force[1]).all() for force in report.forces.values()) and np.isnan(batch.v[1]).all()
    with pytest.raises(ta.BadInput, match="world 1 has no state, it failed"):
        batch.state(1)
    batch.reset(1, batch.state(0))
    report = batch.step()
    assert not report.failed and np.array_equal(report.q[1], report.q[0])


def test_parameters_of_worlds(sim):
    """Twice the mass, half the acceleration; friction per world as in a rollout."""
    parameters = {"mass_scale": [1.0, 2.0], "friction": [0.0, 0.0]}
    batch = sim.batch(2, parameters=parameters)
    report = batch.step(np.array([[1.0, 0.0]] * 2))
    rollout = sim.rollout(
        (np.tile(sim.model.q0, (2, 1)), np.zeros((2, 2))), [[[1.0, 0.0]]] * 2, parameters=parameters
    )
    assert np.array_equal(report.v, rollout.v[:, 1]) and report.v[0, 0] == pytest.approx(2 * report.v[1, 0])


@pytest.mark.filterwarnings("error::taction.OverlapWarning")
def test_overlaps_at_the_start_are_named(sim):
    q = np.tile(sim.model.q0, (2, 1))
    q[1, 1] = -0.01
    with pytest.raises(ta.OverlapWarning, match=r"1 of 2 worlds start with overlaps, the deepest of 0\.01 m"):
        sim.batch((q, np.zeros((2, 2)))).step()


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda b: b.step(np.zeros((2, 2))), "tau: expected shape"),
        (lambda b: b.step(np.zeros(2)), "tau: expected shape"),
        (lambda b: b.step([[np.nan, 0]] * 3), "tau: contains NaN"),
        (lambda b: b.step("push"), "tau"),
        (lambda b: b.step(ctrl=np.zeros((3, 2))), "controls"),
        (lambda b: b.step(ctrl=np.zeros((2, 1))), "ctrl: expected shape"),
        (lambda b: b.reset(3), "numbers from 0 to 2"),
        (lambda b: b.reset(0, "start"), "state must be"),
        (lambda b: b.world("first"), "numbers from 0 to 2"),
        (lambda b: b.columns(), "record=True"),
    ],
)
def test_wrong_calls(sim, wrong, message):
    with pytest.raises(ta.BadInput, match=message) as caught:
        wrong(sim.batch(3))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "states, options, message",
    [
        (0, {}, "at least one world"),
        (2, {"threads": 0}, "threads"),
        (2, {"controller": lambda t, q, v: 0.0}, "call the function yourself"),
        (2, {"parameters": {"colour": [1, 2]}}, "no 'colour'"),
        ("many", {}, "states"),
    ],
)
def test_wrong_batches(sim, states, options, message):
    with pytest.raises(ta.BadInput, match=message):
        sim.batch(states, **options)


def test_a_smooth_motion_has_no_batch():
    with pytest.raises(ta.BadInput, match="leave the integrator out"):
        ta.Simulation(ta.robots.double_pendulum(), integrator="rk4").batch(2)


def test_several_worlds_are_reset_at_once():
    """By numbers, by a mask, all; to where they started, to one state, to a state each."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 2.0))
    batch = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3).batch(4)
    start = batch.q.copy()

    def fall():
        for _ in range(3):
            batch.step()

    fall()
    batch.reset([0, 2])
    assert np.array_equal(batch.q[[0, 2]], start[[0, 2]]) and (batch.q[[1, 3], 2] < 2.0).all()
    batch.reset(batch.q[:, 2] < 2.0)
    assert np.array_equal(batch.q, start)
    fall()
    batch.reset()
    assert np.array_equal(batch.q, start) and not batch.t.any()
    one = np.concatenate([[0.0, 0, 1.5, 1, 0, 0, 0], np.full(6, 0.1)])
    batch.reset(1, one)
    assert batch.q[1, 2] == 1.5 and batch.v[1, 0] == 0.1 and batch.q[0, 2] == 2.0
    batch.reset([2, 3], one)
    assert (batch.q[2:, 2] == 1.5).all()
    several = np.stack([one, one])
    several[1, 2] = 1.7
    batch.reset([0, 3], several)
    assert batch.q[[0, 3], 2].tolist() == [1.5, 1.7]
    batch.reset([0, 1], (several[:, :7], several[:, 7:]))
    assert batch.q[[0, 1], 2].tolist() == [1.5, 1.7]
    batch.reset(0, batch.state(1))
    assert batch.q[0, 2] == 1.7
    for bad, state, said in (
        (4, None, "from 0 to 3"),
        ([0, 1.5], None, "mask of 4"),
        ([0, 1, 2], several, "one, or 3"),
        (0, [1.0, 2.0], "states"),
    ):
        with pytest.raises(ta.BadInput, match=said):
            batch.reset(bad, state)
