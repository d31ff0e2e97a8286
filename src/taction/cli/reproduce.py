"""``taction reproduce``: the experiments of a source document, on one page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from taction._core.errors import BadInput
from taction.cli.output import complain, to_json


def reproduce(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="One of: snake, ellipsoids.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page goes; made if need be.")] = Path(),
    drop_time: Annotated[float, typer.Option(min=0.5, help="Snake: simulated time of the drop [s].")] = 2.0,
    gait_time: Annotated[float, typer.Option(min=0.1, help="Snake: simulated time of the gait [s].")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a document's experiments and write one self-contained page with its figures and a comparison."""
    if document not in DOCUMENTS:
        raise BadInput(f"document {document!r}: choose from {', '.join(DOCUMENTS)}")
    path, figures = DOCUMENTS[document](out, drop_time, gait_time)
    complain(f"wrote {path}")
    if as_json:
        print(to_json({"document": document, "page": str(path), "figures": figures}))
        return
    for name, value in figures.items():
        print(f"{name:24} {value:.6g}" if isinstance(value, float) else f"{name:24} {value}")


def _snake(out: Path, drop_time: float, gait_time: float) -> tuple[Path, dict[str, Any]]:
    from taction.studies.snake_page import write_snake_page

    return write_snake_page(out, drop_time=drop_time, gait_time=gait_time, progress=complain)


def _ellipsoids(out: Path, _drop_time: float, _gait_time: float) -> tuple[Path, dict[str, Any]]:
    from taction.studies.ellipsoids_page import write_ellipsoids_page

    return write_ellipsoids_page(out, progress=complain)


DOCUMENTS: dict[str, Callable[[Path, float, float], tuple[Path, dict[str, Any]]]] = {
    "snake": _snake,
    "ellipsoids": _ellipsoids,
}
