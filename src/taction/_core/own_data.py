"""HDF5 files of strangers: only what is in the file itself, and no more of it than it can hold.

HDF5 has three ways to other files: links, external storage and virtual datasets. Whoever follows them reads
files of this machine because a stranger asked for it, and waits for ever at a pipe. It has two ways to take
memory that the file does not hold: datasets that were never written, which read as zeros, and filters, which
unpack. So before anything is read, every object is looked at: links must be hard, datasets stored in the
file, and the bytes that they claim must be there, but for `SLACK`. All of them together, packed or not, may
take what `taction._core.plain_file.room_of` allows.

References: The HDF Group, *HDF5 File Format Specification*, version 3.0.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taction._core.errors import BadInput
from taction._core.plain_file import room_of, too_large

SLACK = 1_000_000  # bytes that a file cut off by a kill may claim and not have
MOST_OBJECTS, DEEPEST = 10_000, 16  # with their attributes in a file, and of groups in each other


def require_own_data(file: Any, path: str | Path, *, may_pack: bool = False) -> None:
    """Look at every object of an open file, before anything is read.

    Args:
        file: from h5py.
        path: where it is.
        may_pack: whether datasets may have filters.

    Raises:
        BadInput: something leads out of the file, or claims more than there is.
    """
    import h5py

    left, count, claimed, missing, room = [(file, 0)], len(file.attrs), 0, 0, room_of(path)
    while left:
        group, depth = left.pop()
        for name in group:
            count += 1
            if count > MOST_OBJECTS or depth > DEEPEST:
                raise BadInput(
                    f"more than {MOST_OBJECTS} objects and attributes, or groups deeper than {DEEPEST}"
                )
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                raise BadInput(f"{name!r} is a link, which is not followed")
            item = group[name]
            count += len(item.attrs)
            if isinstance(item, h5py.Group):
                left.append((item, depth + 1))
            elif isinstance(item, h5py.Dataset):
                more, absent = _claimed(item, name, may_pack)
                claimed, missing = claimed + more, missing + absent
            if missing > SLACK:
                raise BadInput(f"{name!r} claims {missing:.3g} bytes more than there are")
            if claimed > room:
                raise BadInput(too_large(claimed))


def _claimed(data: Any, name: str, may_pack: bool) -> tuple[int, int]:
    """Bytes that a dataset takes when it is read, and how many of them nobody wrote."""
    if data.external or data.is_virtual:
        raise BadInput(f"{name!r} is stored in another file, which is not read")
    claimed, stored = data.size * data.dtype.itemsize if data.size else 0, data.id.get_storage_size()
    if data.dtype.hasobject:
        raise BadInput(f"{name!r} holds {data.dtype}, no numbers and no text of a fixed length")
    is_packed = data.id.get_create_plist().get_nfilters() > 0
    if is_packed and not may_pack:
        raise BadInput(f"{name!r} is packed, which run files are not")
    return int(claimed), 0 if is_packed else max(0, int(claimed - stored))
