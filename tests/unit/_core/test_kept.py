"""Arrays kept on disk: found again, made again where a file is missing, damaged or foreign, never needed."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from taction._core import kept as kept_module
from taction._core import sealed
from taction._core.cache_folder import SHAPES
from taction._core.kept import ENDING, kept, key_of
from taction._core.sealed import write_sealed

ARRAYS = [
    np.linspace(0.0, 1.0, 7).reshape(7, 1),
    np.arange(5, dtype=np.int32),
    np.zeros((0, 3)),
    np.array([3], dtype=np.int64),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, and nothing known of it."""
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(kept_module, "_written", {})
    return tmp_path / SHAPES


class Maker:
    """Makes the arrays, and counts how often."""

    def __init__(self, arrays=ARRAYS):
        self.arrays, self.times = arrays, 0

    def __call__(self):
        self.times += 1
        return self.arrays


def fits(arrays):
    return [a.dtype.kind for a in arrays] == ["f", "i", "f", "i"]


def same(found, wanted=ARRAYS):
    return all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_what_was_made_is_found_again(folder):
    make = Maker()
    for _ in range(3):
        assert same(kept("word-1", make, fits))
    assert make.times == 1
    assert [path.name for path in folder.iterdir()] == [f"word-1{ENDING}"]


def test_keys_tell_everything_apart():
    data = np.arange(6.0)
    versions = key_of("a", ("_core/kept.py",), ("1",), data), key_of("a", ("_core/kept.py",), ("2",), data)
    code = key_of("a", ("_core/names.py",), ("1",), data)
    shapes = key_of("a", (), (), data.reshape(2, 3)), key_of("a", (), (), data.reshape(3, 2))
    kinds = key_of("a", (), (), data), key_of("a", (), (), data.astype(np.float32)), key_of("b", (), (), data)
    splits = key_of("a", (), (), b"ab", b"c"), key_of("a", (), (), b"a", b"bc")
    keys = [*versions, code, *shapes, *kinds, *splits]
    assert len(set(keys)) == len(keys)
    assert key_of("a", (), (), data[::2]) == key_of("a", (), (), data[::2].copy())


def test_every_damaged_byte_is_noticed(folder):
    kept("word-1", Maker(), fits)
    path = folder / f"word-1{ENDING}"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        make = Maker()
        assert same(kept("word-1", make, fits)) and make.times == 1
        assert path.read_bytes() == whole  # mended
    for length in range(0, len(whole), 5):
        path.write_bytes(whole[:length])
        make = Maker()
        assert same(kept("word-1", make, fits)) and make.times == 1
    path.write_bytes(whole + b"\0")
    assert kept_module._read(path) is None
    path.write_bytes(whole)
    path.rename(folder / f"word-2{ENDING}")
    make = Maker()
    assert same(kept("word-2", make, fits)) and make.times == 1  # under another name it is another


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no line end",
        b"\n",
        b"{}\n",
        b"7\n",
        b"[7]\n",
        b'[["<f8", [99]]]\n',
        b'[["<f8", [-1]]]\n',
        b'[["<f8", "x"]]\n',
        b'[["|O", [0]]]\n',
        b'[["<c16", [0]]]\n',
        b'[["<f8", [0], 1]]\n',
        b'[["<f8", [1e300]]]\n',
    ],
)
def test_a_right_sum_over_something_else_is_no_file(folder, body):
    folder.mkdir(parents=True)
    body = body.ljust(64, b"\0")
    write_sealed(folder / f"word-1{ENDING}", body)
    make = Maker()
    assert same(kept("word-1", make, fits)) and make.times == 1


def test_what_does_not_fit_is_made_again(folder):
    kept("word-1", Maker([np.zeros(3)]), fits)
    make = Maker()
    assert same(kept("word-1", make, fits)) and make.times == 1
    assert same(kept("word-1", make, fits)) and make.times == 1


def test_what_is_found_cannot_be_changed(folder):
    kept("word-1", Maker(), fits)
    with pytest.raises(ValueError, match="read-only"):
        kept("word-1", Maker(), fits)[0][0] = 1.0


def refuse(*_, **__):
    raise OSError(errno.ENOSPC, "no space left on device")


