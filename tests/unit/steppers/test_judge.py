"""The judge of a step: closed forms of one block on one mass, faults that must be noticed, verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taction._core.jit import plain
from taction.contact.assembly import (
    COMPLIANCE,
    GAP,
    INDEX_WIDTH,
    LENGTH,
    NUMBER_WIDTH,
    OFFSET,
    SOURCE,
    VELOCITY,
    Assembly,
    Rows,
)
from taction.contact.laws.dispatch import BOX, EXACT
from taction.dynamics.joint_law import JointLaw
from taction.steppers.columns import (
    COLUMNS,
    CONE,
    CONTACTS,
    DISSIPATION,
    JOINT_GAP,
    MOTION,
    PENETRATION,
    RESIDUAL,
    SIGNORINI,
    UNCONVERGED,
    WORST_A,
    WORST_B,
)
from taction.steppers.judge import judge_contacts, judge_motion, pronounce
from taction.steppers.scene import BIAS, DOF_ROWS, GAIN, MOMENTUM, NEW, Flight, Motion

NAN = math.nan
TOLERANCE = 1e-8
MASS, MU = 2.0, 0.5
SPARE = 2  # blocks beyond the count, poisoned


def assembly(kind, sets, r, u, b=None, w=None, source=0):
    """A step's blocks with impulses r and end velocities u (k, 3) on equal masses; all else is NaN."""
    k = len(kind)
    n = k + SPARE
    number = np.full((n, NUMBER_WIDTH), NAN)
    number[:k, VELOCITY : VELOCITY + 3] = u
    for column in (OFFSET, COMPLIANCE, GAP):
        number[:k, column : column + 3] = 0.0
    index = np.full((n, INDEX_WIDTH), -9, dtype=np.int64)
    index[:k, SOURCE] = source
    value = np.full((n, 9), NAN)
    value[:k] = (np.eye(3) / MASS).ravel() if w is None else w
    free = np.asarray(u, dtype=float) - np.asarray(r) / MASS if b is None else np.asarray(b, dtype=float)
    pad = np.full((SPARE, 3), NAN)
    rows = Rows(
        start=np.array([*range(k + 1), *[-9] * SPARE]),
        column=np.array([*range(k), *[-9] * SPARE]),
        value=value,
        diagonal=np.array([*range(k), *[-9] * SPARE]),
        b=np.vstack([free, pad]).ravel(),
        kind=np.array([*kind, *[-9] * SPARE]),
        sets=np.vstack([np.asarray(sets, dtype=float), np.full((SPARE, 6), NAN)]),
    )
    return Assembly(
        count=np.array([k]),
        index=index,
        number=number,
        dof=np.full((n, 1), -9, dtype=np.int64),
        J=np.full((n, 1, 3), NAN),
        Z=np.full((n, 1, 3), NAN),
        r=np.vstack([np.asarray(r, dtype=float), pad]).ravel(),
        rows=rows,
        dense=np.full((1, 3), NAN),
        head=np.full(1, -9, dtype=np.int64),
    )


STILL = np.full(1, NAN)  # velocities that the judge need not look at


def judged(blocks, tolerance=TOLERANCE, v=STILL):
    record = np.full(COLUMNS, NAN)
    judge_contacts(tolerance, 0.0, np.array([[4, 7], [5, 8]]), v, blocks, record)
    return record


CONE_SET = [MU, MU, MU, 0.0, 0.0, 0.0]


def sliding(mu=MU):
    """A mass pressed down at 0.6 m/s that slides on along (0.6, 0.8) at 3 m/s; friction of coefficient mu."""
    r = np.array([[MASS * 0.6, -mu * MASS * 0.6 * 0.6, -mu * MASS * 0.6 * 0.8]])
    return r, np.array([[0.0, 1.8, 2.4]])


