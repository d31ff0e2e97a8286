"""Names of metrics and parameters, which scripts use as keys, as a reader says them."""

from __future__ import annotations

import re

from taction.report.page import escape


def in_words(name: str) -> str:
    """A name in words: ``distance_x`` is a distance along x."""
    return re.sub(r" ([xyz])$", r" along \1", name.replace("_", " "))


def named_cell(name: str) -> str:
    """The cell of a table with a name in words; the name itself is what a pointer on it is told."""
    return f'<span title="{escape(name)}">{escape(in_words(name))}</span>'
