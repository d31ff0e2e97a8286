"""A list of kernels compiled by several processes, each kernel once.

Numba compiles one kernel at a time per process. What it makes of a kernel is kept on disk
(`taction._core.jit_inner`), so processes can divide a list among them without talking:

1. Every process has the same list, from the same trace of the same example (`taction._core.jit_trace`).
2. An entry is *ready* when all entries that it calls are done; then nothing is compiled twice. Of those
   ready, the one with the most code above it, up to the end of the list, goes first.
3. A process *claims* an entry by creating a file that nobody else can create, compiles it, and renames the
   file: done. Entries that others hold are waited for.
4. A claim whose process is gone, or that is older than anything takes, is taken over. At worst a kernel is
   compiled twice, to the same bits.

So nothing depends on helpers: one that cannot be started, or dies, leaves its work to the others; and
processes that happen to start at the same time share the work.

Cost: a helper takes about a second of processor time to import and trace what this process has.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from taction._core.cache_folder import VARIABLE, make_private
from taction._core.jit import CACHE_DIR
from taction._core.jit_inner import Kernel
from taction._core.jit_progress import LINKING, has_audience, report, shared
from taction._core.jit_trace import Call, callees, reachable, size, traced

HELPER = "TACTION_HELPER"  # set in helpers: they start none themselves
MOST_HELPERS = 7  # the longest chain of kernels that call one another leaves no work for more
PATIENCE = 180.0  # s after which a claim counts for nothing; no kernel takes a tenth of that
PAUSE = 0.02  # s between looks at what others hold

_helpers: list[subprocess.Popen[bytes]] = []  # of this process


def cores() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_helpers(code: str, count: int) -> list[subprocess.Popen[bytes]]:
    """Start so many Python processes that run ``code``; fewer where that is not possible."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        HELPER: "1",
    }
    if CACHE_DIR is not None:
        environment[VARIABLE] = str(CACHE_DIR.parent)
    helpers: list[subprocess.Popen[bytes]] = []
    for _ in range(0 if HELPER in os.environ else min(count, MOST_HELPERS)):
        try:
            helper = subprocess.Popen(
                [sys.executable, "-c", code],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            break
        atexit.register(helper.kill)
        helpers.append(helper)
    _helpers.extend(helpers)
    return helpers


class Claims:
    """Who compiles what, as files in a folder.

    Args:
        folder: made if need be.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        make_private(folder)

    def file(self, name: str, ending: str) -> Path:
        """Where something is said about a name."""
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.{ending}"

    def is_done(self, name: str) -> bool:
        """Whether somebody compiled it."""
        return self.file(name, "done").exists()

    def done(self) -> set[str]:
        """Files of all that somebody compiled: one look at the folder instead of one per name."""
        return {entry for entry in os.listdir(self.folder) if entry.endswith(".done")}

    def claim(self, name: str) -> bool:
        """Whether it is this process that is to compile it."""
        file = self.file(name, "claim")
        if file.is_dir():  # not ours, and nobody would take it away
            shutil.rmtree(file)
        elif self._is_stale(file):
            file.unlink(missing_ok=True)
        try:
            with open(file, "x", encoding="ascii") as out:
                out.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True

    def finish(self, name: str) -> None:
        """Say that it is compiled."""
        try:
            self.file(name, "claim").replace(self.file(name, "done"))
        except FileNotFoundError:  # taken over by one that is done with it
            self.file(name, "done").touch()

    def release(self, name: str) -> None:
        """Leave it to others."""
        self.file(name, "claim").unlink(missing_ok=True)

    @staticmethod
    def _is_stale(file: Path) -> bool:
        try:
            age, text = time.time() - file.stat().st_mtime, file.read_text(encoding="ascii")
        except OSError:
            return False
        if age > PATIENCE:
            return True
        if os.name != "posix" or not text.isdigit():
            return False  # just created, or a system that cannot tell
        try:
            os.kill(int(text), 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass
        return False


class Plan:
    """The entries of a list, what each waits for, and which goes first.

    Attributes:
        order: the entries, the most urgent first.
        needs: entries that each one calls, itself or through kernels that are not entries.
        kernels: how many kernels each brings with it: itself, and those without an entry that it calls first.
        work: what there is to compile in it, as in `taction._core.jit_progress`.

    Args:
        calls: from a trace.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        place = {k: i for i, k in enumerate(reachable(call.kernel for call in calls if call.is_outer))}
        inner = {call.kernel: call for call in calls if not call.is_outer and call.kernel in place}
        entries = [*(call for call in calls if call.is_outer), *inner.values()]
        self.needs: dict[Call, set[Call]] = {}
        self.kernels: dict[Call, int] = {}
        self.work: dict[Call, float] = {}
        counted = set(inner)
        for call in entries:
            bare = [call.kernel, *without_entry(call.kernel, inner)]
            named = {callee for kernel in bare for callee in callees(kernel)}
            self.needs[call] = {inner[kernel] for kernel in named if kernel in inner} - {call}
            self.work[call] = float(sum(map(size, bare)))
            if call.is_outer:
                self.work[call] += LINKING * sum(map(size, reachable([call.kernel])))
            self.kernels[call] = 1 + len(set(bare[1:]) - counted)
            counted.update(bare[1:])
        urgency = dict(self.work)
        for call in sorted(
            entries, key=lambda call: (not call.is_outer, -place[call.kernel])
        ):  # callers first
            for callee in self.needs[call]:
                urgency[callee] = max(urgency[callee], urgency[call] + self.work[callee])
        self.order = sorted(entries, key=lambda call: (-urgency[call], call.name))

    @property
    def total(self) -> int:
        """Kernels of all entries."""
        return sum(self.kernels.values())


def without_entry(kernel: Kernel, inner: Mapping[Kernel, Call]) -> list[Kernel]:
    """Kernels that one calls, itself or through others like them, and that are not in the list."""
    found: list[Kernel] = []
    stack = list(callees(kernel))
    while stack:
        callee = stack.pop()
        if callee not in inner and callee not in found:
            found.append(callee)
            stack += callees(callee)
    return found


def compile_shared(plan: Plan, folder: Path) -> None:
    """Compile what is in a plan, together with whoever does the same.

    Args:
        plan: what to compile.
        folder: where processes find each other's claims.
    """
    claims, parent = Claims(folder), os.getppid()
    file = {call: claims.file(call.name, "done").name for call in plan.order}
    there = claims.done()
    done = {call for call in plan.order if file[call] in there}
    new = [call for call in plan.order if call not in done]
    waiting = list(new)
    while waiting:
        if HELPER in os.environ and os.getppid() != parent:
            return  # nobody is left to help
        for helper in _helpers:
            helper.poll()  # one that died is gone for good only then
        there = claims.done()
        done.update(call for call in waiting if file[call] in there)
        waiting = [call for call in waiting if call not in done]
        _report(plan, new, done)
        mine = next((c for c in waiting if plan.needs[c] <= done and claims.claim(c.name)), None)
        if mine is None:
            time.sleep(PAUSE if waiting else 0.0)
            continue
        try:
            mine.compile()
        except Exception:  # the example misled; whoever calls it compiles it, or says what is wrong
            pass
        except BaseException:
            claims.release(mine.name)
            raise
        claims.finish(mine.name)


def _report(plan: Plan, new: list[Call], done: set[Call]) -> None:
    """Say how many kernels of the new entries are done, and how much of their work."""
    if not has_audience():
        return
    ready = [call for call in new if call in done]
    share = sum(plan.work[call] for call in ready) / sum(plan.work[call] for call in new)
    report(sum(plan.kernels[call] for call in ready), sum(plan.kernels[call] for call in new), share)


def compile_together(example: Callable[[], Any], helper: str, folder: Path) -> int:
    """Compile what an example calls, with one helper per further core; returns how many kernels that are.

    Args:
        example: is run as plain Python, to see what it calls; whatever it raises ends it, no more.
        helper: Python code that does the same in another process, with `help_compile`.
        folder: where processes find each other's claims.
    """
    helpers = start_helpers(helper, cores() - 1)
    total = _trace_and_compile(example, folder)
    for process in helpers:  # nothing is left to do for them
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
    return total


def help_compile(example: Callable[[], Any], folder: Path) -> NoReturn:
    """What a helper does, and ends the process."""
    _trace_and_compile(example, folder)
    os._exit(0)


def _trace_and_compile(example: Callable[[], Any], folder: Path) -> int:
    with traced() as calls, contextlib.suppress(Exception):
        example()
    plan = Plan(list(calls))
    with shared():
        compile_shared(plan, folder)
    return plan.total
