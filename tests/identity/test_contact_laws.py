"""What every set of impulses has in common: its projection is one, whatever the section."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from taction.contact.friction_cone import support
from taction.contact.laws.dispatch import (
    ADHESIVE,
    BOX,
    CONVEX,
    EXACT,
    RETURNED,
    correction,
    judge_block,
    natural_map_block,
    project,
)

INF = np.inf
POINTS = 300

# μ₊, μ₋, μ₂ of cones: discs, ellipses, half-ellipses, flat ones
CONES = {
    "disc": (0.5, 0.5, 0.5),
    "wide disc": (3.0, 3.0, 3.0),
    "narrow disc": (1e-6, 1e-6, 1e-6),
    "ellipse": (0.3, 0.3, 0.9),
    "slender ellipse": (1.2, 1.2, 1e-3),
    "half-ellipses": (0.2, 0.8, 0.5),
    "half disc": (0.5, 0.1, 0.5),
    "one-way": (0.7, 0.0, 0.4),
    "flat": (0.6, 0.6, 0.0),
    "flat lateral": (0.0, 0.0, 0.6),
    "no friction": (0.0, 0.0, 0.0),
}
# (lo, hi) × 3 of boxes
BOXES = {
    "half-lines": (0.0, INF, 0.0, INF, 0.0, INF),
    "joint friction": (-0.3, 0.3, -1.0, 1.0, 0.0, 0.0),
    "bilateral": (-INF, INF, -INF, INF, -INF, INF),
    "mixed": (0.0, INF, -0.2, 0.2, -INF, INF),
}
RANDOM = {f"random {i}": tuple(np.random.default_rng(i).uniform(0.0, 2.0, 3).tolist()) for i in range(6)}
# μ₊, μ₋, μ₂, adhesion, kind of the law below: cones whose apex is moved
MOVED = {"adhesive": (0.5, 0.5, 0.5, 0.7, EXACT), "adhesive halves": (0.2, 0.8, 0.5, 0.3, CONVEX)}
# the same with what comes back in place of adhesion: moved cones, cut off where they would pull
CUT = {
    "returned": (0.5, 0.5, 0.5, 0.7, EXACT),
    "returned halves": (0.2, 0.8, 0.5, 0.3, CONVEX),
    "returned flat": (0.6, 0.6, 0.0, 0.4, EXACT),
    "nothing returned": (0.5, 0.5, 0.5, 0.0, EXACT),
}
ALL = {**CONES, **RANDOM, **BOXES, **MOVED, **CUT}


def points(seed: int = 0) -> np.ndarray:
    """Points (POINTS, 3) of all sizes and directions, some exactly on axes and at zero."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(POINTS, 3)) * 10.0 ** rng.uniform(-3, 2, (POINTS, 1))
    x[:40] *= rng.integers(0, 2, (40, 3))
    return x


def nearest(name: str, x: np.ndarray, *, scale: float = 1.0) -> np.ndarray:
    """Projections of x (m, 3) on the named set."""
    row = list(ALL[name]) + [0.0] * (6 - len(ALL[name]))
    kinds = {**dict.fromkeys(BOXES, BOX), **dict.fromkeys(MOVED, ADHESIVE), **dict.fromkeys(CUT, RETURNED)}
    kind = np.full(len(x), kinds.get(name, CONVEX), dtype=np.int64)
    y = np.empty(x.size)
    project(kind, np.tile(np.array(row), (len(x), 1)), np.ascontiguousarray(scale * x).ravel(), y)
    return y.reshape(-1, 3)


def apex(name: str) -> np.ndarray:
    """Where the set begins (3,)."""
    return np.array([-MOVED[name][3] if name in MOVED else 0.0, 0.0, 0.0])


def rays(name: str, count: int = 721) -> np.ndarray:
    """Rays (1, d) on the rim of a cone, (count, 3)."""
    plus, minus, lateral = ALL[name][:3]
    angle = np.linspace(0.0, 2.0 * np.pi, count)
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([np.ones(count), np.where(c >= 0, plus, minus) * c, lateral * s])


