"""The exceptions that taction raises on purpose; everything else is a bug."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text for a terminal: what would move its cursor or change its colours stands there as an escape.

    Names of files and what files say of themselves come from strangers. Line breaks stay.
    """
    if text.isprintable():
        return text
    shown = (c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
    return "".join(shown)


def one_line(error: BaseException, longest: int = 200) -> str:
    """What another library says about an error, as a part of one line of ours: no breaks, cut if long."""
    said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)  # not its repr
    text = printable(" ".join(said.split())) or type(error).__name__
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


class _Said:
    """What is raised or warned of: its text is fit for a terminal."""

    def __str__(self) -> str:
        return printable(super().__str__())


class TactionError(_Said, Exception):
    """Base of every error taction raises on purpose."""


class BadInput(TactionError, ValueError):
    """The caller's data cannot be used; the message says what is wrong and where."""


class OutputError(BadInput):
    """A file could not be written, or not to its end; the message names it."""


class ModelError(BadInput):
    """A robot description is not a physical, well-formed mechanism."""


class SingularError(TactionError, ArithmeticError):
    """The mass matrix has no inverse at this configuration."""


class IntegrationError(TactionError):
    """A time step did not produce a finite or converged state."""


class ContactLimitError(IntegrationError):
    """A step found more contacts than it may; the message says how many, where and how to allow more."""


class PlanningError(TactionError):
    """There is no plan where one was asked for; the message says how the planning ended."""


class CertificateError(TactionError):
    """A step of a strict run did not obey the laws of contact; the message says when, where, how much."""


class UnsupportedFeatureWarning(_Said, UserWarning):
    """A file uses what taction does not read, or keeps as no body has it; the message lists it with lines."""


class StabilityWarning(_Said, UserWarning):
    """Explicit steps are too long for a spring and damper; the message names the pair and the limit."""


class BlowUpWarning(_Said, UserWarning):
    """A run was ended because contact made energy; the message says when and how much."""


class AccuracyWarning(_Said, UserWarning):
    """The shortest parts of a step are less accurate than was asked for; the message says when."""


class StoppedWarning(_Said, UserWarning):
    """A run was ended by Ctrl-C; the message says when. What was done is kept."""


class OverlapWarning(_Said, UserWarning):
    """Shapes overlap where a run starts; the message names them with their depths."""


class LoopWarning(_Said, UserWarning):
    """Loops are open where a run starts; the message names them and how far. The first steps close them."""


class RangeWarning(_Said, UserWarning):
    """Joints or tendons are beyond their stops where a run starts; the message names them."""