def test_a_right_step_has_nothing_to_report():
    """Impulse and velocity of a sliding mass, m u⁺ = m b + Λ: zero up to ε of sums of three terms."""
    record = judged(assembly([EXACT], [CONE_SET], *sliding()))
    for column in (RESIDUAL, SIGNORINI, CONE, DISSIPATION):
        assert record[column] <= 8 * 2.0**-52
    assert record[UNCONVERGED] == 0.0 and record[CONTACTS] == 1.0 and record[PENETRATION] == 0.0
    assert record[WORST_A] == 4.0 and record[WORST_B] == 7.0


@pytest.mark.parametrize("wrong", [0.999, 1.001])
def test_a_broken_projection_is_noticed(wrong):
    """The answer of a solver that projects on a cone of a coefficient wrong by 10⁻³, in u⁺ as well."""
    record = judged(assembly([EXACT], [CONE_SET], *sliding(wrong * MU)))
    size = 0.001 * MU * MASS * 0.6  # [N s] by which friction is off
    b = np.linalg.norm([-0.6, 1.8 + wrong * MU * 0.36, 2.4 + wrong * MU * 0.48])
    assert 0.5 * size / b <= record[RESIDUAL] <= 2.0 * size / b and record[UNCONVERGED] == 1.0
    impulse = MASS * 0.6 * math.sqrt(1.0 + (wrong * MU) ** 2)
    if wrong > 1.0:  # outside the cone by the part along its normal
        assert record[CONE] == pytest.approx(size / math.sqrt(1.0 + MU * MU) / impulse, rel=1e-9)
    else:  # inside: it is power that is missing, 3 m/s times the friction that was left
        assert record[CONE] == 0.0
        assert record[DISSIPATION] == pytest.approx(size * 3.0 / (b * impulse), rel=1e-9)


def test_offset_and_compliance_belong_to_the_velocity_of_the_law():
    """A contact that gives way by R Λ and must reach −o: u + o + R Λ = 0 is no error."""
    blocks = assembly([EXACT], [CONE_SET], [[1.5, 0.0, 0.0]], [[-0.5, 0.0, 0.0]])
    assert judged(blocks)[UNCONVERGED] == 1.0
    blocks.number[0, OFFSET], blocks.number[0, COMPLIANCE] = 0.2, 0.2
    record = judged(blocks)
    assert record[RESIDUAL] <= 1e-15 and record[UNCONVERGED] == 0.0


def test_rows_of_joints():
    """Dry friction at its bound against the motion, a stop that presses, a loop that is open by 3 µm."""
    inf = math.inf
    sets, r = [[-0.3, 0.3, 0.0, inf, -inf, inf]], [[-0.3, 0.7, -4.0]]
    blocks = assembly([BOX], sets, r, [[0.2, 0.0, 0.0]], source=-1)
    blocks.number[0, GAP : GAP + 3] = 0.1, 0.2, -3e-6
    record = judged(blocks)
    assert record[RESIDUAL] <= 1e-15 and record[CONTACTS] == 0.0 and record[WORST_A] == -1.0
    assert record[JOINT_GAP] == 3e-6
    wrong = judged(assembly([BOX], sets, r, [[0.2, -0.1, 0.05]], source=-1))
    assert wrong[UNCONVERGED] == 1.0 and wrong[RESIDUAL] > 0.01


