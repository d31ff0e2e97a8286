"""The bench of piles: promised fields, the same mechanism on both sides, small piles that are solved."""

from __future__ import annotations

import json

import mujoco
import numpy as np
import pytest

from taction.bench import pile
from taction.bench.step_models import BIN, bin_mjcf, pile_mjcf
from taction.io.mjcf import parse_mjcf
from taction.model.compile import compile_model


def test_both_read_the_same_spheres():
    text = bin_mjcf(20)
    ours, theirs = compile_model(parse_mjcf(text)), mujoco.MjModel.from_xml_string(text)
    assert ours.nv == theirs.nv == 120
    assert ours.total_mass == pytest.approx(theirs.body_mass.sum())
    assert theirs.opt.timestep == 5e-3


@pytest.mark.long
def test_rows():
    cases = [
        pile.Case("spheres", bin_mjcf(24), 120, BIN, "20 ms"),
        pile.Case("boxes", pile_mjcf(4), 120),
        pile.Case("lifted", bin_mjcf(24), 120, BIN, contact="convex"),
    ]
    result = pile.bench_pile(cases=cases)
    json.dumps(result)
    assert result["bench"] == "pile" and [row["case"] for row in result["rows"]] == [
        "spheres",
        "boxes",
        "lifted",
    ]
    for row in result["rows"]:
        assert row["ratio"] == pytest.approx(row["ours"] / row["peer"])
        assert row["residual"] <= 1e-8 and row["unconverged"] == 0
        assert row["energy_rise"] <= 1e-6  # of the scheme's order, where contacts that stay and new ones mix
        assert row["escaped"] == row["peer_escaped"] == 0
        assert row["peer_residual"] > row["residual"]
    assert result["rows"][0]["penetration"] <= 1e-5


def test_who_escaped():
    q = np.zeros((4, 7))
    q[:, 2] = 0.1
    q[1, 0], q[2, 1], q[3, 2] = 0.2, -0.2, -0.1
    assert pile.escaped(q.ravel(), 0.15) == 3
    assert pile.escaped(q.ravel(), float("inf")) == 1
