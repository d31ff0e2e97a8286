"""Events: when a function of the state changes sign."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from taction._core.arrays import Array

Events = Mapping[str, Callable[[float, Array, Array], float]]


def find_events(events: Events, t: Array, q: Array, v: Array) -> list[tuple[float, str]]:
    """Times [s] and names of changes of sign, by linear interpolation between recorded states.

    Args:
        events: functions of (t, q, v) by name.
        t: times [s], shape (n,).
        q: configurations, shape (n, nq).
        v: velocities, shape (n, nv).
    """
    found = []
    for name, function in events.items():
        values = np.array([float(function(t[k], q[k], v[k])) for k in range(len(t))])
        for k in np.flatnonzero(((values[:-1] < 0) != (values[1:] < 0)) & (values[:-1] != 0)):
            share = values[k] / (values[k] - values[k + 1])
            found.append((float(t[k] + share * (t[k + 1] - t[k])), name))
    return sorted(found)
