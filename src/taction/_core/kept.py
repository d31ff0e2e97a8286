"""What is costly to find and never changes, kept on disk: arrays under a digest of what they follow from.

Hulls of meshes, triangles of mesh files and convex pieces are found once per machine, not once per process.
They lie beside the compiled kernels (`taction._core.cache_folder`), in a folder of their own, one file each.

A key is a digest of the data, of the sources that make the result of them and of the versions of libraries
that help: whatever changes leads to another name, so nothing stale is ever found, and no file needs a second
look at its date.

Nothing here is needed, and nothing here is trusted:

* files are sealed (`taction._core.sealed`): what is damaged, or whose arrays the caller does not accept, is
  as good as missing: it is made again and replaced. Two processes that write the same write the same bytes;
* arrays are plain numbers behind a short header, never pickled objects;
* a folder that is missing, read-only or full means that nothing is kept, no more.

Files that were not read for `taction._core.jit.DAYS_KEPT` go, and of more than `MOST_BYTES` together the
ones longest unused. Reading notes the day in the time of the file.

References: none.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import time
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taction._core.cache_folder import SHAPES, cache_root, make_private
from taction._core.jit import DAYS_KEPT, PACKAGE
from taction._core.sealed import BEGUN, read_sealed, write_sealed

ENDING = ".kept"  # of files
LONGEST_HEADER = 1 << 16  # bytes
KINDS = ("<f8", "<i8", "<i4")  # numbers that are kept
MOST_BYTES = 1 << 29  # of all files together
DAY = 86400.0  # [s]
HOUR = 3600.0  # after which a file that is being written was given up [s]

Arrays = Sequence[NDArray[Any]]

_written: dict[Path, int] = {}  # bytes in each folder since it was last tidied


def kept(key: str, make: Callable[[], Arrays], fits: Callable[[Arrays], bool]) -> Arrays:
    """Arrays from the file of a key, or made and then kept.

    Args:
        key: from `key_of`.
        make: finds them, where there is no file or a damaged one; arrays of `KINDS`,
            of one dimension at least.
        fits: whether arrays from a file are what ``make`` could have made: numbers, shapes and ranges.
    """
    root = cache_root()
    if root is None:
        return make()
    path = root / SHAPES / f"{key}{ENDING}"
    found = _read(path)
    if found is not None and fits(found):
        return found
    made = make()
    _write(path, made)
    return made


def key_of(
    what: str, sources: tuple[str, ...], versions: tuple[str, ...], *data: bytes | NDArray[Any]
) -> str:
    """A name for what follows from data.

    Args:
        what: one word for what it is.
        sources: files that make it, below the package.
        versions: of libraries that help.
        data: what it is made of.
    """
    digest = hashlib.blake2b(_code(sources, versions), digest_size=20)
    for part in data:
        array = np.frombuffer(part, np.uint8) if isinstance(part, bytes) else np.ascontiguousarray(part)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return f"{what}-{digest.hexdigest()}"


@cache
def version_of(library: str) -> str:
    """Version of a distribution without its import; empty if it is not installed."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


@cache
def _code(sources: tuple[str, ...], versions: tuple[str, ...]) -> bytes:
    """A digest of sources, versions and the kind of processor."""
    digest = hashlib.blake2b(repr((platform.machine(), np.__version__, versions)).encode())
    for source in sources:
        digest.update((PACKAGE / source).read_bytes())
    return digest.digest()


# ----- Files ----------------------------------------------------------------------------------------------


def _read(path: Path) -> list[NDArray[Any]] | None:
    """The arrays of a file, read-only; None if there is none, or a damaged one."""
    body = read_sealed(path)
    arrays = None if body is None else _unpacked(body)
    if arrays is not None:
        try:
            if time.time() - os.stat(path).st_mtime > DAY:
                os.utime(path)
        except OSError:  # another process removed it
            pass
    return arrays


def _unpacked(body: memoryview) -> list[NDArray[Any]] | None:
    """The arrays in the body of a file; None if it holds something else."""
    arrays = []
    try:
        end = bytes(body[:LONGEST_HEADER]).index(b"\n") + 1
        at = end + -end % 8
        for kind, shape in json.loads(bytes(body[:end])):
            if kind not in KINDS:
                return None
            arrays.append(np.frombuffer(body, np.dtype(kind), math.prod(shape), at).reshape(shape))
            at += arrays[-1].nbytes + -arrays[-1].nbytes % 8
    except (TypeError, ValueError):
        return None
    return arrays


def _packed(arrays: Arrays) -> bytes:
    """The body of a file: header of kinds and shapes, numbers, each array on a whole word."""
    whole = [np.ascontiguousarray(array) for array in arrays]
    assert all(array.dtype.str in KINDS for array in whole)
    header = json.dumps([[array.dtype.str, array.shape] for array in whole]).encode() + b"\n"
    parts = [header.ljust(len(header) + -len(header) % 8, b"\0")]
    for array in whole:
        parts += [array.tobytes(), bytes(-array.nbytes % 8)]
    return b"".join(parts)


def _write(path: Path, arrays: Arrays) -> None:
    """Keep arrays in a file, if that is possible."""
    data = _packed(arrays)
    try:
        make_private(path.parent)
        write_sealed(path, data)
        _tidy(path.parent, len(data))
    except OSError:  # no room, no permission, or another process got there first
        pass


def _tidy(folder: Path, added: int) -> None:
    """Now and then, remove what was not used for long, and what is too much."""
    since = _written.get(folder, MOST_BYTES)
    if since + added < MOST_BYTES // 8:
        _written[folder] = since + added
        return
    _written[folder] = 0
    now, files, room = time.time(), [], MOST_BYTES
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((ENDING, BEGUN)):
                status = entry.stat()
                files.append((status.st_mtime, status.st_size, entry.path))
    for used, size, path in sorted(files, reverse=True):
        room -= size
        most = HOUR if path.endswith(BEGUN) else DAYS_KEPT * DAY
        if room < 0 or now - used > most:
            Path(path).unlink(missing_ok=True)
