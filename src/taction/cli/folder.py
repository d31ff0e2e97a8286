"""Output folders of commands: said to be bad before anything runs, and left without empty files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from taction._core.errors import BadInput
from taction._core.in_use import InUse


@contextmanager
def folder_for(out: Path, name: str) -> Iterator[Path]:
    """Make a folder, and a file of that name in it, before the block runs, so that a bad path costs no time.

    If the block fails or is interrupted before it writes the file, both go again; a folder that has anything
    in it stays. One in which another run writes is refused.
    """
    made = [place for place in (out, *out.parents) if not place.exists()]
    file = out / name
    try:
        out.mkdir(parents=True, exist_ok=True)
        in_use = InUse(out)
        file.touch()
    except OSError as error:
        raise BadInput(f"--out {out}: {error.strerror}") from None
    try:
        yield file
    except BaseException:
        with suppress(OSError):
            if file.stat().st_size == 0:
                file.unlink()
        in_use.release()
        with suppress(OSError):
            for place in made:
                place.rmdir()
        raise
    finally:
        in_use.release()
