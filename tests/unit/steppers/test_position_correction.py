"""The correction of positions on one degree of freedom: how far, when not at all, and against what."""

from __future__ import annotations

import math

import numpy as np
import pytest

from one_freedom import MASS, NAN, add_block, assemble, slider
from taction.contact.laws.dispatch import BOX, EXACT
from taction.steppers.coordinates.reduced import REDUCED
from taction.steppers.position_correction import correct_positions
from taction.steppers.scene import Options
from taction.steppers.schemes.base import SLOP

H, INF = 0.01, math.inf
CONE = [0.5, 0.5, 0.5, NAN, NAN, NAN]
NORMAL = [1.0, 0.0, 0.0]


def corrected(*blocks, ahead=0.0):
    """Displacement per time of the slider, or None; impulses of the step are NaN: they must not matter."""
    _, scene, memory = slider()
    for J, kind, set_, source, gap, u in blocks:
        add_block(memory.blocks, J, kind, set_, [NAN] * 3, source=source, gap=gap, u=u)
    assemble(scene, memory)
    memory.blocks.rows.b[:] = NAN
    options = Options(
        h=H, rule=-9, ahead=ahead, reach_h=NAN, coordinates=REDUCED, cone=EXACT, combine=0, broad=0,
        tolerance=1e-9, is_external=False, force_h=H, move_h=H, needs_turning=False, asks_free_motion=False,
        is_momentum=False, is_projected=False, is_split=False, memory=0,
    )  # fmt: skip
    w = np.full(1, NAN)
    is_pushed = correct_positions(
        scene.tree, options, memory.blocks, memory.motion.L, memory.push, memory.dense, memory.large,
        memory.history, w,
    )  # fmt: skip
    assert is_pushed or np.isnan(w).all()
    return float(w[0]) if is_pushed else None


def contact(gap, u=0.0, J=NORMAL):
    return J, EXACT, CONE, 0, [gap, 0.0, 0.0], [u, 0.0, 0.0]


# the sweeps stop within a tenth of the slop
NEAR = 0.1 * SLOP / H


def test_a_depth_is_undone_to_half_the_slop():
    assert corrected(contact(-1e-4)) == pytest.approx((1e-4 - 0.5 * SLOP) / H, abs=NEAR)


def test_depths_within_the_slop_are_left_alone():
    assert corrected(contact(-0.9 * SLOP)) is None
    assert corrected(contact(1e-3)) is None


def test_the_gap_is_that_of_the_end_of_the_step():
    """Gap + h u with the step's own velocity: −1e-4 m and 5 mm/s of approach; half of that for Moreau's."""
    assert corrected(contact(-1e-4, -5e-3)) == pytest.approx((1.5e-4 - 0.5 * SLOP) / H, abs=NEAR)
    assert corrected(contact(-1e-4, -5e-3), ahead=0.5) == pytest.approx((1.25e-4 - 0.5 * SLOP) / H, abs=NEAR)


def test_what_opens_by_itself_is_not_pushed():
    assert corrected(contact(-1e-4, 1e-3)) is None


def test_equations_are_pulled_both_ways_and_to_zero():
    for gap in (3e-5, -3e-5):
        loop = NORMAL, BOX, [-INF, INF, 0, 0, 0, 0], -1, [gap, NAN, NAN], [0.0, 0.0, 0.0]
        assert corrected(loop) == pytest.approx(-gap / H, abs=NEAR)


def test_friction_holds_no_position():
    """Dry friction and the tangential rows of a contact carry nothing: the slider moves as without them."""
    dry = NORMAL, BOX, [-0.3, 0.3, 0, 0, 0, 0], -1, [5.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    slanted = contact(-1e-4, J=[0.6, 0.8, 0.0])
    assert corrected(dry, contact(-1e-4)) == pytest.approx((1e-4 - 0.5 * SLOP) / H, abs=NEAR)
    assert corrected(slanted) == pytest.approx((1e-4 - 0.5 * SLOP) / (0.6 * H), abs=NEAR / 0.6)


def test_two_sides_share_what_cannot_be_undone():
    """Between two walls that are both too close the deeper wins as far as the sweeps go, and none pulls."""
    left, right = contact(-1e-4), contact(-1e-4, J=[-1.0, 0.0, 0.0])
    assert abs(corrected(left, right)) <= 1e-4 / H + NEAR


def test_mass_does_not_matter_for_a_single_contact():
    """w = M⁻¹ Jᵀ π: the impulse scales with the mass, the displacement does not."""
    assert MASS != 1.0
    assert corrected(contact(-2e-4)) == pytest.approx((2e-4 - 0.5 * SLOP) / H, abs=NEAR)
