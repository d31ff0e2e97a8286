"""A part of a page that is made of parts, each by a function that runs something."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Part(NamedTuple):
    """What a function gives to its page."""

    sections: list[tuple[str, str]]  # headings and ready content
    figures: dict[str, Any]
    violations: list[str]


def gather(parts: Iterable[Part]) -> tuple[dict[str, Any], list[str]]:
    """Figures by name, violations among them, and violations of all parts."""
    parts = list(parts)
    figures = {name: value for part in parts for name, value in part.figures.items()}
    failed = [text for part in parts for text in part.violations]
    return {**figures, "violations": failed}, failed
