"""Which pairs of shapes may collide at all, whatever their placement.

What it decides: `may_collide(filter, i, j)` for shapes i and j, by the rules of MuJoCo, in this order:
1. shapes of one link never collide: they do not move against each other. Shapes fixed to the world are all
   on link 0, so neither do those;
2. a pair the user has included does, whatever follows;
3. links that a joint connects directly do not, unless one of them is the world: shapes usually overlap at
   the joint. Links without mass and shapes, which only carry one of several joints in a row, are passed
   over (`joined_parents`);
4. shapes of two bodies that the user has excluded do not. Bodies, not links: two bodies welded together are
   one link, and only the one named is excluded;
5. otherwise they do if the group bits of one meet the mask bits of the other, either way round.

Representation: all rules are read off arrays over the shapes and two sorted arrays of keys that are
searched by bisection, so that nothing grows with the square of the number of shapes. Where there are few
shapes, or the rules leave few pairs (most shapes of a robot exclude each other), these are listed as well:
running over them is then the fastest broad phase.

Departures from MuJoCo: including a pair of the same link is an error.

Cost: O(1), O(log m) in the number of excluded and of included pairs where there are any.

References: [TodorovErezTassa2012] for the rules.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from taction._core.arrays import IntArray, frozen
from taction._core.errors import BadInput
from taction._core.jit import inline_kernel
from taction._core.layout import Layout, ints, whole

LIST_LIMIT = 1000  # shapes, and
LIST_PER_SHAPE = 12  # allowed pairs per shape, up to which these are listed
LIST_ALWAYS = 80  # shapes up to which they are listed anyway: the list is run over inside the compiled step
HALF = 32  # bits of each of the two numbers in a key
ROWS_AT_ONCE = 64  # of the square of pairs, when all are asked for

# Columns of the rules of a shape; NumPy integers for the reason given in taction.model.workspace
LINK = np.int64(0)  # link that carries the shape, 0 for the world
JOINED = np.int64(1)  # link that a joint connects this link to, −1 where that is the world
GROUP = np.int64(2)  # bits of the groups the shape is in
MASK = np.int64(3)  # bits of the groups it collides with
BODY = np.int64(4)  # body + 1


class Filter(Layout):
    """Read-only arrays over the collision shapes (n) that say which pairs may collide."""

    rule: IntArray = ints("n, 5", "numbers of each shape, at the columns above")
    excluded: IntArray = ints("m", "sorted keys of body + 1, smaller first")
    included: IntArray = ints("k", "sorted keys of shapes, smaller first")
    is_listed: int = whole("1 where `pairs` holds all allowed pairs")
    pairs: IntArray = ints("p, 2", "allowed pairs i < j in order, or none")

    @property
    def n_shapes(self) -> int:
        """Number of shapes n."""
        return len(self.rule)


@inline_kernel
def contains(keys, key):
    """Whether a sorted array (m,) holds a key."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < keys.shape[0] and keys[low] == key


@inline_kernel
def ordered_key(a, b):
    """One integer for two non-negative ones, whatever their order."""
    return (a << HALF) | b if a < b else (b << HALF) | a


@inline_kernel
def may_collide(filter, i, j):
    """Whether shapes i ≠ j may collide."""
    a, b = filter.rule[i], filter.rule[j]
    if a[LINK] == b[LINK]:
        return False
    if filter.included.shape[0] > 0 and contains(filter.included, ordered_key(i, j)):
        return True
    if (a[GROUP] & b[MASK]) == 0 and (b[GROUP] & a[MASK]) == 0:
        return False
    if a[JOINED] == b[LINK] or b[JOINED] == a[LINK]:
        return False
    return filter.excluded.shape[0] == 0 or not contains(filter.excluded, ordered_key(a[BODY], b[BODY]))


def joined_parents(parent: ArrayLike, is_solid: ArrayLike) -> IntArray:
    """For each link the one it is joined to: the nearest towards the world that is a thing of its own.

    Args:
        parent: parent of each link, parents first, link 0 the world, shape (links,).
        is_solid: whether a link has mass or shapes, shape (links,); the others only carry a joint each, as
            the inner links of a universal or planar joint do.

    Returns:
        shape (links,), 0 where that is the world.
    """
    parent, is_solid = _ints(parent, "parent"), np.array(is_solid, dtype=bool)
    if is_solid.shape != parent.shape:
        raise BadInput(f"is_solid: expected shape {parent.shape}, got {is_solid.shape}")
    if np.any(parent[1:] >= np.arange(1, len(parent))) or np.any(parent[1:] < 0):
        raise BadInput("parent: links must come after their parents")
    joined = np.zeros(len(parent), dtype=np.int64)
    for i in range(1, len(parent)):
        p = parent[i]
        joined[i] = p if p == 0 or is_solid[p] else joined[p]
    return joined


