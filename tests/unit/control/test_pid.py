"""Integral action: what a load leaves, the law as a differential equation, memory that is continued."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import taction as ta

MASS, LOAD = 2.0, 3.0  # a slider of so many kilograms, pushed with so many newtons
KP, KD, KI = 200.0, 40.0, 300.0


def slider(load: float = LOAD) -> ta.Model:
    """A mass on a rail; gravity along the rail is the load."""
    b = ta.ModelBuilder("slider", gravity=(load / MASS, 0.0, 0.0))
    b.body("mass", ta.Inertia.solid(ta.Sphere(0.1), mass=MASS))
    b.prismatic("rail", parent="world", child="mass", axis=(1, 0, 0))
    return b.build()


def hold(model: ta.Model, at: float = 0.0, **options) -> ta.PID:
    path = ta.JointPath((model.joints[0].name,), [[at]])
    return ta.PID(model, path, **{"kp": KP, "kd": KD, "ki": KI, "interval": 1e-3} | options)


def exact(t: float) -> float:
    """Where the slider is: (x, v, z) of M x″ = F − kp x − kd x′ + ki z, z′ = −x, from rest."""
    A = np.zeros((4, 4))
    A[0, 1] = 1.0
    A[1] = [-KP / MASS, -KD / MASS, KI / MASS, LOAD / MASS]
    A[2, 0] = -1.0
    return float((expm(A * t) @ [0.0, 0.0, 0.0, 1.0])[0])


def test_it_follows_its_differential_equation_to_first_order():
    model, errors = slider(), []
    for h in (4e-3, 2e-3, 1e-3):
        run = ta.Simulation(model, dt=h).run(1.0, controller=hold(model, interval=h))
        errors.append(max(abs(run.q[k, 0] - exact(run.t[k])) for k in range(0, len(run.t), 50)))
    assert errors[0] / errors[1] > 1.8 and errors[1] / errors[2] > 1.8
    assert errors[-1] < 1e-2 * LOAD / KP


@pytest.mark.long
def test_a_constant_load_leaves_no_error_with_it_and_one_without():
    model = slider()
    sim = ta.Simulation(model, dt=1e-3)
    assert abs(sim.run(20.0, controller=hold(model)).q[-1, 0]) < 1e-9
    assert sim.run(20.0, controller=hold(model, ki=0.0)).q[-1, 0] == pytest.approx(LOAD / KP)


def test_without_integral_it_is_tracking_to_the_last_bit():
    model = slider()
    path = ta.JointPath(("rail",), 0.1 * np.sin(np.linspace(0, 3, 31))[:, None], 0.1)
    sim = ta.Simulation(model, dt=1e-3)
    runs = [
        sim.run(1.0, controller=c)
        for c in (ta.Tracking(model, path, kp=KP, kd=KD), ta.PID(model, path, kp=KP, kd=KD))
    ]
    assert runs[0].hashes == runs[1].hashes


@pytest.mark.parametrize("make", [lambda m: m, ta.World], ids=["smooth", "world"])
def test_a_run_that_is_cut_anywhere_gives_the_same_bits(make):
    model = slider()
    sim = ta.Simulation(make(model), dt=1e-3)
    control = hold(model, 0.2, interval=7e-3)
    whole = sim.run(0.1, controller=control)
    state = None
    for steps in (3, 1, 41, 9, 46):
        part = sim.run(steps * 1e-3, controller=control, **({} if state is None else {"state": state}))
        state = part.state
    assert np.array_equal(whole.state.q, state.q) and np.array_equal(whole.state.act, state.act)
    stopped = sim.run(0.1, controller=control, stop=lambda t, q, v: False)  # asked in every step
    assert stopped.hashes == whole.hashes


@pytest.mark.long
def test_in_absolute_coordinates_it_carries_the_same_load():
    model = slider()
    sim = ta.Simulation(ta.World(model), dt=1e-3, coordinates="absolute")
    assert abs(sim.run(20.0, controller=hold(model)).q[-1, 0]) < 1e-6


def test_a_limit_bounds_its_force():
    model = slider(load=10.0)
    run = ta.Simulation(ta.World(model), dt=1e-3).run(0.5, controller=hold(model, limit=4.0))
    assert np.abs(run.tau).max() == pytest.approx(4.0)
    a = (10.0 - 4.0) / MASS  # the limit is reached soon, then the slider runs away
    assert run.v[-1, 0] - run.v[-101, 0] == pytest.approx(0.1 * a, rel=1e-6)


def test_where_nothing_is_kept_it_is_refused():
    model = slider()
    sim = ta.Simulation(ta.World(model), dt=1e-3)
    with pytest.raises(ta.BadInput, match=r"a stepper keeps no integral for a PID"):
        sim.begin(controller=hold(model))
    with pytest.raises(ta.BadInput, match=r"a rollout keeps no integral for a PID"):
        sim.rollout([sim.state()], steps=3, controller=hold(model))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ki": -1.0}, "ki must be finite and not negative"),
        ({"ki": "high"}, "ki must be numeric"),
        ({"ki": [1.0, 2.0]}, "ki needs one number or 1"),
        ({"interval": 0.0}, "interval must be positive"),
        ({"kp": None}, "kp must be numbers"),
        ({"limit": -1.0}, "limit must not be negative"),
    ],
)
def test_wrong_gains_are_refused(options, text):
    model = slider()
    with pytest.raises(ta.BadInput, match=text):
        ta.Simulation(ta.World(model), dt=1e-3).run(0.01, controller=hold(model, **options))


def test_a_state_of_something_else_is_refused():
    from dataclasses import replace

    model = slider()
    sim = ta.Simulation(model, dt=1e-3)
    state = replace(sim.state(), act=np.zeros(5))
    with pytest.raises(ta.BadInput, match="2 numbers of a PID expected, got 5"):
        sim.run(0.01, state=state, controller=hold(model))
