"""Figures: every robot can be drawn, the ledger's curve ends at the ledger's number, panels stay legible."""

from __future__ import annotations

import numpy as np
import pytest

import taction as ta
from taction.drawing.outline import convex_hull, silhouette
from taction.drawing.panels import contact_panels
from taction.report import figures, motion_picture

pytest.importorskip("matplotlib")


def run_of(model: ta.Model, steps: int = 20) -> ta.Run:
    rng = np.random.default_rng(0)
    return ta.Simulation(model, dt=1e-2).run(0.01 * steps, v=rng.uniform(-1, 1, model.nv))


@pytest.mark.parametrize(
    "model",
    [
        ta.robots.double_pendulum(),
        ta.robots.double_pendulum(point_masses=True),
        ta.robots.quadruped(),
        ta.robots.quadruped(base="virtual"),
        ta.robots.snake(),
        ta.robots.planar_humanoid(),
        ta.robots.four_legged(),
        ta.robots.chain(40),
    ],
    ids=lambda m: f"{m.name}{m.nv}",
)
def test_every_robot_is_drawn(model, tmp_path):
    paths = figures.save_figures(run_of(model), tmp_path / "new")
    assert [p.name for p in paths] == ["energy.png", "coordinates.png", "motion.png"]
    assert all(p.stat().st_size > 5000 for p in paths)


def test_a_body_that_does_not_move_is_drawn(tmp_path):
    assert len(figures.save_figures(ta.Simulation(ta.robots.double_pendulum()).run(0.01), tmp_path)) == 3


def test_curve_of_the_remainder_ends_at_the_ledger():
    model = ta.robots.double_pendulum(damping=0.3)
    run = ta.Simulation(model, dt=1e-2).run(1.0, q=[1.0, 0.5], controller=ta.PD(kp=20.0, kd=1.0))
    _, lower = figures.draw_energy(run).axes
    assert lower.lines[-1].get_ydata()[-1] == pytest.approx(run.energy.remainder, rel=1e-9)
    assert lower.lines[-1].get_ydata()[0] == 0.0


def test_curves_are_thinned():
    run = ta.Simulation(ta.robots.double_pendulum(), dt=1e-4).run(0.5, q=[1.0, 0.5])
    upper, _ = figures.draw_energy(run).axes
    t = upper.lines[0].get_xdata()
    assert len(t) == figures.CURVE and t[0] == 0.0 and t[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "panels"), [(1, 1), (8, 1), (9, 2), (20, 3), (32, 4), (33, 1)])
def test_panels_stay_legible(n, panels):
    found = figures._panels(ta.robots.chain(n))
    assert len(found) == panels
    assert sorted(c for _, columns, _ in found for c in columns) == list(range(n))
    assert panels == 1 or all(len(columns) <= figures.LEGIBLE for _, columns, _ in found)


def test_coordinates_are_named_by_what_they_measure():
    labels = {label: names for label, _, names in figures._panels(ta.robots.snake(links=2))}
    assert set(labels) == {"position [m]", "quaternion", "angle [rad]"}
    assert len(labels["angle [rad]"]) == 2 and len(labels["quaternion"]) == 4


def test_planar_motion_has_one_view_and_spatial_motion_two():
    flat = run_of(ta.robots.double_pendulum())
    assert [a.get_ylabel() for a in figures.draw_motion(flat).axes] == ["z [m]", "time [s]"]
    spatial = run_of(ta.robots.quadruped())
    assert [a.get_ylabel() for a in figures.draw_motion(spatial).axes] == ["z [m]", "y [m]", "time [s]"]


def test_the_ground_is_drawn_within_the_picture_of_the_motion():
    """A wall far away and a floor do not change what the picture shows."""
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.4))
    wall = ta.Shape(ta.Box((0.1, 1.0, 1.0)), ta.Transform(translation=np.array([9.0, 0.0, 0.0])))
    bare, full = (
        figures.draw_motion(ta.Simulation(model, dt=1e-2).run(0.1))
        for model in (ball, ta.World(ball, ground=[ta.Plane(), wall]).model)
    )
    assert full.axes[0].axis() == bare.axes[0].axis()
    assert len(full.axes[0].patches) == len(bare.axes[0].patches) + 2


