"""Numbers as a reader wants them: no negative zero, a true minus sign, an exponent only where it is needed.

>>> from taction.drawing.number_text import number, short
>>> number(-0.001, ".2f"), number(-1.25, ".2f")
('0.00', '−1.25')
>>> short(1000.0), short(12345.6), short(0.00012), short(4.2e9)
('1000', '12346', '0.00012', '4.2e+09')
"""

from __future__ import annotations

LARGE = 1e7  # from here on a number has an exponent


def number(value: float, spec: str) -> str:
    """A number as text: no negative zero, a true minus sign."""
    text = format(value, spec)
    return (text.lstrip("-") if float(text) == 0.0 else text).replace("-", "−")


def short(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, or all before the point where there are more of them."""
    spec = f".{digits}g"
    is_cut = "e+" in format(value, spec) and abs(value) < LARGE
    text = format(value, ".0f" if is_cut else spec)
    sign = "−" if float(text) < 0.0 else ""
    return sign + text.removeprefix("-")
