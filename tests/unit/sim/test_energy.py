"""Energies: measured and booked alike, and the same in memory and in files, in both coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.sim.energy import energies

COORDINATES = ("reduced", "absolute")
SWING = {"q": [0.7, -0.4], "v": [1.0, -2.0]}


def arm() -> ta.Model:
    """Two links with everything a joint can store energy in: springs, rotors; and a damper."""
    b = ta.ModelBuilder("arm")
    rod = ta.Inertia(1.0, np.array([0.0, 0.0, -0.25]), 0.02 * np.eye(3))
    down = ta.Transform(np.eye(3), np.array([0.0, 0.0, -0.5]))
    b.body("upper", rod)
    b.body("lower", rod, shapes=[ta.Shape(ta.Sphere(0.05), ta.Transform(np.eye(3), np.array([0, 0, -0.5])))])
    spring = {"stiffness": 3.0, "rest": 0.2, "armature": 0.1}
    b.revolute("shoulder", parent="world", child="upper", axis=(0, 1, 0), **spring)
    b.revolute("elbow", parent="upper", child="lower", axis=(0, 1, 0), pose=down, damping=0.1, armature=0.05)
    return b.build()


def swinging(kind: str) -> tuple[ta.Simulation, dict]:
    """A smooth run, or one through contact in some coordinates and with some scheme."""
    if kind == "smooth":
        return ta.Simulation(arm(), dt=5e-3), SWING | {"controller": ta.PD(kp=2.0, kd=0.1)}
    coordinates, stepper = kind.split()
    floor = ta.Shape(ta.Plane(), ta.Transform(np.eye(3), np.array([0.0, 0.0, -1.0])))
    world = ta.World(arm(), ground=floor)
    sim = ta.Simulation(world, dt=5e-3, coordinates=coordinates, stepper=stepper)
    return sim, SWING | {"controller": lambda t, q, v: [np.sin(20.0 * t), 0.1]}


KINDS = ["smooth", *(f"{c} {s}" for c in COORDINATES for s in ("stewart-trinkle", "moreau-momentum"))]


def equal(recorded: ta.RecordedRun, run: ta.Run) -> None:
    """Every column of both, bit for bit, names and units too; NaN is where both have none."""
    one, two = recorded.columns(), run.columns()
    assert one.keys() == two.keys()
    for name, (array, unit) in two.items():
        assert one[name][1] == unit
        assert one[name][0].tobytes() == np.ascontiguousarray(array).tobytes(), name
    if run.contacts is not None:
        for name, array in vars(run.contacts).items():
            assert np.array_equal(getattr(recorded.contacts, name), array), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_the_same_in_memory_recorded_and_saved(kind, tmp_path):
    sim, start = swinging(kind)
    run = sim.run(0.5, **start)
    live = sim.run(0.5, **start, record=str(tmp_path / "live.h5"))
    assert live.kinetic.tobytes() == run.kinetic.tobytes() and live.hashes == run.hashes
    for path in (tmp_path / "live.h5", run.save(tmp_path / "saved.h5")):
        recorded = ta.load_run(path)
        equal(recorded, run)
        assert recorded.is_complete and recorded.summary.keys() == run.summary().keys()
    if kind != "smooth":
        assert len(run.contacts.step) and run.energy.impact != 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_run_is_the_same_in_memory_recorded_and_saved(kind, tmp_path):
    sim, start = swinging(kind)
    run = sim.run(0.0, **start, record=str(tmp_path / "live.h5"))
    for path in (tmp_path / "live.h5", run.save(tmp_path / "saved.h5")):
        equal(ta.load_run(path), run)
    assert run.energy.initial == run.energy.final


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "moreau-momentum"])
def test_the_last_energy_of_a_chain_is_that_of_its_bodies(stepper, tmp_path):
    """Joint rates read off bodies that obey their joints elsewhere are off by second order in the step."""
    sim = ta.Simulation(ta.World(ta.robots.chain(2)), dt=5e-3, coordinates="absolute", stepper=stepper)
    run = sim.run(0.02, v=np.full(sim.model.nv, 3.0))
    assert ta.load_run(run.save(tmp_path / "run.h5")).kinetic[-1] == run.kinetic[-1]


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("stepper", ["stewart-trinkle", "moreau", "moreau-momentum"])
def test_energies_are_those_that_steps_book(coordinates, stepper):
    """Two ways to one number: each step books the state it starts from, `energies` measures it."""
    world = ta.World(arm())
    sim = ta.Simulation(world, dt=1e-3, coordinates=coordinates, stepper=stepper)
    engine, states = sim.engine, []
    state = sim.state(**SWING)
    for _ in range(5):
        states.append(state)
        run = sim.run(1e-3, state=state)
        booked, state = (run.kinetic[0], run.potential[0]), run.state
        measured = energies(
            engine.model, states[-1].q[None], states[-1].v[None], engine.absolute, states[-1].angle[None]
        )
        np.testing.assert_allclose(np.ravel(measured), booked, rtol=1e-12)


def test_rotors_and_springs_count_in_both_coordinates():
    """½ Jᵣ θ̇² and ½ k (θ − ρ)² of the joints, on top of the links'."""
    model = arm()
    q, v = np.array([[0.7, -0.4]]), np.array([[1.0, -2.0]])
    links = ta.totals(model, q[0], v[0])  # rotors are in there
    kinetic, potential = energies(model, q, v)
    assert kinetic[0] == pytest.approx(links.kinetic, rel=1e-14)
    assert potential[0] == pytest.approx(links.potential + 0.5 * 3.0 * 0.5**2, rel=1e-14)
    sim = ta.Simulation(ta.World(model), coordinates="absolute")
    state = sim.state(q[0], v[0])
    both = energies(sim.engine.model, state.q[None], state.v[None], sim.engine.absolute, state.angle[None])
    np.testing.assert_allclose(np.ravel(both), [kinetic[0], potential[0]], rtol=1e-13)
