"""Readings of sensors: the same from a run, its file, a stepper and a controller; what has none says why."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import taction as ta
from taction._core.errors import UnsupportedFeatureWarning
from taction.math.transform import rotation_from_quaternion

G = 9.81
TEXT = """<mujoco model="duck"><option timestep="0.001"/>
<worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0 0.1"><freejoint name="free"/>
<geom size="0.1" mass="2"/><site name="skin" size="0.11"/><site name="back" size="0.01" pos="0 0 0.1"/>
<body name="arm" pos="0 0 0.2"><joint name="hinge" axis="0 1 0"/><geom size="0.05" mass="0.5" pos="0.1 0 0"/>
<site name="wrist"/><body name="tool" pos="0.1 0 0"/></body></body></worldbody>
<actuator><motor name="motor" joint="hinge" gear="2"/></actuator>
<sensor><touch name="weight" site="skin"/><touch name="itch" site="back"/>
<accelerometer name="imu" site="skin"/><jointpos name="hinge" joint="hinge"/>
<force name="force" site="wrist"/><torque name="torque" site="wrist"/>
<actuatorfrc name="motor" actuator="motor"/>
<framequat name="turned" objtype="site" objname="wrist"/><clock name="now"/></sensor></mujoco>"""


@pytest.fixture(scope="module")
def model() -> ta.Model:
    return ta.load_mjcf(TEXT)


@pytest.fixture(scope="module")
def sim(model) -> ta.Simulation:
    return ta.Simulation(ta.World(model))


def swing(t: float) -> np.ndarray:
    return np.array([0, 0, 0, 0, 0, 0, 0.3 * np.sin(20 * t) + 0.4])


@pytest.fixture(scope="module")
def run(sim) -> ta.Run:
    return sim.run(0.05, controller=lambda t, q, v: swing(t))


def test_rows_of_a_run(run):
    assert {name: run.sensors[name].shape for name in run.sensors} == {
        "weight": (51, 1), "itch": (51, 1), "imu": (51, 3), "hinge": (51, 1), "force": (51, 3),
        "torque": (51, 3), "motor": (51, 1), "turned": (51, 4), "now": (51, 1),
    }  # fmt: skip
    assert np.isnan(run.sensors["imu"][0]).all() and np.isfinite(run.sensors["imu"][1:]).all()
    assert np.array_equal(run.sensors["hinge"][:, 0], run.q[:, 7])
    assert np.abs(run.sensors["motor"][1:, 0] - run.tau[:-1, 6] / 2.0).max() < 1e-14
    assert np.array_equal(run.sensors["now"][:, 0], run.t)
    assert not run.sensors["itch"][1:].any()  # nothing touches there
    assert not run.sensors["imu"].flags.writeable


def test_forces_balance(sim):
    """Ground and hinge make the change of the ball's momentum; a reading is at the end of a step: order 1."""
    rest = []
    for h in (1e-3, 5e-4):
        run = ta.Simulation(sim.world, dt=h).run(0.05, controller=lambda t, q, v: swing(t))
        turned = np.array([rotation_from_quaternion(row) for row in run.sensors["turned"][1:]])
        joint = np.einsum("nij,nj->ni", turned, run.sensors["force"][1:])[:, 2]
        ground, up = run.sensors["weight"][1:, 0], 2.0 * np.diff(run.v[:, 2]) / h
        rest.append(np.abs(ground - 2.0 * G - up - joint).max())
    assert rest[0] < 0.02 * 2.5 * G and 1.8 < rest[0] / rest[1] < 2.2


def test_a_controller_and_a_stepper_see_the_rows(sim, run):
    seen_rows, counts = [], []

    def control(t, q, v, seen):
        seen_rows.append({name: reading.copy() for name, reading in seen.sensors.items()})
        counts.append((len(seen.contacts), seen.contacts.on("ball")[2] if t else 0.0))
        return swing(t)

    again = sim.run(0.05, controller=control)
    assert np.array_equal(again.q, run.q)
    for name in run.sensors:
        rows = np.array([row[name] for row in seen_rows])
        assert np.allclose(rows, run.sensors[name][:-1], rtol=0, atol=1e-12, equal_nan=True), name
    assert counts[0] == (0, 0.0) and counts[5][0] == 1
    assert abs(counts[5][1] - run.sensors["weight"][5, 0]) < 1e-12
    world = sim.begin()
    assert np.isnan(world.sensors["imu"]).all() and world.sensors["hinge"].shape == (1,)
    state = world.state()
    for k in range(5):
        world.step(swing(world.t))
        state, _ = sim.step(state, swing(k * sim.dt))
        for name in run.sensors:
            assert np.allclose(world.sensors[name], run.sensors[name][k + 1], rtol=0, atol=1e-12), name
            assert np.allclose(sim.sensors(state)[name], run.sensors[name][k + 1], rtol=0, atol=1e-12), name
    world.reset(sim.state())
    assert np.isnan(world.sensors["imu"]).all()
    assert np.isnan(sim.sensors(world.state())["weight"]).all()


def test_what_was_seen_does_not_outlive_the_step(sim):
    kept = []

    def control(t, q, v, seen):
        kept.append(seen)
        return swing(t)

    sim.run(0.002, controller=control)
    with pytest.raises(ta.BadInput, match="look at it at once"):
        kept[0].sensors["imu"]


