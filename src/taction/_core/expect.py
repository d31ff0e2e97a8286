"""What public functions ask of their arguments: one line says what was wanted, and what was given instead."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.errors import BadInput


def given(value: Any) -> str:
    """What a message calls a value of the wrong kind."""
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    return f"a {type(value).__name__}"


def number(value: Any, what: str, error: type[BadInput] = BadInput) -> float:
    """A real number, finite or not; a truth value is none."""
    is_scalar = isinstance(value, (int, float, np.integer, np.floating)) or (
        isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf"
    )
    if not is_scalar or isinstance(value, (bool, np.bool_)):
        raise error(f"{what} must be a number, got {given(value)}")
    return float(value)


def numbers(value: Any, count: int, what: str, error: type[BadInput] = BadInput) -> tuple[float, ...]:
    """So many real numbers."""
    try:
        items = None if isinstance(value, (str, bytes)) else list(value)
    except TypeError:
        items = None
    if items is None or len(items) != count:
        got = given(value) if items is None else f"{len(items)} of them"
        raise error(f"{what} must be {count} numbers, got {got}")
    return tuple(number(item, f"each of the {count} numbers of {what}", error) for item in items)


def instance(
    value: Any,
    kind: type | tuple[type, ...],
    what: str,
    error: type[BadInput] = BadInput,
    called: str = "",
) -> Any:
    """An object of a class, or of one of several; ``called`` says in words what these are."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join("text" if k is str else k.__name__ for k in kinds)
        wanted = called or f"{'an' if names[0] in 'AEIOU' else 'a'} {names}"
        raise error(f"{what} must be {wanted}, got {given(value)}")
    return value


def sequence(value: Any, what: str, error: type[BadInput] = BadInput) -> list[Any]:
    """A list of things, or anything that gives one; text is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise error(f"{what} must be a list, got {given(value)}")
    return list(value)


def as_path(value: Any, what: str = "the path") -> Path:
    """A place of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise BadInput(f"{what} must be a text or a Path, got {given(value)}")
    return Path(value)


def function(value: Any, arguments: str, what: str) -> Callable[..., Any]:
    """A function that can be called with the arguments that a text names, as ``"t, q, v"``."""
    if not callable(value) or isinstance(value, type):
        raise BadInput(f"{what} must be a function of ({arguments}), got {given(value)}")
    if not takes(value, len(arguments.split(","))):
        name, signature = getattr(value, "__name__", type(value).__name__), inspect.signature(value)
        raise BadInput(f"{what} must be a function of ({arguments}), but {name} takes {signature}")
    return value


def takes(value: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with so many arguments; one that does not say is believed to."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):  # functions of C have none
        return True
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
