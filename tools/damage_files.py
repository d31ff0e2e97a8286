"""Damaged files of every kind that taction reads: each must give a clear error or a usable result, in time.

Usage: ``python tools/damage_files.py [--count 10000] [--seed 0] [--kinds urdf,stl] [--only KIND:NUMBER]
[--keep DIR]``. The files are made from the seed alone. Each is read by a worker process that is killed when
it takes too long. What came of it:

- *refused*: a taction error whose message is one line;
- *read*: a result that can be used;
- *wrong*: any other exception or warning, a message of several lines, a result that cannot be used;
- *late*: it took longer than the limit of its kind, in time of the processor, however busy the machine is;
- *crash*: the worker died.

A worker may take `MEMORY` and no more, so that a count in a file that fills the memory is found as an error.

Exits with 1 unless all files were refused or read. ``--only`` makes and reads one file again, with the
traceback; ``--keep`` keeps the files that failed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

PATIENCE = 15.0  # limits that may pass on the clock: a worker that waits takes no time of the processor
START = 300.0  # for a worker to start [s]: the first ever compiles
MEMORY = 6 << 30  # addresses of a worker, most of them never used [bytes]
OUTCOMES = ("refused", "read", "wrong", "late", "crash")
GOOD = ("refused", "read")


class Finding(NamedTuple):
    """What came of a file."""

    kind: str
    number: int
    damage: str
    outcome: str
    text: str
    seconds: float

    def __str__(self) -> str:
        what = f"{self.kind}:{self.number} ({self.damage})"
        return f"{what} {self.outcome} after {self.seconds:.2f} s: {self.text}"


class Forge:
    """Makes the files of a kind from a seed.

    Args:
        kind: a name of `damage_samples.KINDS`.
        folder: where they and their whole originals lie.
        seed: of all of them.
    """

    def __init__(self, kind: str, folder: Path, seed: int) -> None:
        from damage_samples import KINDS

        self.kind, self.folder, self.seed = kind, folder, seed
        folder.mkdir(parents=True, exist_ok=True)
        self._damages = KINDS[kind].damages
        self._whole = [(path, path.read_bytes()) for path in KINDS[kind].make(folder)]

    @property
    def whole(self) -> list[Path]:
        """The files that are damaged."""
        return [path for path, _ in self._whole]

    def file(self, number: int) -> tuple[Path, str]:
        """Write file ``number``; returns its path and the name of its damage."""
        rng = Random(f"{self.seed}:{self.kind}:{number}")
        path, data = rng.choice(self._whole)
        damage = rng.choice(self._damages)
        bad = path.with_stem(f"bad-{path.stem}")
        bad.write_bytes(damage(rng, data))
        return bad, f"{damage.__name__} of {path.name}"


class Worker:
    """A process that reads files, started again when it dies.

    Attributes:
        warm: kinds and whole files that a new process reads first, so that no file waits for kernels.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.warm: list[tuple[str, Path]] = []

    def read(self, kind: str, path: Path, limit: float) -> tuple[str, str, float]:
        """Outcome, text and time [s] of a file that may take so long [s]."""
        process = self._running()
        assert process.stdin is not None
        begin = self._spent()
        process.stdin.write(f"{kind}\t{path}\n".encode())
        process.stdin.flush()
        answer = self._line(limit)
        seconds = self._spent() - begin
        if answer is None:
            self.close()
            return "late", f"no answer within {limit:g} s", seconds
        if not answer:
            code = process.wait()
            self.close()
            return "crash", f"the worker ended with {code}", seconds
        outcome, text = json.loads(answer)
        return outcome, text, seconds

    def forget_peak(self) -> None:
        """Let `peak` count from now on."""
        process = self._running()
        Path(f"/proc/{process.pid}/clear_refs").write_text("5")

    def peak(self) -> int:
        """Most memory that the process had at once since `forget_peak` [bytes]; zero where it is gone."""
        if self._process is None:
            return 0
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
            process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, str(Path(__file__).resolve()), "--worker"]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            if not self._line(START):
                raise SystemExit("a worker does not start")
            for kind, path in self.warm:
                self.read(kind, path, START)
        return self._process

    def _spent(self) -> float:
        """Processor time of the worker so far [s]; that of the clock where nobody counts it."""
        assert self._process is not None
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return time.monotonic()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _line(self, limit: float) -> bytes | None:
        """A line of its answers, empty if it ended; None if there is none in time."""
        assert self._process is not None and self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            begin, spent = time.monotonic(), self._spent()
            while not selector.select(min(limit, 1.0)):
                if self._spent() - spent > limit or time.monotonic() - begin > PATIENCE * limit:
                    return None
        return self._process.stdout.readline()


