"""Simulation and Run: the ledger closes, the certificate is small, runs repeat, and bad input is named."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import taction as ta
from taction.steppers import INTEGRATORS

methods = pytest.mark.parametrize("name", INTEGRATORS)


def driven_pendulum(**options) -> tuple[ta.Model, dict]:
    """A damped double pendulum with springs, a servo on one joint, and a start away from rest."""
    model = ta.robots.double_pendulum(damping=0.4, **options)
    servo = ta.PD(kp=[15.0], kd=[1.0], target=[0.5], joints=["elbow"])
    return model, {"q": [1.0, -0.5], "v": [0.3, 2.0], "controller": servo}


# ----- Energy ledger -------------------------------------------------------------------------------------


@methods
def test_ledger_closes_with_the_step(name):
    """The remainder is O(hᵖ) of the method, and at best O(h²) of the trapezoidal rule that sums the works."""
    model, start = driven_pendulum()
    remainders = [
        abs(ta.Simulation(model, dt=h, integrator=name).run(1.0, **start).energy.remainder)
        for h in (8e-3, 4e-3, 2e-3, 1e-3)
    ]
    order = np.log2(np.array(remainders[:-1]) / remainders[1:])
    expected = min(INTEGRATORS[name].order, 2)
    assert order[-1] == pytest.approx(expected, abs=0.2), (remainders, order)


def test_ledger_adds_up():
    model, start = driven_pendulum()
    run = ta.Simulation(model, dt=1e-3, integrator="rk4").run(2.0, **start)
    e = run.energy
    assert e.final - e.initial == pytest.approx(e.actuation + e.joint_friction + e.remainder, abs=1e-12)
    assert e.initial == pytest.approx(run.kinetic[0] + run.potential[0])
    assert e.joint_friction < 0
    assert e.friction is None and e.impact is None


def test_ledger_counts_work_of_a_constant_force():
    """A constant force F on a free mass does the work F x."""
    b = ta.ModelBuilder("cart", gravity=(0.0, 0.0, 0.0))
    b.body("cart", ta.Inertia.solid(ta.Sphere(0.1), mass=2.0))
    b.prismatic("rail", parent="world", child="cart", axis=(1, 0, 0))
    run = ta.Simulation(b.build(), dt=1e-2, integrator="rk4").run(1.0, controller=lambda t, q, v: [3.0])
    assert run.q[-1, 0] == pytest.approx(0.5 * 3.0 / 2.0)
    assert run.energy.actuation == pytest.approx(3.0 * run.q[-1, 0])
    assert run.energy.final == pytest.approx(run.energy.actuation)
    assert run.energy_drift < 1e-13
    assert (run.tau == 3.0).all()


def test_springs_are_potential_energy_and_dampers_friction():
    b = ta.ModelBuilder("oscillator", gravity=(0.0, 0.0, 0.0))
    b.body("mass", ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
    b.prismatic("slide", parent="world", child="mass", stiffness=25.0, rest=0.2, damping=0.3)
    run = ta.Simulation(b.build(), dt=1e-3, integrator="rk4").run(3.0, q=[0.5])
    np.testing.assert_allclose(run.potential, 0.5 * 25.0 * (run.q[:, 0] - 0.2) ** 2, atol=1e-12)
    assert run.energy.actuation == pytest.approx(0.0, abs=1e-12)
    assert (run.tau == 0).all() or np.abs(run.tau).max() < 1e-12
    assert run.energy.joint_friction == pytest.approx(run.energy.final - run.energy.initial, abs=1e-6)


# ----- Certificate ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ["double_pendulum", "quadruped", "snake", "planar_humanoid", "four_legged"])
def test_certificate_is_rounding(robot):
    model = getattr(ta.robots, robot)()
    rng = np.random.default_rng(1)
    run = ta.Simulation(model, dt=1e-3, integrator="semi-implicit-euler").run(
        0.1, v=rng.uniform(-1, 1, model.nv), controller=ta.PD(kp=50.0, kd=1.0)
    )
    c = run.certificate
    assert c.motion < 1e-10
    assert c.quaternion < 1e-15 * 10
    assert 0.0 <= c.motion_time <= 0.1
    assert c.unconverged_steps == 0
    assert c.signorini is c.cone is c.dissipation is c.penetration is None


def test_certificate_sees_a_wrong_acceleration(monkeypatch):
    """The certificate compares two algorithms: break one, and it says so."""
    import taction.sim.smooth_engine as module

    right = module.acceleration

    def wrong(plant, q, v, tau, lookahead, ws, vdot_out):
        status = right(plant, q, v, tau, lookahead, ws, vdot_out)
        vdot_out *= 1.001
        return status

    monkeypatch.setattr(module, "acceleration", wrong)
    run = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3, integrator="rk4").run(0.1, q=[1.0, 0.5])
    assert run.certificate.motion > 1e-4


# ----- Repeatability -------------------------------------------------------------------------------------


@methods
def test_runs_repeat_bit_for_bit(name):
    model, start = driven_pendulum()
    sim = ta.Simulation(model, dt=1e-3, integrator=name)
    a, b = sim.run(0.2, **start), ta.Simulation(model, dt=1e-3, integrator=name).run(0.2, **start)
    for field in ("t", "q", "v", "tau", "kinetic", "potential"):
        assert np.array_equal(getattr(a, field), getattr(b, field)), field


def test_runs_repeat_in_another_process():
    code = (
        "import taction as ta, hashlib;"
        "r = ta.Simulation(ta.robots.quadruped(), dt=1e-3).run(0.1, v=[0.5] * 22);"
        "print(hashlib.sha256(r.q.tobytes() + r.v.tobytes()).hexdigest())"
    )
    hashes = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(hashes) == 1


@methods
def test_a_run_continues_from_its_middle(name):
    """Without quaternions a restart is the same run bit for bit."""
    model, start = driven_pendulum()
    sim = ta.Simulation(model, dt=1e-3, integrator=name)
    whole = sim.run(0.2, **start)
    rest = sim.run(0.1, q=whole.q[100], v=whole.v[100], controller=start["controller"])
    assert np.array_equal(rest.q, whole.q[100:]) and np.array_equal(rest.v, whole.v[100:])


def test_a_floating_run_continues_from_its_middle():
    sim = ta.Simulation(ta.robots.quadruped(), dt=1e-3, integrator="semi-implicit-euler")
    whole = sim.run(0.2, v=np.full(22, 0.5))
    same = []
    for k in range(0, 200, 10):
        rest = sim.run(0.2 - 1e-3 * k, q=whole.q[k], v=whole.v[k])
        same.append(np.array_equal(rest.q, whole.q[k:]))
    assert all(same)


# ----- What run takes and gives --------------------------------------------------------------------------


def test_shapes_and_times():
    run = ta.Simulation(ta.robots.quadruped(), dt=0.01).run(0.1)
    assert run.steps == 10 and run.q.shape == (11, 23) and run.v.shape == run.tau.shape == (11, 22)
    np.testing.assert_allclose(run.t, 0.01 * np.arange(11))
    assert run.integrator == "half-flight" and run.wall_s > 0


def test_a_model_alone_moves_as_a_world_in_which_nothing_touches():
    model, start = driven_pendulum()
    alone, world = (ta.Simulation(s, dt=1e-3) for s in (model, ta.World(model, contact=False)))
    one, two = alone.run(0.3, **start), world.run(0.3, **start)
    assert np.array_equal(one.q, two.q) and np.array_equal(one.v, two.v)
    assert one.left_out == two.left_out == ("contact",)


def test_duration_is_rounded_to_whole_steps():
    sim = ta.Simulation(ta.robots.double_pendulum(), dt=0.1)
    assert [sim.run(T).steps for T in (0.0, 0.04, 0.26, 0.3)] == [0, 0, 3, 3]


def test_the_model_suggests_a_step():
    model = ta.robots.double_pendulum()
    assert ta.Simulation(model).dt == 1e-3
    model.spec.timestep = 2e-3
    assert ta.Simulation(model).dt == 2e-3
    assert ta.Simulation(model, dt=5e-3).dt == 5e-3


def test_a_function_is_called_once_per_step_with_the_state_and_held():
    seen = []

    def feedback(t, q, v):
        seen.append((t, q, v))
        q[:] = np.nan  # a copy: what a controller does to it must not matter
        return np.array([1.0, 0.0])

    model = ta.robots.double_pendulum()
    run = ta.Simulation(model, dt=0.01, integrator="rk4").run(0.05, q=[0.1, 0.2], controller=feedback)
    assert len(seen) == 5 and np.isfinite(run.q).all()
    np.testing.assert_allclose([t for t, _, _ in seen], run.t[:-1])
    np.testing.assert_array_equal(run.tau, np.tile([1.0, 0.0], (6, 1)))


def test_progress_is_called_with_the_time():
    times = []
    ta.Simulation(ta.robots.double_pendulum(), dt=1e-3).run(0.2, progress=times.append)
    assert times[0] == 0.0 and times == sorted(times) and times[-1] < 0.2 and len(times) > 1


def test_quaternions_of_the_start_are_normalised():
    model = ta.robots.quadruped()
    q = np.array(model.q0)
    q[3:7] *= 3.0
    run = ta.Simulation(model).run(0.0, q=q)
    np.testing.assert_allclose(run.q[0], model.q0, atol=1e-15)


def test_the_caller_keeps_its_arrays():
    q, v = np.array([1.0, 0.5]), np.array([0.1, 0.2])
    ta.Simulation(ta.robots.double_pendulum()).run(0.1, q=q, v=v)
    np.testing.assert_array_equal(q, [1.0, 0.5])
    np.testing.assert_array_equal(v, [0.1, 0.2])


def test_save(tmp_path):
    model, start = driven_pendulum()
    run = ta.Simulation(model, dt=1e-3).run(0.1, **start)
    path = run.save(tmp_path / "deep" / "run")
    assert path == tmp_path / "deep" / "run.npz"
    with np.load(path, allow_pickle=False) as file:
        for name in ("t", "q", "v", "tau", "kinetic", "potential"):
            assert np.array_equal(file[name], getattr(run, name)), name
        summary = json.loads(str(file["summary"]))
    assert summary["steps"] == 100 and summary["model"] == "double_pendulum"
    assert summary["certificate"]["motion"] == run.certificate.motion
    assert summary["energy"]["remainder"] == run.energy.remainder


# ----- Bad input -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf])
def test_bad_step(dt):
    with pytest.raises(ta.BadInput, match="dt must be positive and finite"):
        ta.Simulation(ta.robots.double_pendulum(), dt=dt)


@pytest.mark.parametrize("duration", [-1.0, np.nan, np.inf])
def test_bad_duration(duration):
    with pytest.raises(ta.BadInput, match="duration must be finite and not negative"):
        ta.Simulation(ta.robots.double_pendulum()).run(duration)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"q": [1.0]}, r"q: expected shape \(2,\), got \(1,\)"),
        ({"q": [[1.0, 0.0], [0.0, 1.0]]}, r"q: expected shape \(2,\), got \(2, 2\)"),
        ({"v": [[1.0, 0.0]]}, r"v: expected shape \(2,\), got \(1, 2\)"),
        ({"q": [np.nan, 0.0]}, "q: contains NaN or infinity"),
        ({"v": [np.inf, 0.0]}, "v: contains NaN or infinity"),
        ({"q": ["a", "b"]}, "q: not a numeric array"),
        ({"controller": 3.0}, r"controller must be a PD or a function \(t, q, v\), not float"),
        ({"controller": lambda t, q, v: [1.0]}, r"controller output: expected shape \(2,\)"),
        ({"controller": lambda t, q, v: [np.nan, 0.0]}, "controller output: contains NaN"),
        ({"controller": ta.PD(kp=[1.0, 2.0, 3.0])}, "kp needs one number or 2"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ta.BadInput, match=message):
        ta.Simulation(ta.robots.double_pendulum()).run(0.01, **arguments)


def test_unknown_integrator():
    with pytest.raises(ta.BadInput, match="unknown integrator 'verlet'"):
        ta.Simulation(ta.robots.double_pendulum(), integrator="verlet")


# ----- As through contact: continuing, stopping, events, files -------------------------------------------


@methods
def test_a_smooth_run_continues_from_its_state(name):
    """Bit for bit, also with quaternions, and with the time going on."""
    model = ta.robots.quadruped()
    sim = ta.Simulation(model, dt=1e-3, integrator=name)
    start = {"v": np.full(22, 0.5)}
    hold = ta.PD(kp=20.0, kd=1.0)
    whole = sim.run(0.02, **start, controller=hold)
    half = sim.run(0.01, **start, controller=hold)
    rest = sim.run(0.01, state=half.state, controller=hold)
    assert rest.hashes == whole.hashes[10:]
    np.testing.assert_allclose(rest.t, whole.t[10:], atol=1e-15)


def test_a_state_of_smooth_motion_is_saved_and_read(tmp_path):
    sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3)
    run = sim.run(0.05, q=[1.0, 0.5])
    run.state.save(str(tmp_path / "state.npz"))
    again = ta.SimState.load(str(tmp_path / "state.npz"))
    assert again.t == run.state.t == 0.05
    assert sim.run(0.05, state=again).hashes == sim.run(0.05, state=run.state).hashes


def test_a_smooth_run_stops_when_told_and_lists_events():
    sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3, integrator="rk4")
    events = {"down": lambda t, q, v: q[0]}
    run = sim.run(2.0, q=[0.5, 0.0], stop=lambda t, q, v: t >= 0.6, events=events, control_dt=0.1)
    assert run.steps == 600 and run.t[-1] == pytest.approx(0.6)
    assert [name for _, name in run.events] == ["down"]
    k = int(run.events[0][0] / 1e-3)
    assert run.q[k, 0] > 0 > run.q[k + 1, 0]


def test_forces_of_a_function_are_held_for_control_dt():
    sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3)
    run = sim.run(0.02, controller=lambda t, q, v: [t, 0.0], control_dt=5e-3)
    np.testing.assert_allclose(run.tau[:-1, 0], np.repeat([0.0, 0.005, 0.01, 0.015], 5))
    assert run.tau[-1, 0] == run.tau[-2, 0]


def test_a_smooth_run_that_fails_leaves_its_good_steps(tmp_path):
    path = tmp_path / "run.h5"

    def break_down(t, q, v):
        if t > 0.0805:
            raise RuntimeError("broken")
        return [0.0, 0.0]

    sim = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3, integrator="rk4")
    with pytest.raises(RuntimeError, match="broken"):
        sim.run(0.3, q=[1.0, 0.5], controller=break_down, record=str(path))
    left, run = ta.load_run(path), sim.run(0.081, q=[1.0, 0.5])
    assert left.is_complete and left.summary == {} and left.residuals is None
    for name in ("t", "q", "v", "tau", "kinetic", "potential"):
        assert np.array_equal(getattr(left, name), getattr(run, name)), name


def test_a_state_of_another_model_is_refused():
    state = ta.Simulation(ta.robots.quadruped()).state()
    with pytest.raises(ta.BadInput, match=r"state\.q: expected shape \(2,\), got \(23,\)"):
        ta.Simulation(ta.robots.double_pendulum()).run(0.1, state=state)


def test_integrators_have_no_contact_problems_and_rollouts():
    sim = ta.Simulation(ta.robots.double_pendulum(), integrator="rk4")
    for ask in (lambda: sim.problem(sim.state()), lambda: sim.rollout([sim.state()], steps=1)):
        with pytest.raises(ta.BadInput, match="leave the integrator out"):
            ask()
