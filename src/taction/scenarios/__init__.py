"""Scenarios: experiments with known answers, one file each, one line each in `SCENARIOS`."""

from __future__ import annotations

from taction._core.errors import BadInput
from taction.scenarios.base import Outcome, Scenario
from taction.scenarios.block_push import BlockPush
from taction.scenarios.block_slope import BlockSlope
from taction.scenarios.bouncing_ball import BouncingBall
from taction.scenarios.box_stack import BoxStack
from taction.scenarios.cartpole_swing import CartpoleSwing
from taction.scenarios.cartpole_walls import CartpoleWalls
from taction.scenarios.compliant_ball import CompliantBall
from taction.scenarios.dominoes import Dominoes
from taction.scenarios.double_pendulum import DoublePendulum
from taction.scenarios.ellipsoids import Ellipsoids
from taction.scenarios.falling_rod import FallingRod
from taction.scenarios.four_bar import FourBar
from taction.scenarios.four_legged_walk import FourLeggedWalk
from taction.scenarios.gecko import Gecko
from taction.scenarios.grasp import Grasp
from taction.scenarios.hopper import Hopper
from taction.scenarios.humanoid_3d_walk import Humanoid3DWalk
from taction.scenarios.humanoid_walk import HumanoidWalk
from taction.scenarios.newtons_cradle import NewtonsCradle
from taction.scenarios.parameter import Parameter
from taction.scenarios.pendulum_impact import PendulumImpact
from taction.scenarios.pinched_capsule import PinchedCapsule
from taction.scenarios.planar_push import PlanarPush
from taction.scenarios.push_recovery import PushRecovery
from taction.scenarios.pushers import Pushers
from taction.scenarios.quadruped_fall import QuadrupedFall
from taction.scenarios.quadruped_flight import QuadrupedFlight
from taction.scenarios.quadruped_jump import QuadrupedJump
from taction.scenarios.quadruped_mpc import QuadrupedMpc
from taction.scenarios.quadruped_trot import QuadrupedTrot
from taction.scenarios.quadruped_walk import QuadrupedWalk
from taction.scenarios.rolling_disk import RollingDisk
from taction.scenarios.rolling_sphere import RollingSphere
from taction.scenarios.simbench_666 import Simbench666
from taction.scenarios.simbench_bouncing import SimbenchBouncing
from taction.scenarios.simbench_elastic_666 import SimbenchElastic666
from taction.scenarios.simbench_energy import SimbenchEnergy
from taction.scenarios.simbench_momentum import SimbenchMomentum
from taction.scenarios.simbench_rolling import SimbenchRolling
from taction.scenarios.simbench_stand import SimbenchStand
from taction.scenarios.sliding_to_rolling import SlidingToRolling
from taction.scenarios.snake_drop import SnakeDrop
from taction.scenarios.snake_obstacles import SnakeObstacles
from taction.scenarios.snake_sidewinding import SnakeSidewinding
from taction.scenarios.snake_terrain import SnakeTerrain
from taction.scenarios.snake_undulation import SnakeUndulation
from taction.scenarios.spinning_egg import SpinningEgg
from taction.scenarios.spinning_top import SpinningTop
from taction.scenarios.stiff_servo import StiffServo
from taction.scenarios.swinging_chain import SwingingChain
from taction.scenarios.tumbling_box import TumblingBox
from taction.scenarios.tyre import Tyre
from taction.scenarios.wobbling_disk import WobblingDisk

# By what they are about, in the order in which they are listed
GROUPS: dict[str, tuple[Scenario, ...]] = {
    "smooth": (
        DoublePendulum(),
        SwingingChain(),
        SpinningTop(),
        QuadrupedFlight(),
        StiffServo(),
    ),
    "rest": (
        BlockSlope(),
        BlockPush(),
        PinchedCapsule(),
        Grasp(),
        Gecko(),
        BoxStack(),
    ),
    "rolling": (
        RollingSphere(),
        SlidingToRolling(),
        RollingDisk(),
        TumblingBox(),
        WobblingDisk(),
    ),
    "impacts": (
        BouncingBall(),
        NewtonsCradle(),
        PendulumImpact(),
        FallingRod(),
        Dominoes(),
    ),
    "loops": (FourBar(),),
    "soft": (
        Ellipsoids(),
        CompliantBall(),
        Tyre(),
        SpinningEgg(),
    ),
    "snake": (
        SnakeDrop(),
        SnakeUndulation(),
        SnakeSidewinding(),
        SnakeObstacles(),
        SnakeTerrain(),
    ),
    "legs": (
        QuadrupedTrot(),
        QuadrupedFall(),
        QuadrupedJump(),
        HumanoidWalk(),
        FourLeggedWalk(),
        Humanoid3DWalk(),
        QuadrupedWalk(),
        PushRecovery(),
    ),
    "planned": (
        Pushers(),
        CartpoleWalls(),
        CartpoleSwing(),
        PlanarPush(),
        Hopper(),
        QuadrupedMpc(),
    ),
    "simbench": (
        SimbenchRolling(),
        SimbenchBouncing(),
        Simbench666(),
        SimbenchElastic666(),
        SimbenchStand(),
        SimbenchEnergy(),
        SimbenchMomentum(),
    ),
}
SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for group in GROUPS.values() for scenario in group}


def get_scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        BadInput: there is none; the message lists those there are.
    """
    if name not in SCENARIOS:
        raise BadInput(f"unknown scenario {name!r}; choose from {', '.join(SCENARIOS)}")
    return SCENARIOS[name]


__all__ = ["GROUPS", "SCENARIOS", "Outcome", "Parameter", "Scenario", "get_scenario"]
