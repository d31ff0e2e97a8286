"""No circles: modules of one folder import each other one way, as the folders do (`test_layers`).

Every import counts, wherever it stands: at the top, inside a function, for a type checker only. An import in
a function postpones loading; it does not take two concepts apart that need each other.
"""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "taction"
FOLDERS = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))


def module_name(path: Path) -> str:
    parts = ("taction", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(text: str, known: set[str]) -> set[str]:
    """Which of the known modules a text imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, "imports are absolute"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (names & known) or {node.module}
    return found & known


def circle(texts: dict[str, str]) -> list[str]:
    """Modules that import each other in a circle, the first one again at the end; empty if there is none."""
    graph = {name: imported(text, set(texts)) - {name} for name, text in texts.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_folder_has_no_circle(folder):
    texts = {module_name(path): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert circle(texts) == []


def test_circles_are_found_wherever_the_import_stands():
    top = {"p.a": "import p.b", "p.b": "from p.c import x", "p.c": "from p import a"}
    inside = {"p.a": "def f():\n    from p.b import x", "p.b": "import p.a"}
    typed = {"p.a": "if TYPE_CHECKING:\n    from p.b import X", "p.b": "import p.a"}
    package = {"p": "from p.a import x", "p.a": "from p import y"}
    for texts in (top, inside, typed, package):
        assert set(circle(texts)) == set(texts)
    assert circle({"p.a": "import p.b, numpy", "p.b": "from p import nothing"}) == []