def members(name: str, seed: int) -> np.ndarray:
    """Points of the named set, by definition and not by projection, (200, 3)."""
    rng = np.random.default_rng(seed)
    if name in BOXES:
        low, high = np.clip(np.array(BOXES[name]).reshape(3, 2).T, -50.0, 50.0)
        return low + (high - low) * rng.random((200, 3))
    rim = rays(name)[rng.integers(0, 721, 200)]
    share = rng.random(200)
    inside = rim * np.column_stack([np.ones(200), share, share])
    if name in CUT:
        more, a = rng.exponential(size=(200, 1)) * rng.integers(0, 2, (200, 1)), CUT[name][3]
        return (more + a) * inside - [a, 0.0, 0.0]
    return apex(name) + rng.exponential(size=(200, 1)) * inside


@pytest.mark.parametrize("name", ALL)
def test_projection_is_idempotent_and_non_expansive(name):
    x, z = points(1), points(2)
    y = nearest(name, x)
    size = np.linalg.norm(x - apex(name), axis=1)[:, None]
    assert (np.abs(nearest(name, y) - y) <= 1e-14 * size).all()
    apart = np.linalg.norm(y - nearest(name, z), axis=1)
    assert (apart <= np.linalg.norm(x - z, axis=1) * (1.0 + 1e-13)).all()


@pytest.mark.parametrize("name", ALL)
def test_members_are_fixed_and_the_rest_points_away(name):
    k = members(name, 3)
    assert np.abs(nearest(name, k) - k).max() <= 1e-13 * np.abs(k).max()
    x = points(4)
    y = nearest(name, x)
    # (x − P x)·(k − P x) ≤ 0 for every member k: the definition of the nearest point
    product = (x - y) @ k.T - np.einsum("ij,ij->i", x - y, y)[:, None]
    size = np.linalg.norm(x - apex(name), axis=1)[:, None] * (
        1.0 + np.linalg.norm(x, axis=1)[:, None] + np.linalg.norm(k, axis=1)
    )
    assert (product <= 1e-12 * size).all()


@pytest.mark.parametrize("name", [*CONES, *RANDOM])
def test_moreau_decomposition(name):
    x = points(5)
    y = nearest(name, x)
    polar = x - y
    size = np.linalg.norm(x, axis=1)
    assert (np.abs(np.einsum("ij,ij->i", y, polar)) <= 1e-13 * size**2).all()
    assert ((polar @ rays(name).T).max(axis=1) <= 1e-12 * size).all()  # polar part is in the polar cone
    # and σ says the same: w is in the polar cone if w_N + σ(w_T) ≤ 0
    sigma = np.array([support(*ALL[name], *w[1:]) for w in polar])
    assert (polar[:, 0] + sigma <= 1e-12 * size).all()


@pytest.mark.parametrize("name", [*CONES, *RANDOM])
def test_scaling_the_point_scales_its_projection(name):
    x = points(6)
    for s in (1e-7, 3.0, 1e6):
        y = nearest(name, x, scale=s)
        assert (np.abs(y - s * nearest(name, x)) <= 2e-14 * s * np.linalg.norm(x, axis=1)[:, None]).all()


@pytest.mark.parametrize("name", [*CONES, *RANDOM])
def test_projection_agrees_with_a_slow_search(name):
    plus, minus, lateral = ALL[name][:3]

    def rim(angle):
        c, s = np.cos(angle), np.sin(angle)
        return np.array([1.0, (plus if c >= 0 else minus) * c, lateral * s])

    for x in np.vstack([points(7)[:40], points(7)[40::12]]):
        inside = nearest(name, x[None])[0]
        if np.linalg.norm(inside - x) == 0.0:
            # a member: the height of the cone above its tangential part does not exceed x_N
            along = plus if x[1] >= 0 else minus
            with np.errstate(divide="ignore", invalid="ignore"):
                height = np.hypot(
                    *np.nan_to_num(x[1:] / np.array([along, lateral]), posinf=np.inf, neginf=np.inf)
                )
            assert height <= x[0] * (1.0 + 1e-12)
            continue

        def distance(angle, x=x):
            r = rim(angle)
            return np.linalg.norm(x - max(0.0, x @ r / (r @ r)) * r)

        grid = np.linspace(0.0, 2.0 * np.pi, 361)
        start = grid[np.argmin([distance(a) for a in grid])]
        best = minimize_scalar(
            distance, bounds=(start - 0.02, start + 0.02), method="bounded", options={"xatol": 1e-12}
        )
        least = min(best.fun, distance(start))
        assert np.linalg.norm(x - inside) == pytest.approx(least, rel=1e-9, abs=1e-12)


