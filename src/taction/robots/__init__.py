"""Ready-made robots: those of the documents, of plans through contact, and a chain. Each returns a `Model`.

`walker` adds stance and gains to the document's quadruped, and to real ones; `biped` stance and feet to real
humanoids.
"""

from taction.robots._parts import BoxLink, PIDGain
from taction.robots.bipeds import Biped, biped
from taction.robots.block_and_pusher import block_and_pusher
from taction.robots.cart_pole import cart_pole
from taction.robots.chain import chain
from taction.robots.four_legged import four_legged
from taction.robots.hopper import hopper
from taction.robots.humanoid import planar_humanoid
from taction.robots.pendulum import double_pendulum
from taction.robots.pushers import pushers
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
    "block_and_pusher",
    "cart_pole",
    "chain",
    "double_pendulum",
    "four_legged",
    "hopper",
    "planar_humanoid",
    "pushers",
    "quadruped",
    "snake",
    "walker",
]
