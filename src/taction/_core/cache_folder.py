"""The folder for what is kept between runs: one that nobody else can write to, or none.

Compiled kernels lie there, and what lies there runs: whoever can write there acts as this user. So a folder
counts only if

* it is a folder of this user, no link, and nobody else may write to it;
* nobody else can put another in its place: everything on the way to it, links included, is this user's or the
  administrator's, and where others may write the sticky bit keeps them from moving what is not theirs.

A group that bears the user's name and has no other member is the user. Where a system does not tell users
apart, as Windows in this way, every folder counts.

Tried in turn: ``$TACTION_CACHE_DIR``, the user's cache folder (``$XDG_CACHE_HOME`` or ``~/.cache``), and a
folder of the user's in the temporary one. New folders have mode 0700. Where none of these counts a new folder
in the temporary one serves this process and goes with it; without room for that nothing is kept. A folder
that is there and does not count is named once, in a line to the logger ``taction``.
"""

from __future__ import annotations

import atexit
import errno
import logging
import os
import re
import shutil
import stat
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

log = logging.getLogger("taction")

VARIABLE = "TACTION_CACHE_DIR"
SHAPES = "shapes"  # folder of hulls and meshes
KERNELS = re.compile("[0-9a-f]{16}")  # names of folders of kernels, digests of their sources
MOST_LINKS = 40  # on the way to a folder, as systems have it
OTHERS, GROUP = stat.S_IWOTH, stat.S_IWGRP  # may write


def cache_root() -> Path | None:
    """The folder in which things are kept, made if need be; None if nothing can be kept."""
    given = os.environ.get(VARIABLE, "")
    return _root_of(given, tuple(os.environ.get(name, "") for name in ("XDG_CACHE_HOME", "HOME")))


@cache
def _root_of(given: str, _elsewhere: tuple[str, ...]) -> Path | None:
    for root in [given, *_usual_roots()] if given else _usual_roots():
        try:
            folder = Path(os.path.join(os.getcwd(), Path(root).expanduser()))
            make_private(folder)
            why = why_distrusted(folder)
        except RuntimeError:  # of `expanduser`
            why = "there is no such user" if root == given else ""
        except OSError as error:
            why = str(error.strerror or error) if root == given else ""
        else:
            if not why:
                return folder
        if why:
            log.warning("%s: %s, so nothing is kept there; remove it, or set %s", root, why, VARIABLE)
    return _of_this_process()


def _usual_roots() -> list[str]:
    """Folders of this user that are tried in turn."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    return [os.path.join(base, "taction"), os.path.join(tempfile.gettempdir(), f"taction-{user}")]


@cache
def _of_this_process() -> Path | None:
    """A new folder that goes with the process; helpers of it are told where it is."""
    try:
        folder = tempfile.mkdtemp(prefix="taction-")
    except OSError:
        return None
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def make_private(folder: Path) -> None:
    """Make a folder and what is missing above it, with mode 0700 whatever the process would give.

    Raises:
        OSError: that is not possible, or something else is there.
    """
    missing, there = [], folder
    while not os.path.lexists(there):
        missing.append(there)
        there = there.parent
    for new in reversed(missing):
        with suppress(FileExistsError):  # another process was first
            os.mkdir(new, 0o700)
    if not os.path.isdir(folder):
        raise NotADirectoryError(errno.ENOTDIR, "is no folder")


def why_distrusted(folder: Path) -> str:
    """Why others could change what lies in a folder, or ``""`` if they cannot."""
    if not hasattr(os, "geteuid"):
        return ""
    try:
        own = os.lstat(folder)
        if stat.S_ISLNK(own.st_mode):
            return "it is a link"
        if own.st_uid != os.geteuid():
            return "it belongs to another user"
        if _may_others_write(own):
            return "others may write to it"
        return _why_replaceable(folder)
    except OSError as error:
        return str(error.strerror or error)


def _why_replaceable(folder: Path) -> str:
    """Why others could put something else in the place of a folder, with its whole path, or ``""``."""
    trusted = {0, os.geteuid(), os.lstat("/").st_uid}  # the last is the administrator, of a container too
    done, left, links = Path("/"), list(folder.parts[1:-1]), 0
    while left:
        part = left.pop(0)
        if part == "..":
            done = done.parent
            continue
        done /= part
        status = os.lstat(done)
        if status.st_uid not in trusted:
            return f"{done} above it belongs to another user"
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > MOST_LINKS:
                return "too many links lead to it"
            target = Path(os.readlink(done))
            left = [*(p for p in target.parts if p != target.anchor), *left]
            done = Path("/") if target.is_absolute() else done.parent
            continue
        if _may_others_write(status) and not status.st_mode & stat.S_ISVTX:
            return f"others may write to {done} above it"
    return ""


def _may_others_write(status: os.stat_result) -> bool:
    """Whether somebody but the owner and the administrator may write to a folder."""
    if status.st_mode & OTHERS:
        return True
    return bool(status.st_mode & GROUP) and status.st_gid != 0 and not _is_own_group(status.st_gid)


@cache
def _is_own_group(number: int) -> bool:
    """Whether a group has the user's name, and no other member."""
    import grp
    import pwd

    try:
        name, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == name and set(group.gr_mem) <= {name}


def contents(root: Path) -> dict[str, list[Path]]:
    """What is kept in a folder: kernels, one folder per version of the sources, and shapes."""
    found: dict[str, list[Path]] = {"kernels": [], "shapes": []}
    with os.scandir(root) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                if KERNELS.fullmatch(entry.name):
                    found["kernels"].append(Path(entry.path))
                elif entry.name == SHAPES:
                    found["shapes"].append(Path(entry.path))
    return found


def sizes(root: Path) -> dict[str, int]:
    """How much is kept in a folder [bytes], by what it is."""
    return {
        what: sum(
            os.lstat(os.path.join(place, name)).st_size
            for folder in folders
            for place, _, names in os.walk(folder)
            for name in names
        )
        for what, folders in contents(root).items()
    }


def remove_contents(root: Path) -> None:
    """Remove what is kept in a folder; other things in it stay.

    Raises:
        OSError: something could not be removed.
    """
    for folders in contents(root).values():
        for folder in folders:
            shutil.rmtree(folder)
