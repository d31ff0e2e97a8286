"""What a comparison of models of contact says, in plain words: which claim of which model fails, by how much.

Every sentence follows from figures of the comparison; no model is known by name. A claim of rigid contact
counts as broken above the limits below: bodies do not overlap, what slides stays down, what should stick does
not move, friction opposes sliding and is μ N in every direction, nothing makes energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from taction.drawing.number_text import short
from taction.sim.contact_summary import LEFT_MOST
from taction.studies.block_probe import BETWEEN, HALFWAY
from taction.studies.comparison import ComparedModel, Comparison
from taction.studies.contact_figures import ContactFigures
from taction.studies.step_study import StepStudy

SAME = 1e-9  # [m]: bodies closer than this are at the same place
STILL = 1e-9  # [m/s]: ten times what the solvers' tolerance lets creep in steps of 1 ms
ALIGNED = 1.0  # [deg]
WEAKER = 0.01  # share of μ N that friction may miss
RISE = 1e-6  # share of a run's energy that may appear from nowhere
LARGER = 3.0  # figures that differ by less than this factor are called alike
LENGTHS = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))  # from a tenth of each on


def verdict(comparison: Comparison) -> list[str]:
    """Sentences about a comparison, the reference first."""
    out = [sentence for model in comparison.models for sentence in _about(model, comparison)]
    return out + list(_costs(comparison))


def _about(model: ComparedModel, comparison: Comparison) -> Iterator[str]:
    name = model.name
    if model.failure:
        yield f"{name} does not reach the end: {model.failure}."
    if model is not comparison.reference:
        yield from _difference(model, comparison)
    broken = [text for claim in CLAIMS for text in claim(model, comparison.dt)]
    if not broken and not model.failure:
        broken = [f"{name} keeps every claim of rigid contact that is measured here{_bounds(model)}."]
    yield from broken
    yield from (f"{name} misses an answer of the scenario: {text}." for text in model.missed)
    yield from _steps(name, model.study, comparison.duration)


def _difference(model: ComparedModel, comparison: Comparison) -> Iterator[str]:
    end, path = model.end_difference, comparison.reference.path
    if end is None or not len(path):
        return
    reference = comparison.reference.name
    way = float(((path - path[0]) ** 2).sum(axis=3).max() ** 0.5)
    worst = float(model.distance.max())
    if worst <= SAME:
        yield f"{model.name} moves like {reference}: never more than {length(worst)} apart."
        return
    share = f", {100.0 * end / way:.2g} % of the longest way of a body" if way > end else ""
    yet = f" ({length(worst)} at worst)" if worst > 1.01 * end else ""
    yield f"{model.name} ends {length(end)} from {reference}{share}{yet}."


def _overlap(model: ComparedModel, dt: float) -> Iterator[str]:
    f, where = _shown(model, "sticking", lambda f: f.penetration > LEFT_MOST)
    if f is None:
        return
    text = f"{model.name} overlaps{where} by {length(f.penetration)} at worst"
    order = model.study.overlap_order
    if not where and order is None:
        yield f"{text}; the steps studied do not tell whether that goes with the step."
        return
    if not where and order is not None and order > 0.5:  # nearer to 1 than to 0
        yield f"{text}: that goes with the step (as h to the {order:.1f}), it is not the model's."
        return
    if f.depth_at_end is not None and f.depth_at_end > LEFT_MOST:
        text += f" and by {length(f.depth_at_end)} on average at the end"
        if f.depth_expected is not None:
            text += f", where load over stiffness predicts {length(f.depth_expected)}"
    yield f"{text}: bodies are not rigid in it."


def _lift(model: ComparedModel, dt: float) -> Iterator[str]:
    f, probe = model.figures, model.probe
    if f is not None and f.lift_expected and f.lift is not None and f.lift > LEFT_MOST:
        is_convex = 0.5 < f.lift / f.lift_expected < 2.0
        why = "the lift of a convex law, gone with the step" if is_convex else "not the lift of a convex law"
        yield (
            f"{model.name} lifts what slides: the gap under contacts that press and slide is "
            f"{length(f.lift)} on average, where h μ v is {length(f.lift_expected)} at h = {1e3 * dt:g} ms "
            f"({why}). That is force at a distance, against Signorini's law."
        )
    if probe is None or probe.halfway.parting is None or not probe.halfway.lift_expected:
        return
    parting, asked = probe.halfway.parting, probe.halfway.lift_expected / dt
    if parting > 0.5 * asked:  # less is the rebound of a spring
        yield (
            f"{model.name} lifts what is set sliding: a block launched in the probe leaves its plane at "
            f"{speed(parting)}, where μ v is {speed(asked)}, the lift of a convex law."
        )


def _creep(model: ComparedModel, dt: float) -> Iterator[str]:
    f, where = _shown(model, "sticking", lambda f: max(f.creep or 0.0, 1e-3 * (f.slip or 0.0)) > STILL)
    if f is None or f.slip is None:
        return
    end = "" if f.creep is None else f" and move on at {speed(f.creep)} at the end"
    verb = "creeps" if (f.creep or 0.0) > STILL else "gives way before it holds"
    yield f"{model.name} {verb}{where}: contacts that should stick slip at up to {speed(f.slip)}{end}."


def _direction(model: ComparedModel, dt: float) -> Iterator[str]:
    here, probe = model.figures, model.probe
    told = (here, None if probe is None else probe.halfway)
    off = [f.direction_error or 0.0 for f in told if f is not None]
    strength = None if probe is None else probe.between.strength
    if max(off, default=0.0) <= ALIGNED and (strength is None or abs(1.0 - strength) <= WEAKER):
        return
    parts = []
    if here is not None and here.direction_error is not None:
        parts.append(
            f"{here.direction_error:.1f}° off here, sliding at {here.obliquity:.1f}° to the axes of friction"
        )
    if probe is not None and probe.halfway.direction_error is not None:
        parts.append(
            f"{probe.halfway.direction_error:.1f}° off in the probe, of a block that starts at {HALFWAY:g}°"
        )
    if strength is not None:
        bound = f"a pyramid of four corners has cos 45° = {math.cos(math.pi / 4):.3f}"
        parts.append(f"{strength:.3f} of μ N against a block sliding at {BETWEEN:g}° ({bound})")
    yield f"{model.name} misses direction and size of friction: {'; '.join(parts)}."


def _energy(model: ComparedModel, dt: float) -> Iterator[str]:
    f = model.figures
    if f is not None and f.energy_rise > RISE * f.energy_scale:
        share = 100.0 * f.energy_rise / f.energy_scale
        yield (
            f"{model.name} and its scheme make energy: up to {short(f.energy_rise)} J, {share:.2g} % of what "
            "the run has."
        )


CLAIMS = (_overlap, _lift, _creep, _direction, _energy)


def _shown(
    model: ComparedModel, probe: str, is_broken: Callable[[ContactFigures], bool]
) -> tuple[ContactFigures | None, str]:
    """Figures in which a claim is broken: the scenario's, or else the probe's, and the words that say so."""
    if model.figures is not None and is_broken(model.figures):
        return model.figures, ""
    if model.probe is not None and is_broken(getattr(model.probe, probe)):
        return getattr(model.probe, probe), " (a block in the probe)"
    return None, ""


def _bounds(model: ComparedModel) -> str:
    """The figures behind a model that breaks nothing."""
    f = model.figures
    if f is None:
        return ""
    known = {
        "overlap": length(f.penetration),
        "creep": None if f.creep is None else speed(f.creep),
        "direction of friction": None if f.direction_error is None else f"{f.direction_error:.2g}°",
    }
    return f" ({', '.join(f'{key} {value}' for key, value in known.items() if value is not None)})"


def _steps(name: str, study: StepStudy, duration: float) -> Iterator[str]:
    low, high = study.longest_stable, study.shortest_unstable
    limit = ""
    if study.predicted is not None:
        limit = f"; spring and damper of one point of contact predict {short(1e3 * study.predicted)} ms"
    if high is not None and low is not None:
        yield f"{name} blows up with steps between {short(1e3 * low)} and {short(1e3 * high)} ms{limit}."
    elif high is not None:
        yield f"{name} blows up even with steps of {short(1e3 * high)} ms{limit}."
    elif low is not None:
        part = "" if study.duration > 0.9 * duration else f" (over the first {short(study.duration)} s)"
        yield f"{name} does not blow up with any step tried, up to {short(1e3 * low)} ms{part}{limit}."


def _costs(comparison: Comparison) -> Iterator[str]:
    known = {model.name: model.wall_us for model in comparison.models if model.wall_us is not None}
    if len(known) < 2:
        return
    cheap, dear = min(known, key=known.__getitem__), max(known, key=known.__getitem__)
    ratio = known[dear] / known[cheap]
    if ratio < LARGER:
        yield f"A step costs much the same: {known[cheap]:.1f} µs ({cheap}) to {known[dear]:.1f} µs ({dear})."
    else:
        yield f"A step of {dear} costs {known[dear]:.0f} µs, {ratio:.0f} times that of {cheap}."


def length(x: float) -> str:
    """A length with a unit that suits it."""
    for size, unit in LENGTHS:
        if abs(x) >= 0.1 * size:
            return f"{short(x / size)} {unit}"
    return f"{x:.1e} m" if x else "0 m"


def speed(x: float) -> str:
    """A speed with a unit that suits it."""
    return f"{length(x)}/s"
