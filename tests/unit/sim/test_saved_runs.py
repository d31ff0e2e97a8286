"""Runs and states read back: everything a run in memory has, or one clear line, at once."""

from __future__ import annotations

import dataclasses
import io
import random
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

import taction as ta
from helpers import has_one_line
from taction._core.archive import read_archive
from taction.control.contract import Control
from taction.model.compile import compile_model
from taction.model.spec_bytes import from_bytes, to_bytes
from taction.sim import open_run_file, recorder
from taction.sim.open_run_file import lookup3
from taction.sim.state import _FIELDS

START = {"v": [1.0, 0.2, 0.0, 0.0, 3.0, 0.0]}


def ball(**options) -> ta.Simulation:
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.12))
    return ta.Simulation(ta.World(ball, ground=ta.Plane(friction=0.5)), dt=1e-3, **options)


def pendulum() -> ta.Simulation:
    return ta.Simulation(ta.robots.double_pendulum(damping=0.1), dt=1e-3, integrator="semi-implicit-euler")


@pytest.fixture(scope="module")
def rolling() -> ta.Run:
    events = {"past": lambda t, q, v: q[0] - 0.05}
    return ball().run(0.1, **START, events=events)


@pytest.fixture(scope="module")
def swinging() -> ta.Run:
    return pendulum().run(0.1, q=[1.0, 0.5], controller=ta.PD(kp=3.0))


@pytest.mark.parametrize("ending", ["h5", "npz"])
@pytest.mark.parametrize("which", ["rolling", "swinging"])
def test_a_loaded_run_has_all_that_the_run_has(which, ending, tmp_path, request):
    run = request.getfixturevalue(which)
    r = ta.load_run(run.save(tmp_path / f"run.{ending}"))
    assert r.certificate == run.certificate and r.energy == run.energy and r.is_complete
    again = r.as_run()
    assert again.events == run.events and again.hashes == run.hashes and again.metrics == run.metrics
    assert again.settings == run.settings and again.left_out == run.left_out
    for key, (array, unit) in run.columns().items():
        assert np.array_equal(r.columns()[key][0], array, equal_nan=True) and r.columns()[key][1] == unit
    for field in dataclasses.fields(ta.SimState):
        assert np.array_equal(getattr(r.state, field.name), getattr(run.state, field.name)), field.name
    assert np.array_equal(r.resample(0.01).q, run.resample(0.01).q)
    assert len(r.plot().axes) == len(run.plot().axes)
    assert r.report(tmp_path / "one.html").read_bytes() == run.report(tmp_path / "two.html").read_bytes()


@pytest.mark.parametrize("ending", ["h5", "npz"])
def test_a_loaded_world_goes_on_bit_for_bit(ending, tmp_path):
    sim = ball(stepper="moreau")
    whole, first = sim.run(0.1, **START), sim.run(0.06, **START)
    r = ta.load_run(first.save(tmp_path / f"run.{ending}"))
    rest = ta.Simulation(r.world, dt=r.dt, stepper="moreau").run(0.04, state=r.state)
    assert rest.hashes == whole.hashes[60:]


def test_pairs_and_rules_of_a_world_are_kept(tmp_path):
    box = ta.free_body("box", ta.Box((0.2, 0.2, 0.1)), mass=2.0, position=(0, 0, 0.05))
    pairs = [ta.ContactPair("world", "box", friction=(0.3, 0.2), restitution=0.1)]
    rules = {"combine": "mean", "self_collision": "none", "contact": True}
    world = ta.World(box, ground=ta.Plane(friction=0.7), pairs=pairs, **rules)
    r = ta.load_run(ta.Simulation(world).run(0.01).save(tmp_path / "run.h5"))
    assert r.world.options == world.options == {"pairs": [dataclasses.asdict(pairs[0])], **rules}
    assert np.array_equal(r.world.scene().surfaces.pair, world.scene().surfaces.pair)


