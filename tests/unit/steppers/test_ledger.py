"""The energy ledger of a step: every work by hand on one degree of freedom, and their sum."""

from __future__ import annotations

import numpy as np
import pytest

from one_freedom import MASS, NAN, add_block, slider
from taction.contact.assembly import STRIKES
from taction.contact.laws.dispatch import BOX, EXACT
from taction.dynamics.joint_law import JointLaw
from taction.steppers.columns import (
    ACTUATION,
    CLOSURE,
    COLUMNS,
    FRICTION,
    IMPACT,
    JOINT_FRICTION,
    JOINTS,
    MADE,
    PRESSING,
)
from taction.steppers.ledger import book_works
from taction.steppers.scene import BIAS, CHANGE, GAIN, NEW

H, Q, V, TAU, GRAVITY = 0.1, 0.3, 0.5, 4.0, 1.7
OWN = {"K": 6.0, "D": 0.8, "b": 0.4}  # the model's spring, damper and preload
GAINS = {"K": 30.0, "D": 2.0, "b": 5.0}  # a controller's
J, IMPULSE = np.array([0.6, 0.8, 0.0]), np.array([0.9, -0.35, 0.0])
DRY = 0.25  # impulse of dry friction, at its bound


def law(*parts):
    total = {k: sum(p[k] for p in parts) for k in ("K", "D", "b")}
    return JointLaw(*(np.array([total[k]]) for k in ("K", "D", "b")), np.array([0]))


def set_law(motion, whole):
    """The joint law of the step."""
    motion.law.K[:], motion.law.D[:], motion.law.b[:] = whole.K, whole.D, whole.b


def booked(strikes=2):
    """The record of a step whose new velocity obeys the equation of motion; strikes: of its contact."""
    _, scene, memory = slider()
    k, d, b = (OWN[x] + GAINS[x] for x in ("K", "D", "b"))
    # (m + h D + h² K) v⁺ = m v + h (τ + b − K q − bias) + Jᵀ Λ − dry
    push = H * (TAU + b - k * Q - GRAVITY) + J @ IMPULSE - DRY
    new = (MASS * V + push) / (MASS + H * d + H * H * k)
    add_block(memory.blocks, J, EXACT, [0.5, 0.5, 0.5, NAN, NAN, NAN], IMPULSE, source=0, gap=NAN, u=J * new)
    memory.blocks.index[0, STRIKES] = strikes
    dry = [-DRY, DRY, 0, 0, 0, 0]
    add_block(memory.blocks, [1, 0, 0], BOX, dry, [-DRY, 0, 0], source=-1, gap=NAN, u=[new, 0, 0])
    dof = memory.motion.dof
    dof[NEW], dof[BIAS] = new, GRAVITY
    record = np.full(COLUMNS, NAN)
    set_law(memory.motion, law(OWN, GAINS))
    book_works(
        scene.tree, law(OWN), H, np.array([TAU]), np.array([TAU]), np.array([Q]), np.array([V]),
        memory.blocks, memory.motion, record,
    )  # fmt: skip
    return record, new, memory.motion


def test_works_by_hand():
    """Each force times h times the mean velocity; K and D act at the end of the step. Sums of a few terms."""
    record, new, motion = booked()
    dof, mean, end = motion.dof, 0.5 * (V + new), Q + H * new
    control = GAINS["b"] - GAINS["K"] * end - GAINS["D"] * new
    expected = {
        ACTUATION: H * mean * (TAU + control),
        FRICTION: mean * 0.8 * -0.35,
        IMPACT: mean * 0.6 * 0.9,
        JOINT_FRICTION: -mean * DRY - H * mean * OWN["D"] * new,
    }
    for column, work in expected.items():
        assert record[column] == pytest.approx(work, rel=1e-14)
    assert motion.acted[0] == pytest.approx(TAU + control, rel=1e-14)
    assert dof[CHANGE, 0] == new - V and dof[GAIN, 0] == pytest.approx(MASS * (new - V), rel=1e-15)


@pytest.mark.parametrize(("strikes", "column"), [(2, IMPACT), (1, IMPACT), (0, PRESSING)])
def test_a_normal_impulse_is_an_impact_only_where_something_strikes(strikes, column):
    record, new, _ = booked(strikes)
    assert record[column] == pytest.approx(0.5 * (V + new) * 0.6 * 0.9, rel=1e-14)
    assert record[IMPACT + PRESSING - column] == 0.0


def test_the_ledger_closes():
    """v̄ᵀ M (v⁺ − v) is the sum of all works: to rounding of their largest, 8 ε of 1.5 J."""
    record, _, _ = booked()
    assert abs(record[CLOSURE]) <= 8 * 2.0**-52 * 1.5
    others = [ACTUATION, FRICTION, IMPACT, JOINT_FRICTION, PRESSING, JOINTS, CLOSURE, MADE]
    assert np.isnan(np.delete(record, others)).all()


def test_a_wrong_velocity_does_not_close():
    """An error δ of v⁺ is one of m δ in momentum, which the closure shows times the mean velocity."""
    _, scene, memory = slider()
    dof, new, record = memory.motion.dof, V + 1e-6, np.full(COLUMNS, NAN)
    dof[NEW], dof[BIAS] = new, 0.0
    none = law({"K": 0.0, "D": 0.0, "b": 0.0})
    set_law(memory.motion, none)
    book_works(
        scene.tree, none, H, np.zeros(1), np.zeros(1), np.array([Q]), np.array([V]), memory.blocks,
        memory.motion, record,
    )  # fmt: skip
    assert record[CLOSURE] == pytest.approx(MASS * 1e-6 * V, rel=1e-5)
