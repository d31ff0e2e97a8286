"""``taction cache``: says where things are kept and how much that is; removes them, and nothing else."""

import json

import pytest

from taction._core import cache_folder
from taction.cli.main import main

DIGEST = "0123456789abcdef"


@pytest.fixture
def root(tmp_path, monkeypatch):
    cache_folder._root_of.cache_clear()
    root = tmp_path / "kept"
    monkeypatch.setenv(cache_folder.VARIABLE, str(root))
    for place, size in ((DIGEST, 3000), (f"{DIGEST}/claims", 20), ("shapes", 500), ("pictures", 7)):
        (root / place).mkdir(parents=True)
        (root / place / "file").write_bytes(bytes(size))
    root.chmod(0o700)
    (root / "fedcba9876543210").symlink_to(tmp_path)
    return root


def test_it_says_where_and_how_much(root, capsys):
    assert main(["cache", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"folder": str(root), "bytes": {"kernels": 3020, "shapes": 500}, "removed": False}
    assert main(["cache"]) == 0
    assert f"0.0 MB in {root}" in capsys.readouterr().out


def test_it_removes_what_it_made_and_follows_no_link(root, tmp_path, capsys):
    (tmp_path / "mine").touch()
    assert main(["cache", "--clean"]) == 0
    assert f"removed from {root}" in capsys.readouterr().out
    assert sorted(path.name for path in root.iterdir()) == ["fedcba9876543210", "pictures"]
    assert (tmp_path / "mine").exists()


def test_without_a_folder_it_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(cache_folder, "cache_root", lambda: None)
    assert main(["cache"]) == 2
    assert "set TACTION_CACHE_DIR to a writable one" in capsys.readouterr().err
