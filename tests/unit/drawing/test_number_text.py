"""Numbers in pages: what a reader would trip over is not there, and the value is."""

from __future__ import annotations

import pytest

from taction.drawing.number_text import number, short


def test_zero_has_no_sign_and_minus_is_one():
    assert number(-1e-9, ".2f") == "0.00" and number(-1.25, ".1f") == "−1.2"
    assert short(-0.0) == "0" and short(-2.5) == "−2.5" and short(-1e-9, 3) == "−1e-09"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1000.0, "1000"), (999.9, "1000"), (12345.6, "12346"), (1, "1"), (0.5, "0.5"), (1e-4, "0.0001")],
)
def test_thousands_have_no_exponent(value, text):
    assert short(value) == text


@pytest.mark.parametrize("value", [3.14159e-12, 0.0271828, 1.41421, 4242.0, 9.99e6, 6.02e23])
def test_the_digits_are_those_asked_for(value):
    for digits in (2, 3, 6):
        assert float(short(value, digits)) == pytest.approx(value, rel=0.5 * 10.0 ** (1 - digits))


def test_what_is_no_number_stays_what_it_is():
    assert short(float("nan")) == "nan" and short(float("inf")) == "inf" and short(-float("inf")) == "−inf"
