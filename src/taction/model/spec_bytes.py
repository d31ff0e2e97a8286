"""A description as bytes: `ModelSpec`, and whatever else is made of its parts, for files.

JSON, packed. Numbers and text stand as they are; arrays as their bytes, so that nothing is rounded; parts of
a description as the name of their class and their fields. Only dataclasses and enumerations of this layer
and of those below are written and read, and reading calls nothing but their constructors, which check what
they are given: a file from a stranger cannot run code.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from taction._core.errors import BadInput, one_line
from taction._core.plain_file import most_bytes, too_large

HOMES = ("taction.model.", "taction.math.")  # of the classes that may be written
GROWTH = 4  # bytes of memory for a byte of text
PLAIN = "biuf"  # kinds of numbers that an array may hold


def to_bytes(value: Any) -> bytes:
    """Pack a description.

    Raises:
        BadInput: something in it is no part of a description.
    """
    return zlib.compress(json.dumps(_plain(value), separators=(",", ":")).encode(), 1)


def from_bytes(data: bytes) -> Any:
    """Unpack what `to_bytes` packed, equal bit for bit.

    Raises:
        BadInput: damaged, or of classes that this version does not know.
    """
    try:
        return _value(json.loads(_unpacked(data)))
    except BadInput:
        raise
    except (
        zlib.error,
        binascii.Error,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
    ) as error:
        raise BadInput(f"damaged description ({one_line(error)})") from None


def _unpacked(data: bytes) -> bytes:
    """What is packed, if memory should hold it: as text it takes `GROWTH` times as much."""
    unpack = zlib.decompressobj()
    text = unpack.decompress(data, most_bytes() // GROWTH)
    if unpack.unconsumed_tail:
        raise BadInput(f"its description {too_large(GROWTH * (len(text) + 1))} or more")
    if not unpack.eof:
        raise BadInput("damaged description (it ends too soon)")
    return text


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Enum):
        return {"enum": _name(type(value)), "name": value.name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in PLAIN:
        packed = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": packed, "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_plain(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, Path):
        return {"path": str(value)}
    if is_dataclass(value):
        given = {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.init}
        return {"class": _name(type(value)), "fields": given}
    raise BadInput(f"a description cannot hold a {type(value).__name__}")


def _value(data: Any) -> Any:
    """What `_plain` made JSON of."""
    if isinstance(data, list):
        return [_value(item) for item in data]
    if not isinstance(data, dict):
        return data
    if "class" in data:
        made = _class(data["class"])
        if not hasattr(made, "__dataclass_fields__"):
            raise BadInput(f"damaged description ({data['class']!r} is no part of one)")
        return made(**{key: _value(item) for key, item in data["fields"].items()})
    if "enum" in data:
        kind = _class(data["enum"])
        return kind[data["name"]]
    if "array" in data:
        dtype, shape = np.dtype(str(data["dtype"])), tuple(data["shape"])
        packed = base64.b64decode(data["array"], validate=True)
        if dtype.kind not in PLAIN or len(packed) != dtype.itemsize * math.prod(shape):
            raise BadInput("damaged description (an array does not fit its shape)")
        return np.frombuffer(packed, dtype).reshape(shape).copy()
    if "tuple" in data:
        return tuple(_value(item) for item in data["tuple"])
    if "dict" in data:
        return {_value(key): _value(item) for key, item in data["dict"]}
    return Path(data["path"])


def _name(made: type) -> str:
    name = f"{made.__module__}:{made.__qualname__}"
    if not made.__module__.startswith(HOMES):
        raise BadInput(f"a description cannot hold a {made.__qualname__}")
    return name


def _class(name: str) -> Any:
    """The class of that name, of one of our modules."""
    module, _, qualified = name.partition(":")
    try:
        if not module.startswith(HOMES):
            raise ImportError
        made = getattr(import_module(module), qualified)
        if not isinstance(made, type):
            raise ImportError
    except (ImportError, AttributeError):
        raise BadInput(f"this version of taction does not know {name!r}") from None
    return made
