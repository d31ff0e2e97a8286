"""A call of compiled code by its address: how a kernel reaches another that is compiled later.

Kernels that most worlds never need (convex shapes in general, broad phases for many shapes) are not linked
into a step: whoever needs none would wait for their compilation. The first time one is needed the step is
left for Python, which has it compiled and notes its address (`taction._core.jit.address_of`); from then on
the step calls it by that address, with layouts as arguments, and stays compiled.

The address is read from memory at run time: it is not part of the code of the caller, which can be kept on
disk as before.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def call_kernel(_context: Any, address: Any, layouts: Any) -> Any:
    """Call the kernel at an address with a tuple of layouts; it returns an integer, and so does this."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = tuple(signature.args[1])
        convention = context.call_conv
        kernel = builder.inttoptr(values[0], convention.get_function_type(types.int64, kinds).as_pointer())
        result = cgutils.alloca_once(builder, ir.IntType(64))
        error = cgutils.alloca_once(builder, kernel.type.pointee.args[1].pointee)
        arguments = [builder.extract_value(values[1], k) for k in range(len(kinds))]
        builder.call(kernel, [result, error, *arguments])
        return builder.load(result)

    return types.int64(types.int64, layouts), generate
