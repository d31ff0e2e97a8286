"""First cost and warm cost of two jobs, each in a process of its own, from the shell to the first steps.

Jobs: one step of smooth motion (``taction run`` on the default scenario), and ten steps of a snake through
contact. Cold: an empty kernel cache, so that everything they need compiles; wall time, and processor time of
the process with its helpers, which other work on the machine disturbs less. Warm: the caches the cold run
left, Python's own of bytecode among them, even if the environment turns that off; the best of several.
Interpreter start and imports are part of all of them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from taction.bench.timing import machine


@dataclass(frozen=True)
class Job:
    """A command, and what it may take.

    Attributes:
        name: of the rows.
        words: after ``taction``.
        cold: limit of wall time with an empty cache [s].
        work: limit of processor time with an empty cache, all processes [s].
        warm: limit of wall time with a full one [s].
    """

    name: str
    words: tuple[str, ...]
    cold: float
    work: float
    warm: float = 1.5


JOBS = (
    Job("double-pendulum", ("run", "double-pendulum", "--duration", "0.001", "--json"), 60.0, 60.0),
    Job("snake-undulation", ("run", "snake-undulation", "--duration", "0.01", "--json"), 40.0, 60.0),
)


def bench_start(*, rounds: int = 5, jobs: tuple[Job, ...] = JOBS) -> dict[str, Any]:
    """Time the jobs with an empty and with a warm kernel cache.

    Args:
        rounds: warm runs; the best counts.
        jobs: what to run.
    """
    rows = []
    for job in jobs:
        with tempfile.TemporaryDirectory() as folder:
            cold, work = _time(job, folder)
            warm = min(_time(job, folder)[0] for _ in range(rounds))
        rows += [
            _row(f"{job.name}, cold", cold, job.cold),
            _row(f"{job.name}, cold, processor time", work, job.work),
            _row(f"{job.name}, warm", warm, job.warm),
        ]
    return {"bench": "start", "machine": machine(), "rows": rows}


def _time(job: Job, cache: str) -> tuple[float, float]:
    """Wall time of a job and processor time of all its processes [s]."""
    command = [sys.executable, "-m", "taction", *job.words]
    environment = {**os.environ, "TACTION_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    begin, work = time.perf_counter(), _processor_time()
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.decode()}")
    return time.perf_counter() - begin, _processor_time() - work


def _processor_time() -> float:
    """Of all processes that this one started, and those that they did, once they ended [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(case: str, seconds: float, limit: float) -> dict[str, Any]:
    nothing = dict.fromkeys(("peer", "peer_name", "ratio", "residual", "peer_residual"))
    return {"case": case, "ours": seconds, "unit": "s", "limit": limit, **nothing}
