"""Run files, states and contact problems that a stranger made to do harm: HDF5 and zip archives.

Each trick is a function of a random generator, a whole file, and a folder elsewhere that nothing may read; it
writes the file again as the stranger would have it.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

Trick = Callable[[Random, Path, Path], None]

COUNTS = (2**24, 50_000_000, 2**31 - 1, 2**32, 2**40, 2**62)  # that no file of some kilobytes holds
SIZES = (2, 1000, 10**5, 10**6)
ODD = (float("nan"), float("inf"), -float("inf"), -1.0, 1e308, 5e-324, 2.0**53, -(2.0**62), 0.5)


def _datasets(tree: Any) -> list[str]:
    """Names of all datasets of an open file."""
    import h5py

    names: list[str] = []
    tree.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return names


def _in_place(change: Callable[[Random, Any, str, Path], None]) -> Trick:
    """A trick that puts something else in the place of a dataset, or beside it."""

    def trick(rng: Random, path: Path, elsewhere: Path) -> None:
        import h5py

        with h5py.File(path, "r+", libver="latest") as tree:
            name = rng.choice(_datasets(tree))
            if rng.random() < 0.15:
                name = name.rpartition("/")[0] + "/more"
            group, _, last = name.rpartition("/")
            parent = tree[group or "/"]
            if last in parent:
                del parent[last]
            change(rng, parent, last, elsewhere)

    trick.__name__ = change.__name__
    return trick


# ----- HDF5: what leads elsewhere --------------------------------------------------------------------------


@_in_place
def external_link(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    import h5py

    target = rng.choice(("secret.h5", "pipe", "secret", "nothing.h5", "secret.npz"))
    where = elsewhere / target if rng.random() < 0.7 else Path("..") / elsewhere.name / target
    group[name] = h5py.ExternalLink(str(where), rng.choice(("/x", "/", "/nothing", "x/../x")))


@_in_place
def soft_link(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    import h5py

    group[name] = h5py.SoftLink(rng.choice(("/t", "/q", f"/{name}", name, ".", "/nothing", "../../..")))


@_in_place
def external_storage(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    target = elsewhere / rng.choice(("secret", "pipe", "secret.h5"))
    pieces = [(str(target), rng.choice((0, 8)), 24)] * 2
    group.create_dataset(name, (6,), "f8", external=pieces)


@_in_place
def virtual(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    import h5py

    layout = h5py.VirtualLayout((7,), "f8")
    source = rng.choice((str(elsewhere / "secret.h5"), str(elsewhere / "pipe"), "."))
    layout[:] = h5py.VirtualSource(source, rng.choice(("x", "t")), (7,))
    group.create_virtual_dataset(name, layout)


@_in_place
def hard_link(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    """A group inside itself, or a table under another's name."""
    group[name] = group if rng.random() < 0.5 else group[rng.choice(list(group))]


# ----- HDF5: what claims more than there is ----------------------------------------------------------------


