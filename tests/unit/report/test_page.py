"""Text in pages: no markup, nothing that a page cannot hold or show."""

from __future__ import annotations

import numpy as np
import pytest

from taction.drawing.panels import Curve, Panel
from taction.report.page import escape, make_page, write_page
from taction.report.panel_pictures import panel_pictures
from taction.report.profiles import save_profiles

HOSTILE = (
    "half \ud800",
    "bytes \udc9b",
    "turned \u202egnp.exe",
    "line\u2028end",
    "bell \x07, \x1b[5m, \x9b5m",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_shown_becomes_an_escape(name):
    assert escape(name).isprintable() and escape(name).encode() and "\\" in escape(name)


def test_other_text_stays():
    for name in ("plain", "two\nlines\tand a tab", "ελληνικά, עברית, 👩‍🔬", "no\u00a0break"):
        assert escape(name) == name
    assert escape("<b a='\"&") == "&lt;b a=&#x27;&quot;&amp;"


def test_pages_with_such_names_are_written(tmp_path):
    """A half of a character, from a run file or from the name of a file, was an error of UTF-8."""
    title = " ".join(HOSTILE)
    write_page(tmp_path / "page.html", make_page(title, [], [])).read_text(encoding="utf-8")
    record = {"contacts": 1, "seconds": 1e-3, "iterations": 3, "residual": 1e-9, "status": title}
    records = [record | {"solver": title, "case": name, "solved": name != "a"} for name in ("a", *HOSTILE)]
    save_profiles(records, tmp_path)[1].read_text(encoding="utf-8")


def test_figures_with_such_names_are_drawn():
    pytest.importorskip("matplotlib")
    line = np.linspace(0.0, 1.0, 3)
    for name in HOSTILE:
        curves = [Curve(name, line, line), Curve(f"{name}'", line, line)]
        html = panel_pictures([Panel(name, name, curves, note=name, limit=(0.5, name))])
        assert html.count("<text") == html.count("</text") and html.encode()
