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
from threading import Timer
from typing import Any

from taction._core.errors import printable
from taction.drawing.number_text import short

# Characters of the bar that shows compilation; seconds between its lines where there is no terminal.
BAR, EVERY = 24, 10.0
# A run's bar appears after this time [s] and is drawn this often; a line, and a word on a long preparation.
PATIENCE, REDRAWN, LONG = 0.5, 0.1, 2.0


class Stopped(Exception):
    """Ctrl-C ended a command, which kept what was done; the message says where."""


def complain(message: str) -> None:
    """One line on stderr."""
    print("taction:", printable(" ".join(message.split())), file=sys.stderr)


def say(line: str) -> None:
    """One line on stdout; no name in it moves the cursor or begins another line."""
    print(printable(line.replace("\n", " ")))


def cell(text: str) -> Any:
    """One line of a table of Rich, as it is: no markup, no emoji, no escapes."""
    from rich.text import Text

    return Text(printable(text.replace("\n", " ")))


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


def _time_left(spent: float, share: float, least: float = 0.05) -> str:
    """How long it will take from how long it took; nothing before that can be known, at a least share."""
    return f", about {spent * (1.0 - share) / share:.0f} s left" if spent > 1.0 and share > least else ""


@contextmanager
def compile_notice() -> Iterator[CompileNotice]:
    """Show a notice while kernels compile inside the block; close it earlier with `CompileNotice.close`."""
    from taction._core.jit import on_compile

    notice = CompileNotice()
    with on_compile(notice):
        yield notice


class RunNotice:
    """Says on stderr how far a run is that takes a while, and about how long it still takes.

    On a terminal a bar, elsewhere a line now and then. Called with what runs, the time simulated so far [s],
    and how much of it there will be [s], or with numbers of something else; runs may follow one another.
    """

    def __init__(self) -> None:
        self.run: tuple[str, float] | None = None
        self.begin = self.start = self.said = self.last = self.drawn = 0.0
        self.has_bar = False
        self.waits: Timer | None = None

    def prepare(self, text: str) -> None:
        """Say this in one line if nothing else is said for a while."""
        self.waits = Timer(LONG, lambda: complain(f"{text} …"))
        self.waits.daemon = True
        self.waits.start()

    def __call__(self, what: str, time: float, end: float, of: str = "s simulated") -> None:
        """Show how far the run is."""
        self._stop_waiting()
        now = clock.perf_counter()
        if self.run != (what, end) or time < self.last:
            self.run, self.begin, self.start, self.said = (what, end), now, time, now - EVERY + LONG
        self.last = time
        what = printable(" ".join(what.split()))
        share = (time - self.start) / (end - self.start) if end > self.start else 1.0
        text = f"{short(time)} of {short(end, 6)} {of}{_time_left(now - self.begin, share, 0.002)}"
        if sys.stderr.isatty():
            if now - self.begin > PATIENCE and now - self.drawn > REDRAWN:
                self.drawn = now
                full = round(BAR * share)
                bar = "━" * full + "─" * (BAR - full)
                print(f"\r\x1b[Ktaction: {what}  {bar}  {text}", end="", file=sys.stderr, flush=True)
                self.has_bar = True
        elif now - self.said > EVERY:
            self.said = now
            complain(f"{what} {text}")

    def say(self, text: str) -> None:
        """A line of something else."""
        self.close()
        complain(text)

    def close(self) -> None:
        """Take the bar away."""
        self._stop_waiting()
        self.run = None
        if self.has_bar:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.has_bar = False

    def _stop_waiting(self) -> None:
        if self.waits is not None:
            self.waits.cancel()
            self.waits = None


@contextmanager
def run_notice(name: str = "") -> Iterator[RunNotice]:
    """Show how far runs inside the block are, and how far the compilation of kernels before them is.

    Args:
        name: of all of them; that of what moves by default.
    """
    from taction._core.jit import on_compile
    from taction.sim.progress import on_steps

    notice, compiling = RunNotice(), CompileNotice()

    def show_kernels(done: int, total: int, share: float) -> None:
        notice.close()
        compiling(done, total, share)

    def show_run(what: str, time: float, end: float) -> None:
        compiling.close()
        notice(name or what, time, end)

    try:
        with on_compile(show_kernels), on_steps(show_run):
            yield notice
    finally:
        notice.close()
        compiling.close()
