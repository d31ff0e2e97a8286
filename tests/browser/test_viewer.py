"""The live view in a browser: it runs, shows what is chosen, says what is wrong, and bears any page."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import taction as ta
from taction.viewer.sources import Choice
from taction.viewer.view import View, view_folder
from urdf_text import inertial, link, robot, shape

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("websockets")

SLOPE = Choice(scenario="block-slope", parameters={"angle": "30"}, dt=2e-3)
TIME = "taction.live.state.time"


class Tab:
    """A page of the view, and what it complained about."""

    def __init__(self, context, view: View) -> None:
        self.complaints: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.page.goto(view.url)
        self.ready()

    def _hear(self, message) -> None:
        # what the driver says of reading pixels is Chromium's own way without a graphics card
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.complaints.append(f"{message.type}: {message.text}")

    def ready(self) -> None:
        self.wait("window.taction?.replays[0]?.canvas.dataset.ready && taction.live.state")

    def wait(self, condition: str) -> None:
        self.page.wait_for_function(condition, polling=50)  # also of a tab that is not in front

    def ask(self, script: str):
        return self.page.evaluate(script)

    def run_until(self, time: float) -> None:
        """Run, and pause when that much was simulated."""
        self.page.click(".run")
        self.wait(f"{TIME} >= {time}")
        self.pause()

    def pause(self) -> None:
        self.page.click(".run")
        self.wait("!taction.live.state.isRunning && taction.replays[0].end >= taction.live.state.time - 1e-9")

    def height(self, time: float, which: int = 0) -> float:
        """Of the block at a time [m]."""
        return self.ask(f"taction.replays[0].pause() ?? taction.replays[0].seek({time}) ?? "
                        f"taction.replays[0].pose(0, {which}).position[2]")  # fmt: skip

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def choose(self, name: str, value: str) -> None:
        """Set a choice; a range, or a text."""
        if self.page.locator(f'select[aria-label="{name}"]').count():
            self.page.select_option(f'select[aria-label="{name}"]', value)
            return
        self.page.eval_on_selector(
            f'input[aria-label="{name}"]',
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('change')); }",
            value,
        )

    def picture(self) -> np.ndarray:
        data = self.page.locator("canvas[aria-label^=Replay]").screenshot()
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("inside")


@pytest.fixture(scope="module")
def view(folder) -> Iterator[View]:
    view = view_folder(folder, SLOPE, browser=False, port=0)
    yield view
    view.close()


@pytest.fixture(scope="module")
def context(browser) -> Iterator:
    # the page forbids scripts from text, which is how a test asks it
    context = browser.new_context(viewport={"width": 320, "height": 240}, bypass_csp=True)
    yield context
    context.close()


@pytest.fixture(scope="module")
def first(context, view) -> Tab:
    return Tab(context, view)


@pytest.fixture
def tab(first, view) -> Iterator[Tab]:
    """A tab with the block on the slope, at its start; in the end it must not have complained."""
    view._session.open(SLOPE)
    first.wait(
        f"!taction.live.state.isRunning && taction.live.state.choice.parameters.angle && {TIME} < 0.003"
    )
    first.wait(f"taction.replays[0].isLive && taction.replays[0].end === {TIME}")
    yield first
    assert first.complaints == []


# ----- Running -------------------------------------------------------------------------------------------


def test_it_runs_and_is_seen(tab):
    tab.run_until(0.2)
    picture = tab.picture().reshape(-1, 3)
    colours, counts = np.unique(picture, axis=0, return_counts=True)
    assert len(colours) > 50 and counts.max() < 0.98 * len(picture)
    assert tab.text(".message") == "" and "residual" in tab.text(".status")
    before = tab.ask(TIME)
    tab.page.click("text=Step")
    tab.wait(f"{TIME} > {before}")
    assert tab.ask(TIME) == pytest.approx(before + 2e-3)
    tab.page.click("text=Reset")
    tab.wait(f"{TIME} < 0.01")


def test_the_page_keeps_up(tab, view):
    """Half of what was simulated is shown by then, however slow pictures are."""
    (actor,) = view._session.actors
    tab.page.click(".run")
    while actor.time < 1.5:
        time.sleep(0.05)
    assert tab.ask(f"Math.min({TIME}, taction.replays[0].end)") > 0.75
    tab.pause()


def test_less_friction_slides_farther(tab):
    """On a slope of 30° a block falls ½ a t² sin 30°, with a = g (sin 30° − μ cos 30°)."""
    fallen = {}
    for mu in (0.5, 0.1):
        tab.choose("friction", str(mu))
        tab.wait(f"taction.live.state.choice.friction === {mu} && {TIME} < 0.01")
        tab.run_until(0.3)
        fallen[mu] = tab.height(0.0) - tab.height(0.3)
        exact = 0.5 * 9.81 * (0.5 - mu * np.sqrt(0.75)) * 0.3**2 * 0.5
        assert fallen[mu] == pytest.approx(exact, rel=0.02)
    assert fallen[0.1] > 3 * fallen[0.5]


def test_beside_each_other(tab):
    tab.choose("beside it", "convex")
    tab.wait("taction.replays[0].drawings.length === 2")
    tab.run_until(0.1)
    names = tab.page.locator(".names span").all_inner_texts()
    assert len(names) == 2 and "exact" in names[0] and "convex" in names[1]
    assert tab.ask("taction.replays[0].stages.length") == 2
    assert tab.height(0.1, 0) == pytest.approx(tab.height(0.1, 1), abs=0.01)


def test_a_body_is_dragged(tab):
    tab.choose("scenario", "block-slope")  # on a slope of 20° it stays where it is
    tab.wait("!taction.live.state.choice.parameters.angle && !taction.replays[0].theatre.isStale")
    tab.ask("document.querySelector('canvas').scrollIntoView()")
    box = tab.page.locator("canvas[aria-label^=Replay]").bounding_box()
    spot = tab.ask(
        f"""(() => {{ const p = taction.replays[0], [w, h] = [{box["width"]}, {box["height"]}];
        for (let i = 1; i < 40; i++) for (let j = 1; j < 40; j++)
          if (p.theatre.pick(w * i / 40, h * j / 40)?.hit) return [w * i / 40, h * j / 40];
        return null; }})()"""
    )
    assert spot is not None
    x, y = box["x"] + spot[0], box["y"] + spot[1]
    tab.ask("document.querySelector('.run').click()")
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 60, y - 60, steps=4)
    tab.wait("/pulled with \\d.* N/.test(document.querySelector('.status').textContent)")
    tab.wait("taction.live.state.pull > 0.1")
    tab.page.mouse.up()
    tab.wait("!document.querySelector('.status').textContent.includes('pulled')")


# ----- Several pages -------------------------------------------------------------------------------------


def test_the_wheel_zooms(tab):
    """The view is there to be looked into: unlike in a page of text the wheel is the camera's."""
    away = "(p => p.theatre.camera.position.distanceTo(p.theatre.controls.target))(taction.replays[0])"
    tab.page.locator(".stage").hover()
    before, place = tab.ask(away), tab.ask("scrollY")
    tab.page.mouse.wheel(0, -120)
    tab.wait(f"{away} < {0.99 * before!r}")
    assert tab.ask("scrollY") == place and tab.page.locator(".hint").count() == 0


