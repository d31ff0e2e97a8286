"""Pairs of geoms that MJCF lists by name: they touch whatever their bits, bodies and exclusions say.

What becomes what
* ``geom1`` and ``geom2`` are the keys of a `PairSpec`. A geom that collides with nothing else does so here.
* The first number of ``friction`` is the pair's, zero with ``condim="1"``. What the pair does not give is 1,
  and ``condim`` 3, whatever the geoms have.

Departures: a pair whose geom is not read (a height field, say) is listed; so are coefficients that differ by
direction, which MuJoCo measures along axes of its own. The first one counts.

References: MuJoCo XML reference, section "contact/pair".
"""

from __future__ import annotations

from dataclasses import replace

from taction.io.mjcf_geoms import read_condim
from taction.io.mjcf_source import Source
from taction.io.xml import Element, fail, floats
from taction.model.shapes import Mesh, Shape
from taction.model.spec import ModelSpec, PairSpec


def read_pairs(source: Source, spec: ModelSpec) -> None:
    """Add the pairs of a file to a model that has its bodies and shapes."""
    known = {shape.key for shape in _all(spec) if shape.key and _is_read(shape)}
    used: set[str] = set()
    for written in source.sections("contact"):
        if written.tag != "pair":
            continue
        element = source.completed(written)
        names = (element.get("geom1", ""), element.get("geom2", ""))
        missing = [name for name in names if name not in known]
        if missing:
            source.notes.add(
                f"contact/pair with geom {missing[0]!r}, which is not read", element, "no contact"
            )
            continue
        spec.pairs.append(PairSpec(*names, _friction(element, source)))
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


def _friction(element: Element, source: Source) -> float:
    """Coefficient of a pair."""
    along, across = (*_given(element), 1.0, 1.0)[:2]
    if min(along, across) < 0:
        fail(element, f"friction={element.get('friction')} must not be negative")
    if along != across:
        source.notes.add("pair friction by direction", element, "the first number counts")
    return 0.0 if read_condim(element) == 1 else along


def _given(element: Element) -> list[float]:
    """The coefficients that an element has written; each missing one is 1."""
    values = floats(element, "friction")
    return [] if values is None else [float(x) for x in values]
