"""Free flight of a body that is alone: energy, momentum, order, and what it falls back to."""

import numpy as np
import pytest

from taction._core.jit import plain
from taction.dynamics.free_flight import spin_freely

BOX = np.array([0.2**2 + 0.05**2, 0.3**2 + 0.05**2, 0.3**2 + 0.2**2]) / 12.0
ROUNDING = 1e-14


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def sym(I):
    return (I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2])


def turned(moments, rng):
    """An inertia with these principal moments along random axes."""
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q @ np.diag(moments) @ Q.T


@pytest.mark.parametrize("angle", [1e-3, 0.1, 0.3, 1.0, 2.0])
def test_energy_and_length_of_the_momentum_stay(rng, angle):
    """At any angle per step; the moment of momentum in body axes only turns."""
    I, w = turned(BOX, rng), rng.normal(size=3)
    w *= angle / np.linalg.norm(w)
    new = np.array(spin_freely(sym(I), 1.0, tuple(w)))
    assert new @ I @ new == pytest.approx(w @ I @ w, rel=ROUNDING)
    assert np.linalg.norm(I @ new) == pytest.approx(np.linalg.norm(I @ w), rel=ROUNDING)
    assert not np.allclose(new, w, rtol=1e-6 * angle)  # it did turn


def test_momentum_turns_by_the_mean_spin(rng):
    """Θ ω' = exp(−t ω̄) Θ ω, so that R Θ ω is kept if R turns by t ω̄."""
    from scipy.spatial.transform import Rotation

    I, w, t = turned(BOX, rng), rng.normal(size=3), 0.2
    new = np.array(spin_freely(sym(I), t, tuple(w)))
    back = Rotation.from_rotvec(-0.5 * t * (w + new)).as_matrix()
    np.testing.assert_allclose(I @ new, back @ I @ w, rtol=0, atol=ROUNDING * np.abs(I @ w).max())


def test_spin_about_a_principal_axis_stays():
    assert spin_freely((1.0, 0.0, 0.0, 2.0, 0.0, 3.0), 0.1, (0.0, 0.0, 50.0)) == (0.0, 0.0, 50.0)


def test_a_body_without_inertia_about_an_axis_keeps_its_spin():
    w = (1.0, 2.0, 3.0)
    assert spin_freely((1.0, 0.0, 0.0, 1.0, 0.0, 0.0), 0.1, w) == w
    assert plain(spin_freely)((0.0,) * 6, 0.1, w) == w


def test_order_two(rng):
    """Against a thousand times smaller steps: halving the step divides the error by four."""
    I, w = turned(BOX, rng), 3.0 * rng.normal(size=3)

    def after(steps):
        x = tuple(w)
        for _ in range(steps):
            x = spin_freely(sym(I), 1.0 / steps, x)
        return np.array(x)

    exact = after(20000)
    errors = [np.abs(after(n) - exact).max() for n in (25, 50, 100)]
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)
