"""Options that several commands have: parameters, times, what contact is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from taction._core.errors import BadInput

if TYPE_CHECKING:
    from taction.contact.forces.parameters import SoftContact

More = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY=VALUE]...", help="More parameters, as after --set: --set a=1 b=2."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter of the scenario; may be repeated."),
]
TimeStep = Annotated[float | None, typer.Option(help="Time step [s]. Default: the scenario's own.")]
Duration = Annotated[float | None, typer.Option(help="Simulated time [s]. Default: the scenario's own.")]
SolverName = Annotated[
    str | None, typer.Option(help="Contact solver; `taction list solvers` shows them. Default: auto.")
]
Coordinates = Annotated[
    str | None, typer.Option(help="reduced or absolute, through contact. Default: reduced.")
]
Accuracy = Annotated[
    float | None,
    typer.Option(
        help="Steps through contact divide themselves to be that accurate [m]. Default: they do not."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Stiffness = Annotated[
    float | None, typer.Option(help="Of penalty and compliant contact [N/m]. Default: from the masses.")
]
Damping = Annotated[
    float | None,
    typer.Option(
        help="Of the same [N s/m], or [s/m] for hunt-crossley. Default: from restitution and masses."
    ),
]
Damper = Annotated[str | None, typer.Option(help="Of the same: kelvin-voigt or hunt-crossley.")]
Integration = Annotated[str | None, typer.Option(help="Of the same: explicit or implicit.")]


def read_contact(
    name: str | None,
    *,
    stiffness: float | None,
    damping: float | None,
    damper: str | None,
    integration: str | None,
) -> str | SoftContact | None:
    """The law of that name, or contact as a force with these numbers.

    Raises:
        BadInput: numbers for a law that has none, or impossible ones.
    """
    given: dict[str, Any] = {
        "stiffness": stiffness, "damping": damping, "damper": damper, "integration": integration,
    }  # fmt: skip
    numbers = {key: value for key, value in given.items() if value is not None}
    from taction.contact.forces.parameters import SOFT

    if name in SOFT:
        return SOFT[name](**numbers)
    if numbers:
        options = ", ".join(f"--{key}" for key in numbers)
        raise BadInput(f"{options}: of contact as a force; choose --contact {' or '.join(SOFT)}")
    return name
