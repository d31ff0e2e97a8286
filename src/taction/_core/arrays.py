"""Array policy: float64 and int64, C order, checked once at the door so that kernels assume clean input."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taction._core.errors import BadInput, one_line

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]

FEW = 16  # numbers


def as_float(value: ArrayLike, shape: tuple[int | None, ...], what: str) -> Array:
    """Return ``value`` as a finite, C-contiguous float64 array of the given shape.

    Args:
        value: anything NumPy can convert.
        shape: expected shape; ``None`` matches any length.
        what: name used in the error message.

    Raises:
        BadInput: wrong shape, not numeric, or not finite.
    """
    if type(value) is np.ndarray and value.dtype == np.float64 and len(value.shape) == len(shape):
        # the way of loops that call often
        fits = value.shape == shape or all(
            w is None or w == h for h, w in zip(value.shape, shape, strict=True)
        )
        if fits and value.flags.carray and is_finite(value):
            return value
    elif type(value) is float and not shape and isfinite(value):
        return np.array(value)
    try:
        if np.iscomplexobj(value):
            raise TypeError("it is complex")
        out = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{what}: not a numeric array ({one_line(error)})") from None
    if np.ndim(value) == 0:
        out = out.reshape(())
    if len(out.shape) != len(shape) or any(
        w is not None and w != h for h, w in zip(out.shape, shape, strict=True)
    ):
        raise BadInput(f"{what}: expected shape {_show(shape)}, got {_show(out.shape)}")
    if not out.flags.writeable:
        out = out.copy()  # a read-only array is another type to Numba, and compiles everything again
    if not is_finite(out):
        raise BadInput(f"{what}: contains NaN or infinity")
    return out


def is_finite(array: Array) -> bool:
    """Whether all numbers of an array are finite; those of a few one by one, which takes a quarter."""
    if array.size <= FEW:
        return all(map(isfinite, array.ravel().tolist()))
    return bool(np.isfinite(array).all())


def frozen(value: ArrayLike, dtype: Any = np.float64) -> NDArray[Any]:
    """Return a read-only, C-contiguous copy: constants of a model cannot be changed by accident."""
    out = np.array(value, dtype=dtype, order="C")
    out.flags.writeable = False
    return out


def _show(shape: tuple[int | None, ...]) -> str:
    return (
        "(" + ", ".join("n" if s is None else str(s) for s in shape) + ("," if len(shape) == 1 else "") + ")"
    )
