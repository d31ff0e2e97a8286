"""A page of HTML that stands alone: sections, tables, pictures; no network, no other file.

Pictures are SVG inside the page: their colours are variables of its style sheet
(`taction.report.page_style`), so that they follow the reader's light or dark theme, and their text is text.
Figures are narrow, two beside each other on a wide screen and one on a phone.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from taction._core.expect import as_path
from taction._core.whole_file import written_whole
from taction.report.overview import COLOURS, GRID, INK, LIMIT, SOFT
from taction.report.page_style import STYLE_SHEET
from taction.report.shown_text import visible

FIGURE_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "path.simplify_threshold": 0.3,
}
VARIABLES = {INK: "var(--ink)", SOFT: "var(--soft)", GRID: "var(--grid)", LIMIT: "var(--bad)"} | {
    colour: f"var(--c{k})" for k, colour in enumerate(COLOURS)
}

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1>{badge}</header>
{body}
<footer>{footer}</footer>
</body>
</html>
"""


class Key(NamedTuple):
    """A line of a legend."""

    name: str
    colour: str
    line: str = "solid"


def make_page(title: str, parts: Iterable[str], failed: Sequence[str] | None) -> str:
    """A page of ready parts, with a badge that says how many checks failed; None: nothing was checked."""
    kind, word = ("bad", f"{len(failed)} failed") if failed else ("good", "all checks passed")
    badge = "" if failed is None else f'<span class="badge {kind}">{word}</span>'
    return PAGE.format(
        title=escape(title),
        style=STYLE_SHEET,
        badge=badge,
        body="\n".join(parts),
        footer=footer(),
    )


def make_bare_page(title: str, parts: Iterable[str], style: str = "") -> str:
    """A page of ready parts and nothing else, with more rules of style."""
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
    )
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}<title>{escape(title)}</title>'
        f"<style>{STYLE_SHEET}{style}</style></head><body>{''.join(parts)}</body></html>"
    )


def write_page(path: str | Path, page: str) -> Path:
    """Write a page, its folder too if need be; returns its path."""
    path = as_path(path)
    with written_whole(path, with_folder=True) as begun:
        begun.write_text(page, encoding="utf-8")
    return path


def section(title: str, content: str) -> str:
    """A part of a page under its heading; the content is ready."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def footer() -> str:
    """What made the page."""
    import platform
    import sys

    version = getattr(sys.modules["taction"], "__version__", "")
    return escape(f"taction {version}, NumPy {np.__version__}, Python {platform.python_version()}")


def definitions(values: Mapping[str, Any]) -> str:
    """Names and values; those without a value are left out."""
    items = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>"
        for key, value in values.items()
        if value is not None and value != ""
    )
    return f"<dl>{items}</dl>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table of ready cells; columns in ``numbers`` are aligned as numbers.

    On a phone a table of words alone becomes a list, each cell under the name of its column. One with
    numbers, which are compared along a column, is moved sideways, with a shadow where it goes on.
    """
    is_prose = any(head) and not numbers
    kind = [' class="n"' if k in numbers else "" for k in range(len(head))]
    label = [f' data-column="{escape(cell)}"' if is_prose and cell else "" for cell in head]
    top = "".join(f"<th{c}>{escape(cell)}</th>" for c, cell in zip(kind, head, strict=True))
    start = [f"<td{c}{name}>" for c, name in zip(kind, label, strict=True)]
    body = "\n".join(
        "<tr>" + "".join(f"{begin}{cell}</td>" for begin, cell in zip(start, row, strict=True)) + "</tr>"
        for row in rows
    )
    head_row = f"<thead><tr>{top}</tr></thead>" if any(head) else ""
    look = "wide prose" if is_prose else "wide"
    return f'<div class="{look}"><table>{head_row}<tbody>\n{body}\n</tbody></table></div>'


def picture(figure: Any, name: str, *, keys: Iterable[Key] = (), note: str = "") -> str:
    """A matplotlib figure as a figure of the page, with its legend and a note in HTML."""
    below = f'<p class="note">{escape(note)}</p>' if note else ""
    caption = f"<figcaption>{escape(name)}</figcaption>"
    return f"<figure>{caption}{legend(keys)}{inline_svg(figure, name)}{below}</figure>"


def drawn(
    draw: Callable[[Any], None],
    name: str,
    size: tuple[float, float] = (4.8, 2.6),
    keys: Iterable[Key] = (),
) -> str:
    """A figure of the page of that size [inch] that a function draws on its one pair of axes."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(FIGURE_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots())
    return picture(figure, name, keys=keys)


def beside(figures: Iterable[str]) -> str:
    """Figures beside each other, as many as fit."""
    return f'<div class="figures">{"".join(figures)}</div>'


def legend(keys: Iterable[Key]) -> str:
    """What the lines of a figure mean; nothing if there is nothing to say."""
    spans = "".join(
        f'<span><i style="border-top: 2px {key.line} {VARIABLES.get(key.colour, key.colour)}"></i>'
        f"{escape(key.name)}</span>"
        for key in keys
    )
    return f'<div class="keys">{spans}</div>' if spans else ""


def inline_svg(figure: Any, name: str) -> str:
    """A matplotlib figure as an SVG element for the page: its colours follow the theme, its text is text."""
    import matplotlib

    memory = io.StringIO()
    with matplotlib.rc_context({**FIGURE_STYLE, "svg.hashsalt": visible(name)}):
        figure.savefig(memory, format="svg", metadata={"Date": None, "Creator": None})
    text = memory.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # nobody refers to groups, and names repeat between pictures
    text = re.sub(r'(<svg[^>]*?) (width|height)="[^"]*"', r"\1", text)
    text = re.sub(r'(<svg[^>]*?) (width|height)="[^"]*"', r"\1", text)
    text = text.replace("<svg", f'<svg role="img" aria-label="{escape(name)}"', 1)
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, variable)
    return text


def escape(value: Any) -> str:
    """A value as text that is no markup."""
    return html.escape(visible(str(value)))
