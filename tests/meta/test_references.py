"""Citations in the sources lead to docs/references.md, and every algorithm has one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "taction"
REFERENCES = ROOT / "docs" / "references.md"

# [Key], [Key, Table 7.1] or [Key, Eq. (3); OtherKey]: a name and a year, or a name ending in Note or Report
# for documents without a date.
KEY = r"[A-Z][A-Za-z]+(?:(?:19|20)\d\d[a-z]?|Note|Report)"
CITATION = re.compile(rf"\[({KEY})(?:[,;][^\]]*)?\](?!\()")


def known_keys() -> list[str]:
    return re.findall(rf"^### ({KEY})$", REFERENCES.read_text(encoding="utf-8"), flags=re.MULTILINE)


def cited_keys(text: str) -> list[str]:
    return [key for match in CITATION.finditer(text) for key in re.findall(rf"\b{KEY}\b", match.group(0))]


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def algorithms() -> list[Path]:
    """Files of the folders that hold algorithms, if they define something public and are not plumbing."""
    folders = ("dynamics", "steppers", "solvers")
    files = (f for folder in folders for f in sorted((PACKAGE / folder).rglob("*.py")))
    return [f for f in files if f.name not in ("__init__.py", "products.py") and public_names(f)]


def public_names(path: Path) -> list[str]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return [
        n.name for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")
    ]


def test_citation_pattern():
    text = (
        "[Mirtich1996], [Featherstone2008, Table 7.1], [Ayit2015, Eq. (3.25); Mirtich1996], [CorrectionsNote]"
    )
    keys = ["Mirtich1996", "Featherstone2008", "Ayit2015", "Mirtich1996", "CorrectionsNote"]
    assert cited_keys(text) == keys
    assert cited_keys("force [N], x[Index], [m/s²], list[Array]") == []


def test_keys_are_unique():
    keys = known_keys()
    assert keys and len(keys) == len(set(keys))


def test_every_citation_exists():
    known = set(known_keys())
    missing = [
        f"{path.relative_to(ROOT)}: {key}"
        for path in sources()
        for key in cited_keys(path.read_text(encoding="utf-8"))
        if key not in known
    ]
    assert missing == []


@pytest.mark.parametrize("path", algorithms(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_every_algorithm_cites(path):
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert cited_keys(text), f"{path.relative_to(ROOT)} defines {public_names(path)} and cites nothing"
