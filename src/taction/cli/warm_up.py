"""``taction warm-up``: compile all kernels at once, for images and CI."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from taction._core.errors import BadInput
from taction.cli.output import compile_notice, say, to_json


def warm_up(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")] = False,
) -> None:
    """Compile every kernel, on all cores, so that no later run has to."""
    from taction._core.jit import CACHE_DIR, JIT_ENABLED

    if not JIT_ENABLED:
        raise BadInput("kernels are not compiled here: TACTION_JIT=0")
    from taction.sim.warm_up import compile_everything

    begin = time.perf_counter()
    with compile_notice() as notice:
        try:
            kernels = compile_everything()
        except OSError as error:
            why = f"{CACHE_DIR}: {error.strerror}" if error.strerror else str(error)
            raise BadInput(f"{why}; set TACTION_CACHE_DIR to a writable folder") from None
        finally:
            compiled = notice.count
            notice.close()
    seconds = time.perf_counter() - begin
    if json:
        typer.echo(
            to_json({"kernels": kernels, "compiled": compiled, "seconds": seconds, "folder": str(CACHE_DIR)})
        )
    else:
        say(f"{kernels} kernels in {CACHE_DIR}, {compiled} of them compiled now, {seconds:.0f} s")
