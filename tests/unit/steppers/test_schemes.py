"""When a contact takes part, and which velocity it must reach: every rule against its line in the table."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from taction._core.jit import plain
from taction.contact.assembly import AHEAD, GAP, NUMBER_WIDTH, OFFSET, VELOCITY
from taction.steppers.schemes import dispatch
from taction.steppers.schemes.acceleration_level import ACCELERATION, COLLISION, RESTING
from taction.steppers.schemes.anitescu_potra import ANITESCU_POTRA
from taction.steppers.schemes.base import PRESSED, SLOP
from taction.steppers.schemes.dispatch import SCHEMES
from taction.steppers.schemes.moreau import MOREAU
from taction.steppers.schemes.stewart_trinkle import STEWART_TRINKLE

NAN, H, E = math.nan, 0.01, 0.5
offset, end_gap = plain(dispatch.contact_offset), plain(dispatch.end_gap)


def rule(kind, gap, *, e=0.0, before=0.0, free=NAN, turning=NAN, pressed=False, h=H):
    """The rule, with what it must not look at poisoned."""
    return offset(kind, gap, h, e, before, free, turning, pressed)


@pytest.mark.parametrize("kind", [MOREAU, COLLISION])
def test_velocity_level_rules_bounce_what_approaches(kind):
    assert rule(kind, 0.0, e=E, before=-2.0) == (True, -1.0)
    assert rule(kind, -0.1, e=E, before=-2.0) == (True, -1.0)  # depth is the matter of the correction
    assert rule(kind, 0.0, e=E, before=2.0) == (True, 0.0)  # what leads apart counts as zero
    takes_part, _ = rule(kind, 2.0 * SLOP, e=E, before=-2.0)
    assert not takes_part


def test_moreau_keeps_a_pressed_contact_closed():
    """Up to half a micrometre it is closed, up to twice that it may close the rest; then it is open."""
    assert rule(MOREAU, 0.9 * PRESSED, pressed=True) == (True, 0.0)
    takes_part, o = rule(MOREAU, 1.5 * PRESSED, pressed=True)
    assert takes_part and o == pytest.approx(0.5 * PRESSED / H)
    assert not rule(MOREAU, 2.1 * PRESSED, pressed=True)[0]
    assert not rule(MOREAU, 0.9 * PRESSED)[0]


def test_stewart_trinkle_lets_a_gap_close_in_the_step():
    """Every contact takes part; one that is open by g may approach at g / h."""
    assert rule(STEWART_TRINKLE, 0.02) == (True, pytest.approx(2.0))
    assert rule(STEWART_TRINKLE, 1.9 * PRESSED) == (True, 0.0)
    assert rule(STEWART_TRINKLE, 2.1 * PRESSED) == (True, pytest.approx(2.1 * PRESSED / H))
    assert rule(STEWART_TRINKLE, -0.02) == (True, 0.0)
    assert rule(STEWART_TRINKLE, 3.0 * PRESSED, pressed=True) == (True, pytest.approx(2.0 * PRESSED / H))
    assert rule(STEWART_TRINKLE, 0.5 * PRESSED, pressed=True) == (True, 0.0)
    assert rule(STEWART_TRINKLE, 1.9 * PRESSED, pressed=True) == (True, 0.0)  # not worth closing yet


def test_what_stewart_trinkle_lets_be_shrinks_with_the_step_squared():
    h = 1e-4  # d = 5e-9
    for gap, pressed, wanted in ((9e-9, False, 0.0), (1.1e-8, False, 1.1e-4), (5.04e-7, True, 0.0)):
        assert rule(STEWART_TRINKLE, gap, pressed=pressed, h=h) == (True, pytest.approx(wanted))
    assert rule(STEWART_TRINKLE, 5.06e-7, pressed=True, h=h) == (True, pytest.approx(6e-9 / h))


def test_stewart_trinkle_bounces_only_what_hits_in_the_step():
    assert rule(STEWART_TRINKLE, 0.02, e=E, before=-3.0, free=-3.0) == (True, -1.5)  # 0.02 − 0.03 < 0
    assert rule(STEWART_TRINKLE, 0.02, e=E, before=-1.0, free=-1.0) == (True, pytest.approx(2.0))
    assert rule(STEWART_TRINKLE, 0.02, e=E, before=1.0) == (True, pytest.approx(2.0))


def test_anitescu_potra_switches_by_the_free_motion():
    assert rule(ANITESCU_POTRA, 0.02, e=E, before=-3.0, free=-3.0) == (True, -1.5)
    assert not rule(ANITESCU_POTRA, 0.02, e=E, before=-1.0, free=-1.0)[0]
    assert rule(ANITESCU_POTRA, 0.5 * PRESSED, free=0.0, pressed=True)[0]
    assert not rule(ANITESCU_POTRA, 0.5 * PRESSED, free=0.0)[0]


def test_acceleration_level_rests_on_closed_contacts():
    """u⁺ − u⁻ + h a ≥ 0: the offset takes the velocity out, and puts what velocities accelerate in."""
    takes_part, o = rule(ACCELERATION, 0.0, e=NAN, before=-0.3, turning=4.0)
    assert takes_part and o == pytest.approx(H * 4.0 + 0.3)
    assert not rule(ACCELERATION, 0.0, before=2.0 * RESTING, turning=0.0)[0]
    assert not rule(ACCELERATION, 2.0 * SLOP, before=0.0, turning=0.0)[0]


def ended(name, gap, u, offset, is_one_sided, change=NAN):
    """Gap at the end of a row with these numbers; change: of its velocity half a step on."""
    number = np.full((1, NUMBER_WIDTH), NAN)
    number[0, GAP], number[0, VELOCITY], number[0, OFFSET], number[0, AHEAD] = gap, u, offset, change
    scheme = SCHEMES[name]
    options = SimpleNamespace(
        h=H, ahead=scheme.ahead, is_split=scheme.is_split, is_measured=scheme.is_measured
    )
    return end_gap(options, SimpleNamespace(number=number), 0, 0, is_one_sided)[0]


def test_gap_at_the_end():
    """Positions move by h u⁺; Moreau's gap is that of the midpoint, so by half of it."""
    assert ended("stewart-trinkle", 0.1, -2.0, NAN, True) == pytest.approx(0.08)
    assert ended("moreau", 0.1, -2.0, NAN, True) == pytest.approx(0.09)


