"""Hostile words, files and contents on a terminal: commands run on a pseudo-terminal, whose bytes are read.

One process on the terminal runs the commands of many names one after the other, as starting it anew for
each would take hours; a few are run as processes of their own. Between commands it writes a line of its own.
What a command may write besides text is in `hostile_tally.COLOURS`; an error that is not taction's own is
written as a line that begins with `RAW`.

Usage inside: ``python tools/hostile_terminal.py CASES.json``.
"""

from __future__ import annotations

import json
import os
import pty
import select
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any, NamedTuple

ROWS, COLUMNS = 40, 160
PATIENCE = 180.0  # without a byte [s]
BETWEEN, RAW = "@@@ case ", "@@@ raw "


class Case(NamedTuple):
    """A command, or an act of `ACTS`, and the ways that its name goes."""

    way_in: str
    way_out: str
    words: list[str]


def read_terminal(command: Sequence[str], folder: Path, until: str = "", **environment: str) -> str:
    """Everything that a command in a folder writes on its terminal; interrupted when it says ``until``.

    Raises:
        TimeoutError: it was silent for too long.
    """
    near, far = pty.openpty()
    ioctl(far, TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    about = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    process = subprocess.Popen(
        command, stdin=far, stdout=far, stderr=far, env=about, cwd=folder, start_new_session=True
    )
    os.close(far)
    data, heard = b"", time.monotonic()
    try:
        while True:
            if select.select([near], [], [], 1.0)[0]:
                try:
                    piece = os.read(near, 1 << 16)
                except OSError:  # the other end was closed
                    break
                if not piece:
                    break
                data, heard = data + piece, time.monotonic()
                if until and until.encode() in data:
                    process.send_signal(2)
                    until = ""
            elif time.monotonic() - heard > PATIENCE:
                raise TimeoutError(f"{' '.join(command)[:80]} is silent: {data[-500:]!r}")
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        os.close(near)
    return data.decode("utf-8", "backslashreplace")


def run_cases(cases: Sequence[Case], folder: Path) -> Iterator[tuple[Case, str]]:
    """What each case writes on the terminal."""
    plan = folder / "cases.json"
    plan.write_text(json.dumps(cases), encoding="utf-8")
    text = read_terminal([sys.executable, str(Path(__file__).resolve()), str(plan)], folder)
    parts = text.split(BETWEEN)
    heads = [part.partition("\r\n")[0] for part in parts[1:]]
    if heads != [str(k) for k in range(len(cases))]:
        raise RuntimeError(f"the terminal got {len(heads)} of {len(cases)} cases: {parts[-1][-500:]!r}")
    for case, part in zip(cases, parts[1:], strict=True):
        yield case, part.partition("\r\n")[2]


# ----- In the process on the terminal --------------------------------------------------------------------


def _load(words: list[str]) -> None:
    """Load a model, as a script does: errors and warnings are shown as Python shows them."""
    import taction as ta

    ta.load_mjcf(words[0]) if "<mujoco" in words[0] else ta.load_urdf(words[0])


def _show(words: list[str]) -> None:
    """What objects of a run file say of themselves."""
    import taction as ta

    run = ta.load_run(words[0])
    print(run, run.as_run(), run.model, run.world, run.contacts, run.sensors, run.certificate, run.energy)


def _progress(words: list[str]) -> None:
    """The bar of a long run, and its lines."""
    from taction.cli.output import RunNotice

    notice = RunNotice()
    for time_ in (0.0, 1.0, 2.0):
        notice(words[0], time_, 2.0)
        notice.drawn = notice.begin = 0.0
    notice.say(words[0])


def _play(words: list[str]) -> None:
    """Run a scenario that is called like this, and whose metrics and answers are."""
    from taction.cli.main import main
    from taction.scenarios import GROUPS

    GROUPS["hostile"] = (words[1],)
    with suppress(SystemExit):
        main([words[0], *words[1:]])
    del GROUPS["hostile"]


ACTS: dict[str, Callable[[list[str]], None]] = {
    "load": _load,
    "show": _show,
    "progress": _progress,
    "play": _play,
}


def _make_scenarios() -> None:
    """Any name is a scenario, for those who ask for it."""
    import taction.scenarios as scenarios
    from taction.scenarios.double_pendulum import DoublePendulum

    own = scenarios._load

    class Hostile(DoublePendulum):
        duration = 0.003

        def __init__(self, name: str) -> None:
            self.name, self.summary, self.source = name, name, name  # type: ignore[misc]

        def metrics(self, run: Any, parameters: Any) -> Any:
            return {**super().metrics(run, parameters), self.name: self.name}

        def violations(self, metrics: Any, run: Any) -> list[str]:
            return [self.name]

    def load(name: str) -> Any:
        return Hostile(name) if name in scenarios.GROUPS.get("hostile", ()) else own(name)

    scenarios._load = load  # type: ignore[assignment]


def work(plan: Path) -> None:
    """Run the cases of a plan, one after the other."""
    import traceback
    import webbrowser

    import taction.cli.output as output
    import taction.cli.view as view
    from taction import TactionError
    from taction.cli.main import main

    _make_scenarios()
    webbrowser.open = lambda *_, **__: False  # type: ignore[assignment]
    output.PATIENCE = output.REDRAWN = 0.0
    view._wait = lambda opened: (print("open"), opened.close())  # type: ignore[assignment,func-returns-value]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    for k, (_, _, words) in enumerate(json.loads(plan.read_text(encoding="utf-8"))):
        print(f"{BETWEEN}{k}", flush=True)
        try:
            if words[0] == "taction":
                main(words[1:])
            else:
                ACTS[words[0]](words[1:])
        except (TactionError, Warning) as error:
            print("".join(traceback.format_exception_only(error)).rstrip())
        except BaseException as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.lineno}"
            print(f"{RAW}{type(error).__name__}: {ascii(str(error))[:80]} at {where}")
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    work(Path(sys.argv[1]))
