"""Fair timing on noisy machines: interleave the contenders, keep the best, one thread each."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from taction.report.machine import machine

__all__ = ["best_times", "machine"]

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
