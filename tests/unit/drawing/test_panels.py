"""Curves of a run: they end where the ledger ends, carry the weight, and keep their peaks."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.drawing import panels
from taction.report import overview


@pytest.fixture(scope="module")
def sliding():
    """A box that slides to rest."""
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    sim = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.4)), dt=2e-3)
    return sim.run(0.2, v=[0.5, 0.0, 0.0, 0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def smooth():
    model = ta.robots.double_pendulum(damping=0.1)
    return ta.Simulation(model, dt=1e-2, integrator="rk4").run(0.5, q=[1.0, 0.5], controller=ta.PD(kp=2.0))


def test_remainder_ends_at_the_ledger(sliding, smooth):
    for run in (sliding, smooth):
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


def test_normal_force_carries_the_weight(sliding):
    force = panels.normal_forces(sliding)
    assert list(force) == ["box"]  # the ground is no body
    np.testing.assert_allclose(force["box"], 2.0 * 9.81, rtol=1e-6)


def test_friction_in_use(sliding):
    """All of it while the box slides; none while it rests, whatever its corners do to each other."""
    used, v = panels.saturation(sliding), sliding.v[:-1, 0]
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


def test_residuals_have_a_limit_and_a_floor(sliding, smooth):
    for run, count in ((sliding, 2), (smooth, 1)):
        panel = panels.certificate_panel(run)
        assert panel.is_log and panel.limit[0] == 1e-8 and len(panel.curves) == count
        assert all((curve.y >= panels.FLOOR).all() for curve in panel.curves)


def test_peaks_cut_the_axis_and_say_so():
    """A ball that lands: one step with a hundred times its weight."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.2))
    run = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3).run(0.5)
    panel = panels.contact_panels(run)[0]
    largest = panels.normal_forces(run)["ball"].max()
    assert panel.top is not None and panel.top < 0.1 * largest and f"is {largest:.0f} N" in panel.note


def test_plot_is_a_figure_with_every_panel(sliding, smooth):
    pytest.importorskip("matplotlib")
    for run in (sliding, smooth):
        figure = run.plot()
        wanted = [*panels.motion_panels(run), *panels.energy_panels(run), *panels.contact_panels(run)]
        titles = [axis.get_title(loc="left") for axis in figure.axes]
        last = ["Residual of every step", *(["Estimated error of every step"] if run is sliding else [])]
        assert titles == [p.title for p in wanted] + last


def test_many_curves_are_named_first_and_last():
    run = ta.Simulation(ta.robots.chain(20), dt=1e-2).run(0.05)
    panel = next(p for p in panels.motion_panels(run) if len(p.curves) > 8)
    assert len(overview.shown_names(panel)) == 2 and len(set(overview.curve_colours(panel))) > 8
