"""Who is told how far runs are: whatever runs inside a block, however deep, without an argument for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Listener = Callable[[str, float, float], Any]

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def on_steps(listener: Listener | None) -> Iterator[None]:
    """Within the block, call ``listener`` now and then while steps are taken.

    It gets the name of what moves, the time simulated so far [s], and how much of it there will be [s].
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listener() -> Listener | None:
    """Who listens here."""
    return _listener.get()
