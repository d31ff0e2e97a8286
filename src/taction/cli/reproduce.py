"""``taction reproduce``: the experiments of a source document, on one page."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from taction._core.errors import BadInput
from taction._core.names import choose
from taction.cli.output import RunNotice, complain, run_notice, say, to_json

# Documents, and which of the options below go to `write_NAME_page` of `taction.studies.NAME_page`
DOCUMENTS: dict[str, tuple[str, ...]] = {
    "snake": ("drop_time", "gait_time"),
    "ellipsoids": (),
    "quadruped": (),
    "walking": (),
    "mpc": (),
}


def reproduce(
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help=f"One of: {', '.join(DOCUMENTS)}; or all.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the page goes; made if need be.")] = Path(),
    drop_time: Annotated[float, typer.Option(min=0.5, help="Snake: simulated time of the drop [s].")] = 2.0,
    gait_time: Annotated[float, typer.Option(min=0.1, help="Snake: simulated time of the gait [s].")] = 10.0,
    films: Annotated[
        bool, typer.Option("--films/--no-films", help="Films of the page's replays, where a browser is.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run a document's experiments and write one self-contained page with figures, replays, a comparison."""
    if document not in (*DOCUMENTS, "all"):
        raise BadInput(f"document {document!r}: {choose(document, [*DOCUMENTS, 'all'])}")
    given, found = {"drop_time": drop_time, "gait_time": gait_time}, []
    for name in DOCUMENTS if document == "all" else [document]:
        write = getattr(import_module(f"taction.studies.{name}_page"), f"write_{name}_page")
        with run_notice() as notice:
            path, figures = write(out, **{key: given[key] for key in DOCUMENTS[name]}, progress=notice.say)
        complain(f"wrote {path}")
        if films:
            _film(path)
        found.append({"document": name, "page": str(path), "figures": figures})
    if as_json:
        print(to_json(found[0] if len(found) == 1 else found))
        return
    for one in found:
        for key, value in one["figures"].items():
            say(f"{key:24} {value:.6g}" if isinstance(value, float) else f"{key:24} {value}")


def _film(page: Path) -> None:
    """Films of a page beside it; why not, in one line, where that cannot be."""
    from taction.viewer.films import films_of_page

    notice = RunNotice()
    try:
        made = films_of_page(page, page.with_suffix(""), partial(notice, of="frames"))
    except BadInput as error:
        complain(f"no films: {error}")
        return
    finally:
        notice.close()
    complain(f"wrote {len(made)} films to {page.with_suffix('')}")
