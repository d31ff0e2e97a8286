"""The certificate of one step, from what the step ends with: velocities, impulses, Jacobians, mass matrix.

The judge takes the contact velocities from the new joint velocities, u⁺ = J v⁺, not from W and b, which
the solver saw, and so also judges the assembly and the solves with the mass matrix. Of W it only asks
what rounding can hide: ε (|W| |Λ| + |b|). Where that exceeds the tolerance the impulses are too large to
prove anything, and it is the residual, unless it is a small share of |b| and the residual is no larger: such
a step is *at rounding*, as good as numbers allow (masses of very different size on each other). A step
counts as unconverged if its residual exceeds the tolerance and it is not at rounding, whoever solved it and
whatever the solver believed: `pronounce` is the only place that says so.
With o the offsets and scales |b| of velocity and |Λ| of impulse (Euclidean, over all rows):

* residual      natural map ‖Λ − P(Λ − u − o − σ e_N)‖ over all blocks, relative to |b|; where bodies rest
                against each other to the last bit, |b| and the error are both rounding of J v⁺, or of
                what gravity gives in a step, and the scale is what makes an error of that size the
                tolerance;
* Signorini     the worst of −u_N / |b|, −Λ_N / |Λ| and |u_N Λ_N| / (|b| |Λ|);
* cone          distance of Λ from its set, relative to |Λ|;
* dissipation   Λ_N σ(−u_T) + Λ_T·u_T, relative to |b| |Λ|;
* motion        M (v⁺ − v) − h f − Jᵀ Λ, largest entry relative to the largest of the three terms, or to a
                millionth of the momentum M v where they nearly vanish.

How wrong a block is its law says (`judged` in `taction.contact.laws`), by `taction.contact.cone_distance`
and not by the projections of the solvers.

References: [AcaryBremondHuber2018] for the natural map; [DeSaxceFeng1998] for σ.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.assembly import (
    COMPLIANCE,
    GAP,
    LENGTH,
    OFFSET,
    SIZE,
    SOURCE,
    TURNING,
    VELOCITY,
    problem_rows,
)
from taction.contact.blocks import EPSILON, NOISE, is_at_rounding, is_rounding_above, rounding
from taction.contact.laws.dispatch import judge_block
from taction.steppers.columns import (
    AT_ROUNDING,
    CONE,
    CONTACTS,
    DISSIPATION,
    GAP_SHARE,
    JOINT_GAP,
    MOTION,
    PENETRATION,
    RESIDUAL,
    SIGNORINI,
    UNCONVERGED,
    WORST_A,
    WORST_B,
)
from taction.steppers.scene import BIAS, GAIN, MOMENTUM, NEW, TIE

TINY = 1e-150  # products of two of them are not zero
SMALL_MOMENTUM = 1e-6


@inline_kernel
def norm(x, n):
    """Euclidean norm of the first n entries; 1 where they vanish."""
    total = 0.0
    for c in range(n):
        total += x[c] * x[c]
    return math.sqrt(total) if total > TINY * TINY else 1.0


@inline_kernel
def keep_worst(rows, k, r, u0, u1, u2, velocity, impulse, record_io):
    """Keep the worst of block k in record_io; returns its squared natural map."""
    error, outside, is_unilateral, load, left = judge_block(
        rows.kind[k], rows.sets[k], r[3 * k], r[3 * k + 1], r[3 * k + 2], u0, u1, u2
    )
    record_io[CONE] = max(record_io[CONE], outside / impulse)
    if is_unilateral:
        wrong = max(-u0 / velocity, -load / impulse, abs(u0 * load) / (velocity * impulse))
        record_io[SIGNORINI] = max(record_io[SIGNORINI], wrong)
    record_io[DISSIPATION] = max(record_io[DISSIPATION], abs(left) / (velocity * impulse))
    return error


@inline_kernel
def pronounce(tolerance, residual, record_out):
    """The verdict on a step: its residual, and whether that is above the tolerance, and above rounding."""
    record_out[RESIDUAL] = residual
    record_out[UNCONVERGED] = 0.0 if residual <= tolerance or record_out[AT_ROUNDING] > 0.0 else 1.0


@inline_kernel
def fall(tree, h):
    """Speed that gravity gives in a time h [m/s]."""
    g = tree.gravity
    return h * math.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


@kernel
def rest(assembly, v, speed):
    """ε ‖|J| (|v| + speed)‖ [m/s]: relative velocities below this are rounding of the velocities v (nv,).

    speed: what each body had before impulses stopped it [m/s]; bodies at rest have the rounding of that.
    """
    total = 3.0 * assembly.count[0] * speed * speed
    for k in range(assembly.count[0]):
        for c in range(3):
            size = 0.0
            for n in range(assembly.index[k, LENGTH]):
                size += abs(assembly.J[k, n, c] * v[assembly.dof[k, n]])
            total += size * size
    return EPSILON * math.sqrt(total)


@kernel
def judge_contacts(tolerance, speed, shape, v, assembly, record_out):
    """Contact residuals of impulses and of u⁺ = J v (nv,) into record_out (COLUMNS,); speed: see `rest`."""
    n, number, rows, r = assembly.count[0], assembly.number, assembly.rows, assembly.r
    for c in (RESIDUAL, SIGNORINI, CONE, DISSIPATION, PENETRATION, JOINT_GAP):
        record_out[c] = 0.0
    record_out[WORST_A] = record_out[WORST_B] = -1.0
    record_out[CONTACTS] = record_out[GAP_SHARE] = 0.0
    velocity, impulse = norm(rows.b, 3 * n), norm(r, 3 * n)
    total, worst = 0.0, -1.0
    for k in range(n):
        u0 = number[k, VELOCITY] + number[k, OFFSET] + number[k, COMPLIANCE] * r[3 * k]
        u1 = number[k, VELOCITY + 1] + number[k, OFFSET + 1] + number[k, COMPLIANCE + 1] * r[3 * k + 1]
        u2 = number[k, VELOCITY + 2] + number[k, OFFSET + 2] + number[k, COMPLIANCE + 2] * r[3 * k + 2]
        error = keep_worst(rows, k, r, u0, u1, u2, velocity, impulse, record_out)
        total += error
        source = assembly.index[k, SOURCE]
        if error > worst:
            worst = error
            record_out[WORST_A] = float(shape[source, 0]) if source >= 0 else -1.0
            record_out[WORST_B] = float(shape[source, 1]) if source >= 0 else -1.0
        if source >= 0:
            record_out[CONTACTS] += 1.0
            record_out[PENETRATION] = max(record_out[PENETRATION], -number[k, GAP])
            continue
        for c in range(3):
            low, high = rows.sets[k, 2 * c], rows.sets[k, 2 * c + 1]
            is_void = source == -1 and low == high == 0.0  # a row of a loop along which no joint moves
            # joints between bodies are closed at the end of the step, and looked at there
            is_equation = source != TIE and low == -math.inf and number[k, COMPLIANCE + c] == 0.0
            if is_void or is_equation:
                record_out[JOINT_GAP] = max(record_out[JOINT_GAP], abs(number[k, GAP + c]))
            if is_equation and number[k, SIZE] > 0.0:
                size = 1.0 if assembly.index[k, TURNING + c] == 1 else number[k, SIZE]
                record_out[GAP_SHARE] = max(record_out[GAP_SHARE], abs(number[k, GAP + c]) / size)
    problem, error = problem_rows(assembly), math.sqrt(total)
    size = (
        max(velocity, NOISE * rest(assembly, v, speed) / tolerance)
        if error > tolerance * velocity
        else velocity
    )
    residual = error / size
    record_out[AT_ROUNDING] = 0.0
    if is_rounding_above(problem, r, tolerance * size):
        if is_at_rounding(problem, r, error, size):
            record_out[AT_ROUNDING] = 1.0
        else:
            residual = max(residual, rounding(problem, r) / size)
    pronounce(tolerance, residual, record_out)


@kernel
def judge_motion(law, h, tau, q, assembly, ws, record_out):
    """Residual of the equation of motion into record_out, if it is worse than what is there.

    Row GAIN of ws.dof = M (v⁺ − v) is used up.
    """
    new, gain, bias, momentum = ws.dof[NEW], ws.dof[GAIN], ws.dof[BIAS], ws.dof[MOMENTUM]
    size = TINY
    for d in range(tau.shape[0]):
        size = max(size, SMALL_MOMENTUM * abs(momentum[d]))
        at = q[law.iq[d]] + h * new[d] if law.iq[d] >= 0 else 0.0
        force = tau[d] + law.b[d] - law.K[d] * at - law.D[d] * new[d] - bias[d]
        size = max(size, abs(gain[d]), abs(h * bias[d]), abs(h * force))
        gain[d] -= h * force
    for k in range(assembly.count[0]):
        r0, r1, r2 = assembly.r[3 * k], assembly.r[3 * k + 1], assembly.r[3 * k + 2]
        for n in range(assembly.index[k, LENGTH]):
            J = assembly.J[k, n]
            f = J[0] * r0 + J[1] * r1 + J[2] * r2
            size = max(size, abs(f))
            gain[assembly.dof[k, n]] -= f
    worst = 0.0
    for d in range(tau.shape[0]):
        worst = max(worst, abs(gain[d]))
    record_out[MOTION] = max(record_out[MOTION], worst / size)
