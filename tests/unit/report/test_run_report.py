"""The page of a run: one file that stands alone, with the run's own numbers in it."""

from __future__ import annotations

import base64
import gzip
import json
import re
from copy import deepcopy
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import taction as ta
from helpers import hide_module
from taction.model.compile import compile_model
from taction.model.spec import Unread
from taction.report import run_report
from taction.report.page import VARIABLES
from taction.report.page_style import STYLE_SHEET
from taction.scenarios.base import ContactScenario
from taction.scenarios.parameter import Parameter
from taction.scenarios.stiff_servo import StiffServo


class Sliding(ContactScenario):
    """A box pushed over a plane and left to itself."""

    name, summary, source = "sliding", "a box slides to rest", "Coulomb's law"
    parameters = (Parameter("friction", 0.4, "", "coefficient <of the plane>"),)
    duration, dt = 0.2, 2e-3

    def world(self, parameters):
        box = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
        return ta.World(box, ground=ta.Plane(friction=parameters["friction"]))

    def start(self, parameters, world):
        return {"v": [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]}

    def metrics(self, run, parameters):
        return {"distance": float(run.q[-1, 0]), "is_at_rest": bool(np.abs(run.v[-1]).max() < 1e-6)}

    def violations(self, metrics, run):
        return [] if metrics["is_at_rest"] else ["the box <still> moves"]


class Structure(HTMLParser):
    """Headings and rows of tables; complains about tags that do not match."""

    VOID = ("meta", "br", "img", "link", "input")

    def __init__(self):
        super().__init__()
        self.open, self.headings, self.rows = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)
        if "td" in self.open:
            self.rows[-1][-1] += data


def read(path) -> Structure:
    page = Structure()
    page.feed(path.read_text(encoding="utf-8"))
    assert page.open == []
    return page


@pytest.fixture(scope="module")
def outcome():
    return Sliding().run()


@pytest.fixture(scope="module")
def page(outcome, tmp_path_factory):
    return run_report.write_outcome(outcome, tmp_path_factory.mktemp("page") / "new" / "report.html")


