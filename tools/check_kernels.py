"""Lint for kernels: the rules that keep `@kernel` functions readable, allocation-free and cacheable.

A kernel is a function decorated with ``@kernel`` or ``@inline_kernel`` from ``taction._core.jit``. The rules:

* Numba is imported in ``_core/jit*.py`` and nowhere else;
* a docstring, and at most 60 lines of code (blank lines, comments and the docstring are free);
* nothing that allocates, raises, prints or cannot be cached: no array constructors, ``np.linalg``, ``@``,
  arithmetic on slices, displays, comprehensions, strings, ``raise``/``try``/``with``/``assert``, lambdas;
* no store into an argument, here or in a kernel called from here, unless its name is ``*_out``, ``*_io`` or
  ``ws`` (scratch);
* argument order: read-only, then ``ws``, then ``*_io`` and ``*_out``; no defaults, ``*args``, keyword calls;
* globals: imports, kernels, UPPER_CASE constants, and a few builtins.

Usage: ``python tools/check_kernels.py [FILE or FOLDER ...]`` (default: ``src/taction``). Prints one line per
finding, ``path:line: kernel name: reason``, and exits with 1 if there is any.
"""

from __future__ import annotations

import ast
import io
import os
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

MAX_LINES = 60
DECORATORS = {"kernel", "inline_kernel"}
NUMBA_HOMES = tuple(
    ("_core", name)
    for name in (
        "jit.py",
        "jit_call.py",
        "jit_disk.py",
        "jit_inner.py",
        "jit_layout.py",
        "jit_progress.py",
        "jit_trace.py",
        "jit_typing.py",
    )
)
SCRATCH = "ws"
WRITABLE = ("_out", "_io")
BUILTINS = {"range", "abs", "min", "max", "float", "int", "len"}

# Everything else under np. may allocate or leave the set that also compiles for a GPU.
NUMPY_SCALARS = {
    "pi", "inf", "nan", "float64", "int64",
    "sqrt", "hypot", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "exp", "log", "tanh",
    "abs", "sign", "copysign", "floor", "ceil", "isfinite", "isnan", "isinf",
}  # fmt: skip
ALLOCATING_METHODS = {"copy", "astype", "dot", "flatten", "tolist"}

FORBIDDEN: dict[type[ast.AST], str] = {
    **dict.fromkeys((ast.List, ast.Dict, ast.Set), "list, dict and set displays allocate"),
    **dict.fromkeys((ast.ListComp, ast.DictComp, ast.SetComp), "comprehensions allocate"),
    **dict.fromkeys((ast.GeneratorExp, ast.Yield, ast.YieldFrom), "generators are not allowed"),
    **dict.fromkeys(
        (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), "nested functions are not allowed"
    ),
    **dict.fromkeys((ast.Import, ast.ImportFrom), "imports belong at the top of the file"),
    **dict.fromkeys((ast.Raise, ast.Assert), "raise and assert are not allowed; return an integer status"),
    **dict.fromkeys((ast.Try, ast.With), "try and with are not allowed"),
    ast.Lambda: "lambda is not allowed",
    ast.JoinedStr: "f-strings are not allowed",
    ast.Global: "global is not allowed",
}

Finding = tuple[int, str]
Signatures = dict[str, list[str]]


def check_file(path: Path, signatures: Signatures) -> list[str]:
    """All findings of one file, as printable lines; `signatures` are those of the kernels of all files."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, filename=str(path))
    lines = [f"{path}:{line}: module: {why}" for line, why in numba_imports(tree, path)]
    kernels = kernels_of(tree)
    signatures = {**signatures, **imported_kernels(tree, signatures)}
    signatures |= {k.name: arguments_of(k) for k in kernels}
    known = imported_names(tree) | {k.name for k in kernels} | BUILTINS
    code = code_lines(text)
    for k in kernels:
        findings = [
            *check_docstring(k),
            *check_length(k, code),
            *check_signature(k),
            *check_constructs(k),
            *check_stores(k, signatures),
            *check_globals(k, known),
        ]
        lines += [f"{path}:{line}: kernel {k.name}: {why}" for line, why in sorted(set(findings))]
    return lines


def kernels_of(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and is_kernel(node)]


def arguments_of(k: ast.FunctionDef) -> list[str]:
    return [a.arg for a in [*k.args.posonlyargs, *k.args.args]]


def is_writable(name: str) -> bool:
    return name == SCRATCH or name.endswith(WRITABLE)


def is_kernel(node: ast.FunctionDef) -> bool:
    names = (d.func if isinstance(d, ast.Call) else d for d in node.decorator_list)
    return any(getattr(d, "id", getattr(d, "attr", None)) in DECORATORS for d in names)


def numba_imports(tree: ast.Module, path: Path) -> Iterator[Finding]:
    if path.parts[-2:] in NUMBA_HOMES:
        return
    for node in ast.walk(tree):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(m.split(".")[0] in ("numba", "numba_cuda") for m in modules):
            yield node.lineno, "numba is imported only in _core/jit.py; use @kernel"


def imported_names(tree: ast.Module) -> set[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return {(alias.asname or alias.name).split(".")[0] for node in nodes for alias in node.names}


def imported_kernels(tree: ast.Module, signatures: Signatures) -> Signatures:
    """Signatures by the names under which a file imports them: several kernels may have one name."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = {a.asname or a.name: f"{node.module}.{a.name}" for node in nodes for a in node.names}
    return {name: signatures[whole] for name, whole in names.items() if whole in signatures}


def module_of(path: Path) -> str:
    """Dotted name of a file of the package."""
    parts = path.with_suffix("").parts
    return ".".join(parts[parts.index("taction") :]) if "taction" in parts else path.stem


