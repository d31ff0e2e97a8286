"""The page of a run: one file that stands alone, with the run's own numbers in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import taction as ta
from helpers import hide_module
from taction.report import overview, panels, run_report
from taction.report.page import VARIABLES
from taction.report.page_style import STYLE_SHEET
from taction.scenarios.base import ContactScenario, Parameter
from taction.scenarios.stiff_servo import StiffServo

pytest.importorskip("matplotlib")


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
    assert page.headings == ["Metrics", "Certificate", "Energy", "Motion", "Contact"]
    rows = {row[0]: row for row in page.rows if row}
    run = outcome.run
    assert rows["distance"][1] == f"{outcome.metrics['distance']:.6g}" and rows["is_at_rest"][1] == "yes"
    laws = rows["contact laws"]
    assert laws[1] == f"{run.certificate.residual:.3g}" and laws[2] == "1e-08" and laws[5] == "✓"
    assert laws[3] == f"{run.certificate.residual_time:.4g} s" and laws[4] == run.certificate.residual_at
    assert rows["work of contact friction"][1] == f"{run.energy.friction:.6g} J"
    assert rows["at the end"][1] == f"{run.energy.final:.6g} J"
    assert "all checks passed" in text and "stewart-trinkle" in text and "exact" in text
    for title in ("Residual of every step", "Energies and works", "Remainder", "Normal force on each body",
                  "Contacts", "Friction in use", "Velocity"):  # fmt: skip
        assert f"<figcaption>{title}</figcaption>" in text, title


def test_the_page_stands_alone(text):
    """Nothing is fetched: no address but the names of XML vocabularies, no file, no script."""
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<script|<link|<img|@import|url\((?!#)", text)
    targets = re.findall(r'\b(?:src|href)="([^"]*)"', text)
    assert targets and all(target.startswith(("#", "data:image/png;base64,")) for target in targets)


def test_pictures_follow_the_theme(text):
    """No colour of the frame or the palette is left in the pictures: all are variables of the style sheet."""
    pictures = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
    assert "var(--ink)" in pictures and "var(--c0)" in pictures and "var(--grid)" in pictures
    assert not any(colour in pictures for colour in VARIABLES)
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text
    style = STYLE_SHEET
    for variable in VARIABLES.values():
        name = variable.removeprefix("var(").removesuffix(")")
        assert style.count(f"{name}:") == 2, f"{name} needs a light and a dark value"
    for colour, variable in VARIABLES.items():
        assert f"{variable[4:-1]}: {colour}" in style, "the light theme is what figures are drawn in"


def test_references_inside_pictures_resolve_to_their_own_picture(text):
    seen: dict[str, int] = {}
    for k, picture in enumerate(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)):
        names = set(re.findall(r'\bid="([^"]+)"', picture))
        assert set(re.findall(r"(?:url\(|href=\")#([^)\"]+)", picture)) <= names
        assert not names & seen.keys(), "two pictures share a name"
        seen |= dict.fromkeys(names, k)


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
    assert page.headings == ["Certificate", "Energy", "Motion"]
    rows = {row[0]: row for row in page.rows if row}
    assert rows["equation of motion"][1] == f"{smooth.certificate.motion:.3g}" and "contact laws" not in rows


def test_events_and_an_empty_run(outcome, tmp_path):
    sim = ta.Simulation(outcome.run.world, dt=2e-3)
    run = sim.run(0.1, v=[0.5, 0, 0, 0, 0, 0], events={"half <way>": lambda t, q, v: q[0] - 0.02})
    page = read(run.report(tmp_path / "report.html"))
    assert page.headings[-1] == "Events" and page.rows[-1][1] == "half <way>"
    assert read(sim.run(0.0).report(tmp_path / "empty.html")).headings == ["Certificate", "Energy", "Motion"]


def test_a_failed_certificate_is_marked(outcome, tmp_path):
    from dataclasses import replace

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


def test_without_matplotlib(smooth, tmp_path, monkeypatch):
    hide_module(monkeypatch, "matplotlib")
    for use in (lambda: smooth.report(tmp_path / "x.html"), smooth.plot):
        with pytest.raises(ta.BadInput, match="pictures need matplotlib"):
            use()


# ----- The curves ----------------------------------------------------------------------------------------


def test_remainder_ends_at_the_ledger(outcome, smooth):
    for run in (outcome.run, smooth):
        rest = panels.energy_panels(run)[1].curves[0]
        scale = abs(run.energy.initial) + abs(run.energy.final) + 1.0
        assert rest.y[0] == 0.0 and rest.y[-1] == pytest.approx(run.energy.remainder, abs=1e-13 * scale)
        works = panels.cumulative_works(run)
        for name, work in works.items():
            assert work[-1] == pytest.approx(getattr(run.energy, name), abs=1e-13 * scale)


def test_the_remainder_of_soft_contact_does_not_contain_what_springs_hold():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    soft = ta.Penalty(stiffness=1e3, damping=10.0)
    run = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3, contact=soft).run(0.5)
    energies, rest = panels.energy_panels(run)
    assert [curve.name for curve in energies.curves][2] == "in springs of contact"
    assert run.energy.stored > 0.01
    assert rest.curves[0].y[-1] == pytest.approx(run.energy.remainder, abs=1e-12)


def test_normal_force_carries_the_weight(outcome):
    force = panels.normal_forces(outcome.run)
    assert list(force) == ["box"]  # the ground is no body
    np.testing.assert_allclose(force["box"], 2.0 * 9.81, rtol=1e-6)


def test_friction_in_use(outcome):
    """All of it while the box slides; none while it rests, whatever its corners do to each other."""
    used, v = panels.saturation(outcome.run), outcome.run.v[:-1, 0]
    slides, rests = v > 0.05, v < 1e-9
    assert slides.sum() > 40 and rests.sum() > 20
    # a residual of 1e-9 of the free velocities is that share of friction
    np.testing.assert_allclose(used.pair[slides], 1.0, atol=1e-6)
    np.testing.assert_allclose(used.contact[slides], 1.0, atol=1e-6)
    np.testing.assert_allclose(used.pair[rests][1:], 0.0, atol=1e-6)
    assert (used.contact[np.isfinite(used.contact)] <= 1.0 + 1e-6).all()


def test_friction_in_use_on_a_slope():
    """tan of the slope over the coefficient, for a box that rests on it."""
    slope, friction = 0.2, 0.5
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    gravity = (9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope))
    world = ta.World(box, ground=ta.Plane(friction=friction), gravity=gravity)
    used = panels.saturation(ta.Simulation(world, dt=1e-3).run(0.05))
    np.testing.assert_allclose(used.pair, np.tan(slope) / friction, rtol=1e-6)


def test_thinning_keeps_peaks():
    t, y = np.arange(100_000.0), np.zeros(100_000)
    y[31_415], y[92_653] = 7.0, -3.0
    thin_t, thin_y = panels.thin(t, y)
    assert len(thin_t) <= 2 * panels.STRETCHES + 2 and (np.diff(thin_t) > 0).all()
    assert thin_y.max() == 7.0 and thin_y.min() == -3.0
    assert thin_t[thin_y.argmax()] == 31_415 and thin_t[0] == 0 and thin_t[-1] == 99_999


def test_residuals_have_a_limit_and_a_floor(outcome, smooth):
    for run, count in ((outcome.run, 2), (smooth, 1)):
        panel = panels.certificate_panel(run)
        assert panel.is_log and panel.limit[0] == 1e-8 and len(panel.curves) == count
        assert all((curve.y >= panels.FLOOR).all() for curve in panel.curves)


def test_peaks_cut_the_axis_and_say_so():
    """A ball that lands: one step with a hundred times its weight."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.2))
    run = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.5)
    panel = panels.contact_panels(run)[0]
    largest = panels.normal_forces(run)["ball"].max()
    assert panel.top is not None and panel.top < 0.1 * largest and f"{largest:.3g} N" in panel.note


def test_plot_is_a_figure_with_every_panel(outcome, smooth):
    for run in (outcome.run, smooth):
        figure = run.plot()
        wanted = [*panels.motion_panels(run), *panels.energy_panels(run), *panels.contact_panels(run)]
        titles = [axis.get_title(loc="left") for axis in figure.axes]
        assert titles == [p.title for p in wanted] + ["Residual of every step"]


def test_many_curves_are_named_first_and_last():
    run = ta.Simulation(ta.robots.chain(20), dt=1e-2).run(0.05)
    panel = next(p for p in panels.motion_panels(run) if len(p.curves) > 8)
    assert len(overview.shown_names(panel)) == 2 and len(set(overview.curve_colours(panel))) > 8
