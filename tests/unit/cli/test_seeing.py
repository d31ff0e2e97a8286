"""``taction view``, ``ui`` and ``render`` at the command line: bad input is one line and exit code 2."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import taction as ta
from helpers import hide_module
from taction.cli.main import main


@pytest.fixture(scope="module")
def run_file(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "run.h5"
    ta.Simulation(ta.robots.double_pendulum(), dt=1e-2).run(0.2).save(path)
    return path


def complaint(capsys, *words: object) -> str:
    """The one line of a command that cannot work."""
    assert main([str(word) for word in words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and err.startswith("taction: "), err
    assert not [t for t in threading.enumerate() if t.name.startswith("taction-")]
    return err


def damaged(path: Path, folder: Path) -> Path:
    """A run file of which the end is missing."""
    data = path.read_bytes()
    (folder / "cut.h5").write_bytes(data[: len(data) // 2])
    return folder / "cut.h5"


# ----- view and ui -----------------------------------------------------------------------------------------


def test_view_of_what_is_not_there(tmp_path, run_file, capsys):
    quiet = ("--no-browser", "--port", 0)
    assert "no such file" in complaint(capsys, "view", tmp_path / "none.urdf", *quiet)
    assert "no such file" in complaint(capsys, "view", tmp_path / "none.h5", *quiet)
    assert "unknown scenario" in complaint(capsys, "view", "none", *quiet)
    assert "no such folder" in complaint(capsys, "view", tmp_path / "none" / "none.xml", *quiet)
    assert "no such folder" in complaint(capsys, "ui", "--folder", tmp_path / "none", *quiet)
    assert "outside of the folder" in complaint(capsys, "view", run_file, "--folder", tmp_path, *quiet)
    assert "cut.h5" in complaint(capsys, "view", damaged(run_file, tmp_path), *quiet)
    (tmp_path / "text.txt").write_text("text")
    assert "not a robot's file" in complaint(capsys, "view", tmp_path / "text.txt", *quiet)


def test_view_at_a_port_that_is_taken(run_file, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = complaint(capsys, "view", run_file, "--no-browser", "--port", port)
    assert f"port {port} is in use" in said and "--port" in said
    assert "0 to 65535" in complaint(capsys, "view", run_file, "--no-browser", "--port", 99999)


def test_view_without_websockets(run_file, monkeypatch, capsys):
    hide_module(monkeypatch, "websockets")
    assert "taction[view]" in complaint(capsys, "view", run_file, "--no-browser", "--port", 0)


def test_a_page_instead(run_file, tmp_path, capsys):
    assert main(["view", str(run_file), "--html", str(tmp_path / "page.html")]) == 0
    assert "wrote" in capsys.readouterr().err and (tmp_path / "page.html").stat().st_size > 100_000
    assert "taction run box-stack --report" in complaint(
        capsys, "view", "box-stack", "--html", tmp_path / "x.html"
    )
    assert "cut.h5" in complaint(capsys, "view", damaged(run_file, tmp_path), "--html", tmp_path / "x.html")
    assert str(tmp_path) in complaint(capsys, "view", run_file, "--html", tmp_path)
    assert not (tmp_path / "x.html").exists()


def test_a_link_to_a_file_is_that_file(run_file, tmp_path, monkeypatch, capsys):
    (tmp_path / "link.h5").symlink_to(run_file)
    shown = []
    monkeypatch.setattr(
        "taction.cli.view._wait", lambda view: shown.append(view._session.folder.path) or view.close()
    )
    assert main(["view", str(tmp_path / "link.h5"), "--no-browser", "--port", "0"]) == 0
    assert shown == [run_file.parent.resolve()]


@pytest.mark.parametrize("words", [("view", "block-slope"), ("view", "RUN"), ("ui",)])
def test_ctrl_c_ends_a_view(words, run_file):
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from taction.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    words = [str(run_file) if word == "RUN" else word for word in words]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    said = []
    while not said or "Ctrl-C ends it" not in said[-1]:
        said.append(process.stderr.readline())
        assert said[-1], said
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out == "" and err == "taction: closed\n"
    assert any("open at http://127.0.0.1:" in line and "token=" in line for line in said)


# ----- render ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing to render"),
        (("--png", "soon"), "t=SECONDS"),
        (("--png", "t=soon"), "t=SECONDS"),
        (("--png", "t=5"), "lasts from 0 to 0.2 s"),
        (("--png", "t=nan"), "lasts from"),
        (("--png", "t=0", "--size", "large"), "WIDTHxHEIGHT"),
        (("--png", "t=0", "--size", "4x4"), "16 to 4096"),
        (("--png", "t=0", "--size", "-960x540"), "WIDTHxHEIGHT"),
        (("--png", "t=0", "--size", "²x540"), "WIDTHxHEIGHT"),
        (("--png", "t=0", "--camera", "sideways"), "sideways"),
        (("--png", "t=0", "--show", "weather"), "weather"),
        (("--png", "t=0", "--out", "film.gif"), ".png was asked for"),
        (("--png", "t=0", "--gif", "--out", "film.gif"), "name a folder"),
        (("--gif", "--fps", "0"), "frames per second"),
        (("--gif", "--from", "0.1", "--to", "3"), "no film of 0.1 to 3 s"),
    ],
)
def test_pictures_that_cannot_be(run_file, words, said, capsys):
    assert said in complaint(capsys, "render", run_file, *words)


def test_pictures_of_what_is_not_there(run_file, tmp_path, monkeypatch, capsys):
    assert "none.h5" in complaint(capsys, "render", tmp_path / "none.h5", "--gif")
    assert "cut.h5" in complaint(capsys, "render", damaged(run_file, tmp_path), "--gif")
    (tmp_path / "text.h5").write_text("text")
    assert "text.h5" in complaint(capsys, "render", tmp_path / "text.h5", "--gif")
    monkeypatch.setenv("TACTION_BROWSER", "/bin/false")
    pytest.importorskip("playwright")
    assert "/bin/false does not start" in complaint(capsys, "render", run_file, "--gif")
    hide_module(monkeypatch, "playwright")
    assert "taction[render]" in complaint(capsys, "render", run_file, "--png", "t=0")