def test_a_second_tab_and_its_end(tab, context, view):
    other = Tab(context, view)
    tab.ask("taction.live.say({ do: 'speed', value: 0.1 })")  # the scenario must not end meanwhile
    tab.page.click(".run")
    other.wait(f"{TIME} > 0.02 && document.querySelector('.run').textContent === 'Pause'")
    assert other.ask("taction.replays[0].begin") == tab.ask("taction.replays[0].begin")
    other.page.click(".run")
    tab.wait("!taction.live.state.isRunning")
    other.page.click(".run")
    tab.wait("taction.live.state.isRunning")
    other.page.close()
    assert other.complaints == []
    now = tab.ask(TIME)
    tab.wait(f"{TIME} > {now} + 0.05")
    tab.ask("taction.live.say({ do: 'speed', value: 1 })")


def test_reload_while_it_runs(tab):
    tab.page.click(".run")
    tab.wait(f"{TIME} > 0.2")
    begin, now = tab.ask("taction.replays[0].begin"), tab.ask(TIME)
    tab.page.reload()
    tab.ready()
    tab.wait(f"{TIME} > {now} + 0.1 && taction.replays[0].end > {now}")
    assert tab.ask("taction.replays[0].begin") == begin
    assert tab.height(0.1) < tab.height(0.0)


# ----- Files ---------------------------------------------------------------------------------------------


def test_files_that_are_not_there(tab, folder):
    tab.choose("file", "none.urdf")
    tab.wait("document.querySelector('.message').textContent.includes('no such file')")
    tab.choose("file", "../secret.urdf")
    tab.wait("document.querySelector('.message').textContent.includes('outside of the folder')")
    assert str(folder) not in tab.text(".message")
    tab.choose("time step [s]", "-1")
    tab.wait("document.querySelector('.message').textContent.includes('dt')")
    tab.page.click(".run")
    tab.wait(f"{TIME} > 0.05 && document.querySelector('.message').textContent === ''")


def test_a_run_file_is_played(tab, folder):
    run = ta.Simulation(ta.robots.double_pendulum(), dt=1e-2).run(0.3, q=[1.0, 0.5])
    run.save(folder / "run.h5")
    tab.choose("file", "run.h5")
    tab.wait("!taction.live.state.isLive && Math.abs(taction.replays[0].end - 0.3) < 1e-9")
    assert tab.ask("document.querySelector('.run').disabled")
    tab.page.click("button.play")
    tab.wait("taction.replays[0].time > 0.05")


def test_a_robot_without_its_mesh(tab, folder):
    mesh = '<visual><geometry><mesh filename="none.stl"/></geometry></visual>'
    box = shape('<box size="0.2 0.2 0.2"/>')
    (folder / "bare.urdf").write_text(robot(link("box", inertial(), box, mesh)))
    tab.choose("file", "bare.urdf")
    tab.wait("taction.live.state.choice.file === 'bare.urdf'")
    tab.wait("document.querySelector('.main').textContent.includes('none.stl')")
    tab.run_until(0.05)
    assert tab.text(".message") == ""


# ----- The end -------------------------------------------------------------------------------------------


def test_the_end_is_said(context, folder):
    view = view_folder(folder, SLOPE, browser=False, port=0)
    tab = Tab(context, view)
    assert tab.complaints == []
    view.close()
    tab.wait("document.querySelector('.message').textContent.includes('program has ended')")
    assert tab.page.is_visible(".message")
    tab.page.close()
