"""The only place that imports Numba, with its neighbours ``jit_*.py``.

``@kernel`` compiles a plain Python function with one fixed set of options:

* no ``fastmath``: results repeat bit for bit;
* ``error_model="numpy"``: a division by zero gives inf, never an exception inside a kernel;
* ``nogil``: a batch can run worlds over threads;
* no run-time memory system (``_nrt=False``): a kernel that tries to allocate does not compile, and reading
  an array out of a tuple costs no atomic reference count (measured: mass matrix of an 18-dof quadruped
  15.1 → 2.3 µs, inverse dynamics 4.1 → 3.2 µs);
* a disk cache in a folder named by a digest of all sources that kernels depend on. Numba itself only
  notices edits in the file of the kernel, not in the files it calls, and would silently run stale code.

The cache lives where `taction._core.cache_folder` says, one folder per digest, in sealed files;
``$TACTION_JIT=0`` runs every kernel as plain Python, to step through it with a debugger.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from taction._core.cache_folder import cache_root, contents, make_private

log = logging.getLogger("taction")
F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).resolve().parents[1]

# Folders that hold kernels or constants they use; a test checks that no kernel lives elsewhere.
KERNEL_LAYERS = (
    "_core",
    "math",
    "model",
    "kinematics",
    "dynamics",
    "geometry",
    "contact",
    "solvers",
    "steppers",
)


def source_digest() -> str:
    """Digest of every source a kernel can depend on, the interpreter and the bounds-check switch.

    The processor's name and features, given or found, are part of Numba's own key of each kernel.
    """
    digest = hashlib.sha256()
    for layer in KERNEL_LAYERS:
        for path in sorted((PACKAGE / layer).rglob("*.py")):
            digest.update(str(path.relative_to(PACKAGE)).encode())
            digest.update(path.read_bytes())
    digest.update(sys.version.encode())
    digest.update(os.environ.get("NUMBA_BOUNDSCHECK", "0").encode())
    return digest.hexdigest()[:16]


def open_cache() -> Path | None:
    """Folder for kernels of exactly these sources, made if need be; long unused ones of other sources go.

    None where nothing can be kept.
    """
    root = cache_root()
    if root is None:
        return None
    folder = root / source_digest()
    try:
        make_private(folder)
        os.utime(folder)
        _prune(root)
    except OSError as error:
        log.warning("%s: %s; compiled kernels are not kept", folder, error.strerror or error)
        return None
    return folder


def _prune(root: Path) -> None:
    """Remove kernels of other versions that were not used for long."""
    for other in contents(root)["kernels"]:
        try:
            if time.time() - other.stat().st_mtime > DAYS_KEPT * 86400:
                shutil.rmtree(other)
        except OSError:  # another process got there first
            pass


DAYS_KEPT = 30  # compiled kernels of other versions are removed after so many days without use
JIT_ENABLED = os.environ.get("TACTION_JIT", "1") != "0"
CACHE_DIR = open_cache() if JIT_ENABLED else None

# Versions of Numba whose inner workings `taction._core.jit_inner` and its neighbours know: from, and before
TRIED = (0, 65), (0, 69)


def require_tried(version: str) -> None:
    """Raise `ImportError` where Numba's version is not one of those that were tried."""
    first, end = TRIED
    if not first <= tuple(int(x) for x in version.split(".")[:2]) < end:
        bounds = f"numba>={first[0]}.{first[1]},<{end[0]}.{end[1]}"
        raise ImportError(
            f"taction leans on parts of Numba that change: it needs {bounds}, and this is numba {version}; "
            f"pip install '{bounds}'. TACTION_JIT=0 runs without Numba, uncompiled and slow"
        )


if JIT_ENABLED:
    import numba

    require_tried(numba.__version__)
    import taction._core.jit_layout  # noqa: F401  # makes layouts known to Numba

_NUMBERED: list[Callable[..., int]] = []  # kernels where nothing is compiled, instead of addresses


def call_kernel(address: int, arguments: tuple[Any, ...]) -> int:
    """Call the kernel at an address, which returns an integer (`taction._core.jit_call`)."""
    late = _NUMBERED[address - 1]
    trace = getattr(type(late), "trace", None)
    return late(*arguments) if trace is None else trace(late, arguments, True)


if JIT_ENABLED:
    from taction._core.jit_call import make_call

    call_kernel = make_call(call_kernel)

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "_nrt": False,
    "no_cfunc_wrapper": True,
}


def kernel(function: F) -> F:
    """Compile ``function`` with the project's options; see the module text."""
    return _compile(function, inline=False)


def inline_kernel(function: F) -> F:
    """A kernel that is always merged into its caller: the body of a loop over links or contacts.

    Passing the model and workspace to a real call copies dozens of machine words, which costs more than many
    link operations themselves.
    """
    return _compile(function, inline=True)


def _compile(function: F, *, inline: bool) -> F:
    if not JIT_ENABLED:
        return function
    from taction._core.jit_inner import Kernel

    options = {**OPTIONS, "forceinline": inline, "nopython": True}
    return Kernel(function, options, _enable_cache)  # type: ignore[return-value]


def _enable_cache(dispatcher: Any) -> None:
    """Give compiled code its place on disk.

    The cache folder is a global of Numba's: it is set for our own kernels only, not for the user's.
    """
    if CACHE_DIR is None:
        return
    others = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    numba.config.CACHE_DIR = str(CACHE_DIR)  # type: ignore[attr-defined]
    try:
        dispatcher.enable_caching()
    finally:
        numba.config.CACHE_DIR = others  # type: ignore[attr-defined]


def direct(function: F) -> F:
    """A kernel without the look at the types of its arguments, which takes longer than many a step.

    For callers that always give arguments of the same types, and have called the kernel before.
    """
    entry = getattr(function, "entry", None)
    return function if entry is None else entry()


def address_of(function: Callable[..., int], *arguments: Any) -> int:
    """Where the machine code of a kernel for arguments like these starts, for `call_kernel`.

    It is compiled if need be; its result must be an integer.
    """
    if not JIT_ENABLED or getattr(type(function), "tracer", None) == threading.get_ident():
        if function not in _NUMBERED:
            _NUMBERED.append(function)
        return _NUMBERED.index(function) + 1
    dispatcher: Any = getattr(function, "outer", function)
    kinds = tuple(dispatcher.typeof_pyval(argument) for argument in arguments)
    dispatcher.compile(kinds)
    compiled = dispatcher.overloads[kinds]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))


def plain(function: F) -> F:
    """The Python function behind a kernel, for calls that hand arrays back or are not worth compiling."""
    return getattr(function, "py_func", function)


@contextmanager
def on_compile(callback: Callable[[int, int, float], Any]) -> Iterator[None]:
    """Within the block, call ``callback`` as kernels compile: done, of how many, the share of the work."""
    if not JIT_ENABLED:
        yield
        return
    from taction._core import jit_progress

    with jit_progress.on_compile(callback):
        yield


def skip_blas() -> None:
    """Load Numba's array functions as if there were no SciPy, whose import takes longer than a first step.

    Our kernels call no BLAS. Kernels that others compile in the same process could not either, so this is
    for programs that are ours alone.
    """
    if JIT_ENABLED and not {"scipy.linalg", "numba.np.arraymath"} & sys.modules.keys():
        sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
        try:
            import numba.np.arraymath  # noqa: F401
        finally:
            del sys.modules["scipy.linalg"]
