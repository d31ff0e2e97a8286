"""A live session: its pieces are one motion, every page sees all of it, and nothing a page says ends it."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import taction as ta
from taction.viewer.actor import STIFF, Actor, Drag, grasp
from taction.viewer.session import PIECE, Session
from taction.viewer.sources import Choice, Folder, Play


class Page:
    """What a page was sent."""

    def __init__(self) -> None:
        self.said: list[dict] = []
        self.drawn: list[bytes] = []

    def __call__(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            self.drawn.append(message)
        else:
            self.said.append(json.loads(message, parse_constant=lambda word: pytest.fail(f"{word} in JSON")))

    @property
    def state(self) -> dict:
        return next(message for message in reversed(self.said) if message["is"] == "state")


def until(condition: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = clock.monotonic() + 20.0
    while not condition():
        assert clock.monotonic() < end, "waited for 20 s"
        clock.sleep(0.005)


def tell(session: Session, do: str, **more) -> None:
    session.hear(json.dumps({"do": do, **more}))


@pytest.fixture
def session(tmp_path) -> Iterator[Session]:
    session = Session(Folder(tmp_path))
    yield session
    session.close()
    assert not session._thread.is_alive()


def box_play(coordinates: str = "reduced", gravity: float = 9.81, **start) -> Play:
    """A box of 2 kg on the ground, or floating without gravity."""
    box = ta.free_body("box", ta.Box((0.3, 0.3, 0.2)), mass=2.0, position=(0, 0, 0.1 if gravity else 1.0))
    world = ta.World(box, ground=ta.Plane(friction=0.5), gravity=(0, 0, -gravity))
    return Play("box", ta.Simulation(world, dt=1e-3, coordinates=coordinates), start, np.inf)


# ----- Running ---------------------------------------------------------------------------------------------


def test_open_run_pause_step_speed(session):
    page = Page()
    session.join(page)
    tell(session, "open", choice={"scenario": "block-slope", "parameters": {"angle": "30"}})
    assert page.state["choice"]["scenario"] == "block-slope" and not page.state["isRunning"]
    assert page.state["error"] == "" and page.state["time"] == pytest.approx(1e-3) and len(page.drawn) == 1
    assert [m["text"] for m in page.said if m["is"] == "busy"][-1] == ""
    tell(session, "step")
    until(lambda: len(page.drawn) == 2)
    until(lambda: page.state["time"] == pytest.approx(2e-3))
    assert not page.state["isRunning"]
    tell(session, "speed", value=100)
    assert page.state["speed"] == 100.0
    tell(session, "run")
    until(lambda: page.state["time"] > 0.2 and page.state["residual"] is not None)
    tell(session, "pause")
    assert not page.state["isRunning"]
    until(lambda: session._lock.acquire(timeout=1) and not session._lock.release())
    assert page.state["residual"] <= page.state["limit"]


def test_it_ends_with_the_scenario_and_runs_on(session):
    page = Page()
    session.join(page)
    play = box_play()
    session.show_plays([Play("box", play.simulation, {}, 0.1)])
    tell(session, "run")
    until(lambda: not page.state["isRunning"] and page.state["time"] >= 0.1)
    assert page.state["time"] < 0.1 + 1.5 * PIECE
    tell(session, "run")
    until(lambda: page.state["time"] > 0.2)


def test_a_stop_ends_it(session):
    page = Page()
    session.join(page)
    session.show_plays([box_play(stop=lambda t, q, v: t > 0.05)])
    tell(session, "run")
    until(lambda: not page.state["isRunning"])
    assert page.state["time"] == pytest.approx(0.051, abs=0.0011) and page.state["error"] == ""


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_pieces_are_one_motion(coordinates):
    """Bit for bit, under a controller that is asked every 7 ms, which pieces must not change."""
    times = []

    def forces(t, q, v):
        times.append(round(t, 9))
        return np.array([9.0 - 90.0 * q[0], 1.0 - v[1], 0, 0, 0, 0.1])

    play = box_play(coordinates, v=[0.5, 0, 0, 0, 0, 3.0], controller=forces, control_dt=7e-3)
    actor = Actor(play)
    actor.advance(0.0)
    assert actor.time == pytest.approx(7e-3)
    while actor.time < 0.5:
        actor.advance(PIECE)
    pieced = times.copy()
    times.clear()
    whole = play.simulation.run(actor.time, **play.start)
    assert np.array_equal(whole.q[-1], actor.state.q if coordinates == "reduced" else actor.run.q[-1])
    assert np.array_equal(whole.v[-1], actor.run.v[-1])
    assert np.array_equal(whole.state.impulse, actor.state.impulse)
    assert times == pieced


def test_pieces_keep_what_a_state_holds():
    play = box_play(gravity=0.0)
    start = play.simulation.state()
    held = np.zeros((play.simulation.model.n_links, 6))
    held[-1, 3] = 4.0  # newton along x
    from dataclasses import replace

    actor = Actor(Play("box", play.simulation, {"state": replace(start, wrench=held)}, np.inf))
    actor.advance(0.0)
    actor.advance(0.1)
    assert actor.run.v[-1, 0] == pytest.approx(4.0 / 2.0 * actor.time)
    actor.advance(0.1, -held)
    assert actor.run.v[-1, 0] == pytest.approx(actor.run.v[0, 0])


def test_two_beside_each_other(session):
    page = Page()
    session.join(page)
    session.open(Choice(scenario="block-slope", beside="convex"))
    tell(session, "speed", value=100)
    tell(session, "run")
    until(lambda: session.actors[0].time > 0.1)
    tell(session, "pause")
    until(lambda: len({actor.time for actor in session.actors}) == 1)
    assert [actor.run.contact for actor in session.actors] == ["exact", "convex"]


# ----- Pages -----------------------------------------------------------------------------------------------


def test_who_comes_late_sees_everything(session):
    first, late = Page(), Page()
    session.join(first)
    session.show_plays([box_play()])
    tell(session, "speed", value=100)
    tell(session, "run")
    until(lambda: len(first.drawn) > 5)
    number = session.join(late)
    until(lambda: len(first.drawn) > 10)
    tell(session, "pause")
    until(lambda: first.state == late.state and not session.is_running)
    assert late.drawn == first.drawn[: len(late.drawn)] and len(late.drawn) > 10
    assert late.said[0]["is"] == "offers" and late.said[0]["files"] == []
    session.leave(number)
    session.leave(number)
    count = len(late.said)
    tell(session, "speed", value=2)
    assert len(late.said) == count and first.state["speed"] == 2.0


def test_a_recorded_run(session):
    page = Page()
    session.join(page)
    session.show_run(box_play().simulation.run(0.02))
    assert len(page.drawn) == 1 and not page.state["isLive"] and page.state["time"] is None
    for do in ("run", "step"):
        tell(session, do)
        assert "played" in page.state["error"]


# ----- What goes wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fails", "said"),
    [(ZeroDivisionError("nothing by nothing"), "ZeroDivisionError"), (ta.BadInput("too bad"), "too bad")],
)
def test_an_error_in_a_motion_is_said(session, fails, said):
    def forces(t, q, v):
        if t > 0.1:
            raise fails
        return np.zeros(6)

    page = Page()
    session.join(page)
    session.show_plays([box_play(controller=forces)])
    tell(session, "run")
    until(lambda: page.state["error"] != "")
    assert said in page.state["error"] and not page.state["isRunning"]
    tell(session, "open", choice={"scenario": "block-slope"})
    tell(session, "run")
    until(lambda: page.state["time"] > 0.05)
    assert page.state["error"] == ""


@pytest.mark.parametrize(
    "text",
    [
        "", "nonsense", "[1]", "null", "{}", '{"do": "dance"}', '{"do": ["run"]}', b"\xff\xfe", "[" * 60_000,
        '{"do": "speed"}', '{"do": "speed", "value": "fast"}', '{"do": "speed", "value": NaN}',
        '{"do": "speed", "value": 0}', '{"do": "speed", "value": 1e9}',
        '{"do": "open"}', '{"do": "open", "choice": []}', '{"do": "open", "choice": {"scenario": ["a"]}}',
        '{"do": "open", "choice": {"file": "../x.h5"}}',
        '{"do": "open", "choice": {"file": "x.urdf", "weather": 1}}',
        '{"do": "drag"}', '{"do": "drag", "which": 0, "body": 7, "target": [0, 0, 0]}',
        '{"do": "drag", "which": 1e999, "body": 0, "target": [0, 0, 0]}',
        '{"do": "drag", "which": 0, "body": 0, "target": [0, 0]}',
        '{"do": "drag", "which": 0, "body": 0, "target": [0, 0, 1e300], "point": [0, 0, 0]}',
        '{"do": "drag", "which": 0, "body": 0, "target": [0, 0, NaN], "point": [0, 0, 0]}',
    ],
)  # fmt: skip
def test_nonsense_is_said_and_does_no_harm(session, text):
    page = Page()
    session.show_plays([box_play()])
    session.join(page)
    session.hear(text)
    assert page.state["error"] and "\n" not in page.state["error"]
    assert session.drag is None
    before = page.state["time"]
    tell(session, "run")
    until(lambda: page.state["time"] > before + 0.05)
    assert page.state["error"] == ""


# ----- Dragging --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coordinates", ["reduced", "absolute"])
def test_a_drag_pulls_a_free_box_to_its_target(coordinates):
    """Mass M on the spring M ω² with damping 1.4 M ω: x(t) of the damped oscillator; forces are held 5 ms."""
    actor, worked = Actor(box_play(coordinates, gravity=0.0)), 0.0
    actor.advance(0.0)
    drag = Drag(0, 0, (0.0, 0.0, 0.0), (0.2, 0.0, 1.0))
    begin = actor.time
    for _ in range(100):
        wrench, force = drag.wrench(actor)
        run = actor.advance(0.005, wrench)
        assert force == pytest.approx(np.linalg.norm(wrench[-1, 3:]))
        worked += run.energy.actuation
        assert abs(run.energy.remainder or 0.0) < 1e-9
    t, decay = actor.time - begin, 0.7 * STIFF
    omega = np.sqrt(STIFF**2 - decay**2)
    exact = 0.2 * (1 - np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t)))
    assert actor.run.q[-1, 0] == pytest.approx(exact, abs=0.2 * STIFF * 0.005)
    assert worked == pytest.approx(run.kinetic[-1], abs=1e-9) and worked > 0
    actor.advance(0.1)
    assert np.allclose(actor.run.v[-1], actor.run.v[0], atol=1e-12)  # released


def test_a_box_grasped_at_its_edge_turns():
    actor = Actor(box_play(gravity=0.0))
    actor.advance(0.0)
    drag = grasp(actor, 0, 0, np.array([0.15, 0.0, 1.0]), (0.15, 0.0, 1.2))
    assert drag.point == pytest.approx((0.15, 0.0, 0.0))
    actor.advance(0.02, drag.wrench(actor)[0])
    assert actor.run.v[-1, 2] > 0 and actor.run.v[-1, 4] < -0.01


def test_pages_drag_and_release(session):
    page = Page()
    session.join(page)
    session.show_plays([box_play()])
    tell(session, "drag", which=0, body=0, target=[1, 0, 0])  # without a grasp it is nothing
    assert session.drag is None
    tell(session, "drag", which=0, body=0, point=[0, 0, 0.1], target=[0, 0, 0.1])
    tell(session, "drag", which=0, body=0, target=[0.3, 0, 0.4])
    tell(session, "run")
    until(lambda: page.state["time"] > 1.0)
    assert page.state["pull"] > 1.0
    x = session.actors[0].run.q[-1]
    assert x[2] > 0.2 and abs(x[0] - 0.3) < 0.1
    tell(session, "release")
    assert page.state["pull"] is None
    until(lambda: page.state["time"] > 2.0)
    assert session.actors[0].run.q[-1, 2] < 0.25


def test_the_last_page_lets_go(session):
    number = session.join(Page())
    session.show_plays([box_play()])
    tell(session, "drag", which=0, body=0, point=[0, 0, 0.1], target=[0, 0, 1])
    assert session.drag is not None
    session.leave(number)
    assert session.drag is None


def test_smooth_motion_is_not_pulled():
    smooth = ta.Simulation(ta.robots.double_pendulum(), dt=1e-3, integrator="rk4")
    actor = Actor(Play("arm", smooth, {}, np.inf))
    actor.advance(0.0)
    assert Drag(0, 0, (0, 0, 0), (1, 1, 1)).wrench(actor) == (None, 0.0)
