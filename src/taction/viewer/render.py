"""Pictures and films without a screen: the replay page in a browser that nobody sees, moment by moment.

What it draws is what a replay shows, by the same client; only the words and controls of the page are left
out. A film has its frames at equal steps of time, whatever the machine takes to draw them: the same run gives
the same film. GIF by Pillow, with one palette for all frames; MP4 (H.264) by the ffmpeg that imageio-ffmpeg
brings along.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.errors import BadInput, one_line
from taction._core.expect import as_path
from taction.drawing.description import Drawing
from taction.drawing.view import named_view
from taction.report.page import make_bare_page
from taction.report.replay import replay_part, script_part
from taction.viewer.browser import open_browser

PATIENCE = 60_000  # for the page to be ready [ms]
SIZES = (16, 4096)  # smallest and largest width and height [pixel]
MOST_FRAMES = 100_000  # of a film: more is a mistyped speed
STYLE = """
body { margin: 0; padding: 0; max-width: none; }
.bar, .options, .player .note, .words { display: none !important; }
.player, .replay { margin: 0; }
.stage, .stage canvas { height: 100vh !important; border-radius: 0 !important; }
"""


@dataclass(frozen=True)
class Look:
    """How pictures are taken.

    Attributes:
        width: of the picture [pixel].
        height: of the picture [pixel].
        camera: name of a view, or angles; `taction.drawing.view.named_view`. Empty: as the motion asks.
        show: what is drawn besides shapes, of forces, cones, points, com, trails, frames, collision.
        is_dark: dark background.
        has_legend: whether colours and scales are explained in the picture.
    """

    width: int = 960
    height: int = 540
    camera: str = ""
    show: tuple[str, ...] = ("forces", "cones", "points")
    is_dark: bool = False
    has_legend: bool = True

    def __post_init__(self) -> None:
        for name in ("width", "height"):
            if not SIZES[0] <= getattr(self, name) <= SIZES[1]:
                raise BadInput(f"{name} of a picture must be {SIZES[0]} to {SIZES[1]} pixels")
        unknown = set(self.show) - set(SHOWN)
        if unknown:
            raise BadInput(f"show {', '.join(sorted(unknown))}: choose from {', '.join(SHOWN)}")


SHOWN = ("forces", "cones", "points", "com", "trails", "frames", "collision")


class Camera:
    """Takes pictures of one replay of a page, which fills its window."""

    def __init__(self, page: Any, number: int = 0) -> None:
        self._page, self._number = page, number

    def take(self, time: float) -> bytes:
        """The picture at a time [s], as PNG."""
        act = "([k, t]) => { const r = taction.replays[k]; r.seek(t); r.draw(); }"
        self._page.evaluate(act, [self._number, time])
        return self._page.screenshot(type="png")


@contextmanager
def open_camera(drawings: Sequence[Drawing], look: Look | None = None) -> Iterator[Camera]:
    """A camera for one drawing, or for several beside each other.

    Raises:
        BadInput: no browser, or an unknown camera.
    """
    look = look or Look()
    views = [named_view(d.view, look.camera) if look.camera else d.view for d in drawings]
    seen = [replace(d, panels=[], view=view) for d, view in zip(drawings, views, strict=True)]
    parts = [replay_part([(drawing.title, drawing) for drawing in seen]), script_part()]
    style = STYLE + ("" if look.has_legend else ".legend { display: none; }")
    with open_browser() as browser:
        page = browser.new_page(
            viewport={"width": look.width, "height": look.height},
            color_scheme="dark" if look.is_dark else "light",
            offline=True,
        )
        page.set_content(make_bare_page(drawings[0].title, parts, style))
        page.wait_for_function("window.taction?.replays[0]?.canvas.dataset.ready", timeout=PATIENCE)
        page.evaluate(
            "(on) => { const r = taction.replays[0];"
            " for (const k in r.options) r.options[k] = on.includes(k);"
            " r.theatre.clocked = () => {}; r.applyOptions(); r.look('chosen'); }",
            list(look.show),
        )
        yield Camera(page)


def film_times(drawing: Drawing, *, fps: float, speed: float, begin: float | None, end: float | None) -> Any:
    """Simulated times of a film's frames [s], shape (n,).

    Raises:
        BadInput: rates that are not positive, or a part that the motion does not have.
    """
    if not (np.isfinite(fps) and 0.0 < fps <= 240.0 and np.isfinite(speed) and speed > 0.0):
        raise BadInput("a film needs a positive speed and at most 240 frames per second")
    first, last = float(drawing.frames.t[0]), float(drawing.frames.t[-1])
    a, b = first if begin is None else begin, last if end is None else end
    if not first <= a <= b <= last + 1e-9:
        raise BadInput(f"the motion lasts from {first:g} to {last:g} s: no film of {a:g} to {b:g} s")
    if (b - a) * fps / speed > MOST_FRAMES:
        raise BadInput(f"a film may have {MOST_FRAMES} frames; make it faster or shorter")
    return np.arange(a, b + 1e-9, speed / fps)


def save_film(
    path: str | Path,
    camera: Camera,
    times: Sequence[float],
    fps: float,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write a film, GIF or MP4 by its ending.

    Raises:
        BadInput: another ending, a library that is missing, or a path that cannot be written.
    """
    path = as_path(path)
    writers = {".gif": _write_gif, ".mp4": _write_mp4}
    if path.suffix.lower() not in writers:
        raise BadInput(f"{path}: a film ends in {' or '.join(writers)}")

    def frames() -> Iterator[Any]:
        from PIL import Image

        for k, time in enumerate(times):
            yield Image.open(io.BytesIO(camera.take(float(time)))).convert("RGB")
            if progress is not None:
                progress(k + 1, len(times))

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writers[path.suffix.lower()](path, frames(), fps)
    except ImportError as error:
        raise BadInput(f"films need {error.name} (pip install 'taction[render]')") from None
    except (OSError, RuntimeError) as error:  # the second one of an encoder that does not start
        raise BadInput(f"{path}: {getattr(error, 'strerror', None) or one_line(error)}") from None
    return path


def _write_gif(path: Path, frames: Iterator[Any], fps: float) -> None:
    from PIL import Image

    pictures = list(frames)
    # one palette for all, from the first, middle and last frame
    picked = [pictures[0], pictures[len(pictures) // 2], pictures[-1]]
    strip = Image.new("RGB", (picked[0].width, 3 * picked[0].height))
    for k, picture in enumerate(picked):
        strip.paste(picture, (0, k * picture.height))
    palette = strip.quantize(255, method=Image.Quantize.MEDIANCUT)
    drawn = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    each = max(20, round(1000.0 / fps))
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=each, loop=0, optimize=False)


def _write_mp4(path: Path, frames: Iterator[Any], fps: float) -> None:
    from imageio_ffmpeg import write_frames

    path.open("wb").close()  # a path that cannot be written shows here, in plain words
    first = next(frames)
    size = (first.width // 2 * 2, first.height // 2 * 2)  # H.264 wants even numbers
    # ffmpeg takes a name as tcp:host or -y for an address or an option, but not one that begins at the root;
    # and what it says has the name in it as it is
    place, look = str(path.absolute()), {"codec": "libx264", "quality": 8, "macro_block_size": 2}
    writer = write_frames(place, size, fps=fps, ffmpeg_log_level="quiet", **look)
    writer.send(None)
    try:
        writer.send(first.crop((0, 0, *size)).tobytes())
        for picture in frames:
            writer.send(picture.crop((0, 0, *size)).tobytes())
    finally:
        writer.close()
    if not path.stat().st_size:
        raise RuntimeError("ffmpeg wrote nothing")
