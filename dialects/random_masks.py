"""Inputs of a network that are random masks, so that whoever runs it can make them.

A module says so in its attribute `module.random_masks`:

    module.random_masks = [{name = "dropout-1_mask", rate = 0.1 : f32, seed = 7 : si64}]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    f32,
)
from xdsl.ir import Attribute

from xdsl_tpu.dialects.errors import TpuError

RANDOM_MASKS = "module.random_masks"
"""The module attribute."""

_SI64 = IntegerType(64, Signedness.SIGNED)


@dataclass(frozen=True)
class RandomMask:
    """Ones with probability 1 - rate, else zeros; `interpreters.numerics.masks` makes them."""

    seed: int
    rate: float


def masks_attribute(masks: Mapping[str, RandomMask]) -> ArrayAttr[DictionaryAttr]:
    """The attribute for masks by the names of the inputs."""
    return ArrayAttr(
        DictionaryAttr(
            {
                "name": StringAttr(name),
                "rate": FloatAttr(mask.rate, f32),
                "seed": IntegerAttr(mask.seed, _SI64),
            }
        )
        for name, mask in masks.items()
    )


def masks_of(module: ModuleOp) -> dict[str, RandomMask]:
    """The masks among the inputs of a module, by name; empty for most.

    Raises TpuError when the attribute does not have its form.
    """
    attribute = module.attributes.get(RANDOM_MASKS)
    if attribute is None:
        return {}
    return dict(map(_mask, _list(attribute)))


def _list(attribute: Attribute) -> tuple[Attribute, ...]:
    if isinstance(attribute, ArrayAttr):
        return cast(ArrayAttr[Attribute], attribute).data
    return (attribute,)


def _mask(entry: Attribute) -> tuple[str, RandomMask]:
    fields: Mapping[str, Attribute] = entry.data if isinstance(entry, DictionaryAttr) else {}
    match [fields.get(key) for key in ("name", "rate", "seed")]:
        case [StringAttr() as name, FloatAttr() as rate, IntegerAttr() as seed]:
            number, chance = cast(IntegerAttr[Any], seed), cast(FloatAttr[Any], rate)
            return name.data, RandomMask(number.value.data, chance.value.data)
        case _:
            raise TpuError(
                f"{RANDOM_MASKS} holds {entry}; an entry must be "
                '{name = "..", rate = .. : f32, seed = .. : si64}'
            )
