"""What the command line says beside its results: notices, progress; and what it does without."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np

from taction._core import jit_share
from taction.cli import output
from taction.cli.main import main
from taction.sim import examples

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
    """A bar with kernels done, of how many, and the time left; the second job counts on."""
    terminal, times = Terminal(), iter([0.0, 4.0, 5.0, 6.0, 7.0, 9.0])
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output.clock, "perf_counter", lambda: next(times))
    notice = output.CompileNotice()
    for step in [(0, 3, 0.0), (2, 3, 0.5), (3, 3, 1.0), (0, 1, 0.0), (1, 1, 1.0)]:
        notice(*step)
    notice.close()
    assert f"{'━' * 12}{'─' * 12}  2 of 3, about 4 s left" in terminal.text
    assert "3 of 4" in terminal.text
    assert terminal.text.count("\n") == 1 and terminal.text.endswith("compiled 4 kernels in 9 s\n")


def test_compile_notice_in_a_file(capsys, monkeypatch):
    """A line when it starts, now and then, and when it ends."""
    times = iter([0.0, 4.0, 12.0, 14.0, 15.0, 15.0])
    monkeypatch.setattr(output.clock, "perf_counter", lambda: next(times))
    notice = output.CompileNotice()
    for done in range(5):
        notice(done, 4, done / 4)
    notice.close()
    assert capsys.readouterr().err.splitlines() == [
        "taction: compiling 4 kernels, once per version …",
        "taction: compiled 2 of 4 kernels, about 12 s left",
        "taction: compiled 4 kernels in 15 s",
    ]


def test_no_notice_when_nothing_compiles(capsys):
    output.CompileNotice().close()
    assert capsys.readouterr().err == ""


def test_warm_up_counts_kernels(capsys, monkeypatch):
    """With one example, Lemke's method, in place of all."""
    monkeypatch.setattr(examples, "run_all", examples.solve_a_complementarity_problem)
    monkeypatch.setattr(jit_share, "start_helpers", lambda *_: [])
    monkeypatch.setattr(examples, "STEPS", [])
    assert main(["warm-up", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["kernels"] >= 2 and 0 <= first["compiled"] <= first["kernels"]
    assert first["seconds"] > 0 and os.path.isdir(first["folder"])
    assert main(["warm-up"]) == 0
    assert (
        f"{first['kernels']} kernels in {first['folder']}, 0 of them compiled now" in capsys.readouterr().out
    )


def test_a_bar_appears_on_a_terminal_only_when_a_run_takes_long(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    notice = output.RunNotice()
    notice("double-pendulum", 0.0, 2.0)
    assert terminal.text == ""
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    notice("double-pendulum", 1.0, 2.0)
    assert "double-pendulum  ━━━━━━━━━━━━────────────  1 of 2 s simulated" in terminal.text
    notice.close()
    assert terminal.text.endswith("\r\x1b[K")


def test_lines_about_a_long_run_in_a_file(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(output.clock, "perf_counter", lambda: now[0])
    notice = output.RunNotice()
    for second in range(31):
        now[0] = 100.0 + second
        notice("snake", 0.1 * second, 10.0)
    notice.say("next")
    now[0] = 140.0
    notice("snake", 0.0, 10.0)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "taction: snake 0.3 of 10 s simulated, about 97 s left"
    assert [line.split(",")[0] for line in lines[1:]] == [
        "taction: snake 1.4 of 10 s simulated",
        "taction: snake 2.5 of 10 s simulated",
        "taction: next",
    ]


def test_thousands_of_frames_are_counted_in_full(capsys, monkeypatch):
    monkeypatch.setattr(output, "EVERY", 0.0)
    monkeypatch.setattr(output, "LONG", 0.0)
    notice = output.RunNotice()
    notice("film.mp4", 0, 5000, "frames")
    notice("film.mp4", 1000, 5000, "frames")
    assert "film.mp4 1000 of 5000 frames" in capsys.readouterr().err.splitlines()[-1]


def test_a_word_about_a_long_preparation(capsys, monkeypatch):
    monkeypatch.setattr(output, "LONG", 0.01)
    notice = output.RunNotice()
    notice.prepare("preparing g1")
    assert notice.waits is not None
    notice.waits.join()
    notice.close()
    assert capsys.readouterr().err == "taction: preparing g1 …\n"


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


HOSTILE = "x\x1b]0;title\x07\x9b5m[magenta]red[/magenta][link=http://x]:skull:\u202e\nline"
SHOWN = "x\\x1b]0;title\\x07\\x9b5m[magenta]red[/magenta][link=http://x]:skull:\\u202e line"


def test_names_in_lines_and_tables_are_text(capsys):
    """Markup of Rich made colours and links of them, and ``taction list`` printed them as they were."""
    from rich.console import Console
    from rich.table import Table

    output.say(HOSTILE)
    table = Table(box=None, show_header=False, padding=0)
    table.add_row(output.cell(HOSTILE))
    Console(force_terminal=True, width=200).print(table)
    one, other = capsys.readouterr().out.splitlines()
    assert one == other.rstrip() == SHOWN


def test_a_name_in_a_bar_begins_no_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    notice = output.RunNotice()
    notice(HOSTILE, 0.0, 2.0)
    notice(HOSTILE, 1.0, 2.0)
    assert terminal.text.startswith(f"\r\x1b[Ktaction: {SHOWN}  ━") and "\n" not in terminal.text


def test_a_name_no_file_can_have_leaves_the_output_of_the_process_alone(capfd):
    assert main(["solve", "x" * 1000]) == 2
    print("still heard", flush=True)
    out, err = capfd.readouterr()
    assert out == "still heard\n" and err.count("\n") == 1
