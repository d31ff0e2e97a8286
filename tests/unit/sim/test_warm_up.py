"""What is compiled on first use: examples reach every kernel, and users are told."""

from __future__ import annotations

import importlib
import logging
import pkgutil

import pytest

import taction
from taction._core import jit_share
from taction._core.jit_inner import Kernel
from taction._core.jit_trace import reachable, traced
from taction.sim import examples, warm_up

# Kernels that no public function calls: a loop of the benchmark's, and what only Python asks of a law
LEFT_OUT = {"repeat", "origin_of", "origin"}

NOT_RUN = ("taction.__main__", "taction.cli", "taction.bench", "taction.steppers.stages")

# In memory of joint coordinates, and in that of bodies that joints hold
TWICE = {"fly_trees", "carry_momenta"}


def all_kernels() -> set[Kernel]:
    """Every kernel of the package, those of benchmarks left out."""
    found: set[Kernel] = set()
    for module in pkgutil.walk_packages(taction.__path__, "taction."):
        if not module.name.startswith(NOT_RUN):
            names = vars(importlib.import_module(module.name))
            found |= {thing for thing in names.values() if isinstance(thing, Kernel)}
    return found


@pytest.mark.long
def test_examples_run_and_reach_every_kernel():
    """As plain Python; each kernel is called for the same types wherever Python calls it."""
    with traced() as calls:
        for example in examples.EXAMPLES.values():
            example()
    outer = [call.kernel for call in calls if call.is_outer]
    missing = {kernel.__name__ for kernel in all_kernels() - set(reachable(outer))}
    assert missing == LEFT_OUT
    assert {kernel.__name__ for kernel in outer if outer.count(kernel) > 1} == TWICE


def test_programs_are_told_in_one_line_and_the_command_line_shows_progress(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(warm_up, "CACHE_DIR", tmp_path)
    monkeypatch.setattr(warm_up, "_ready", set())
    monkeypatch.setattr(jit_share, "compile_together", lambda *_: 0)
    with caplog.at_level(logging.WARNING, "taction"):
        for _ in range(2):
            warm_up.compile_step("stewart-trinkle", "exact", "reduced")
    assert [record.message.split(",")[0] for record in caplog.records] == ["compiling the kernels of a step"]
    monkeypatch.setattr(warm_up, "_ready", set())  # another process: the marker is on disk
    warm_up.compile_step("stewart-trinkle", "exact", "reduced")
    assert len(caplog.records) == 1


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(warm_up, "CACHE_DIR", tmp_path / "file")
    monkeypatch.setattr(warm_up, "_ready", set())
    warm_up.compile_step("stewart-trinkle", "exact", "reduced")