def code_lines(text: str) -> set[int]:
    """Numbers of the lines that hold code, i.e. anything but blanks and comments."""
    layout = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    silent = {tokenize.COMMENT, *layout}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {n for t in tokens if t.type not in silent for n in range(t.start[0], t.end[0] + 1)}


def body_of(k: ast.FunctionDef) -> list[ast.stmt]:
    return k.body[1:] if ast.get_docstring(k) is not None else k.body


def nodes_of(k: ast.FunctionDef) -> Iterator[ast.AST]:
    """Every node of the body; nothing inside an f-string, which is reported as a whole."""
    stack: list[ast.AST] = list(reversed(body_of(k)))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.JoinedStr):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))


def check_docstring(k: ast.FunctionDef) -> Iterator[Finding]:
    if not ast.get_docstring(k):
        yield k.lineno, "has no docstring"


def check_length(k: ast.FunctionDef, code: set[int]) -> Iterator[Finding]:
    body = body_of(k)
    if body:
        length = sum(n in code for n in range(body[0].lineno, (k.end_lineno or k.lineno) + 1))
        if length > MAX_LINES:
            yield k.lineno, f"{length} lines of code, more than {MAX_LINES}; name a part of it"


def check_signature(k: ast.FunctionDef) -> Iterator[Finding]:
    args = k.args
    if args.defaults or any(d is not None for d in args.kw_defaults):
        yield k.lineno, "default arguments are not allowed"
    if args.vararg or args.kwarg or args.kwonlyargs:
        yield k.lineno, "*args, **kwargs and keyword-only arguments are not allowed"
    last, before = 0, ""
    for name in arguments_of(k):
        rank = 2 if name.endswith(WRITABLE) else 1 if name == SCRATCH else 0
        if rank < last:
            yield k.lineno, f"argument {name!r} after {before!r}; order: read-only, ws, then _io and _out"
        else:
            last, before = rank, name


def check_constructs(k: ast.FunctionDef) -> Iterator[Finding]:
    for node in nodes_of(k):
        line = getattr(node, "lineno", k.lineno)
        if type(node) in FORBIDDEN:
            yield line, FORBIDDEN[type(node)]
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
            yield line, "the @ operator allocates; write the loop"
        elif isinstance(node, ast.BinOp) and (has_slice(node.left) or has_slice(node.right)):
            yield line, "arithmetic on a slice allocates; write the loop"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield line, "string constants are not allowed"
        elif isinstance(node, ast.Attribute) and root_of(node) == "np" and isinstance(node.value, ast.Name):
            if node.attr not in NUMPY_SCALARS:
                yield line, f"np.{node.attr} is not allowed; it allocates or is not available everywhere"
        elif isinstance(node, ast.Call):
            yield from check_call(node)


def check_call(node: ast.Call) -> Iterator[Finding]:
    if node.keywords:
        yield node.lineno, "keyword arguments in a call are not allowed"
    if isinstance(node.func, ast.Name) and node.func.id == "print":
        yield node.lineno, "print is not allowed"
    if isinstance(node.func, ast.Attribute) and node.func.attr in ALLOCATING_METHODS:
        yield node.lineno, f".{node.func.attr}() allocates"


def has_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and any(isinstance(n, ast.Slice) for n in ast.walk(node.slice))


def root_of(node: ast.AST) -> str | None:
    """Name at the root of x, x[...], x.a[...]; None for anything else."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def check_stores(k: ast.FunctionDef, signatures: Signatures) -> Iterator[Finding]:
    """Stores go to locals or to arguments that say so; after `row = x[i]`, row has the status of x."""
    origin = {name: name for name in arguments_of(k)}
    for node in nodes_of(k):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            source = root_of(node.value)
            if source in origin:
                origin.setdefault(node.targets[0].id, origin[source])
    for node in nodes_of(k):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            name = origin.get(root_of(node) or "", SCRATCH)
            if not is_writable(name):
                yield node.lineno, f"stores into read-only argument {name!r}; call it {name}_out or {name}_io"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            for value, parameter in zip(node.args, signatures.get(node.func.id, []), strict=False):
                name = origin.get(root_of(value) or "", SCRATCH)
                if is_writable(parameter) and not is_writable(name):
                    yield node.lineno, f"passes read-only argument {name!r} as {parameter} of {node.func.id}"


def check_globals(k: ast.FunctionDef, known: set[str]) -> Iterator[Finding]:
    names = [node for node in nodes_of(k) if isinstance(node, ast.Name)]
    local = set(arguments_of(k)) | {n.id for n in names if isinstance(n.ctx, ast.Store)}
    for name in names:
        is_constant = re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name.id) is not None
        if isinstance(name.ctx, ast.Load) and name.id not in local | known and not is_constant:
            yield name.lineno, f"global {name.id!r} is not an import, a kernel or an UPPER_CASE constant"


def main(arguments: list[str]) -> int:
    package = Path(__file__).resolve().parents[1] / "src" / "taction"
    roots = [Path(a) for a in arguments] or [Path(os.path.relpath(package))]
    files = sorted(f for root in roots for f in (root.rglob("*.py") if root.is_dir() else [root]))
    trees = [ast.parse(f.read_text(encoding="utf-8"), filename=str(f)) for f in files]
    signatures: Signatures = {}
    for f, tree in zip(files, trees, strict=True):
        for k in kernels_of(tree):
            signatures[k.name] = signatures[f"{module_of(f)}.{k.name}"] = arguments_of(k)
    findings = [line for f in files for line in check_file(f, signatures)]
    print("\n".join(findings) if findings else f"kernels: {len(files)} files, no findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
