"""One contact by itself: what each law's own solution is worth, by the natural map and by an objective."""

from __future__ import annotations

import numpy as np
import pytest

from taction._core.jit import plain
from taction.contact.laws import relaxed
from taction.contact.laws.dispatch import CONVEX, EXACT, natural_map, solve_block

solve_alone = plain(solve_block)


def contact(rng, radii, condition):
    """A block of W (3, 3) of that condition, free velocities (3,), and the set (6,) of friction radii."""
    turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    W = turn @ np.diag([1.0, rng.uniform(1.0 / condition, 1.0), 1.0 / condition]) @ turn.T
    set_ = np.zeros(6)
    set_[:3] = radii
    return 0.5 * (W + W.T), rng.standard_normal(3) - np.array([0.5, 0.0, 0.0]), set_


def residual(kind, set_, W, q, r):
    """‖Λ − P(Λ − γ)‖ in units of ‖q‖."""
    return natural_map(np.array([kind]), set_[None], r, W @ r + q) / np.linalg.norm(q)


@pytest.mark.parametrize("kind", [EXACT, CONVEX], ids=["exact", "convex"])
@pytest.mark.parametrize("sides", ["round", "halves"])
@pytest.mark.parametrize("condition", [1.0, 30.0, 1e3])
def test_it_obeys_its_law(kind, sides, condition):
    """Roots to some 1e-15, relative; impulses, and their rounding, grow with the condition."""
    rng = np.random.default_rng(int(condition))
    states = set()
    for _ in range(300):
        radii = rng.uniform(0.05, 1.5, 1 if sides == "round" else 3)
        W, q, set_ = contact(rng, radii, condition)
        guess = rng.standard_normal(3)
        r = np.array(solve_alone(kind, set_, W.ravel(), *guess, *q))
        assert residual(kind, set_, W, q, r) <= 1e-13 * condition
        at_rim = np.hypot(r[1] / (set_[0] if r[1] >= 0.0 else set_[1]), r[2] / set_[2]) >= (1.0 - 1e-9) * r[0]
        states.add("open" if r[0] == 0.0 else "slides" if at_rim else "sticks")
    assert states == {"open", "slides", "sticks"}


def test_the_convex_law_is_the_least_of_its_objective():
    """½ ΛᵀW Λ + qᵀΛ over the cone: no point of a fine net around is lower by more than rounding."""
    rng = np.random.default_rng(5)
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    for _ in range(100):
        W, q, set_ = contact(rng, rng.uniform(0.05, 1.5), 30.0)
        r = np.array(solve_alone(CONVEX, set_, W.ravel(), 0.0, 0.0, 0.0, *q))
        rays = np.stack([np.ones_like(angle), set_[0] * np.cos(angle), set_[0] * np.sin(angle)])
        along = np.einsum("in,ij,jn->n", rays, W, rays)
        best = -0.5 * np.minimum(q @ rays, 0.0) ** 2 / along
        assert 0.5 * r @ W @ r + q @ r <= best.min() + 1e-14


@pytest.mark.parametrize("tangents", [(0.0, 0.0), (1.0, 0.0)])
def test_a_contact_that_cannot_move_along_all_tangents(tangents):
    """W is singular there: projected steps, to what they reach."""
    W, set_ = np.diag([1.0, *tangents]), np.array([0.5, 0.5, 0.5, 0.0, 0.0, 0.0])
    q = np.array([-1.0, 0.2 * tangents[0], 0.0])
    r = np.array(solve_alone(CONVEX, set_, W.ravel(), 0.0, 0.0, 0.0, *q))
    assert residual(CONVEX, set_, W, q, r) <= 1e-12


def test_a_pole_in_the_way_is_no_end():
    """Friction that presses: the impulse turns round beyond the pole of (W − θ S)⁻¹, and is found there."""
    rng = np.random.default_rng(8)
    beyond = 0
    for _ in range(2000):
        W, q, set_ = contact(rng, rng.uniform(0.5, 1.5), 10.0)
        r = np.array(solve_alone(CONVEX, set_, W.ravel(), 0.0, 0.0, 0.0, *q))
        u = W @ r + q
        if r[0] > 0.0 and np.hypot(r[1], r[2]) >= (1.0 - 1e-9) * set_[0] * r[0]:
            theta = u[0] / r[0]
            S = np.diag([1.0, -1.0 / set_[0] ** 2, -1.0 / set_[0] ** 2])
            beyond += np.linalg.eigvalsh(W - theta * S)[0] < 0.0
            y0, y1, y2, is_found = relaxed.find_slide(W.ravel(), set_[0], set_[0], *q)
            assert is_found and np.allclose([y0, y1, y2], r, rtol=1e-9)
    assert beyond > 20
