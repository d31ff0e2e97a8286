"""Pages on a phone, on paper and under the wheel: nothing is cut, nothing is empty, the page scrolls."""

from __future__ import annotations

import io

import numpy as np
import pytest

import taction as ta
from taction.drawing.draw import draw_run
from taction.report.page import make_page, section, table, write_page
from taction.report.replay import replay_part, script_part
from taction.report.run_report import write_report
from taction.sim.run import Run

Image = pytest.importorskip("PIL.Image")

REPLAYS = 8  # more than a page keeps players of
DISTANCE = "p.theatre.camera.position.distanceTo(p.theatre.controls.target)"
WORDS = "a sentence that takes several lines where a column is as narrow as on a phone"
# Of every replay how many colours its still has, 0 without one
STILLS = """[...document.querySelectorAll('.replay')].map((replay) => {
  const still = replay.querySelector('.still');
  if (!still || !still.width) return 0;
  const { data } = still.getContext('2d').getImageData(0, 0, still.width, still.height);
  return new Set(new Uint32Array(data.buffer)).size;
})"""


@pytest.fixture(scope="module")
def run() -> Run:
    """A box that slides to rest."""
    box = ta.free_body("box", ta.Box((0.3, 0.2, 0.2)), mass=2.0, position=(0, 0, 0.1))
    world = ta.World(box, ground=ta.Plane(friction=0.4))
    return ta.Simulation(world, dt=2e-3).run(0.2, v=[1.0, 0, 0, 0, 0, 0])


@pytest.fixture(scope="module")
def report(run, tmp_path_factory):
    return write_report(run, tmp_path_factory.mktemp("pages") / "run.html")


# ----- Tables --------------------------------------------------------------------------------------------


def phone_page(open_page, folder, part: str):
    path = write_page(folder / "table.html", make_page("table", [part], None))
    return open_page(path, width=390, height=844)


def test_on_a_phone_a_table_of_words_is_a_list_that_is_seen_whole(open_page, tmp_path):
    head = ["", "the document says", "we get", "its method gives", "why it differs"]
    part = table(head, [["impacts", WORDS, WORDS, "", WORDS], ["rest", "", "", "", WORDS]], ())
    watched = phone_page(open_page, tmp_path, part)
    page = watched.page
    right = page.evaluate("[...document.querySelectorAll('td')].map((e) => e.getBoundingClientRect().right)")
    assert max(right) <= 390
    assert page.evaluate("document.querySelector('.wide').scrollWidth") <= 390
    row = page.locator("tbody tr").nth(1)
    assert row.inner_text().split("\n") == ["rest", WORDS]
    before = page.evaluate("getComputedStyle(document.querySelectorAll('tr td')[9], '::before').content")
    assert before == '"why it differs"'
    # two names of a column, and what stands below them: no room for cells that are empty
    assert row.bounding_box()["height"] < 6.5 * 23


def test_a_table_that_goes_on_sideways_says_so(open_page, tmp_path):
    """A shadow at the side where there is more, none where the table ends; the names of its rows stay."""
    head = ["run", *(f"quantity {k}" for k in range(9))]
    part = table(head, [["first", *(9 * ["1.234"])], ["second", *(9 * ["1.234"])]], range(1, 10))
    watched = phone_page(open_page, tmp_path, part)

    def shade() -> int:
        """How much darker than paper the table is at its right side."""
        data = watched.page.locator(".wide").screenshot()
        pixels = np.asarray(Image.open(io.BytesIO(data)).convert("L")).astype(int)
        return int(np.median(255 - pixels, axis=0)[-3:].max())

    assert shade() > 60
    watched.page.evaluate("document.querySelector('.wide').scrollLeft = 1e4")
    assert shade() == 0
    name, last = watched.page.get_by_text("first"), watched.page.get_by_text("quantity 8")
    assert name.bounding_box()["x"] == watched.page.locator(".wide").bounding_box()["x"]
    assert last.bounding_box()["x"] + last.bounding_box()["width"] <= 390


# ----- The wheel -----------------------------------------------------------------------------------------


@pytest.fixture
def wheel_page(open_page, report):
    watched = open_page(report, width=900, height=500).ready()
    box = watched.page.locator(".stage").bounding_box()
    watched.page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    yield watched
    assert watched.complaints == []


def turn_wheel(watched, by: int) -> tuple[float, float]:
    """How far the page and the camera move, in pixels and as a share of the camera's distance."""
    where = f"[scrollY, {DISTANCE}]"
    before = watched.ask(where)
    watched.page.mouse.wheel(0, by)
    watched.page.wait_for_timeout(400)
    after = watched.ask(where)
    return after[0] - before[0], after[1] / before[1] - 1.0


def test_the_wheel_over_a_replay_scrolls_the_page(wheel_page):
    hint = wheel_page.page.locator(".hint")
    assert not hint.is_visible()
    moved, zoomed = turn_wheel(wheel_page, 120)
    assert moved == 120 and zoomed == 0.0
    assert hint.is_visible() and "Ctrl" in hint.inner_text()
    hint.wait_for(state="hidden", timeout=5_000)