def test_limits_of_the_coefficient():
    x = points(8)
    size = np.linalg.norm(x, axis=1)[:, None]
    half_line = np.column_stack([np.maximum(x[:, 0], 0.0), np.zeros((POINTS, 2))])
    ALL["almost none"] = (1e-12, 1e-12, 1e-12)
    ALL["almost all"] = (1e12, 1e12, 1e12)
    try:
        assert (np.abs(nearest("almost none", x) - half_line) <= 1e-11 * size).all()
        assert np.array_equal(nearest("no friction", x), half_line)
        half_space = np.column_stack([np.maximum(x[:, 0], 0.0), x[:, 1:]])
        has_tangent = np.abs(x[:, 1:]).max(axis=1) > 1e-6 * np.abs(x[:, 0])
        difference = np.abs(nearest("almost all", x) - half_space)[has_tangent]
        assert (difference <= 1e-5 * size[has_tangent]).all()
    finally:
        del ALL["almost none"], ALL["almost all"]


def test_nearly_equal_axes_are_nearly_a_disc():
    x = points(9)
    ALL["nearly disc"] = (0.5, 0.5 * (1.0 + 1e-13), 0.5 * (1.0 - 1e-13))  # takes the way of the ellipse
    try:
        size = np.linalg.norm(x, axis=1)[:, None]
        assert (np.abs(nearest("nearly disc", x) - nearest("disc", x)) <= 1e-12 * size).all()
    finally:
        del ALL["nearly disc"]


@pytest.mark.parametrize("name", [*CONES, *RANDOM])
def test_natural_map_vanishes_exactly_for_the_textbook_states(name):
    row = np.array([*ALL[name], 0.0, 0.0, 0.0])
    rng = np.random.default_rng(10)
    for rim in rays(name)[::60]:
        sticking = 2.0 * rim * np.array([1.0, 0.7, 0.7])
        assert np.abs(natural_map_block(EXACT, row, *sticking, 0.0, 0.0, 0.0)).max() <= 1e-14
        u = rng.normal(size=2)  # sliding: Λ_T is the point of the section with the most power against u_T
        axes = np.array([row[0] if -u[0] >= 0.0 else row[1], row[2]])
        power = correction(EXACT, row, *u)
        assert power == pytest.approx(np.hypot(*(axes * u)), rel=1e-14, abs=1e-300)
        if power:
            sliding = 1.7 * np.append(1.0, -(axes**2) * u / power)
            assert np.abs(natural_map_block(EXACT, row, *sliding, 0.0, *u)).max() <= 1e-12
            # the convex law wants the contact to separate at σ(−u_T)
            assert np.abs(natural_map_block(CONVEX, row, *sliding, power, *u)).max() <= 1e-12
            assert np.abs(natural_map_block(CONVEX, row, *sliding, 0.0, *u)).max() > 1e-3 * power
        assert np.abs(natural_map_block(EXACT, row, 0.0, 0.0, 0.0, 0.4, *u)).max() == 0.0


@pytest.mark.parametrize("name", CUT)
def test_what_judges_a_set_that_is_cut_off_agrees_with_what_computes(name):
    row = np.array([*CUT[name], 0.0])
    rng = np.random.default_rng(11)
    for r, u in zip(points(12), rng.normal(size=(POINTS, 3)), strict=True):
        wrong = np.sum(np.square(natural_map_block(RETURNED, row, *r, *u)))
        judged, outside, is_unilateral, load, _ = judge_block(RETURNED, row, *r, *u)
        assert judged == pytest.approx(wrong, rel=1e-12, abs=1e-24) and is_unilateral and load == r[0]
        away = np.linalg.norm(r - nearest(name, r[None])[0])
        assert outside == pytest.approx(away, rel=1e-9, abs=1e-13 * np.linalg.norm(r))
