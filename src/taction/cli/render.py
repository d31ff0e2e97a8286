"""``taction render``: pictures and films of a run, without a screen."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from taction._core.errors import BadInput
from taction._core.whole_file import written_whole
from taction.cli.output import RunNotice, complain

if TYPE_CHECKING:
    from taction.drawing.description import Drawing


def render(
    run: Annotated[Path, typer.Argument(metavar="RUN.h5", help="Run file, or run.npz.")],
    png: Annotated[
        list[str] | None, typer.Option(metavar="t=SECONDS", help="A picture at this time; may be repeated.")
    ] = None,
    gif: Annotated[bool, typer.Option("--gif", help="A film as GIF.")] = False,
    mp4: Annotated[bool, typer.Option("--mp4", help="A film as MP4.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="File, or folder for several; beside the run file by default.")
    ] = None,
    camera: Annotated[
        str, typer.Option(help="View by name, or AZIMUTH,ELEVATION[,RADIUS] in degrees and metres.")
    ] = "",
    size: Annotated[str, typer.Option(metavar="WIDTHxHEIGHT", help="Of the picture in pixels.")] = "960x540",
    show: Annotated[
        str, typer.Option(help="Of forces, cones, points, com, trails, frames, collision, with commas.")
    ] = "forces,cones,points",
    dark: Annotated[bool, typer.Option("--dark", help="Dark background.")] = False,
    legend: Annotated[bool, typer.Option("--legend/--no-legend", help="Explain colours and scales.")] = True,
    fps: Annotated[float, typer.Option(help="Frames per second of a film.")] = 25.0,
    speed: Annotated[float, typer.Option(help="Simulated seconds per second of film.")] = 1.0,
    begin: Annotated[float | None, typer.Option("--from", help="Where a film begins [s].")] = None,
    end: Annotated[float | None, typer.Option("--to", help="Where a film ends [s].")] = None,
) -> None:
    """Draw pictures and films of a recorded run with the client of its replay, in a browser nobody sees."""
    if not run.is_file():
        raise BadInput(f"{run}: no such file")
    if not (png or gif or mp4):
        raise BadInput("nothing to render: give --png t=SECONDS, --gif or --mp4")
    from taction.drawing.draw import draw_run
    from taction.drawing.view import named_view
    from taction.sim.recorded_run import load_run
    from taction.viewer.render import Look, film_times, open_camera, save_film

    times = [_time(text) for text in png or []]
    width, height = _size(size)
    look = Look(width, height, camera, tuple(w.strip() for w in show.split(",") if w.strip()), dark, legend)
    drawing = draw_run(load_run(run).as_run(), panels=[])
    if camera:
        named_view(drawing.view, camera)  # said before a browser starts
    _check(times, drawing)
    moments = film_times(drawing, fps=fps, speed=speed, begin=begin, end=end)
    films = [ending for ending, is_asked in ((".gif", gif), (".mp4", mp4)) if is_asked]
    names = _names(run, out, times, films)
    with open_camera([drawing], look) as taken:
        for time, name in zip(times, names, strict=False):
            _write(name, taken.take(time))
            complain(f"wrote {name}")
        for name in names[len(times) :]:
            notice = RunNotice()
            try:
                save_film(name, taken, moments, fps, partial(notice, f"drawing {name.name}", of="frames"))
            finally:
                notice.close()
            complain(f"wrote {name}, {len(moments)} frames")


def _time(text: str) -> float:
    key, _, value = text.partition("=")
    try:
        if key.strip() == "t":
            return float(value)
    except ValueError:
        pass
    raise BadInput(f"--png {text}: expected t=SECONDS, as in --png t=1.2")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.lower().partition("x")
    if not all(word.isdecimal() and len(word) < 9 for word in (width, height)):
        raise BadInput(f"--size {text[:40]}: expected WIDTHxHEIGHT, as in --size 960x540")
    return int(width), int(height)


def _check(times: list[float], drawing: Drawing) -> None:
    first, last = float(drawing.frames.t[0]), float(drawing.frames.t[-1])
    for time in times:
        if not first - 1e-9 <= time <= last + 1e-9:
            raise BadInput(f"--png t={time:g}: the motion lasts from {first:g} to {last:g} s")


def _names(run: Path, out: Path | None, times: list[float], films: list[str]) -> list[Path]:
    """Where pictures and films go, in that order."""
    endings = [f"-{time:g}s.png" for time in times] + films
    if out is not None and out.suffix in (".png", ".gif", ".mp4") and not out.is_dir():
        if len(endings) > 1:
            raise BadInput(f"--out {out}: {len(endings)} files were asked for; name a folder")
        wanted = Path(endings[0]).suffix or endings[0]
        if out.suffix != wanted:
            raise BadInput(f"--out {out}: a {wanted} was asked for")
        return [out]
    folder = run.parent if out is None else out
    return [folder / f"{run.stem}{ending}" for ending in endings]


def _write(path: Path, data: bytes) -> None:
    with written_whole(path, with_folder=True) as begun:
        begun.write_bytes(data)
