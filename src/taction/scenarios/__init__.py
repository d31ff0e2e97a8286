"""Scenarios: experiments with known answers, one file each, one line each in `GROUPS`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from taction._core.errors import BadInput
from taction._core.names import choose
from taction.scenarios.base import Outcome, Scenario
from taction.scenarios.parameter import Parameter

# By what they are about, in the order in which they are listed; the class of each is in the file of its name
GROUPS: dict[str, tuple[str, ...]] = {
    "smooth": (
        "double-pendulum",
        "swinging-chain",
        "spinning-top",
        "quadruped-flight",
        "stiff-servo",
    ),
    "rest": (
        "block-slope",
        "block-push",
        "pinched-capsule",
        "grasp",
        "gecko",
        "box-stack",
    ),
    "rolling": (
        "rolling-sphere",
        "sliding-to-rolling",
        "rolling-disk",
        "tumbling-box",
        "wobbling-disk",
    ),
    "impacts": (
        "bouncing-ball",
        "newtons-cradle",
        "pendulum-impact",
        "falling-rod",
        "dominoes",
    ),
    "loops": ("four-bar",),
    "soft": (
        "ellipsoids",
        "compliant-ball",
        "tyre",
        "spinning-egg",
    ),
    "snake": (
        "snake-drop",
        "snake-undulation",
        "snake-sidewinding",
        "snake-obstacles",
        "snake-terrain",
    ),
    "legs": (
        "quadruped-trot",
        "quadruped-fall",
        "quadruped-jump",
        "humanoid-walk",
        "four-legged-walk",
        "humanoid-3d-walk",
        "quadruped-walk",
        "push-recovery",
    ),
    "planned": (
        "pushers",
        "cartpole-walls",
        "cartpole-swing",
        "planar-push",
        "hopper",
        "quadruped-mpc",
    ),
    "simbench": (
        "simbench-rolling",
        "simbench-bouncing",
        "simbench-666",
        "simbench-elastic-666",
        "simbench-stand",
        "simbench-energy",
        "simbench-momentum",
    ),
}


class _Scenarios(Mapping[str, Scenario]):
    """All scenarios by name; the file of one is read when it is first asked for, because all take a while."""

    def __getitem__(self, name: str) -> Scenario:
        if name not in set(self):
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return (name for group in GROUPS.values() for name in group)

    def __len__(self) -> int:
        return sum(map(len, GROUPS.values()))


SCENARIOS = _Scenarios()


def get_scenario(name: str) -> Scenario:
    """The scenario of that name.

    Raises:
        BadInput: there is none; the message lists those there are.
    """
    if name not in SCENARIOS:
        raise BadInput(f"unknown scenario {name!r}; {choose(name, SCENARIOS)}")
    return SCENARIOS[name]


@cache
def _load(name: str) -> Scenario:
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    classes = (thing for thing in vars(module).values() if isinstance(thing, type))
    found: type[Scenario] = next(
        c for c in classes if c.__module__ == module.__name__ and getattr(c, "name", "") == name
    )
    return found()


__all__ = ["GROUPS", "SCENARIOS", "Outcome", "Parameter", "Scenario", "get_scenario"]
