"""How far a point is outside a friction cone, from the definition of the cone: the judge's own geometry.

What it solves: for x = (x_N, x_1, x_2) and the friction cone
    K = {(n, t) : n ≥ 0, t ∈ n D},   D = {t : (t_1/a)² + (t_2/l)² ≤ 1},   a = μ₊ where t_1 ≥ 0, else μ₋,
the vector x − P_K(x) from the nearest point of K to x, and σ(w), the largest w·t over t ∈ D.

The judges (`taction.contact.certificate`, `taction.steppers.judge`) use nothing else, and the solvers
nothing of this: a projection that is wrong in `taction.contact.friction_cone`, where it is the root of a
secular equation in a multiplier, does not go unnoticed by an answer that is wrong in the same way.

Method
1. By symmetry x is moved to x_1, x_2 ≥ 0; its nearest point has the same signs, and of the two half-ellipses
   that one counts on whose side x lies.
2. *Wedge*: for a disc the problem is one of the plane through the axis and x, with a wedge of slope μ; so
   it is where an axis of the section vanishes, with the other coordinate outside altogether. In the
   plane: inside, if t ≤ μ n; nearest to the apex, if x·d ≤ 0 for the edge d = (1, μ); otherwise x − P =
   (t − μn)/(1 + μ²) (−μ, 1), the part of x along the normal of that edge.
3. *Ellipse*: x outside K, and not nearest to the apex, is nearest to some ray d(φ) = (1, a cos φ, l sin
   φ) of the rim, 0 ≤ φ ≤ π/2: the one that makes the least angle with it. The cosine x·d/‖d‖ rises where
       G = (x·d′) ‖d‖² − (x·d) (d·d′)
   is positive. G ≥ 0 at φ = 0 and ≤ 0 at π/2, and vanishes once in between, because a point outside a
   convex set has one nearest point. The bracket is closed by interpolation, with halving in every third
   step. Rays are kept as unit vectors (cos φ, sin φ); no angle is computed.

Accuracy: some ε ‖x‖. Cost: a few ten flops for a disc, some ten evaluations of G otherwise.

References: [Moreau1962] for x = P_K(x) + P_K°(x); [DeSaxceFeng1998] for σ.
"""

from __future__ import annotations

import math

from taction._core.jit import inline_kernel, kernel

RAY_STEPS = 150  # halvings alone, one step in three, would give 50 bits
SAME_RAY = 2.0**-52  # rays whose unit vectors differ by less are one


@inline_kernel
def section_reach(plus, minus, lateral, w1, w2):
    """σ(w): the largest w·t over the section with semi-axes (plus | minus, lateral)."""
    y1, y2 = (plus if w1 >= 0.0 else minus) * w1, lateral * w2
    return math.sqrt(y1 * y1 + y2 * y2)


@inline_kernel
def outside_wedge(slope, n, t):
    """Difference x − P(x) of (n, t), t ≥ 0, for the plane wedge |t| ≤ slope n: step 2."""
    if n >= 0.0 and t <= slope * n:
        return 0.0, 0.0
    if n + slope * t <= 0.0:
        return n, t
    beyond = (t - slope * n) / (1.0 + slope * slope)
    return -slope * beyond, beyond


@inline_kernel
def turn(a, l, n, x1, x2, c1, c2):
    """G of step 3 at the ray (1, a c1, l c2): positive where the nearest ray lies further on."""
    along = n + a * c1 * x1 + l * c2 * x2
    across = l * c1 * x2 - a * c2 * x1
    return across * (1.0 + a * a * c1 * c1 + l * l * c2 * c2) - along * (l * l - a * a) * c1 * c2


