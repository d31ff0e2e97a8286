"""Thousands of random impacts under both laws of restitution, against what impacts must obey.

    python tools/impacts.py [--count 10000] [--only ball rod balls body scenes] [--seed 0]

For each kind: how many end with more energy than before, and than without friction; what is left approaching;
momentum; a ball against its closed form, a rod against Routh's construction.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import routh
import taction as ta
from struck import MASS, RADIUS, TIP, balls, cluster, cluster_velocity, on_points, random_arms, strike

LAWS = ("poisson", "newton")
MORE = 1e-9  # energy, relative to that before, that counts as more


def ball(count: int, rng: np.random.Generator, law: str) -> str:
    """A ball on the ground, against its closed form."""
    worst = 0.0
    for _ in range(count):
        e, mu = rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        v = np.concatenate([rng.normal(size=2), [-rng.uniform(0.1, 3.0)], 40.0 * rng.normal(size=3)])
        material = ta.Material(mu, e)
        body = ta.free_body("b", ta.Sphere(RADIUS), mass=MASS, position=(0.0, 0.0, RADIUS), material=material)
        world = ta.World(body, ground=ta.Plane(friction=mu), gravity=(0.0, 0.0, 0.0))
        u = v[:2] + RADIUS * np.array([-v[4], v[3]])
        most, need = mu * (1.0 + e) * -v[2], 2.0 / 7.0 * np.linalg.norm(u)
        dv = -u / np.linalg.norm(u) * min(most, need)
        must = np.concatenate([v[:2] + dv, [-e * v[2]], v[3:]])
        must[3:5] += 2.5 / RADIUS * np.array([dv[1], -dv[0]])
        error = (strike(world, v, restitution_law=law).v - must) * [1, 1, 1, RADIUS, RADIUS, RADIUS]
        worst = max(worst, float(np.abs(error).max()))
    return f"largest difference from the closed form {worst:.1e} m/s"


def rod(count: int, rng: np.random.Generator, law: str) -> str:
    """A rod that strikes with one end, in a plane, against Routh's construction with Poisson's law."""
    apart: dict[str, list[float]] = {"slip goes on or stops": [], "slip turns round": []}
    above = [0, 0]
    for _ in range(count):
        angle, e, mu = rng.uniform(0.0, np.pi), rng.uniform(0.0, 1.0), rng.uniform(0.0, 1.5)
        arm = np.array([np.cos(angle), 0.0, -abs(np.sin(angle)) - TIP])
        moment = rng.uniform(0.05, 1.0) / 3.0
        v = np.array([2.0 * rng.normal(), 0.0, -rng.uniform(0.1, 2.0), 0.0, 0.0, 0.0])
        low = arm - [0.0, 0.0, TIP]
        W = np.array([[1 + low[0] ** 2 / moment, -low[0] * low[2] / moment], [0.0, 1 + low[2] ** 2 / moment]])
        W[1, 0] = W[0, 1]
        L, turned = routh.follow(W, np.array([v[2], v[0]]), mu, e)
        must = v + np.array([L[1], 0, L[0], 0, (low[2] * L[1] - low[0] * L[0]) / moment, 0])
        world = on_points(arm[None], np.array([moment, moment, moment]), mu, e)
        out = strike(world, v, restitution_law=law)
        which = "slip turns round" if sum(turned) else "slip goes on or stops"
        apart[which].append(float(np.abs(out.v - must)[[0, 2]].max()))
        free = strike(on_points(arm[None], np.full(3, moment), 0.0, e), v, restitution_law=law).after
        above[0] += out.after > out.before * (1 + MORE)
        above[1] += out.after > free + MORE * out.before
    told = [
        f"{which} ({len(x)}): {sum(y > 1e-6 for y in x)} off by more than 1e-6, largest {max(x):.1e} m/s"
        for which, x in apart.items() if x
    ]  # fmt: skip
    return f"more than before {above[0]}, than without friction {above[1]}; against Routh: {'; '.join(told)}"


def tally(cases, law: str) -> str:
    """What random impacts did; cases: (a world by its friction, velocities, whether nothing is fixed)."""
    more = above = held = unsolved = total = 0
    approach = momentum = residual = rise = 0.0
    for world, v, mu, is_free in cases:
        out = strike(world(mu), v, is_free=is_free, restitution_law=law)
        smooth = strike(world(0.0), v, is_free=is_free, restitution_law=law)
        more += out.after > out.before * (1 + MORE)
        above += out.after > smooth.after + MORE * out.before
        rise = max(rise, (out.after - smooth.after) / out.before)
        c, total = out.certificate, total + 1
        approach, momentum = max(approach, c.approach), max(momentum, out.momentum)
        held, unsolved = held + c.steps_held_back, unsolved + c.unconverged_steps
        residual = max(residual, c.residual)
    return (
        f"{total}: more than before {more}, than without friction {above} (worst {rise:+.1e} of the "
        f"energy); held back {held}, unsolved {unsolved}, residual {residual:.1e}, approach left "
        f"{approach:.1e} m/s, momentum {momentum:.1e}"
    )


def touching(count: int, rng: np.random.Generator, law: str) -> str:
    """Two to six balls that touch, moving and turning at random."""

    def cases():
        for _ in range(count):
            places = cluster(rng)
            e, mu = rng.choice([rng.uniform(), 0.95, 1.0]), rng.uniform(0.0, 1.5)
            v = cluster_velocity(len(places), rng)
            yield lambda mu, places=places, e=e: balls(places, mu, e), v, mu, True

    return tally(cases(), law)


def body(count: int, rng: np.random.Generator, law: str) -> str:
    """One body on 1 to 4 points, moving down at random."""

    def cases():
        for _ in range(count):
            arms = random_arms(rng.integers(1, 5), rng)
            moments = 0.1 * np.exp(rng.normal(size=3))
            moments = np.maximum(moments, 0.5 * moments.max() + 1e-3)  # of a possible body
            e, mu = rng.uniform(), rng.uniform(0.0, 1.5)
            v = np.concatenate([2.0 * rng.normal(size=3) - [0, 0, 2.0], 2.0 * rng.normal(size=3)])
            yield lambda mu, a=arms, m=moments, e=e: on_points(a, m, mu, e), v, mu, False

    return tally(cases(), law)


def scenes(count: int, rng: np.random.Generator, law: str) -> str:
    """One ball onto two that touch, then breaks of 15 balls."""
    d, out = 2.0 * RADIUS, []
    places = np.array([[0, 0, 0], [d * np.sqrt(3) / 2, d / 2, 0], [d * np.sqrt(3) / 2, -d / 2, 0]])
    v = np.zeros(18)
    v[0] = 8.0
    for mu in (0.0, 0.06, 0.2, 0.5):
        s = strike(balls(places, mu, 0.95), v, is_free=True, restitution_law=law)
        out.append(f"μ {mu:g}: {s.before:.3f} -> {s.after:.4f} J, made {s.certificate.made:.4f} J")
    rack = [(r * d * np.sqrt(3) / 2, (c - r / 2) * d, 0) for r in range(5) for c in range(r + 1)]
    for mu in (0.0, 0.06, 0.2):
        places = np.array([(-d, 0.0, 0.0), *rack])
        v = np.zeros(6 * len(places))
        v[0], v[5] = 8.0, 20.0
        s = strike(balls(places, mu, 0.95), v, is_free=True, restitution_law=law)
        out.append(f"break, μ {mu:g}: {s.before:.3f} -> {s.after:.4f} J, momentum {s.momentum:.1e}")
    return "; ".join(out)


KINDS = {"scenes": scenes, "ball": ball, "rod": rod, "balls": touching, "body": body}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--laws", nargs="*", choices=LAWS, default=list(LAWS))
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    for kind in chosen.only:
        for law in chosen.laws:
            begun = time.perf_counter()
            told = KINDS[kind](chosen.count, np.random.default_rng(chosen.seed), law)
            print(f"{kind}, {law}: {told} [{time.perf_counter() - begun:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
