"""Files of strangers: plain ones only, and no larger than what memory should hold of one.

Opening a pipe waits, a device never ends, and a file with holes claims more bytes than any disk has. So a
file is opened without waiting, must be a plain one, and its size counts before a byte is read. What is read
of one may take `most_bytes` of memory: 200 MB, or what ``$TACTION_MOST_BYTES`` says; or, where numbers are
read as they are, as much as the file holds on the disk.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from taction._core.errors import BadInput

VARIABLE = "TACTION_MOST_BYTES"
USUAL = 200_000_000  # bytes
BLOCK = 512  # bytes in which systems count what a file has on the disk
READING = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))


def most_bytes() -> int:
    """Bytes of memory that what is read of a file may take.

    Raises:
        BadInput: the variable is no number of bytes.
    """
    text = os.environ.get(VARIABLE, "")
    if not text:
        return USUAL
    try:
        most = float(text)
        if not 0 < most < 2**63:
            raise ValueError
    except ValueError:
        raise BadInput(f"{VARIABLE}={text!r} must be a number of bytes, as in {VARIABLE}=1e9") from None
    return int(most)


def read_plain(path: str | Path, growth: int) -> bytes:
    """All of a plain file.

    Args:
        path: of the file.
        growth: bytes of memory that is taken for each byte of the file.

    Raises:
        OSError: it is missing, or cannot be read.
        BadInput: it is no plain file, or too large; the message does not begin with the path.
    """
    with open(os.open(_name(path), READING), "rb") as file:
        size = _size(os.fstat(file.fileno()))
        if growth * size > most_bytes():
            raise BadInput(too_large(growth * size))
        return file.read(size)


def room_of(path: str | Path) -> int:
    """Bytes of memory that the numbers in a plain file may take: holes in it do not count.

    Raises:
        BadInput: it is missing, no plain file, or larger than that; the message does not begin with the path.
    """
    try:
        status = os.stat(_name(path))
        size = _size(status)
    except FileNotFoundError:
        raise BadInput("no such file") from None
    except OSError as error:
        raise BadInput(error.strerror or str(error)) from None
    room = max(most_bytes(), min(size, BLOCK * getattr(status, "st_blocks", size)))
    if size > room:
        raise BadInput(too_large(size))
    return room


def too_large(claimed: int) -> str:
    """What is said of a file that would take so many bytes."""
    return (
        f"would take {claimed / 1e6:.3g} MB of memory, and a file may take {most_bytes() / 1e6:.3g}; "
        f"if you trust it, set {VARIABLE}={1.1 * claimed:.1e}"
    )


def _name(path: str | Path) -> str:
    """The path as the system takes it; one that no file can have leads nowhere."""
    name = os.fspath(path)
    if "\0" in name:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return name


def _size(status: os.stat_result) -> int:
    """Bytes of a file that must be a plain one."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise BadInput("is no plain file")
    return status.st_size


class Room:
    """Memory for all meshes of a model, which may name a large file a thousand times."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, count: int) -> None:
        """Take so many bytes.

        Raises:
            BadInput: that is more than `most_bytes`.
        """
        self.taken += 3 * count  # with what is made of them
        if self.taken > most_bytes():
            raise BadInput(f"with the meshes before it {too_large(self.taken)}")
