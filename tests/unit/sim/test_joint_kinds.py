"""Every kind of joint in a simulation: what acts on it, its stops, its energy, alike in both coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from helpers import assert_close
from taction.kinematics.absolute import to_bodies
from taction.kinematics.configuration import difference, random_state
from taction.kinematics.forward import place_links
from taction.kinematics.ties import PLACE_RATE, TURN_RATE, tie_rates, worst_tie_gap
from taction.model.absolute import in_absolute_coordinates
from taction.model.inertia import Inertia
from taction.model.joints import JointKind
from taction.model.workspace import make_workspace
from taction.steppers.schemes.base import SLOP
from taction.steppers.schemes.dispatch import SCHEMES

KINDS = [kind for kind in JointKind if kind is not JointKind.FIXED]
SCALAR = [kind for kind in KINDS if not kind.has_quaternion]


def pair(kind, **joint):
    """A body that hangs on a swinging one by a joint of the kind, in general position."""
    b = ta.ModelBuilder(kind.value)
    b.body("upper", Inertia(1.0, np.array([0.0, 0.05, -0.3]), np.diag([0.04, 0.03, 0.02])))
    b.body("lower", Inertia(0.7, np.array([0.03, 0.0, -0.2]), np.diag([0.02, 0.03, 0.025])))
    b.revolute("hang", parent="world", child="upper", axis=(0, 1, 0.2))
    places = {
        "pose": ta.Transform.from_rpy((0.1, 0.0, -0.6), (0.3, -0.2, 0.5)),
        "child_pose": ta.Transform.from_rpy((0.0, 0.02, 0.1), (-0.4, 0.1, 0.2)),
    }
    axes = {"axis": (1, 0.2, 0.4), "axis2": (0, 1, -0.3)}
    b.joint("j", kind, parent="upper", child="lower", **axes, **places, **joint)
    return b.build()


def start(model):
    q, v = random_state(model, np.random.default_rng(1), 1.0)
    return {"q": 0.5 * q if model.nq == model.nv else q, "v": v}


def both(model, dt=1e-3, duration=0.2, gap=1e-12, **how):
    sims = [
        ta.Simulation(ta.World(model), dt=dt, coordinates=c, stepper="moreau-momentum")
        for c in ("reduced", "absolute")
    ]
    runs = [sim.run(duration, **how) for sim in sims]
    for run in runs:
        assert run.certificate.residual <= 1e-8 and run.energy.closure <= 1e-9
    assert runs[1].certificate.joint_gap <= gap
    return runs


def apart(runs):
    """Largest difference of two runs over all steps, as the velocity from one to the other in a second."""
    steps = zip(runs[0].q, runs[1].q, strict=True)
    return max(np.abs(difference(runs[0].model, a, b)).max() for a, b in steps)


@pytest.mark.parametrize("kind", KINDS)
def test_only_free_rows_move(kind):
    """In absolute coordinates, rates along rows that the table calls free are v; all others vanish."""
    model = pair(kind)
    absolute = in_absolute_coordinates(model)
    q, v = random_state(model, np.random.default_rng(2))
    Q, V = to_bodies(absolute, q, v)
    ws = make_workspace(absolute.bodies)
    place_links(absolute.bodies.tree, Q, ws)
    assert worst_tie_gap(absolute.ties, ws) <= 1e-13
    tie_rates(absolute.bodies.tree, absolute.ties, V, ws)
    t = 1
    child = ws[absolute.ties.link[t, 1]]
    rates = np.concatenate([child[PLACE_RATE : PLACE_RATE + 3], child[TURN_RATE : TURN_RATE + 3]])
    expected = np.where(absolute.ties.dof[t] >= 0, v[absolute.ties.dof[t]], 0.0)
    assert_close(rates, expected, 1e-13, 1.0, kind.value)


@pytest.mark.parametrize("kind", KINDS)
def test_both_coordinates_move_alike(kind):
    """One discretisation twice: what differs is rounding, grown over 200 steps."""
    model = pair(kind, damping=0.1)
    assert apart(both(model, **start(model))) <= 1e-9


@pytest.mark.parametrize("kind", SCALAR)
@pytest.mark.parametrize("acts", [{"stiffness": 20.0, "rest": 0.1}, {"armature": 0.3}, {"friction": 0.4}])
def test_what_acts_on_a_joint_acts_alike(kind, acts):
    model = pair(kind, **acts)
    assert apart(both(model, q=np.zeros(model.nq), v=np.full(model.nv, 1.5))) <= 1e-9


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.has_quaternion])
def test_dry_friction_acts_alike_on_what_has_quaternions(kind):
    model = pair(kind, friction=0.4)
    runs = both(model, v=np.full(model.nv, 1.5))
    assert apart(runs) <= 1e-9
    assert runs[0].energy.joint_friction < -0.01


def free_body():
    """With rotors, whose centre of mass is not its origin."""
    b = ta.ModelBuilder("free")
    b.body("body", Inertia(0.7, np.array([0.03, 0.0, -0.2]), np.diag([0.02, 0.03, 0.025])))
    b.joint("j", JointKind.FLOATING, parent="world", child="body", armature=(0.1, 0.2, 0.3, 0.01, 0.02, 0.03))
    return b.build()


def test_rotors_of_a_free_body_act_alike():
    model = free_body()
    assert apart(both(model, **start(model))) <= 1e-9


@pytest.mark.parametrize("scheme", [s for s in SCHEMES.values() if "absolute" in s.coordinates])
@pytest.mark.parametrize("kind", KINDS)
def test_rotors_in_absolute_coordinates(kind, scheme):
    """Errors against Runge and Kutta's method halve with the step: every scheme has order one at least.

    A rotor must resist all of a joint velocity's change, also what turning rows and spins that turn make of
    it. Where it does not, the error stays what it is, however short the step.
    """
    model = free_body() if kind is JointKind.FLOATING else pair(kind, armature=0.3)
    given, duration = start(model), 0.1
    exact = ta.Simulation(model, dt=1e-3, integrator="rk4").run(duration, **given).v[-1]
    errors = []
    for dt in (2e-3, 1e-3):
        sim = ta.Simulation(ta.World(model), dt=dt, coordinates="absolute", stepper=scheme.name)
        run = sim.run(duration, **given)
        assert run.certificate.residual <= 1e-8 and run.energy.closure <= 1e-9
        errors.append(np.abs(run.v[-1] - exact).max())
    assert errors[1] <= 0.6 * errors[0] + 1e-6
    assert errors[1] <= 0.01 * np.abs(exact).max()


@pytest.mark.parametrize("kind", SCALAR)
def test_every_coordinate_has_its_stops(kind):
    """A stop is met at a midpoint, so up to half a step late; nothing bounces."""
    model = pair(kind, lower=-0.05, upper=0.05)
    runs = both(model, q=np.zeros(model.nq), v=np.full(model.nv, 3.0))
    assert apart(runs) <= 1e-8
    for run in runs:
        reached = np.abs(run.q[:, 1:]).max(axis=0)
        late = 0.5 * run.dt * np.abs(run.v[:, 1:]).max(axis=0)
        assert (reached >= 0.05 - SLOP).all() and (reached <= 0.05 + late + SLOP).all()


@pytest.mark.parametrize("kind", KINDS)
def test_energy_is_kept(kind):
    """No damper, no contact: Runge and Kutta's method keeps the energy to the fourth power of its step."""
    model = pair(kind)
    drifts = []
    for dt in (2e-3, 1e-3):
        run = ta.Simulation(model, dt=dt, integrator="rk4").run(0.4, **start(model))
        energy = run.kinetic + run.potential
        drifts.append(np.abs(energy - energy[0]).max())
    assert drifts[1] <= max(drifts[0] / 8.0, 1e-12 * np.ptp(run.kinetic) + 1e-13)
    assert drifts[0] <= 1e-5 * np.ptp(run.kinetic)


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_cylinder_falls_along_its_axis_and_keeps_turning(coordinates):
    """Balanced about a vertical axis: x = −½ g t², θ = ω t, which the midpoint rule does exactly."""
    b = ta.ModelBuilder("sleeve")
    b.body("sleeve", Inertia(2.0, np.zeros(3), np.diag([0.1, 0.1, 0.04])))
    b.cylindrical("guide", parent="world", child="sleeve", axis=(0, 0, 2))
    sim = ta.Simulation(ta.World(b.build()), dt=1e-3, stepper="moreau-momentum", coordinates=coordinates)
    run = sim.run(1.0, v=[0.0, 9.0])
    assert_close(run.q, np.column_stack([-0.5 * 9.81 * run.t**2, 9.0 * run.t]), 1e-12)


