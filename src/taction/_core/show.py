"""What objects show of themselves: at most ten lines, numbers to six digits, arrays by their shapes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sized
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from taction._core.errors import printable

LINES, WIDTH = 10, 110
FEW = 8  # entries of an array or a list up to which they are shown
LONGEST = 60  # characters of a text


def brief(value: Any) -> str:
    """A value in a few words."""
    if isinstance(value, (bool, type(None))):
        return repr(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, str):
        return repr(value if len(value) <= LONGEST else f"{value[: LONGEST - 1]}…")
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, np.ndarray):
        if value.ndim <= 1 and 0 < value.size <= FEW:
            return f"[{', '.join(brief(x) for x in value)}]" if value.ndim else brief(value.item())
        if value.ndim == 2 and 0 < value.size <= FEW + 1:  # up to 3 × 3
            return f"[{', '.join(brief(row) for row in value)}]"
        return f"array {value.shape}"
    if hasattr(value, "shape") and not is_dataclass(value):
        return f"{type(value).__name__} {value.shape}"
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return _sequence(value)
    if isinstance(value, dict):
        return f"{{{some(str(key) for key in value)}}}"
    text = repr(value)
    is_short = "\n" not in text and len(text) <= LONGEST and " at 0x" not in text
    return text if is_short else getattr(value, "__name__", type(value).__name__)


def _sequence(value: list[Any] | tuple[Any, ...]) -> str:
    left, right = "[]" if isinstance(value, list) else "()"
    shown = [brief(x) for x in value[:FEW]]
    if len(value) <= FEW and sum(len(text) for text in shown) <= LONGEST:
        return f"{left}{', '.join(shown)}{',' if right == ')' and len(value) == 1 else ''}{right}"
    kinds = {type(x).__name__ for x in value}
    return f"{len(value)} {kinds.pop() if len(kinds) == 1 else 'entries'}"


def some(names: Iterable[str], most: int = 6) -> str:
    """The first names of many."""
    known = [str(name) for name in names]
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return ", ".join(known[:most]) + more


def rows(*lines: str) -> str:
    """Lines that say something, below each other, those after the first indented; none too long."""
    kept = [printable(line) for line in lines if line]
    cut = [line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…" for line in kept[:LINES]]
    return "\n  ".join(cut)


def brief_repr(self: Any) -> str:
    """The representation of a dataclass or a named tuple: each of its fields in a few words."""
    names = [f.name for f in fields(self) if f.repr] if is_dataclass(self) else self._fields
    shown = [f"{name}={brief(getattr(self, name))}" for name in names]
    text = printable(f"{type(self).__name__}({', '.join(shown)})")
    wrapped = textwrap.wrap(
        text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrapped if len(wrapped) <= LINES else [*wrapped[: LINES - 1], "  …)"])


def count(things: Sized | int, one: str, many: str = "") -> str:
    """A number of things, in words."""
    n = things if isinstance(things, int) else len(things)
    return f"{n} {one if n == 1 else many or one + 's'}"
