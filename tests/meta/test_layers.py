"""The layer contract of pyproject.toml: it holds, and no folder escapes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "taction"


def contracts() -> list[dict]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]["contracts"]


def layers() -> list[str]:
    rows = next(c["layers"] for c in contracts() if c["type"] == "layers")
    return [name.strip(" ()") for row in rows for name in row.split("|")]


def folders() -> set[str]:
    return {path.parent.name for path in PACKAGE.glob("*/*.py")}


def test_imports_go_one_way():
    run = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", run],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_folder_is_a_layer():
    listed = layers()
    assert len(listed) == len(set(listed)), "a layer is listed twice"
    assert folders() - set(listed) == set()


def test_every_folder_is_a_package():
    assert [f for f in sorted(folders()) if not (PACKAGE / f / "__init__.py").is_file()] == []
