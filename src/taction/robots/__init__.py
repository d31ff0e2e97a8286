"""Ready-made robots: those of the documents, and a chain for measuring speed. Each returns a `Model`."""

from taction.robots._parts import BoxLink, PIDGain
from taction.robots.chain import chain
from taction.robots.four_legged import four_legged
from taction.robots.humanoid import planar_humanoid
from taction.robots.pendulum import double_pendulum
from taction.robots.quadruped import QUADRUPED_GAINS, quadruped
from taction.robots.snake import SNAKE_GAINS, snake

__all__ = [
    "QUADRUPED_GAINS",
    "SNAKE_GAINS",
    "BoxLink",
    "PIDGain",
    "chain",
    "double_pendulum",
    "four_legged",
    "planar_humanoid",
    "quadruped",
    "snake",
]
