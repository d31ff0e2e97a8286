"""The certificate of a run: worst residuals, corrections and losses over all steps, in numbers and in words.

Of a smooth run it holds the largest residual of the equation of motion over all recorded states, τ against
Newton–Euler at the acceleration that the articulated-body algorithm gave: two algorithms that share nothing
but the kinematics. Contact residuals are None then. Through contact they are maxima over the records of the
steps (`taction.sim.contact_summary`).
"""

from __future__ import annotations

from dataclasses import dataclass

from taction._core.show import brief, count, rows

APPROACHING = 1e-6  # approach after a bounce that is worth a word [m/s]
SHUT = 1e-8  # gap of a joint or loop that is not worth a sentence [m or rad]
DRIFTING = 0.01  # share of the energy of a motion that may come and go without a sentence
LIFTED = 0.01  # share of the energy of a motion that the correction of positions may work without one


@dataclass(frozen=True)
class Certificate:
    """Worst residuals over a run; None where the run has no such element.

    Attributes:
        motion: equation of motion, relative to the largest joint and bias forces.
        motion_time: when that happened [s].
        quaternion: largest deviation of a quaternion from unit length.
        joint_gap: largest violation of a mimic coupling, a loop, or a joint between bodies [m or rad].
        gap_share: largest gap of a loop over the size of what it connects, or in radians.
        gap_time: when `joint_gap` was met [s].
        signorini: normal contact law.
        cone: friction cone.
        dissipation: maximum dissipation.
        penetration: overlap [m].
        unconverged_steps: steps whose equations were not solved.
        residual: natural map of all contact laws, relative to the free velocities.
        residual_time: when that happened [s].
        residual_at: the two shapes where it was worst.
        pushed: largest displacement of a point of contact by the correction of positions in one step [m].
        turned: largest turn of a link by it in one step [rad].
        left: deepest overlap that a step left to the next [m].
        beyond: farthest that a joint or tendon was beyond its stop [m or rad].
        beyond_left: farthest that a step left one to the next [m or rad].
        steps_at_bound: steps in which the correction of positions wanted more than its bounds allow.
        spared: largest gap of a loop that it let be, since closing it would turn joints far more [m or rad].
        steps_spared: how many steps did so.
        steps_far: steps in which it moved a hundred times as far as the gaps it closed.
        drift: largest change of energy that nothing accounts for: made by time steps, or lost [J].
        drift_share: the same over what the motion had and did until then.
        drift_time: when [s].
        lifted: works of the correction, by size, over the largest kinetic and the range of potential energy.
        position_error: estimated error of the links' places in the worst step [m].
        error_time: when [s].
        velocity_error: of their velocities in the worst step [m/s].
        error_sum: estimated errors of places, added up over the run [m].
        error_share: those of steps in which nothing strikes, over the way that the motion has gone.
        steps_inaccurate: steps that were less accurate than asked for, in their shortest parts, too.
        steps_at_rounding: steps whose tolerance lies below what rounding allows, solved as well as that.
        impulses_not_unique: steps whose impulses the laws leave open.
        velocities_not_unique: those of them in which velocities are possibly open, too.
        no_choice: those in which the impulses are not the selected ones either.
        made: energy that restitution made over the run [J]: with Newton's law, where slip turned round.
        approach: fastest approach that a bounce left at a closed contact [m/s].
        steps_held_back: steps in which less came back than Poisson's law says, or energy would have risen.
    """

    motion: float
    motion_time: float
    quaternion: float
    joint_gap: float | None = None
    gap_share: float | None = None
    gap_time: float | None = None
    signorini: float | None = None
    cone: float | None = None
    dissipation: float | None = None
    penetration: float | None = None
    unconverged_steps: int = 0
    residual: float | None = None
    residual_time: float | None = None
    residual_at: str = ""
    pushed: float | None = None
    turned: float | None = None
    left: float | None = None
    beyond: float | None = None
    beyond_left: float | None = None
    steps_at_bound: int = 0
    spared: float | None = None
    steps_spared: int = 0
    steps_far: int = 0
    lifted: float | None = None
    steps_at_rounding: int = 0
    impulses_not_unique: int = 0
    velocities_not_unique: int = 0
    no_choice: int = 0
    drift: float = 0.0
    drift_share: float = 0.0
    drift_time: float = 0.0
    made: float = 0.0
    approach: float = 0.0
    steps_held_back: int = 0
    position_error: float | None = None
    error_time: float | None = None
    velocity_error: float | None = None
    error_sum: float | None = None
    error_share: float | None = None
    steps_inaccurate: int = 0

    def __repr__(self) -> str:
        when = "" if self.residual is None else f" at t = {self.residual_time:.6g} s {self.residual_at}"
        moved = f"motion={brief(self.motion)} at t = {self.motion_time:.6g} s"
        laws = [(n, getattr(self, n)) for n in ("signorini", "cone", "dissipation", "joint_gap")]
        moved_by = ("penetration", "pushed", "turned", "left", "beyond", "beyond_left")
        positions = [(n, getattr(self, n)) for n in moved_by]
        steps = ("unconverged_steps", "steps_at_rounding", "impulses_not_unique", "velocities_not_unique")
        return rows(
            "<Certificate: worst over the run>",
            "" if self.residual is None else f"residual={brief(self.residual)}{when.rstrip()}",
            f"{moved}, quaternion={brief(self.quaternion)}",
            ", ".join(f"{name}={brief(value)}" for name, value in laws if value is not None),
            ", ".join(f"{name}={brief(value)}" for name, value in positions if value is not None),
            ", ".join(f"{name}={getattr(self, name)}" for name in (*steps, "no_choice")),
            *self.in_words,
        )

    @property
    def in_words(self) -> list[str]:
        """What there is to say of joints and of the correction of positions, a sentence each."""
        names = ("error", "missed", "drift", "gap", "spared", "far", "lifted", "bound", "bounces")
        return [said for name in names if (said := getattr(self, f"{name}_in_words"))]

    @property
    def error_in_words(self) -> str:
        """What steps are estimated to be off by; empty where nothing was compared."""
        if not self.position_error:
            return ""
        return (
            f"steps are off by up to {brief(self.position_error)} m, at t = {self.error_time:.6g} s, and "
            f"{brief(self.velocity_error)} m/s; all together {brief(self.error_sum)} m"
        )

    @property
    def missed_in_words(self) -> str:
        """How many steps are less accurate than was asked for; empty if none."""
        if not self.steps_inaccurate:
            return ""
        return f"{count(self.steps_inaccurate, 'step')} less accurate than asked for"

    @property
    def drift_in_words(self) -> str:
        """How much energy came or went that nothing accounts for; empty if next to none."""
        if not self.drift_share > DRIFTING:
            return ""
        word = "made" if self.drift > 0.0 else "lost"
        return (
            f"time steps {word} {brief(abs(self.drift))} J by t = {self.drift_time:.6g} s, "
            f"{brief(self.drift_share)} of all that the motion had and did"
        )

    @property
    def gap_in_words(self) -> str:
        """How far joints and loops were open; empty if by nothing but rounding."""
        if not (self.joint_gap and self.joint_gap > SHUT):
            return ""
        share = f", {brief(self.gap_share)} of what they connect" if self.gap_share else ""
        return (
            f"joints and loops were open by up to {brief(self.joint_gap)} m or rad{share}, at t = "
            f"{self.gap_time:.6g} s"
        )

    @property
    def spared_in_words(self) -> str:
        """Where the correction of positions let gaps be; empty if nowhere."""
        if not self.steps_spared:
            return ""
        where, size = count(self.steps_spared, "step"), brief(self.spared)
        return f"in {where} gaps of loops, up to {size} m or rad, were let be: nearly redundant"

    @property
    def far_in_words(self) -> str:
        """Where the correction of positions moved far more than it closed; empty if nowhere."""
        if not self.steps_far:
            return ""
        where = count(self.steps_far, "step")
        return f"in {where} the correction of positions moved far more than the gaps it closed"

    @property
    def lifted_in_words(self) -> str:
        """What the correction of positions worked; empty if next to nothing."""
        if not (self.lifted and self.lifted > LIFTED):
            return ""
        share = brief(self.lifted)
        return f"the correction of positions worked {share} of the motion's energy, less at shorter steps"

    @property
    def bounces_in_words(self) -> str:
        """What the law of restitution cost; empty where that is nothing."""
        cost = [f"made {brief(self.made)} J"] if self.made > 0.0 else []
        if self.steps_held_back:
            cost.append(f"was held back in {count(self.steps_held_back, 'step')}")
        if self.approach > APPROACHING:
            cost.append(f"left contacts approaching by up to {brief(self.approach)} m/s")
        return f"restitution {' and '.join(cost)}" if cost else ""

    @property
    def bound_in_words(self) -> str:
        """Where the correction of positions was at its bounds; empty if nowhere."""
        if not self.steps_at_bound:
            return ""
        return (
            f"in {count(self.steps_at_bound, 'step')} the correction of positions was held back by its bounds"
        )