def test_impulses_that_rounding_hides():
    """Huge impulses whose effects cancel: u⁺ looks right, and ε |W| |Λ| is what can be said of it."""
    inf, size = math.inf, 1e16
    coupled = np.array([1.0, -1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    blocks = assembly(
        [BOX], [[0.0, inf, 0.0, inf, 0.0, 0.0]], [[size, size, 0.0]], [[0.0, 0.0, 0.0]],
        b=[[-1.0, -1.0, 0.0]], w=coupled,
    )  # fmt: skip
    record = judged(blocks)
    expected = 2.0**-52 * np.linalg.norm([2 * size, 2 * size]) / math.sqrt(2.0)
    assert record[RESIDUAL] == pytest.approx(expected) and record[UNCONVERGED] == 1.0


def test_rest_to_the_last_bit():
    """A contact of a body that moves, at a relative velocity of its rounding: no error, and no more.

    J v = 0.8 · 1 − 0.4 · 2 is zero, and 1e-16 in floating point: an ε of terms of 0.8 m/s.
    """
    for u, verdict in ((1e-16, 0.0), (-1e-16, 0.0), (-1e-14, 1.0)):
        blocks = assembly([EXACT], [CONE_SET], [[0.0, 0.0, 0.0]], [[u, 0.0, 0.0]])
        two = np.zeros((3, 2, 3))
        blocks = blocks._replace(dof=np.tile([0, 1], (3, 1)), J=two, Z=two)
        blocks.index[0, LENGTH], blocks.J[0, :, 0] = 2, [0.8, -0.4]
        assert judged(blocks, v=np.array([1.0, 2.0]))[UNCONVERGED] == verdict


@pytest.mark.parametrize(
    ("residual", "verdict"), [(0.0, 0.0), (1e-8, 0.0), (1.0000001e-8, 1.0), (NAN, 1.0), (math.inf, 1.0)]
)
def test_the_verdict(residual, verdict):
    record = np.full(COLUMNS, NAN)
    plain(pronounce)(TOLERANCE, residual, record)
    assert record[UNCONVERGED] == verdict
    assert np.isnan(np.delete(record, [RESIDUAL, UNCONVERGED])).all()


def test_residual_of_the_motion():
    """M (v⁺ − v) = h (τ + b − K (q + h v⁺) − D v⁺ − bias) + Jᵀ Λ of one degree of freedom, by hand.

    The largest term is 2.0 N s of momentum; a force wrong by 10⁻³ N over h = 0.1 s is 5e-5 of it.
    """
    h, r0 = 0.1, 0.4
    law = JointLaw(K=np.array([3.0]), D=np.array([0.5]), b=np.array([0.2]), iq=np.array([0]))
    q, new, bias = np.array([0.3]), 1.5, 0.7
    force = 2.0 + 0.2 - 3.0 * (0.3 + h * new) - 0.5 * new - bias
    blocks = assembly([EXACT], [CONE_SET], [[r0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    blocks.index[0, LENGTH], blocks.dof[0, 0], blocks.J[0, 0] = 1, 0, [0.9, 0.0, 0.0]
    dof = np.full((DOF_ROWS, 1), NAN)
    flight = Flight.allocate(b=0, WIDTH=0, nq=0, nv=0, FLIGHT_STATES=0, FLIGHT_ROWS=0)
    ws = Motion.allocate(
        _given={"law": law, "dof": dof, "flight": flight},
        n=1,
        WIDTH=1,
        nv=1,
        depth=1,
        nq=1,
        nr=0,
        MOTOR_WIDTH=1,
        ENTRIES=0,
        m=0,
        nj=1,
        t=0,
        e=0,
        l=0,
        START_WIDTH=0,
        LOOP_START=0,
        FLIGHT_ROWS=0,
        SAID=0,
    )
    for error in (0.0, 1e-3):
        dof[NEW], dof[BIAS], dof[MOMENTUM] = new, bias, 2.0
        dof[GAIN] = h * (force + error) + 0.9 * r0
        record = np.full(COLUMNS, NAN)
        record[MOTION] = 0.0
        judge_motion(law, h, np.array([2.0]), q, blocks, ws, record)
        size = max(abs(h * (force + error) + 0.9 * r0), abs(h * bias), abs(h * force), 0.9 * r0)
        assert record[MOTION] == pytest.approx(h * error / size, abs=4 * 2.0**-52)
    record[MOTION] = 1.0  # forces were left out before
    judge_motion(law, h, np.array([2.0]), q, blocks, ws, record)
    assert record[MOTION] == 1.0
