"""How far compilation is, for whoever wants to show it.

`on_compile` gives a callback the number of kernels that are done, how many there are to do, and the share of
the work that is done. How many shows when Python calls a kernel that is not on disk: it and all kernels that
its code can reach, less those on disk. The work in a kernel is the length of its bytecode. Linking,
optimising and compiling an outer face takes a quarter as long as the inner faces of all that it calls
together, and cannot be shared among processes; 0.4 foresees the end of a first run on two cores well.

References: none; a matter of tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from taction._core.jit_inner import Kernel
from taction._core.jit_trace import reachable, size

LINKING = 0.4  # work of an outer face in that of the inner ones it links

Listener = Callable[[int, int, float], Any]

_listeners: list[Listener] = []
_sharing: list[None] = []  # one entry per block of `shared`


def has_audience() -> bool:
    """Whether anybody shows progress."""
    return bool(_listeners)


def report(done: int, total: int, share: float) -> None:
    """Tell whoever wants to know."""
    for listener in _listeners:
        listener(done, total, share)


@contextmanager
def shared() -> Iterator[None]:
    """Within the block somebody else counts: `taction._core.jit_share`."""
    _sharing.append(None)
    try:
        yield
    finally:
        _sharing.pop()


class Count(event.Listener):
    """Counts the kernels that this process compiles by itself, anew for each call from Python."""

    def __init__(self) -> None:
        self.depth = self.done = self.total = 0
        self.work = self.all_work = 0.0

    def on_start(self, event: Any) -> None:
        """A kernel begins; the one that Python calls says how many there are."""
        kernel = getattr(event.data["dispatcher"], "kernel", None)
        if kernel is None or _sharing:
            return
        if self.depth == 0:
            missing = [k for k in reachable([kernel]) if k is not kernel and not k.is_kept]
            self.done, self.total, self.work = 0, 1 + len(missing), 0.0
            self.all_work = size(kernel) + (1.0 + LINKING) * sum(map(size, missing))
            report(0, self.total, 0.0)
        self.depth += 1

    def on_end(self, event: Any) -> None:
        """A kernel is done."""
        kernel = getattr(event.data["dispatcher"], "kernel", None)
        if kernel is None or _sharing:
            return
        self.depth -= 1
        if self.depth == 0:
            report(self.total, self.total, 1.0)
            return
        self.done, self.work = self.done + 1, self.work + size(kernel)
        report(min(self.done, self.total - 1), self.total, min(self.work / self.all_work, 1.0))


@contextmanager
def on_compile(callback: Listener) -> Iterator[None]:
    """Within the block, call ``callback`` with kernels done, all kernels, and the share of work done."""
    _listeners.append(callback)
    try:
        with event.install_listener("numba:compile", Count()):
            yield
    finally:
        _listeners.remove(callback)


def is_tracing() -> bool:
    """Whether kernels run as plain Python to see what they call."""
    return Kernel.trace is not None
