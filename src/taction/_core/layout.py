"""Layouts: what kernels are given, each array declared once with its shape, unit and meaning.

A kernel that is handed a hundred arrays in tuples copies some nine machine words per array at every call, and
so does each kernel that only passes them on; compiling that was most of a first start. A `Layout` is handed
on as *one* word: the address of a short table with the address and shape of every array. Reading `ws.q` in a
kernel cuts a view from that table (`taction._core.jit_layout`); in Python it is the array itself. Because
types and dimensions belong to the class, a kernel is compiled once, whatever the world.

    class State(Layout):
        q: Array = floats("nq", "configuration [m or rad]")
        key: IntArray = ints("c, 3", "shapes and feature of each contact")
        tree: Tree = nested(Tree, "what moves")

Shapes are lists of sizes: numbers, names, or expressions of names ("3*k", "n + 1"). Names and numbers are
checked when a layout is made: one name, one size. `Layout.allocate` cuts all arrays from one block of floats
and one of integers, which is what a batch of worlds on a GPU needs: one piece of memory per world, and the
table the same for all.

Layouts do not change; their arrays may. `_replace`, `_asdict` and `_fields` are as of named tuples.

Debugging: with ``TACTION_POISON=1`` a fresh layout of scratch is filled with NaN (and a huge negative
integer), so that whatever is read before it is written shows.
"""

from __future__ import annotations

import ast
import os
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_):
        """Tells type checkers that fields make a constructor."""
        return lambda cls: cls


L = TypeVar("L", bound="Layout")

POISON_FLOAT, POISON_INT = np.nan, np.int64(-(2**60))
DTYPES = {"float": np.dtype(np.float64), "int": np.dtype(np.int64), "bool": np.dtype(np.bool_)}


class Field:
    """One entry of a layout.

    Attributes:
        name: how kernels and Python call it.
        kind: ``"float"``, ``"int"``, ``"bool"``: of an array or, without a shape, a number; ``"layout"``.
        shape: sizes of an array, as written; None for a number or a layout.
        text: meaning, with the unit in brackets.
        layout: class of a nested layout.
        is_kept: of scratch: zero between uses, so never poisoned.
    """

    def __init__(
        self,
        kind: str,
        shape: str | None,
        text: str,
        layout: type[Layout] | None = None,
        is_kept: bool = False,
    ) -> None:
        self.name = ""
        self.kind, self.text, self.layout, self.is_kept = kind, text, layout, is_kept
        self.shape = None if shape is None else tuple(s.strip() for s in shape.split(","))
        self.sizes = tuple(_size(s) for s in self.shape or ())

    @property
    def words(self) -> int:
        """Entries of the table that it takes."""
        return 1 + len(self.shape or ())

    @property
    def unit(self) -> str:
        """What stands in the last brackets of the text."""
        return self.text.rpartition("[")[2].partition("]")[0] if "[" in self.text else ""


def _size(text: str) -> int | str | Any:
    """A size: a number, a name, or compiled code of an expression of names."""
    if text.lstrip("-").isdigit():
        return int(text)
    return text if text.isidentifier() else compile(ast.parse(text, mode="eval"), f"<size {text}>", "eval")


def floats(shape: str, text: str, *, is_kept: bool = False) -> Any:
    """An array of float64 of that shape."""
    return Field("float", shape, text, is_kept=is_kept)


def ints(shape: str, text: str, *, is_kept: bool = False) -> Any:
    """An array of int64 of that shape."""
    return Field("int", shape, text, is_kept=is_kept)


def flags(shape: str, text: str) -> Any:
    """An array of truth values of that shape."""
    return Field("bool", shape, text)


def number(text: str) -> Any:
    """One float64."""
    return Field("float", None, text)


def whole(text: str) -> Any:
    """One int64."""
    return Field("int", None, text)


def flag(text: str) -> Any:
    """One truth value."""
    return Field("bool", None, text)


def nested(layout: type[Layout], text: str) -> Any:
    """Another layout inside this one."""
    return Field("layout", None, text, layout)