def make_filter(
    link: ArrayLike,
    parent: ArrayLike,
    group: ArrayLike,
    mask: ArrayLike,
    *,
    body: ArrayLike | None = None,
    exclude: Iterable[tuple[int, int]] = (),
    include: Iterable[tuple[int, int]] = (),
) -> Filter:
    """Compile the rules for n shapes.

    Args:
        link: link that carries each shape, 0 for the world, shape (n,).
        parent: link that a joint connects each link to, as from `joined_parents`, shape (links,).
        group: bits of the groups each shape is in, shape (n,).
        mask: bits of the groups each shape collides with, shape (n,).
        body: body of each shape, −1 for the world, shape (n,); the link if not given.
        exclude: pairs of bodies that never collide.
        include: pairs of shapes that collide whatever groups, masks, joints and exclusions say.

    Raises:
        BadInput: shapes of arrays that do not match, numbers out of range, an included pair of one link.
    """
    link, parent = _ints(link, "link"), _ints(parent, "parent")
    n = len(link)
    group, mask = _ints(group, "group", n), _ints(mask, "mask", n)
    body = link if body is None else _ints(body, "body", n)
    if n and (link.min() < 0 or link.max() >= len(parent)):
        raise BadInput(f"link: numbers must lie between 0 and {len(parent) - 1}")
    if n and body.min() < -1:
        raise BadInput("body: numbers must be −1, the world, or above")
    excluded = _keys(exclude, -1, None, "exclude") + ((1 << HALF) | 1)
    included = _keys(include, 0, n, "include")
    for key in included:
        i, j = int(key) >> HALF, int(key) & (2**HALF - 1)
        if link[i] == link[j]:
            raise BadInput(f"include: shapes {i} and {j} are on the same link {link[i]}")
    joined = parent[link]
    filter = Filter(
        rule=frozen(
            np.column_stack([link, np.where((link == 0) | (joined == 0), -1, joined), group, mask, body + 1]),
            np.int64,
        ),
        excluded=frozen(excluded, np.int64),
        included=frozen(included, np.int64),
        is_listed=0,
        pairs=frozen(np.zeros((0, 2)), np.int64),
    )
    pairs = candidate_pairs(filter) if n <= LIST_LIMIT else None
    if pairs is None or (n > LIST_ALWAYS and len(pairs) > LIST_PER_SHAPE * n):
        return filter
    return filter._replace(is_listed=1, pairs=frozen(pairs, np.int64))


def candidate_pairs(filter: Filter) -> IntArray:
    """All pairs i < j of shapes that may collide, in order, shape (p, 2); takes time with the square of n."""
    n = filter.n_shapes
    found = []
    for start in range(0, n, ROWS_AT_ONCE):
        i, j = np.nonzero(np.arange(n) > np.arange(start, min(start + ROWS_AT_ONCE, n))[:, None])
        i += start
        found.append(np.column_stack([i, j])[_allowed(filter, i, j)])
    return np.concatenate(found).astype(np.int64) if found else np.zeros((0, 2), dtype=np.int64)


def _allowed(filter: Filter, i: IntArray, j: IntArray) -> np.ndarray:
    """The rules of `may_collide` for many pairs i < j at once, as booleans."""
    link, parent, group, mask, body = filter.rule.T
    low, high = np.minimum(body[i], body[j]), np.maximum(body[i], body[j])
    meets = ((group[i] & mask[j]) != 0) | ((group[j] & mask[i]) != 0)
    joined = (parent[i] == link[j]) | (parent[j] == link[i])
    excluded = np.isin((low << HALF) | high, filter.excluded)
    included = np.isin((i << HALF) | j, filter.included)
    return (link[i] != link[j]) & (included | (meets & ~joined & ~excluded))


def _ints(value: ArrayLike, what: str, length: int | None = None) -> IntArray:
    """A flat int64 array, of the given length if any."""
    given = np.asarray(value)
    if given.size == 0:
        given = given.astype(np.int64)
    if given.ndim != 1 or given.dtype.kind not in "iu" or (length is not None and len(given) != length):
        raise BadInput(f"{what}: expected {'' if length is None else f'{length} '}integers in a row")
    return given.astype(np.int64)


def _keys(pairs: Iterable[tuple[int, int]], lowest: int, end: int | None, what: str) -> IntArray:
    """Sorted keys of pairs of different numbers, smaller first, without repetitions."""
    keys = set()
    for pair in pairs:
        a, b = sorted(int(x) for x in pair)
        if a < lowest or b >= (2**HALF // 2 if end is None else end):
            raise BadInput(f"{what}: pair {tuple(pair)} is out of range")
        if a != b:
            keys.add((a << HALF) + b)
        elif what == "include":
            raise BadInput(f"{what}: pair {tuple(pair)} names one shape twice")
    return np.array(sorted(keys), dtype=np.int64)
