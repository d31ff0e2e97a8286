"""The page of a run in a browser: it plays, shows what was simulated, and complains about nothing."""

from __future__ import annotations

import io

import numpy as np
import pytest

import taction as ta
from taction.drawing.draw import draw_run
from taction.report.page import make_page, write_page
from taction.report.replay import replay_part, script_part
from taction.report.run_report import write_report
from taction.sim.run import Run

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def run() -> Run:
    """A box that slides to rest and a robot of two links that swings."""
    box = ta.free_body("box", ta.Box((0.3, 0.2, 0.2)), mass=2.0, position=(0.6, 0, 0.1))
    b = ta.ModelBuilder("robot")
    half = ta.Transform(translation=(0, 0, -0.15))
    for name, parent, height in (("upper", "world", 0.8), ("lower", "upper", -0.3)):
        b.body(name, ta.Inertia.solid(ta.Capsule(0.03, 0.3), mass=1.0).placed(half))
        b.shape(name, ta.Capsule(0.03, 0.3), half)
        at = ta.Transform(translation=(0, 0, height))
        b.revolute(f"{name} pin", parent=parent, child=name, axis=(0, 1, 0), pose=at, initial=np.array([0.8]))
    world = ta.World(box, b.build(), ground=ta.Plane(friction=0.4))
    return ta.Simulation(world, dt=2e-3).run(0.5, v=[1.5, *np.zeros(7)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def path(run, folder):
    return write_report(run, folder / "run.html")


@pytest.fixture(scope="module")
def opened(open_page, path):
    return open_page(path).ready()


@pytest.fixture
def page(opened):
    """The page at its first time; in the end it must not have complained nor asked for anything."""
    watched = opened
    watched.seek(0.0)
    yield watched
    assert watched.complaints == [] and watched.asked_for == []


def picture(watched, name: str = "", folder=None) -> np.ndarray:
    """What the canvas shows, (height, width, 3)."""
    data = watched.page.locator("canvas[aria-label^=Replay]").screenshot()
    if folder is not None:
        (folder / name).write_bytes(data)
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


# ----- Time ----------------------------------------------------------------------------------------------


def test_it_plays_and_starts_again(page):
    assert page.ask("p.time") == 0.0
    page.page.click("button.play")
    page.page.wait_for_function("taction.replays[0].time > 0.02")
    page.ask("p.seek(p.end - 0.005)")
    page.page.wait_for_function("taction.replays[0].time < 0.4")
    assert page.ask("p.isPlaying")
    page.page.click("button.play")
    assert not page.ask("p.isPlaying")


def test_without_a_loop_it_stops_at_the_end(page):
    page.page.get_by_label("loop").uncheck()
    page.ask("p.seek(p.end - 0.005)")
    page.page.click("button.play")
    page.page.wait_for_function("!taction.replays[0].isPlaying")
    assert page.ask("p.time") == page.ask("p.end") == pytest.approx(0.5)
    page.page.get_by_label("loop").check()


def test_the_slider_goes_to_a_time(page):
    page.page.locator("input[aria-label=Time]").evaluate(
        "(s) => { s.value = 0.25; s.dispatchEvent(new Event('input')); }"
    )
    page.settle()
    assert page.ask("p.time") == pytest.approx(0.25, abs=1e-9)
    assert "0.250 of 0.500 s" in page.page.locator(".clock").inner_text()


def test_buttons_go_from_frame_to_frame(page, run):
    t = draw_run(run).frames.t
    page.seek(float(t[5]))
    page.page.get_by_title("One frame on").click()
    assert page.ask("p.time") == t[6]
    page.page.get_by_title("One frame back").click()
    page.page.get_by_title("One frame back").click()
    assert page.ask("p.time") == t[4]


# ----- What is shown is what was simulated ---------------------------------------------------------------


@pytest.mark.parametrize("frame", [0, 13, -1])
def test_poses_and_curves_are_those_of_the_run(page, run, frame):
    t = float(draw_run(run).frames.t[frame])
    step = round(t / run.dt)
    page.seek(t)
    pose = ta.forward_kinematics(run.model, run.q[step])
    for number, name in enumerate(run.model.body_names):
        shown = page.ask(f"p.pose({name!r})")
        assert shown["position"] == pytest.approx(pose.position[number], rel=2**-24, abs=1e-9)
        w, x, y, z = shown["quaternion"]
        assert [1 - 2 * (y * y + z * z), 2 * (x * y + w * z)] == pytest.approx(
            pose.rotation[number][:2, 0], abs=4 * 2**-23
        )
    assert page.ask(f"p.curves.value('Energies and works', 'kinetic', {t!r})") == run.kinetic[step]


def test_between_frames_poses_are_interpolated(page, run):
    t = draw_run(run).frames.t
    page.seek(float(t[4]))
    before = page.ask("p.pose('box').position[0]")
    page.seek(float(t[5]))
    after = page.ask("p.pose('box').position[0]")
    page.seek(float(t[4] + 0.25 * (t[5] - t[4])))
    assert page.ask("p.pose('box').position[0]") == pytest.approx(0.75 * before + 0.25 * after, rel=1e-9)


def test_a_click_on_a_curve_goes_to_that_time(page):
    over = page.page.locator(".curve .u-over").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    page.page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.settle()
    low, high = page.ask("[p.curves.panels[0].plot.scales.x.min, p.curves.panels[0].plot.scales.x.max]")
    assert page.ask("p.time") == pytest.approx(0.5 * (low + high), abs=(high - low) / box["width"])
    line = page.page.locator(".curve .now").first.bounding_box()
    assert line["x"] == pytest.approx(box["x"] + 0.5 * box["width"], abs=1.5)


# ----- Pictures ------------------------------------------------------------------------------------------


def test_the_picture_shows_something_that_moves(page, folder):
    page.seek(0.0)
    first = picture(page, "desktop.png", folder)
    page.seek(0.4)
    second = picture(page)
    colours = np.unique(first.reshape(-1, 3), axis=0)
    assert len(colours) > 500
    # the box and the robot are of the first two colours of the palette: orange and blue
    red, _, blue = (first[..., k].astype(int) for k in range(3))
    assert (red - blue > 50).sum() > 200 and (blue - red > 40).sum() > 200
    assert (np.abs(first.astype(int) - second).max(axis=-1) > 30).sum() > 500
    page.page.screenshot(path=folder / "desktop_page.png", full_page=True)


def test_dark_where_the_reader_wants_it(open_page, path, folder):
    watched = open_page(path, dark=True).ready()
    shown = picture(watched, "dark.png", folder)
    assert shown[:20].mean() < 80
    body = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(int(x) for x in body[body.index("(") + 1 : -1].split(",")[:3]) < 60
    watched.page.screenshot(path=folder / "dark_page.png")
    assert watched.complaints == []


def test_on_a_phone_nothing_sticks_out(open_page, path, folder):
    watched = open_page(path, width=390, height=844).ready()
    wide, inner = watched.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    watched.page.screenshot(path=folder / "phone.png", full_page=True)
    assert wide <= inner
    for name in ("button.play", "input[aria-label=Time]", ".clock", ".options"):
        box = watched.page.locator(name).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= inner and box["height"] > 0
    assert watched.complaints == []


# ----- Several, and broken ones --------------------------------------------------------------------------


def test_two_drawings_share_a_time(open_page, run, folder):
    drawing = draw_run(run)
    parts = [replay_part([("one", drawing), ("two", drawing)]), script_part()]
    watched = open_page(write_page(folder / "two.html", make_page("two", parts, []))).ready()
    watched.seek(0.3)
    one, two = watched.ask("[p.pose('box', 0), p.pose('box', 1)]")
    assert one == two and watched.ask("p.stages.length") == 2
    assert watched.page.locator(".names span").all_inner_texts() == ["one", "two"]
    shown = picture(watched).astype(int)
    half = shown.shape[1] // 2
    left, right = shown[:, :half], shown[:, half : 2 * half]
    assert np.ptp(left.reshape(-1, 3), axis=0).min() > 50 and np.ptp(right.reshape(-1, 3), axis=0).min() > 50
    assert watched.complaints == []


@pytest.mark.parametrize("damage", ["cut", "no gzip", "no text"])
def test_a_damaged_drawing_is_said(open_page, run, folder, damage):
    part = replay_part([("box", draw_run(run, panels=[]))])
    start, end = part.index(">", part.index("<script")) + 1, part.index("</script")
    text = {"cut": part[start : (start + end) // 8 * 4 + start % 4], "no gzip": "AAAA", "no text": "*?"}[
        damage
    ]
    html = make_page("damaged", [part[:start] + text + part[end:], script_part()], [])
    watched = open_page(write_page(folder / f"{damage}.html", html))
    failed = watched.page.locator("p.failed")
    failed.wait_for(timeout=10_000)
    assert failed.inner_text().startswith("The replay cannot be shown: ")
    assert watched.complaints == []
