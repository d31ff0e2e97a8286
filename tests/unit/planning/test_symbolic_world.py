"""The step in symbols against the simulator's own kernels: inertia, bias, gaps, rows, whole steps."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import taction as ta
from contact_worlds import WORLDS, finger, hopper, pushers
from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.contact.assembly import LENGTH, SOURCE
from taction.contact.lcp import LinearComplementarityProblem
from taction.kinematics.configuration import integrate
from taction.planning.symbolic_world import SymbolicWorld
from taction.solvers.base import Status
from taction.solvers.lemke import solve_lcp
from taction.steppers.coordinates.reduced import REFINED
from taction.steppers.driver import Driver

pytest.importorskip("casadi")
DT, REACH = 0.02, 2.0


def simulation(world: ta.World) -> ta.Simulation:
    return ta.Simulation(world, dt=DT, contact="lcp", stepper="stewart-trinkle")


def origin(world: ta.World) -> Array:
    return np.array(world.model.q0)


def draw(world: ta.World, rng: np.random.Generator, far: float = 0.1) -> tuple[Array, Array]:
    """A state x near the origin, and its configuration."""
    n = world.model.nv
    x = np.concatenate([far * rng.uniform(-1.0, 1.0, n), rng.uniform(-1.0, 1.0, n)])
    return x, integrate(world.model, origin(world), x[:n])


def posed(sim: ta.Simulation, q: Array, v: Array) -> tuple[Array, Array]:
    """Gaps (k,) and rows (3 k, nv) of all contacts within reach, as a step of the simulator has them."""
    engine = sim.engine
    scene = engine.scene()
    passes = tuple(p._replace(margin=0.5 * REACH) for p in engine.passes)
    driver = Driver(engine.model, scene, passes, engine.solver, engine.law)
    driver.pose(scene, np.zeros(sim.model.nv), engine.inner(engine.start(q, v)))
    blocks, contacts = driver.memory.blocks, driver.memory.sight.contacts
    gaps, rows = [], []
    for i in range(int(blocks.count[0])):
        source = int(blocks.index[i, SOURCE])
        if source < 0:
            continue
        J, n = np.zeros((sim.model.nv, 3)), int(blocks.index[i, LENGTH])
        np.add.at(J, blocks.dof[i, :n], blocks.J[i, :n])
        rows.append(J.T)
        gaps.append(contacts.gap[source])
    return np.array(gaps), np.concatenate(rows)


@pytest.mark.parametrize("name", WORLDS)
def test_inertia_and_bias_are_those_of_the_model(name: str) -> None:
    world, rng = WORLDS[name](), np.random.default_rng(1)
    symbols = SymbolicWorld(simulation(world), origin(world), reach=REACH)
    for _ in range(5):
        x, q = draw(world, rng, 0.7)
        v = x[world.model.nv :]
        M, bias = (np.array(part) for part in symbols.inertia(x))
        np.testing.assert_allclose(M, ta.mass_matrix(world.model, q), atol=1e-12)
        np.testing.assert_allclose(bias.ravel(), ta.bias_forces(world.model, q, v), atol=1e-11)


@pytest.mark.parametrize("name", WORLDS)
def test_gaps_and_rows_are_those_of_a_step(name: str) -> None:
    world, rng = WORLDS[name](), np.random.default_rng(2)
    sim = simulation(world)
    symbols = SymbolicWorld(sim, origin(world), reach=REACH)
    for _ in range(5):
        x, q = draw(world, rng)
        gap, J = (np.array(part) for part in symbols.rows(x))
        expected, rows = posed(sim, q, x[world.model.nv :])
        assert len(expected) == sum(" - " in name for name in symbols.contacts) > 0
        np.testing.assert_allclose(gap.ravel()[: len(expected)], expected, atol=1e-12)
        np.testing.assert_allclose(J[: len(rows)], rows, atol=1e-12)


def coriolis(symbols: SymbolicWorld, x: Array, accuracy: float) -> Array:
    """What Coriolis forces alone do in a step, iterated with the kernels of the model as a step does it."""
    model, n, law, h = symbols.model, symbols.model.nv, symbols.scene.law, symbols.dt
    if symbols.spare == 0 or symbols.scene.chains.alone.any():
        return np.zeros(0)
    q, y = integrate(model, symbols.origin, x[:n]), np.zeros(n)
    M = ta.mass_matrix(model, q) + np.diag(h * law.D + h * h * law.K)
    while True:
        force = ta.bias_forces(model, q, x[n:] + 0.5 * y) - ta.gravity_forces(model, q)
        new = -h * np.linalg.solve(M, force)
        if np.abs(new - y).max() <= accuracy * np.abs(x[n:]).max():
            return y
        y = new


def stepped(symbols: SymbolicWorld, x: Array, u: Array, y: Array) -> tuple[Array, Array]:
    """Velocities after impulses and contact variables, by a linear complementarity problem of the symbols."""
    n, _, l = symbols.sizes
    v = slice(n // 2, n)
    step, is_alone = symbols.step, symbols.scene.chains.alone.any()  # then y is these velocities
    own = np.zeros(symbols.spare) if is_alone else y
    at = (x, u, np.zeros(l), own, np.concatenate([x[: n // 2], np.zeros(n // 2)]))
    by = "i3" if is_alone else "i4"
    names = ["jac:o0:i2", f"jac:o0:{by}", "jac:o1:i2", f"jac:o1:{by}"]
    C, A, F, D = (np.array(part) for part in step.factory("slopes", step.name_in(), names)(*at))
    columns = slice(None) if is_alone else v
    residual, slack = (np.array(part).ravel() for part in step(*at))
    inverse = np.linalg.inv(A[v, columns])
    free, push = -inverse @ residual[v], -inverse @ C[v]
    found = solve_lcp(LinearComplementarityProblem(F + D[:, columns] @ push, slack + D[:, columns] @ free))
    assert found.status is Status.CONVERGED
    return free + push @ found.z, found.z


@pytest.mark.parametrize("name", WORLDS)
def test_a_step_is_that_of_the_simulation(name: str) -> None:
    world, rng = WORLDS[name](), np.random.default_rng(3)
    sim = simulation(world)
    symbols = SymbolicWorld(sim, origin(world), reach=REACH)
    n, m, _ = symbols.sizes
    touched = 0
    while touched < 3:
        x, q = draw(world, rng, 0.2)
        x[n // 2 :] *= 5.0
        u = rng.uniform(-1.0, 1.0, m)
        gaps = np.array(symbols.rows(x)[0])
        if gaps.min() < 1e-5:  # neither overlaps nor gaps that a simulation lets be
            continue
        y = coriolis(symbols, x, REFINED)
        v, z = stepped(symbols, x, u, y)
        tau = np.zeros(world.model.nv)
        tau[[world.model.joint(name).iv for name in symbols.inputs]] = u
        state, _ = sim.step(sim.state(q, x[n // 2 :]), tau)
        after = np.concatenate([ta.difference(world.model, origin(world), state.q), state.v])
        if world.name == "die":  # flies on, turning, from the velocities after impulses
            assert np.abs(np.array(symbols.step(x, u, z, v, after)[0])).max() < 1e-10
        else:
            np.testing.assert_allclose(v, state.v, atol=1e-10)
            assert np.abs(np.array(symbols.step(x, u, z, y, after)[0])[:n]).max() < 1e-10
            exact = np.array(symbols.step(x, u, z, coriolis(symbols, x, 1e-14), after)[0])[n:]
            assert np.abs(exact).max(initial=0.0) < 1e-12
        touched += bool(z[: len(z) - 2 * int((world.model.friction > 0.0).sum())].max(initial=0.0) > 0.0)


def test_what_has_no_equations_is_named() -> None:
    b = ta.ModelBuilder("two")
    for name in ("one", "other"):
        b.body(name, ta.Inertia.solid(ta.Box((0.1, 0.1, 0.1)), mass=1.0), [ta.Shape(ta.Box((0.1, 0.1, 0.1)))])
        b.prismatic(f"{name} x", parent="world", child=name, axis=(1, 0, 0))
    world = ta.World(b.build())
    with pytest.raises(BadInput, match="one - other: direct transcription has no equations of box and box"):
        SymbolicWorld(simulation(world), [-0.3, 0.3])
    assert SymbolicWorld(simulation(world), [-3.0, 3.0]).sizes == (4, 2, 0)  # out of reach
    with pytest.raises(BadInput, match="no joint with one freedom 'leg x'"):
        SymbolicWorld(simulation(pushers()), [-0.3, 0.0, 0.3], inputs=["leg x"])
    with pytest.raises(BadInput, match="no body 'pluck'"):
        SymbolicWorld(simulation(pushers()), [-0.3, 0.0, 0.3], bodies=["pluck"])
    with pytest.raises(BadInput, match="sides: must be an even number"):
        SymbolicWorld(simulation(pushers()), [-0.3, 0.0, 0.3], sides=5)
    other = ta.Simulation(hopper(), dt=DT, contact="exact")
    with pytest.raises(BadInput, match="contact='lcp'"):
        SymbolicWorld(other, hopper().model.q0)


def test_bodies_and_friction_choose_the_variables() -> None:
    world = finger()
    sim, q = simulation(world), world.model.q0
    smooth = SymbolicWorld(sim, q, has_friction=False)
    assert smooth.sizes[2] == 8 + 1 + 1  # corners of the box, ball on the ground, ball on the box
    assert SymbolicWorld(sim, q, has_friction=False, bodies=["ball"]).sizes[2] == 2
    assert SymbolicWorld(sim, q, has_friction=False, reach=0.01).sizes[2] == 4
    # on the ground t₂ moves nothing; on the box, which turns, either tangent may be the one that does
    assert SymbolicWorld(sim, q, bodies=["ball"]).sizes[2] == 4 + 6
    assert SymbolicWorld(simulation(pushers()), [-0.3, 0.0, 0.3]).sizes[2] == 2


def test_missing_casadi_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(BadInput, match=r"needs CasADi: pip install 'taction\[planning\]'"):
        SymbolicWorld(simulation(pushers()), [-0.3, 0.0, 0.3])
