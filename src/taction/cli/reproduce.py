"""``taction reproduce``: the experiments of a source document, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taction._core.errors import BadInput
from taction.cli.output import complain, to_json

DOCUMENTS = ("snake",)


def reproduce(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help=f"One of: {', '.join(DOCUMENTS)}.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page goes; made if need be.")] = Path(),
    drop_time: Annotated[float, typer.Option(min=0.5, help="Simulated time of the drop [s].")] = 2.0,
    gait_time: Annotated[float, typer.Option(min=0.1, help="Simulated time of the gait [s].")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a document's experiments and write one self-contained page with its figures and a comparison."""
    if document not in DOCUMENTS:
        raise BadInput(f"document {document!r}: choose from {', '.join(DOCUMENTS)}")
    from taction.studies.snake_page import write_snake_page

    path, figures = write_snake_page(out, drop_time=drop_time, gait_time=gait_time, progress=complain)
    complain(f"wrote {path}")
    if as_json:
        print(to_json({"document": document, "page": str(path), "figures": figures}))
        return
    for name, value in figures.items():
        print(f"{name:24} {value:.6g}" if isinstance(value, float) else f"{name:24} {value}")
