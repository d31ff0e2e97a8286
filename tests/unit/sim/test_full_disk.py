"""Where there is no room: one line, what was written before is there, and nothing half done is left.

A limit on the size of files stands for a disk that is full.
"""

import os
import subprocess
import sys

import pytest

import taction as ta
from taction._core.whole_file import written_whole

resource = pytest.importorskip("resource", reason="limits of processes are those of POSIX")

RUN = """
import resource, sys
import taction as ta
ball = ta.free_body("ball", ta.Box((0.1, 0.1, 0.1)), mass=1.0, position=(0, 0, 0.05))
sim = ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3)
what, room, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
run = None if what == "record" else sim.run(0.4)
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
try:
    if what == "record":
        sim.run(3.0, record=path)
    elif what == "save":
        run.save(path)
    elif what == "report":
        run.report(path)
    else:
        run.state.save(path)
except ta.BadInput as error:
    print(error)
"""


def without_room(what, room, path):
    done = subprocess.run(
        [sys.executable, "-c", RUN, what, str(room), str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"{path}: ") and "too large" in line.lower()
    return line


@pytest.mark.parametrize(
    "room",
    [500_000, *(pytest.param(room, marks=pytest.mark.long) for room in (900_000, 1_200_000, 1_500_000))],
)
def test_a_recording_keeps_what_it_has(tmp_path, room):
    line = without_room("record", room, tmp_path / "run.h5")
    steps = int(line.split(";")[1].split()[0]) if ";" in line else 0
    if room > 1_000_000:
        assert steps > 0 and len(ta.load_run(tmp_path / "run.h5").t) == steps + 1
    assert [name for name in os.listdir(tmp_path) if name != "run.h5"] == []


@pytest.mark.parametrize(
    "what, name, room",
    [
        ("save", "run.h5", 500_000),
        pytest.param("save", "run.npz", 20_000, marks=pytest.mark.long),
        ("report", "run.html", 100_000),
        pytest.param("state", "state.npz", 500, marks=pytest.mark.long),
    ],
)
def test_a_file_is_whole_or_not_there(tmp_path, what, name, room):
    without_room(what, room, tmp_path / name)
    assert os.listdir(tmp_path) == []
    (tmp_path / name).write_bytes(b"what was there before")
    without_room(what, room, tmp_path / name)
    assert (tmp_path / name).read_bytes() == b"what was there before" and os.listdir(tmp_path) == [name]


def test_what_is_written_whole_replaces_files_and_nothing_else(tmp_path):
    path = tmp_path / "new folder" / "a.txt"
    with pytest.raises(ta.BadInput, match="cannot be written"), written_whole(path) as begun:
        begun.write_text("one")
    with written_whole(path, with_folder=True) as begun:
        begun.write_text("one")
    (tmp_path / "link").symlink_to(path)
    with written_whole(tmp_path / "link") as begun:
        begun.write_text("two")
    assert path.read_text() == "two" and (tmp_path / "link").is_symlink()
    with (
        pytest.raises(ta.BadInput, match="link: cannot be written"),
        written_whole(tmp_path / "link") as begun,
    ):
        begun.write_text("half")
        raise OSError("no more")
    with written_whole(os.devnull) as begun:
        begun.write_text("nothing")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(ta.BadInput, match="cannot be written"), written_whole(tmp_path) as begun:
        pass
    assert path.read_text() == "two" and os.listdir(path.parent) == ["a.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path):
    (tmp_path / "a").write_text("kept")
    (tmp_path / "a").chmod(0o400)
    with pytest.raises(ta.BadInput, match="cannot be written"), written_whole(tmp_path / "a") as begun:
        begun.write_text("new")
    assert (tmp_path / "a").read_text() == "kept"
