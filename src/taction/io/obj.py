"""Wavefront OBJ files and the colours in their material libraries (MTL).

*OBJ* stores shared vertices in ``v`` and polygons in ``f`` lines. Four corners become two triangles along
the shorter diagonal, the one from the second corner where both are as long; more become a fan around the
first, so such a face must be convex; fewer than three are skipped. An index may be negative (counted back
from the last vertex so far) and may carry texture and normal indices (``a/b/c``), which are skipped.
``usemtl`` names the material of the faces that follow, ``mtllib`` a file of materials. Everything else is
skipped.

A block of lines is taken apart at once: where words begin, on which line, and of which kind a line is by its
first word. Corners of three numbers are read together, faces of plain indices too; any other line alone, and
there may be `MOST_ODD` of these.

*MTL*: ``newmtl`` begins a material, ``Kd`` is its diffuse colour, ``d`` its opacity. What is malformed there
is skipped: it is only looked at.

References: Wavefront Technologies, *Advanced Visualizer Manual*, appendix B1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taction._core.arrays import Array, IntArray
from taction._core.errors import ModelError
from taction.model.visual import Colour

BLOCK = 1 << 22  # bytes that are read at once, and of the longest line
NEWLINE, SPACE, HASH, SLASH = b"\n #/"
PLAIN = {
    b"v": b"v0123456789.eE+-\t\r\n ",
    b"f": b"f0123456789-/\t\r\n ",
}  # letters of a line read with others
FARTHEST = 2**62  # an index that no file reaches
MOST_MATERIALS = 100_000  # of a file, each as often as it is chosen
MOST_ODD = 200_000  # lines that are read alone, which takes ten times as long
POLYGON = re.compile(rb"^[ \t]*f(?:[ \t]+[^\s#]+){5}", re.MULTILINE)


class ObjMesh(NamedTuple):
    """What an OBJ file holds."""

    vertices: Array  # (nv, 3)
    faces: IntArray  # (nf, 3)
    material: IntArray  # of each face, (nf,), a place in ``materials``
    materials: tuple[str, ...]  # their names, the first for none
    libraries: tuple[str, ...]  # files that say more of them


def read_obj(data: bytes) -> ObjMesh:
    """Vertices and triangles of an OBJ file, and which materials these have.

    Raises:
        ModelError: the file is corrupt.
    """
    if b"\\" in data:
        data = data.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    reading, begin = _Reading(), 0
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + BLOCK) + 1 or len(data)
        if end - begin > BLOCK:
            raise ModelError(f"corrupt OBJ, line {reading.lines + 1}: has more than {BLOCK} letters")
        reading.add(data[begin:end] if data[end - 1] == NEWLINE else data[begin:end] + b"\n")
        begin = end
    return reading.made()


class _Reading:
    """What was read so far."""

    def __init__(self) -> None:
        self.points: list[Array] = [np.zeros((0, 3))]
        none = np.zeros(0, dtype=np.int64)
        self.corners: list[IntArray] = [none]  # of faces, one after the other
        self.sizes: list[IntArray] = [none]  # how many corners each face has
        self.material: list[IntArray] = [none]  # of each face
        self.materials, self.libraries = [""], list[str]()
        self.lines = self.count = self.odd = 0  # lines, points, lines that were read alone

    def add(self, block: bytes) -> None:
        """Read whole lines."""
        letters = np.frombuffer(block, np.uint8)
        if HASH in block:
            letters = np.where(_behind(letters, HASH, letters == NEWLINE), np.uint8(SPACE), letters)
            block = letters.tobytes()
        # where words begin, where lines end, and how many words each line has
        is_blank = letters <= SPACE
        is_begin = ~is_blank
        is_begin[1:] &= is_blank[:-1]
        ends = np.flatnonzero(letters == NEWLINE)
        begins = np.flatnonzero(is_begin)
        words = np.diff(np.cumsum(is_begin)[ends], prepend=0)
        # lines of each kind, by their first word
        lines = np.flatnonzero(words)
        first = begins[(np.cumsum(words) - words)[lines]]
        text = _Lines(block, letters, np.concatenate([[0], ends[:-1] + 1]), ends, words)
        corners, faces, new, libraries = (
            lines[_begins_with(letters, first, word)] for word in (b"v", b"f", b"usemtl", b"mtllib")
        )
        faces = faces[words[faces] > 3]  # fewer than three corners
        self._add_points(text, corners)
        is_face = self._add_faces(text, faces, np.searchsorted(corners, faces) + self.count)
        self.material.append((np.searchsorted(new, faces) + len(self.materials) - 1)[is_face])
        if len(self.materials) + len(new) > MOST_MATERIALS:
            raise ModelError(f"corrupt OBJ: its material changes {MOST_MATERIALS} times or more")
        self.materials += text.said(new)
        self.libraries += text.said(libraries)
        self.lines, self.count = self.lines + len(ends), self.count + len(corners)

    def made(self) -> ObjMesh:
        """The whole mesh."""
        points = np.concatenate(self.points)
        corners, sizes, material = map(np.concatenate, (self.corners, self.sizes, self.material))
        last = int(corners.max(initial=-1))
        if last >= len(points):
            raise ModelError(f"corrupt OBJ: a face uses vertex {last + 1}, the file has {len(points)}")
        return ObjMesh(
            points,
            _triangles(points, corners, sizes),
            np.repeat(material, sizes - 2),
            tuple(self.materials),
            tuple(self.libraries),
        )

    def _add_points(self, text: _Lines, rows: IntArray) -> None:
        points = np.empty((len(rows), 3))
        words = text.words[rows]
        is_plain = text.are_plain(rows, b"v") & (words > 3)
        try:
            for count in np.unique(words[is_plain]).tolist():  # more than four with a colour
                these = is_plain & (words == count)
                said = _numbers(text.of(rows[these]), b"v", np.float64, int(these.sum()) * (count - 1))
                points[these] = said.reshape(-1, count - 1)[:, :3]
        except ValueError:  # one of them says why
            is_plain[:] = False
        for k in self._odd(rows, is_plain):
            line = text.split(rows[k])
            with self._located(rows[k], line):
                x, y, z = (float(word) for word in line[1:4])
            points[k] = x, y, z
        self.points.append(points)

    def _add_faces(self, text: _Lines, rows: IntArray, known: IntArray) -> NDArray[np.bool_]:
        """Read faces, each where so many points are known; which of them have three corners and more."""
        sizes = text.words[rows] - 1
        is_plain = text.are_plain(rows, b"f")
        try:
            said = text.of(rows[is_plain], with_texture=False)
            corners = _numbers(said, b"f", np.int64, int(sizes[is_plain].sum()))
            before = np.repeat(known[is_plain], sizes[is_plain])
            if not ((corners != 0) & (corners >= -before) & (corners < FARTHEST)).all():
                raise ValueError
            corners = np.where(corners > 0, corners - 1, corners + before)
        except ValueError:  # one of them says why
            is_plain[:] = False
            corners = np.zeros(0, dtype=np.int64)
        rings: dict[int, list[int]] = {}
        for k in self._odd(rows, is_plain):
            line = text.split(rows[k])
            with self._located(rows[k], line):
                ring = [_index(word, int(known[k])) for word in line[1:]]
            rings[k] = ring if len(ring) > 2 else []
            sizes[k] = len(rings[k])
        if rings:  # to their places between the others
            whole = np.empty(sizes.sum(), dtype=np.int64)
            whole[np.repeat(is_plain, sizes)] = corners
            ends = np.cumsum(sizes)
            for k, ring in rings.items():
                whole[ends[k] - len(ring) : ends[k]] = ring
            corners = whole
        is_face = sizes > 2
        self.corners.append(corners)
        self.sizes.append(sizes[is_face])
        return is_face

    def _odd(self, rows: IntArray, is_plain: NDArray[np.bool_]) -> Iterator[int]:
        """Places of the lines that are read alone."""
        for k in np.flatnonzero(~is_plain).tolist():
            self.odd += 1
            if self.odd > MOST_ODD:
                line = self.lines + int(rows[k]) + 1
                raise ModelError(
                    f"corrupt OBJ, line {line}: more than {MOST_ODD} lines are not of plain numbers"
                )
            yield k

    @contextmanager
    def _located(self, row: np.int64, words: list[str]) -> Iterator[None]:
        """Give what is wrong with a line its number."""
        try:
            yield
        except (ValueError, OverflowError) as error:
            line = " ".join(words)[:60]
            raise ModelError(f"corrupt OBJ, line {self.lines + int(row) + 1}: {line!r} ({error})") from None


class _Lines(NamedTuple):
    """Lines of a block."""

    block: bytes
    letters: NDArray[np.uint8]
    begins: IntArray  # places of their first letters
    ends: IntArray  # and of the newlines
    words: IntArray  # how many they have

    def split(self, row: np.int64) -> list[str]:
        """The words of a line."""
        return self.block[self.begins[row] : self.ends[row]].decode("utf-8", errors="replace").split()

    def said(self, rows: IntArray) -> list[str]:
        """What some lines say after their first word."""
        lines = self.of(rows).decode("utf-8", errors="replace").split("\n")
        return [" ".join(line.split()[1:]) for line in lines[:-1]]

    def are_plain(self, rows: IntArray, kind: bytes) -> NDArray[np.bool_]:
        """Which lines consist of the letters of their kind alone."""
        is_odd = np.ones(256, dtype=bool)
        is_odd[list(PLAIN[kind])] = False
        is_plain = np.ones(len(self.ends), dtype=bool)
        is_plain[np.searchsorted(self.ends, np.flatnonzero(is_odd[self.letters]))] = False
        return is_plain[rows]

    def of(self, rows: IntArray, *, with_texture: bool = True) -> bytes:
        """The text of some lines; of corners without texture and normal if so asked."""
        is_row = np.zeros(len(self.ends), dtype=bool)
        is_row[rows] = True
        is_kept = np.repeat(is_row, self.ends + 1 - self.begins)
        text = self.letters[is_kept]
        if not with_texture:
            text = np.where(_behind(text, SLASH, text <= SPACE), np.uint8(SPACE), text)
        return text.tobytes()


def _behind(letters: NDArray[np.uint8], mark: int, is_break: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which letters are a mark or stand behind one, up to the next break."""
    marks = np.cumsum(letters == mark, dtype=np.int32)
    return marks > np.maximum.accumulate(np.where(is_break, marks, 0))