def block(height: float = 0.1, angle: float = 0.0) -> ta.Run:
    """A level block on a plane, or above one that leans towards +x by an angle [rad]."""
    ground = ta.Shape(ta.Plane(friction=0.9), ta.Transform.from_rpy((0.0, 0.0, 0.0), (0.0, angle, 0.0)))
    place = (0.0, 0.0, 0.5 * height + 0.3 * angle)
    model = ta.free_body("block", ta.Box((0.4, 0.4, height)), mass=2.0, position=place)
    return ta.Simulation(ta.World(model, ground=[ground]), dt=1e-3).run(0.005)


def test_forces_that_the_laws_leave_open_are_added_up():
    run = block()
    assert run.certificate.impulses_not_unique == run.steps
    forces = motion_picture.last_forces(run)
    assert forces is not None and forces.is_summed and forces.force.shape == (1, 3)
    assert forces.force[0] == pytest.approx([0.0, 0.0, 2.0 * 9.81], abs=1e-6)  # on the block, upwards
    assert forces.point[0] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    texts = [text.get_text() for text in figures.draw_motion(run).texts]
    assert any("sums of pairs of bodies: single ones are open" in text for text in texts)
    notes = [panel.note for panel in contact_panels(run)]
    assert "In 5 of 5 steps with contact single forces are not unique." in notes[0]


def test_forces_that_are_determined_are_drawn_one_by_one():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=2.0, position=(0, 0, 0.1))
    run = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.7)), dt=1e-3).run(0.005)
    forces = motion_picture.last_forces(run)
    assert forces is not None and not forces.is_summed
    assert forces.force == pytest.approx(np.array([[0.0, 0.0, 2.0 * 9.81]]), abs=1e-6)
    assert not any(panel.note for panel in contact_panels(run))
    assert motion_picture.last_forces(run_of(ta.robots.double_pendulum())) is None


def test_what_lies_on_the_ground_is_seen_from_above():
    flat = figures.draw_motion(block(height=0.02))
    assert [a.get_ylabel() for a in flat.axes] == ["y [m]", "time [s]"]
    assert flat.axes[0].texts[0].get_text() == "ground"


def test_an_inclined_plane_is_drawn_from_the_side():
    side, above, _ = figures.draw_motion(block(angle=0.2)).axes
    (slope,) = side.patches
    edge = np.diff(slope.get_xy()[:2], axis=0)[0]
    assert abs(edge[1] / edge[0]) == pytest.approx(np.tan(0.2))
    assert above.texts[0].get_text() == "ground, inclined by 11.5°"


def test_moments_in_which_nothing_moves_are_left_out():
    def moments(run: ta.Run) -> int:
        size = float(np.ptp(run.q, axis=0).max()) + 0.4
        return len(motion_picture._moving(motion_picture._moments(run), size).steps)

    assert moments(block()) == 1
    assert moments(run_of(ta.robots.double_pendulum(), steps=60)) > 5


def test_a_silhouette_is_the_hull_of_its_points():
    points = np.random.default_rng(1).uniform(-1.0, 1.0, (2000, 2))
    found, exact = silhouette(points), convex_hull(points)
    assert {tuple(p) for p in found} <= {tuple(p) for p in exact}
    for turn in np.linspace(0.0, 6.0, 50):
        direction = np.array([np.cos(turn), np.sin(turn)])
        assert (found @ direction).max() > (exact @ direction).max() - 2e-3


def test_names_are_no_formulas_and_all_of_them_are_in_legends(tmp_path):
    """Dollars began formulas, most of them broken, and names that begin with an underscore were left out."""
    names = ["$\\frac{1}{$", "$x^2$", "_hidden", "\\$a$"]
    b = ta.ModelBuilder("$model^$")
    for k, name in enumerate(names):
        b.body(name, ta.Inertia.solid(ta.Sphere(0.1), mass=1.0))
        pose = ta.Transform(translation=(0.3 * k, 0, 0))
        b.prismatic(name, parent="world", child=name, axis=(0, 0, 1), pose=pose)
    run = ta.Simulation(b.build(), dt=1e-2).run(0.05)
    figures.save_figures(run, tmp_path)
    (axis,) = figures.draw_coordinates(run).axes
    shown = [text.get_text().strip().replace(r"\$", "$") for text in axis.get_legend().get_texts()]
    assert shown == names
    run.plot().savefig(tmp_path / "plot.png")
