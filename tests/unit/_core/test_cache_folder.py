"""What is kept lies where nobody else can write, or nowhere: owners, modes, links, and what is above."""

import logging
import os
import stat

import pytest

from taction._core import cache_folder
from taction._core.cache_folder import VARIABLE, cache_root, make_private, why_distrusted

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes are those of POSIX")
STRANGER = 54321


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch, tmp_path):
    """No folder was looked at before, and the temporary one is the test's."""
    for function in (cache_folder._root_of, cache_folder._of_this_process, cache_folder._is_own_group):
        function.cache_clear()
    private = tmp_path / "temporary"
    private.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", "/dev/null/nowhere")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(cache_folder.tempfile, "tempdir", str(private))
    yield
    for function in (cache_folder._root_of, cache_folder._of_this_process):
        function.cache_clear()


def folder(path, mode=0o700):
    path.mkdir()
    path.chmod(mode)
    return path


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_folder_of_ones_own_counts(tmp_path):
    for allowed in (0o700, 0o750, 0o755):
        assert why_distrusted(folder(tmp_path / f"{allowed:o}", allowed)) == ""


@pytest.mark.parametrize("writable", [0o777, 0o1777, 0o702])
def test_a_folder_that_others_may_write_to_does_not(tmp_path, writable):
    assert why_distrusted(folder(tmp_path / "open", writable)) == "others may write to it"
    assert why_distrusted(tmp_path / "missing") == "No such file or directory"


def test_a_folder_of_somebody_else_does_not(tmp_path, monkeypatch):
    there = folder(tmp_path / "there", 0o755)
    monkeypatch.setattr(cache_folder.os, "geteuid", lambda: STRANGER)
    assert why_distrusted(there) == "it belongs to another user"


def test_links_are_not_followed_at_the_end_and_judged_on_the_way(tmp_path):
    there = folder(tmp_path / "there")
    folder(there / "in")
    (tmp_path / "link").symlink_to(there)
    assert why_distrusted(tmp_path / "link") == "it is a link"
    assert why_distrusted(tmp_path / "link" / "in") == ""
    (tmp_path / "relative").symlink_to("../" + tmp_path.name + "/there")
    assert why_distrusted(tmp_path / "relative" / "in") == ""
    folder(tmp_path / "open", 0o777)
    folder(tmp_path / "open" / "in")
    (tmp_path / "away").symlink_to(tmp_path / "open")
    for way in ("open", "away"):
        assert why_distrusted(tmp_path / way / "in") == f"others may write to {tmp_path}/open above it"
    (tmp_path / "open").chmod(0o1777)
    assert why_distrusted(tmp_path / "away" / "in") == ""


def test_a_way_that_goes_in_circles_ends(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert why_distrusted(tmp_path / "a" / "x") == "Too many levels of symbolic links"


def test_what_is_above_may_not_be_somebody_elses(tmp_path, monkeypatch):
    there = folder(folder(tmp_path / "above") / "there")
    real, strange = os.lstat, str(tmp_path / "above")

    def lstat(path):
        status = real(path)
        if os.fspath(path) != strange:
            return status
        return os.stat_result((*status[:4], STRANGER, *status[5:]))

    monkeypatch.setattr(cache_folder.os, "lstat", lstat)
    assert why_distrusted(there) == f"{strange} above it belongs to another user"


@pytest.mark.parametrize("members, trusted", [([], True), (["somebody"], True), (["other"], False)])
def test_a_group_of_ones_own_is_oneself(tmp_path, monkeypatch, members, trusted):
    """As systems give every user one, and make folders that it may write to."""
    import grp
    import pwd

    there = folder(tmp_path / "there", 0o770)
    monkeypatch.setattr(cache_folder.os, "lstat", with_group(os.lstat, there))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(("somebody", "", 0, 77, "", "", "")))
    monkeypatch.setattr(grp, "getgrgid", lambda _: grp.struct_group(("somebody", "", 77, members)))
    assert (why_distrusted(there) == "") == trusted
    cache_folder._is_own_group.cache_clear()

    def nobody(_):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)  # as in many containers
    assert why_distrusted(there) == "others may write to it"


def with_group(lstat, folder, number=77):
    def changed(path):
        status = lstat(path)
        return (
            os.stat_result((*status[:5], number, *status[6:])) if os.fspath(path) == str(folder) else status
        )

    return changed


def test_what_is_made_is_for_oneself_alone_whatever_the_process_would_give(tmp_path):
    before = os.umask(0)
    try:
        make_private(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(before)
    assert [mode(tmp_path / part) for part in ("a", "a/b", "a/b/c")] == [0o700] * 3
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "x"):
        with pytest.raises(OSError):
            make_private(place)


def given(monkeypatch, value):
    cache_folder._root_of.cache_clear()
    monkeypatch.setenv(VARIABLE, value)
    return cache_root()


@pytest.mark.parametrize(
    "name, why",
    [
        ("open", "others may write to it"),
        ("link", "it is a link"),
        ("file", "is no folder"),
        ("file/x", "Not a directory"),
        ("~nosuchuser/x", "there is no such user"),
    ],
)
def test_what_does_not_count_is_named_and_nothing_is_kept_there(tmp_path, monkeypatch, caplog, name, why):
    folder(tmp_path / "open", 0o777)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    value = name if name[0] == "~" else str(tmp_path / name)
    with caplog.at_level(logging.WARNING, "taction"):
        root = given(monkeypatch, value)
        assert cache_root() == root
    assert root == tmp_path / "temporary" / f"taction-{os.geteuid()}" and mode(root) == 0o700
    assert caplog.messages == [f"{value}: {why}, so nothing is kept there; remove it, or set {VARIABLE}"]
    assert os.listdir(tmp_path / "open") == []


def test_without_a_home_the_temporary_folder_serves(tmp_path, monkeypatch, caplog):
    cache_folder._root_of.cache_clear()
    monkeypatch.delenv(VARIABLE, raising=False)
    assert cache_root() == tmp_path / "temporary" / f"taction-{os.geteuid()}"
    assert mode(cache_root()) == 0o700 and caplog.messages == []


def test_an_empty_variable_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert given(monkeypatch, "") == tmp_path / "cache" / "taction"


def test_where_all_are_open_to_others_a_new_folder_serves_the_process(tmp_path, monkeypatch):
    folder(tmp_path / "temporary" / f"taction-{os.geteuid()}", 0o777)
    root = given(monkeypatch, "/dev/null/x")
    assert root.parent == tmp_path / "temporary" and root.name != f"taction-{os.geteuid()}"
    assert mode(root) == 0o700


def test_without_any_room_nothing_is_kept(monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache_folder.tempfile, "mkdtemp", full)
    monkeypatch.setattr(cache_folder.tempfile, "tempdir", "/dev/null")
    assert given(monkeypatch, "/dev/null/x") is None