def work() -> None:
    """What a worker does: a line with kind and path in, a line with outcome and text out."""
    from damage_samples import KINDS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever prints elsewhere is no answer
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        kind, path = line.rstrip("\n").split("\t")
        print(json.dumps(judge(KINDS[kind].read, Path(path))), file=answers, flush=True)


def judge(read: Any, path: Path) -> tuple[str, str]:
    """Outcome and text of reading a file."""
    from taction import TactionError
    from taction._core import errors

    ours = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Warning)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for known in ours:
            warnings.simplefilter("ignore", known)
        try:
            read(path)
        except TactionError as error:
            text = str(error)
            is_clear = text.strip() and len(text.splitlines()) == 1 and len(text) < 2000
            return ("refused" if is_clear else "wrong"), text[:300]
        except Exception as error:  # whatever it is, it is the finding
            frames = traceback.extract_tb(error.__traceback__)
            own = [frame for frame in frames if "taction" in Path(frame.filename).parts] or frames
            where = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
            return "wrong", f"{type(error).__name__}: {' '.join(str(error).split())[:200]} at {where}"
    return "read", ""


def search(count: int, seed: int, kinds: list[str], folder: Path, keep: Path | None = None) -> list[Finding]:
    """Make and read ``count`` files, the kinds in turn."""
    from damage_samples import KINDS

    forges = {kind: Forge(kind, folder / kind, seed) for kind in kinds}
    worker, out = Worker(), []
    try:
        for kind, path in ((kind, path) for kind, forge in forges.items() for path in forge.whole):
            outcome, text, _ = worker.read(kind, path, START)  # the first ever compiles
            if outcome != "read":
                raise SystemExit(f"{kind}: the whole file {path.name} is {outcome}: {text}")
        worker.warm = [(kind, forge.whole[0]) for kind, forge in forges.items()]
        for n in range(count):
            kind = kinds[n % len(kinds)]
            path, damage = forges[kind].file(n // len(kinds))
            outcome, text, seconds = worker.read(kind, path, KINDS[kind].limit)
            out.append(Finding(kind, n // len(kinds), damage, outcome, text, seconds))
            if outcome not in GOOD:
                print(out[-1], file=sys.stderr, flush=True)
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{kind}-{n // len(kinds)}-{path.name}").write_bytes(path.read_bytes())
            path.unlink()
    finally:
        worker.close()
    return out


def table(findings: list[Finding]) -> str:
    """Numbers of files by kind and outcome, the longest time and which file took it."""
    rows = [("kind", "files", *OUTCOMES, "slowest [s]", "number")]
    for kind in dict.fromkeys(finding.kind for finding in findings):
        mine = [finding for finding in findings if finding.kind == kind]
        counts = Counter(finding.outcome for finding in mine)
        slowest = max(mine, key=lambda finding: finding.seconds)
        by_outcome = (str(counts[name]) for name in OUTCOMES)
        rows.append((kind, str(len(mine)), *by_outcome, f"{slowest.seconds:.2f}", str(slowest.number)))
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--worker", action="store_true")
    given = parser.parse_args()
    if given.worker:
        work()
        return 0
    from damage_samples import KINDS

    with tempfile.TemporaryDirectory() as folder:
        if given.only:
            kind, number = given.only.split(":")
            path, damage = Forge(kind, Path(folder), given.seed).file(int(number))
            print(f"{path.name}: {damage}")
            print(KINDS[kind].read(path))
            return 0
        kinds = given.kinds.split(",") if given.kinds else list(KINDS)
        findings = search(given.count, given.seed, kinds, Path(folder), given.keep)
    print(table(findings))
    return 0 if all(finding.outcome in GOOD for finding in findings) else 1


if __name__ == "__main__":
    raise SystemExit(main())
