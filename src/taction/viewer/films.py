"""Films of a page's replays: the page itself in a browser that nobody sees, one replay after the other.

A page knows its motions already; so nothing is run or drawn a second time, and the films show what the page
shows. Each is as long as its motion, at most `LONGEST`; a longer one is shown faster, and its name says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from taction.viewer.browser import open_browser
from taction.viewer.render import PATIENCE, Camera, save_film

SIZE = (640, 360)  # of the window, and so of a film [pixel]
FPS, LONGEST = 15.0, 8.0  # frames per second; length of a film [s]
STYLE = """
.stage, .stage canvas { height: 100vh !important; border-radius: 0 !important; } .words { display: none; }
.stage { position: fixed !important; inset: 0; z-index: 9; }
"""


def films_of_page(
    page: Path, folder: Path, progress: Callable[[str, int, int], None] | None = None
) -> list[Path]:
    """Write a film (MP4) of every replay of a page into a folder; returns their paths.

    Args:
        page: an HTML file of ours.
        folder: where to; made if need be.
        progress: called with the name of a film, its frames done and all of them.

    Raises:
        BadInput: no browser, or Playwright or imageio-ffmpeg is not installed.
    """
    out = []
    with open_browser() as browser:
        size = {"width": SIZE[0], "height": SIZE[1]}
        shown = browser.new_page(viewport=size, offline=True)
        shown.goto(page.resolve().as_uri())
        count = shown.evaluate("document.querySelectorAll('.replay').length")
        for k in range(count):
            path = folder / _prepare(shown, k)
            begin, end = shown.evaluate("(k) => [taction.replays[k].begin, taction.replays[k].end]", k)
            frames = max(2, round(FPS * min(end - begin, LONGEST)))
            said = None if progress is None else _counted(progress, path.name)
            times = np.linspace(begin, end, frames).tolist()
            out.append(save_film(path, Camera(shown, k), times, FPS, said))
            shown.evaluate("document.querySelectorAll('style.film').forEach((s) => s.remove())")
    return out


def _prepare(page: Any, number: int) -> str:
    """Bring a replay to the screen, alone; the name of its film."""
    page.evaluate("(k) => document.querySelectorAll('.replay')[k].scrollIntoView()", number)
    page.wait_for_function(
        "(k) => window.taction?.replays[k]?.canvas.dataset.ready", arg=number, timeout=PATIENCE
    )
    names, seconds = page.evaluate(
        "([k, style]) => { const r = taction.replays[k];"
        " document.head.append(Object.assign(document.createElement('style'),"
        "  { className: 'film', textContent: style.replaceAll('.stage', `.replay.filmed .stage`) }));"
        " document.querySelectorAll('.replay').forEach((e, i) => e.classList.toggle('filmed', i === k));"
        " r.pause(); r.theatre.clocked = () => {}; r.look('chosen');"
        " return [r.drawings.map((d) => d.name), r.end - r.begin]; }",
        [number, STYLE],
    )
    slug = re.sub(r"[^a-z0-9]+", "-", " ".join(names).lower()).strip("-")[:60]
    fast = f"-{seconds / LONGEST:.0f}x" if seconds > 1.5 * LONGEST else ""
    return f"{number + 1:02d}-{slug or 'replay'}{fast}.mp4"


def _counted(progress: Callable[[str, int, int], None], name: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(name, done, total)
