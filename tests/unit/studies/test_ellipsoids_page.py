"""The page of the document on compliant contact."""

from __future__ import annotations

import json

import pytest

from taction.cli.main import main


@pytest.mark.long
def test_page_has_figures_and_comparison(tmp_path, capsys):
    assert main(["reproduce", "ellipsoids", "--out", str(tmp_path / "new"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    figures = result["figures"]
    text = (tmp_path / "new" / "ellipsoids.html").read_text(encoding="utf-8")
    assert text.count("<svg") == 8 and "://" not in text.replace("http://www.w3.org", "")
    assert text.count('<div class="replay"') == 3 and text.count('class="drawing"') == 5
    for heading in ("Figure 5", "Figure 6", "why it differs", "(f) t ="):
        assert heading in text
    assert not figures["violations"]
    # three steps: energy never rises by more than the scheme's error, which is of second order
    assert max(figures["energy_rises"]) < 1e-3 and figures["energy_rises"][-1] < 1e-9
    first, last = figures["conservation_errors"][0], figures["conservation_errors"][-1]
    assert first / last > 2**3.5  # two halvings of the step
    assert figures["max_penetration"] < 0.05 and figures["rigid_penetration"] < 1e-6


def test_an_unknown_document_is_one_line(capsys):
    assert main(["reproduce", "moon"]) == 2
    assert "document 'moon': choose from snake, ellipsoids" in capsys.readouterr().err
