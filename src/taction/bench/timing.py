"""Fair timing on noisy machines: interleave the contenders, keep the best, one thread each."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key")


def best_times(contenders: Mapping[Key, Callable[[], Any]], *, rounds: int = 15) -> dict[Key, float]:
    """Best wall time [s] of each contender over ``rounds`` interleaved calls, after one call to warm up."""
    for call in contenders.values():
        call()
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, call in contenders.items():
            begin = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as cpuinfo:
            names = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
