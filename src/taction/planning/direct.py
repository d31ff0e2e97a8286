"""Direct transcription: all states, inputs and contact variables are unknowns of one nonlinear program.

What it solves: a `PlanningProblem` on the equations of the world itself, not on a linearisation,

    min  Σ_{k<N} |x_k − x̄_k|²_Q + |u_k − ū_k|²_R + |x_N − x̄_N|²_{Q_N}
    with r(x_k, u_k, z_k, y_k, x_{k+1}) = 0,   s_k = η(x_k, u_k, z_k, x_{k+1}),   X and U,               (1)
         0 ≤ z_k,   0 ≤ s_k,   z_k ∘ s_k ≤ ε,

with r and η of `taction.planning.symbolic_world`; for a `ContactSystem` that was written down r and η are its
own equations, and y is none. Where it has a guard, free gaps are φ = p − n with 0 ≤ n ⊥ p ≥ 0, and for each λ
of such a contact 0 ≤ λ ⊥ p ≥ 0, 0 ≤ λ ⊥ η + ω ≥ 0 and 0 ≤ ω ⊥ n + λ ≥ 0 replace 0 ≤ λ ⊥ η ≥ 0: where the
free motion stays apart η counts for nothing. Plans then have n and ω behind the λ, p and n + λ behind the η.

Notation: z contact variables, s slacks, y what else a step has as unknowns; w all unknowns; ε [J] how much a
contact may push at a distance.

Method
1. The program is written once, x₀, x̄, ū and ε being parameters; IPOPT has exact derivatives of it.
2. Continuation: ε falls by `STAGES`, each stage starts from the one before. While ε is large, contacts push
   from afar; so plans find contacts that are not there in the beginning.
3. Modes fixed: of each pair the smaller is set to zero, and the program without the products is solved to
   rounding. That is a regular program, whose answer obeys the complementarity exactly.
4. What is returned is judged by (1) with ε = 0, not by what IPOPT says.

Outcomes: a plan that obeys everything is FEASIBLE, and the best nearby of its modes if step 3 converged.
IPOPT cannot prove that there is none: then FAILED, with what it says.

Departures: [PosaCantuTedrake2014] ends with step 2; step 3 is added. Contact variables cost `LEAST` of the
mean weight times their square: the sliding velocity of an open contact could else be any number above the
true one, and grows without bound. Objectives that are reported are those of the problem, without this.

Cost: some 20 to 100 iterations per stage, each linear in the horizon.

References: [PosaCantuTedrake2014]; [WachterBiegler2006] for the interior-point method; [Scholtes2001] for the
relaxation; [AnderssonGillisHornRawlingsDiehl2019] for the derivatives.
"""

from __future__ import annotations

import math
import time
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from taction._core.arrays import Array
from taction._core.errors import BadInput
from taction.planning.planner import Planner
from taction.planning.problem import Motion, Outcome, Plan, PlanningProblem
from taction.planning.symbolic_tree import casadi
from taction.planning.symbolic_world import SymbolicWorld
from taction.planning.system import ContactSystem

STAGES = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)  # ε [J]
AGAIN = 3  # how many of them, the last ones, from a plan nearby
LEAST = 1e-6  # what contact variables cost, relative to the mean of the weights
EXACT = 1e-8  # complementarity and residuals of a plan
ITERATIONS = 500  # of a stage
PENETRATION = 1e-6  # overlap of a state that is worth a word [m or rad]
PATIENCE = 3  # stages in a row that may fail
LATE = "the time limit ended it"


class _Answer(NamedTuple):
    """What a stage found: unknowns, multipliers of bounds and constraints, iterations, how it ended."""

    w: Array
    bounds: Array
    rows: Array
    iterations: int
    status: str

    @property
    def is_solved(self) -> bool:
        return self.status in ("Solve_Succeeded", "Solved_To_Acceptable_Level")


class _Task(NamedTuple):
    """Where a plan starts, where it leads, and inputs about which it stays."""

    x0: Array
    target: Array
    rest: Array

    def given(self, epsilon: float) -> Array:
        """Parameters of the program."""
        return np.concatenate([self.x0, self.target.ravel(), self.rest.ravel(), [epsilon]])


_Best = tuple[float, Motion] | None