@pytest.mark.parametrize("sim", [ball(), pendulum()], ids=["contact", "smooth"])
def test_a_run_that_was_cut_off_has_a_report(sim, tmp_path):
    """Its writer never said that it is over: judged from its rows, and it starts from its last state."""
    engine, path = sim._engine, tmp_path / "run.h5"
    course = engine.set_off(sim.state(v=np.full(sim.model.nv, 0.3)), 120, Control())
    world = sim.world
    writer = recorder.Recorder(path, sim.model, 1e-3, course.rows(0), world=world, settings=engine.settings)
    course.advance(120)
    writer.append(course)
    cut = tmp_path / "cut.h5"
    cut.write_bytes(path.read_bytes())
    run = course.finish(0.0)
    writer.close()
    r = ta.load_run(cut)
    assert not r.is_complete and r.steps == 120 and r.saved_state == b""
    assert r.certificate == run.certificate
    assert r.energy.remainder == pytest.approx(run.energy.remainder, abs=1e-12)
    assert r.report(tmp_path / "page.html").stat().st_size > 10_000
    assert np.array_equal(r.state.q, run.q[-1]) and r.state.t == pytest.approx(0.12)
    assert sim.run(0.01, state=r.state).steps == 10


def test_old_files_have_arrays_alone(rolling, tmp_path):
    r = dataclasses.replace(ta.load_run(rolling.save(tmp_path / "run.h5")), description=b"")
    assert len(r.columns()) and r.steps == 100
    with pytest.raises(ta.BadInput, match="kept no model"):
        r.plot()


# ----- Damage --------------------------------------------------------------------------------------------


def damaged(data: bytes, seed: int) -> bytes:
    rng = random.Random(seed)
    out = bytearray(data)
    if seed % 3 == 0:
        return bytes(out[: rng.randrange(len(out))])
    for _ in range(seed % 3):
        at = rng.randrange(len(out))
        out[at] ^= 1 << rng.randrange(8)
    return bytes(out)


@pytest.mark.parametrize("ending", ["h5", "npz"])
def test_a_damaged_run_is_refused_at_once(rolling, ending, tmp_path):
    """Truncations and flipped bits anywhere: refused by one line, or, where nothing was lost, the run."""
    data, path, refused = rolling.save(tmp_path / f"run.{ending}").read_bytes(), tmp_path / f"bad.{ending}", 0
    for seed in range(60):
        path.write_bytes(damaged(data, seed))
        try:
            r = ta.load_run(path)
        except ta.BadInput as error:
            assert str(error).startswith(f"{path}: ") and has_one_line(error)
            refused += 1
        else:
            assert np.array_equal(r.q, rolling.q) and np.array_equal(r.records, rolling.records)
    assert refused > 30


def test_a_damaged_file_that_is_marked_as_being_written_is_refused_at_once(tmp_path, monkeypatch):
    """HDF5's own mode for readers, which tries again for minutes, is never asked for."""
    modes: list[dict] = []
    pauses: list[float] = []
    h5py = pytest.importorskip("h5py")
    opened = h5py.File
    monkeypatch.setattr(h5py, "File", lambda *a, **options: modes.append(options) or opened(*a, **options))
    monkeypatch.setattr(open_run_file, "clock", SimpleNamespace(sleep=pauses.append))
    path, bad, sim = tmp_path / "run.h5", tmp_path / "bad.h5", pendulum()
    course = sim._engine.set_off(sim.state(), 10, Control())
    recorder.Recorder(path, sim.model, 1e-3, course.rows(0), settings=sim._engine.settings).flush()
    data = path.read_bytes()
    at = data.index(b"OHDR") + 40
    bad.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
    modes.clear()
    with pytest.raises(ta.BadInput, match="damaged"):
        ta.load_run(bad)
    assert sum(pauses) < 1.0 and 0 < len(modes) <= open_run_file.LOOKS
    assert not any(options.get("swmr") for options in modes)
    bad.write_bytes(data)
    assert ta.load_run(bad).steps == 0


