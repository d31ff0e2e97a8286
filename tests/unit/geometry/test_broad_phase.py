"""Broad phases: all three give the list of a brute-force search, whatever the scene and the scratch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import PROPERTY
from taction._core.errors import BadInput
from taction.geometry.bounds import FAR
from taction.geometry.broad_phase import ALL_PAIRS, GRID, GRID_FROM, SWEEP, choose_broad_phase, find_pairs
from taction.geometry.filters import LIST_ALWAYS, candidate_pairs, make_filter
from taction.geometry.pair_list import SCRATCH_TOO_SMALL, make_broad_scratch

METHODS = [ALL_PAIRS, SWEEP, GRID]
SPARE_ROWS = 7


def free_filter(n):
    """Every shape on a link of its own, all allowed, nothing listed."""
    return make_filter(range(n), [0] * n, [1] * n, [1] * n)._replace(is_listed=0)


def brute_force(filter, boxes):
    """All allowed pairs whose boxes meet, in order."""
    pairs = candidate_pairs(filter)
    a, b = boxes[pairs[:, 0]], boxes[pairs[:, 1]]
    return pairs[np.all((a[:, :3] <= b[:, 3:]) & (b[:, :3] <= a[:, 3:]), axis=1)]


def found(method, filter, boxes, ws=None, capacity=None):
    """What a method finds; also checked not to write beyond the capacity."""
    n = len(boxes)
    capacity = n * n if capacity is None else capacity
    room = np.full((capacity + SPARE_ROWS, 2), -9)
    count = find_pairs(method, filter, boxes, make_broad_scratch(n) if ws is None else ws, room[:capacity])
    assert np.all(room[capacity:] == -9)
    return count if count > capacity else room[:count].copy()


def check_all(filter, boxes, ws=None):
    expected = brute_force(filter, boxes)
    for method in METHODS:
        for listed in {0, filter.is_listed}:
            assert np.array_equal(found(method, filter._replace(is_listed=listed), boxes, ws), expected), (
                method
            )
    return expected


def box(centre, half):
    return np.concatenate([np.subtract(centre, half), np.add(centre, half)], axis=-1)


def random_filter(rng, n):
    links = max(1, n // 2)
    parent = [0, *(int(rng.integers(0, i)) for i in range(1, links))]
    link = rng.integers(0, links, n)
    exclude = rng.integers(0, links, (3, 2)) if rng.random() < 0.5 else []
    return make_filter(link, parent, rng.integers(0, 4, n) | 1, rng.integers(0, 4, n), exclude=exclude)


@st.composite
def scenes(draw):
    """Shapes of one size or of many, apart, touching exactly or on one another, with planes and terrain."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = int(rng.integers(0, 60))
    spread = rng.choice([0.0, 1.0, 3.0, 8.0, 1e6]) * rng.choice([0.0, 1.0], 3, p=[0.2, 0.8])
    centre = rng.uniform(-spread, spread, (n, 3))
    half = np.full((n, 3), 0.5) if rng.random() < 0.5 else 10.0 ** rng.uniform(-3, 1, (n, 3))
    if rng.random() < 0.4:  # sides on a lattice: many boxes share a corner, an edge, a face
        centre, half = np.round(centre), np.maximum(np.round(2 * half), rng.integers(0, 2)) / 2
    boxes = box(centre + rng.choice([0.0, 1e3]), half)
    for kind in rng.integers(0, 8, n // 6):
        i = int(rng.integers(0, n))
        if kind == 0:
            boxes[i] = [-FAR] * 3 + [FAR] * 3
        elif kind == 1:
            boxes[i] = [-FAR] * 3 + [FAR, FAR, 0.0]
        elif kind == 2:
            boxes[i] = box(rng.uniform(-1, 1, 3), 50.0)
        elif kind == 3:
            boxes[i] = box(rng.uniform(-1, 1, 3), 1e-12)
        elif kind == 4:
            boxes[i] = boxes[int(rng.integers(0, n))]
        elif kind == 5:
            boxes[i] = box(rng.choice([-1e15, 1e15, 1e200], 3), 0.5)
        elif kind == 6:
            boxes[i] = boxes[i, [0, 1, 2, 0, 1, 2]]
        elif kind == 7:
            boxes[i, int(rng.integers(0, 6))] = np.nan
    return (random_filter(rng, n) if rng.random() < 0.5 else free_filter(n)), boxes, rng


@PROPERTY
@given(scenes())
def test_all_methods_find_the_same(scene):
    filter, boxes, rng = scene
    n = len(boxes)
    expected = check_all(filter, boxes)
    ws = make_broad_scratch(n + int(rng.integers(0, 5)))
    for array in ws._asdict().values():  # scratch holds anything
        array[...] = rng.integers(-5, n + 5, array.shape)
    ws.number[0, :n] = rng.permutation(n) if rng.random() < 0.5 else ws.number[0, :n]
    ws.box[rng.random(ws.box.shape) < 0.2] = np.nan
    check_all(filter, boxes, ws)
    check_all(filter, boxes, ws)
    few = len(expected) // 2
    for method in METHODS:
        assert len(expected) == 0 or found(method, filter, boxes, ws, few) == len(expected)
        assert np.array_equal(found(method, filter, boxes, ws, len(expected)), expected)


def lattice(rng, n, shake):
    """A heap of n unit cubes that nearly touch, numbered at random."""
    side = int(np.ceil(n ** (1 / 3)))
    cells = np.array(np.unravel_index(rng.permutation(side**3)[:n], (side,) * 3)).T
    return cells + shake * rng.normal(size=(n, 3))


def test_large_heap_in_motion():
    """The scratch of one step starts the next; axes of the sweep change as the heap is turned over."""
    rng = np.random.default_rng(1)
    n = 1500
    centre = lattice(rng, n, 0.05) * (1.0, 1.2, 1.5)
    filter, ws = free_filter(n), make_broad_scratch(n)
    for step in range(6):
        half = np.full((n, 3), 0.5)
        half[:3] = 40.0  # terrain
        boxes = box(centre, half)
        boxes[3] = [-FAR] * 3 + [FAR, FAR, 0.0]
        assert len(check_all(filter, boxes, ws)) > 3 * n
        centre = centre + 0.01 * rng.normal(size=(n, 3)) if step % 2 else np.roll(centre, 1, axis=1)


def test_row_reversed_and_of_equal_places():
    n = 300
    ws = make_broad_scratch(n)
    x = np.arange(n, 0.0, -1.0)
    for places in (x, x[::-1], np.zeros(n), np.round(x / 40)):
        centre = np.column_stack([places, np.zeros(n), 0.9 * (np.arange(n) % 7)])
        check_all(free_filter(n), box(centre, np.full((n, 3), 0.5)), ws)


def test_cells_that_coincide_and_edges_of_the_table():
    """Shapes whole periods of the cell numbers apart; rows long enough to run round the end of the table."""
    rng = np.random.default_rng(2)
    n = 400
    centre = rng.integers(0, 3, (n, 3)) + rng.integers(-1, 2, (n, 3)) * 2.0**20 * rng.choice(
        [1.0, 1.25, 1.5], (n, 1)
    )
    check_all(free_filter(n), box(centre, np.full((n, 3), 0.499)))
    centre = np.column_stack([np.arange(n) - 200.0, rng.integers(-1, 2, (n, 2))])
    check_all(free_filter(n), box(centre, np.full((n, 3), 0.625)))


def test_a_side_just_across_the_edge_of_a_cell():
    """A box that ends one cell further than its length says, because its lower side is a hair below zero."""
    n = 40
    boxes = box(np.column_stack([np.arange(n) * 7.0 + 100, np.zeros((n, 2))]), np.full((n, 3), 0.5))
    for length in (1.0, 1.25, 1.5, 2.0):
        boxes[0] = [-1e-320, 0, 0, length, 0.1, 0.1]
        boxes[1] = [length, 0, 0, length + 0.5, 0.1, 0.1]
        assert check_all(free_filter(n), boxes).tolist() == [[0, 1]]


def test_no_shapes_and_one():
    for n in (0, 1):
        assert len(check_all(free_filter(n), np.zeros((n, 6)))) == 0


def test_scratch_for_fewer_shapes():
    boxes = np.zeros((9, 6))
    for method in METHODS:
        assert found(method, free_filter(9), boxes, make_broad_scratch(9)).shape == (36, 2)
        room = np.zeros((36, 2), dtype=np.int64)
        assert find_pairs(method, free_filter(9), boxes, make_broad_scratch(8), room) == SCRATCH_TOO_SMALL
    with pytest.raises(BadInput, match="-1 is negative"):
        make_broad_scratch(-1)


def test_choice():
    def choice(n, mask=1):
        return choose_broad_phase(make_filter(range(n), [0] * n, [1] * n, [1] + [mask] * (n - 1)))

    assert choice(1) == choice(20) == choice(200, mask=0) == ALL_PAIRS
    assert choice(LIST_ALWAYS) == ALL_PAIRS  # inside the compiled step the list beats a call to the sweep
    assert choice(LIST_ALWAYS + 1) == choice(GRID_FROM - 1) == SWEEP
    assert choice(GRID_FROM) == choice(3000, mask=0) == GRID
