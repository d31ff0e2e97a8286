"""What the command line says beside its results: notices, progress; and what it does without."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np

from taction.cli import output

# ----- Notices and start ---------------------------------------------------------------------------------


def test_plain_values():
    value = {
        "a": np.float64("nan"),
        "b": [np.int64(3), float("inf")],
        "c": np.array([1.0, -np.inf]),
        "d": True,
    }
    assert output.plain(value) == {"a": None, "b": [3, None], "c": [1.0, None], "d": True}


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def test_compile_notice_on_a_terminal(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    notice = output.CompileNotice(is_cold=True)
    for kernel in ("place_links", "articulate"):
        notice(kernel)
    notice.close()
    assert f"compiling kernels, once per version: 2 of ~{output.EXPECTED_KERNELS} …" in terminal.text
    assert terminal.text.count("\n") == 1 and terminal.text.endswith("compiled 2 kernels in 0 s\n")


def test_compile_notice_in_a_file(capsys):
    notice = output.CompileNotice(is_cold=True)
    notice("place_links")
    notice("articulate")
    notice.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "taction: compiling kernels, once per version (about a minute) …"
    assert len(lines) == 2 and lines[1].startswith("taction: compiled 2 kernels")


def test_no_notice_when_nothing_compiles(capsys):
    output.CompileNotice(is_cold=False).close()
    assert capsys.readouterr().err == ""


def test_progress_bar_appears_on_a_terminal_only_when_a_run_takes_long(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    bar = output.ProgressBar(2.0, "double-pendulum")
    bar(0.0)
    assert bar.bar is None
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    bar(1.0)
    assert bar.bar is not None
    bar.close()
    assert "double-pendulum" in terminal.text


def test_nothing_heavy_is_imported_to_parse():
    code = "import sys, taction.cli.main; print(sorted({'rich', 'matplotlib'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_run_needs_neither_rich_nor_matplotlib():
    code = (
        "import sys; from taction.cli.main import main;"
        "main(['run', 'double-pendulum', '--duration', '0.01', '--json']);"
        "print(sorted({'rich', 'matplotlib'} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.endswith("[]\n")


def test_kernels_as_plain_python():
    """``TACTION_JIT=0`` runs the same command without a compiler, a few steps of it."""
    words = [sys.executable, "-m", "taction", "run", "double-pendulum", "--duration", "0.005", "--json"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "TACTION_JIT": "0"}
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 5
