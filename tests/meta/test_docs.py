"""The prose: folders and files it names exist, its links resolve, and it is about no particular machine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "taction"
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
TEXTS = [
    *PAGES,
    *sorted(PACKAGE.rglob("*.py")),
    *sorted((ROOT / "tools").rglob("*.py")),
    *(ROOT / name for name in ("mkdocs.yml", "pyproject.toml", ".pre-commit-config.yaml", ".ci/run")),
]

NAMED = re.compile(r"`([\w./-]+(?:/|\.py|\.toml|\.md))`")
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)", flags=re.MULTILINE)
MACHINE_PATH = re.compile(r"(?<![\w.~$}/])/(?:home|root|Users|work|tmp|mnt|opt|var)/\w")


def without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_architecture_names_what_exists():
    named = set(NAMED.findall((DOCS / "architecture.md").read_text(encoding="utf-8")))
    missing = [n for n in sorted(named) if not any((base / n).exists() for base in (PACKAGE, ROOT))]
    assert missing == []


def test_architecture_names_every_folder():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")}
    assert [f for f in sorted(folders) if f"`{f}/`" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_resolve(page):
    links = (a or b for a, b in LINK.findall(without_code(page.read_text(encoding="utf-8"))))
    targets = [link.split("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]
    assert [t for t in targets if not (page.parent / t).exists()] == []


@pytest.mark.parametrize("path", TEXTS, ids=name)
def test_no_machine_paths(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [f"line {i}: {line}" for i, line in enumerate(lines, 1) if MACHINE_PATH.search(line)] == []


def test_the_memory_page_is_up_to_date():
    tool = [sys.executable, str(ROOT / "tools" / "write_memory_page.py"), "--check"]
    assert subprocess.run(tool, check=False).returncode == 0, "run tools/write_memory_page.py"