@_in_place
def unwritten(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    count = rng.choice(COUNTS[:5])
    chunks = rng.choice((None, (1,), (1000,), (2**20,)))
    group.create_dataset(name, (count,), rng.choice(("f8", "i4", "u1")), chunks=chunks)


@_in_place
def unwritten_width(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    shape = rng.choice(((2, 2**31), (0, 2**40), (2**20, 2**20), (1,) * 32, (2**16, 0, 2**16)))
    group.create_dataset(name, shape, "f8", chunks=(1,) * len(shape), maxshape=(None,) * len(shape))


@_in_place
def packed(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    """Zeros that take a thousandth of their room."""
    count = rng.choice((10**6, 10**7, 3 * 10**7, 6 * 10**7))
    filters = rng.choice(({"compression": "gzip"}, {"compression": "lzf"}, {"scaleoffset": 3}))
    made = group.create_dataset(name, (count,), "f8", chunks=(min(count, 10**6),), **filters)
    made[: min(count, 4 * 10**6)] = 0.0


@_in_place
def many_chunks(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    made = group.create_dataset(name, (10**9,), "u1", chunks=(1,))
    for k in range(rng.choice((10, 2000))):
        made[k * 1000] = 1


# ----- HDF5: what is no table ------------------------------------------------------------------------------


@_in_place
def odd_type(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    import h5py

    kinds = (
        h5py.string_dtype(), np.dtype("S1000"), h5py.ref_dtype, h5py.regionref_dtype, h5py.vlen_dtype("f8"),
        np.dtype([("a", "f8"), ("b", "S3")]), np.dtype(("f8", (3, 3))), h5py.enum_dtype({"A": 1}),
        np.dtype("c16"), np.dtype("V7"), np.dtype("f2"), np.dtype(">f8"), np.dtype("u8"), np.dtype("?"),
    )  # fmt: skip
    group.create_dataset(name, rng.choice(((), (0,), (7,), (7, 3))), rng.choice(kinds))


@_in_place
def odd_shape(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    import h5py

    if rng.random() < 0.2:
        group.create_dataset(name, data=h5py.Empty("f8"))
    else:
        shape = rng.choice(((), (0,), (1,), (7, 0), (0, 7), (1, 1, 1, 1), (3, 4), (10**5,)))
        group.create_dataset(name, shape, rng.choice(("f8", "i4", "i8")), fillvalue=rng.choice((0, 1, -1)))


@_in_place
def group_for_table(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    made = group.create_group(name)
    for k in range(rng.choice((0, 3, 12_000))):
        made.create_group(f"{k}")


@_in_place
def deep_groups(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    for _ in range(rng.choice((20, 2000))):
        group = group.create_group(name)


@_in_place
def long_name(rng: Random, group: Any, name: str, elsewhere: Path) -> None:
    odd = rng.choice(("\x1b]0;owned\x07", "\u202e", "x" * 60_000, "../../x", "\n" * 50))
    group[odd] = np.zeros(3)
    group[name] = np.zeros(3)


def odd_numbers(rng: Random, path: Path, elsewhere: Path) -> None:
    """Numbers of the right kind that no run and no problem has."""
    import h5py

    with h5py.File(path, "r+") as tree:
        for name in rng.sample(_datasets(tree), rng.choice((1, 1, 3))):
            table = tree[name]
            if not table.size or table.dtype.kind not in "iuf":
                continue
            numbers = table[()]
            if table.dtype.kind == "f":
                odd = rng.choice(ODD)
            else:
                odd = rng.choice((0, 1, 7, np.iinfo(table.dtype).max, np.iinfo(table.dtype).min))
            where = ... if rng.random() < 0.3 else tuple(rng.randrange(n) for n in table.shape)
            numbers[where] = odd
            table[...] = numbers


def odd_attribute(rng: Random, path: Path, elsewhere: Path) -> None:
    import h5py

    deep = "[" * 100_000
    values: tuple[Any, ...] = (
        deep, "\x1b[2J\x1b]0;owned\x07", "{", "null", "NaN", "9" * 30_000, '{"events": [[0, 1, 2]]}',
        float("nan"), 2**62, b"\xff\xfe", np.zeros(5000), np.zeros((3, 3)), h5py.Empty("f8"), "x" * 60_000,
        np.array(["a"] * 500, dtype=h5py.string_dtype()), True, -1, '{"steps": 1e999}',
    )  # fmt: skip
    with h5py.File(path, "r+", libver="latest") as tree:
        holder = tree if rng.random() < 0.7 else tree[rng.choice(_datasets(tree))]
        key = rng.choice([*list(tree.attrs), "more"])
        holder.attrs[key] = rng.choice(values)


def many_attributes(rng: Random, path: Path, elsewhere: Path) -> None:
    import h5py

    with h5py.File(path, "r+", libver="latest") as tree:
        for k in range(rng.choice((100, 3000))):
            tree.attrs[f"a{k}"] = "x" * 30


def forged_text(rng: Random, path: Path, elsewhere: Path) -> None:
    """A summary or a description that unpacks without end, nests without end, or is another's."""
    import h5py

    with h5py.File(path, "r+") as tree:
        named = [name for name in _datasets(tree) if tree[name].dtype.kind in "uSO" or "summary" in name]
        name = rng.choice(named or _datasets(tree))
        forged = rng.choice(
            (
                zlib.compress(bytes(rng.choice((10**6, 10**8, 3 * 10**8)))),
                zlib.compress(b"[" * 10**6),
                zlib.compress(b'{"array": "' + b"A" * 10**7 + b'", "shape": [99999999999], "dtype": "f8"}'),
                zlib.compress(b'{"is": "os.system", "with": ["echo"]}'),
                zlib.compress(b'{"enum": "subprocess.Popen", "name": "x"}'),
                b"[" * 10**6,
                b'{"events": ' + b"[" * 9000 + b"]" * 9000 + b"}",
                b'{"wall_s": ' + b"9" * 10**6 + b"}",
                b'{"certificate": {"residual": "x"}}',
                b'"\x1b]0;owned\x07"',
                b"",
                b"null",
            )
        )
        del tree[name]
        tree[name] = np.frombuffer(forged, np.uint8)


def forged_size(rng: Random, path: Path, elsewhere: Path) -> None:
    """Dimensions and addresses of the file's own tables, changed in its bytes."""
    data = bytearray(path.read_bytes())
    spots = [
        at
        for mark in (b"OHDR", b"TREE", b"SNOD", b"HEAP", b"BTHD", b"FADB", b"FRHP")
        for at in _all(data, mark)
    ]
    at = rng.choice(spots or [0])
    for _ in range(rng.choice((1, 3))):
        place = min(len(data) - 8, at + rng.randrange(4, 160))
        struct.pack_into(rng.choice(("<I", "<Q", "<H")), data, place, rng.choice((0, 1, 0xFFFF, 0x7FFF)))
    if rng.random() < 0.3:  # of these, the library believes what it may
        struct.pack_into("<Q", data, rng.randrange(16, 48), rng.choice(COUNTS))
    path.write_bytes(data)


def _all(data: bytearray, mark: bytes) -> list[int]:
    out, at = [], data.find(mark)
    while at >= 0:
        out.append(at)
        at = data.find(mark, at + 1)
    return out


def under_way(rng: Random, path: Path, elsewhere: Path) -> None:
    """A file whose writer is said to be at work, with wrong sums."""
    data = bytearray(path.read_bytes())
    data[8] = rng.choice((2, 3))
    data[11] = rng.choice((1, 4, 5, 255))
    if rng.random() < 0.5:
        from taction.sim.open_run_file import SUM, lookup3

        struct.pack_into("<I", data, SUM, lookup3(data[:SUM]))
    path.write_bytes(data)


# ----- Any file --------------------------------------------------------------------------------------------


def not_a_file(rng: Random, path: Path, elsewhere: Path) -> None:
    """What is no file, in the place of one."""
    path.unlink()
    put_no_file(rng, path, elsewhere)


def put_no_file(rng: Random, path: Path, elsewhere: Path) -> None:
    """Make a pipe, a folder, a file of holes, or a link to a device, to itself or to nothing."""
    which = rng.randrange(7)
    if which == 0:
        os.mkfifo(path)
    elif which == 1:
        path.mkdir()
    elif which == 2:
        with path.open("wb") as file:
            file.truncate(rng.choice((0, 10**6, 10**9, 2**40)))
    else:
        path.symlink_to(("/dev/zero", "/dev/stdin", path, elsewhere / "nothing")[which - 3])


HDF5: tuple[Trick, ...] = (
    external_link, soft_link, external_storage, virtual, hard_link, unwritten, unwritten_width, packed,
    many_chunks, odd_type, odd_shape, group_for_table, deep_groups, long_name, odd_numbers, odd_numbers,
    odd_attribute, odd_attribute, many_attributes, forged_text, forged_text, forged_size, under_way,
    not_a_file,
)  # fmt: skip


# ----- Archives --------------------------------------------------------------------------------------------


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def _header(text: str, numbers: bytes = b"") -> bytes:
    """An array in NumPy's format whose header says what it likes."""
    line = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + numbers


def _swap(forge: Callable[[Random], bytes], method: int = zipfile.ZIP_STORED) -> Trick:
    """A trick that forges one member, or adds one."""

    def trick(rng: Random, path: Path, elsewhere: Path) -> None:
        members = _members(path)
        members[rng.choice([*members, "more.npy", "../elsewhere/more.npy", "/more.npy"])] = forge(rng)
        _write(path, members, method)

    trick.__name__ = forge.__name__
    return trick


@_swap
def pickled(rng: Random) -> bytes:
    """What would run a program, if anybody unpickled it."""
    program = b"cos\nsystem\n(S'exit 7'\ntR."
    return rng.choice((program, _header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", program)))


@_swap
def claimed_shape(rng: Random) -> bytes:
    shape = rng.choice((f"({rng.choice(COUNTS)},)", "(-1,)", "(2, -3)", "(0, 99999999999)", "()", "(1,) * 9"))
    return _header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}", bytes(56))


@_swap
def odd_header(rng: Random) -> bytes:
    text = rng.choice(
        (
            "[" * 110, "{" * 110, "(" * 100, "9" * 110, "None", "1+" * 50 + "1", "'x' * 10**10",
            "__import__('os')",
            "{'descr': '<U99999999', 'fortran_order': False, 'shape': (1,)}",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<M8[s]', 'fortran_order': True, 'shape': (7,)}",
            "{'descr': '|V100000000', 'fortran_order': False, 'shape': (7,)}",
            "{'descr': '<f8', 'fortran_order': 7, 'shape': '7'}",
        )
    )  # fmt: skip
    return _header(text, bytes(56))


@_swap
def long_header(rng: Random) -> bytes:
    size = rng.choice((10**5, 10**7, 2**32 - 1))
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", size) + b"{" * min(size, 10**6)


@_swap
def odd_array(rng: Random) -> bytes:
    file = io.BytesIO()
    value = rng.choice((*ODD, "\x1b]0;owned\x07", "[" * 10_000, True, -(2**62)))
    np.save(file, np.full(rng.choice(((), (0,), (1,), (3, 3), (7, 0), (1,) * 20)), value))
    return file.getvalue()


def unpacks(rng: Random, path: Path, elsewhere: Path) -> None:
    """Zeros of many sizes, packed by every method that zip knows."""
    members = _members(path)
    file = io.BytesIO()
    np.save(file, np.zeros(rng.choice((10**5, 10**6, 10**7, 2 * 10**7))))
    for k in range(rng.choice((1, 4, 20))):
        members[f"x{k}.npy"] = file.getvalue()
    members = {name: content for k, (name, content) in enumerate(members.items()) if k < 12}
    _write(path, members, rng.choice((zipfile.ZIP_DEFLATED,) * 4 + (zipfile.ZIP_BZIP2,)))


def many_members(rng: Random, path: Path, elsewhere: Path) -> None:
    members = _members(path)
    one = rng.choice(list(members.values()))
    members.update({f"m{k}.npy": one[:200] for k in range(rng.choice((1000, 20_000)))})
    _write(path, members)


def forged_directory(rng: Random, path: Path, elsewhere: Path) -> None:
    """Sizes, places and methods in the list at the end, which need not be those of what is there."""
    data = bytearray(path.read_bytes())
    starts = _all(data, b"PK\x01\x02") or [0]
    for at in rng.sample(starts, min(len(starts), rng.choice((1, 3)))):
        place, form = rng.choice(((8, "<H"), (10, "<H"), (20, "<I"), (24, "<I"), (28, "<H"), (42, "<I")))
        value = rng.choice((0, 1, 7, 8, 12, 14, 99, 0xFFFF, 0x7FFF))
        struct.pack_into(
            form, data, at + place, value if form == "<H" else rng.choice((value, 2**32 - 1, 2**31))
        )
    path.write_bytes(data)


def overlapping(rng: Random, path: Path, elsewhere: Path) -> None:
    """Many names for the same packed bytes."""
    file = io.BytesIO()
    np.save(file, np.zeros(rng.choice((10**5, 10**6))))
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", file.getvalue())
    data = inner.getvalue()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    entry, last, count = data[start:end], bytearray(data[end:]), rng.choice((50, 1000))
    struct.pack_into("<HHI", last, 8, count, count, count * len(entry))
    path.write_bytes(data[:start] + entry * count + last)


def quoted_names(rng: Random, path: Path, elsewhere: Path) -> None:
    members = _members(path)
    for odd in ("../../x", "/etc/x", "a\x1b]0;owned\x07", "x" * 60_000, "con", "\n"):
        members[f"{odd}.npy"] = next(iter(members.values()))
    _write(path, members)


ARCHIVE: tuple[Trick, ...] = (
    pickled, claimed_shape, claimed_shape, odd_header, odd_header, long_header, odd_array, odd_array, unpacks,
    many_members, forged_directory, forged_directory, overlapping, quoted_names, not_a_file,
)  # fmt: skip
