"""Output folders of commands: said to be bad before anything runs, and left as they were if nothing comes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from taction._core.errors import BadInput
from taction._core.in_use import InUse
from taction._core.whole_file import require_writable


@contextmanager
def folder_for(out: Path, name: str) -> Iterator[Path]:
    """Make a folder for a file of that name before the block runs, so that a bad path costs no time.

    If the block fails or is interrupted before it writes anything, the folder goes again. One in which
    another run writes is refused.
    """
    made = [place for place in (out, *out.parents) if not place.exists()]
    file = out / name
    try:
        out.mkdir(parents=True, exist_ok=True)
        in_use = InUse(out)
    except OSError as error:
        raise BadInput(f"--out {out}: {error.strerror}") from None
    try:
        try:
            require_writable(file)
            tempfile.TemporaryFile(dir=out).close()
        except OSError as error:
            raise BadInput(f"--out {out}: {error.strerror}") from None
        yield file
    except BaseException:
        in_use.release()  # first: its file is in the folder
        with suppress(OSError):
            for place in made:
                place.rmdir()
        raise
    in_use.release()
