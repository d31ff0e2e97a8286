"""The door: what becomes a clean float64 array, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from taction._core.arrays import as_float, frozen
from taction._core.errors import BadInput, TactionError


def test_clean_arrays_are_not_copied():
    x = np.ones((2, 3))
    assert as_float(x, (2, 3), "x") is x


@pytest.mark.parametrize("value", [[[1, 2], [3, 4]], np.ones((2, 2), order="F"), np.ones((4, 4))[::2, ::2]])
def test_everything_else_becomes_c_ordered_float64(value):
    out = as_float(value, (None, 2), "x")
    assert out.dtype == np.float64 and out.flags.c_contiguous
    assert np.array_equal(out, value)


def test_scalars():
    assert as_float(3, (), "x").shape == ()


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        ([1, 2], (3,), r"x: expected shape \(3,\), got \(2,\)"),
        ([1, 2], (None, 2), r"x: expected shape \(n, 2\), got \(2,\)"),
        (1.0, (1,), r"x: expected shape \(1,\), got \(\)"),
        ([1, np.nan], (2,), "x: contains NaN or infinity"),
        ([1, -np.inf], (2,), "x: contains NaN or infinity"),
        (["a"], (1,), "x: not a numeric array"),
        ([1j], (1,), "x: not a numeric array"),
        ([None], (1,), "x: "),
        ([[1], [1, 2]], (2, 2), "x: not a numeric array"),
    ],
)
def test_refusals(value, shape, message):
    with pytest.raises(BadInput, match=message):
        as_float(value, shape, "x")


def test_complex_arrays_are_refused():
    with pytest.raises(BadInput):
        as_float(np.array([1.0 + 2.0j]), (1,), "x")


def test_frozen_copies_and_locks():
    x = np.ones(3)
    y = frozen(x)
    x[0] = 5.0
    assert y[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        y[0] = 2.0
    assert frozen([1, 2], np.int64).dtype == np.int64


def test_errors_are_one_family():
    assert issubclass(BadInput, TactionError) and issubclass(BadInput, ValueError)
