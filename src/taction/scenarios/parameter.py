"""`Parameter`: what a scenario can be run with, and how it is read from text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from taction._core.errors import BadInput

Value = float | int | bool | str


@dataclass(frozen=True)
class Parameter:
    """A number, switch or word that a scenario can be run with.

    Attributes:
        name: the key of ``--set key=value``.
        default: value used when it is not set; its type is the type of the parameter.
        unit: SI unit, empty if it has none.
        help: one line.
        choices: allowed values, if only a few are.
        minimum: smallest allowed number.
        maximum: largest allowed number.
    """

    name: str
    default: Value
    unit: str
    help: str
    choices: tuple[Value, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf

    def read(self, value: object) -> Value:
        """A value of the right type and range, from text or from Python.

        Raises:
            BadInput: wrong type, out of range, or not one of the choices.
        """
        out = self._convert(value)
        if self.choices and out not in self.choices:
            raise BadInput(f"{self.name}: choose from {', '.join(map(str, self.choices))}, got {value!r}")
        if isinstance(out, (int, float)) and not isinstance(out, bool):
            if not self.minimum <= out <= self.maximum:
                raise BadInput(f"{self.name}: must be {self._range()}, got {str(value)[:40]}")
        return out

    def _convert(self, value: object) -> Value:
        kind, text = type(self.default), str(value).strip()
        if kind is bool:
            if text.lower() in ("true", "false"):
                return text.lower() == "true"
            raise BadInput(f"{self.name}: expected true or false, got {text!r}")
        if kind is str:
            return text
        try:
            number = int(text) if kind is int else float(text)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise BadInput(f"{self.name}: expected {what}, got {text!r}") from None
        if isinstance(number, float) and not math.isfinite(number):
            raise BadInput(f"{self.name}: must be finite, got {text}")
        return number

    def _range(self) -> str:
        if math.isinf(self.maximum):
            return f"at least {self.minimum:g}"
        if math.isinf(self.minimum):
            return f"at most {self.maximum:g}"
        return f"between {self.minimum:g} and {self.maximum:g}"