@pytest.mark.parametrize("name", ["run.h5", "run.npz"])
def test_files_have_them(run, tmp_path, name):
    pytest.importorskip("h5py")
    run.save(tmp_path / name)
    loaded = ta.load_run(tmp_path / name)
    for sensor in run.sensors:
        assert np.array_equal(loaded.sensors[sensor], run.sensors[sensor], equal_nan=True)
    columns = loaded.columns()
    assert columns["sensor[imu.z]"][1] == "m/s²" and columns["sensor[hinge]"][1] == "rad"
    assert list(columns) == list(run.columns())


def test_absolute_coordinates_read_the_same(model):
    """Both take the same step to first order, 1e-3 of what is there to read; at rest they agree exactly."""
    runs = [
        ta.Simulation(ta.World(model), coordinates=c, stepper="moreau").run(0.02)
        for c in ("reduced", "absolute")
    ]
    for name in runs[0].sensors:
        one, two = (r.sensors[name][-1] for r in runs)
        assert np.abs(one - two).max() < 1e-2 * (1.0 + np.abs(one).max()), name


def test_a_push_from_outside_does_not_pass_through_the_joint(sim):
    """A force on the arm that carries its weight leaves nothing for the hinge."""
    for coordinates in ("reduced", "absolute"):
        here = ta.Simulation(sim.world, coordinates=coordinates, stepper="moreau")
        world = here.begin()
        start = np.array(here.model.q0)
        x = ta.forward_kinematics(here.model, start).position[1] + (0.1, 0, 0)
        world.push("arm", force=(0, 0, 0.5 * G), point=x)
        for _ in range(3):
            world.step()
        assert np.abs(world.sensors["force"]).max() < 1e-9
        assert np.abs(world.sensors["torque"]).max() < 1e-9


def test_smooth_motion(model):
    """Nothing carries it: it falls, and an accelerometer feels nothing but the swinging arm."""
    sim = ta.Simulation(model, dt=1e-3, integrator="semi-implicit-euler")
    seen = []
    run = sim.run(0.01, controller=lambda t, q, v, see: seen.append(see.sensors["imu"]) or np.zeros(7))
    assert np.abs(run.sensors["imu"][1:]).max() < 1e-9 and not run.sensors["weight"][1:].any()
    assert np.allclose(seen, run.sensors["imu"][:-1], atol=1e-12, equal_nan=True)
    with pytest.raises(ta.BadInput, match="without contacts: leave the integrator out"):
        sim.run(0.01, controller=lambda t, q, v, see: see.contacts)


def test_several_models_have_their_own(model):
    world = ta.World(model, ta.load_mjcf(TEXT.replace('pos="0 0 0.1"><free', 'pos="1 0 0.1"><free')))
    run = ta.Simulation(world).run(0.005)
    assert run.sensors["duck2/weight"][-1] == pytest.approx(run.sensors["duck1/weight"][-1])


def test_what_has_no_reading_is_listed():
    sensors = (
        '<rangefinder name="far" site="skin"/><framequat name="axes" objtype="body" objname="ball"/>'
        '<gyro name="noisy" site="skin" noise="0.1"/><gyro name="quiet" site="skin" noise="0"/>'
    )
    text = TEXT.replace("</sensor>", f"{sensors}</sensor>")
    with pytest.warns(UnsupportedFeatureWarning):
        model = ta.load_mjcf(text)
    assert [(entry.what, entry.changes) for entry in model.unread] == [
        ("sensor/rangefinder", "no reading (no rays are cast)"),
        ("sensor/framequat", "no reading (which way the axes of an inertia point is open)"),
        ("sensor noise", "readings without noise"),
    ]
    readings = ta.Simulation(ta.World(model)).run(0.001).sensors
    assert "far" not in readings and readings.get("far") is None and "noisy" in readings
    with pytest.raises(ta.BadInput, match=r"sensor 'far' \(rangefinder\) has no reading: no rays"):
        readings["far"]
    with pytest.raises(ta.BadInput, match="no sensor 'wieght'; did you mean 'weight'"):
        readings["wieght"]
    with pytest.raises(ta.ModelError, match="rangefinder"):
        ta.load_mjcf(text, strict=True)
    assert repr(readings).count("\n") == 2 and "far" in repr(readings)


def test_forces_that_are_not_unique_are_none():
    """Two motors on one joint: which of them worked, nobody knows."""
    text = TEXT.replace("</actuator>", '<motor name="second" joint="hinge"/></actuator>')
    run = ta.Simulation(ta.World(ta.load_mjcf(text))).run(0.002)
    assert np.isnan(run.sensors["motor"]).all()


def test_controllers_of_other_arguments(sim):
    def with_default(t, q, v, k=3.0):  # has three: is asked as ever
        return np.full(7, 0.0 * k)

    assert sim.run(0.001, controller=with_default).steps == 1
    with pytest.raises(ta.BadInput, match=r"\(t, q, v\) or \(t, q, v, seen\), but <lambda> takes \(t, q\)"):
        sim.run(0.001, controller=lambda t, q: 0.0)
    with pytest.raises(ta.BadInput, match="takes"):
        sim.run(0.001, controller=lambda t, q, v, seen, more: 0.0)
    with pytest.raises(ta.BadInput, match="is for runs"):
        sim.problem(sim.state(), controller=lambda t, q, v, seen: np.zeros(7))
    with pytest.raises(ta.BadInput, match="state must be"):
        sim.sensors("now")


def test_a_model_without_sensors(sim):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3).run(0.01)
    assert len(run.sensors) == 0
    with pytest.raises(ta.BadInput, match="no sensor 'x'; there are none"):
        run.sensors["x"]