class Direct(Planner):
    """Direct transcription with relaxed complementarity.

    Args:
        problem: what is asked; of a world, or of systems that were written down.
        time_limit: over all stages [s].

    Raises:
        BadInput: a part of the world has no equations here, systems of different worlds or origins, a world
            on the level of velocities, or CasADi is missing.
    """

    name: ClassVar[str] = "direct"

    def __init__(
        self,
        problem: PlanningProblem,
        *,
        time_limit: float = math.inf,
    ) -> None:
        super().__init__(problem, time_limit=time_limit)
        self._ca = casadi()
        systems = [problem.system(k) for k in range(problem.horizon)]
        first = systems[0]
        if first.simulation is not None and first.origin is not None:
            if any(system.guard is not None for system in systems):
                raise BadInput("direct: worlds are planned on the level of positions; linearise them there")
            if len(first.inputs) != first.sizes[1]:
                raise BadInput("direct: the inputs of a world need their names")
            for system in systems:
                there = system.origin if system.simulation is first.simulation else None
                if there is None or not np.array_equal(there, first.origin):
                    raise BadInput("direct: all systems must be of one world and about one configuration")
            world = SymbolicWorld(first.simulation, first.origin, inputs=first.inputs, **first.seen._asdict())
            self._steps, self._gaps = [world.step] * problem.horizon, world.rows
        else:
            self._gaps = None
            made = {id(system): self._linear(system) for system in systems}
            self._steps = [made[id(system)] for system in systems]
        self._deadline = math.inf
        self._write()

    def _linear(self, system: ContactSystem) -> Any:
        """The step of a system that was written down, as a CasADi function."""
        ca = self._ca
        n, m, l = system.sizes
        x, u, z, after = (ca.SX.sym(name, size) for name, size in (("x", n), ("u", m), ("z", l), ("a", n)))
        moved = ca.DM(system.A) @ x + ca.DM(system.B) @ u + ca.DM(system.C) @ z + ca.DM(system.d)
        slack = ca.DM(system.D) @ x + ca.DM(system.E) @ u + ca.DM(system.F) @ z + ca.DM(system.c)
        pairs = [(z, slack)]
        if system.guard is not None:
            phi = ca.DM(system.guard.G) @ x + ca.DM(system.guard.H) @ u + ca.DM(system.guard.g)
            mine, of = _guarded(system)
            shut, loose = ca.SX.sym("n", phi.shape[0]), ca.SX.sym("w", len(of))
            slack[mine] = slack[mine] + loose
            pairs += [(shut, phi + shut), (loose, shut[of] + z[mine])]
        left, right = (ca.vertcat(*side) for side in zip(*pairs, strict=True))
        return ca.Function("step", [x, u, left, ca.SX(0, 1), after], [after - moved, right])

    # ----- the program ------------------------------------------------------------------------------------

    def _write(self) -> None:
        """Program (1): unknowns (u, z, s, y, x⁺) of each step, one after the other."""
        ca, problem = self._ca, self.problem
        X, U, cost = problem.states, problem.inputs, problem.cost
        assert X is not None and U is not None and cost.final is not None
        n, m, _ = problem.system(0).sizes
        N = problem.horizon
        start, target, rest = ca.MX.sym("x0", n), ca.MX.sym("target", n, N + 1), ca.MX.sym("rest", m, N)
        epsilon = ca.MX.sym("epsilon")
        Q, R, QN = (ca.DM(value) for value in (cost.states, cost.inputs, cost.final))
        unknowns, rows, kinds, crossed = [], [], [], []
        x, total, self._spots, at = start, 0.0, [], 0
        for k, step in enumerate(self._steps):
            widths = (m, step.size1_in(2), step.size1_in(2), step.size1_in(3), n)
            u, z, s, y, after = parts = [
                ca.MX.sym(f"{c}{k}", w) for c, w in zip("uzsyx", widths, strict=True)
            ]
            unknowns += parts
            edges = at + np.concatenate([[0], np.cumsum(widths)])
            self._spots.append([np.arange(a, b) for a, b in pairwise(edges)])
            at = int(edges[-1])
            residual, slack = step(x, u, z, y, after)
            e, f = x - target[:, k], u - rest[:, k]
            total += e.T @ Q @ e + f.T @ R @ f
            mine, of = _guarded(problem.system(k)) if self._gaps is None else ([], [])
            apart = [problem.system(k).sizes[2] + i for i in of]  # among the slacks: p of each guarded λ
            crossed.append((self._spots[k][1][mine], self._spots[k][2][apart]))
            products = ca.vertcat(z * s, z[mine] * s[apart]) if mine else z * s
            for kind, row in (
                ("zero", residual), ("zero", slack - s), ("pair", products - epsilon),
                ("below", ca.DM(X.A) @ after - X.b), ("below", ca.DM(U.A) @ u - U.b),
            ):  # fmt: skip
                rows.append(row)
                kinds += [kind] * row.shape[0]
            x = after
        e = x - target[:, N]
        total += e.T @ QN @ e
        scale = float(np.mean(np.concatenate([np.diag(value) for value in (cost.states, cost.inputs)])))
        shares = ca.vertcat(*unknowns[1::5])
        total += LEAST * scale * ca.dot(shares, shares)
        given = ca.vertcat(start, ca.vec(target), ca.vec(rest), epsilon)
        nlp = {"x": ca.vertcat(*unknowns), "p": given, "f": total, "g": ca.vertcat(*rows)}
        self._z, self._s = (np.concatenate([spot[c] for spot in self._spots]) for c in (1, 2))
        self._one, self._other = (
            np.concatenate([own, *(cross[c] for cross in crossed)]).astype(np.int64)
            for c, own in enumerate((self._z, self._s))
        )
        self._is_equation, self._is_pair = (np.array(kinds) == kind for kind in ("zero", "pair"))
        self._size, self._values = at, ca.Function("rows", [nlp["x"], given], [nlp["g"]])
        self._watch = self._watcher(at, len(kinds), given.shape[0])
        common = {
            "ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.max_iter": ITERATIONS,
            "ipopt.tol": 1e-9, "ipopt.constr_viol_tol": 1e-10, "ipopt.bound_relax_factor": 0.0,
            "ipopt.acceptable_iter": 0, "expand": True, "error_on_fail": False, "show_eval_warnings": False,
        }  # fmt: skip
        if self._watch is not None:
            common["iteration_callback"] = self._watch
        again = {
            "ipopt.warm_start_init_point": "yes", "ipopt.mu_init": 1e-4, "ipopt.warm_start_bound_push": 1e-6,
            "ipopt.warm_start_mult_bound_push": 1e-6, "ipopt.warm_start_slack_bound_push": 1e-6,
        }  # fmt: skip
        self._first = ca.nlpsol("first", "ipopt", nlp, common)
        self._next = ca.nlpsol("next", "ipopt", nlp, {**common, **again})

    def _watcher(self, unknowns: int, rows: int, given: int) -> Any:
        """What ends IPOPT when time is over; None where there is no limit."""
        if math.isinf(self.time_limit):
            return None
        ca, planner = self._ca, self

        class Watch(ca.Callback):  # type: ignore[name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.construct("watch", {})

            def get_n_in(self) -> int:
                return int(ca.nlpsol_n_out())

            def get_n_out(self) -> int:
                return 1

            def get_sparsity_in(self, i: int) -> Any:
                size = {"f": 1, "x": unknowns, "lam_x": unknowns, "g": rows, "lam_g": rows, "lam_p": given}
                return ca.Sparsity.dense(size[ca.nlpsol_out(i)])

            def eval(self, _: Any) -> list[float]:
                return [1.0 if time.perf_counter() > planner._deadline else 0.0]

        return Watch()

    # ----- the plan ---------------------------------------------------------------------------------------

    def _find(self, x0: Array, target: Array, rest: Array, warm: Plan | None) -> Plan:
        self._deadline = time.perf_counter() + self.time_limit
        task = _Task(x0, target, rest)
        best, effort, message = None, 0, ""
        for start in (None,) if warm is None else (warm, None):
            best, iterations, message = self._follow(task, start)
            effort += iterations
            if best is not None or time.perf_counter() > self._deadline:
                break
        late = time.perf_counter() > self._deadline
        if best is None:
            outcome = Outcome.TIME_LIMIT if late else Outcome.FAILED
            return Plan(outcome, self.name, 0.0, effort=effort, message=LATE if late else message)
        value, motion = best
        message = LATE if late else self._overlap(motion)
        return Plan(Outcome.FEASIBLE, self.name, 0.0, motion, value, effort=effort, message=message)

    def _overlap(self, motion: Motion) -> str:
        """What to say of states that overlap: a simulation goes on from there in another way."""
        if self._gaps is None:
            return ""
        least = min(float(np.array(self._gaps(x)[0]).min(initial=0.0)) for x in motion.x)
        return f"states overlap by {-least:.2g}; take shorter steps" if least < -PENETRATION else ""

    def _follow(self, task: _Task, warm: Plan | None) -> tuple[_Best, int, str]:
        """Steps 2 and 3 from one start: the best plan, iterations, and what went wrong if there is none."""
        answer, best, effort, failures = self._guess(task, warm), None, 0, 0
        message = "no contact modes were found that obey the laws exactly"
        for k, epsilon in enumerate(STAGES if warm is None else STAGES[-AGAIN:]):
            answer = self._stage(self._next if k or warm else self._first, task, epsilon, answer)
            effort += answer.iterations
            best = self._better(best, task, answer.w)
            failures = 0 if answer.is_solved else failures + 1
            if not answer.is_solved:
                message = f"IPOPT at epsilon = {epsilon:g}: {answer.status.replace('_', ' ').lower()}"
            if time.perf_counter() > self._deadline or failures == PATIENCE or (failures and k == 0):
                return best, effort, message
        best, iterations = self._fix_modes(best, task, answer)
        return best, effort + iterations, message

    def _guess(self, task: _Task, warm: Plan | None) -> _Answer:
        """Where to start: in the first state all the time, or a plan from nearby."""
        w, x0, rest = np.zeros(self._size), task.x0, task.rest
        for k, (u, z, s, y, after) in enumerate(self._spots):
            if warm is not None and warm.motion is not None:
                motion = warm.motion
                w[u], w[after] = motion.u[k], motion.x[k + 1]
                if len(motion.contact[k]) == len(z):
                    w[z], w[s] = motion.contact[k], motion.slack[k]
                continue
            w[u], w[after] = rest[k], x0
            parts = self._steps[k](x0, rest[k], np.zeros(len(z)), np.zeros(len(y)), x0)
            w[s] = np.maximum(np.array(parts[1]).ravel(), 0.0)
        return _Answer(w, np.zeros(self._size), np.zeros(len(self._is_pair)), 0, "")

    def _stage(
        self, solver: Any, task: _Task, epsilon: float, start: _Answer, is_zero: Array | None = None
    ) -> _Answer:
        """Program (1) for one ε; or without products, with the unknowns is_zero held at zero."""
        low, high = np.full(self._size, -np.inf), np.full(self._size, np.inf)
        least, most = np.where(self._is_equation, 0.0, -np.inf), np.zeros(len(self._is_pair))
        low[self._z] = low[self._s] = 0.0
        if is_zero is not None:
            high[is_zero], most[self._is_pair] = 0.0, np.inf
        found = solver(
            x0=np.clip(start.w, low, high), p=task.given(epsilon), lbx=low, ubx=high, lbg=least, ubg=most,
            lam_x0=start.bounds, lam_g0=start.rows,
        )  # fmt: skip
        stats = solver.stats()
        w, bounds, rows = (np.array(found[name]).ravel() for name in ("x", "lam_x", "lam_g"))
        return _Answer(w, bounds, rows, int(stats.get("iter_count", 0)), str(stats["return_status"]))

    def _fix_modes(self, best: _Best, task: _Task, answer: _Answer) -> tuple[_Best, int]:
        """Step 3: the best plan, and iterations."""
        is_open = answer.w[self._other] >= answer.w[self._one]
        held = np.unique(np.where(is_open, self._one, self._other))
        found = self._stage(self._next, task, 0.0, answer, held)
        return self._better(best, task, found.w), found.iterations

    def _better(self, best: _Best, task: _Task, w: Array) -> _Best:
        """The better of the best so far and unknowns w, if they obey everything."""
        if not np.isfinite(w).all():
            return best
        rows = np.array(self._values(w, task.given(0.0))).ravel()
        wrong = np.abs(rows[self._is_equation]).max(initial=0.0)
        over = rows[~self._is_equation & ~self._is_pair].max(initial=0.0)
        spots = self._spots
        motion = Motion(
            np.array([task.x0, *(w[spot[4]] for spot in spots)]), np.array([w[spot[0]] for spot in spots]),
            tuple(w[spot[1]] for spot in spots), tuple(w[spot[2]] for spot in spots),
        )  # fmt: skip
        both = np.minimum(w[self._one], w[self._other]).max(initial=0.0)
        if max(wrong, over, both, motion.complementarity) > EXACT:
            return best
        value = self.problem.objective(motion.x, motion.u, task.target, task.rest)
        return (value, motion) if best is None or value < best[0] else best


def _guarded(system: ContactSystem) -> tuple[list[int], list[int]]:
    """Contact variables that have a guard, and the free gap of each."""
    if system.guard is None:
        return [], []
    mine = np.flatnonzero(system.guard.contact >= 0)
    return mine.tolist(), system.guard.contact[mine].tolist()
