"""Run files: the same numbers as in memory, named and with units; what was flushed survives a kill."""

from __future__ import annotations

import subprocess
import sys
import time

import h5py
import numpy as np
import pytest

import taction as ta
from helpers import hide_module
from taction._core.errors import IntegrationError
from taction.control.contract import Control
from taction.sim import engine, recorder, run_file
from taction.solvers.base import Iterations, Solver, Status
from taction.steppers import phases
from taction.steppers.driver import Driver

ARRAYS = ("t", "q", "v", "kinetic", "potential", "records")


def ball_world() -> ta.World:
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.12))
    return ta.World(ball, ground=ta.Plane(friction=0.5))


def ball(**options) -> ta.Simulation:
    return ta.Simulation(ball_world(), dt=1e-3, **options)


START = {"v": [1.0, 0.2, 0.0, 0.0, 3.0, 0.0]}


def same(recorded: ta.RecordedRun, run: ta.Run, *, is_killed: bool = False) -> None:
    """Equal bit for bit; of a run that was killed the last energies to rounding.

    The last state's energies come from Python, those of the others from the step that starts there. A kill
    within a flush may leave either as the last one.
    """
    for name in ARRAYS:
        one, two = getattr(recorded, name), getattr(run, name)
        if is_killed and name in ("kinetic", "potential"):
            assert np.isclose(one[-1], two[-1], rtol=1e-13)
            one, two = one[:-1], two[:-1]
        assert np.array_equal(one, two), name
    assert np.array_equal(recorded.tau, run.tau[:-1])
    for name in run_file.CONTACT_FIELDS:
        assert np.array_equal(getattr(recorded.contacts, name), getattr(run.contacts, name)), name


# ----- Written while running -----------------------------------------------------------------------------


def test_a_recorded_run_is_the_run(tmp_path):
    path = tmp_path / "deep" / "run.h5"
    run = ball().run(0.35, **START, record=str(path))
    recorded = ta.load_run(path)
    same(recorded, run)
    assert recorded.is_complete and recorded.steps == 350 and recorded.dt == 1e-3
    assert recorded.summary["certificate"]["residual"] == run.certificate.residual


def test_recording_does_not_change_the_motion(tmp_path):
    recorded = ball().run(0.35, **START, record=str(tmp_path / "run.h5"))
    assert recorded.hashes == ball().run(0.35, **START).hashes


def test_a_function_is_recorded_with_its_forces(tmp_path):
    path = tmp_path / "run.h5"

    def push(t, q, v):
        return [1.0 + t, 0.0, 0.0, 0.0, 0.0, 0.0]

    run = ball().run(0.25, controller=push, control_dt=2e-3, record=str(path))
    same(ta.load_run(path), run)
    assert ta.load_run(path).tau[200, 0] == pytest.approx(1.2)


def test_names_units_and_attributes(tmp_path):
    path = tmp_path / "run.h5"
    run = ball(contact="convex", stepper="moreau").run(0.05, **START, record=str(path))
    r = ta.load_run(path)
    assert r.names["q"][:4] == ("ball free.x", "ball free.y", "ball free.z", "ball free.qw")
    assert r.units["q"] == ("m",) * 3 + ("1",) * 4
    assert r.units["v"] == ("m/s",) * 3 + ("rad/s",) * 3 and r.units["tau"] == ("N",) * 3 + ("N m",) * 3
    assert r.units["t"] == ("s",) and r.units["kinetic"] == ("J",)
    wanted = {"model": "ball", "dt": 1e-3, "contact": "convex", "scheme": "moreau", "solver": "auto"}
    assert {key: r.attributes[key] for key in wanted} == wanted
    assert r.attributes["taction_version"] == ta.__version__
    assert r.attributes["shapes"] == ["ground", "ball"]
    for by in ("body", "shape"):
        forces = run.contact_forces(by)
        assert forces.keys() == r.contact_forces(by).keys()
        assert all(np.array_equal(force, r.contact_forces(by)[name]) for name, force in forces.items())
    assert np.array_equal(r.record("residual"), run.arrays()["residual"][0])
    with pytest.raises(ta.BadInput, match="no column 'nothing'"):
        r.record("nothing")


def test_every_record_column_has_its_name():
    """The names follow the columns of the ledger, whatever order those have."""
    from taction.sim.columns import RECORD_COLUMNS
    from taction.steppers import columns

    assert len(RECORD_COLUMNS) == columns.COLUMNS
    other = {"worst_shape_a": "WORST_A", "worst_shape_b": "WORST_B"}
    for c, column in enumerate(RECORD_COLUMNS):
        assert getattr(columns, other.get(column.name, column.name.upper())) == c


