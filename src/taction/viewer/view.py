"""`View`: a live view that is open, from the command line, a script or a notebook."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taction._core.errors import BadInput
from taction._core.expect import number
from taction.sim.run import Run
from taction.sim.simulation import Simulation
from taction.viewer.server import HOST, Server
from taction.viewer.session import Session
from taction.viewer.sources import Choice, Folder, Play

HEIGHT = 760  # of the frame in a notebook [pixel]


class View:
    """A server and its session; in a notebook it shows itself.

    Attributes:
        url: the address of the page, with its token.
    """

    def __init__(
        self, session: Session, *, host: str = HOST, port: int | None = None, browser: bool = True
    ) -> None:
        self._session = session
        self._server = Server(session, host=host, port=port)
        self.url = self._server.url
        if browser and not _is_notebook():
            webbrowser.open(self.url)

    def close(self) -> None:
        """End the server; pages that are open say so."""
        self._server.close()

    def __enter__(self) -> View:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<View at {self.url}>"

    def _repr_html_(self) -> str:
        return f'<iframe src="{self.url}" width="100%" height="{HEIGHT}" style="border: 0"></iframe>'


def view_folder(folder: str | Path, choice: Choice | None = None, **options: Any) -> View:
    """A view of what a folder has, and of scenarios; opened with a choice if one is given.

    Raises:
        BadInput: no such folder, a choice that does not fit, or a port that is taken.
    """
    return _open(folder, lambda session: None if choice is None else session.open(choice), options)


def view_run(run: Run, *, folder: str | Path = ".", **options: Any) -> View:
    """A view of a run."""
    return _open(folder, lambda session: session.show_run(run), options)


def view_simulation(
    simulation: Simulation, duration: float = float("inf"), *, folder: str | Path = ".", **start: Any
) -> View:
    """A view of a simulation that runs when the page asks for it.

    Args:
        simulation: what to simulate.
        duration: when it stops by itself [s].
        folder: whose files the page may open.
        start: arguments of `Simulation.run`: q, v or state, controller, control_dt; and host, port, browser.
    """
    options: dict[str, Any] = {key: start.pop(key) for key in ("host", "port", "browser") if key in start}
    unknown = set(start) - {"q", "v", "state", "controller", "control_dt"}
    if unknown:
        raise BadInput(f"a view does not know {', '.join(sorted(unknown))}")
    play = Play(simulation.model.name, simulation, start, number(duration, "duration"))
    return _open(folder, lambda session: session.show_plays([play]), options)


def _open(folder: str | Path, show: Callable[[Session], None], options: dict[str, Any]) -> View:
    """A view of a session that shows something; nothing is left behind where that fails."""
    session = Session(Folder(folder))
    try:
        show(session)
        return View(session, **options)
    except BaseException:
        session.close()
        raise


def _is_notebook() -> bool:
    """Whether this is a notebook, which shows the view itself."""
    import sys

    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
