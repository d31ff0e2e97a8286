"""``taction reproduce``: the experiments of a source document, on one page."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from taction._core.errors import BadInput
from taction.cli.output import complain, to_json

# Documents, and which of the options below go to `write_NAME_page` of `taction.studies.NAME_page`
DOCUMENTS: dict[str, tuple[str, ...]] = {
    "snake": ("drop_time", "gait_time"),
    "ellipsoids": (),
    "quadruped": (),
    "walking": (),
    "mpc": (),
}


def reproduce(
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help=f"One of: {', '.join(DOCUMENTS)}.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page goes; made if need be.")] = Path(),
    drop_time: Annotated[float, typer.Option(min=0.5, help="Snake: simulated time of the drop [s].")] = 2.0,
    gait_time: Annotated[float, typer.Option(min=0.1, help="Snake: simulated time of the gait [s].")] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a document's experiments and write one self-contained page with its figures and a comparison."""
    if document not in DOCUMENTS:
        raise BadInput(f"document {document!r}: choose from {', '.join(DOCUMENTS)}")
    given = {"drop_time": drop_time, "gait_time": gait_time}
    write = getattr(import_module(f"taction.studies.{document}_page"), f"write_{document}_page")
    path, figures = write(out, **{name: given[name] for name in DOCUMENTS[document]}, progress=complain)
    complain(f"wrote {path}")
    if as_json:
        print(to_json({"document": document, "page": str(path), "figures": figures}))
        return
    for name, value in figures.items():
        print(f"{name:24} {value:.6g}" if isinstance(value, float) else f"{name:24} {value}")
