"""Files that a stranger made to do harm: each must be refused by one line or read, in time, within bounds.

Usage: ``python tools/hostile_files.py [--count 2000] [--seed 0] [--tricks stl,growing] [--only NUMBER]``. The
files are made from the seed alone, by the tricks of `hostile_archives` and `hostile_models` in turn, and
read by a worker of `damage_files`. Besides its outcomes there are two:

- *large*: the worker took more than `MOST` bytes of memory at once, its libraries included;
- *outside*: a file in a folder beside that of the hostile ones was opened, as inotify tells.

A file may take `LIMIT` seconds of the processor. Exits with 1 unless all files were refused or read.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

LIMIT = 10.0  # [s]
MOST = 1_000_000_000  # bytes
OPENED = 0x20  # IN_OPEN of inotify
OUTCOMES = ("refused", "read", "wrong", "late", "crash", "large", "outside")
GOOD = ("refused", "read")
READ_AS = {
    ".h5": "run-h5", ".hdf5": "problem-fclib", ".xml": "mjcf", ".urdf": "urdf", ".stl": "stl", ".obj": "obj",
    ".dae": "dae", ".msh": "stl",
}  # fmt: skip


class Finding(NamedTuple):
    """What came of a file."""

    trick: str
    kind: str
    number: int
    outcome: str
    text: str
    seconds: float
    megabytes: float

    def __str__(self) -> str:
        what = f"{self.trick}:{self.number} as {self.kind} {self.outcome}"
        return f"{what} after {self.seconds:.2f} s with {self.megabytes:.0f} MB: {self.text}"


class Watch:
    """Tells whether a file in a folder was opened."""

    def __init__(self, folder: Path) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._handle = library.inotify_init1(os.O_NONBLOCK)
        if self._handle < 0 or library.inotify_add_watch(self._handle, os.fsencode(folder), OPENED) < 0:
            raise SystemExit("inotify does not watch here")

    def opened(self) -> str:
        """The name of a file that was opened since the last call, empty if there is none."""
        try:
            data = os.read(self._handle, 4096)
        except BlockingIOError:
            return ""
        (length,) = struct.unpack_from("I", data, 12)
        return os.fsdecode(data[16 : 16 + length].rstrip(b"\0")) or "the folder"


class Forge:
    """Makes hostile files from a seed.

    Args:
        folder: in which they and their whole originals lie.
        seed: of all of them.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        from damage_samples import KINDS
        from hostile_archives import ARCHIVE, HDF5
        from hostile_models import MESHES, MODELS

        self.seed, self.folder, self.elsewhere = seed, folder, folder / "elsewhere"
        self._put_secrets()
        self._whole: dict[str, list[Path]] = {}
        for kind in ("run-h5", "run-npz", "state", "problem-npz", "problem-fclib"):
            (folder / kind).mkdir()
            self._whole[kind] = KINDS[kind].make(folder / kind)
        self.tricks: list[tuple[Any, str]] = [(trick, "") for trick in (*MODELS, *MESHES)]
        self.tricks += [(trick, kind) for trick in HDF5 for kind in ("run-h5", "run-h5", "problem-fclib")]
        self.tricks += [(trick, kind) for trick in ARCHIVE for kind in ("run-npz", "state", "problem-npz")]

    @property
    def whole(self) -> list[tuple[str, Path]]:
        """A file of each kind before anything is done to it."""
        return [(kind, paths[0]) for kind, paths in self._whole.items()]

    def _put_secrets(self) -> None:
        """Files that nobody who reads another may open, of kinds that can be read."""
        import h5py
        import numpy as np

        numbers = np.arange(7.0) + 0.125
        self.elsewhere.mkdir(parents=True)
        (self.elsewhere / "secret").write_bytes(numbers.tobytes())
        (self.elsewhere / "secret.mtl").write_text("newmtl secret\nKd 1 0 0\n")
        np.savez(self.elsewhere / "secret.npz", x=numbers)
        os.mkfifo(self.elsewhere / "pipe")
        with h5py.File(self.elsewhere / "secret.h5", "w") as file:
            file["x"] = numbers

    def file(self, number: int) -> tuple[str, str, Path]:
        """Write file ``number``; returns its trick, its kind and its path, in a folder of its own."""
        trick, kind = self.tricks[number % len(self.tricks)]
        rng, folder = Random(f"{self.seed}:{number}"), self.folder / f"file{number}"
        folder.mkdir()
        if not kind:
            path = trick(rng, folder, self.elsewhere)
            return trick.__name__, READ_AS[path.suffix], path
        path = folder / rng.choice(self._whole[kind]).name
        shutil.copy(self._whole[kind][0].with_name(path.name), path)
        trick(rng, path, self.elsewhere)
        return trick.__name__, kind, path


def search(count: int, seed: int, folder: Path, tricks: tuple[str, ...] = ()) -> list[Finding]:
    """Make and read ``count`` files, of some tricks or of all in turn."""
    from damage_files import START, Worker

    forge, worker, out = Forge(folder, seed), Worker(), []
    if tricks:
        forge.tricks = [(trick, kind) for trick, kind in forge.tricks if trick.__name__ in tricks]
    try:
        for kind, path in forge.whole:
            outcome, text, _ = worker.read(kind, path, START)  # the first ever compiles
            if outcome != "read":
                raise SystemExit(f"{kind}: the whole file {path.name} is {outcome}: {text}")
        worker.warm = forge.whole
        watch = Watch(forge.elsewhere)
        for number in range(count):
            trick, kind, path = forge.file(number)
            while watch.opened():  # by what made the file
                pass
            worker.forget_peak()
            outcome, text, seconds = worker.read(kind, path, LIMIT)
            peak, opened = worker.peak(), watch.opened()
            if opened:
                outcome, text = "outside", f"{opened} was opened; {outcome}: {text}"
            elif peak > MOST and outcome in GOOD:
                outcome, text = "large", f"{outcome}: {text}"
            out.append(Finding(trick, kind, number, outcome, text, seconds, peak / 1e6))
            if outcome not in GOOD:
                print(out[-1], file=sys.stderr, flush=True)
            shutil.rmtree(path.parent)
    finally:
        worker.close()
    return out


def table(findings: list[Finding]) -> str:
    """Numbers of files by trick and outcome, the longest time and the largest memory."""
    rows = [("trick", "files", *OUTCOMES, "slowest [s]", "largest [MB]")]
    names = [*dict.fromkeys(finding.trick for finding in findings), "all"]
    for name in names:
        mine = [finding for finding in findings if name in (finding.trick, "all")]
        counts = Counter(finding.outcome for finding in mine)
        slowest, largest = max(f.seconds for f in mine), max(f.megabytes for f in mine)
        by_outcome = (str(counts[each]) for each in OUTCOMES)
        rows.append((name, str(len(mine)), *by_outcome, f"{slowest:.2f}", f"{largest:.0f}"))
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tricks", default="")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.only:
            from damage_samples import KINDS

            trick, kind, path = Forge(Path(folder) / "files", given.seed).file(int(given.only))
            print(f"{path}: {trick}, read as {kind}", flush=True)
            print(KINDS[kind].read(path))
            return 0
        tricks = tuple(given.tricks.split(",")) if given.tricks else ()
        findings = search(given.count, given.seed, Path(folder) / "files", tricks)
    print(table(findings))
    return 0 if all(finding.outcome in GOOD for finding in findings) else 1


if __name__ == "__main__":
    raise SystemExit(main())
