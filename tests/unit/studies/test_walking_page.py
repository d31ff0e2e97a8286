"""The page of the report on contact and friction, over short times, and the studies behind it."""

from __future__ import annotations

import numpy as np
import pytest

from taction.studies.walking_cases import CHANGES, growth_rate, record_walk, replay, study_energy
from taction.studies.walking_figures import pose_strip
from taction.studies.walking_page import PARTS, write_walking_page

pytestmark = pytest.mark.filterwarnings("ignore::taction.UnsupportedFeatureWarning")
BY_KEY = {change.key: change for change in CHANGES}


@pytest.fixture(scope="module")
def walk():
    return record_walk(duration=3.6)


# ----- Replays --------------------------------------------------------------------------------------------


def test_the_rate_of_an_exponential_is_found_and_of_nothing_else():
    t = np.linspace(0.0, 3.0, 3001)
    rng = np.random.default_rng(1)
    apart = 1e-14 * np.exp(12.0 * t) * (1.0 + 0.1 * rng.normal(size=t.size))
    assert growth_rate(t, apart) == pytest.approx(12.0, rel=0.01)
    assert growth_rate(t, 1e-3 * t**2) is None  # what a wrong force does by itself
    assert growth_rate(t, np.full_like(t, 1e-9)) is None
    assert growth_rate(t, np.where(t > 2.0, apart, 1.0), after=2.0) is None  # too late to tell


@pytest.mark.long
def test_open_loop_falls_by_rounding_alone_at_a_rate_of_the_walk(walk):
    """The rate is neither that of the disturbance nor that of the step."""
    rounding, loose = (replay(walk, BY_KEY[key], has_feedback=False) for key in ("nothing", "tolerance"))
    assert rounding.divergence[300] < 1e-9 < loose.divergence[300]
    assert 5.0 < rounding.rate < 25.0 and 5.0 < loose.rate < 25.0
    assert loose.fall_time is not None and rounding.divergence.max() > 0.01
    finer = replay(record_walk(duration=3.6, dt=5e-4), BY_KEY["nothing"], has_feedback=False)
    assert finer.rate == pytest.approx(rounding.rate, rel=0.25)


@pytest.mark.parametrize("key", ["model", "push"])
def test_open_loop_falls_and_feedback_does_not(walk, key):
    opened, fed = (replay(walk, BY_KEY[key], has_feedback=has) for has in (False, True))
    assert opened.fall_time is not None and opened.fall_time < 2.0
    height = opened.run.q[:, 1]
    assert height[-1] < 0.5 * height[0] < height[-2]
    assert fed.fall_time is None and fed.run.t[-1] == pytest.approx(3.6)
    assert fed.divergence.max() < 0.1 and fed.distance == pytest.approx(walk.run.q[-1, 0], abs=0.05)


def test_another_step_is_compared_at_the_same_times(walk):
    fed = replay(walk, BY_KEY["step"], has_feedback=True)
    assert fed.run.dt == pytest.approx(0.5 * walk.run.dt) and len(fed.t) == len(walk.run.t)
    assert fed.divergence.max() < 0.01


# ----- The pendulum ---------------------------------------------------------------------------------------


def test_errors_of_the_energy_have_the_order_of_the_method():
    coarse, fine = ({e.integrator: e for e in study_energy(1.0, dt)} for dt in (4e-3, 2e-3))
    assert len(coarse) == 5
    for name in ("explicit-euler", "implicit-euler", "rk4"):
        assert coarse[name].largest / fine[name].largest > 0.85 * 2.0 ** coarse[name].order
    assert fine["explicit-euler"].error[-1] > 0.0 > fine["implicit-euler"].error[-1]
    assert abs(fine["dormand-prince"].error).max() < 1e-8
    for e in fine.values():
        assert e.largest == np.abs(e.error).max() and e.error[0] == 0.0


# ----- The page -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    said, folder = [], tmp_path_factory.mktemp("page") / "new"
    path, figures = write_walking_page(
        folder, duration=1.6, pendulum_time=1.0, directions=0, progress=said.append
    )
    return path.read_text(encoding="utf-8"), figures, said


@pytest.mark.long
def test_page_stands_alone_and_has_all_figures(written):
    text, figures, said = written
    assert "://" not in text.replace("http://www.w3.org", "") and len(text) < 6e6
    for words in (
        "figure 1",
        "Figure 4",
        "Figure 5",
        "robot of figure 2",
        "leaves open",
        "all checks passed",
    ):
        assert words in text
    # pendulum, a strip and four pictures per robot, the fall, divergence of each robot, strips in space
    assert text.count("<svg") == 2 + 2 * 5 + 1 + 2 * 2 + 2
    # the pendulum, both robots walking and compared, two changes of each robot's replay, walks in space
    assert text.count('<div class="replay"') == 1 + 2 * 2 + 2 * 2 + 2
    assert len(PARTS) == 6 and len(said) == 1 + 2 * 4 + 2 + 2
    assert figures["violations"] == []


@pytest.mark.long
def test_the_page_says_what_the_runs_say(written):
    text, figures, _ = written
    assert figures["humanoid_model_open_falls"] is True and figures["humanoid_model_feedback_falls"] is False
    assert figures["four_legged_push_feedback_falls"] is False
    for robot in ("humanoid", "four_legged"):
        assert figures[f"{robot}_inverse_round_trip_error"] <= 1e-10
        assert f"{figures[f'{robot}_inverse_distance']:.3f}" in text
    assert f"{figures['humanoid_model_open_fall_time']:.2f} s" in text


def test_poses_may_stay_where_they_are(walk):
    beside, there = (pose_strip(walk.run, [0.0, 1.0, 2.0], "walk", apart=a) for a in (1.0, 0.0))
    assert "x [m]" in there and "x [m]" not in beside and "x = " in beside
