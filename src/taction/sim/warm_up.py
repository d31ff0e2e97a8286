"""The first run through contact: its kernels are compiled once, by all cores, and nothing else is.

`compile_step` is called before the first step of a scheme in this process. Where its kernels are on disk
that is one look at a file. Otherwise a step of a tiny world with the same scheme, law and coordinates is
traced (`taction.sim.examples`, `taction._core.jit_trace`), and what it calls is compiled together with one
helper per further core (`taction._core.jit_share`). What the example leaves out is compiled with the kernel
that calls it.

`compile_everything` does the same for all examples: for images, for machines without a second chance, and for
CI.

Who sees what: the command line shows progress. In a program of yours one line goes to the logger ``taction``
as a warning, that is to stderr unless logging is set up otherwise;
``logging.getLogger("taction").setLevel("ERROR")`` silences it. Numba itself is silent, but does not take a
minute either.

References: [Moreau1988] for the step; the rest is a matter of tools.
"""

from __future__ import annotations

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from taction._core.jit import CACHE_DIR, JIT_ENABLED
from taction.sim.interrupt import whole_runs

log = logging.getLogger("taction")
_ready: set[tuple[str, str, str]] = set()  # what was looked up in this process


def compile_step(stepper: str, contact: str, coordinates: str) -> None:
    """Have the kernels of a scheme on disk; see the module text."""
    choice = stepper, contact, coordinates
    if choice in _ready or not JIT_ENABLED:
        return
    from taction._core.jit_progress import has_audience, is_tracing
    from taction._core.jit_share import Claims, compile_together

    if is_tracing():
        return
    _ready.add(choice)
    try:
        claims = Claims(_claims())
        if claims.is_done(str(choice)):
            return
        if not has_audience():
            log.warning("compiling the kernels of a step, once per version (about a minute)")
        take_step = _examples().take_step
        helper = f"from taction.sim.warm_up import help_step; help_step(*{choice!r})"
        with whole_runs():
            compile_together(lambda: take_step(*choice), helper, claims.folder)
        claims.finish(str(choice))
    except OSError:  # a folder that cannot be written to: Numba compiles what is called, as it is called
        pass
    except KeyboardInterrupt:
        _ready.discard(choice)
        raise


def help_step(stepper: str, contact: str, coordinates: str) -> None:
    """What a helper does."""
    from taction._core.jit_share import help_compile

    help_compile(lambda: _examples().take_step(stepper, contact, coordinates), _claims())


def compile_everything() -> int:
    """Compile all kernels there are; returns how many.

    Raises:
        OSError: the folder for kernels cannot be written to.
    """
    examples, total = _examples(), 0
    with whole_runs():
        if JIT_ENABLED:
            from taction._core.jit_share import Claims, compile_together

            claims = Claims(_claims())
            helper = "from taction.sim.warm_up import help_everything; help_everything()"
            total = compile_together(examples.run_all, helper, claims.folder)
            for choice in examples.STEPS:
                claims.finish(str(choice))
        examples.run_all()  # compiled: whatever the trace missed
    return total


def help_everything() -> None:
    """What a helper does."""
    from taction._core.jit_share import help_compile

    help_compile(_examples().run_all, _claims())


def _claims() -> Path:
    """Where processes find each other's claims."""
    if CACHE_DIR is None:
        raise OSError("there is no folder to keep compiled kernels in")
    return CACHE_DIR / "claims"


def _examples() -> Any:
    """The examples, which are simulations themselves: looked up by name, or imports would go in a circle."""
    return import_module("taction.sim.examples")
