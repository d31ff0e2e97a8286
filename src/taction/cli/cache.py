"""``taction cache``: where compiled kernels and hulls are kept, how much that is, and away with it."""

from __future__ import annotations

from typing import Annotated

import typer

from taction._core.errors import BadInput
from taction.cli.output import say, to_json

MEGABYTE = 1e6


def cache(
    clean: Annotated[bool, typer.Option("--clean", help="Remove it; it is made anew as needed.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Say where compiled kernels and hulls are kept, and how much that is."""
    from taction._core.cache_folder import cache_root, remove_contents, sizes

    root = cache_root()
    if root is None:
        raise BadInput("there is no folder to keep anything in; set TACTION_CACHE_DIR to a writable one")
    found = sizes(root)
    try:
        if clean:
            remove_contents(root)
    except OSError as error:
        raise BadInput(f"{error.filename or root}: {error.strerror}") from None
    if json:
        typer.echo(to_json({"folder": str(root), "bytes": found, "removed": clean}))
        return
    for name, size in found.items():
        say(f"{size / MEGABYTE:8.1f} MB  {name}")
    say(f"{sum(found.values()) / MEGABYTE:8.1f} MB {'removed from' if clean else 'in'} {root}")
