"""Ready-made robots: those of the documents, and a chain for measuring speed. Each returns a `Model`.

`walker` adds stance and gains to the document's quadruped, and to real ones; `biped` stance and feet to real
humanoids.
"""

from taction.robots._parts import BoxLink, PIDGain
from taction.robots.bipeds import Biped, biped
from taction.robots.chain import chain
from taction.robots.four_legged import four_legged
from taction.robots.humanoid import planar_humanoid
from taction.robots.pendulum import double_pendulum
from taction.robots.quadruped import QUADRUPED_GAINS, quadruped
from taction.robots.snake import SNAKE_GAINS, snake
from taction.robots.walkers import Walker, walker

__all__ = [
    "QUADRUPED_GAINS",
    "SNAKE_GAINS",
    "Biped",
    "BoxLink",
    "PIDGain",
    "Walker",
    "biped",
    "chain",
    "double_pendulum",
    "four_legged",
    "planar_humanoid",
    "quadruped",
    "snake",
    "walker",
]
