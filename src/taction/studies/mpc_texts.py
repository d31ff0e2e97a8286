"""What the page on predictive control says in words: the document, its equations as read here, what came out.

Sentences of the last part are made from the figures of the page, so that they cannot say anything else.

References: [CorrectionsNote].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taction.report.page import escape, table
from taction.studies.quadruped_figures import paragraph

EQUATIONS = (
    ("model, (1) to (3)", "M(q) v̇ = n(q) c_n − ∇V(q) + k(q, v) + u,  q̇ = v,  0 ≤ c_n ⊥ f(q) ≥ 0",
     "(3) is printed with f(q) ≤ 0"),
    ("on positions, (4) to (7)",
     "M (v⁺ − v) = n c + δt (k − ∇V + u),  q⁺ = q + δt v⁺,  0 ≤ c ⊥ J q⁺ − α₀ ≥ 0",
     "c is an impulse here, a force in (1); + C(q, q̇) q̇ is k(q, v)"),
    ("on velocities, (8) to (10)",
     "the same with 0 ≤ c ⊥ J v⁺ ≥ 0, where the free motion closes the gap, else c = 0",
     "“f(q⁺) < 0”: ≤ 0, of the free motion; with < a closed contact would be let go"),
    ("(11) multiplied out", "A = [1, δt; 0, 1],  B = [δt² M⁻¹; δt M⁻¹],  C = [δt M⁻¹ Jᵀ; M⁻¹ Jᵀ]",
     "the position row receives δt times the velocity row"),
    ("example", "f = [d_max − o₁ − q₁ − q₂;  q₁ − q₃ − d_min − o₂]", "the last displays set o₁ = o₂ = 1"),
    ("binaries", "0 ≤ c ≤ M z,  0 ≤ J q⁺ + … ≤ M (1 − z)",
     "M is the mass matrix and the big number; each pair has its own here"),
)  # fmt: skip


def document_text() -> str:
    """What the document says, and how it is read here."""
    says = paragraph(
        "The document asks for predictive control through contact: a quadratic cost of states and inputs "
        "over N steps, the motion with its contacts as constraints, states and inputs in polytopes. It "
        "has two ways to make steps of the contact law, prefers the one on positions, and would switch "
        "contacts by binaries. Its example is a puck between two pushers. It prints no numbers and no "
        "results."
    )
    ours = paragraph(
        "Here both ways are made from any world automatically, from the assembly of the simulator's own "
        "step. Friction, stops and loops of joints are in, the two pushers are one case."
    )
    head = ["where", "as used here", "misprint or choice"]
    return says + ours + table(head, [[escape(cell) for cell in row] for row in EQUATIONS], ())


def discussion(f: Mapping[str, Any]) -> str:
    """What was found, from the figures."""
    worst = max(abs(f[f"plans_{end}_{key}"]) for key in ("daqp", "scip") for end in ("excess", "least"))
    agree = f"differ from those of enumeration by at most {worst:.0e} of them"
    if worst < 1e-15:
        agree = "are those of enumeration to the last digit"
    cut = "stays below its time limit"
    if f["loop_daqp_cut"]:
        cut = (
            f"reaches its time limit in {100.0 * f['loop_daqp_cut']:.0f} % of the plans, first at "
            f"{f['loop_daqp_cut_from']:.2f} s, {f['loop_daqp_cut_at']:.2f} m from the target: that no plan "
            "is better is not proved in time, and the plan at hand is used"
        )
    spread = (
        "are the same" if f["loop_exact_spread"] == 0.0 else f"differ by {f['loop_exact_spread']:.0e} of them"
    )
    sentences = [
        f"The system made from the world is the document's, on both levels: matrices differ by at most "
        f"{f['matrices_difference']:.0e}.",
        f"Over all starts and horizons costs of branch and bound {agree}, with both solvers. The direct "
        f"method is at most {100.0 * f['plans_excess_direct']:.1g} % above the best plan. Without a plan "
        f"nearby admm is at most {100.0 * f['plans_excess_admm']:.0f} % above it; of its "
        f"{f['plans_dear_admm']} plans that are more than 0.1 % above, {f['plans_apart_admm']} never touch.",
        f"Plans on positions are what the simulator does, to {f['realised_position']:.0e}.",
    ]
    if f["realised_edge"] > 1e-9:
        sentences.append(
            f"On velocities {f['edge_plans']} of {f['velocity_plans']} best plans have a step whose free "
            "gap is zero to rounding: they use the switch up to its edge, where rounding decides whether "
            f"the contact acts. One of these differs from the simulator by {f['realised_edge']:.1g} m or "
            f"m/s, the plans off the edge by {f['realised_velocity']:.0e}. Plans on positions have no such "
            "edge."
        )
    else:
        sentences.append(f"Plans on velocities likewise, to {f['realised_velocity']:.0e}.")
    sentences += [
        f"In the loop admm needs {f['loop_admm_median']:.1f} ms per plan (median; 99 of 100: "
        f"{f['loop_admm_p99']:.0f} ms). Branch and bound with DAQP over 10 steps {cut}. The puck comes to "
        f"within {f['loop_daqp_error']:.0e} m.",
        f"Costs of the motions in the loop, standard start: admm {f['loop_admm_objective']:.4g}, miqp "
        f"{f['loop_daqp_objective']:.4g}, direct {f['loop_direct_objective']:.4g}. The puck sets out after "
        f"{f['loop_admm_moves']:.2f} s, {f['loop_daqp_moves']:.2f} s and {f['loop_direct_moves']:.2f} s.",
        f"Over 3 steps enumeration and branch and bound with both solvers lead to costs that {spread}. "
        f"Times per plan (median): {f['loop_enumeration_3_median']:.0f} ms, {f['loop_daqp_3_median']:.0f} "
        f"ms (DAQP) and {f['loop_scip_3_median']:.0f} ms (SCIP).",
        f"From {f['random_starts']} random starts admm brings the puck to within {f['random_worst']:.1e} m "
        "of its target.",
    ]
    return "".join(paragraph(sentence) for sentence in [*sentences, cart_pole_sentence(f)])


def cart_pole_sentence(f: Mapping[str, Any]) -> str:
    """Which pushes the cart-pole takes."""
    parts = []
    for key, name in (
        ("mpc_walls", "predictive control with walls"),
        ("lqr_walls", "the regulator with walls"),
        ("mpc_free", "predictive control without walls"),
        ("lqr_free", "the regulator without walls"),
    ):
        taken = ", ".join(f"{push:g}" for push in f[f"cartpole_{key}_taken"])
        parts.append(f"{name} takes " + (f"pushes of {taken} rad/s" if taken else "none"))
    tried = ", ".join(f"{push:g}" for push in f["cartpole_pushes"])
    return f"Cart-pole, of pushes of {tried} rad/s: {'; '.join(parts)}."