def _begins_with(letters: NDArray[np.uint8], first: IntArray, word: bytes) -> NDArray[np.bool_]:
    """Whether the words that begin at these places are a word."""
    is_word = np.ones(len(first), dtype=bool)
    for k, letter in enumerate(word):
        is_word[is_word] = letters[np.minimum(first[is_word] + k, len(letters) - 1)] == letter
    is_word[is_word] = letters[np.minimum(first[is_word] + len(word), len(letters) - 1)] <= SPACE
    return is_word


def _numbers(text: bytes, kind: bytes, dtype: type[Any], count: int) -> NDArray[Any]:
    """So many numbers of lines of a kind.

    Raises:
        ValueError: there are others, or what is none.
    """
    found = np.fromstring(text.replace(kind, b" "), dtype, sep=" ")
    if len(found) != count:
        raise ValueError
    return found


def _triangles(points: Array, corners: IntArray, sizes: IntArray) -> IntArray:
    """Triangles (nf, 3) of polygons, whose corners (·,) follow each other, so many (m,) of each."""
    begin = np.cumsum(sizes) - sizes
    four = begin[sizes == 4, None] + np.arange(4)
    a, b, c, d = points[corners[four.T]]
    with np.errstate(over="ignore"):
        is_from_second = ((c - a) ** 2).sum(axis=1) >= ((d - b) ** 2).sum(axis=1)
    corners[four[is_from_second]] = corners[np.roll(four[is_from_second], -1, axis=1)]
    fan = np.repeat(begin, sizes - 2)
    place = np.arange(len(fan)) - np.repeat(np.cumsum(sizes - 2) - (sizes - 2), sizes - 2)
    return np.column_stack([corners[fan], corners[fan + place + 1], corners[fan + place + 2]])


