"""Damaged files of every kind: refused by a clear line or read; the short form of `tools/damage_files.py`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import taction as ta
from helpers import TOOLS, imported_program


@pytest.fixture
def tool(monkeypatch) -> Iterator[ModuleType]:
    with imported_program(monkeypatch, TOOLS / "damage_files.py") as found:
        yield found


@pytest.mark.long
def test_damaged_files_are_refused_or_read(tool, tmp_path):
    from damage_samples import KINDS

    findings = tool.search(40 * len(KINDS), 7, list(KINDS), tmp_path)
    assert [str(finding) for finding in findings if finding.outcome not in tool.GOOD] == []
    for kind in KINDS:  # damage is done, and not all of it is fatal
        outcomes = [finding.outcome for finding in findings if finding.kind == kind]
        assert outcomes.count("refused") >= 10, kind


def test_the_files_follow_from_the_seed(tool, tmp_path):
    one, two, other = (
        tool.Forge("urdf", tmp_path / name, seed) for name, seed in (("a", 3), ("b", 3), ("c", 4))
    )
    files = [[forge.file(k)[0].read_bytes() for k in range(20)] for forge in (one, two, other)]
    assert files[0] == files[1] != files[2]
    assert len(set(files[0])) > 15


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (ta.BadInput("one line"), "refused"),
        (ta.BadInput("two\nlines"), "wrong"),
        (ta.BadInput(" "), "wrong"),
        (KeyError("x"), "wrong"),
        (RuntimeWarning("overflow"), "wrong"),
        (ta.UnsupportedFeatureWarning("left out"), "read"),
    ],
)
def test_what_counts_as_what(tool, raised, outcome):
    def read(path):
        if isinstance(raised, Warning):
            warnings.warn(raised, stacklevel=1)
        else:
            raise raised

    assert tool.judge(read, Path("file"))[0] == outcome


def test_a_reader_that_hangs_or_dies_is_found(tool, tmp_path, monkeypatch):
    """Workers that never answer, and that are gone."""
    worker = tool.Worker()
    asleep = "import time; print('ready', flush=True); input(); time.sleep(60)"
    gone = "print('ready', flush=True); input(); raise SystemExit(3)"
    for program, outcome in ((asleep, "late"), (gone, "crash")):
        start = tool.subprocess.Popen
        monkeypatch.setattr(
            tool.subprocess,
            "Popen",
            lambda _, p=program, s=start, **pipes: s([sys.executable, "-c", p], **pipes),
        )
        assert worker.read("urdf", tmp_path / "x", 0.05)[0] == outcome
        monkeypatch.setattr(tool.subprocess, "Popen", start)
    worker.close()
