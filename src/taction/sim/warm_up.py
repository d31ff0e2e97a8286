"""The first run through contact: its kernels are compiled once, by all cores, and nothing else is.

`compile_step` is called before the first step of a scheme in this process. Where its kernels are on disk that
is one look at a file. Otherwise a step of a tiny world with the same scheme, law and coordinates is traced
(`taction._core.jit_trace`), and what it calls is compiled together with one helper per further core
(`taction._core.jit_share`).

The example should take as many branches of a step as it can, since only what it calls can be shared; what it
leaves out is compiled with the kernel that calls it. So it has shapes of every common kind close to each
other, joints with stops, dry friction and springs, and few contacts, because plain Python solves them.

Who sees what: the command line shows progress. In a program of yours one line goes to the logger ``taction``
as a warning, that is to stderr unless logging is set up otherwise;
``logging.getLogger("taction").setLevel("ERROR")`` silences it.

References: [Moreau1988] for the step; the rest is a matter of tools.
"""

from __future__ import annotations

import logging

import numpy as np

from taction._core.jit import CACHE_DIR, CAN_SHARE
from taction.math.transform import Transform
from taction.model.builder import ModelBuilder, free_body
from taction.model.inertia import Inertia
from taction.model.shapes import Box, Capsule, Plane, Shape, Sphere
from taction.sim.world import World

log = logging.getLogger("taction")
_ready: set[tuple[str, str, str]] = set()  # what was looked up in this process


def example_world() -> World:
    """A trunk with an arm and a hand, on the ground among a box, a ball and two rods close by."""
    box, rod, ball = Box((0.1, 0.1, 0.1)), Capsule(0.05, 0.1), Sphere(0.05)
    b = ModelBuilder("example")
    for name, shape in (("trunk", box), ("arm", rod), ("hand", ball)):
        b.body(name, Inertia.solid(shape, mass=1.0), [Shape(shape, Transform())])
    b.floating("free", child="trunk", initial=np.array([0.0, 0.0, 0.0499, 1.0, 0.0, 0.0, 0.0]))
    turn = {"axis": (0.0, 1.0, 0.0), "lower": -0.1, "upper": 0.0, "friction": 0.1, "stiffness": 1.0}
    b.revolute("elbow", parent="trunk", child="arm", pose=Transform.from_rpy((0.2, 0.0, 0.2)), **turn)
    b.universal("wrist", parent="arm", child="hand", pose=Transform.from_rpy((0.2, 0.0, 0.0)))
    bodies = [
        free_body("box", box, mass=1.0, position=(0.09, 0.09, 0.11)),
        free_body("ball", ball, mass=1.0, position=(-0.09, -0.09, 0.05)),
        free_body("rod", rod, mass=1.0, position=(-0.08, 0.0, 0.16)),
        free_body("stake", rod, mass=1.0, position=(0.28, 0.08, 0.1)),
    ]
    return World(b.build(), *bodies, ground=Plane(friction=0.5))


def run_example(stepper: str, contact: str, coordinates: str) -> None:
    """One step of the example."""
    from taction.sim.simulation import Simulation

    sim = Simulation(
        example_world(), dt=1e-3, tol=1e-2, stepper=stepper, contact=contact, coordinates=coordinates
    )
    sim.run(sim.dt)


def compile_step(stepper: str, contact: str, coordinates: str) -> None:
    """Have the kernels of a scheme on disk; see the module text."""
    choice = stepper, contact, coordinates
    if choice in _ready or not CAN_SHARE:
        return
    from taction._core.jit_progress import has_audience, is_tracing
    from taction._core.jit_share import Claims, compile_together

    if is_tracing():
        return
    _ready.add(choice)
    try:
        claims = Claims(CACHE_DIR / "claims")
        if claims.is_done(str(choice)):
            return
        if not has_audience():
            log.warning("compiling the kernels of a step, once per version (about half a minute)")
        helper = f"from taction.sim.warm_up import help_step; help_step(*{choice!r})"
        compile_together(lambda: run_example(*choice), helper, claims.folder)
        claims.finish(str(choice))
    except OSError:  # a folder that cannot be written to: Numba compiles what is called, as it is called
        pass


def help_step(stepper: str, contact: str, coordinates: str) -> None:
    """What a helper does."""
    from taction._core.jit_share import help_compile

    help_compile(lambda: run_example(stepper, contact, coordinates), CACHE_DIR / "claims")
