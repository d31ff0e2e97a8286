"""Who writes an output: a lock that the operating system holds until the process lets go of it or ends.

Two runs with one output would each destroy what the other writes. So whoever writes first creates a hidden
file beside the output and locks it; a second one is refused. A lock goes with its process, however that ends,
and the file that is left then means nothing. Where a file system has no locks, as some in networks, or a
system no ``flock``, nothing is guarded.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from pathlib import Path
from typing import Any

from taction._core.errors import OutputError

TRIES = 100  # to lock a file that others make and remove at the same time


class InUse:
    """A lock on an output, from its creation to `release`.

    Args:
        path: file or folder to be written.

    Raises:
        OutputError: another run writes there.
    """

    def __init__(self, path: str | Path) -> None:
        path = Path(path)
        self.path = path / ".taction.lock" if path.is_dir() else path.with_name(f".{path.name}.lock")
        self._close: Any = None
        with contextlib.suppress(OSError, ImportError):  # that it cannot be written shows when it is
            handle = _locked(self.path, path)
            self._close = weakref.finalize(self, os.close, handle)

    def release(self) -> None:
        """Let go of it."""
        if self._close is not None and self._close.alive:
            self.path.unlink(missing_ok=True)
            self._close()


def _locked(lock: Path, what: Path) -> int:
    """A handle of the locked file."""
    import fcntl

    for _ in range(TRIES):
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        except BlockingIOError:
            os.close(handle)
            raise OutputError(f"{what}: another run writes there; choose another name") from None
        except FileNotFoundError:  # removed by the one who held it: a lock on nothing
            pass
        except OSError:
            os.close(handle)
            raise
        os.close(handle)
    raise OSError("the lock comes and goes")
