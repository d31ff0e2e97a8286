"""Ctrl-C while steps are taken: held back until a step is whole, so that what was done can be kept.

Python raises `KeyboardInterrupt` between any two instructions, also in the middle of what a step writes.
`Patience` stands between: while steps are taken an interrupt waits; in what the user wrote (controllers,
``stop``, ``progress``), which may take long and holds nothing of a step, it is raised at once. The handler
that was there before does the raising, so one of the user's own is kept. A second interrupt does not wait.

A run inside something larger, whose result would be wrong if it ended early, must not be cut short in
silence: within `whole_runs` an interrupt passes through as Python raises it. That holds for runs inside
controllers, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

_is_whole: ContextVar[bool] = ContextVar("is_whole", default=False)


@contextmanager
def whole_runs() -> Iterator[None]:
    """Within the block Ctrl-C ends runs with `KeyboardInterrupt`; none is returned that ended early."""
    token = _is_whole.set(True)
    try:
        yield
    finally:
        _is_whole.reset(token)


def is_kept() -> bool:
    """Whether a run that is interrupted here keeps what it did."""
    return not _is_whole.get()


class Patience:
    """Within the block interrupts wait until `deliver`, but for what runs in a block of `open`.

    Args:
        is_needed: or everything stays as it is.
    """

    def __init__(self, is_needed: bool) -> None:
        self._is_needed = is_needed and threading.current_thread() is threading.main_thread()
        self._before: Callable[[int, FrameType | None], Any] | None = None
        self._waiting: tuple[int, FrameType | None] | None = None
        self.open = _Open()

    def __enter__(self) -> Patience:
        before = signal.getsignal(signal.SIGINT)
        if self._is_needed and callable(before):  # signals reach the main thread alone
            self._before = before
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if kind is None:  # what went wrong is said before that somebody does not want to wait for it
                self.deliver()

    def deliver(self) -> None:
        """Raise the interrupt that waits, if one does."""
        if self._waiting is not None and self._before is not None:
            waiting, self._waiting = self._waiting, None
            self._before(*waiting)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._before is not None and (self.open.is_open or self._waiting is not None):
            self._before(number, frame)
        else:
            self._waiting = number, frame


class _Open:
    """A block in which interrupts are raised at once."""

    def __init__(self) -> None:
        self.is_open = False

    def __enter__(self) -> None:
        self.is_open = True

    def __exit__(self, *error: object) -> None:
        self.is_open = False