@pytest.mark.parametrize("call", ["open", "replace", "mkdir"])
def test_without_room_nothing_is_kept(folder, monkeypatch, call):
    if call == "open":
        monkeypatch.setattr(sealed, "open", refuse, raising=False)
    elif call == "replace":
        monkeypatch.setattr(sealed.os, call, refuse)
    else:
        monkeypatch.setattr(kept_module, "make_private", refuse)
    make = Maker()
    for times in (1, 2):
        assert same(kept("word-1", make, fits)) and make.times == times
    assert not folder.exists() or list(folder.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    class Full:
        def __init__(self, *arguments):
            self.file = open(*arguments)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, data):
            self.file.write(data[:10])
            refuse()

    folder.mkdir(parents=True)
    monkeypatch.setattr(sealed, "open", Full, raising=False)
    make = Maker()
    assert same(kept("word-1", make, fits)) and make.times == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("place", ["root", "folder"])
def test_a_file_where_a_folder_should_be(tmp_path, monkeypatch, place):
    taken = tmp_path / "here" if place == "root" else tmp_path / "here" / SHAPES
    taken.parent.mkdir(exist_ok=True)
    taken.write_text("in the way")
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path / "here"))
    assert same(kept("word-1", Maker(), fits))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    make = Maker()
    for times in (1, 2):
        assert same(kept("word-1", make, fits)) and make.times == times
    folder.chmod(0o700)


def test_processes_at_once_find_the_same(tmp_path):
    """Each of them makes, writes and reads the same few names over and over, one damages them meanwhile."""
    code = """
import sys
import numpy as np
from taction._core.kept import kept
for n in range(60):
    k = n % 3
    wanted = np.full(4000, float(k))
    got = kept(f"word-{k}", lambda: [wanted], lambda arrays: len(arrays) == 1)
    assert np.array_equal(got[0], wanted)
    if sys.argv[1] == "0":
        path = __import__("pathlib").Path(sys.argv[2]) / f"word-{k}.kept"
        path.write_bytes(path.read_bytes()[:-7] + b"damaged")
"""
    environment = {**os.environ, "TACTION_CACHE_DIR": str(tmp_path), "TACTION_JIT": "0"}
    command = [sys.executable, "-c", code]
    started = [
        subprocess.Popen([*command, str(k), str(tmp_path / SHAPES)], env=environment) for k in range(3)
    ]
    assert [process.wait() for process in started] == [0, 0, 0]
    assert {path.suffix for path in (tmp_path / SHAPES).iterdir()} == {ENDING}


def test_the_longest_unused_go_first(folder, monkeypatch):
    monkeypatch.setattr(kept_module, "MOST_BYTES", 5000)
    now = time.time()
    for k in range(8):
        monkeypatch.setattr(kept_module, "_written", {})
        kept(f"word-{k}", Maker([np.zeros(100)]), len)  # 900 bytes each
        os.utime(folder / f"word-{k}{ENDING}", (now - 1000 + k, now - 1000 + k))
    monkeypatch.setattr(kept_module, "_written", {})
    kept("word-8", Maker([np.zeros(100)]), len)
    assert sorted(path.stem for path in folder.iterdir()) == [f"word-{k}" for k in (4, 5, 6, 7, 8)]


def test_what_was_not_used_for_long_goes(folder, monkeypatch):
    now = time.time()
    for name, days in (("old", 31), ("used", 2), ("new", 0)):
        kept(name, Maker(), fits)
        os.utime(folder / f"{name}{ENDING}", (now - days * 86400, now - days * 86400))
    (folder / "given-up.1-ab.part").write_bytes(b"half")
    (folder / "being-written.1-ab.part").write_bytes(b"half")
    os.utime(folder / "given-up.1-ab.part", (now - 7200, now - 7200))
    (folder / "notes.txt").write_text("someone else's")
    make = Maker()
    kept("used", make, fits)
    assert make.times == 0 and now - (folder / f"used{ENDING}").stat().st_mtime < 86400
    monkeypatch.setattr(kept_module, "_written", {})
    kept("another", Maker(), fits)
    names = {path.name for path in folder.iterdir()}
    assert names == {
        *(f"{name}{ENDING}" for name in ("used", "new", "another")),
        "notes.txt",
        "being-written.1-ab.part",
    }


def test_the_folder_is_not_tidied_at_every_turn(folder, monkeypatch):
    looked = []
    scandir = os.scandir
    monkeypatch.setattr(kept_module.os, "scandir", lambda path: looked.append(path) or scandir(path))
    for k in range(20):
        kept(f"word-{k}", Maker(), fits)
    assert len(looked) == 1
