"""Pairs of geoms that MJCF lists by name: they touch whatever their bits, bodies and exclusions say.

What becomes what
* ``geom1`` and ``geom2`` are the keys of a `PairSpec`. A geom that collides with nothing else does so here.
* The first number of ``friction`` is the pair's, zero with ``condim="1"``. What the pair does not give is
  what MuJoCo takes from the geoms: those of the higher ``priority``, or else the larger ``condim`` and the
  larger friction.

Departures: a pair whose geom is not read (a height field, say) is listed; so are coefficients that differ by
direction, which MuJoCo measures along axes of its own. The first one counts.

References: MuJoCo XML reference, section "contact/pair".
"""

from __future__ import annotations

from dataclasses import replace

from taction.io.mjcf_geoms import read_condim
from taction.io.mjcf_source import Source
from taction.io.xml import Element, fail, floats
from taction.model.shapes import Material, Mesh, Shape
from taction.model.spec import ModelSpec, PairSpec


def read_pairs(source: Source, spec: ModelSpec) -> None:
    """Add the pairs of a file to a model that has its bodies and shapes."""
    known = {shape.key: shape for shape in _all(spec) if shape.key and _is_read(shape)}
    used: set[str] = set()
    for written in source.sections("contact"):
        if written.tag != "pair":
            continue
        element = source.completed(written)
        names = (element.get("geom1", ""), element.get("geom2", ""))
        missing = [name for name in names if name not in known]
        if missing:
            source.notes.add(f"contact/pair with geom {missing[0]!r}, which is not read", element)
            continue
        one, two = (known[name].material for name in names)
        spec.pairs.append(PairSpec(*names, _friction(element, one, two, source)))
        used.update(names)
    spec.ground = [_colliding(shape, used) for shape in spec.ground]
    for body in spec.bodies:
        body.shapes = [_colliding(shape, used) for shape in body.shapes]


def _all(spec: ModelSpec) -> list[Shape]:
    return [*spec.ground, *(shape for body in spec.bodies for shape in body.shapes)]


def _is_read(shape: Shape) -> bool:
    """Whether there is something to touch: meshes that are only seen are not read."""
    return not isinstance(shape.geometry, Mesh) or len(shape.geometry.vertices) > 0


def _colliding(shape: Shape, used: set[str]) -> Shape:
    """The shape, touching at least what a pair names; without bits it touches nothing else."""
    return replace(shape, collides=True) if shape.key in used and not shape.collides else shape


def _friction(element: Element, one: Material, two: Material, source: Source) -> float | None:
    """Coefficient of a pair, or None where all of it comes from the geoms."""
    condim, given = read_condim(element, None), floats(element, "friction")
    if condim is None and given is None:
        return None
    if one.priority != two.priority:
        one = two = max(one, two, key=lambda material: material.priority)
    if condim == 1 or (condim is None and one.slick and two.slick):
        return 0.0
    if given is None:
        return max(one.friction[0], two.friction[0])
    if given[0] < 0:
        fail(element, f"friction={given[0]:g} must not be negative")
    if len(given) > 1 and given[1] != given[0]:
        source.notes.add("pair friction by direction (the first number counts)", element)
    return float(given[0])
