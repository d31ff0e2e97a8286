"""Reading ``.npz`` archives that may be damaged or from strangers: arrays, or one clear line.

NumPy's own reader answers a damaged archive with whatever its parts raise, takes what is no archive for a
pickle, and makes room for as many numbers as a header claims. Here the members together may claim no more
than `taction._core.plain_file` allows; every one is unpacked first, which checks its sum; its header may hold
nothing but a plain type and a shape; and the shape must fit the bytes that are there. Nothing is ever
unpickled.
"""

from __future__ import annotations

import ast
import io
import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taction._core.errors import BadInput, one_line
from taction._core.plain_file import most_bytes, room_of, too_large

MAGIC = b"\x93NUMPY"
PLAIN = "biufUS"  # kinds of numbers and text
LONGEST_HEADER = 10_000  # characters; NumPy's own limit
# what unpacking a damaged archive raises
DAMAGE = (OSError, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError, struct.error)


def read_archive(source: str | Path | bytes) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz`` file, by name.

    Args:
        source: path of the file, or its contents.

    Raises:
        BadInput: no such file, no archive, or a damaged one; the message does not begin with the path.
    """
    room = most_bytes() if isinstance(source, bytes) else room_of(source)
    file: Any = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        if not zipfile.is_zipfile(file):
            raise BadInput("not an .npz file, or a damaged one")
        with zipfile.ZipFile(file) as archive:
            members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
            claimed = sum(info.file_size for info in members)
            if claimed > room:
                raise BadInput(too_large(claimed))
            return {info.filename[:-4]: _array(info.filename, archive.read(info)) for info in members}
    except BadInput:
        raise
    except (*DAMAGE, zipfile.BadZipFile, zlib.error) as error:
        raise BadInput(f"cannot be read ({one_line(error)})") from None


def _array(name: str, data: bytes) -> NDArray[Any]:
    """One member: magic, version, length of the header, header, numbers."""
    wide = 2 if data[6:7] == b"\x01" else 4
    start = 8 + wide
    length = int.from_bytes(data[8:start], "little")
    if data[:6] != MAGIC or len(data) < start + length or length > LONGEST_HEADER:
        raise BadInput(f"cannot be read ({name} is no array)")
    try:
        header = ast.literal_eval(data[start : start + length].decode("utf-8"))
        dtype, shape, is_fortran = np.dtype(str(header["descr"])), header["shape"], header["fortran_order"]
    except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError, UnicodeError):
        raise BadInput(f"cannot be read (the header of {name})") from None
    is_shape = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if (
        dtype.kind not in PLAIN
        or not is_shape
        or math.prod(shape) * dtype.itemsize != len(data) - start - length
    ):
        raise BadInput(f"cannot be read (the header of {name})")
    if dtype.itemsize == 0:  # empty text
        return np.zeros(shape, dtype)
    flat = np.frombuffer(data, dtype, offset=start + length)
    return np.array(flat.reshape(shape, order="F" if is_fortran else "C"))
