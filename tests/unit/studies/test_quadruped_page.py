"""The page of the legged-robot document's Chapter 5, over short times."""

from __future__ import annotations

import pytest

from taction.contact.forces.parameters import Penalty
from taction.studies import quadruped_cases, quadruped_texts
from taction.studies.quadruped_cases import CASES, as_trial, run_case, run_trial
from taction.studies.quadruped_figures import document_figures, force_label
from taction.studies.quadruped_page import contact_table, motion_table, write_quadruped_page
from taction.studies.quadruped_texts import spring_name

LAWS = ("exact", "penalty")
STIFFNESS = (1e6, 1e8)  # [N/m]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    said, folder = [], tmp_path_factory.mktemp("page") / "new"
    with pytest.MonkeyPatch.context() as patch:  # two stiffnesses instead of all: half the time
        for module in (quadruped_cases, quadruped_texts):
            patch.setattr(module, "STIFFNESS", STIFFNESS)
        path, figures = write_quadruped_page(folder, duration=0.2, progress=said.append)
    return path.read_text(encoding="utf-8"), figures, said


@pytest.mark.long
def test_page_stands_alone_and_has_all_figures(written):
    text, _, said = written
    assert "://" not in text.replace("http://www.w3.org", "") and len(text) < 6e6
    for number_ in range(2, 32):
        assert f"Figure 5.{number_} a, c, e:" in text and f"Figure 5.{number_} b, d, f:" in text
    # 30 figures of two pictures, a strip per experiment, two of the reference, works
    assert text.count("<svg") == 60 + 5 + 2 + 5
    # the experiments under both laws, falls with other contacts and with explicit gains
    assert text.count('<div class="replay"') == 5 + 2 and text.count('class="drawing"') == 10 + 3 + 2
    for heading in ("why it differs", "Stiffness of the springs", "7.7 m/s was chosen", "no run violates"):
        assert heading in text
    assert len(said) == len(CASES) + 4


@pytest.mark.long
def test_all_runs_are_measured_and_obey_their_laws(written):
    _, figures, _ = written
    assert figures["violations"] == []
    for case in CASES:
        for law in LAWS:
            assert not figures[f"{case.key}_{law}_blew_up"]
        name = f"{case.key}_exact"
        assert figures[f"{name}_penetration"] <= 1e-6 and figures[f"{name}_residual"] <= 1e-8
        # the laws allow no work with the velocities after a step: rounding of energies of 1e3 J
        assert figures[f"{name}_largest_gain_after"] <= 1e-9
    # an impact is an impulse over a step, which springs spread over many
    assert 0.0 < figures["fall_10cm_force_ratio"] < 0.5
    assert figures["explicit_fall_50cm_end"] == pytest.approx(0.2)
    assert figures["method_sweeps_residual"] > figures["method_solved_residual"]
    # stiffer springs allow shorter steps; the stiffest blow up while it stands
    steps = [figures[f"{spring_name(k)}_allowed_step"] for k in STIFFNESS]
    assert steps == sorted(steps, reverse=True)
    assert figures["springs_1e8_trot_blew_up"] and not figures["springs_1e6_trot_blew_up"]


def test_a_run_that_blew_up_is_drawn_and_listed(tmp_path):
    case = CASES[1]
    exact = run_trial(case, "exact", 0.2, 5e-4)
    blown = as_trial(case, "penalty", *run_case(case, Penalty(stiffness=1e9, damping=9e4), 0.2, 5e-4))
    assert blown.run.blew_up and blown.violations
    assert "blew up at" in motion_table([exact, blown])
    assert "failed" in contact_table([exact, blown])
    assert document_figures(exact, blown).count("<svg") == 12


def test_ticks_of_forces_read_well():
    assert [force_label(x) for x in (-1e4, 0.0, 100.0, 1e6)] == ["−10 k", "0", "100", "1 M"]
