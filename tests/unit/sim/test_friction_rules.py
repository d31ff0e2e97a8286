"""How the friction of two shapes becomes that of their pair."""

import pytest

import taction as ta
from taction._core.jit import plain
from taction.steppers.elements import pair_surface


def friction(one, two, combine=None):
    """Of two balls with these materials: along t₁, t₂ and against t₁."""
    balls = [
        ta.free_body(name, ta.Sphere(0.1), mass=1.0, material=m) for name, m in (("one", one), ("two", two))
    ]
    world = ta.World(*balls, combine=combine)
    numbers = plain(pair_surface)(world.scene().surfaces, world.combine, 0, 1)
    return tuple(float(x) for x in numbers[:3])


def material(mu, **options):
    return ta.Material((mu, mu), **options)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("", "", 0.2),
        ("smaller", "smaller", 0.2),
        ("larger", "larger", 0.8),
        ("mean", "mean", 0.4),
        ("larger", "", 0.8),
        ("", "larger", 0.8),
        ("mean", "", 0.4),
        ("smaller", "larger", 0.8),
        ("mean", "larger", 0.8),
        ("mean", "smaller", 0.2),
        ("smaller", "", 0.2),
    ],
)
def test_rules_of_shapes(one, two, expected):
    """Coefficients 0.2 and 0.8; the order of the shapes does not matter; a world may overrule them."""
    a, b = material(0.2, combine=one), material(0.8, combine=two)
    assert friction(a, b) == pytest.approx((expected,) * 3) == friction(b, a)
    for rule, value in (("smaller", 0.2), ("larger", 0.8), ("mean", 0.4)):
        assert friction(a, b, rule) == pytest.approx((value,) * 3)


def test_priority_and_slick_shapes():
    floor, shoe = material(0.3, priority=1, combine="larger"), material(0.9, combine="larger")
    assert friction(floor, shoe) == friction(shoe, floor) == (0.3, 0.3, 0.3)
    ice = material(0.7, slick=True, combine="larger")
    assert friction(ice, ice) == (0.0, 0.0, 0.0)
    assert friction(ice, material(0.5, combine="larger")) == (0.7, 0.7, 0.7)
    assert friction(ice, material(0.5, combine="larger", priority=-1)) == (0.0, 0.0, 0.0)


def test_directed_friction_follows_the_same_rules():
    ski = ta.Material((0.1, 0.6), backward=0.3, combine="larger")
    assert friction(ski, material(0.2)) == (0.2, 0.6, 0.3)
    assert friction(material(0.2), ski) == (0.3, 0.6, 0.2)  # forward of the partner is backward of the ski
    assert friction(ski, material(0.2, priority=2)) == (0.2, 0.2, 0.2)
    with pytest.raises(ta.ModelError, match="combine 'most'"):
        ta.Material(combine="most")
