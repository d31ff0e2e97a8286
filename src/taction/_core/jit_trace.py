"""What a piece of Python would have compiled: which kernels, for which types, without compiling any.

Within `traced` kernels run as plain Python, and each call leaves a note: the kernel, the types of its
arguments, and whether Python called it (its *outer* face) or another kernel (its *inner* one). A step of a
tiny world takes a fraction of a second that way, and tells what otherwise only the compiler knows after most
of its work: the list that several processes can share (`taction._core.jit_share`).

Notes are right as far as values tell types: arrays that a kernel gets from a layout are writable there
whether or not the array is, and branches that the example does not take leave no note. A kernel without a
note is compiled with the first one that calls it; a test checks that no note is wrong.

References: none; a matter of tools.
"""

from __future__ import annotations

import dis
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numba import types
from numba.core.typing.typeof import Purpose, typeof

from taction._core.jit_inner import Kernel


@dataclass(frozen=True, eq=False)
class Call:
    """A kernel as it was called: its types, and by whom; there is one of each in a trace."""

    kernel: Kernel
    types: tuple[Any, ...]
    is_outer: bool

    @cached_property
    def name(self) -> str:
        """The same in every process."""
        face = "outer" if self.is_outer else "inner"
        return (
            f"{self.kernel.__module__}.{self.kernel.__qualname__}({', '.join(map(str, self.types))}) {face}"
        )

    def compile(self) -> None:
        """Compile that face for these types, or find it on disk."""
        (self.kernel.outer if self.is_outer else self.kernel.inner).compile(self.types)


def _inner_type(value: Any) -> Any:
    """The type of an argument that one kernel hands to another."""
    found = typeof(value, Purpose.argument)
    return found.copy(readonly=False) if isinstance(found, types.Array) else found


@contextmanager
def traced() -> Iterator[dict[Call, None]]:
    """Within the block, kernels called by this thread run as plain Python; gives their calls, in order."""
    calls: dict[Call, None] = {}
    outer: set[tuple[Kernel, tuple[Any, ...]]] = set()
    inner: set[Kernel] = set()  # they have one specialisation: finding out types takes most of the time
    thread, depth = threading.get_ident(), 0

    def note(kernel: Kernel, args: tuple[Any, ...], is_late: bool) -> Any:
        nonlocal depth
        if threading.get_ident() != thread:
            return kernel.outer(*args)
        if depth == 0 or is_late:
            given = tuple(typeof(a, Purpose.argument) for a in args)
            if (kernel, given) not in outer:
                outer.add((kernel, given))
                calls[Call(kernel, given, True)] = None
        elif kernel not in inner:
            inner.add(kernel)
            calls[Call(kernel, tuple(map(_inner_type, args)), False)] = None
        depth += 1
        try:
            return kernel.py_func(*args)
        finally:
            depth -= 1

    before, Kernel.trace, Kernel.tracer = Kernel.trace, note, thread
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what NumPy says about a division by zero, kernels do not
            yield calls
    finally:
        Kernel.trace, Kernel.tracer = before, None


@cache
def callees(kernel: Kernel) -> list[Kernel]:
    """The kernels that the code of a kernel names."""
    space = kernel.py_func.__globals__
    found: dict[Kernel, None] = {}
    thing: Any = None
    for instruction in dis.get_instructions(kernel.py_func):
        if instruction.opname == "LOAD_GLOBAL":
            thing = space.get(instruction.argval)
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(thing, ModuleType):
            thing = vars(thing).get(instruction.argval)  # a kernel by the name of its module
        else:
            thing = None
        if isinstance(thing, Kernel):
            found[thing] = None
    return list(found)


def reachable(kernels: Iterable[Kernel]) -> list[Kernel]:
    """The kernels and all that they call, callees before callers, each once."""
    order: dict[Kernel, None] = {}
    entered: set[Kernel] = set()

    def visit(kernel: Kernel) -> None:
        if kernel not in entered:
            entered.add(kernel)
            for callee in callees(kernel):
                visit(callee)
            order[kernel] = None

    for kernel in kernels:
        visit(kernel)
    return list(order)


def size(kernel: Kernel) -> int:
    """How much there is to compile, roughly: the length of its bytecode."""
    return len(kernel.py_func.__code__.co_code)
