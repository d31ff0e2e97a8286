"""Interior points for the convex law in the space of the bodies: a start for piles, however conditioned.

What it solves: K* ∋ u ⊥ Λ ∈ K, the law of `taction.contact.laws.relaxed`, whatever the kinds of the blocks
say; for cones with the same friction all round. Redundant contacts and eigenvalues of W of 10⁻⁵ do not
matter: 8 to 20 iterations from nowhere. Exact Coulomb friction with its shift is no convex problem, and
interior points for it stall (benchmark notes); but in a pile at rest but for a few contacts, of which
almost all stick, its solution is near the convex one, and Newton's method finds it from there in five steps
where from the impulses of the step before it goes astray.

Notation: scaled blocks; Λ = t x with t = (1, μ, μ), so that x lies in the cone L = {x : x_N ≥ ‖x_T‖}, and
z = t u ∈ L; x ∘ z = (xᵀz, x_N z_T + z_N x_T), e = (1, 0, 0), J = diag(1, −1, −1).

Method
1. Scaling of Nesterov and Todd, block by block: the symmetric M with M z = M⁻¹ x = λ. With
   w = (x̂ + J ẑ) / (2 γ), x̂ = x / √(xᵀJx) and ẑ likewise, γ² = (1 + x̂ᵀẑ) / 2, and η⁴ = xᵀJx / zᵀJz:
   M = η [w_N, w_Tᵀ; w_T, 1 + w_T w_Tᵀ / (1 + w_N)] and M² = η² (2 w wᵀ − J).
2. Newton's step for A x + c = z, λ ∘ λ = σ g e, with A = t W t, c = t b, g the mean of xᵀz over the blocks,
   and δ = M⁻¹ dx:  δ + M dz = R,  dz = A dx + f,  f = A x + c − z.  In the space of the bodies
       (1 + Σ Ẑ t M² t Ẑᵀ) dy = Σ Ẑ t M (R − M f),   dz = t Ẑᵀ dy + f,   δ = R − M dz,   dx = M δ.
   dz comes from dy and not from W dx, which would lose all digits of a sticking contact's z.
3. Predictor with R = −λ, longest step a; corrector with σ = (1 − a)³ and R = λ⁻¹ ∘ (σ g e − λ ∘ λ − δ ∘ M dz)
   of the predictor, same factor [Mehrotra1992]. After a short step the next one only centres.
4. Step to `FRACTION` of the way to the boundary. The end: the residual of the convex law is small enough, or
   grows, which is rounding. The best point is kept.

Cost: one factorisation of the bodies and two solves per iteration.

References: [AlizadehGoldfarb2003] for cones, directions and scaling; [Mehrotra1992] for predictor and
corrector; [AcaryArmand2024] for interior points on contact problems.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel
from taction.contact.laws.dispatch import apex_of, is_rowwise, project_block
from taction.solvers.body_space import add_block, factor_matrix, push, seen, solve_matrix, start_matrix
from taction.solvers.interior_cone import divide, jordan, to_boundary
from taction.solvers.newton import refresh
from taction.solvers.newton_memory import (
    BLOCKS,
    CENTRE,
    IMPULSE,
    PREVIOUS,
    PREVIOUS_U,
    RESIDUAL,
    RESPONSE,
    STEP,
    TRIAL,
    TRIAL_U,
    VELOCITY,
)

X, Z, DX, DZ = TRIAL, TRIAL_U, STEP, RESPONSE
LAMBDA, DELTA, RIGHT, BEST = RESIDUAL, CENTRE, PREVIOUS_U, PREVIOUS
FRACTION = 0.99  # of the way to the boundary
SHORT = 0.2  # a step below this is followed by one that centres
NEAR = 1e2  # times what is wanted: a residual from which one that grows means rounding


@kernel
def has_round_cones(ws):
    """Whether all blocks are cones with the same friction all round."""
    sets = ws.rows.sets
    for i in range(ws.count[BLOCKS]):
        if is_rowwise(ws.rows.kind[i]) or apex_of(ws.rows.kind[i], sets[i]) > 0.0:
            return False
        if not (sets[i, 0] == sets[i, 1] == sets[i, 2] > 0.0):
            return False
    return True


@inline_kernel
def scaled_by(M, i, v0, v1, v2):
    """M v of block i."""
    return (
        M[i, 0] * v0 + M[i, 1] * v1 + M[i, 2] * v2,
        M[i, 3] * v0 + M[i, 4] * v1 + M[i, 5] * v2,
        M[i, 6] * v0 + M[i, 7] * v1 + M[i, 8] * v2,
    )


@inline_kernel
def root_of_determinant(x0, x1, x2):
    """√(xᵀJx)."""
    t = math.sqrt(x1 * x1 + x2 * x2)
    return math.sqrt((x0 - t) * (x0 + t))


@kernel
def convex_residual(ws):
    """‖Λ − P_K(Λ − u)‖ at the impulses and velocities in ws, in the units of the problem."""
    r, u, s, total = ws.vectors[IMPULSE], ws.vectors[VELOCITY], ws.scale, 0.0
    for i in range(ws.count[BLOCKS]):
        c = 3 * i
        u0, u1, u2 = u[c] / s[c], u[c + 1] / s[c + 1], u[c + 2] / s[c + 2]
        x0, x1, x2 = s[c] * r[c] - u0, s[c + 1] * r[c + 1] - u1, s[c + 2] * r[c + 2] - u2
        y0, y1, y2 = project_block(ws.rows.kind[i], ws.sets[i], x0, x1, x2)
        e0, e1, e2 = u0 + (x0 - y0), u1 + (x1 - y1), u2 + (x2 - y2)
        total += e0 * e0 + e1 * e1 + e2 * e2
    return math.sqrt(total)


@kernel
def start_inside(ws):
    """A first point: x = z = e times the largest entry of c."""
    v, size = ws.vectors, 0.0
    for i in range(ws.count[BLOCKS]):
        mu, b = ws.rows.sets[i, 0], ws.rows.b
        size = max(size, abs(b[3 * i]), mu * abs(b[3 * i + 1]), mu * abs(b[3 * i + 2]))
    for c in range(3 * ws.count[BLOCKS]):
        v[X, c] = v[Z, c] = size if c % 3 == 0 else 0.0


@kernel
def measure(ws):
    """Impulses and velocities at x, and the residual there."""
    v, k = ws.vectors, ws.count[BLOCKS]
    for i in range(k):
        mu = ws.rows.sets[i, 0]
        v[IMPULSE, 3 * i] = v[X, 3 * i]
        v[IMPULSE, 3 * i + 1], v[IMPULSE, 3 * i + 2] = mu * v[X, 3 * i + 1], mu * v[X, 3 * i + 2]
    refresh(0, k, v[IMPULSE], ws, v[VELOCITY])
    return convex_residual(ws)


@kernel
def scale_points(ws):
    """Method 1: M, λ, the matrix of 2 and its factor; returns (mean gap, whether there is a factor)."""
    v, bodies, k, gap = ws.vectors, ws.bodies, ws.count[BLOCKS], 0.0
    M, G, high = bodies.T, bodies.G, bodies.none.shape[0]
    start_matrix(0, high, bodies)
    for i in range(k):
        c, mu = 3 * i, ws.rows.sets[i, 0]
        x0, x1, x2, z0, z1, z2 = v[X, c], v[X, c + 1], v[X, c + 2], v[Z, c], v[Z, c + 1], v[Z, c + 2]
        product = x0 * z0 + x1 * z1 + x2 * z2
        gap += product / k
        p, q = root_of_determinant(x0, x1, x2), root_of_determinant(z0, z1, z2)
        two = math.sqrt(2.0 + 2.0 * product / (p * q))  # 2 γ
        w0, w1, w2 = (x0 / p + z0 / q) / two, (x1 / p - z1 / q) / two, (x2 / p - z2 / q) / two
        square = p / q
        eta, ratio = math.sqrt(square), 1.0 / (1.0 + w0)
        M[i, 0], M[i, 1], M[i, 2] = eta * w0, eta * w1, eta * w2
        M[i, 3], M[i, 4], M[i, 5] = eta * w1, eta * (1.0 + ratio * w1 * w1), eta * ratio * w1 * w2
        M[i, 6], M[i, 7], M[i, 8] = eta * w2, eta * ratio * w1 * w2, eta * (1.0 + ratio * w2 * w2)
        G[i, 0] = square * (2.0 * w0 * w0 - 1.0)
        G[i, 1] = G[i, 3] = square * mu * 2.0 * w0 * w1
        G[i, 2] = G[i, 6] = square * mu * 2.0 * w0 * w2
        G[i, 4] = square * mu * mu * (2.0 * w1 * w1 + 1.0)
        G[i, 5] = G[i, 7] = square * mu * mu * 2.0 * w1 * w2
        G[i, 8] = square * mu * mu * (2.0 * w2 * w2 + 1.0)
        v[LAMBDA, c], v[LAMBDA, c + 1], v[LAMBDA, c + 2] = scaled_by(M, i, z0, z1, z2)
        add_block(i, bodies)
    return gap, factor_matrix(0, high, bodies) == 0


@inline_kernel
def mismatch(i, ws):
    """The mismatch f of block i."""
    u, z, mu, c = ws.vectors[VELOCITY], ws.vectors[Z], ws.rows.sets[i, 0], 3 * i
    return u[c] - z[c], mu * u[c + 1] - z[c + 1], mu * u[c + 2] - z[c + 2]


@kernel
def step_for(ws):
    """Method 2: δ, dx and dz for R; returns the longest step, at most 1e30."""
    v, bodies, k = ws.vectors, ws.bodies, ws.count[BLOCKS]
    M, high, best = bodies.T, bodies.none.shape[0], 1e30
    for c in range(3 * high):
        bodies.y[c] = 0.0
    for i in range(k):
        c, mu = 3 * i, ws.rows.sets[i, 0]
        f0, f1, f2 = mismatch(i, ws)
        s0, s1, s2 = scaled_by(M, i, f0, f1, f2)
        p0, p1, p2 = scaled_by(M, i, v[RIGHT, c] - s0, v[RIGHT, c + 1] - s1, v[RIGHT, c + 2] - s2)
        push(i, p0, mu * p1, mu * p2, bodies)
    solve_matrix(0, high, bodies)
    for i in range(k):
        c, mu = 3 * i, ws.rows.sets[i, 0]
        f0, f1, f2 = mismatch(i, ws)
        u0, u1, u2 = seen(i, bodies)
        z0, z1, z2 = u0 + f0, mu * u1 + f1, mu * u2 + f2
        s0, s1, s2 = scaled_by(M, i, z0, z1, z2)
        d0, d1, d2 = v[RIGHT, c] - s0, v[RIGHT, c + 1] - s1, v[RIGHT, c + 2] - s2
        x0, x1, x2 = scaled_by(M, i, d0, d1, d2)
        v[DZ, c], v[DZ, c + 1], v[DZ, c + 2] = z0, z1, z2
        v[DELTA, c], v[DELTA, c + 1], v[DELTA, c + 2] = d0, d1, d2
        v[DX, c], v[DX, c + 1], v[DX, c + 2] = x0, x1, x2
        best = min(best, to_boundary(v[X, c], v[X, c + 1], v[X, c + 2], x0, x1, x2))
        best = min(best, to_boundary(v[Z, c], v[Z, c + 1], v[Z, c + 2], z0, z1, z2))
    return best


@kernel
def correct(target, is_central, ws):
    """Method 3: R for a mean gap ``target``, with the second-order term of the step there if not central."""
    v, M = ws.vectors, ws.bodies.T
    for i in range(ws.count[BLOCKS]):
        c = 3 * i
        l0, l1, l2 = v[LAMBDA, c], v[LAMBDA, c + 1], v[LAMBDA, c + 2]
        t0, t1, t2 = jordan(l0, l1, l2, l0, l1, l2)
        if not is_central:
            s0, s1, s2 = scaled_by(M, i, v[DZ, c], v[DZ, c + 1], v[DZ, c + 2])
            a0, a1, a2 = jordan(v[DELTA, c], v[DELTA, c + 1], v[DELTA, c + 2], s0, s1, s2)
            t0, t1, t2 = t0 + a0, t1 + a1, t2 + a2
        v[RIGHT, c], v[RIGHT, c + 1], v[RIGHT, c + 2] = divide(l0, l1, l2, target - t0, -t1, -t2)


@kernel
def interior_start(enough, limit, ws):
    """Impulses of the convex law for what is loaded in the space of the bodies, into IMPULSE of ws.

    enough: residual at which it ends; limit: of iterations. Returns (iterations, residual).
    """
    v, n = ws.vectors, 3 * ws.count[BLOCKS]
    start_inside(ws)
    least, steps, is_short = math.inf, 0, False
    while True:
        error = measure(ws)
        if not error < least and (least <= NEAR * enough or not error < math.inf):
            break
        if error < least:
            least = error
            for c in range(n):
                v[BEST, c] = v[IMPULSE, c]
        if error <= enough or steps == limit:
            break
        gap, has_factor = scale_points(ws)
        if not has_factor:
            break
        for c in range(n):
            v[RIGHT, c] = -v[LAMBDA, c]
        a = min(1.0, step_for(ws))
        correct(gap if is_short else gap * (1.0 - a) ** 3, is_short, ws)
        a = min(1.0, FRACTION * step_for(ws))
        is_short = a < SHORT
        for c in range(n):
            v[X, c] += a * v[DX, c]
            v[Z, c] += a * v[DZ, c]
        steps += 1
    for c in range(n):
        v[IMPULSE, c] = v[BEST, c]
    return steps, least
