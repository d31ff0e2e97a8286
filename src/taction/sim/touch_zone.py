"""Zones of touch sensors: whether a ray meets a solid.

What it solves: for a ray x + s d, s ≥ 0, and a convex solid, whether some point of the ray is in the solid. A
point inside counts: its ray starts there.

Method, in the axes of the solid: the values of s at which the line is inside are an interval, that of a
quadratic for spheres, ellipsoids and the round side of cylinders, of a slab for flat sides; intersections of
intervals. A capsule is met where its cylinder or one of its two spheres is.

References: [Ericson2005, Section 5.3] for rays, slabs and quadrics.
"""

from __future__ import annotations

import numpy as np

from taction._core.arrays import Array
from taction.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Sphere

Interval = tuple[Array, Array]


def meets(zone: Geometry, x: Array, d: Array) -> np.ndarray:
    """Whether rays from points x (n, 3) along d (n, 3), both in the axes of the zone, meet it; shape (n,)."""
    if isinstance(zone, Box):
        return _is_ahead(*(_slab(x, d, axis, half) for axis, half in enumerate(np.array(zone.size) / 2)))
    if isinstance(zone, Sphere):
        return _is_ahead(_round(x / zone.radius, d / zone.radius))
    if isinstance(zone, Ellipsoid):
        return _is_ahead(_round(x / zone.radii, d / zone.radii))
    if not isinstance(zone, Cylinder | Capsule):
        return np.zeros(len(x), dtype=bool)
    half = zone.length / 2
    side = _round(x[:, :2] / zone.radius, d[:, :2] / zone.radius), _slab(x, d, 2, half)
    out = _is_ahead(*side)
    if isinstance(zone, Capsule):
        for end in (-half, half):
            out = out | _is_ahead(_round((x - (0.0, 0.0, end)) / zone.radius, d / zone.radius))
    return out


def _round(x: Array, d: Array) -> Interval:
    """Where |x + s d| ≤ 1; empty intervals have their ends the wrong way round."""
    a, b, c = (d * d).sum(axis=1), (x * d).sum(axis=1), (x * x).sum(axis=1) - 1.0
    is_still = a == 0.0
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    a = np.where(is_still, 1.0, a)
    none = np.where(is_still, c > 0.0, b * b < a * c)
    low, high = np.where(is_still, -np.inf, (-b - root) / a), np.where(is_still, np.inf, (-b + root) / a)
    return np.where(none, np.inf, low), np.where(none, -np.inf, high)


def _slab(x: Array, d: Array, axis: int, half: float) -> Interval:
    """Where coordinate ``axis`` is between −half and half."""
    at, along = x[:, axis], d[:, axis]
    is_still = along == 0.0
    step = np.where(is_still, 1.0, along)
    ends = np.sort([(-half - at) / step, (half - at) / step], axis=0)
    none = is_still & (np.abs(at) > half)
    low, high = np.where(is_still, -np.inf, ends[0]), np.where(is_still, np.inf, ends[1])
    return np.where(none, np.inf, low), np.where(none, -np.inf, high)


def _is_ahead(*intervals: Interval) -> np.ndarray:
    """Whether the intervals have a point in common that is not negative."""
    low = np.max([low for low, _ in intervals], axis=0)
    high = np.min([high for _, high in intervals], axis=0)
    return (low <= high) & (high >= 0.0)
