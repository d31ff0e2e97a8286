"""``taction view`` and ``taction ui``: look at scenarios, robots and runs in a browser."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taction._core.errors import BadInput
from taction.cli.output import compile_notice, complain

if TYPE_CHECKING:
    from taction.sim.run import Run
    from taction.viewer.sources import Choice
    from taction.viewer.view import View

Host = Annotated[
    str, typer.Option(help="Address to listen on; others than this machine's are for trusted networks.")
]
Port = Annotated[int | None, typer.Option(help="Port; 0 for any free one.")]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")]
LOCAL = "127.0.0.1"


def view(
    what: Annotated[
        str, typer.Argument(metavar="SCENARIO|RUN.h5|FILE.urdf|FILE.xml", help="What to look at.")
    ],
    html: Annotated[
        Path | None,
        typer.Option(metavar="PAGE.html", help="Write the replay of a run file as one page instead."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Folder whose files the page may open; that of the file by default.")
    ] = None,
    host: Host = LOCAL,
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Look at a scenario, a robot or a recorded run in a browser; Ctrl-C ends it."""
    if html is not None:
        _write_replay(what, html)
        return
    from taction.viewer.sources import Choice

    path = Path(what)
    if path.suffix:
        place = path.resolve().parent if folder is None else folder.resolve()
        try:
            name = path.resolve().relative_to(place).as_posix()
        except ValueError:
            raise BadInput(f"{what}: outside of the folder {place}") from None
        _serve(place, Choice(file=name), host, port, browser)
    else:
        _serve(folder or Path(), Choice(scenario=what), host, port, browser)


def ui(
    folder: Annotated[Path, typer.Option(help="Folder whose files the page may open.")] = Path(),
    host: Host = LOCAL,
    port: Port = None,
    browser: Browser = True,
) -> None:
    """Choose what to look at in the browser: scenarios, and robots and runs of a folder; Ctrl-C ends it."""
    from taction.viewer.sources import Choice

    _serve(folder, Choice(scenario="box-stack"), host, port, browser)


def _serve(folder: Path, choice: Choice, host: str, port: int | None, browser: bool) -> None:
    from taction.viewer.view import view_folder

    with compile_notice():
        opened = view_folder(folder, choice, host=host, port=port, browser=browser)
    _wait(opened)


def show_run(run: Run) -> None:
    """Show a run until Ctrl-C."""
    from taction.viewer.view import view_run

    _wait(view_run(run))


def _wait(opened: View) -> None:
    """Say where a view is, and close it at Ctrl-C."""
    waiting = threading.Event()
    try:
        complain(f"open at {opened.url}")
        complain("Ctrl-C ends it")
        while not waiting.wait(3600.0):
            pass
    except KeyboardInterrupt:
        complain("closed")
    finally:
        opened.close()


def _write_replay(what: str, html: Path) -> None:
    """The page of a run file."""
    from taction.report.run_report import write_report
    from taction.sim.recorded_run import load_run
    from taction.viewer.sources import RUN_FILES

    if Path(what).suffix not in RUN_FILES:
        raise BadInput(f"{what}: --html is for run files; for a scenario use taction run {what} --report")
    run: Any = load_run(what).as_run()
    complain(f"wrote {write_report(run, html)}")