def test_the_sum_of_the_first_bytes_is_the_one_of_its_author():
    """Values that the author of lookup3 gives in the text of his program, for a start of zero."""
    assert lookup3(b"") == 0xDEADBEEF
    assert lookup3(b"Four score and seven years ago") == 0x17770551


def test_damaged_states(rolling, tmp_path):
    path = tmp_path / "state.npz"
    rolling.state.save(path)
    data = path.read_bytes()
    for seed in range(60):
        path.write_bytes(damaged(data, seed))
        try:
            state = ta.SimState.load(path)
        except ta.BadInput as error:
            assert str(error).startswith(f"{path}: not a saved state") and has_one_line(error)
        else:
            assert np.array_equal(state.q, rolling.state.q)
    for text in (b"", b"PK", b"PK\x05\x06" + 18 * b"\0", b"no state"):
        path.write_bytes(text)
        with pytest.raises(ta.BadInput, match="not a saved state"):
            ta.SimState.load(path)
    assert set(_FIELDS) == {field.name for field in dataclasses.fields(ta.SimState)}


def test_a_header_that_claims_too_much_makes_no_room():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        head = b"{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000,), }".ljust(117) + b"\n"
        archive.writestr("q.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(ta.BadInput, match=r"cannot be read \(the header of q\.npy\)"):
        read_archive(file.getvalue())


def test_archives_are_read_as_numpy_reads_them(tmp_path):
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "text": np.array("law"),
        "no text": np.array(""),
        "empty": np.zeros((0, 3)),
        "bytes": np.frombuffer(b"abc", dtype=np.uint8),
        "scalar": np.array(2.5),
    }
    np.savez_compressed(tmp_path / "x.npz", **arrays)
    read = read_archive(tmp_path / "x.npz")
    assert read.keys() == arrays.keys()
    for name, array in arrays.items():
        assert read[name].dtype == array.dtype and np.array_equal(read[name], array)


# ----- Descriptions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["double_pendulum", "snake", "quadruped", "planar_humanoid", "four_legged"])
def test_a_description_comes_back_bit_for_bit(name):
    spec = getattr(ta.robots, name)().spec
    again = from_bytes(to_bytes(spec))
    assert to_bytes(again) == to_bytes(spec)
    one, two = compile_model(spec), compile_model(again)
    assert one.tree.constant.tobytes() == two.tree.constant.tobytes() and np.array_equal(one.q0, two.q0)


def test_a_description_with_meshes_and_terrain():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    mesh = ta.Mesh(corners, [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    body = ta.free_body("m", mesh, mass=1.0)
    ground = ta.HeightField(np.arange(6.0).reshape(2, 3), (0.1, 0.2))
    spec = ta.World(body, ground=[ground, ta.Union(((ta.Sphere(0.1), ta.Transform()),))]).model.spec
    again = from_bytes(to_bytes(spec))
    assert to_bytes(again) == to_bytes(spec)
    assert np.array_equal(again.ground[0].geometry.heights, ground.heights)


def test_a_description_from_a_stranger_makes_nothing_else():
    with pytest.raises(ta.BadInput, match="does not know 'os:system'"):
        from_bytes(pack_text('{"class":"os:system","fields":{}}'))
    with pytest.raises(ta.BadInput, match="no part of one"):
        from_bytes(pack_text('{"class":"taction.model.joints:JointKind","fields":{}}'))
    for text in ("{", '{"array":"AA","dtype":"<f8","shape":[1]}', '{"tuple":3}', "{}", 5 * "[" + 5 * "]"):
        try:
            from_bytes(pack_text(text))
        except ta.BadInput as error:
            assert has_one_line(error)
    with pytest.raises(ta.BadInput, match="cannot hold a function"):
        to_bytes([pack_text])


def pack_text(text: str) -> bytes:
    import zlib

    return zlib.compress(text.encode())