@kernel
def nearest_ray(a, l, n, x1, x2):
    """(cos φ, sin φ) of the ray of the rim nearest to (n, x1, x2), x1, x2 ≥ 0, a, l > 0: step 3."""
    p1, p2, q1, q2 = 1.0, 0.0, 0.0, 1.0  # the ends of the bracket
    g, h = turn(a, l, n, x1, x2, p1, p2), turn(a, l, n, x1, x2, q1, q2)
    if g <= 0.0:
        return p1, p2
    if h >= 0.0:
        return q1, q2
    c1, c2, last = p1, p2, 0
    for k in range(RAY_STEPS):
        b1, b2 = c1, c2
        u, v = (-h, g) if k % 3 < 2 else (1.0, 1.0)
        c1, c2 = u * p1 + v * q1, u * p2 + v * q2
        size = math.hypot(c1, c2)
        c1, c2 = c1 / size, c2 / size
        if abs(c1 - b1) + abs(c2 - b2) <= SAME_RAY:
            break
        value = turn(a, l, n, x1, x2, c1, c2)
        if value == 0.0:
            break
        if value > 0.0:
            p1, p2, g = c1, c2, value
            h = 0.5 * h if last > 0 else h  # the other end has stayed too long
            last = 1
        else:
            q1, q2, h = c1, c2, value
            g = 0.5 * g if last < 0 else g
            last = -1
    return c1, c2


@kernel
def outside_elliptic_cone(a, lateral, n, x1, x2):
    """Difference x − P_K(x) for a section with semi-axes a ≠ lateral on the side of x1."""
    t1, t2 = abs(x1), abs(x2)
    if lateral == 0.0:
        e0, e = outside_wedge(a, n, t1)
        return e0, math.copysign(e, x1), x2
    if a == 0.0:
        e0, e = outside_wedge(lateral, n, t2)
        return e0, x1, math.copysign(e, x2)
    if n >= 0.0 and math.hypot(t1 / a, t2 / lateral) <= n:
        return 0.0, 0.0, 0.0
    if n + math.hypot(a * t1, lateral * t2) <= 0.0:
        return n, x1, x2
    c1, c2 = nearest_ray(a, lateral, n, t1, t2)
    d1, d2 = a * c1, lateral * c2
    s = (n + d1 * t1 + d2 * t2) / (1.0 + d1 * d1 + d2 * d2)
    return n - s, x1 - math.copysign(s * d1, x1), x2 - math.copysign(s * d2, x2)


@inline_kernel
def outside_cone(plus, minus, lateral, n, x1, x2):
    """Difference x − P_K(x) of x = (n, x1, x2) for the cone with semi-axes (plus | minus, lateral)."""
    a = plus if x1 >= 0.0 else minus
    if a == lateral:
        t = math.sqrt(x1 * x1 + x2 * x2)
        e0, e = outside_wedge(a, n, t)
        s = e / t if e > 0.0 else 0.0
        return e0, s * x1, s * x2
    return outside_elliptic_cone(a, lateral, n, x1, x2)


@inline_kernel
def outside_interval(low, high, x):
    """The difference x − P(x) for the interval [low, high]."""
    if x < low:
        return x - low
    return x - high if x > high else 0.0


@kernel
def outside_section(plus, minus, lateral, radius, x1, x2):
    """Difference x − P(x) of (x1, x2) for the section with semi-axes (plus | minus, lateral) times radius.

    On an ellipse the nearest point (a c, l s), with c² + s² = 1, is where x − p is along the normal, that is
    where it has no part along (−a s, l c): that part falls from one end of the quarter to the other.
    """
    a, l = (plus if x1 >= 0.0 else minus) * radius, lateral * radius
    t1, t2 = abs(x1), abs(x2)
    if a == l:
        t = math.hypot(t1, t2)
        beyond = 1.0 - a / t if t > a else 0.0
        return beyond * x1, beyond * x2
    if a == 0.0 or l == 0.0:
        return math.copysign(max(t1 - a, 0.0), x1), math.copysign(max(t2 - l, 0.0), x2)
    if math.hypot(t1 / a, t2 / l) <= 1.0:
        return 0.0, 0.0
    p1, p2, q1, q2, c1, c2 = 1.0, 0.0, 0.0, 1.0, 1.0, 0.0
    for _ in range(RAY_STEPS):
        b1, b2 = c1, c2
        c1, c2 = p1 + q1, p2 + q2
        size = math.hypot(c1, c2)
        c1, c2 = c1 / size, c2 / size
        if l * c1 * (t2 - l * c2) - a * c2 * (t1 - a * c1) > 0.0:
            p1, p2 = c1, c2
        else:
            q1, q2 = c1, c2
        if abs(c1 - b1) + abs(c2 - b2) <= SAME_RAY:
            break
    return math.copysign(t1 - a * c1, x1), math.copysign(t2 - l * c2, x2)
