"""Energy that nothing accounts for: what a certificate says of a motion, and a strict run refuses.

Every step of these runs solves its problem to 1e-9, with any scheme; what differs is the motion.
"""

import numpy as np
import pytest

import taction as ta
from moving_scenes import tilted_disc
from taction.sim.contact_summary import make_certificate, make_ledger
from taction.steppers.columns import COLUMNS, IMPACT, JOINTS, PRESSING


def test_a_disc_that_lies_down_by_time_steps_alone_is_told():
    """Nothing strikes, nothing slides: what the first order takes is no impact, and no friction."""
    world, q, v = tilted_disc(30.0)
    run = ta.Simulation(world, dt=1e-3, stepper="stewart-trinkle").run(1.0, q=q, v=v)
    assert run.certificate.residual <= 1e-9
    # in the first step its contact counts as new, and in the second as one that may still arrive
    assert run.records[2:, IMPACT].sum() == 0.0
    assert run.energy.pressing < -0.05
    assert run.certificate.drift_share > 0.3
    assert "time steps lost" in str(run.certificate) and "time steps lost" in str(run)
    with pytest.raises(ta.CertificateError, match=r"went by time steps alone.*half-flight"):
        ta.Simulation(world, dt=1e-3, stepper="stewart-trinkle", strict=True).run(1.0, q=q, v=v)


def test_a_scheme_that_keeps_the_motion_passes():
    world, q, v = tilted_disc(30.0)
    run = ta.Simulation(world, dt=1e-3, stepper="half-flight", strict=True).run(1.0, q=q, v=v)
    assert run.certificate.drift_share <= 1e-6
    assert "time steps" not in str(run)
    assert abs(run.energy.impact) <= 1e-12 and abs(run.energy.pressing) <= 1e-6 * run.energy.initial


@pytest.mark.parametrize("stepper", ["stewart-trinkle", "midpoint", "half-flight"])
def test_an_impact_is_an_impact(stepper):
    """A box falls flat by half a metre: all of its energy goes where it strikes."""
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.2)), mass=1.0, position=(0, 0, 0.6))
    run = ta.Simulation(ta.World(box, ground=ta.Plane(friction=0.5)), stepper=stepper, strict=True).run(0.6)
    assert run.energy.impact == pytest.approx(-0.5 * 9.81, rel=0.01)
    assert abs(run.energy.pressing) <= 1e-9
    assert run.certificate.drift_share <= 0.01


def test_what_loops_take_is_not_called_an_impact():
    """Two rods and a bar swing under their weight: a loop does no work, but order 1 makes it do some."""
    rod = ta.Inertia(1.0, np.array([0.25, 0.0, 0.0]), 0.02 * np.eye(3))
    tip = ta.Transform(np.eye(3), np.array([0.5, 0.0, 0.0]))
    b = ta.ModelBuilder("four-bar")
    for name, x in (("left", 0.0), ("right", 0.4)):
        b.body(name, rod)
        pose = ta.Transform(np.eye(3), np.array([x, 0.0, 0.0]))
        b.revolute(f"{name} hinge", parent="world", child=name, axis=(0, -1, 0), pose=pose)
    b.body("bar", ta.Inertia(0.5, np.array([0.3, 0.0, 0.0]), 0.02 * np.eye(3)))
    b.revolute("knee", parent="left", child="bar", axis=(0, -1, 0), pose=tip)
    b.loop("tips", "bar", "right", pose=ta.Transform(np.eye(3), np.array([0.6, 0, 0])), other_pose=tip)
    model = b.build()
    world, q = ta.World(model, self_collision="none"), ta.close_loops(model, [1.2, 1.2, -1.2])
    runs = [ta.Simulation(world, stepper=s).run(1.0, q=q) for s in ("stewart-trinkle", "half-flight")]
    for run in runs:
        assert run.energy.impact == 0.0 and run.energy.pressing == 0.0
    assert runs[0].energy.joints < -1e-3 * runs[0].kinetic.max()
    assert abs(runs[1].energy.joints) <= 0.01 * abs(runs[0].energy.joints)


def test_records_of_older_files_are_read():
    """Without the last columns: they count as zero."""
    world, q, v = tilted_disc(30.0)
    run = ta.Simulation(world, stepper="stewart-trinkle").run(0.01, q=q, v=v)
    old = run.records[:, :PRESSING]
    certificate = make_certificate(world.model, run.t, run.q, old, world.shape_names)
    assert certificate.residual == run.certificate.residual
    ledger = make_ledger(old, run.kinetic, run.potential, 1e-9)
    assert ledger.pressing == 0.0 and ledger.impact == run.energy.impact
    assert JOINTS < run.records.shape[1] == COLUMNS
