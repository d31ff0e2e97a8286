"""The page of the snake document's experiments, over short times."""

import pytest

from taction.studies.snake_page import write_snake_page


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
