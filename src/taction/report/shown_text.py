"""Text of strangers as pages and pictures show it: names of robots, files and events may be any text."""

from __future__ import annotations

from re import Match

from taction.model.check import UNSHOWN


def visible(text: str) -> str:
    """Text as a page can hold it: control characters, halves of one, what turns directions become escapes."""
    return UNSHOWN.sub(lambda found: found[0] if found[0] in "\n\t" else _escape(found), text)


def as_label(text: str) -> str:
    """Text as one line of matplotlib: a dollar begins no formula, and no legend leaves out an underscore."""
    shown = UNSHOWN.sub(_escape, text).replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown


def _escape(found: Match[str]) -> str:
    return ascii(found[0])[1:-1]