def test_gap_at_the_end_of_a_half_flight():
    """Positions move by ½ h times the mean of both velocities, whatever the law asks for besides."""
    assert ended("half-flight", 0.1, -2.0, 0.1 / H, True, 0.4) == pytest.approx(0.1 - 0.5 * H * 1.8)


def test_gap_at_the_next_midpoint():
    """The offset of an open contact has its gap in it, that of an equation and of an overlap has not."""
    assert ended("midpoint", 0.1, -2.0, 0.1 / H, True) == pytest.approx(0.08)
    assert ended("midpoint", -0.1, -2.0, 3.0, True) == pytest.approx(-0.09)
    assert ended("midpoint", 0.1, -2.0, 3.0, False) == pytest.approx(0.11)


def test_rules_have_numbers_of_their_own():
    """The if-chain tells them apart; variants of a scheme share one."""
    rules = [p.rule for scheme in SCHEMES.values() for p in scheme.passes]
    assert set(rules) == {MOREAU, STEWART_TRINKLE, ANITESCU_POTRA, COLLISION, ACCELERATION}
    assert len({MOREAU, STEWART_TRINKLE, ANITESCU_POTRA, COLLISION, ACCELERATION}) == 5


def test_positions_move_once_and_forces_act_once():
    for scheme in SCHEMES.values():
        assert [p.has_motion for p in scheme.passes].count(True) == 1 and scheme.passes[-1].has_motion
        assert [p.has_forces for p in scheme.passes].count(True) == 1
