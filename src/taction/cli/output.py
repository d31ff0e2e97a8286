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

# Kernels compiled by a first run, as counted once; the notice says "about".
EXPECTED_KERNELS = 75
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
    """Says on stderr that kernels are being compiled, and how far it is; silent if none are."""

    def __init__(self, *, is_cold: bool) -> None:
        self.count = 0
        self.begin = 0.0
        self.hint = " (about a minute)" if is_cold else ""

    def __call__(self, kernel: str) -> None:
        """Count one more kernel."""
        if self.count == 0:
            self.begin = clock.perf_counter()
        self.count += 1
        text = "compiling kernels, once per version"
        if sys.stderr.isatty():
            # past the expected number the count alone is left
            total = f" of ~{EXPECTED_KERNELS}" if self.count <= EXPECTED_KERNELS else ""
            print(f"\r\x1b[Ktaction: {text}: {self.count}{total} …", end="", file=sys.stderr, flush=True)
        elif self.count == 1:
            print(f"taction: {text}{self.hint} …", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Say how long it took; nothing if nothing was compiled since the last time."""
        if self.count:
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""
            what = "kernel" if self.count == 1 else "kernels"
            spent = clock.perf_counter() - self.begin
            print(
                f"{clear}taction: compiled {self.count} {what} in {spent:.0f} s", file=sys.stderr, flush=True
            )
        self.count, self.hint = 0, ""


@contextmanager
def compile_notice() -> Iterator[CompileNotice]:
    """Show a notice while kernels compile inside the block; close it earlier with `CompileNotice.close`."""
    from taction._core.jit import is_cache_warm, on_compile

    notice = CompileNotice(is_cold=not is_cache_warm())
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
