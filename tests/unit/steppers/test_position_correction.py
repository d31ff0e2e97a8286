"""The correction of positions on one degree of freedom: how far, when not at all, and against what."""

from __future__ import annotations

import math

import numpy as np
import pytest

from one_freedom import MASS, NAN, add_block, assemble, slider
from taction._core.jit import kernel
from taction.contact.assembly import SIZE
from taction.contact.laws.dispatch import BOX, EXACT
from taction.kinematics import forward
from taction.model.workspace import AXES, ORIGIN
from taction.steppers.columns import COLUMNS, LEFT, PUSHED, SPARED, TURNED
from taction.steppers.coordinates.reduced import REDUCED
from taction.steppers.impact_memory import NEWTON
from taction.steppers.phases import BOUND_PUSH, DONE
from taction.steppers.position_correction import correct_positions
from taction.steppers.push_bounds import bound_push
from taction.steppers.scene import NEW, PUSH, RIGID, Options
from taction.steppers.schemes.base import SLOP


@kernel
def place_links(tree, q, ws):
    """As the step does."""
    forward.place_links(tree, q, ws)


H, INF = 0.01, math.inf
CONE = [0.5, 0.5, 0.5, NAN, NAN, NAN]
NORMAL = [1.0, 0.0, 0.0]


def corrected(*blocks, ahead=0.0, push=1.0, v=0.0, record=None, q=0.0, size=0.0, **joint):
    """Displacement per time of the slider, or None; impulses of the step are NaN: they must not matter.

    push: what a step may move [m], nothing that matters by default; v: velocity at its start; size: of what
    loops connect, none by default.
    """
    _, scene, memory = slider(**joint)
    for J, kind, set_, source, gap, u in blocks:
        add_block(memory.blocks, J, kind, set_, [NAN] * 3, source=source, gap=gap, u=u)
    memory.blocks.number[:, SIZE] = size
    assemble(scene, memory)
    memory.blocks.rows.b[:] = NAN
    options = Options(
        h=H, rule=-9, ahead=ahead, reach_h=NAN, margin=0.0, coordinates=REDUCED, cone=EXACT, combine=0,
        broad=0, tolerance=1e-9, is_external=False, force_h=H, move_h=H, needs_turning=False,
        asks_free_motion=False, is_momentum=False, is_projected=False, is_split=False, is_measured=False,
        memory=0, push=push, turn=NAN, is_parting=False, is_search=False, soft=RIGID,
        restitution=NEWTON, is_crossley=False,
    )  # fmt: skip
    motion = memory.motion
    motion.q[:] = q
    motion.dof[NEW] = 0.0
    motion.links[0, AXES : AXES + 9], motion.links[0, ORIGIN : ORIGIN + 3] = np.eye(3).ravel(), 0.0
    place_links(scene.tree, motion.q, motion.links)
    out = np.full(COLUMNS, NAN)
    start = np.array([v])
    missing, is_pushed = correct_positions(scene, options, False, 0, start, memory, out)
    if missing == BOUND_PUSH:
        bound_push(scene, options, start, memory)
        missing, is_pushed = correct_positions(scene, options, True, 0, start, memory, out)
    assert missing == DONE
    w = motion.dof[PUSH]
    assert is_pushed or np.isnan(w).all()
    if record is not None:
        record.update(pushed=out[PUSHED], turned=out[TURNED], left=out[LEFT], spared=out[SPARED])
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


# ----- bounds -----------------------------------------------------------------------------------------------


def test_what_is_deeper_than_a_step_may_repair_is_repaired_over_several():
    """1 mm of 5 in a step, half the slop short of it; the rest is left and said."""
    record = {}
    assert corrected(contact(-5e-3), push=1e-3, record=record) == pytest.approx(
        (1e-3 - 0.5 * SLOP) / H, abs=NEAR
    )
    assert record["pushed"] == pytest.approx(1e-3 - 0.5 * SLOP, abs=0.1 * SLOP) and record["turned"] == 0.0
    assert record["left"] == pytest.approx(4e-3 + 0.5 * SLOP, abs=0.1 * SLOP)
    assert corrected(contact(-9e-4), push=1e-3, record=record) == pytest.approx(9e-4 / H, abs=SLOP / H)
    assert record["left"] == 0.0


def test_what_a_step_closed_it_may_undo():
    """3 mm reached in this step, at 0.4 m/s: undone at once, though a step repairs 1 mm otherwise."""
    assert corrected(contact(-3e-3), push=1e-3, v=-0.4) == pytest.approx((3e-3 - 0.5 * SLOP) / H, abs=NEAR)


def test_what_moves_out_is_pushed_by_what_is_missing():
    """5 mm deep and leaving at 0.04 m/s, a step repairs 1 mm: 0.6 mm are missing; nothing at 0.2 m/s."""
    push = corrected(contact(-5e-3, 0.04), push=1e-3)
    assert push == pytest.approx((0.6e-3 - 0.5 * SLOP) / H, abs=NEAR)
    record = {}
    assert corrected(contact(-5e-3, 0.2), push=1e-3, record=record) is None
    assert record["left"] == pytest.approx(5e-3 - 0.2 * H, rel=1e-12)  # and is still inside


def test_a_slope_that_hardly_opens_the_gap_gives_up():
    """J = (c, s): the slider moves the point by its own way w, of which c w opens the gap: e = c, w = c p."""
    for cosine in (0.5, 0.1, 0.01):
        slanted = contact(-5e-3, J=[cosine, math.sqrt(1.0 - cosine**2), 0.0])
        record = {}
        w = corrected(slanted, push=1e-3, record=record)
        # the wanted motion falls short of p by half the slop
        assert w == pytest.approx(cosine * 1e-3 / H, rel=SLOP / 1e-3)
        assert record["left"] == pytest.approx(5e-3 - cosine**2 * 1e-3, abs=SLOP)


def test_a_joint_is_not_pushed_through_its_stop():
    """0.4 mm to a stop that has no row in the problem, 1 mm to go."""
    assert corrected(contact(-1e-3), q=0.1, upper=0.1004) == pytest.approx(4e-4 / H, rel=1e-11)
    assert corrected(contact(-1e-3), q=0.1, upper=0.2) == pytest.approx((1e-3 - 0.5 * SLOP) / H, abs=NEAR)


# ----- rows of loops that are nearly redundant --------------------------------------------------------------


@pytest.mark.parametrize("share", [1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9])
def test_a_loop_without_a_lever_is_let_be(share):
    """A gap of 3e-5 m that the slider closes by a way of 3e-5 m / share: not where that is far.

    By the bound of the eased correction, gap over twice a thousandth; and exactly where there is a lever.
    """
    gap, record = 3e-5, {}
    loop = [share, 0.0, 0.0], BOX, [-INF, INF, 0, 0, 0, 0], -1, [gap, 0.0, 0.0], [0.0, 0.0, 0.0]
    w = corrected(loop, size=0.1, record=record)
    assert abs(H * w) <= gap / 2e-3
    closed = 1.0 if share >= 0.1 else (1.0 + (1e-3 / share) ** 2) ** -4
    if closed * gap < 0.1 * SLOP:
        assert w == 0.0
    else:
        assert w == pytest.approx(-closed * gap / H / share, abs=NEAR / share, rel=1e-6)
    left = record["spared"] if share < 0.1 else 0.0
    assert left == pytest.approx((1.0 - closed) * gap, abs=0.1 * SLOP)
