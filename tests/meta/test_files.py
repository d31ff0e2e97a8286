"""Every Python file can be read in one sitting."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = 450  # aimed at: 400


def test_no_file_is_too_long():
    files = [path for room in ("src", "tests", "tools") for path in sorted((ROOT / room).rglob("*.py"))]
    lengths = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8").count("\n") for path in files}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}
