"""Hostile names in pages and the live view: the short form of `tools/hostile_names.py`; what it finds."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from helpers import TOOLS, imported_program

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the tool has pseudo-terminals, which are POSIX's")


@pytest.fixture
def tool(monkeypatch, browser) -> Iterator[ModuleType]:
    """The tool, with the browser that is open already."""
    with imported_program(monkeypatch, TOOLS / "hostile_names.py") as found:
        pages = sys.modules["hostile_pages"]

        @contextmanager
        def opened():
            beacon = pages.Beacon()
            yield pages.Watch(browser, beacon), beacon
            beacon.close()

        monkeypatch.setattr(found, "watched_browser", opened)
        yield found


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<title>{0}</title><p>{0}</p>", id="text"),
        pytest.param('<title>x</title><p title="{0}">{0}</p>', id="attribute", marks=pytest.mark.long),
        pytest.param("<style>{0}</style><p>{0}</p>", id="style", marks=pytest.mark.long),
    ],
)
def test_a_page_that_takes_names_for_markup_is_found(tool, page, tmp_path):
    """Names that nobody made harmless: scripts run, things are asked for, elements appear."""

    def make(names, path):
        body = "".join(page.format(name.encode("utf-8", "replace").decode()) for name in names)
        path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{body}", encoding="utf-8")
        return path

    with tool.watched_browser() as (watch, beacon):
        for name in (
            f"</title></style>\"><img src='{beacon.address}'>",
            '</title></style>"><svg onload=window.__owned=1>',
        ):
            found = watch.compare(make, [name], tmp_path)
            assert found["executed"] and found["escapes"], name
        assert watch.compare(make, ["plain"], tmp_path) == {"executed": [], "escapes": [], "raw": []}


@pytest.mark.long
@pytest.mark.parametrize("part", ["pages", "pictures", "live"])
def test_no_name_is_more_than_text(tool, part, tmp_path):
    tally = tool.try_names(12, 5, [part], tmp_path)
    print(tally.table())
    assert tally.found == []
