"""The options of a scheme's passes: numbers that choose how a step is done, from what a user chose by name.

References: the schemes are in `taction.steppers.schemes`.
"""

from __future__ import annotations

from taction.contact.chains import make_chains
from taction.contact.forces.parameters import SoftContact
from taction.contact.laws.dispatch import CONVEX, EXACT
from taction.geometry.broad_phase import choose_broad_phase
from taction.sim.world import World
from taction.steppers.coordinates.dispatch import NUMBERS
from taction.steppers.impact_memory import NEWTON, POISSON
from taction.steppers.scene import EXPLICIT, IMPLICIT, RIGID, Options
from taction.steppers.schemes.base import Scheme
from taction.steppers.soft_twist import SOFT_KEPT

RESTITUTION_LAWS = {"poisson": POISSON, "newton": NEWTON}


def make_passes(
    scheme: Scheme,
    *,
    dt: float,
    coordinates: str,
    contact: str,
    world: World,
    tol: float,
    is_external: bool,
    push: float,
    turn: float,
    soft: SoftContact | None = None,
    restitution: int = POISSON,
) -> tuple[Options, ...]:
    """Options of each pass of a scheme.

    Args:
        scheme: how contact enters a step.
        dt: time step [s].
        coordinates: ``"reduced"`` or ``"absolute"``.
        contact: law of friction.
        world: what moves and touches.
        tol: tolerance on the relative residual of each step.
        is_external: problems are solved outside the kernel.
        push: how far the correction of positions moves a point of contact in a step [m].
        turn: how far it turns a link in a step [rad].
        soft: contact as a force, if it is one.
        restitution: its law, NEWTON or POISSON.
    """
    way = RIGID if soft is None else (IMPLICIT if soft.integration == "implicit" else EXPLICIT)
    common = Options(
        h=dt,
        rule=0,
        ahead=scheme.ahead,
        reach_h=dt if scheme.is_far_sighted else 0.0,
        margin=0.0,
        coordinates=NUMBERS[coordinates],
        cone=CONVEX if contact == "convex" else EXACT,
        combine=world.combine,
        broad=int(choose_broad_phase(world.filter)),
        tolerance=tol,
        is_external=is_external,
        force_h=dt,
        move_h=dt,
        needs_turning=False,
        asks_free_motion=False,
        is_momentum=scheme.is_momentum,
        is_projected=scheme.is_projected,
        is_split=scheme.is_split,
        is_measured=scheme.is_measured,
        memory=scheme.memory if soft is None else SOFT_KEPT,
        push=push,
        turn=turn,
        is_parting=way == RIGID and _may_part(scheme, world, coordinates),
        is_search=False,
        soft=way,
        restitution=restitution,
        is_crossley=soft is not None and soft.is_crossley,
    )
    return tuple(
        common._replace(
            rule=p.rule,
            force_h=dt if p.has_forces else 0.0,
            move_h=dt if p.has_motion else 0.0,
            needs_turning=p.needs_turning,
            asks_free_motion=p.asks_free_motion,
        )
        for p in scheme.passes
    )


def _may_part(scheme: Scheme, world: World, coordinates: str) -> bool:
    """Whether what overlaps where a step ends is parted: where its scheme closes gaps, and it can tell."""
    looks = scheme.ahead == 0.0 and not scheme.is_split
    has_loose = coordinates == "reduced" and bool(make_chains(world.model.tree).alone.any())
    closes = scheme.is_far_sighted and len(scheme.passes) == 1
    return closes and (scheme.is_measured or (looks and has_loose))
