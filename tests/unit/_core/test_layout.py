"""Layouts: declared once, checked when made, one word in a kernel, the same arrays in Python."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from taction._core import layout as module
from taction._core.arrays import Array, IntArray
from taction._core.jit import kernel
from taction._core.layout import Layout, flag, flags, floats, ints, nested, number, whole


class Inner(Layout):
    """A part."""

    x: Array = floats("n", "places [m]")
    name: IntArray = ints("n, 2", "numbers")


class Outer(Layout, scratch=True):
    """Everything a field can be."""

    part: Inner = nested(Inner, "the part")
    h: float = number("time step [s]")
    rule: int = whole("a choice")
    is_on: bool = flag("a switch")
    grid: Array = floats("n + 1, 3*k", "numbers [m/s]")
    kept: Array = floats("k", "zero between uses", is_kept=True)
    count: IntArray = ints("1", "how many")
    seen: np.ndarray = flags("k", "truth values")


def outer(n=4, k=2, **changes):
    part = Inner(np.arange(float(n)), np.arange(2 * n).reshape(n, 2))
    given = {"part": part, "h": 0.25, "rule": -7, "is_on": True, **changes}
    return Outer.allocate(_given=given, n=n, k=k)


@kernel
def total(x, ws):
    """Reads every kind of field, writes to arrays."""
    s = x.h * x.rule if x.is_on else 0.0
    for i in range(x.part.x.shape[0]):
        s += x.part.x[i] + x.part.name[i, 1]
    for i in range(ws.grid.shape[0]):
        for j in range(ws.grid.shape[1]):
            ws.grid[i, j] = 10.0 * i + j
    ws.count[0] += 1
    ws.seen[1] = True
    return s


@kernel
def through(x, ws):
    """Hands both on."""
    return total(x, ws) + 1.0


def test_kernels_read_and_write_what_python_has():
    o = outer()
    assert through(o, o) == 0.25 * -7 + (0 + 1 + 2 + 3) + (1 + 3 + 5 + 7) + 1.0
    assert o.grid.tolist() == [[10.0 * i + j for j in range(6)] for i in range(5)]
    assert o.count[0] == 1 and o.seen.tolist() == [False, True]
    assert total(outer(is_on=False), o) == 22.0


def test_one_specialisation_for_all_sizes():
    for n, k in ((1, 2), (7, 3), (0, 4)):
        o = outer(n, k)
        through(o, o)
    assert len(set(through.signatures)) == 1


def test_allocation_is_one_piece_of_each_kind():
    o = outer()
    assert o.grid.base is o.kept.base and o.grid.shape == (5, 6) and not o.grid.any()


def test_layouts_do_not_change_but_can_be_replaced():
    o = outer()
    with pytest.raises(AttributeError, match=r"Outer.h: a layout does not change"):
        o.h = 1.0
    p = o._replace(h=1.0)
    assert (o.h, p.h) == (0.25, 1.0) and p.grid is o.grid and list(p._asdict()) == list(Outer._fields)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"Inner.name: expected shape \(n, 2\), got \(4, 2\)"):
        Inner(np.zeros(3), np.zeros((4, 2), dtype=np.int64))
    with pytest.raises(TypeError, match=r"Inner.x: expected an array of float"):
        Inner(np.zeros(3, dtype=np.float32), np.zeros((3, 2), dtype=np.int64))
    with pytest.raises(ValueError, match=r"Inner.x: .*in C order"):
        Inner(np.zeros((3, 3))[:, 0], np.zeros((3, 2), dtype=np.int64))
    with pytest.raises(TypeError, match="Inner takes x, name"):
        Inner(np.zeros(3))
    with pytest.raises(TypeError, match=r"Outer.part: expected .*Inner"):
        outer(part=3)


def test_scratch_is_poisoned_where_asked(monkeypatch):
    monkeypatch.setattr(module, "POISONED", True)
    o = outer()
    assert np.isnan(o.grid).all() and o.count[0] < -(2**50)
    assert not o.kept.any()
    clean = Inner.allocate(n=2)
    assert not clean.x.any()


def test_units_and_texts_are_data():
    assert Inner.fields["x"].unit == "m" and Inner.fields["x"].shape == ("n",)
    assert Outer.fields["part"].layout is Inner and Outer.fields["rule"].unit == ""


def test_layouts_travel():
    o = pickle.loads(pickle.dumps(outer()))
    assert o.part.x.tolist() == [0.0, 1.0, 2.0, 3.0] and total(o, o) == outer().h * -7 + 22.0