def test_a_slider_crank_with_a_cylindrical_piston():
    """A loop through the joint: x = r cos θ + √(l² − r² sin² θ); the pin keeps the piston from turning."""
    r, length = 0.1, 0.35
    b = ta.ModelBuilder("slider-crank", gravity=(0.0, 0.0, 0.0))
    for name, reach in (("crank", r), ("rod", length), ("piston", 0.0)):
        b.body(name, Inertia(1.0, np.array([0.5 * reach, 0.0, 0.0]), np.diag([0.001, 0.01, 0.01])))
    b.revolute("shaft", parent="world", child="crank")
    b.revolute("knee", parent="crank", child="rod", pose=ta.Transform.from_rpy((r, 0, 0)))
    b.cylindrical("bore", parent="world", child="piston", axis=(1, 0, 0))
    b.loop("pin", "rod", "piston", pose=ta.Transform.from_rpy((length, 0, 0)), kind="hinge")
    model = b.build()
    q = ta.close_loops(model, [0.0, 0.0, r + length, 0.0])
    v = np.array([20.0, -20.0 * (1 + r / length), 0.0, 0.0])  # at the dead centre the piston stands
    # what closes the loop is an equation of velocities: the gap within a step is of order (h ω)² r
    runs = both(model, dt=2e-4, duration=0.5, gap=(2e-4 * 20.0) ** 2 * r, q=q, v=v)
    assert apart(runs) <= 1e-8
    for run in runs:
        theta = run.q[:, 0]
        assert np.ptp(theta) > 2 * np.pi
        exact = r * np.cos(theta) + np.sqrt(length**2 - (r * np.sin(theta)) ** 2)
        assert np.abs(run.q[:, 2] - exact).max() <= 1e-6 and np.abs(run.q[:, 3]).max() <= 1e-9
