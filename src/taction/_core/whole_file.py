"""Files that are whole or not there: written beside, then moved into place.

Where the disk is full, or a kill comes between, what was there before stays as it was.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from taction._core.errors import OutputError


def require_writable(path: Path) -> None:
    """Raise `OSError` where a file is there and may not be written: one in its place would be."""
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


@contextmanager
def written_whole(path: str | Path, *, with_folder: bool = False) -> Iterator[Path]:
    """Within the block, a path beside the given one to be written; after it, the file is in its place.

    Args:
        path: of the file.
        with_folder: whether a folder that is missing is made.

    Raises:
        OutputError: it cannot be written; the message begins with the path.
    """
    path = Path(path)
    place = Path(os.path.realpath(path))  # of a link, what it leads to
    if place.exists() and not place.is_file():  # a device
        begun = place
    else:
        begun = place.with_name(f".{path.stem}-{os.getpid()}-{os.urandom(3).hex()}{path.suffix}")
    try:
        if with_folder:
            place.parent.mkdir(parents=True, exist_ok=True)
        require_writable(place)
        yield begun
        if begun != place:
            os.replace(begun, place)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        if begun != place:
            with suppress(OSError):
                begun.unlink(missing_ok=True)
