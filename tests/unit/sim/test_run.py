"""Run: arrays by name with units, columns, resampling, data frames."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

import taction as ta
from helpers import hide_module
from taction.model.joints import JointKind
from taction.sim.columns import force_columns, position_columns, velocity_columns


def every_joint() -> ta.Model:
    b = ta.ModelBuilder("zoo")
    inertia = ta.Inertia.solid(ta.Sphere(0.1), mass=1.0)
    parent = "world"
    for kind in JointKind:
        b.body(kind.value, inertia)
        b.joint(f"{kind.value}_joint", kind, parent=parent, child=kind.value)
        parent = kind.value
    return b.build()


def slide(**options) -> ta.Run:
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    world = ta.World(box, ground=ta.Plane(friction=0.4))
    return ta.Simulation(world, dt=1e-3, **options).run(0.1, v=[1.0, 0, 0, 0, 0, 0])


@pytest.fixture(scope="module")
def sliding() -> ta.Run:
    return slide()


# ----- Names and units -----------------------------------------------------------------------------------


def test_every_coordinate_has_a_name_and_a_unit():
    model = every_joint()
    q, v, tau = position_columns(model), velocity_columns(model), force_columns(model)
    assert len(q) == model.nq and len(v) == len(tau) == model.nv
    for columns in (q, v, tau):
        assert len({c.name for c in columns}) == len(columns)
    units = dict(q)
    assert units["floating_joint.x"] == "m" and units["floating_joint.qw"] == "1"
    assert units["revolute_joint"] == "rad" and units["prismatic_joint"] == "m"
    assert units["planar_joint.angle"] == "rad" and units["universal_joint.2"] == "rad"
    assert dict(v)["spherical_joint.wz"] == "rad/s" and dict(v)["planar_joint.y"] == "m/s"
    assert dict(tau)["prismatic_joint"] == "N" and dict(tau)["spherical_joint.wx"] == "N m"


def test_names_stand_where_the_numbers_are():
    """A joint moved alone moves the columns that bear its name."""
    model = every_joint()
    names = [c.name for c in position_columns(model)]
    for joint in model.joints:
        mine = [k for k, name in enumerate(names) if name.split(".")[0] == joint.name]
        assert mine == list(range(joint.q_slice.start, joint.q_slice.stop))


def test_arrays(sliding):
    arrays = sliding.arrays()
    assert sliding.names == tuple(arrays)
    assert {name: arrays[name][1] for name in ("t", "kinetic", "penetration", "residual", "friction")} == {
        "t": "s", "kinetic": "J", "penetration": "m", "residual": "1", "friction": "J",
    }  # fmt: skip
    assert arrays["q"][1] == "m, 1" and arrays["v"][1] == "m/s, rad/s" and arrays["tau"][1] == "N, N m"
    assert arrays["friction"][0].sum() == pytest.approx(sliding.energy.friction)
    assert arrays["force[box]"][0].shape == (100, 3) and arrays["force[box]"][1] == "N"


def test_columns(sliding):
    """A box that slides: 0.4 of its weight against the motion in every step, stated once per step."""
    columns = sliding.columns()
    assert {len(array) for array, _ in columns.values()} == {101}
    assert np.array_equal(columns["q[box free.x]"][0], sliding.q[:, 0])
    assert columns["v[box free.wz]"][1] == "rad/s"
    force = columns["force[box.x]"][0]
    # the laws hold to the residual of the step, 1e-9 of the free velocities; the weight is 20 N
    np.testing.assert_allclose(force[:-1], -0.4 * 2.0 * 9.81, rtol=1e-6)
    assert np.isnan(force[-1])


def test_a_smooth_run_has_arrays_too():
    run = ta.Simulation(ta.robots.double_pendulum(), dt=1e-2, integrator="rk4").run(0.1, q=[1.0, 0.0])
    assert run.names == ("t", "q", "v", "tau", "kinetic", "potential", "motion")
    assert run.arrays()["motion"][0].max() == run.certificate.motion
    assert run.residuals is not None and run.residuals.shape == (11,)


# ----- Resampling ----------------------------------------------------------------------------------------


def test_resampling_at_recorded_times_gives_what_was_recorded(sliding):
    for every in (1, 2, 7):
        s = sliding.resample(every * 1e-3)
        n = 100 // every + 1
        for name in ("q", "v", "tau", "kinetic", "potential"):
            assert np.array_equal(getattr(s, name), getattr(sliding, name)[::every]), name
        np.testing.assert_allclose(s.t, every * 1e-3 * np.arange(n), atol=1e-15)


def test_positions_between_steps_are_linear():
    run = ta.Simulation(ta.robots.double_pendulum(), dt=1e-2).run(0.1, q=[1.0, 0.5])
    s = run.resample(0.0025)
    for name in ("q", "v", "kinetic", "potential"):
        x, y = getattr(run, name), getattr(s, name)
        np.testing.assert_allclose(y[1::4], 0.75 * x[:-1] + 0.25 * x[1:], rtol=1e-9, atol=1e-14)
    assert len(s.t) == 41


def test_quaternions_turn_at_a_constant_rate():
    """A ball spinning about a fixed axis: the orientation between steps is exact, whatever the step."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0)
    model = ta.ModelBuilder("spin", gravity=(0.0, 0.0, 0.0))
    model.spec.bodies, model.spec.joints = ball.spec.bodies, ball.spec.joints
    rate, dt = 9.0, 0.1  # about half a radian of quaternion angle per step
    run = ta.Simulation(model.build(), dt=dt).run(1.0, v=[0, 0, 0, 0, 0, rate])
    s = run.resample(dt / 8)
    half = 0.5 * rate * s.t
    exact = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
    np.testing.assert_allclose(np.abs((s.q[:, 3:] * exact).sum(1)), 1.0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(s.q[:, 3:], axis=1), 1.0, atol=1e-15 * 10)
    rates = np.diff(np.unwrap(2.0 * np.arctan2(s.q[:, 6], s.q[:, 3]))) / (dt / 8)
    np.testing.assert_allclose(rates, rate, rtol=1e-10)


