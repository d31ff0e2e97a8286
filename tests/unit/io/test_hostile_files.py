"""Files that mean harm: refused or read, in time, within bounds; short for `tools/hostile_files.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from helpers import TOOLS, imported_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify and /proc are Linux's")


@pytest.fixture
def tool(monkeypatch) -> Iterator[ModuleType]:
    with imported_program(monkeypatch, TOOLS / "hostile_files.py") as found:
        yield found


@pytest.mark.long
def test_hostile_files_are_refused_or_read(tool, tmp_path):
    findings = tool.search(300, 5, tmp_path / "files")
    assert [str(finding) for finding in findings if finding.outcome not in tool.GOOD] == []
    outcomes = [finding.outcome for finding in findings]
    assert min(outcomes.count("refused"), outcomes.count("read")) > 30  # not all of it is harm


def test_small_hostile_files_are_refused_or_read(tool, tmp_path):
    tricks = ("entities", "named_file", "odd_values", "external_link", "claimed_shape", "forged_text", "msh")
    findings = tool.search(24, 3, tmp_path / "files", tricks)
    assert [str(finding) for finding in findings if finding.outcome not in tool.GOOD] == []


def test_a_file_elsewhere_that_is_opened_is_seen(tool, tmp_path):
    (tmp_path / "secret").write_text("x")
    watch = tool.Watch(tmp_path)
    assert watch.opened() == ""
    (tmp_path / "secret").read_text()
    assert watch.opened() == "secret"
    assert watch.opened() == ""


def test_memory_is_counted_anew(tool, tmp_path):
    """A worker that takes 300 MB for a file shows them, and not for the next."""
    from damage_files import Worker

    worker = Worker()
    program = (
        "import sys\nprint('ready', flush=True)\nfor line in sys.stdin:\n"
        "    x = bytearray(int(line.split()[0])); x[::4096] = b'1' * len(x[::4096]); del x\n"
        '    print(\'["read", ""]\', flush=True)\n'
    )
    start = worker._running.__globals__["subprocess"].Popen
    worker._process = start([sys.executable, "-c", program], stdin=-1, stdout=-1)
    worker._line(60.0)
    try:
        worker.read(str(300_000_000), Path("x"), 60.0)
        assert worker.peak() > 300_000_000
        worker.forget_peak()
        worker.read("1000", Path("x"), 60.0)
        assert worker.peak() < 300_000_000
    finally:
        worker.close()
