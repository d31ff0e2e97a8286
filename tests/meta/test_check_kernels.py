"""Every rule of the kernel lint, with a sample that breaks it and one that does not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADER = """
import math
import numpy as np
from taction._core.jit import inline_kernel, kernel
from taction._core.kinds import LinkKind
LIMIT = 3.0
tuning = 4.0

def python_function(x):
    return x

@kernel
def helper(x):
    '''Twice x.'''
    return 2.0 * x

@kernel
def put(value, k, x_out):
    '''Store one entry.'''
    x_out[k] = value

@kernel
def fill(ws):
    '''Fill scratch.'''
    ws.a[0] = 1.0
"""


def load_lint():
    spec = importlib.util.spec_from_file_location("check_kernels", ROOT / "tools" / "check_kernels.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


lint = load_lint()


def findings(tmp_path: Path, source: str, name: str = "sample.py") -> list[str]:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return lint.check_file(path, {})


def body(statement: str, arguments: str = "x, n, ws, y_out, z_io") -> str:
    lines = "\n    ".join(statement.splitlines())
    return f"{HEADER}\n@kernel\ndef sample({arguments}):\n    '''What it does.'''\n    {lines}\n"


FORBIDDEN = {
    "array": ("y = np.array(x)", "np.array"),
    "zeros": ("y = np.zeros(3)", "np.zeros"),
    "empty": ("y = np.empty(n)", "np.empty"),
    "ones": ("y = np.ones(n)", "np.ones"),
    "linspace": ("y = np.linspace(0, 1, n)", "np.linspace"),
    "concatenate": ("y = np.concatenate((x, x))", "np.concatenate"),
    "linalg": ("y = np.linalg.solve(x, x)", "np.linalg"),
    "method": ("y = x.copy()", ".copy() allocates"),
    "print": ("print(n)", "print is not allowed"),
    "raise": ("raise ValueError", "return an integer status"),
    "assert": ("assert n > 0", "return an integer status"),
    "try": ("try:\n    n = 1\nfinally:\n    n = 2", "try and with"),
    "with": ("with n:\n    n = 1", "try and with"),
    "list": ("y = [n, n]", "displays allocate"),
    "dict": ("y = {n: n}", "displays allocate"),
    "set": ("y = {n, n}", "displays allocate"),
    "list comprehension": ("y = [k for k in range(n)]", "comprehensions allocate"),
    "dict comprehension": ("y = {k: k for k in range(n)}", "comprehensions allocate"),
    "set comprehension": ("y = {k for k in range(n)}", "comprehensions allocate"),
    "generator": ("y = max(k for k in range(n))", "generators are not allowed"),
    "lambda": ("y = lambda k: k", "lambda is not allowed"),
    "nested function": ("def inner():\n    return 1", "nested functions"),
    "f-string": ("y = f'{n} items'", "f-strings are not allowed"),
    "string": ("y = 'text'", "string constants are not allowed"),
    "matmul": ("y = x @ x", "@ operator allocates"),
    "in-place matmul": ("y_out @= x", "@ operator allocates"),
    "slice arithmetic": ("y_out[:] = x[0:3] + x[3:6]", "arithmetic on a slice"),
    "keyword call": ("y = helper(x=n)", "keyword arguments"),
    "store": ("x[0] = 1.0", "read-only argument 'x'"),
    "augmented store": ("x[0] += 1.0", "read-only argument 'x'"),
    "tuple store": ("n, x[0] = 1, 2.0", "read-only argument 'x'"),
    "store into a field": ("x.a[0] = 1.0", "read-only argument 'x'"),
    "store through a view": ("row = x[0]\nrow[1] = 1.0", "read-only argument 'x'"),
    "store in a callee": ("put(1.0, 0, x)", "as x_out of put"),
    "scratch in a callee": ("fill(x)", "as ws of fill"),
    "tunable global": ("y_out[0] = tuning", "global 'tuning'"),
    "python function": ("y_out[0] = python_function(n)", "global 'python_function'"),
    "other builtin": ("y_out[0] = sum(x)", "global 'sum'"),
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_forbidden_in_a_kernel(tmp_path, case):
    statement, reason = FORBIDDEN[case]
    found = findings(tmp_path, body(statement))
    assert any(reason in line for line in found), found
    line = HEADER.count("\n") + 5
    assert all(f"sample.py:{line}" in f or f"sample.py:{line + 1}" in f for f in found), found
    assert all(": kernel sample: " in f for f in found), found


@pytest.mark.parametrize("case", FORBIDDEN)
def test_allowed_outside_a_kernel(tmp_path, case):
    """The rules are for kernels: the same statement in an ordinary function is fine."""
    assert findings(tmp_path, body(FORBIDDEN[case][0]).replace("@kernel\ndef sample", "def sample")) == []


@pytest.mark.parametrize("decorator", ["@kernel", "@inline_kernel", "@jit.kernel", "@kernel()"])
def test_what_is_a_kernel(tmp_path, decorator):
    source = body("x[0] = 1.0").replace("@kernel\ndef sample", f"{decorator}\ndef sample")
    assert len(findings(tmp_path, source)) == 1


ALLOWED = {
    "scalars": "y = math.sqrt(n) + np.pi * abs(n)\ny_out[0] = min(max(y, -LIMIT), LIMIT)",
    "outputs": "for k in range(len(x)):\n    y_out[k] = x[k]\n    z_io[k] += x[k]",
    "scratch": "ws.a[0] = 1.0\nws.a[1, 2] -= x[0]",
    "view of an output": "row = y_out[0]\nrow[1] = 1.0",
    "view of scratch": "row = ws.a[0]\nrow[1] = 1.0",
    "tuples": "a, b = x[0], x[1]\nc = (a, b)\ny_out[0] = c[0]",
    "enumeration": "if n == LinkKind.REVOLUTE:\n    y_out[0] = helper(x[0])",
    "stores in a callee": "put(x[0], 0, y_out)\nput(x[0], 1, ws.a)\nfill(ws)",
    "passing a slice": "y = helper(x[0:3])",
    "status": "while n > 0:\n    n -= 1\nreturn int(n)",
}


@pytest.mark.parametrize("case", ALLOWED)
def test_allowed_in_a_kernel(tmp_path, case):
    assert findings(tmp_path, body(ALLOWED[case])) == []


SIGNATURES = {
    "default": ("x, n=3", "default arguments"),
    "args": ("x, *rest", "*args"),
    "kwargs": ("x, **rest", "*args"),
    "keyword only": ("x, *, n", "*args"),
    "output first": ("y_out, x", "argument 'x' after 'y_out'"),
    "scratch after outputs": ("x, y_out, ws", "argument 'ws' after 'y_out'"),
    "input after scratch": ("ws, x", "argument 'x' after 'ws'"),
}


@pytest.mark.parametrize("case", SIGNATURES)
def test_signatures(tmp_path, case):
    arguments, reason = SIGNATURES[case]
    found = findings(tmp_path, body("return 1", arguments))
    assert len(found) == 1 and reason in found[0], found


@pytest.mark.parametrize("arguments", ["", "x", "x, ws", "x, y_io, y_out", "x, n, ws, y_out, z_io", "y_out"])
def test_signatures_in_order(tmp_path, arguments):
    assert findings(tmp_path, body("return 1", arguments)) == []


def test_length_counts_code_only(tmp_path):
    long = "\n".join(["y = 1.0"] * (lint.MAX_LINES + 1))
    assert any("more than 60" in line for line in findings(tmp_path, body(long)))
    commented = "\n".join(["y = 1.0", "# a comment", ""] * lint.MAX_LINES)
    assert findings(tmp_path, body(commented)) == []


def test_docstring_is_required(tmp_path):
    bare = f"{HEADER}\n@kernel\ndef sample(x):\n    return x\n"
    assert [f.split(": ", 2)[2] for f in findings(tmp_path, bare)] == ["has no docstring"]


@pytest.mark.parametrize("statement", ["import numba", "from numba import njit", "import numba.cuda as cuda"])
def test_numba_has_one_home(tmp_path, statement):
    assert any("numba is imported only" in line for line in findings(tmp_path, statement))
    assert findings(tmp_path, statement, "_core/jit.py") == []
    assert findings(tmp_path, "import numbers") == []


def test_signatures_are_known_across_files(tmp_path, capsys):
    (tmp_path / "store.py").write_text(HEADER, encoding="utf-8")
    caller = "from store import put\n@kernel\ndef sample(x):\n    '''Wrong.'''\n    put(1.0, 0, x)\n"
    (tmp_path / "caller.py").write_text("from taction._core.jit import kernel\n" + caller, encoding="utf-8")
    assert lint.main([str(tmp_path)]) == 1
    assert "caller.py:6: kernel sample: passes read-only argument 'x'" in capsys.readouterr().out


def test_exit_codes_and_messages(tmp_path, capsys):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(body("y_out[0] = n"), encoding="utf-8")
    bad.write_text(body("x[0] = n"), encoding="utf-8")
    assert lint.main([str(good)]) == 0
    assert "no findings" in capsys.readouterr().out
    assert lint.main([str(good), str(bad)]) == 1
    out = capsys.readouterr().out.strip().splitlines()
    assert len(out) == 1 and out[0].startswith(f"{bad}:") and ": kernel sample: " in out[0]
