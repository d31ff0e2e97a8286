"""The convex start of piles, against the interior-point solver in the space of contacts."""

from __future__ import annotations

import numpy as np
import pytest

from taction.bench.step import Stepper
from taction.bench.step_models import bin_mjcf
from taction.contact.blocks import multiply
from taction.contact.certificate import certify
from taction.contact.laws.dispatch import BOX
from taction.contact.problem import ContactProblem
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model
from taction.sim.simulation import Simulation
from taction.sim.world import World
from taction.solvers.interior_point import InteriorPoint
from taction.solvers.interior_start import has_round_cones, interior_start
from taction.solvers.newton import unload
from taction.steppers import phases
from taction.steppers.contact_solve import load_by_bodies
from taction.steppers.driver import cut_rows
from taction.steppers.pile_solve import newton_from_convex


def pile(steps):
    """Spheres in a bin after so many steps: the problem, its rows, and a function that loads a guess."""
    stepper = Stepper(
        Simulation(World(compile_model(parse_mjcf(bin_mjcf(24)))), tol=1e-8, stepper="stewart-trinkle"), None
    )
    stepper.advance(steps)
    driver, scene = stepper.driver, stepper.scene
    problem = driver.pose(scene, stepper.drive[0], stepper.state)
    driver.order(scene, phases.ORDER_BODIES)
    memory, rows = driver.memory, cut_rows(driver.memory.blocks)

    def load(r):
        assert load_by_bodies(rows, memory.blocks, memory.motion.L, scene.tree.column, r, memory.loose)
        return memory.loose

    return problem, rows, load


@pytest.mark.parametrize("steps", [45, 100])
def test_velocities_are_those_of_the_convex_law(steps):
    problem, rows, load = pile(steps)
    size, r, u = float(np.linalg.norm(rows.b)), np.zeros_like(rows.b), np.empty_like(rows.b)
    work = load(r)
    assert len(rows.kind) > 20 and has_round_cones(work)
    done, error = interior_start(1e-5 * size, 40, work)
    assert done <= 20 and error <= 1e-5 * size
    unload(work, r)
    multiply(rows, r, u)
    convex = ContactProblem(problem.W, problem.b, problem.elements, law="convex")
    assert certify(convex, r).residual <= 1.01e-5
    other = InteriorPoint(tol=1e-10).solve(convex)
    assert other.converged
    # ‖Δy‖² = ΔΛ·Δu ≤ ‖Δe‖ (‖ΔΛ‖ + ‖Δu‖), e the residual: velocities agree to its root, 3e-3
    assert np.linalg.norm(u - (problem.W @ other.impulse + problem.b)) <= 3e-3 * size


def test_blocks_that_are_no_round_cones_are_left_alone():
    _, rows, load = pile(45)
    work = load(np.zeros_like(rows.b))
    work.rows.sets[1, 2] *= 2.0
    assert not has_round_cones(work)
    work.rows.sets[1, 2] *= 0.5
    work.rows.kind[2] = BOX
    assert not has_round_cones(work)


def test_newton_goes_on_from_there_or_leaves_the_guess():
    problem, rows, load = pile(100)
    size, history = float(np.linalg.norm(rows.b)), np.empty(100)
    r = np.zeros_like(rows.b)
    steps, error = newton_from_convex(1e-10 * size, 1e-8 * size, size, load(r), history, r)
    assert steps < 40 and error <= 1e-8 * size and certify(problem, r).residual <= 1e-8
    guess = 0.5 * r
    kept = guess.copy()
    _, error = newton_from_convex(0.0, 0.0, size, load(guess), history, guess)
    assert error > 0.0 and (guess == kept).all()
