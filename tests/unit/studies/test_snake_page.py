"""The page of the snake document's experiments, over short times."""

import re
from collections import defaultdict

import numpy as np
import pytest

from taction.scenarios.snake_motion import Places
from taction.studies.snake_page import LinkPaths, _drop_pictures, comparison, write_snake_page


def test_times_of_robots_that_coincide_can_be_told_apart():
    """A robot at rest is drawn at one place at several times: times are in the legend."""
    t = np.linspace(0.0, 0.7, 8)
    centre, axis = np.zeros((8, 2, 3)), np.zeros((8, 2, 3))
    centre[:, 1, 0], axis[..., 0] = 0.2, 1.0
    still = LinkPaths(Places(t, centre, axis), np.zeros(8))
    picture = _drop_pictures(still, still, 0.2).split("<figure>")[1]
    keys, drawn = picture.split("<svg")
    colours = re.findall(r"(var\(--c\d\))\"></i>(\d\.\d\d) s", keys)
    assert [float(time) for _, time in colours] == pytest.approx(t) and len({c for c, _ in colours}) == 8
    assert not re.search(r"\d s</text>", drawn)


def test_no_distance_is_less_than_nothing():
    ways = ("distance", "document_distance", "isotropic_distance")
    text = comparison(defaultdict(float, dict.fromkeys(ways, -0.001)))
    assert "-0.00" not in text and ">0.00 m towards link 1" in text and text.count(">0.00 m<") == 2
    assert "−0.25 m towards" in comparison(defaultdict(float, distance=-0.25))


@pytest.mark.long
def test_page_has_figures_and_comparison(tmp_path):
    said = []
    path, figures = write_snake_page(tmp_path / "new", drop_time=0.5, gait_time=0.2, progress=said.append)
    text = path.read_text(encoding="utf-8")
    assert text.count("<svg") == 6 and "://" not in text.replace("http://www.w3.org", "")
    assert text.count('<div class="replay"') == 3 and text.count('class="drawing"') == 6
    for heading in ("Figure 5", "Figure 6", "Figure 7", "why it differs"):
        assert heading in text
    assert figures["freedoms"] == 26 and figures["contact_points"] == 22
    assert figures["joint_gap"] <= 1e-12 and figures["residual"] <= 1e-8 and not figures["violations"]
    # limp joints: energies are sums of some hundred terms of 1e3 J
    assert figures["energy_rise"] <= 1e-9
    # two independent implementations see the same impact
    assert abs(figures["largest_jump"] - figures["document_largest_jump"]) <= 0.05 * figures["largest_jump"]
    assert len(said) == 4
