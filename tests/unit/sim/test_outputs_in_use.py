"""Outputs that two runs want, or that are taken away: whole, or one line; locks go with their process."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import taction as ta
from taction._core.in_use import InUse
from taction.cli.main import main

pytest.importorskip("fcntl", reason="locks are those of POSIX")


def sphere():
    ball = ta.free_body("ball", ta.Sphere(0.1), mass=1.0, position=(0, 0, 0.3))
    return ta.Simulation(ta.World(ball, ground=ta.Plane()), dt=1e-3)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_second_run_is_refused_and_the_first_is_whole(tmp_path):
    path, refused = tmp_path / "run.h5", []

    def try_it_again(t, q, v):
        if t > 0.01 and not refused:
            with pytest.raises(ta.BadInput, match=r"run\.h5: another run writes there") as error:
                sphere().run(0.01, record=path)
            refused.append(error)
        return np.zeros(6)

    run = sphere().run(0.3, record=path, controller=try_it_again)
    assert refused and np.array_equal(ta.load_run(path).q, run.q)
    assert names(tmp_path) == ["run.h5"]
    sphere().run(0.01, record=path)  # over now, so it may be written over
    assert len(ta.load_run(path).t) == 11


def test_a_lock_goes_with_its_process(tmp_path):
    code = """
    import os, sys
    from taction._core.in_use import InUse
    kept = InUse(sys.argv[1])
    print("locked", flush=True)
    sys.stdin.read()
    os._exit(9)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    environment = {**os.environ, "TACTION_JIT": "0"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as other:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(ta.BadInput, match="another run writes there; choose another name"):
            InUse(tmp_path)
        other.stdin.close()
    assert names(tmp_path) == [".taction.lock"]  # left behind, and it means nothing
    InUse(tmp_path).release()
    assert names(tmp_path) == []


def remove(path):
    path.unlink()


def move(path):
    path.rename(path.with_name("elsewhere"))


def replace(path):
    path.with_name("other").write_bytes(b"something else")
    path.with_name("other").replace(path)


def empty(path):
    path.write_bytes(b"")


def write_over(path):
    path.write_bytes(b"something else")


@pytest.mark.parametrize("take", [remove, move, replace, empty, write_over])
def test_a_file_that_is_taken_away_ends_the_run_with_one_line(tmp_path, take):
    path, taken = tmp_path / "run.h5", []

    def controller(t, q, v):
        if t > 0.15 and not taken:
            take(path)
            taken.append(path.read_bytes() if path.exists() else None)
        return np.zeros(6)

    with pytest.raises(ta.BadInput, match=r"run\.h5: was moved, removed or written over while the run was"):
        sphere().run(2.0, record=path, controller=controller)
    assert (path.read_bytes() if path.exists() else None) == taken[0]  # what is there now was left alone
    assert not path.with_name(".run.h5.lock").exists()
    if take is move:
        assert len(ta.load_run(path.with_name("elsewhere")).t) > 100  # up to the last flush


def test_a_folder_in_use_is_refused_by_the_command(tmp_path, capsys):
    out = tmp_path / "out"
    out.mkdir()
    held = InUse(out)
    assert main(["run", "double-pendulum", "--duration", "0.01", "--out", str(out)]) == 2
    assert "another run writes there; choose another name" in capsys.readouterr().err
    held.release()
    assert main(["run", "double-pendulum", "--duration", "0.01", "--out", str(out)]) == 0
    assert ".taction.lock" not in names(out) and "summary.json" in names(out)
