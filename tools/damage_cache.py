"""Damaged caches of compiled kernels: every run must end right, and be as good as new afterwards.

Usage: ``python tools/damage_cache.py [--runs 100] [--each 10] [--seed 0]``. A short run through contact fills
a cache. Then, again and again, so many of its files are damaged, each in some way, and the same run is made
by a new process: it must end with exit code 0 and the same bits. Exits with 1 otherwise.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

PATIENCE = 900.0  # for a run, which may have to compile everything [s]
RUN = """
import hashlib, taction as ta
ball = ta.free_body("ball", ta.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.06))
run = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3).run(0.05, v=[0.3, 0.1, 0, 1, 2, 3])
print(hashlib.sha256(run.q.tobytes() + run.v.tobytes()).hexdigest())
"""


def flip(path: Path, chance: Random) -> None:
    """One bit."""
    data = bytearray(path.read_bytes())
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: Random) -> None:
    """The end is missing."""
    data = path.read_bytes()
    path.write_bytes(data[: chance.randrange(len(data) + 1)])


def empty(path: Path, _: Random) -> None:
    """Nothing in it."""
    path.write_bytes(b"")


def lengthen(path: Path, chance: Random) -> None:
    """More than there was."""
    path.write_bytes(path.read_bytes() + chance.randbytes(50))


def scramble(path: Path, chance: Random) -> None:
    """Something else of the same length."""
    path.write_bytes(chance.randbytes(path.stat().st_size))


def remove(path: Path, _: Random) -> None:
    """Gone."""
    path.unlink()


def fill(path: Path, _: Random) -> None:
    """A folder in its place, with something in it."""
    path.unlink()
    path.mkdir()
    (path / "stray").touch()


def link(path: Path, _: Random) -> None:
    """A link to something else."""
    path.unlink()
    path.symlink_to("/dev/zero")


def pipe(path: Path, _: Random) -> None:
    """A pipe that nobody writes to."""
    path.unlink()
    os.mkfifo(path)


def swap(path: Path, chance: Random) -> None:
    """The file of another kernel."""
    others = sorted(other for other in path.parent.iterdir() if other.is_file() and not other.is_symlink())
    path.write_bytes(chance.choice(others).read_bytes())


def give_away(path: Path, chance: Random) -> None:
    """Of another user, where this one may do so."""
    if os.geteuid() == 0:
        os.chown(path, 54321, 54321)
    else:
        flip(path, chance)


WAYS = (flip, cut, empty, lengthen, scramble, remove, fill, link, pipe, swap, give_away)


def run(root: Path) -> tuple[int, str, str]:
    """Exit code, digest of the motion, and what was said."""
    environment = {**os.environ, "TACTION_CACHE_DIR": str(root)}
    command = [sys.executable, "-c", RUN]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, complained = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return -1, "", "no end"
    return process.returncode, said.strip(), complained


def main() -> int:
    """Damage and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    chance, counts, failed = Random(given.seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "cache"
        code, wanted, said = run(root)
        if code:
            raise SystemExit(said)
        for n in range(given.runs):
            files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
            for path in chance.sample(files, given.each):
                way = chance.choice(WAYS)
                counts[way.__name__] += 1
                way(path, chance)
            code, found, said = run(root)
            if (code, found) != (0, wanted):
                failed += 1
                print(f"run {n}: exit code {code}, {found or 'no motion'}\n{said[-500:]}")
                shutil.rmtree(root)
                run(root)
    print(f"{given.runs} runs, {counts.total()} damages {dict(counts)}: {failed} ended wrong")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