def has_polygons(data: bytes) -> bool:
    """Whether an OBJ file has a face of more than four corners."""
    return POLYGON.search(data) is not None


def _index(word: str, count: int) -> int:
    """Vertex index from 0 of one corner ``a``, ``a/b``, ``a//c`` or ``a/b/c``, after ``count`` vertices."""
    index = int(word.partition("/")[0])
    if index == 0 or not -count <= index < FARTHEST:
        raise ValueError(f"index {index} is out of range")
    return index - 1 if index > 0 else count + index


def read_mtl(data: bytes) -> dict[str, Colour]:
    """Colours of the materials in an MTL file, by name."""
    diffuse: dict[str, list[float]] = {}
    opacity: dict[str, float] = {}
    name = ""
    for line in data.decode("utf-8", errors="replace").splitlines():
        key, *words = line.partition("#")[0].split() or [""]
        if key == "newmtl":
            name = " ".join(words)
        try:
            if key == "Kd":
                diffuse[name] = [float(w) for w in words[:3]]
            elif key == "d":
                opacity[name] = float(words[-1])
        except (IndexError, ValueError):
            continue
    colours: dict[str, Colour] = {}
    for name, values in diffuse.items():
        shares = [*values, opacity.get(name, 1.0)]
        if len(shares) == 4 and all(map(isfinite, shares)):
            red, green, blue, alpha = (min(max(share, 0.0), 1.0) for share in shares)
            colours[name] = red, green, blue, alpha
    return colours
