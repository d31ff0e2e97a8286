"""What a time-stepping scheme through contact says of itself.

A scheme takes (q, v) at t to (q⁺, v⁺) at t + h by one velocity problem, or by several in turn (`Pass`). It
says

* where it looks: M, J and gaps are taken at q ⊕ a h v, with a = `ahead`;
* which contacts take part and what is added to their normal velocity, by its *rule*: for one contact with the
  gap g where the scheme looks, normal velocities u⁻ at the start and u_f after the step without impulses, and
  the coefficient of restitution e, whether it takes part, and an offset o of Signorini's law

      0 ≤ u⁺ + o  ⊥  Λ ≥ 0;

* how positions end: q⁺ = (q ⊕ a h v) ⊕ (1 − a) h v⁺, so far as its flags do not say otherwise.

A gap up to s is closed. For most contacts s is `SLOP`, a nanometre, which is rounding. For a *pressed* one,
which carried load in the step before, it is `PRESSED`, half a micrometre: positions move on arcs, and gaps
with them to third order in h. A resting contact that drifted open by a nanometre and took no part would fall
by g h², be caught, and rattle for ever; and where contacts are redundant, those nanometres would decide who
carries the load. Beyond s it may approach as fast as closes the rest, (g − s) / h; how far beyond that starts
is a matter of the scheme.

Only approach bounces: u⁻ counts as zero where it leads apart. A gap that is already negative counts as zero
in an offset: pushing out is the matter of the position correction, which adds no kinetic energy
(`taction.steppers.position_correction`). Joint limits follow the same rules with e = 0.

References: [Moreau1988]; [StewartTrinkle1996]; [AnitescuPotra1997].
"""

from __future__ import annotations

from dataclasses import dataclass

# A gap this small is closed, and a violation this small is left alone [m or rad]: rounding must not open a
# contact at rest, nor the correction of its depth.
SLOP = 1e-9
PRESSED = 5e-7  # up to this a gap of a contact that carried load is closed [m]


@dataclass(frozen=True)
class Pass:
    """One velocity problem of a step.

    Attributes:
        rule: number of the scheme's rule in `taction.steppers.schemes.dispatch`.
        has_forces: forces act meanwhile; otherwise impulses alone.
        has_motion: positions move at its end.
        needs_turning: its rule asks for the normal acceleration that velocities cause.
        asks_free_motion: contacts take part by what the free motion would do; those that hold on, always.
    """

    rule: int
    has_forces: bool = True
    has_motion: bool = True
    needs_turning: bool = False
    asks_free_motion: bool = False


@dataclass(frozen=True)
class Scheme:
    """A time-stepping scheme.

    Attributes:
        name: for users.
        summary: one line.
        passes: velocity problems of a step, in turn.
        ahead: where it looks, as a share of the step.
        is_far_sighted: contacts that may close within the step are looked for, not only closed ones.
        coordinates: names of those it works in, of `taction.steppers.coordinates`.
        is_momentum: links carry their momenta from one place where the scheme looked to the next.
        is_projected: bodies move straight, and joints are closed by projection afterwards.
        is_split: links fly freely to the place where the scheme looks and on from there; forces and impulses
            act there, at once.
        is_measured: laws allow for what flight changes, measured since the step began (`half_flight`).
        memory: numbers that it keeps of each contact, its own columns, and last whether the contact struck.
    """

    name: str
    summary: str
    passes: tuple[Pass, ...]
    ahead: float = 0.0
    is_far_sighted: bool = True
    coordinates: tuple[str, ...] = ("reduced", "absolute")
    is_momentum: bool = False
    is_projected: bool = False
    is_split: bool = False
    is_measured: bool = False
    memory: int = 1
