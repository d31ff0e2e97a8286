"""Hulls from the disk: the same as those that are found, and never those of a file that is not one."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction._core import kept
from taction.geometry import kept_hull as module
from taction.geometry.compile import compile_colliders
from taction.geometry.hull import convex_hull
from taction.geometry.kept_hull import MANY, _arrays, _fits, kept_hull

RNG = np.random.default_rng(2)
CLOUD = RNG.normal(size=(300, 3))


def equal(one, other):
    arrays = zip(_arrays(one), _arrays(other), strict=True)
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in arrays)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path))
    return tmp_path / kept.SHAPES


def refuse(*_):
    raise AssertionError("found again")


@pytest.mark.parametrize("points", [CLOUD, CLOUD.round(1), CLOUD[:MANY]])
def test_a_kept_hull_is_the_hull(monkeypatch, points):
    wanted = convex_hull(points)
    assert equal(kept_hull(points), wanted)
    monkeypatch.setattr(module, "convex_hull", refuse)
    assert equal(kept_hull(points.copy()), wanted)
    assert equal(kept_hull(points[::-1][::-1]), wanted)


def test_hulls_of_few_points_are_not_kept(folder):
    kept_hull(CLOUD[: MANY - 1])
    assert not folder.exists()


def test_flat_points_are_refused_every_time():
    for _ in range(2):
        with pytest.raises(ta.ModelError, match="board: its 300 points lie in one plane"):
            kept_hull(CLOUD * (1.0, 1.0, 0.0), "board")


def test_other_points_are_another_hull():
    assert not equal(kept_hull(CLOUD), kept_hull(np.nextafter(CLOUD, 9.0)))


def test_what_kernels_would_stumble_over_does_not_fit():
    """Indices made too large or negative; every array cut, of another shape or of another kind."""
    whole = list(_arrays(convex_hull(CLOUD)))
    assert _fits(whole)
    assert not _fits(whole[:-1]) and not _fits([*whole, whole[0]])
    for k, array in enumerate(whole):
        others = [array[:-1], array[None], array.astype(complex)]
        if array.dtype.kind == "f":
            second = (np.arange(array.size) == 1).reshape(array.shape)
            others += [np.where(second, bad, array) for bad in (np.nan, np.inf)]
        else:
            others += [array - 1, np.full_like(array, 10**6), -array - 1]
        for other in others:
            assert not _fits([*whole[:k], other, *whole[k + 1 :]]), k


def test_colliders_of_found_and_of_kept_hulls_are_the_same(monkeypatch):
    shapes = [(1, ta.Transform(translation=(0, 0, k)), ta.Mesh(CLOUD * (1 + k))) for k in (0, 1, 0)]
    found = compile_colliders(shapes)
    monkeypatch.setattr(module, "convex_hull", refuse)
    again = compile_colliders(shapes)
    for layout in ("graph", None):
        one, other = (getattr(c, layout) if layout else c for c in (found, again))
        for name in (name for name in one._fields if name != "graph"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
