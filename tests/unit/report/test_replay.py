"""Replays in pages: what they hold, and how small they are."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

import taction as ta
from taction.report.replay import runs_part


def heads(part):
    """Head of the description of every drawing of a part."""
    texts = re.findall(
        r'<script type="text/plain" class="drawing" data-name="([^"]*)">([^<]*)</script>', part
    )
    out = {}
    for name, text in texts:
        data = gzip.decompress(base64.b64decode(text))
        out[name] = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    return out


@pytest.fixture(scope="module")
def swing():
    return ta.Simulation(ta.robots.double_pendulum(), dt=1e-3).run(1.0, q=[1.0, 0.5])


def test_runs_beside_each_other_have_names_and_no_curves(swing):
    part = runs_part({"one": swing, "two <way>": swing, "failed at once": None})
    assert part.startswith('<div class="replay">') and part.count("<div") == 1
    found = heads(part)
    assert list(found) == ["one", "two &lt;way&gt;"]
    assert all(head["panels"] == [] for head in found.values())
    assert runs_part({"failed at once": None}) == ""


def test_runs_beside_each_other_share_what_one_may_take(swing, monkeypatch):
    monkeypatch.setattr("taction.report.replay.SMALL", 7200)  # a frame of two bodies takes 72 bytes
    alone, both = heads(runs_part({"a": swing})), heads(runs_part({"a": swing, "b": swing}))
    counts = [head["frames"]["t"]["shape"][0] for head in (alone["a"], both["a"])]
    assert 90 <= counts[0] <= 101 and 45 <= counts[1] <= 51
