"""How many steps a run has, and whether the memory of this machine holds what they leave behind."""

from __future__ import annotations

import math
import os

from taction._core.errors import BadInput

UNKNOWN = 1 << 36  # bytes of a machine that does not say how many it has
NUMBER = 8  # bytes of one


def whole_steps(duration: float, dt: float, numbers: int) -> int:
    """Steps of dt [s] in a duration [s], rounded.

    Args:
        duration: simulated time [s].
        dt: time step [s].
        numbers: that a step leaves behind.

    Raises:
        BadInput: the duration is negative or not finite, or has more steps than memory holds.
    """
    if not (math.isfinite(duration) and duration >= 0):
        raise BadInput(f"duration must be finite and not negative, got {duration}")
    steps = duration / dt
    require_room(
        steps * numbers, f"{steps:.3g} steps of {dt:g} s", "choose a larger dt or a shorter duration"
    )
    return round(steps)


def require_room(numbers: float, what: str, instead: str) -> None:
    """Raise `BadInput` where so many numbers are more than the memory of this machine.

    Args:
        numbers: how many.
        what: needs them.
        instead: advice.
    """
    most = _memory()
    if numbers * NUMBER > most:
        raise BadInput(
            f"{what} need {numbers * NUMBER / 2**30:.3g} GiB, this machine has {most / 2**30:.3g}; {instead}"
        )


def _memory() -> int:
    """Bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # other systems than Unix
        return UNKNOWN
