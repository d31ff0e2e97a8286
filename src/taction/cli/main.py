"""The ``taction`` command: parses, calls, and turns every ending into an exit code.

Exit codes
    0   done
    1   the run violated what was asked: a check failed, a step failed, the motion blew up, a
        problem was not solved
    2   bad input, with one line on stderr that says what and where
    130 stopped by Ctrl-C

With ``--json`` a command prints one JSON object on stdout and nothing else there; notices go to stderr.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, NoReturn

import typer

from taction._core.errors import BadInput, TactionError, one_line
from taction.cli.bench import app as bench_app
from taction.cli.cache import cache
from taction.cli.compare import compare
from taction.cli.listing import list_everything
from taction.cli.output import Stopped, complain
from taction.cli.render import render
from taction.cli.reproduce import reproduce
from taction.cli.run import run_scenario
from taction.cli.solve import solve_files
from taction.cli.view import ui, view
from taction.cli.warm_up import warm_up

DONE, VIOLATED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130

# Typer brings its own copy of Click or not, depending on its version; BadParameter leads to the right class.
ClickException: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="taction",
    help="Robot motion through contact: exact, certified, in Python that can be read.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list")(list_everything)
app.command("run")(run_scenario)
app.command("compare")(compare)
app.command("solve")(solve_files)
app.command("reproduce")(reproduce)
app.command("view")(view)
app.command("ui")(ui)
app.command("render")(render)
app.command("warm-up")(warm_up)
app.command("cache")(cache)
app.add_typer(bench_app, name="bench", help="Measure speed, against the peers that are installed.")


def _show_version(value: bool) -> None:
    if value:
        from taction import __version__

        typer.echo(f"taction {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Robot motion through contact: exact, certified, in Python that can be read."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code, or, for the words of the process, ends it.

    Args:
        arguments: the words after ``taction``; those of the process by default.
    """
    if arguments is None:
        _leave(_run(sys.argv[1:]))
    return _run(list(arguments))


def _leave(code: int) -> NoReturn:
    """End the process at once: taking the compiler apart in good order takes 0.4 s and helps nobody."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _run(words: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without µ gets a question mark, not a traceback
    with warnings.catch_warnings():  # puts back how warnings are shown
        warnings.showwarning = lambda message, *_, **__: complain(f"warning: {message}")
        return _answer(words)


def _answer(words: list[str]) -> int:
    """The exit code of a command line."""
    try:
        code = app(args=words or ["--help"], prog_name="taction", standalone_mode=False) or DONE
        sys.stdout.flush()  # a full disk behind it is said here, not left to the end of the process
        if code == INTERRUPTED:  # Typer turns Ctrl-C into this or into an exception, depending on its version
            raise KeyboardInterrupt
        return code
    except ClickException as error:
        context = getattr(error, "ctx", None)
        # a group without a command carries its whole help as the message
        message = "Missing command." if "NoArgs" in type(error).__name__ else error.format_message()
        complain(f"{message} (see {context.command_path} --help)" if context else message)
        return BAD_INPUT
    except BadInput as error:
        complain(str(error))
        return BAD_INPUT
    except TactionError as error:
        complain(str(error))
        return VIOLATED
    except Stopped as error:
        complain(str(error))
        return INTERRUPTED
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has seen enough
        _forget_output()
        return DONE
    except OSError as error:
        place = "standard output" if error.filename is None else error.filename
        complain(f"{place}: {error.strerror or error}")
        _forget_output()
        return BAD_INPUT
    except MemoryError as error:
        complain(f"out of memory ({one_line(error)})")
        return BAD_INPUT


def _forget_output() -> None:
    """What is still buffered must not fail again at exit; an output that works is left as it is."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
