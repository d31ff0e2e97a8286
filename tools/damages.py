"""Ways to damage a file: bytes, words, archives and HDF5, each a function of a random generator and bytes.

Everything follows from the generator alone, so that a file can be made again from its seed.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from random import Random

import numpy as np

Damage = Callable[[Random, bytes], bytes]

NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][\w.\-/]*")
TOKEN = re.compile(rb"[^\s<>=\"/]+")
NUMBERS = (
    b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e999", b"1e-320", b"0", b"-0", b"-1",
    b"999999999999999999999", b"2147483648", b"0x10", b"1,5", b"1_0", b"", b"one", b"1 2 3", b"1e",
    b"--1", b"\xc2\xbd", b"65536",
)  # fmt: skip
WORDS = (
    b"world", b"floating", b"mesh", b"free", b"ball", b"true", b"", b"\xff\xfe", b"..", b"/", b"%s", b"None",
    b"main",
)  # fmt: skip


def _spot(rng: Random, data: bytes, longest: int = 64) -> tuple[int, int]:
    """A range of bytes."""
    start = rng.randrange(len(data)) if data else 0
    return start, min(len(data), start + rng.randint(1, longest))


# ----- Any file ------------------------------------------------------------------------------------------


def flip(rng: Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def truncate(rng: Random, data: bytes) -> bytes:
    return data[
        : rng.choice((rng.randrange(len(data)), max(0, len(data) - rng.randint(1, 40)), rng.randint(0, 60)))
    ]


def delete(rng: Random, data: bytes) -> bytes:
    start, end = _spot(rng, data, rng.choice((4, 64, 1000)))
    return data[:start] + data[end:]


def repeat(rng: Random, data: bytes) -> bytes:
    start, end = _spot(rng, data, rng.choice((8, 200, 2000)))
    return data[:end] + data[start:end] * rng.choice((1, 2, 50)) + data[end:]


def swap(rng: Random, data: bytes) -> bytes:
    (a, b), (c, d) = sorted((_spot(rng, data), _spot(rng, data)))
    return data if b > c else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def blank(rng: Random, data: bytes) -> bytes:
    start, end = _spot(rng, data, rng.choice((4, 64, 512)))
    return data[:start] + rng.choice((b"\0", b"\xff", b" ")) * (end - start) + data[end:]


def junk(rng: Random, data: bytes) -> bytes:
    start, end = _spot(rng, data)
    return data[:start] + rng.randbytes(end - start) + data[end:]


def head(rng: Random, data: bytes) -> bytes:
    """Damage in the first bytes, where formats say what follows."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        out[rng.randrange(min(len(out), 100))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
    return bytes(out)


