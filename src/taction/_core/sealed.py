"""Files with a sum of themselves: whole, under the name they were written with, or not there.

A file begins with a sum over its name and all that follows: what a disk, a kill or a careless hand has
changed is never read as good data. What is damaged counts as missing and is made anew; one line to the logger
``taction`` says so, once per folder. The sum guards against accidents: that nobody else can write such files
is the matter of the folder (`taction._core.cache_folder`).

A file is written beside and then moved, so no process sees half of one.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import stat
from pathlib import Path

log = logging.getLogger("taction")

MAGIC = b"taction2"
SUM = 16  # bytes of the sum
START = len(MAGIC) + SUM  # of what follows
BEGUN = ".part"  # ending of files that are being written
# No link is followed, and what is no plain file does not block
READING = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))

_told: set[str] = set()


class _Damaged(Exception):
    """Why a file does not count."""


def read_sealed(path: str | Path) -> memoryview | None:
    """What follows the sum of a file, read-only; None if there is no file, or a damaged one."""
    path = os.fspath(path)
    try:
        data = _bytes_of(path)
        body = memoryview(data)[START:]
        if data[:START] != MAGIC + _sum(path, body):
            raise _Damaged("it is damaged")
        return body
    except FileNotFoundError:
        return None
    except (OSError, _Damaged) as error:  # the former: a folder in its place, a link, no permission
        why = getattr(error, "strerror", None) or str(error)
    folder = os.path.dirname(path)
    if folder not in _told:
        _told.add(folder)
        log.warning("%s: %s; what is damaged there is thrown away and made anew", path, why)
    return None


def _bytes_of(path: str) -> bytes:
    """All of a plain file of this user's, or the administrator's."""
    with open(os.open(path, READING), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _Damaged("it is no plain file")
        if hasattr(os, "geteuid") and status.st_uid not in (os.geteuid(), 0):
            raise _Damaged("it belongs to another user")
        return file.read()


def write_sealed(path: str | Path, body: bytes) -> None:
    """Write a file with its sum; what is in its place goes.

    Raises:
        OSError: that is not possible; nothing is left behind.
    """
    path = os.fspath(path)
    begun = f"{path}.{os.getpid()}-{os.urandom(4).hex()}{BEGUN}"
    try:
        with open(begun, "xb") as file:
            file.write(MAGIC + _sum(path, body))
            file.write(body)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        os.replace(begun, path)
    except BaseException:
        Path(begun).unlink(missing_ok=True)
        raise


def _sum(path: str, body: bytes | memoryview) -> bytes:
    """Of the body of a file, and of its name: one that was moved is another."""
    digest = hashlib.blake2b(os.path.basename(path).encode(errors="surrogateescape"), digest_size=SUM)
    digest.update(b"\0")
    digest.update(body)
    return digest.digest()
