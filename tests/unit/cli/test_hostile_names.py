"""Hostile names on a terminal: the short form of `tools/hostile_names.py`, and what it would find."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

import pytest

import taction as ta
from helpers import TOOLS, imported_program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX's")


@pytest.fixture
def tool(monkeypatch) -> Iterator[ModuleType]:
    with imported_program(monkeypatch, TOOLS / "hostile_names.py") as found:
        yield found


def test_the_names_follow_from_the_seed_and_are_of_all_kinds(tool):
    from hostile_words import LONGEST, NOWHERE, plain_names

    names = tool.hostile_names(300, 3)
    assert names == tool.hostile_names(300, 3) != tool.hostile_names(300, 4)
    assert len(set(names)) == 300 and max(map(len, names)) == LONGEST
    assert set(plain_names(NOWHERE)) < set(names)


def test_names_fit_files_and_command_lines(tool, tmp_path):
    from hostile_words import as_file_name

    for name in tool.hostile_names(250):
        assert b"\0" not in os.fsencode(tool.as_word(name))
        (tmp_path / as_file_name(name, ".txt")).write_text("x")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("plain text, ünïcode\r\n\x1b[1;31mred\x1b[0m\r\x1b[Ka bar\r\r\n", 0),
        ("\x1b[5mblinks", 1),
        ("\x1b]0;title\x07", 2),
        ("\x9b5m", 1),
        ("seen\rhidden", 1),
        ("\x1b[2J", 1),
        ("\u202egnp", 1),
        ("a\x08", 1),
    ],
)
def test_what_a_terminal_may_get(tool, text, count):
    assert len(tool.unknown_bytes(text)) == count


def test_what_counts_as_what(tool):
    def act(what):
        if isinstance(what, Warning):
            warnings.warn(what, stacklevel=1)
        else:
            raise what

    assert tool.judge(act, ta.BadInput("one \x1b[5mline"))[1:] == (
        "one \\x1b[5mline",
        {"escapes": [], "raw": []},
    )
    assert tool.judge(act, ta.OverlapWarning("\x1b[5m"))[2] == {"escapes": [], "raw": []}
    assert tool.judge(act, ta.BadInput("two\nlines"))[2]["raw"] == ["two\nlines"]
    assert tool.judge(act, KeyError("x"))[2]["raw"][0].startswith("KeyError: 'x' at ")


def test_escapes_on_a_terminal_are_found(tool, tmp_path):
    """A program that writes names as they are."""
    name = "\x1b]0;title\x07 and \x1b[5mblinks"
    text = tool.read_terminal([sys.executable, "-c", f"print({name!r})"], tmp_path)
    assert tool.unknown_bytes(text)[0].startswith("\x1b]0;title")


@pytest.mark.long
def test_no_name_moves_the_cursor(tool, tmp_path):
    tally = tool.try_names(8, 5, ["terminal"], tmp_path)
    print(tally.table())
    assert tally.found == []
    assert sum(row["names"] for row in tally.counts.values()) > 300
