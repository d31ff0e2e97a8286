"""What is no plain file, or would take too much memory, is refused before it is opened or read."""

import os

import pytest

from taction._core.errors import BadInput
from taction._core.plain_file import USUAL, VARIABLE, Room, most_bytes, read_plain, room_of

NEEDS_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are those of POSIX")


def make_pipe(path):
    os.mkfifo(path)


def link_to_endless_device(path):
    path.symlink_to("/dev/zero")


@NEEDS_PIPES
@pytest.mark.parametrize("make", [make_pipe, link_to_endless_device])
@pytest.mark.parametrize("look", [lambda path: read_plain(path, 1), room_of])
def test_what_never_ends_is_no_file(tmp_path, make, look):
    make(tmp_path / "file")
    with pytest.raises(BadInput, match=r"^is no plain file$"):
        look(tmp_path / "file")


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "no", 1)
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path, 1)
    with pytest.raises(BadInput, match=r"^no such file$"):
        room_of("a\0b")


def test_size_counts_before_a_byte_is_read(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"x" * 100)
    monkeypatch.setenv(VARIABLE, "400")
    assert read_plain(tmp_path / "file", 4) == b"x" * 100
    monkeypatch.setenv(VARIABLE, "399")
    with pytest.raises(BadInput, match=r"0\.0004 MB of memory, .* set TACTION_MOST_BYTES=4\.4e\+02$"):
        read_plain(tmp_path / "file", 4)


def test_holes_give_no_room(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1e5")
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(BadInput, match=r"would take 1e\+03 MB"):
        room_of(tmp_path / "holes")
    (tmp_path / "whole").write_bytes(os.urandom(10**6))
    assert room_of(tmp_path / "whole") >= 10**6  # a large file may be read as it is


def test_all_meshes_share_their_room(monkeypatch):
    monkeypatch.setenv(VARIABLE, "100")
    room = Room()
    room.take(20)
    with pytest.raises(BadInput, match="with the meshes before it"):
        room.take(20)


@pytest.mark.parametrize("text", ["many", "-1", "0", "nan", "inf", "1e30"])
def test_a_limit_must_be_a_number_of_bytes(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(BadInput, match=f"^{VARIABLE}='{text}' must be a number of bytes"):
        most_bytes()


def test_the_usual_limit_holds_without_one(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert most_bytes() == USUAL
    monkeypatch.setenv(VARIABLE, "")
    assert most_bytes() == USUAL
