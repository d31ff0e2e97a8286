"""Opening a run file: finished, still being written, left so by a kill, or damaged; in no time either way.

A file that is being written, or whose writer was killed, is marked so in its first bytes, and HDF5 opens it
only in its mode for readers beside a writer. In that mode a sum that is wrong may be a write under way, and
the library looks again up to a hundred times, waiting twice as long each time: a damaged file keeps it busy
for minutes, and nothing in its interface for Python sets the number. So such a file is copied into memory
here, its mark is taken off there, and the copy is opened as any file is: every sum must be right at once.
What a writer changed while it was copied fails that test; then it is copied again, a few times.

Only what is in the file itself is read (`taction._core.own_data`).

The first bytes of the format (superblock, version 2 and 3): signature (8), version, two sizes, marks (one
byte each), four addresses (8 each), of which the third is the end of the file, and the sum of all these,
Jenkins' lookup3.

References: The HDF Group, *HDF5 File Format Specification*, version 3.0, sections II.A and III (lookup3).
"""

from __future__ import annotations

import io
import struct
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from taction._core.errors import BadInput, one_line
from taction._core.own_data import require_own_data
from taction._core.plain_file import room_of
from taction.sim.run_file import need_h5py

SIGNATURE = b"\x89HDF\r\n\x1a\n"
MARKS, END, SUM, SIZE = 11, 28, 44, 48  # places of the first bytes
WORD = 0xFFFFFFFF
LOOKS, PAUSE = 5, 0.05  # copies of a file under way, and the time between two [s]
# what HDF5 raises on broken files, early or late
BROKEN = (OSError, KeyError, RuntimeError, TypeError, ValueError, AttributeError, EOFError)


@contextmanager
def open_run_file(path: str | Path) -> Iterator[Any]:
    """The open file, for reading; what HDF5 raises in the block becomes one line with the path.

    Raises:
        BadInput: no such file, no HDF5, or damaged.
    """
    h5py = need_h5py()
    room_of(path)  # of a plain file
    file = _open(h5py, path)
    try:
        require_own_data(file, path)
        yield file
    except BadInput:
        raise
    except BROKEN as error:
        raise BadInput(f"{path}: a damaged or unfinished run file ({one_line(error)})") from None
    finally:
        file.close()


def _open(h5py: Any, path: str | Path) -> Any:
    error: Exception = OSError("it is damaged")
    for look in range(LOOKS):
        if look:
            clock.sleep(PAUSE)
        data = _unmarked(path)
        try:
            return h5py.File(path if data is None else io.BytesIO(data), "r", libver="latest")
        except BROKEN as new:
            error = new
        if data is None:
            break
    raise BadInput(f"{path}: not a run file, or a damaged one ({one_line(error)})") from None


def _unmarked(path: str | Path) -> bytes | None:
    """A copy of a file under way without its mark; None of any other file."""
    with Path(path).open("rb") as file:
        head = bytearray(file.read(SIZE))
        is_ours = head[:8] == SIGNATURE and len(head) == SIZE and head[8] in (2, 3)
        if not is_ours or not head[MARKS] or lookup3(head[:SUM]) != int.from_bytes(head[SUM:], "little"):
            return None
        rest = file.read()
    head[MARKS] = 0
    struct.pack_into("<Q", head, END, SIZE + len(rest))
    struct.pack_into("<I", head, SUM, lookup3(head[:SUM]))
    return bytes(head) + rest


def lookup3(data: bytes | bytearray) -> int:
    """Jenkins' sum of some bytes, from zero on, as HDF5 takes it."""
    a = b = c = (0xDEADBEEF + len(data)) & WORD
    last = max(0, (len(data) - 1) // 12 * 12)
    for at in range(0, last, 12):
        x, y, z = struct.unpack_from("<III", data, at)
        a, b, c = a + x & WORD, b + y & WORD, c + z & WORD
        a = (a - c & WORD) ^ _turn(c, 4)
        c = c + b & WORD
        b = (b - a & WORD) ^ _turn(a, 6)
        a = a + c & WORD
        c = (c - b & WORD) ^ _turn(b, 8)
        b = b + a & WORD
        a = (a - c & WORD) ^ _turn(c, 16)
        c = c + b & WORD
        b = (b - a & WORD) ^ _turn(a, 19)
        a = a + c & WORD
        c = (c - b & WORD) ^ _turn(b, 4)
        b = b + a & WORD
    if not data:
        return c
    x, y, z = struct.unpack("<III", bytes(data[last:]).ljust(12, b"\0"))
    a, b, c = a + x & WORD, b + y & WORD, c + z & WORD
    c = (c ^ b) - _turn(b, 14) & WORD
    a = (a ^ c) - _turn(c, 11) & WORD
    b = (b ^ a) - _turn(a, 25) & WORD
    c = (c ^ b) - _turn(b, 16) & WORD
    a = (a ^ c) - _turn(c, 4) & WORD
    b = (b ^ a) - _turn(a, 14) & WORD
    return (c ^ b) - _turn(b, 24) & WORD


def _turn(x: int, k: int) -> int:
    return (x << k | x >> (32 - k)) & WORD
