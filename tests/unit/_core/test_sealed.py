"""Sealed files: whole, under their name, or not there; said once; nothing is followed, nothing blocks."""

import logging
import os
import stat

import pytest

from taction._core import sealed
from taction._core.sealed import BEGUN, read_sealed, write_sealed


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch):
    monkeypatch.setattr(sealed, "_told", set())


@pytest.fixture
def path(tmp_path):
    write_sealed(tmp_path / "a", b"what was written")
    return tmp_path / "a"


def change(path, how):
    if how == "empty":
        path.write_bytes(b"")
    elif how == "folder":
        path.unlink()
        path.mkdir()
        (path / "in it").touch()
    elif how == "link":
        path.rename(path.with_name("b"))
        path.symlink_to(path.with_name("b"))
    elif how == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif how == "name":
        path.unlink()
        write_sealed(path.with_name("b"), b"what was written")
        path.with_name("b").rename(path)


DAMAGES = (
    ["empty", "folder", "link", "pipe", "name"] if hasattr(os, "mkfifo") else ["empty", "folder", "name"]
)


def test_what_was_written_is_read(path):
    assert bytes(read_sealed(path)) == b"what was written"
    assert read_sealed(path.with_name("missing")) is None
    assert os.listdir(path.parent) == ["a"]
    with pytest.raises(TypeError):
        read_sealed(path)[0] = 1


@pytest.mark.parametrize("how", DAMAGES)
def test_what_is_damaged_is_missing_said_once_and_written_over(path, how, caplog):
    change(path, how)
    with caplog.at_level(logging.WARNING, "taction"):
        assert read_sealed(path) is None and read_sealed(path) is None
    (message,) = caplog.messages
    assert message.startswith(f"{path}: ") and message.endswith("is thrown away and made anew")
    write_sealed(path, b"anew")
    assert bytes(read_sealed(path)) == b"anew"
    assert stat.S_ISREG(os.lstat(path).st_mode)
    if how == "link":
        assert bytes(read_sealed(path.with_name("b")) or b"") == b""  # it has the sum of another name


def test_every_bit_counts(path):
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert read_sealed(path) is None
        path.write_bytes(whole[:at])
        assert read_sealed(path) is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners are those of POSIX")
def test_a_file_of_somebody_else_does_not_count(path, monkeypatch):
    real = os.fstat

    def strange(handle):
        status = real(handle)
        return os.stat_result((*status[:4], 54321, *status[5:]))

    monkeypatch.setattr(sealed.os, "fstat", strange)
    assert read_sealed(path) is None


def test_a_write_that_fails_leaves_what_was_there(path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sealed.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_sealed(path, b"anew")
    assert bytes(read_sealed(path)) == b"what was written"
    assert not [name for name in os.listdir(path.parent) if name.endswith(BEGUN)]
