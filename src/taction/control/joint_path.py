"""Joint paths: positions of joints over time, given at equal intervals and smooth in between.

What it solves: a table of positions (k, m) at times t₀, t₀ + s, … becomes a function of time with a
continuous rate, for controllers that follow it (`taction.control.tracking`, `taction.control.pid`).

Method: cubic Hermite polynomials. The rate at a sample is the central difference of its neighbours, at the
ends zero: a path starts and ends at rest. Before its start and after its end a path stands still. A path with
a period does not end: its last period is repeated for ever. The error between samples is of order s³ in the
positions and s² in the rates.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import Array, as_float, frozen
from taction._core.errors import BadInput
from taction._core.expect import number
from taction._core.show import brief_repr


@dataclass(frozen=True, eq=False)
class JointPath:
    """Positions of joints over time; a reference for `Tracking` and `PID`.

    Attributes:
        joints: names of the m joints, each with one coordinate.
        samples: positions at equal intervals [rad or m], shape (k, m).
        interval: between two samples [s].
        start: time of the first one [s].
        repeated: how many of the last intervals are repeated for ever; 0 for none.
    """

    joints: tuple[str, ...]
    samples: ArrayLike
    interval: float = 1e-2
    start: float = 0.0
    repeated: int = 0
    _positions: Array = field(init=False, repr=False)
    _rates: Array = field(init=False, repr=False)

    __repr__ = brief_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        positions = as_float(self.samples, (None, len(self.joints)), "samples of a joint path")
        if not len(positions):
            raise BadInput("a joint path needs at least one sample")
        for name in ("interval", "start"):
            object.__setattr__(self, name, number(getattr(self, name), f"joint path: {name}"))
        if not (np.isfinite(self.interval) and self.interval > 0.0):
            raise BadInput(f"joint path: interval must be positive and finite, got {self.interval:g}")
        if not np.isfinite(self.start):
            raise BadInput(f"joint path: start must be finite, got {self.start:g}")
        if not 0 <= self.repeated < len(positions):
            raise BadInput(
                f"joint path: of {len(positions) - 1} intervals {self.repeated} cannot be repeated"
            )
        rates = np.zeros_like(positions)
        rates[1:-1] = (positions[2:] - positions[:-2]) / (2.0 * self.interval)
        if self.repeated > 1:
            rates[-1] = rates[-1 - self.repeated]
        object.__setattr__(self, "_positions", frozen(positions))
        object.__setattr__(self, "_rates", frozen(rates))

    @property
    def end(self) -> float:
        """When it comes to rest, or begins to repeat itself [s]."""
        return self.start + self.interval * (len(self._positions) - 1)

    def at(self, times: ArrayLike) -> tuple[Array, Array]:
        """Positions and rates at times (n,) [s]: shape (n, m) each."""
        t = (np.asarray(times, dtype=np.float64) - self.start) / self.interval
        last = len(self._positions) - 1
        if self.repeated:
            t = np.where(t > last, last - self.repeated + np.mod(t - last, self.repeated), t)
        if last == 0:
            held = np.repeat(self._positions, len(t), axis=0)
            return held, np.zeros_like(held)
        k = np.clip(np.floor(t), 0, last - 1).astype(np.int64)
        x = np.clip(t - k, 0.0, 1.0)[:, None]
        p0, p1, s = self._positions[k], self._positions[k + 1], self.interval
        m0, m1 = s * self._rates[k], s * self._rates[k + 1]
        rise = x * x * (3.0 - 2.0 * x)
        position = p0 + (p1 - p0) * rise + x * (1.0 - x) * ((1.0 - x) * m0 - x * m1)
        slope = 6.0 * x * (1.0 - x) * (p1 - p0) + (1.0 - x) * (1.0 - 3.0 * x) * m0 + x * (3.0 * x - 2.0) * m1
        return position, slope / s

    def __call__(self, t: float) -> tuple[Array, Array]:
        """Positions and rates at a time [s], shape (m,) each."""
        position, rate = self.at(np.array([t]))
        return position[0], rate[0]
