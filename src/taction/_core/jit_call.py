"""A call of compiled code by its address: how a kernel reaches another that is compiled on its own.

Kernels that most worlds never need (joints between bodies, tendons, convex shapes in general, broad phases
for many shapes) are not linked into a step: whoever needs none would wait for their compilation. Where one is
needed, Python has it compiled and notes its address (`taction._core.jit.address_of`) in memory that the step
is given; the step calls it by that address, and stays compiled.

The address is read from memory at run time: it is not part of the code of the caller, which can be kept on
disk as before. Types of arguments are not checked there: they are those that `address_of` was given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import _Intrinsic


def _call(_context: Any, address: Any, arguments: Any) -> Any:
    """Types and code of `call_kernel`."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = tuple(signature.args[1])
        convention = context.call_conv
        kernel = builder.inttoptr(values[0], convention.get_function_type(types.int64, kinds).as_pointer())
        result = cgutils.alloca_once(builder, ir.IntType(64))
        error = cgutils.alloca_once(builder, kernel.type.pointee.args[1].pointee)
        given = [builder.extract_value(values[1], k) for k in range(len(kinds))]
        packed = context.get_arg_packer(kinds).as_arguments(builder, given)
        builder.call(kernel, [result, error, *packed])
        return builder.load(result)

    return types.int64(types.int64, arguments), generate


class LateCall(_Intrinsic):
    """An intrinsic that plain Python can call as well, by what it is given for that."""

    plain: Callable[[int, tuple[Any, ...]], int]

    def __call__(self, address: int, arguments: tuple[Any, ...]) -> int:  # type: ignore[override]
        return type(self).plain(address, arguments)


def make_call(plain: Callable[[int, tuple[Any, ...]], int]) -> LateCall:
    """`taction._core.jit.call_kernel`, known to Numba; plain: the same in Python."""
    LateCall.plain = staticmethod(plain)  # type: ignore[assignment]
    call = LateCall("call_kernel", _call)
    call._register()
    return call