def test_a_failed_run_leaves_its_good_steps(tmp_path, monkeypatch):
    """A step that fails in the middle of a piece: all before it are in the file."""
    path, real, end = tmp_path / "run.h5", Driver.advance, 137

    def advance(self, scene, drive, first, last, state, record, table=None):
        reached, missing, state, table = real(self, scene, drive, first, min(last, end), state, record, table)
        return reached, phases.NOT_FINITE if last > end else missing, state, table

    monkeypatch.setattr(Driver, "advance", advance)
    with pytest.raises(IntegrationError, match=r"at t = 0\.137 s the state is not finite"):
        ball().run(0.3, **START, record=str(path))
    monkeypatch.undo()
    r = ta.load_run(path)
    assert r.is_complete and r.summary == {} and len(r.contacts.step)
    same(r, ball().run(0.137, **START))


def test_an_error_of_a_controller_leaves_the_steps_before(tmp_path):
    path = tmp_path / "run.h5"

    def break_down(t, q, v):
        if t > 0.0805:
            raise RuntimeError("broken")
        return np.zeros(6)

    with pytest.raises(RuntimeError, match="broken"):
        ball().run(0.3, **START, controller=break_down, record=str(path))
    same(ta.load_run(path), ball().run(0.081, **START))


def test_a_strict_run_leaves_the_step_that_stopped_it(tmp_path):
    path = tmp_path / "run.h5"
    sim = ball(strict=True, solver=LazySolver())
    with pytest.raises(ta.CertificateError) as caught:
        sim.run(0.3, **START, record=str(path))
    r = ta.load_run(path)
    bad = np.flatnonzero(r.record("residual") > 1e-8)
    assert len(bad) and f"at t = {r.t[bad[0]]:.6g} s" in str(caught.value)


class LazySolver(Solver):
    """Says it is done, and has done nothing."""

    name, summary = "lazy", "no impulse at all"

    def iterate(self, blocks, r_io):
        r_io[:] = 0.0
        return Iterations(Status.CONVERGED, 0, np.zeros(0))


def test_rows_reach_the_file_every_hundred_steps(tmp_path, monkeypatch):
    """However fast the steps are; and by the clock, however slow they are."""
    sim, path = ball(), tmp_path / "run.h5"
    course = sim.engine.set_off(sim.state(), 250, Control())
    clock = [0.0]
    monkeypatch.setattr(recorder.clock, "monotonic", lambda: clock[0])
    writer = recorder.Recorder(path, sim.model, 1e-3, course.rows(0), world=sim.world)
    seen = {}
    for n in range(250):
        course.advance(n + 1)
        writer.append(course)
        if n in (98, 99, 198, 199, 249):
            seen[n + 1] = ta.load_run(path).steps
    assert seen == {99: 0, 100: 100, 199: 100, 200: 200, 250: 200}
    clock[0] += 0.3
    writer.append(course)
    assert ta.load_run(path).steps == 250 and not ta.load_run(path).is_complete
    writer.close()
    assert ta.load_run(path).is_complete
    with pytest.raises(ta.BadInput, match="step 0 was recorded before"):
        writer.append(sim.engine.set_off(sim.state(), 1, Control()))


def test_slow_steps_are_taken_in_small_pieces(monkeypatch):
    """Pieces shrink until one takes about 0.2 s, so that the file is never half a second behind."""
    sim, clock, last = ball(), [0.0], [0]

    class Slow:
        def append(self, course):
            clock[0] += 0.05 * (course.taken - last[-1])  # a step of 50 ms
            last.append(course.taken)

    monkeypatch.setattr(engine.clock, "perf_counter", lambda: clock[0])
    course = sim.engine.set_off(sim.state(), 60, Control())
    engine.take_steps(course, 60, sim.model, control=Control(), recorder=Slow())
    assert last[-1] == 60 and max(np.diff(last)) <= 4


KILLED = """
import sys
import taction as ta
ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.12))
sim = ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3)
sim.run(2000.0, v=[1.0, 0.2, 0.0, 0.0, 3.0, 0.0], record=sys.argv[1])
"""