def tail(rng: Random, data: bytes) -> bytes:
    """Damage in the last bytes, where archives have their contents."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        out[len(out) - 1 - rng.randrange(min(len(out), 300))] = rng.choice(
            (0, 1, 0x7F, 0xFF, rng.randrange(256))
        )
    return bytes(out)


def pile(rng: Random, data: bytes) -> bytes:
    """Two or three kinds at once."""
    for damage in rng.choices((flip, truncate, delete, repeat, swap, blank), k=rng.randint(2, 3)):
        data = damage(rng, data) if data else data
    return data


BINARY: tuple[Damage, ...] = (flip, truncate, delete, repeat, swap, blank, junk, head, tail, pile)

# ----- Text ----------------------------------------------------------------------------------------------


def _replace(rng: Random, data: bytes, pattern: re.Pattern[bytes], choices: tuple[bytes, ...]) -> bytes:
    found = list(pattern.finditer(data))
    for _ in range(rng.choice((1, 1, 3))):
        if found:
            match = rng.choice(found)
            data = data[: match.start()] + rng.choice(choices) + data[match.end() :]
            found = list(pattern.finditer(data))
    return data


def other_number(rng: Random, data: bytes) -> bytes:
    return _replace(rng, data, NUMBER, NUMBERS)


def far_number(rng: Random, data: bytes) -> bytes:
    """Numbers of any size that a double has, and counts that no memory holds, where a number stands."""
    found = list(NUMBER.finditer(data))
    for _ in range(rng.choice((1, 1, 2, 5))):
        if found:
            match = rng.choice(found)
            data = data[: match.start()] + _far(rng) + data[match.end() :]
            found = list(NUMBER.finditer(data))
    return data


def _far(rng: Random) -> bytes:
    """A number that few bodies have: of any magnitude, whole and large, or none at all."""
    sign, digits = rng.choice(("", "", "-")), rng.choice(("1", f"{rng.uniform(1, 10):.17g}"))
    power = rng.choice((rng.randint(-300, 300), rng.randint(-30, 30), 150, 155, 300, -155, -300))
    whole = str(rng.choice((2, 3, 1000, 10**5, 10**6, 10**9, 2**31 - 1, 2**53, 10**18, 10**300)))
    odd = rng.choice(("nan", "inf", "-inf", "-0", "0", "1e308", "5e-324"))
    return rng.choice((f"{sign}{digits}e{power}", f"{sign}{digits}e{power}", sign + whole, odd)).encode()


def other_word(rng: Random, data: bytes) -> bytes:
    there = tuple({match.group() for match in WORD.finditer(data)})
    return _replace(rng, data, WORD, tuple(sorted(there)) + WORDS)


def swap_tokens(rng: Random, data: bytes) -> bytes:
    found = list(TOKEN.finditer(data))
    if len(found) < 2:
        return data
    one, two = sorted(rng.sample(found, 2), key=lambda match: match.start())
    return data[: one.start()] + two.group() + data[one.end() : two.start()] + one.group() + data[two.end() :]


def lines(rng: Random, data: bytes) -> bytes:
    """A line is lost, comes twice, or stands elsewhere."""
    rows = data.split(b"\n")
    k = rng.randrange(len(rows))
    row = rows.pop(k) if rng.random() < 0.6 else rows[k]
    if rng.random() < 0.6:
        rows.insert(rng.randrange(len(rows) + 1), row)
    return b"\n".join(rows)


def nest(rng: Random, data: bytes) -> bytes:
    """An element inside itself, many times."""
    tags = re.findall(rb"<([A-Za-z]\w*)", data) or [b"v"]
    tag, depth = rng.choice(tags), rng.choice((3, 100, 3000))
    at = rng.choice([match.start() for match in re.finditer(rb"<|\n", data)] or [0])
    inside = b"".join(b'<%s name="n%d">' % (tag, k) for k in range(depth))
    closing = b"</%s>" % tag * (depth if rng.random() < 0.8 else 0)
    return data[:at] + inside + closing + data[at:]


def swap_elements(rng: Random, data: bytes) -> bytes:
    """Two elements without children trade places, or one is put where the other is."""
    found = list(re.finditer(rb"<\w[^<>]*/>", data))
    if len(found) < 2:
        return data
    one, two = sorted(rng.sample(found, 2), key=lambda match: match.start())
    first = two.group() if rng.random() < 0.5 else one.group() + two.group()
    return data[: one.start()] + first + data[one.end() : two.start()] + one.group() + data[two.end() :]


def entities(rng: Random, data: bytes) -> bytes:
    bomb = b'<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    at = rng.choice([match.start() for match in re.finditer(rb"<", data)] or [0])
    return (
        bomb
        + data[:at]
        + rng.choice((b"&b;", b"&c;", b"&#0;", b"<![CDATA[", b"<!--", b"<?xml?>"))
        + data[at:]
    )


TEXT: tuple[Damage, ...] = (
    other_number, other_number, other_word, other_word, swap_tokens, lines, nest, swap_elements, entities,
    flip, truncate, delete, repeat, blank, junk,
)  # fmt: skip

RUN: tuple[Damage, ...] = (far_number,) * 8 + (other_number, other_word, swap_tokens, lines, swap_elements)

# ----- Archives ------------------------------------------------------------------------------------------


def repack(rng: Random, data: bytes) -> bytes:
    """Members damaged or lost, in an archive whose sums are right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as new:
        names = archive.namelist()
        chosen = rng.choice(names)
        for name in names:
            content = archive.read(name)
            if name == chosen:
                if rng.random() < 0.1:
                    continue
                content = _member(rng, content)
            new.writestr(name, content)
    return out.getvalue()


def _member(rng: Random, content: bytes) -> bytes:
    """Another array, a damaged header, or damaged numbers."""
    if rng.random() < 0.4:
        return _array_bytes(other_array(rng))
    size = 10 + int.from_bytes(content[8:10], "little")
    header, numbers = content[:size], content[size:]
    if rng.random() < 0.5:
        return rng.choice((other_number, other_word, flip, truncate))(rng, header) + numbers
    return header + (rng.choice((flip, blank, junk))(rng, numbers) if numbers else b"\0")


def _array_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def other_array(rng: Random) -> np.ndarray:
    """An array that is hardly the one that was there."""
    shape = rng.choice(((), (0,), (1,), (3,), (2, 3), (0, 3), (7, 7), (1, 1, 1)))
    value = rng.choice((0.0, 1.0, -1.0, np.nan, np.inf, 1e308, -3, 10**9, 2**62, True, "text", ""))
    return np.full(shape, value)


ARCHIVE: tuple[Damage, ...] = (*BINARY, repack, repack, repack, repack, repack)

# ----- HDF5 ----------------------------------------------------------------------------------------------


def rewrite(rng: Random, data: bytes) -> bytes:
    """A dataset or an attribute changed, lost or replaced, in a file that is as HDF5 wants it."""
    import h5py

    file = io.BytesIO(data)
    with h5py.File(file, "r+") as tree:
        names: list[str] = []
        tree.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        name = rng.choice(names)
        if rng.random() < 0.2 and len(tree.attrs):
            key = rng.choice(list(tree.attrs))
            del tree.attrs[key]
            if rng.random() < 0.7:
                tree.attrs[key] = other_array(rng).ravel()[:1].astype("S4")
        elif rng.random() < 0.4 or not tree[name].size or tree[name].dtype.kind not in "iuf":
            del tree[name]
            if rng.random() < 0.7:
                array = other_array(rng)
                tree[name] = array.astype("S4") if array.dtype.kind == "U" else array
        else:
            values = tree[name][()].ravel() if tree[name].ndim else np.array([tree[name][()]])
            bad = (np.nan, 1e308, -1.0) if values.dtype.kind == "f" else (-1, 0, 2**31 - 1, 1)
            values[rng.randrange(values.size)] = np.array(rng.choice(bad)).astype(values.dtype)
            tree[name][...] = values.reshape(tree[name].shape)
    return file.getvalue()


HDF5: tuple[Damage, ...] = (*BINARY, rewrite, rewrite, rewrite, rewrite, rewrite)