def test_with_control_or_after_a_click_it_zooms(wheel_page):
    wheel_page.page.keyboard.down("Control")
    moved, zoomed = turn_wheel(wheel_page, -120)
    wheel_page.page.keyboard.up("Control")
    assert moved == 0 and zoomed < -0.01
    wheel_page.page.mouse.down()
    wheel_page.page.mouse.up()
    moved, zoomed = turn_wheel(wheel_page, -120)
    assert moved == 0 and zoomed < -0.01
    assert not wheel_page.page.locator(".hint").is_visible()
    wheel_page.page.mouse.move(2, 2)  # who leaves the replay goes on reading
    box = wheel_page.page.locator(".stage").bounding_box()
    wheel_page.page.mouse.move(box["x"] + 50, box["y"] + 50)
    moved, zoomed = turn_wheel(wheel_page, 120)
    assert moved == 120 and zoomed == 0.0


def test_a_finger_up_or_down_scrolls_the_page(wheel_page):
    assert wheel_page.ask("getComputedStyle(p.canvas).touchAction") == "pan-y"


# ----- Curves --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(1200, 800), (1000, 560), (390, 844)])
def test_no_curve_is_cut(open_page, report, size):
    """All of every panel is inside each box around it that could hide a part."""
    watched = open_page(report, width=size[0], height=size[1]).ready()
    cut = watched.page.evaluate(
        """[...document.querySelectorAll('.curve')].filter((curve) => {
          for (let e = curve.parentElement; e !== document.body; e = e.parentElement) {
            const inner = curve.getBoundingClientRect(), outer = e.getBoundingClientRect();
            if (getComputedStyle(e).overflowY !== 'visible' && inner.bottom > outer.bottom + 1) return true;
          }
          return false;
        }).length"""
    )
    assert watched.page.locator(".curve").count() >= 4 and cut == 0


# ----- Paper ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_page(run, tmp_path_factory):
    """Many replays, far below each other."""
    drawing = draw_run(run, panels=[])
    gap = '<div style="height: 2500px"></div>'
    parts = [section(f"replay {k}", replay_part([(f"{k}", drawing)]) + gap) for k in range(REPLAYS)]
    path = tmp_path_factory.mktemp("pages") / "long.html"
    return write_page(path, make_page("long", [*parts, script_part()], None))


@pytest.mark.long
def test_a_page_that_is_loaded_can_be_printed(open_page, long_page):
    """Every replay, also one that was never near what is seen, is there as a picture."""
    watched = open_page(long_page)  # waits until the page is loaded, as a program that prints it does
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    colours = watched.page.evaluate(STILLS)
    assert len(colours) == REPLAYS and min(colours) > 100
    watched.page.emulate_media(media="print")
    shown = watched.page.evaluate(
        "[...document.querySelectorAll('.replay')].map((e) => [...e.querySelectorAll('canvas')]"
        ".filter((c) => c.checkVisibility()).map((c) => c.className).join())"
    )
    assert shown == REPLAYS * ["still"]
    assert not watched.page.locator(".bar").first.is_visible()
    watched.page.emulate_media(media="screen")
    watched.page.evaluate("dispatchEvent(new Event('afterprint'))")
    live = watched.page.evaluate("taction.replays.map((p) => Boolean(p))")
    players = watched.page.evaluate(
        "[...document.querySelectorAll('.replay')].map((e) => !e.querySelector('.still'))"
    )
    assert sum(live) <= 6 and live[0] and players == live
    assert watched.complaints == []


@pytest.mark.long
def test_a_still_plays_again_when_it_comes_near(open_page, long_page):
    watched = open_page(long_page)
    gone = watched.page.evaluate("taction.replays.findIndex((p) => !p)")
    assert gone > 0
    height = watched.page.evaluate("document.documentElement.scrollHeight")
    watched.page.evaluate("(k) => document.querySelectorAll('.replay')[k].scrollIntoView()", gone)
    watched.ready(gone)
    assert watched.page.evaluate("document.documentElement.scrollHeight") == height
    replay = watched.page.locator(".replay").nth(gone)
    assert replay.locator(".still").count() == 0 and replay.locator("button.play").count() == 1
    assert watched.complaints == []


def test_paper_is_light_where_the_screen_is_dark(open_page, report):
    watched = open_page(report, dark=True).ready()
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    paper = watched.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')")
    corner = watched.page.evaluate(
        "[...document.querySelector('.still').getContext('2d').getImageData(3, 3, 1, 1).data].slice(0, 3)"
    )
    assert paper.strip() == "#ffffff" and min(corner) > 200
    watched.page.evaluate("dispatchEvent(new Event('afterprint'))")
    watched.settle()
    paper = watched.page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--paper')")
    assert paper.strip() == "#14161a" and watched.complaints == []
