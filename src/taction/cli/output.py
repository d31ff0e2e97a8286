"""What commands print: JSON on stdout, complaints and notices on stderr.

Nothing here imports Rich before something long happens on a terminal: a run that takes a blink starts in one.
"""

from __future__ import annotations

import json
import math
import sys
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Characters of the bar that shows compilation; seconds between its lines where there is no terminal.
BAR, EVERY = 24, 10.0
# A progress bar appears when a run takes longer than this [s].
PATIENCE = 0.5


def complain(message: str) -> None:
    """One line on stderr."""
    print("taction:", " ".join(message.split()), file=sys.stderr)


def plain(value: Any) -> Any:
    """A value as JSON knows it: NaN and infinity become null, NumPy numbers plain ones."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy, without importing it
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_json(value: Any) -> str:
    """A value as text that every JSON parser reads."""
    return json.dumps(plain(value), indent=2, allow_nan=False)


class CompileNotice:
    """Says on stderr how far the compilation of kernels is; silent if none are compiled.

    On a terminal a bar, elsewhere a line now and then.
    """

    def __init__(self) -> None:
        self.count = 0  # kernels of jobs that are done
        self.job: tuple[int, int] | None = None  # of the present one: kernels done, and of how many
        self.begin = self.since = self.said = 0.0

    def __call__(self, done: int, total: int, share: float) -> None:
        """Show how far a job is: kernels done, of how many, and the share of the work; all done ends it."""
        now = clock.perf_counter()
        if self.job == (done, total):
            return
        if self.job is None:
            self.since = now
            if self.count == 0:
                self.begin = self.said = now
                self._start(total)
        self.job = done, total
        self._show(self.count + done, self.count + total, share, now)
        if done == total:
            self.count, self.job = self.count + total, None

    @property
    def has_compiled(self) -> bool:
        """Whether anything was compiled since it was closed last."""
        return self.count > 0

    def _start(self, total: int) -> None:
        if not sys.stderr.isatty():
            print(f"taction: compiling {_kernels(total)}, once per version …", file=sys.stderr, flush=True)

    def _show(self, done: int, total: int, share: float, now: float) -> None:
        left = _time_left(now - self.since, share)
        if sys.stderr.isatty():
            full = round(BAR * share)
            bar = "━" * full + "─" * (BAR - full)
            text = f"compiling kernels, once per version  {bar}  {done} of {total}{left}"
            print(f"\r\x1b[Ktaction: {text}", end="", file=sys.stderr, flush=True)
        elif now - self.said > EVERY and done < total:
            self.said = now
            print(f"taction: compiled {done} of {total} kernels{left}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Say how long it took; nothing if nothing was compiled since the last time."""
        done = self.count + (self.job or (0, 0))[0]
        if done or self.job:
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            spent = clock.perf_counter() - self.begin
            text = f"{clear}taction: compiled {_kernels(done)} in {spent:.0f} s"
            print(text, file=sys.stderr, flush=True)
        self.count, self.job = 0, None


def _kernels(count: int) -> str:
    return "1 kernel" if count == 1 else f"{count} kernels"


def _time_left(spent: float, share: float) -> str:
    """How long it will take from how long it took; nothing before that can be known."""
    return f", about {spent * (1.0 - share) / share:.0f} s left" if spent > 1.0 and share > 0.05 else ""


@contextmanager
def compile_notice() -> Iterator[CompileNotice]:
    """Show a notice while kernels compile inside the block; close it earlier with `CompileNotice.close`."""
    from taction._core.jit import on_compile

    notice = CompileNotice()
    with on_compile(notice):
        yield notice


class ProgressBar:
    """A bar on stderr for runs that take a while on a terminal; called with the simulated time [s]."""

    def __init__(self, duration: float, what: str) -> None:
        self.duration, self.what = duration, what
        self.begin: float | None = None
        self.bar: Any = None

    def __call__(self, time: float) -> None:
        """Show how far the run is."""
        now = clock.perf_counter()
        self.begin = self.begin or now
        if self.bar is None:
            if not sys.stderr.isatty() or now - self.begin < PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.bar.add_task(self.what, total=self.duration)
        self.bar.update(0, completed=time)

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
