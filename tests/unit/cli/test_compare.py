"""``taction compare``: one JSON object, a page, and one line for bad input."""

from __future__ import annotations

import json

import pytest

from helpers import hide_module
from taction.cli.main import main

QUICK = ("compare", "block-slope", "--contact", "exact,penalty", "--duration", "0.1")


def test_json_and_page(capsys, tmp_path):
    assert main([*QUICK, "--set", "angle=35", "--stiffness", "2e4", "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"scenario", "dt", "duration", "reference", "models", "step_study", "verdict"} <= set(told)
    assert told["parameters"]["angle"] == 35.0 and told["reference"] == "exact"
    for model in told["models"]:
        assert {
            "contact", "stepper", "solver", "steps", "wall_us_per_step", "blew_up", "certificate", "energy",
            "metrics", "end_difference", "worst_difference", "penetration", "slip", "energy_rise",
        } <= set(model)  # fmt: skip
        assert model["steps"] == 100 and model["wall_us_per_step"] > 0.0 and not model["blew_up"]
    assert [study["contact"] for study in told["step_study"]] == ["exact", "penalty"]
    assert all(isinstance(sentence, str) for sentence in told["verdict"])
    assert (tmp_path / "compare.html").stat().st_size > 10_000


def test_for_people(capsys, tmp_path):
    assert main([*QUICK, "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert "stewart-trinkle" in out and "- penalty overlaps" in out
    assert "compare.html" in err and "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["compare", "no-such", "--contact", "exact,convex"], "unknown scenario"),
        (["compare", "block-slope", "--contact", "exact,soft"], "contact 'soft'"),
        (["compare", "block-slope", "--contact", "exact"], "two models"),
        (["compare", "block-slope", "--contact", "exact,exact"], "listed twice"),
        (["compare", "double-pendulum", "--contact", "exact,convex"], "no contact"),
        (["compare", "block-slope", "--contact", "exact,convex", "--stiffness", "1e4"], "--stiffness"),
        (["compare", "block-slope", "--contact", "exact,convex", "--dt", "-1"], "dt must be positive"),
        (["compare", "block-slope", "--contact", "exact,convex", "--set", "tilt=1"], "unknown parameter"),
    ],
)
def test_bad_input_is_one_line(capsys, tmp_path, words, complaint):
    assert main([*words, "--out", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and complaint in err and len(err.splitlines()) == 1


def test_folder_that_cannot_be_made(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    assert main([*QUICK, "--out", str(tmp_path / "file" / "below")]) == 2
    assert "--out" in capsys.readouterr().err


def test_without_matplotlib(capsys, monkeypatch, tmp_path):
    hide_module(monkeypatch, "matplotlib")
    assert main([*QUICK, "--out", str(tmp_path)]) == 2
    assert "taction[plot]" in capsys.readouterr().err
