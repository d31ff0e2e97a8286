"""Examples in the documentation run: Python blocks of every page, in order, and doctests of the sources.

A ``python`` block followed directly by a ``text`` block must print exactly that text. Blocks of a page share
their names and an empty working folder.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import itertools
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "taction"
LONG = ("snake.md", "walking.md", "predictive.md", "integrators.md")  # they take seconds, or compile for them

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n(\s*)", flags=re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    code: str
    output: str | None
    line: int


def examples(text: str) -> list[Example]:
    """Python blocks, each with the text block that follows it after blank lines only."""
    out: list[Example] = []
    blocks = list(BLOCK.finditer(text))
    for block, after in itertools.zip_longest(blocks, blocks[1:]):
        if block[1] == "python":
            follows = after is not None and after[1] == "text" and after.start() == block.end()
            out.append(
                Example(block[2], after[2] if follows else None, text[: block.start()].count("\n") + 2)
            )
    return out


def pages() -> list[Path]:
    return [
        p
        for p in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
        if p.exists() and examples(read(p))
    ]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=p.name, marks=[pytest.mark.long] if p.name in LONG else []) for p in pages()],
)
def test_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {"__name__": "example"}
    for example in examples(read(page)):
        # blank lines first, so that a traceback shows the line of the page
        code = compile("\n" * (example.line - 1) + example.code, str(page), "exec", dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if example.output is not None:
            assert printed.getvalue() == example.output, f"{page.name}, line {example.line}"


def modules_with_examples() -> list[str]:
    files = [f for f in sorted(PACKAGE.rglob("*.py")) if ">>>" in read(f)]
    return [
        ".".join(f.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__") for f in files
    ]


@pytest.mark.parametrize("module", modules_with_examples())
def test_doctest(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0 and result.failed == 0


def test_pages_that_promise_examples_have_them():
    promised = {"models.md", "dynamics.md", "integrators.md", "contact-problems.md", "add-a-solver.md"}
    assert promised <= {page.name for page in pages()}


def test_examples_are_found():
    text = "```python\nprint(1)\n```\n\n```text\n1\n```\n\nand\n\n```python\nx = 1\n```\n\nso\n"
    assert examples(text) == [Example("print(1)\n", "1\n", 2), Example("x = 1\n", None, 12)]
    assert examples("```python\nx = 1\n```\n\nso\n\n```text\n2\n```\n") == [Example("x = 1\n", None, 2)]
