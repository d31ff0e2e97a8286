"""Pictures and films before any browser: times, looks, cameras, and what is missing."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import taction as ta
from helpers import has_one_line, hide_module
from taction.drawing.draw import draw_run
from taction.drawing.view import VIEWS, named_view
from taction.viewer.browser import find_browser, open_browser
from taction.viewer.render import MOST_FRAMES, SHOWN, Look, film_times, open_camera, save_film

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def drawing():
    return draw_run(ta.Simulation(ta.robots.double_pendulum(), dt=1e-2).run(0.5), panels=[])


def times(drawing, fps=25.0, speed=1.0, begin=None, end=None):
    return film_times(drawing, fps=fps, speed=speed, begin=begin, end=end)


def test_times_of_a_film(drawing):
    assert np.allclose(times(drawing, fps=10.0), np.linspace(0, 0.5, 6))
    assert np.allclose(times(drawing, fps=10.0, speed=2.0), [0.0, 0.2, 0.4])
    assert np.allclose(times(drawing, begin=0.1, end=0.2, fps=20.0), [0.1, 0.15, 0.2])
    assert np.allclose(times(drawing, begin=0.5, end=0.5), [0.5])


@pytest.mark.parametrize(
    "wrong",
    [
        {"fps": 0.0}, {"fps": -1.0}, {"fps": np.nan}, {"fps": 241.0}, {"speed": 0.0}, {"speed": np.inf},
        {"speed": -1.0}, {"begin": -0.1}, {"end": 0.6}, {"begin": 0.3, "end": 0.2}, {"begin": np.nan},
        {"speed": 1e-9},
    ],
)  # fmt: skip
def test_films_that_cannot_be(drawing, wrong):
    with pytest.raises(ta.BadInput) as caught:
        times(drawing, **wrong)
    assert has_one_line(caught.value)


def test_the_longest_film(drawing):
    assert len(times(drawing, fps=25.0, speed=0.5 * 25.0 / MOST_FRAMES * 1.01)) <= MOST_FRAMES + 1


def test_looks():
    assert Look(show=SHOWN, width=16, height=4096).has_legend
    for wrong in ({"width": 15}, {"height": 4097}, {"width": 0}, {"show": ("forces", "weather")}):
        with pytest.raises(ta.BadInput) as caught:
            Look(**wrong)
        assert has_one_line(caught.value)


def test_cameras(drawing):
    for name, (azimuth, elevation) in VIEWS.items():
        view = named_view(drawing.view, name)
        assert (view.azimuth, view.elevation) == (azimuth, elevation)
    view = named_view(drawing.view, "30,20,1.5")
    assert (view.azimuth, view.elevation) == (30.0, 20.0)
    assert np.linalg.norm(view.half) == pytest.approx(1.5)
    for wrong in ("sideways", "30", "1,2,3,4", "1,nan", "1,2,0", "1,2,-1", ","):
        with pytest.raises(ta.BadInput) as caught, open_camera([drawing], Look(camera=wrong)):
            pass
        assert has_one_line(caught.value)


class Still:
    """A camera that always takes the same picture."""

    def take(self, time: float) -> bytes:
        data = io.BytesIO()
        Image.new("RGB", (32, 16), "red").save(data, "png")
        return data.getvalue()


def test_films_that_cannot_be_written(tmp_path, monkeypatch):
    def said(path: Path) -> str:
        with pytest.raises(ta.BadInput) as caught:
            save_film(path, Still(), [0.0, 0.1], 25.0)
        assert has_one_line(caught.value)
        return str(caught.value)

    assert ".gif or .mp4" in said(tmp_path / "film.avi")
    (tmp_path / "folder.gif").mkdir()
    assert "folder.gif" in said(tmp_path / "folder.gif")
    (tmp_path / "plain").write_text("")
    assert "plain" in said(tmp_path / "plain" / "film.gif")

    def broken(*_, **__):
        raise RuntimeError("No ffmpeg exe could be found.\nInstall it")

    module = ModuleType("imageio_ffmpeg")
    module.write_frames = broken
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", module)
    assert "No ffmpeg" in said(tmp_path / "film.mp4")
    hide_module(monkeypatch, "imageio_ffmpeg")
    assert "taction[render]" in said(tmp_path / "film.mp4")
    hide_module(monkeypatch, "PIL")
    assert "taction[render]" in said(tmp_path / "film.gif")


def test_browsers(monkeypatch, tmp_path):
    monkeypatch.setenv("TACTION_BROWSER", "no-such-browser")
    with pytest.raises(ta.BadInput, match="no-such-browser is no program"):
        find_browser()
    monkeypatch.delenv("TACTION_BROWSER")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("taction.viewer.browser.PLACES", (str(tmp_path / "none"), str(tmp_path)))
    assert find_browser() == str(tmp_path)
    monkeypatch.setattr("taction.viewer.browser.PLACES", ())
    with pytest.raises(ta.BadInput, match="need Chromium, Chrome or Edge"):
        find_browser()
    hide_module(monkeypatch, "playwright")
    with pytest.raises(ta.BadInput, match=r"taction\[render\]"), open_browser():
        pass


def test_times_are_told(tmp_path):
    """A film asks the camera for its own times, in their order, and says how far it is."""
    asked, told = [], []
    camera = SimpleNamespace(take=lambda time: asked.append(time) or Still().take(time))
    save_film(tmp_path / "a" / "film.gif", camera, [0.0, 0.1, 0.2], 25.0, lambda *p: told.append(p))
    assert asked == [0.0, 0.1, 0.2] and told == [(1, 3), (2, 3), (3, 3)]


def test_inside_an_event_loop_there_are_no_pictures(monkeypatch):
    """As in a notebook; Playwright would say it in words of its own."""
    pytest.importorskip("playwright")
    monkeypatch.setattr("taction.viewer.browser.find_browser", lambda: "chromium")

    async def inside():
        with open_browser():
            pass

    with pytest.raises(ta.BadInput, match="event loop"):
        asyncio.run(inside())


class Painter:
    """A camera that needs no browser."""

    def take(self, time: float) -> bytes:
        data = io.BytesIO()
        Image.new("RGB", (64, 48), (int(90 * time), 20, 30)).save(data, "png")
        return data.getvalue()


@pytest.mark.parametrize("name", ["tcp:127.0.0.1:9", "pipe:1", "-y", "concat:x|y", "%d", "\x1b]0;title\x07"])
@pytest.mark.parametrize("ending", [".mp4", ".gif"])
def test_a_name_of_a_film_is_a_name(name, ending, tmp_path, monkeypatch, capfd):
    """ffmpeg took names for addresses, asked for them, and for options; the film was empty then."""
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.chdir(tmp_path)
    path = save_film(f"{name}{ending}", Painter(), [0.0, 0.5, 1.0], 10.0)
    assert [p.name for p in tmp_path.iterdir()] == [path.name] and path.stat().st_size > 200
    assert capfd.readouterr() == ("", "")


def test_a_film_that_ffmpeg_does_not_write_is_refused(tmp_path, monkeypatch):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")

    def write_nothing(*_, **__):
        while True:
            yield

    monkeypatch.setattr(imageio_ffmpeg, "write_frames", write_nothing)
    with pytest.raises(ta.BadInput, match=r"film\.mp4: ffmpeg wrote nothing"):
        save_film(tmp_path / "film.mp4", Painter(), [0.0, 1.0], 10.0)
