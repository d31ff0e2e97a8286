"""First cost and warm cost of the main job, each in a process of its own, from the shell to the first step.

Cold: an empty kernel cache, so that everything compiles. Warm: the caches the cold run left, Python's own of
bytecode among them, even if the environment turns that off. The main job is ``taction run`` on the default
scenario with one step; interpreter start and imports are part of both.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from taction.bench.timing import machine

JOB = ("run", "double-pendulum", "--duration", "0.001", "--json")
LIMITS = {"cold": 60.0, "warm": 1.5}  # s


def bench_start(*, rounds: int = 5) -> dict[str, Any]:
    """Time the main job with an empty and with a warm kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        cold = _job(folder)
        warm = min(_job(folder) for _ in range(rounds))
    return {
        "bench": "start",
        "machine": machine(),
        "rows": [_row("cold", cold), _row("warm", warm)],
    }


def _job(cache: str) -> float:
    command = [sys.executable, "-m", "taction", *JOB]
    environment = {**os.environ, "TACTION_CACHE_DIR": cache, "PYTHONDONTWRITEBYTECODE": ""}
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.decode()}")
    return time.perf_counter() - begin


def _row(case: str, seconds: float) -> dict[str, Any]:
    nothing = dict.fromkeys(("peer", "peer_name", "ratio", "residual", "peer_residual"))
    return {"case": f"{case} start", "ours": seconds, "unit": "s", "limit": LIMITS[case], **nothing}
