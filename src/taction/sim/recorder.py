"""`Recorder`: writes a run to a file while it runs, so that what was flushed survives a kill.

What a kill leaves. The file is in HDF5's single-writer-multiple-readers mode: the library orders its writes
so that the file is consistent at every moment. Rows are written and flushed first and counted in ``written``
afterwards, so whatever the counter says is there is there. A flush hands the bytes to the operating system:
they survive the end of the process at any instruction, not a loss of power.

Rows are written at least every `FLUSH_STEPS` steps and about every `FLUSH_SECONDS`, at the first call of
`Recorder.append` after either has passed; `taction.sim.engine.take_steps` calls it that often. The last
state's energies are measured, and replaced by those that the next step books.

One run at a time writes a file: another is refused. HDF5 ends the process where the disk is full in the
middle of what it writes, and looks without end for its data in a file that somebody else wrote over; so room
is kept ahead of every write, and a file that is no longer the one that was made ends the recording with one
line.

The layout is in `taction.sim.run_file`. A run that is over is written with the same class, at once.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import time as clock
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput, OutputError, one_line
from taction._core.in_use import InUse
from taction._core.whole_file import require_writable
from taction.model.model import Model
from taction.sim.description import pack
from taction.sim.run_file import (
    Dataset,
    column_names,
    content_digest,
    datasets,
    header,
    need_h5py,
    read_attributes,
    write_attributes,
)
from taction.sim.state import SimState

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.world import World

FLUSH_STEPS = 100
FLUSH_SECONDS = 0.25
END_OF_FILE = 28  # place of the address where the file ends (superblock, version 2 and 3)
CHUNK = 16384  # bytes of one chunk, about
ROOM = 1 << 19  # bytes that are kept free for chunks that are begun and for what HDF5 says about them


class Rows(NamedTuple):
    """Rows for the datasets of a file."""

    steps: int  # in the file with these
    contacts: int  # likewise
    data: dict[str, tuple[int, Array]]  # by name: the first row's number, and the rows

    def arrays(self) -> dict[str, Any]:
        """The rows alone, by name; of rows from the first step on, whole arrays."""
        return {name: rows for name, (_, rows) in self.data.items()}


class Source(Protocol):
    """What is recorded: a `taction.sim.engine.Course`."""

    taken: int  # steps so far

    def rows(self, first: int) -> Rows:
        """What the steps from ``first`` on left behind."""
        ...


class Recorder:
    """Appends the steps of a run to a file.

    Args:
        path: of the file; written over if it exists.
        model: what moves.
        dt: time step [s].
        rows: the start: what a source has before its first step; or a run that is over.
        world: what touches; without it the file has no records and no contacts.
        settings: scheme, law, solver and whatever else is worth an attribute of the file: text or numbers.
        is_live: whether others may read it while it is written, and it survives a kill.

    Raises:
        BadInput: h5py is not installed.
        OutputError: the file cannot be made, or another run writes it.
    """

    def __init__(
        self,
        path: str | Path,
        model: Model,
        dt: float,
        rows: Rows,
        *,
        world: World | None = None,
        settings: Mapping[str, Any] | None = None,
        is_live: bool = True,
    ) -> None:
        h5py = need_h5py()
        self.path = Path(path)
        self._done, self._contacts, self._flushed = 0, 0, clock.monotonic()
        self._waiting: Source | None = None
        self._end: dict[str, bytes] = {}
        self._spaces = h5py.h5s
        self._data: dict[str, Any] = {}
        self._length: dict[str, int] = {}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            require_writable(self.path)
            self._in_use = InUse(self.path)
            self.file = h5py.File(self.path, "w", libver="latest")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written ({error.strerror or one_line(error)})") from None
        self._size = 0  # of the file when it was last flushed
        about = header(model, dt, world, settings or {}) | {"h5py_version": h5py.__version__}
        description: Any = np.frombuffer(pack(model, world), dtype=np.uint8)
        self._reserve(description.nbytes)
        write_attributes(self.file, about)
        for name, dataset in datasets(model, world is not None).items():
            self._make(name, dataset)
        self._data["written"] = self.file.create_dataset("written", data=np.zeros(3, dtype=np.int64))
        if is_live:
            self.file.swmr_mode = True
        self._extend("description", description, 0)
        self._write(rows)

    def append(self, source: Source) -> None:
        """Take note of new steps; they reach the file when enough of them, or old enough ones, wait."""
        if source.taken < self._done:
            raise BadInput(f"{self.path}: step {source.taken} was recorded before")
        self._waiting = source
        is_late = clock.monotonic() - self._flushed >= FLUSH_SECONDS
        if is_late or source.taken - self._done >= FLUSH_STEPS:
            self.flush()

    def flush(self) -> None:
        """Write what waits, now.

        Raises:
            OutputError: the file was taken away or written over meanwhile.
        """
        self._require_own()
        self._flushed = clock.monotonic()
        if self._waiting is not None and self._waiting.taken > self._done:
            self._write(self._waiting.rows(self._done))

    def finish(self, summary: Mapping[str, Any], state: SimState, residuals: Array | None = None) -> None:
        """Say what came of the run: its summary, where it ended, in smooth motion the residuals (n + 1,)."""
        self._end = {"summary": json.dumps(summary).encode(), "state": state.to_bytes()}
        if residuals is not None:
            self._extend("motion", residuals, 0)

    def close(self, is_over: bool = True) -> None:
        """Write what waits and close the file; as one that was cut off, if the run is not over."""
        if not self.file:
            return
        try:
            self.flush()
            if is_over:
                self._end_file()
        finally:
            if self.file:
                self._close_file()
            self._in_use.release()

    def _close_file(self) -> None:
        """Close the file, and give back the space on the disk that was kept for it."""
        with open(os.dup(self.file.id.get_vfd_handle()), "r+b") as own:
            self.file.close()
            own.seek(END_OF_FILE)
            own.truncate(int.from_bytes(own.read(8), "little"))

    def _end_file(self) -> None:
        """Write what is known of a run that is over."""
        self._reserve(sum(map(len, self._end.values())))
        for name, data in self._end.items():
            self._extend(name, np.frombuffer(data, dtype=np.uint8), 0)
        there = {name: data for name, data in self._data.items() if name not in ("written", "digest")}
        about = {name: read_attributes(data) for name, data in there.items()} | {
            "": read_attributes(self.file)
        }
        self._extend("digest", content_digest(about, {name: data[()] for name, data in there.items()}), 0)
        self._commit(is_over=1)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write(self, rows: Rows) -> None:
        self._reserve(sum(array.nbytes for _, array in rows.data.values()))
        for name, (at, array) in rows.data.items():
            self._extend(name, array, at)
        self._done, self._contacts = rows.steps, rows.contacts
        self._commit()

    def _commit(self, is_over: int = 0) -> None:
        self.file.flush()
        written = self._data["written"]
        written.id.write(self._spaces.ALL, self._spaces.ALL, np.array([self._done, self._contacts, is_over]))
        written.id.flush()
        self._size = os.fstat(self.file.id.get_vfd_handle()).st_size

    def _require_own(self) -> None:
        """Stop where the file is no longer the one that was made, or shorter than it was.

        HDF5 would look for its own data in what somebody else wrote, again and again.
        """
        handle = self.file.id.get_vfd_handle()
        try:
            there, own = os.stat(self.path), os.fstat(handle)
            if os.path.samestat(there, own) and there.st_size >= self._size:
                return
        except OSError:
            pass
        self._abandon()
        raise OutputError(f"{self.path}: was moved, removed or written over while the run was recorded")

    def _reserve(self, size: int) -> None:
        """Have space on the disk for so many bytes more, with what HDF5 writes around them.

        HDF5 ends the process where the disk is full in the middle of what it writes.
        """
        handle, end = self.file.id.get_vfd_handle(), self.file.id.get_filesize() + size + ROOM
        if os.fstat(handle).st_size >= end:
            return
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle, 0, end)
            elif shutil.disk_usage(self.path.parent).free < size + ROOM:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):  # no file system for that
                return
            self._abandon()
            kept = f"; {self._done} steps are kept" if self._done else ""
            raise OutputError(f"{self.path}: {error.strerror}{kept}") from None

    def _abandon(self) -> None:
        """Close the file as it is: whatever HDF5 has left to write goes nowhere."""
        made = os.memfd_create("nowhere") if hasattr(os, "memfd_create") else os.open(os.devnull, os.O_RDWR)
        os.dup2(made, self.file.id.get_vfd_handle())
        os.close(made)
        with suppress(RuntimeError, OSError):
            self.file.close()
        self._in_use.release()

    def _extend(self, name: str, rows: Array, at: int) -> None:
        """Write rows from row ``at`` on; h5py's own slicing takes ten times as long."""
        if not len(rows):
            return
        dataset = self._data[name].id
        rows = np.ascontiguousarray(rows, dtype=self._data[name].dtype)
        end = at + len(rows)
        if self._length[name] < end:
            dataset.set_extent((end, *rows.shape[1:]))
            self._length[name] = end
        if not rows.size:  # a model without degrees of freedom
            return
        there = dataset.get_space()
        there.select_hyperslab((at, *[0] * (rows.ndim - 1)), rows.shape)
        dataset.write(self._spaces.create_simple(rows.shape), there, rows)

    def _make(self, name: str, dataset: Dataset) -> None:
        shape = dataset.shape
        rows = max(1, CHUNK // (8 * max(1, *shape))) if shape else CHUNK // 8
        made = self.file.create_dataset(
            name,
            (0, *shape),
            dataset.dtype,
            maxshape=(None, *(size or None for size in shape)),  # what has none may not say so
            chunks=(rows, *(max(1, s) for s in shape)),
        )
        write_attributes(made, column_names(dataset))
        self._data[name], self._length[name] = made, 0