@dataclass_transform(field_specifiers=(floats, ints, flags, number, whole, flag, nested))
class Layout:
    """Base of all layouts; see the module text."""

    fields: ClassVar[dict[str, Field]] = {}
    is_scratch: ClassVar[bool] = False
    _fields: ClassVar[tuple[str, ...]] = ()
    _address: ClassVar[int]  # of an instance's table; not a field

    def __init_subclass__(cls, scratch: bool = False) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        for name, field in own.items():
            field.name = name
        cls.fields, cls._fields, cls.is_scratch = own, tuple(own), scratch

    if not TYPE_CHECKING:

        def __init__(self, *values: Any, **named: Any) -> None:
            given = {**dict(zip(self._fields, values, strict=False)), **named}
            if len(values) + len(named) != len(self._fields) or set(given) != set(self._fields):
                raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}")
            words: list[int] = []
            sizes: dict[str, int] = {}
            for field in self.fields.values():
                given[field.name] = self._enter(field, given[field.name], sizes, words)
            table = np.array(words, dtype=np.int64)
            self.__dict__.update(given, _table=table, _address=_address(table))

        def __setattr__(self, name: str, value: Any) -> None:
            raise AttributeError(f"{type(self).__name__}.{name}: a layout does not change; use _replace")

    def _enter(self, field: Field, value: Any, sizes: dict[str, int], words: list[int]) -> Any:
        """Check one value against its field and append its words to the table."""
        where = f"{type(self).__name__}.{field.name}"
        if field.kind == "layout":
            if not isinstance(value, field.layout or Layout):
                raise TypeError(f"{where}: expected {field.layout}, got {type(value).__name__}")
            words.append(value._address)
            return value
        if field.shape is None:
            scalar = np.array(value, dtype=np.float64 if field.kind == "float" else np.int64)
            words.append(int(scalar.view(np.int64)))
            return value
        array = value
        if not isinstance(array, np.ndarray) or array.dtype != DTYPES[field.kind]:
            raise TypeError(
                f"{where}: expected an array of {field.kind}, got {getattr(value, 'dtype', value)!r}"
            )
        if array.ndim != len(field.sizes) or not array.flags.c_contiguous:
            raise ValueError(
                f"{where}: expected shape ({', '.join(field.shape)}) in C order, got {array.shape}"
            )
        for size, got in zip(field.sizes, array.shape, strict=True):
            if isinstance(size, int) or (isinstance(size, str) and size in sizes):
                expected = size if isinstance(size, int) else sizes[size]
                if got != expected:
                    raise ValueError(f"{where}: expected shape ({', '.join(field.shape)}), got {array.shape}")
            elif isinstance(size, str):
                sizes[size] = got
        words += [_address(array), *array.shape]
        return array

    @classmethod
    def allocate(cls, *, _given: dict[str, Any] | None = None, **sizes: int) -> Self:
        """A new layout, its arrays cut from one block of floats and one of integers, all zero.

        Args:
            _given: values of fields that are not arrays, or that are there already.
            **sizes: the names that shapes are made of.
        """
        values = dict(_given or {})
        shapes = {
            f.name: tuple(_evaluate(s, sizes) for s in f.sizes)
            for f in cls.fields.values()
            if f.shape is not None and f.name not in values
        }
        for kind, dtype in DTYPES.items():
            lengths = {name: prod(shape) for name, shape in shapes.items() if cls.fields[name].kind == kind}
            block, at = np.zeros(sum(lengths.values()), dtype=dtype), 0
            for name, length in lengths.items():
                values[name] = block[at : at + length].reshape(shapes[name])
                at += length
                if cls.is_scratch and POISONED and not cls.fields[name].is_kept and kind != "bool":
                    values[name].fill(POISON_FLOAT if kind == "float" else POISON_INT)
        return cls(**values)

    def _replace(self, **changes: Any) -> Self:
        """The same layout with other values for some fields."""
        return type(self)(**{**self._asdict(), **changes})

    def _asdict(self) -> dict[str, Any]:
        """Its values by name."""
        return {name: self.__dict__[name] for name in self._fields}

    def __repr__(self) -> str:
        parts = [f"{n}={getattr(v, 'shape', v)}" for n, v in self._asdict().items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def __reduce__(self) -> Any:
        return type(self), tuple(self._asdict().values())


POISONED = os.environ.get("TACTION_POISON", "0") == "1"


def _address(array: np.ndarray) -> int:
    """Where an array starts in memory; the way NumPy offers that takes least time."""
    return int(array.__array_interface__["data"][0])


def _evaluate(size: Any, sizes: dict[str, int]) -> int:
    """A size from the names that are known."""
    if isinstance(size, int):
        return size
    if isinstance(size, str):
        return int(sizes[size])
    return int(eval(size, {"__builtins__": {}, "max": max, "min": min}, dict(sizes)))


def offset_of(layout: type[Layout], name: str) -> int:
    """Where the words of a field start in the table of a layout."""
    at = 0
    for field in layout.fields.values():
        if field.name == name:
            return at
        at += field.words
    raise KeyError(name)