@pytest.fixture(scope="module")
def text(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def smooth():
    model = ta.robots.double_pendulum(damping=0.1)
    return ta.Simulation(model, dt=1e-2, integrator="rk4").run(0.5, q=[1.0, 0.5], controller=ta.PD(kp=2.0))


# ----- The page ------------------------------------------------------------------------------------------


def test_page_of_a_scenario(outcome, page, text):
    page = read(page)
    assert page.headings == ["Metrics", "Certificate", "Energy"]
    rows = {row[0]: row for row in page.rows if row}
    run = outcome.run
    assert (
        rows["distance"][1].startswith(f"{outcome.metrics['distance']:.6g}")
        and rows["is at rest"][1] == "yes"
    )
    assert 'title="is_at_rest"' in text  # what a script asks for
    laws = rows["contact laws"]
    assert laws[1] == f"{run.certificate.residual:.3g}" and laws[2] == "1e-08" and laws[5] == "✓"
    assert laws[3] == f"{run.certificate.residual_time:.4g} s" and laws[4] == run.certificate.residual_at
    assert rows["work of contact friction"][1] == f"{run.energy.friction:.6g} J".replace("-", "−", 1)
    assert rows["at the end"][1] == f"{run.energy.final:.6g} J"
    assert "all checks passed" in text and "half-flight" in text and "exact" in text


def test_counts_names_and_zeros_read_well(outcome, tmp_path):
    """A thousand has no exponent, a name has words, and no zero a sign."""
    run = replace(outcome.run, certificate=replace(outcome.run.certificate, steps_at_rounding=1000))
    found = replace(outcome, run=run, metrics={"distance_x": -0.0, "step_rate": 1234.0})
    page = read(run_report.write_outcome(found, tmp_path / "report.html"))
    rows = {row[0]: row for row in page.rows if row}
    assert rows["steps at rounding"][1] == "1000"
    assert rows["distance along x"][1] == "0" and rows["step rate"][1] == "1234"


def test_the_page_stands_alone(text):
    """Nothing is fetched: the only scripts are the client and the drawing, no element names an address."""
    page, _, client = text.partition("<script>")
    assert not re.search(r"https?://|<img|@import|url\(", page)
    targets = re.findall(r'\b(?:src|href)="([^"]*)"', page)
    assert targets == ["data:,"], "only the icon, which is empty"
    assert client.count("</script>") == 1 and "import(" not in client


def test_the_drawing_of_the_page_is_that_of_the_run(outcome, text):
    inside = re.search(r'class="drawing" data-name="sliding">([^<]+)</script>', text)
    data = gzip.decompress(base64.b64decode(inside.group(1)))
    head = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    assert head["bodies"] == ["box"] and head["frames"]["t"]["shape"][0] >= 2
    titles = {panel["title"] for panel in head["panels"]}
    assert titles >= {
        "Residual of every step", "Energies and works", "Remainder", "Normal force on each body", "Contacts",
        "Friction in use", "Velocity",
    }  # fmt: skip


def test_figures_follow_the_theme():
    """Every colour of figures is a variable of the style sheet, with a light and a dark value."""
    for variable in VARIABLES.values():
        name = variable.removeprefix("var(").removesuffix(")")
        assert STYLE_SHEET.count(f"{name}:") == 2, f"{name} needs a light and a dark value"
    for colour, variable in VARIABLES.items():
        assert f"{variable[4:-1]}: {colour}" in STYLE_SHEET, "the light theme is what figures are drawn in"


def test_what_a_file_says_and_is_not_heeded_is_said(outcome, tmp_path):
    run = outcome.run
    spec = deepcopy(run.model.spec)
    spec.unread = (Unread("a <sensor>", "robot.xml:12", "not read"),)
    page = read(replace(run, model=compile_model(spec)).report(tmp_path / "report.html"))
    assert page.headings[-1] == "Warnings"


def test_a_page_repeats(outcome, text, tmp_path):
    assert run_report.write_outcome(outcome, tmp_path / "2.html").read_text(encoding="utf-8") == text


def test_failed_checks_are_shown(tmp_path):
    outcome = Sliding().run(duration=0.02)
    text = run_report.write_outcome(outcome, tmp_path / "report.html").read_text(encoding="utf-8")
    assert "1 failed" in text and "the box &lt;still&gt; moves" in text and "all checks passed" not in text


def test_a_motion_that_blew_up_has_a_page(tmp_path):
    outcome = StiffServo().run(parameters={"implicit": "false"})
    assert outcome.run is None
    path = run_report.write_outcome(outcome, tmp_path / "report.html")
    page, text = read(path), path.read_text(encoding="utf-8")
    assert page.headings == ["Failed checks", "Metrics"] and "not finite" in text


def test_a_smooth_run_has_a_page(smooth, tmp_path):
    path = smooth.report(tmp_path / "report.html")
    page = read(path)
    assert page.headings == ["Certificate", "Energy"]
    rows = {row[0]: row for row in page.rows if row}
    assert rows["equation of motion"][1] == f"{smooth.certificate.motion:.3g}" and "contact laws" not in rows


def test_events_and_an_empty_run(outcome, tmp_path):
    sim = ta.Simulation(outcome.run.world, dt=2e-3)
    run = sim.run(0.1, v=[0.5, 0, 0, 0, 0, 0], events={"half <way>": lambda t, q, v: q[0] - 0.02})
    page = read(run.report(tmp_path / "report.html"))
    assert page.headings[-1] == "Events" and page.rows[-1][1] == "half <way>"
    assert read(sim.run(0.0).report(tmp_path / "empty.html")).headings == ["Certificate", "Energy"]


def test_a_failed_certificate_is_marked(outcome, tmp_path):
    run = replace(outcome.run, certificate=replace(outcome.run.certificate, residual=3e-4))
    page = read(run.report(tmp_path / "report.html"))
    rows = {row[0]: row for row in page.rows if row}
    assert rows["contact laws"][5] == "✗" and rows["equation of motion"][5] == "✓"
    assert "Failed checks" in page.headings
    nan = run_report.CertificateRow("x", float("nan"), 1.0)
    assert nan.is_failed


def test_a_page_that_cannot_be_written(smooth, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ta.BadInput, match="file"):
        smooth.report(tmp_path / "file" / "report.html")


def test_pages_need_no_matplotlib_and_plots_say_that_they_do(smooth, tmp_path, monkeypatch):
    hide_module(monkeypatch, "matplotlib")
    assert smooth.report(tmp_path / "x.html").exists()
    with pytest.raises(ta.BadInput, match="pictures need matplotlib"):
        smooth.plot()
