"""Joint paths: what they say between samples, before, after, and where they repeat themselves."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta


def path(f, k=41, interval=0.05, **options) -> ta.JointPath:
    return ta.JointPath(("a",), f(interval * np.arange(k))[:, None], interval, **options)


def test_samples_are_met_and_the_error_between_them_is_of_order_three():
    errors = []
    for n in (21, 41, 81):
        interval = 2.0 / (n - 1)
        p = path(np.sin, n, interval)
        position = p.at(interval * np.arange(n))[0]
        np.testing.assert_allclose(position[:, 0], np.sin(interval * np.arange(n)), rtol=0, atol=1e-15)
        inner = np.linspace(0.3, 1.7, 333)
        errors.append(np.abs(p.at(inner)[0][:, 0] - np.sin(inner)).max())
        assert np.abs(p.at(inner)[1][:, 0] - np.cos(inner)).max() < interval**2
    assert errors[0] / errors[1] > 6.0 and errors[1] / errors[2] > 6.0


def test_the_rate_is_the_derivative_of_the_position():
    p, h = path(lambda t: t**3 - t), 1e-6
    t = np.linspace(0.01, 1.99, 77)
    numeric = (p.at(t + h)[0] - p.at(t - h)[0]) / (2 * h)
    np.testing.assert_allclose(p.at(t)[1], numeric, atol=1e-6)


def test_it_stands_still_before_and_after():
    p = path(np.cos, start=1.0)
    for t, expected in ((-3.0, 1.0), (0.999, 1.0), (99.0, np.cos(2.0))):
        position, rate = p(t)
        assert position == pytest.approx([expected]) and rate == [0.0]
    assert p.end == pytest.approx(3.0)


def test_one_sample_is_a_pose():
    position, rate = ta.JointPath(("a", "b"), [[1.0, 2.0]]).at([0.0, 5.0])
    np.testing.assert_array_equal(position, [[1, 2], [1, 2]])
    assert not rate.any()


def test_the_last_period_is_repeated_for_ever():
    period = 2.0 * np.pi
    p = path(np.sin, 101, period / 50, repeated=50)
    t = np.linspace(p.end, p.end + 5 * period, 500)
    np.testing.assert_allclose(p.at(t)[0][:, 0], np.sin(t), atol=1e-4)
    np.testing.assert_allclose(p.at(t)[1][:, 0], np.cos(t), atol=5e-3)


@pytest.mark.parametrize(
    ("samples", "options", "text"),
    [
        (np.zeros((0, 1)), {}, "at least one sample"),
        (np.zeros((3, 2)), {}, "expected shape"),
        ([[np.nan]], {}, "NaN"),
        ([[0.0]], {"interval": 0.0}, "positive"),
        ([[0.0]], {"interval": "soon"}, "interval"),
        ([[0.0], [1.0]], {"repeated": 2}, "repeat"),
    ],
)
def test_wrong_samples_are_refused(samples, options, text):
    with pytest.raises(ta.BadInput, match=text):
        ta.JointPath(("a",), samples, **options)
