"""Replays in pages: drawings as text inside the page, and the client that shows them.

The client is one script, made of the sources in ``client/`` of the repository by its ``build.mjs`` with
three.js and uPlot inside, whose licences lie beside it. A page with a replay holds the script once and the
drawing of every replay, compressed; it needs no network and no other file.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from taction.drawing.description import Drawing
from taction.drawing.draw import draw_run
from taction.drawing.encode import encode_drawing
from taction.drawing.view import common_view
from taction.report.page import escape
from taction.sim.run import Run

# Bytes of the frames of a replay among figures, before they are compressed.
SMALL = 900_000
CURVES = "curves"  # where the curves of a page's first replay go


@cache
def client_script() -> str:
    """The client, ready for a script element."""
    return (files("taction.report") / "client" / "client.js").read_text(encoding="utf-8")


def script_part() -> str:
    """The client as the last part of a page with replays."""
    return f"<script>{client_script()}</script>"


def replay_part(drawings: Iterable[tuple[str, Drawing]], *, has_curves: bool = False) -> str:
    """A replay of one drawing, or of several beside each other that share one time.

    Args:
        drawings: name and drawing of each, at least one; all are seen alike.
        has_curves: whether curves of the first drawing go to the element that `watched_part` makes.
    """
    drawings = list(drawings)
    view = common_view([drawing.view for _, drawing in drawings])
    texts = "".join(
        f'<script type="text/plain" class="drawing" data-name="{escape(name)}">'
        f"{base64.b64encode(encode_drawing(replace(drawing, view=view))).decode()}</script>"
        for name, drawing in drawings
    )
    linked = f' data-curves="{CURVES}"' if has_curves else ""
    return f'<div class="replay"{linked}>{texts}</div>'


def watched_part(drawings: Iterable[tuple[str, Drawing]]) -> str:
    """A replay and the curves of its first drawing beside it, linked: for a page with one of that kind."""
    note = '<p class="note">A click on a curve goes to that time; the line is the time of the replay.</p>'
    curves = f'<div>{note}<div class="curves" id="{CURVES}"></div></div>'
    return f'<div class="watched">{replay_part(drawings, has_curves=True)}{curves}</div>'


def small_drawing(run: Run, name: str, beside: int = 1) -> Drawing:
    """A run among figures: without curves, as one of so many beside each other."""
    return draw_run(run, title=name, budget=SMALL // beside, panels=[])


def runs_part(runs: Mapping[str, Run | None]) -> str:
    """A small replay of runs beside each other, by name; a scenario that failed at once has none."""
    found = [(name, run) for name, run in runs.items() if run is not None]
    return replay_part([(name, small_drawing(run, name, len(found))) for name, run in found]) if found else ""
