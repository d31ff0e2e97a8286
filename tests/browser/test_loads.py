"""How large pages get, and how fast many bodies play."""

from __future__ import annotations

import pytest

from crowds import pile_of, snake_of
from taction.report.page import make_page, write_page
from taction.report.replay import replay_part, script_part
from taction.report.run_report import write_outcome
from taction.scenarios import get_scenario

MOST_BYTES = 10_000_000
FAST, SLOWEST = 30.0, 5.0  # frames per second that a graphics card must give, and a processor alone

# Plays until the picture is as simple as it gets, then 60 frames or 6 s. Mean time between frames [ms], the
# least mean of ten in a row, which other work on the machine disturbs least, their number, the level.
CLOCK = """() => new Promise((done) => {
  const p = taction.replays[0], times = [], mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  let last = null, start = null, level = null;
  p.play();
  const beat = (now) => {
    if (p.theatre.quality !== level) { level = p.theatre.quality; last = start = null; times.length = 0; }
    start ??= now;
    if (last !== null) times.push(now - last);
    last = now;
    if (times.length < 60 && (times.length < 12 || now - start < 6000)) return requestAnimationFrame(beat);
    const least = Math.min(...times.slice(9).map((_, i) => mean(times.slice(i, i + 10))));
    done([mean(times), least, times.length, level]);
  };
  requestAnimationFrame(beat);
})"""


@pytest.mark.filterwarnings("ignore::taction.OverlapWarning")
def test_ten_seconds_of_a_quadruped_are_a_small_page(tmp_path):
    outcome = get_scenario("quadruped-trot").run()
    assert outcome.duration >= 10.0
    size = write_outcome(outcome, tmp_path / "page.html").stat().st_size
    print(f"page of {outcome.duration:g} s of the quadruped: {size / 1e6:.2f} MB")
    assert size < MOST_BYTES


@pytest.mark.parametrize("make", [lambda: snake_of(1000), lambda: pile_of(200)], ids=["snake", "pile"])
def test_many_bodies_play(open_page, make, tmp_path, request):
    html = make_page("many", [replay_part([("many", make())]), script_part()], [])
    watched = open_page(write_page(tmp_path / "many.html", html), width=1280, height=720).ready()
    mean, least, count, level = watched.page.evaluate(CLOCK)
    name, is_software = watched.ask("[p.theatre.rendererName, p.theatre.isSoftware]")
    print(
        f"{request.node.name}: {mean:.1f} ms a frame over {count}, least {least:.1f}, level {level}, {name}"
    )
    watched.page.close()
    assert 1000.0 / least >= (SLOWEST if is_software else FAST)
    assert watched.complaints == []
