"""How kernels see a `taction._core.layout.Layout`: one word, from which attributes are cut.

The word is the address of the layout's table. An attribute is read from it when it is used: of an array its
address and shape make a C-ordered view that owns nothing; a number is the entry itself; a nested layout is
its address. Entries never change while a layout lives, so loads are marked invariant: the optimiser may move
them out of loops and merge them, across stores into the arrays, which keeps inner loops as they were with
arrays handed on by value.

This file and `taction._core.jit` are the only ones that import Numba.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import populate_array

from taction._core.layout import Field, Layout, offset_of

WORD = ir.IntType(64)
SCALARS = {"float": types.float64, "int": types.int64, "bool": types.boolean}


class LayoutType(types.Type):
    """The type of a layout in kernels: its class says all."""

    def __init__(self, layout: type[Layout]) -> None:
        self.layout = layout
        super().__init__(name=f"{layout.__module__}.{layout.__qualname__}")


@register_model(LayoutType)
class _LayoutModel(models.PrimitiveModel):
    """A pointer to the table."""

    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, WORD.as_pointer())


def type_of(layout: type[Layout]) -> LayoutType:
    """The type of a class of layouts, made once."""
    found = vars(layout).get("_numba_type")
    if found is None:
        found = LayoutType(layout)
        layout._numba_type = found  # type: ignore[attr-defined]
    return found


@typeof_impl.register(Layout)
def _typeof(value: Layout, _context: Any) -> LayoutType:
    return type_of(type(value))


@unbox(LayoutType)
def _unbox(_typ: Any, obj: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(obj, "_address")
    word = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    pointer = c.builder.inttoptr(word, WORD.as_pointer())
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


def field_type(field: Field) -> Any:
    """The type of a field in kernels."""
    if field.layout is not None:
        return type_of(field.layout)
    scalar = SCALARS[field.kind]
    return scalar if field.shape is None else types.Array(scalar, len(field.shape), "C")


@infer_getattr
class _LayoutAttributes(AttributeTemplate):
    key = LayoutType

    def generic_resolve(self, typ: LayoutType, attr: str) -> Any:
        field = typ.layout.fields.get(attr)
        return None if field is None else field_type(field)


@lower_getattr_generic(LayoutType)
def _read(context: Any, builder: Any, typ: LayoutType, table: Any, attr: str) -> Any:
    field, at = typ.layout.fields[attr], offset_of(typ.layout, attr)
    invariant = builder.module.add_metadata([])

    def word(i: int) -> Any:
        loaded = builder.load(builder.gep(table, [ir.Constant(WORD, at + i)]))
        loaded.set_metadata("invariant.load", invariant)
        return loaded

    if field.layout is not None:
        return builder.inttoptr(word(0), WORD.as_pointer())
    if field.shape is None:
        if field.kind == "float":
            return builder.bitcast(word(0), ir.DoubleType())
        return word(0) if field.kind == "int" else builder.trunc(word(0), ir.IntType(1))
    return _view(context, builder, field_type(field), word)


def _view(context: Any, builder: Any, typ: Any, word: Any) -> Any:
    """An array in C order from its address (word 0) and its shape (the following ones)."""
    item = context.get_data_type(typ.dtype)
    size = ir.Constant(WORD, context.get_abi_sizeof(item))
    shape = [word(1 + i) for i in range(typ.ndim)]
    strides, step = [], size
    for length in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, length)
    array = context.make_array(typ)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(word(0), item.as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=size,
        meminfo=None,
    )
    return array._getvalue()