def test_the_shorter_way_round():
    """p and −p are one orientation: between p and −p nothing turns."""
    from taction.sim.resample import turn

    p = np.array([[0.6, 0.8, 0.0, 0.0], [-0.6, -0.8, 0.0, 0.0]])
    out = turn(p, np.array([0, 0]), np.array([0.3, 0.9]))
    np.testing.assert_allclose(np.abs(out @ p[0]), 1.0, atol=1e-15)


def test_forces_are_held():
    run = ta.Simulation(ta.robots.double_pendulum(), dt=0.01).run(
        0.05, controller=lambda t, q, v: [round(100 * t), 0.0]
    )
    s = run.resample(0.005)
    assert list(s.tau[:8, 0]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_coarse_step_ends_before_the_run(sliding):
    assert sliding.resample(0.03).t[-1] == pytest.approx(0.09)
    assert len(sliding.resample(5.0).t) == 1


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_bad_step_of_resampling(sliding, dt):
    with pytest.raises(ta.BadInput, match="dt must be positive and finite"):
        sliding.resample(dt)


# ----- Data frames ---------------------------------------------------------------------------------------


def test_to_dataframe_hands_over_every_column(sliding, monkeypatch):
    """What pandas is given; a stand-in takes it, so that the test needs no pandas."""

    class Frame(dict):
        attrs: dict

        def __init__(self, columns):
            super().__init__(columns)
            self.attrs = {}

    pandas = ModuleType("pandas")
    pandas.DataFrame = Frame
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    frame = sliding.to_dataframe()
    assert list(frame) == list(sliding.columns())
    assert {"t", "q[box free.z]", "v[box free.x]", "kinetic", "potential", "force[box.z]"} <= set(frame)
    assert frame.attrs["units"]["force[box.z]"] == "N" and frame.attrs["units"]["q[box free.z]"] == "m"
    assert all(np.ndim(array) == 1 and len(array) == 101 for array in frame.values())


def test_without_pandas(sliding, monkeypatch):
    hide_module(monkeypatch, "pandas")
    with pytest.raises(ta.BadInput, match=r"needs pandas \(pip install 'taction\[pandas\]'\)"):
        sliding.to_dataframe()
