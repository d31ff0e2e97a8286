"""What a run's file keeps of its model and world, so that both can be made again from it, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taction._core.errors import BadInput, one_line
from taction.model.compile import compile_model
from taction.model.model import Model
from taction.model.spec import ModelSpec
from taction.model.spec_bytes import from_bytes, to_bytes

if TYPE_CHECKING:  # a smooth run does without
    from taction.sim.world import World


def pack(model: Model, world: World | None) -> bytes:
    """Model and world as bytes."""
    return to_bytes({"model": model.spec, "world": None if world is None else world.options})


def unpack(data: bytes) -> tuple[Model, World | None]:
    """What `pack` packed.

    Raises:
        BadInput: damaged, or of a newer version.
    """
    packed = from_bytes(data)
    if not isinstance(packed, dict) or not isinstance(packed.get("model"), ModelSpec):
        raise BadInput("damaged description")
    model, options = compile_model(packed["model"]), packed.get("world")
    if options is None:
        return model, None
    from taction.sim.world import ContactPair, World

    try:
        pairs = [ContactPair(**pair) for pair in options.pop("pairs")]
        return model, World(model, pairs=pairs, **options)
    except (AttributeError, KeyError, TypeError) as error:
        raise BadInput(f"damaged description of a world ({one_line(error)})") from None
