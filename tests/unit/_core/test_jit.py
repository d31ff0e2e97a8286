"""The kernel decorator: plain Python and bounds-checked kernels give the same numbers as compiled ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taction
from helpers import assert_close, random_case
from taction._core.jit import KERNEL_LAYERS, TRIED, cache_root, require_tried, source_digest
from taction.dynamics.aba import aba
from taction.dynamics.crba import mass_matrix
from taction.dynamics.delassus import ContactPoint, contact_inertia
from taction.dynamics.energy import totals
from taction.dynamics.factor import factor_mass_matrix
from taction.dynamics.rnea import rnea
from taction.kinematics.configuration import difference, integrate
from taction.kinematics.forward import body_velocities, forward_kinematics
from taction.kinematics.jacobian import jacobian, jacobian_dot_v

TESTS = Path(__file__).parents[2]
SEEDS = range(4)


def numbers(seed: int) -> np.ndarray:
    """What all kernels of kinematics and dynamics say about a random tree, in one row."""
    model, q, v, rng = random_case(seed, 6)
    tau = rng.normal(size=model.nv)
    body, other = model.body_names[-1], model.body_names[0]
    contacts = [ContactPoint(body, rng.normal(size=3)), ContactPoint(other, rng.normal(size=3), other=body)]
    results = [
        rnea(model, q, v, tau),
        aba(model, q, v, tau),
        mass_matrix(model, q),
        factor_mass_matrix(model, q).solve(tau),
        *(contact_inertia(model, q, contacts, method=method)[0] for method in ("jacobian", "unit_forces")),
        *forward_kinematics(model, q),
        *body_velocities(model, q, v),
        jacobian(model, q, body),
        jacobian_dot_v(model, q, v, body),
        totals(model, q, v).energy,
        difference(model, q, integrate(model, q, v, 0.1)),
    ]
    return np.concatenate([np.ravel(result) for result in results])


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """A process with other settings that finds the same sources."""
    path = os.pathsep.join([str(TESTS), str(Path(taction.__file__).parents[1])])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def numbers_elsewhere(tmp_path: Path, **environment: str) -> list[np.ndarray]:
    """The same numbers from a process with other settings: this file, run as a script."""
    file = tmp_path / "numbers.npz"
    done = run_python(__file__, str(file), **environment)
    assert done.returncode == 0, done.stderr
    with np.load(file) as arrays:
        return [arrays[name] for name in arrays.files]


def test_plain_python_gives_the_same_numbers(tmp_path):
    """$TACTION_JIT=0 steps through the same statements; sines and sums may round differently."""
    for seed, plain in zip(SEEDS, numbers_elsewhere(tmp_path, TACTION_JIT="0"), strict=True):
        assert_close(plain, numbers(seed), 1e-12, 0.0, f"seed {seed}")


@pytest.mark.long
def test_kernels_stay_within_their_arrays(tmp_path):
    """$NUMBA_BOUNDSCHECK=1 turns every stray index into an error. The first run compiles all kernels anew."""
    checked = numbers_elsewhere(tmp_path, NUMBA_BOUNDSCHECK="1")
    for seed, result in zip(SEEDS, checked, strict=True):
        assert_close(result, numbers(seed), 1e-12, 0.0, f"seed {seed}")


def test_bounds_checks_are_on_when_asked_for(tmp_path):
    """The test above means something: a kernel that reads past the end is caught."""
    file = tmp_path / "stray.py"
    file.write_text(
        "import numpy as np\n"
        "from taction._core.jit import kernel\n\n"
        "@kernel\n"
        "def stray(x):\n"
        "    return x[x.shape[0]]\n\n"
        "stray(np.zeros(3))\n"
    )
    done = run_python(str(file), NUMBA_BOUNDSCHECK="1", TACTION_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode != 0 and "IndexError" in done.stderr


def test_digest_follows_the_sources_and_the_switches(monkeypatch):
    assert source_digest() == source_digest()
    before = source_digest()
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1" if os.environ.get("NUMBA_BOUNDSCHECK") != "1" else "0")
    assert source_digest() != before
    assert {"math", "model", "kinematics", "dynamics"} <= set(KERNEL_LAYERS)


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TACTION_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("TACTION_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "taction"


def test_the_cache_leaves_other_people_s_folders_alone(tmp_path):
    """TACTION_CACHE_DIR may be a folder that holds other things."""
    other = tmp_path / "holiday pictures"
    other.mkdir()
    os.utime(other, (0, 0))
    run_python("-c", "import taction._core.jit", TACTION_CACHE_DIR=str(tmp_path)).check_returncode()
    assert other.is_dir()


if __name__ == "__main__":
    np.savez(sys.argv[1], *map(numbers, SEEDS))


def test_a_version_of_numba_that_was_not_tried_is_refused() -> None:
    """In one line that leads on; without Numba no version matters. pip is told the same bounds."""
    patched = "import numba; numba.__version__ = '0.70.1'; import taction; print(taction.__name__)"
    refused = run_python("-c", patched)
    assert refused.returncode != 0
    last = refused.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: taction leans on") and "pip install 'numba>=0.65,<0.69'" in last
    assert "this is numba 0.70.1" in last
    assert run_python("-c", patched, TACTION_JIT="0").stdout.strip() == "taction"
    project = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert '"numba>=0.65,<0.69"' in project and TRIED == ((0, 65), (0, 69))
    for version in ("0.65.0", "0.68.1", "0.68.0rc1"):
        require_tried(version)
