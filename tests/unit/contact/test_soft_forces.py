"""Springs and dampers of one point of contact: against their formulas, and against what must never happen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taction as ta
from taction._core.errors import BadInput, ModelError
from taction._core.jit import plain
from taction.contact.forces.parameters import Compliant, Penalty, as_soft, damping_ratio, longest_step
from taction.contact.forces.soft_pair import (
    CURVATURE,
    DAMPING,
    IS_HERTZIAN,
    SOFT_WIDTH,
    SOFTNESS,
    normal_damping,
    normal_spring,
)
from taction.contact.forces.spring_damper import (
    elastic_energy,
    held_stretch,
    linearised,
    normal_force,
    shear_force,
)
from taction.model.shapes import Material, Shape
from taction.scenarios.compliant_ball import voigt_impact
from taction.sim.softness import make_springs

force, energy, held, shear = (plain(f) for f in (normal_force, elastic_energy, held_stretch, shear_force))
about, spring, damper = plain(linearised), plain(normal_spring), plain(normal_damping)
small = st.floats(-1.0, 1.0, allow_nan=False)
positive = st.floats(1e-3, 1e3)
coefficient = st.one_of(st.just(0.0), st.floats(1e-3, 2.0))


@settings(max_examples=200, deadline=None)
@given(positive, st.sampled_from([1.0, 1.5]), positive, small, small, st.booleans())
def test_a_normal_force_never_pulls(K, p, damping, depth, u, is_crossley):
    elastic, total = force(is_crossley, K, p, damping, depth, u)
    assert elastic >= 0.0 and total >= 0.0
    if depth <= 0.0:
        assert elastic == 0.0
    # the damper takes energy: what it adds opposes the velocity
    assert (total - elastic) * u <= 0.0


@pytest.mark.parametrize("p", [1.0, 1.5])
def test_the_energy_of_a_spring_is_the_integral_of_its_force(p):
    x = np.linspace(0.0, 0.02, 20_001)
    forces = np.array([force(False, 3e4, p, 0.0, d, 0.0)[0] for d in x])
    work = float(np.sum(0.5 * (forces[1:] + forces[:-1]) * np.diff(x)))
    assert energy(3e4, p, 0.02) == pytest.approx(work, rel=1e-7)


@pytest.mark.parametrize("is_crossley", [False, True])
@pytest.mark.parametrize("p", [1.0, 1.5])
def test_the_linearised_force_is_its_derivative(p, is_crossley):
    K, damping, depth, e = 2e4, 0.7, 0.003, 1e-8
    F, k, d = about(is_crossley, K, p, damping, depth)
    assert F == force(is_crossley, K, p, damping, depth, 0.0)[1]
    deeper = (
        force(is_crossley, K, p, damping, depth + e, 0.0)[1]
        - force(is_crossley, K, p, damping, depth - e, 0.0)[1]
    )
    faster = force(is_crossley, K, p, damping, depth, e)[1] - force(is_crossley, K, p, damping, depth, -e)[1]
    assert k == pytest.approx(deeper / (2 * e), rel=1e-6)
    assert d == pytest.approx(-faster / (2 * e), rel=1e-6)


@settings(max_examples=300, deadline=None)
@given(positive, positive, *[coefficient] * 3, positive, small, small, small, small)
def test_friction_stays_in_its_cone_and_takes_energy(k, d, plus, minus, lateral, load, s1, s2, u1, u2):
    h1, h2 = held(k, plus, minus, lateral, load, s1, s2)
    f1, f2 = shear(k, d, plus, minus, lateral, load, h1, h2, u1, u2)
    a1, a2 = -k * h1, -k * h2
    slack = 1e-9 * (load + k + d)
    for x, y in ((f1, f2), (a1, a2)):  # the force, and the spring's part of it
        along = plus if x >= 0.0 else minus
        assert abs(x) <= along * load + slack and abs(y) <= lateral * load + slack
        if along > 0.0 and lateral > 0.0:
            assert math.hypot(x / along, y / lateral) <= load * (1 + 1e-9)
    # an anchor that moves shortens the spring; the rest of the force opposes sliding
    assert h1 * h1 + h2 * h2 <= (s1 * s1 + s2 * s2) * (1 + 1e-12)
    assert (f1 - a1) * u1 + (f2 - a2) * u2 <= slack


def test_two_springs_in_a_row_are_softer_than_each():
    soft = np.zeros((3, SOFT_WIDTH))
    soft[:, SOFTNESS] = 1e-4, 3e-4, 0.0
    assert spring(soft, 0, 1) == (pytest.approx(2500.0), 1.0, pytest.approx(0.25))
    K, _, share = spring(soft, 0, 2)
    assert K == pytest.approx(1e4) and share == 1.0  # the rigid one takes nothing
    soft[:, DAMPING] = 100.0, 100.0, 1e9
    assert damper(soft, False, share, 0, 2) == 100.0
    assert damper(soft, False, 0.25, 0, 1) == pytest.approx(100.0 * (0.0625 + 0.5625))


def test_hertz_of_a_ball_on_a_flat_thing_is_the_textbook_force():
    soft = np.zeros((2, SOFT_WIDTH))
    young, poisson, radius = 2e6, 0.45, 0.05
    soft[0, [SOFTNESS, CURVATURE, IS_HERTZIAN]] = (1 - poisson**2) / young, 1 / radius, 1.0
    K, p, _ = spring(soft, 0, 1)
    assert p == 1.5 and K == pytest.approx(4 / 3 * young / (1 - poisson**2) * math.sqrt(radius))


def test_hertz_between_flat_shapes_is_refused():
    def springs(shape: ta.Box | ta.Sphere, **ground: float):
        body = ta.free_body("body", shape, mass=1.0, material=Material(young=1e6))
        under = Shape(ta.Plane(), material=Material(**ground), name="floor")
        return make_springs(ta.World(body, ground=under), Compliant())

    says = "floor and body are both flat, and Hertz's force of a Young's modulus needs a curved shape"
    for ground in ({}, {"young": 1e6}):  # rigid, or as soft
        with pytest.raises(BadInput, match=says):
            springs(ta.Box((0.1, 0.1, 0.1)), **ground)
        table, _ = springs(ta.Sphere(0.1), **ground)
        assert np.isfinite(spring(table, 0, 1)[0])


def test_a_name_or_an_object_means_a_soft_model():
    given = Penalty(stiffness=1e4)
    assert as_soft(given) is given and as_soft("compliant") == Compliant()
    assert as_soft("exact") is None


@settings(max_examples=100, deadline=None)
@given(st.floats(1.0, 1e6), st.floats(0.0, 1e4), st.floats(1e-2, 1e3))
def test_the_longest_step_is_where_amplification_leaves_the_unit_circle(k, d, m):
    limit = longest_step(k, d, m)

    def radius(h: float) -> float:
        v = np.array([-h * k / m, 1.0 - h * d / m])  # of (x, v)
        step = np.array([[1.0 + h * v[0], h * v[1]], v])
        return float(np.abs(np.linalg.eigvals(step)).max())

    assert radius(0.99 * limit) <= 1.0 + 1e-9
    assert radius(1.01 * limit) > 1.0


@pytest.mark.parametrize("e", [0.2, 0.5, 0.9])
def test_a_damping_ratio_gives_the_restitution_of_a_damper_that_never_pulls(e):
    _, _, back = voigt_impact(3.0, 17.0, damping_ratio(e))
    assert back == pytest.approx(e, rel=1e-9)


def test_little_restitution_is_critical_damping():
    assert damping_ratio(0.0) == damping_ratio(0.1) == 1.0
    assert damping_ratio(1.0) < 1e-15


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: Penalty(stiffness=-1.0), "stiffness: must be positive and finite, got -1"),
        (lambda: Penalty(stiffness=0.0), "stiffness: must be positive"),
        (lambda: Penalty(damping=float("nan")), "damping: must be not negative and finite"),
        (lambda: Compliant(tangential_damping=-2.0), "tangential_damping: must be not negative"),
        (lambda: Penalty(damper="oil"), "damper 'oil': choose from kelvin-voigt, hunt-crossley"),
        (lambda: Penalty(integration="both"), "integration 'both': choose from explicit, implicit"),
        (lambda: Material(stiffness=-3.0), "stiffness must be positive, got -3.0"),
        (lambda: Material(young=0.0), "young must be positive"),
        (lambda: Material(poisson=0.7), r"poisson must lie in \[0, 0.5\], got 0.7"),
        (lambda: Material(young=1e6, stiffness=1e4), "a stiffness or a Young's modulus, not both"),
    ],
)
def test_impossible_numbers_are_one_clear_line(wrong, says):
    with pytest.raises((BadInput, ModelError), match=says):
        wrong()
