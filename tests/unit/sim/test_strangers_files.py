"""Run files and problems of strangers: nothing outside of them is read, and no more memory than they hold."""

import io
import os
import zipfile

import h5py
import numpy as np
import pytest

import taction as ta
from taction._core import own_data
from taction.io.fclib import read_fclib, write_fclib

SECRET = np.arange(7.0) + 0.125


@pytest.fixture
def run_file(tmp_path):
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.1))
    path = tmp_path / "run.h5"
    ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3).run(0.006, record=path)
    return path


@pytest.fixture
def problem_file(tmp_path):
    problem = ta.ContactProblem(np.eye(3), np.array([-1.0, 0.0, 0.0]), [ta.Contact(0.5)])
    return write_fclib(problem, tmp_path / "problem.hdf5")


def external_link(group, name, elsewhere):
    group[name] = h5py.ExternalLink(str(elsewhere / "secret.h5"), "/x")


def soft_link(group, name, elsewhere):
    group[name] = h5py.SoftLink("/t")


def external_storage(group, name, elsewhere):
    group.create_dataset(name, (7,), "f8", external=[(str(elsewhere / "secret"), 0, 56)])


def virtual(group, name, elsewhere):
    layout = h5py.VirtualLayout((7,), "f8")
    layout[:] = h5py.VirtualSource(str(elsewhere / "secret.h5"), "x", (7,))
    group.create_virtual_dataset(name, layout)


def unwritten(group, name, elsewhere):
    group.create_dataset(name, (50_000_000,), "f8", chunks=(1000,))


def unwritten_at_once(group, name, elsewhere):
    group.create_dataset(name, (50_000_000,), "f8")


def bomb(group, name, elsewhere):
    made = group.create_dataset(name, (60_000_000,), "f8", chunks=(1_000_000,), compression="gzip")
    made[:1_000_000] = 0.0


def text_of_any_length(group, name, elsewhere):
    group.create_dataset(name, (7,), h5py.string_dtype())


def pipe(group, name, elsewhere):
    os.mkfifo(elsewhere / "pipe")
    group[name] = h5py.ExternalLink(str(elsewhere / "pipe"), "/x")


TRICKS = [
    external_link,
    soft_link,
    external_storage,
    virtual,
    unwritten,
    unwritten_at_once,
    bomb,
    text_of_any_length,
]
TRICKS += [pipe] if hasattr(os, "mkfifo") else []


@pytest.fixture
def elsewhere(tmp_path):
    """Numbers that nobody who reads another file should see."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret").write_bytes(SECRET.tobytes())
    with h5py.File(folder / "secret.h5", "w") as file:
        file["x"] = SECRET
    return folder


@pytest.mark.parametrize("trick", TRICKS)
@pytest.mark.parametrize("place", ["kinetic", "contacts/gap", "more"])
def test_a_run_file_that_leads_elsewhere_is_refused(run_file, elsewhere, trick, place):
    group, _, name = place.rpartition("/")
    with h5py.File(run_file, "r+") as file:
        parent = file[group or "/"]
        if name in parent:
            del parent[name]
        trick(parent, name, elsewhere)
    with pytest.raises(
        ta.BadInput, match=r"run\.h5: .*(link|another file|claims?|packed|no numbers)"
    ) as error:
        ta.load_run(run_file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("trick", TRICKS)
def test_a_problem_that_leads_elsewhere_is_refused(problem_file, elsewhere, trick):
    with h5py.File(problem_file, "r+") as file:
        del file["fclib_local/vectors/q"]
        trick(file["fclib_local/vectors"], "q", elsewhere)
    with pytest.raises(ta.BadInput, match=r"problem\.hdf5: "):
        read_fclib(problem_file)


def test_groups_without_end_are_refused(run_file):
    with h5py.File(run_file, "r+") as file:
        file["contacts/again"] = file["contacts"]  # a hard link to what it is in
    with pytest.raises(ta.BadInput, match=f"groups deeper than {own_data.DEEPEST}"):
        ta.load_run(run_file)
    with h5py.File(run_file, "r+") as file:
        del file["contacts/again"]
        for k in range(own_data.MOST_OBJECTS):
            file.create_group(f"many/{k}")
    with pytest.raises(ta.BadInput, match=f"more than {own_data.MOST_OBJECTS} objects and"):
        ta.load_run(run_file)


def test_packed_problems_are_read(problem_file):
    with h5py.File(problem_file, "r+") as file:
        q = file["fclib_local/vectors/q"][()]
        del file["fclib_local/vectors/q"]
        file["fclib_local/vectors"].create_dataset("q", data=q, compression="gzip")
    np.testing.assert_array_equal(read_fclib(problem_file).b, [-1.0, 0.0, 0.0])


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path):
    zeros = io.BytesIO()
    np.save(zeros, np.zeros(8_000_000))
    with zipfile.ZipFile(tmp_path / "run.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(8):
            archive.writestr(f"x{k}.npy", zeros.getvalue())
    with pytest.raises(ta.BadInput, match=r"run\.npz: would take 512 MB of memory"):
        ta.load_run(tmp_path / "run.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes are those of POSIX")
@pytest.mark.parametrize("name", ["run.h5", "run.npz"])
def test_a_pipe_is_no_file(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(ta.BadInput, match="is no plain file"):
        ta.load_run(tmp_path / name)
