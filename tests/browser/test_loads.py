"""How large pages get, and how fast many bodies play."""

from __future__ import annotations

import pytest

from crowds import pile_of, snake_of
from taction.report.page import make_page, write_page
from taction.report.replay import replay_part, script_part
from taction.report.run_report import write_outcome
from taction.scenarios import get_scenario

MOST_BYTES = 10_000_000
MOST_CALLS = 12  # drawings that a frame may ask of the graphics card, however many bodies there are
MOST_TRIANGLES = 150_000  # of a frame that plays as simply as it gets

# Plays 30 frames: mean time between frames [ms], and the least mean of ten in a row.
PLAY = """() => new Promise((done) => {
  const p = taction.replays[0], times = [], mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  let last = null;
  p.play();
  const beat = (now) => {
    if (last !== null) times.push(now - last);
    last = now;
    if (times.length < 30) return requestAnimationFrame(beat);
    done([mean(times), Math.min(...times.slice(9).map((_, i) => mean(times.slice(i, i + 10))))]);
  };
  requestAnimationFrame(beat);
})"""
WORK = "[p.theatre.renderer.info.render.calls, p.theatre.renderer.info.render.triangles]"


@pytest.mark.filterwarnings("ignore::taction.OverlapWarning")
def test_ten_seconds_of_a_quadruped_are_a_small_page(tmp_path):
    outcome = get_scenario("quadruped-trot").run()
    assert outcome.duration >= 10.0
    size = write_outcome(outcome, tmp_path / "page.html").stat().st_size
    print(f"page of {outcome.duration:g} s of the quadruped: {size / 1e6:.2f} MB")
    assert size < MOST_BYTES


@pytest.mark.long
@pytest.mark.parametrize("make", [lambda: snake_of(1000), lambda: pile_of(200)], ids=["snake", "pile"])
def test_many_bodies_play(open_page, make, tmp_path, request):
    """The work of a frame is bounded; how long it takes is said, and depends on the machine."""
    html = make_page("many", [replay_part([("many", make())]), script_part()], [])
    watched = open_page(write_page(tmp_path / "many.html", html), width=1280, height=720).ready()
    watched.ask("p.theatre.quality = 0")
    mean, least = watched.page.evaluate(PLAY)
    calls, triangles = watched.ask(WORK)
    print(
        f"{request.node.name}: {mean:.1f} ms a frame, least {least:.1f}; {calls} calls, {triangles} triangles"
    )
    watched.page.close()
    assert 0 < calls <= MOST_CALLS and 0 < triangles <= MOST_TRIANGLES
    assert watched.complaints == []
