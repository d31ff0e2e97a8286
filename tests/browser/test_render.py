"""Pictures and films of a run: they show it, differ where it differs, and have the frames asked for."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from taction.cli.main import main
from taction.drawing.draw import draw_run
from taction.sim.run import Run
from taction.viewer.render import Look, film_times, open_camera, save_film

Image = pytest.importorskip("PIL.Image")
SMALL = {"width": 320, "height": 240}


@pytest.fixture(scope="module")
def run() -> Run:
    box = ta.free_body("box", ta.Box((0.3, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.4))
    simulation = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.7)), dt=2e-3)
    return simulation.run(0.4, v=[1.0, 0, 0, 0, 3.0, 0])


def apart(function, *arguments):
    """Call it in a thread of its own: two Playwrights do not get on in one."""
    out, failed = [], []

    def call() -> None:
        try:
            out.append(function(*arguments))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return out[0]


@pytest.fixture(scope="module")
def place(browser) -> None:
    """A browser that `find_browser` finds, too."""


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def changed(a: np.ndarray, b: np.ndarray) -> float:
    """Share of pixels that differ."""
    return float((np.abs(a - b).max(axis=2) > 8).mean())


@pytest.mark.long
def test_pictures_and_films(run, place, tmp_path):
    drawing = draw_run(run, panels=[])

    def work():
        with open_camera([drawing], Look(**SMALL, is_dark=True)) as camera:
            stills = [pixels(camera.take(t)) for t in (0.0, 0.2, 0.2)]
            times = film_times(drawing, fps=10.0, speed=1.0, begin=0.0, end=None)
            save_film(tmp_path / "film.gif", camera, times, 10.0)
            save_film(tmp_path / "film.mp4", camera, times, 10.0)
            (tmp_path / "taken.mp4").mkdir()
            with pytest.raises(ta.BadInput) as caught:
                save_film(tmp_path / "taken.mp4", camera, times, 10.0)
        return stills, len(times), str(caught.value)

    (start, later, again), count, said = apart(work)
    assert start.shape == (240, 320, 3) and len(np.unique(start.reshape(-1, 3), axis=0)) > 50
    assert changed(start, later) > 0.005 and changed(later, again) == 0.0
    assert start[:20].mean() < 100  # dark
    with Image.open(tmp_path / "film.gif") as film:
        assert count == film.n_frames == 5 and film.size == (320, 240)
        assert [film.seek(k) or film.info["duration"] for k in range(5)] == [100] * 5
        film.seek(0)
        assert changed(np.asarray(film.convert("RGB")).astype(int), start) < 0.05
    data = (tmp_path / "film.mp4").read_bytes()
    assert data[4:8] == b"ftyp" and len(data) > 1000
    assert "taken.mp4" in said and "\n" not in said


@pytest.mark.long
def test_the_command(run, place, tmp_path, monkeypatch, capsys):
    run.save(tmp_path / "run.h5")
    monkeypatch.chdir(tmp_path)

    def taction(*words: object) -> list[str]:
        code = apart(main, ["render", "run.h5", *map(str, words), "--size", "320x240"])
        out, err = capsys.readouterr()
        assert code == 0 and out == "", err
        return err.splitlines()

    said = taction("--png", "t=0.1", "--camera", "above", "--out", "x.png")
    assert said[-1] == "taction: wrote x.png"
    above = pixels((tmp_path / "x.png").read_bytes())
    look = ("--camera", "30,20,1.5", "--no-legend", "--show", "trails")
    said = taction("--png", "t=0.1", "--gif", "--fps", 10, *look, "--out", Path("films"))
    assert said[-1] == f"taction: wrote {Path('films', 'run.gif')}, 5 frames"
    assert sorted(p.name for p in (tmp_path / "films").iterdir()) == ["run-0.1s.png", "run.gif"]
    angles = pixels((tmp_path / "films" / "run-0.1s.png").read_bytes())
    assert above.shape == angles.shape == (240, 320, 3) and changed(above, angles) > 0.01
    assert above[:20].mean() > 150