def test_a_kill_leaves_everything_up_to_the_last_flush(tmp_path):
    """SIGKILL in the middle of a run: the file opens, and holds the run's own first steps bit for bit."""
    path = tmp_path / "run.h5"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
    seen, limit = 0, time.monotonic() + 500.0
    try:
        while seen < 300 and process.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
            try:
                seen = ta.load_run(path).steps  # a reader beside the writer
            except ta.BadInput:  # not made yet
                continue
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -9, "the run ended before it was killed"
    r = ta.load_run(path)
    assert not r.is_complete and r.summary == {} and r.steps >= seen >= 300
    assert len(r.q) == len(r.t) == len(r.kinetic) == r.steps + 1 and len(r.records) == r.steps
    run = ball().run(r.steps * 1e-3, **START)
    same(r, run, is_killed=True)


# ----- Written afterwards --------------------------------------------------------------------------------


def test_save_has_the_same_layout(tmp_path):
    run = ball().run(0.2, **START, record=str(tmp_path / "live.h5"))
    assert run.save(tmp_path / "saved.h5") == tmp_path / "saved.h5"
    same(ta.load_run(tmp_path / "saved.h5"), run)
    with h5py.File(tmp_path / "live.h5") as live, h5py.File(tmp_path / "saved.h5") as saved:
        assert set(live.attrs) == set(saved.attrs) and set(live) == set(saved)
        for name in live["contacts"]:
            assert live["contacts"][name].shape == saved["contacts"][name].shape
        assert dict(live["q"].attrs.items()).keys() == dict(saved["q"].attrs.items()).keys()


def test_a_smooth_run_is_saved_and_read(tmp_path):
    model = ta.robots.double_pendulum(damping=0.1)
    sim = ta.Simulation(model, dt=1e-3, integrator="semi-implicit-euler")
    run = sim.run(0.1, q=[1.0, 0.5], controller=ta.PD(kp=3.0))
    r = ta.load_run(run.save(tmp_path / "run.h5"))
    for name in ("t", "q", "v", "tau", "kinetic", "potential"):
        assert np.array_equal(getattr(r, name), getattr(run, name)), name
    assert r.records is None and r.contacts is None and r.is_complete
    assert r.summary["energy"]["remainder"] == run.energy.remainder
    with pytest.raises(ta.BadInput, match="no contact"):
        r.contact_forces()


def test_save_as_npz_has_the_contacts(tmp_path):
    run = ball().run(0.1, **START)
    with np.load(run.save(tmp_path / "run.npz"), allow_pickle=False) as file:
        assert np.array_equal(file["records"], run.records)
        assert np.array_equal(file["contact_impulse"], run.contacts.impulse)


def test_an_empty_run_is_saved_and_read(tmp_path):
    run = ball().run(0.0, record=str(tmp_path / "live.h5"))
    for path in (tmp_path / "live.h5", run.save(tmp_path / "saved.h5")):
        r = ta.load_run(path)
        assert r.steps == 0 and np.array_equal(r.q, run.q) and len(r.contacts.gap) == 0


# ----- Bad input -----------------------------------------------------------------------------------------


def test_no_such_file(tmp_path):
    with pytest.raises(ta.BadInput, match=r"none\.h5: no such file"):
        ta.load_run(tmp_path / "none.h5")


def test_not_a_run_file(tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5")
    with pytest.raises(ta.BadInput, match="not a run file"):
        ta.load_run(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1.0
    with pytest.raises(ta.BadInput, match="not a run file"):
        ta.load_run(tmp_path / "other.h5")


def test_a_newer_or_damaged_file(tmp_path):
    path = ball().run(0.01).save(tmp_path / "run.h5")
    with h5py.File(path, "r+") as file:
        del file["q"]
    with pytest.raises(ta.BadInput, match="damaged"):
        ta.load_run(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 99
    with pytest.raises(ta.BadInput, match="version 99, newer"):
        ta.load_run(path)


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ta.BadInput, match="cannot be written"):
        ball().run(0.01, record=str(tmp_path / "file" / "run.h5"))


def test_without_h5py(tmp_path, monkeypatch):
    sim = ball()
    rows = sim.engine.set_off(sim.state(), 0, Control()).rows(0)
    hide_module(monkeypatch, "h5py")
    with pytest.raises(ta.BadInput, match="run files need h5py"):
        recorder.Recorder(tmp_path / "run.h5", sim.model, 1e-3, rows)


def test_room_beyond_the_last_step_is_not_written(tmp_path):
    """A course has room for all its steps; in the file are those that were taken."""
    sim = ball()
    course = sim.engine.set_off(sim.state(), 500, Control())
    with recorder.Recorder(tmp_path / "run.h5", sim.model, 1e-3, course.rows(0), world=sim.world) as writer:
        course.advance(7)
        writer.append(course)
    assert ta.load_run(tmp_path / "run.h5").steps == 7
