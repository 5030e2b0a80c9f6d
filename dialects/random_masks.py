"""Random masks that anyone can make again, and inputs of a network that are such masks.

A module says so in its attribute `module.random_masks`:

    module.random_masks = [{name = "dropout-1_mask", rate = 0.1 : f32, seed = 7 : si64}]
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
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


def random_mask(shape: Sequence[int], seed: int, rate: float) -> npt.NDArray[np.int8]:
    """int8 ones and zeros; an element is 0 with probability `rate`.

    An element is 1 where a number from [0, 1) is not less than `rate`, so rate 0 keeps all and rate
    1 none. The numbers are the upper 24 bits, as fractions, of the words of Philox-4x64 (Salmon et
    al., Parallel random numbers: as easy as 1, 2, 3, 2011) under the seed as a 64-bit key; numpy
    promises its words to stay what they are.
    """
    words = np.random.Philox(key=seed % (1 << 64)).random_raw(math.prod(shape))
    uniform = (words >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
    return (uniform >= np.float32(rate)).astype(np.int8).reshape(tuple(shape))


@dataclass(frozen=True)
class RandomMask:
    """How to make a mask: `random_mask` takes these and a shape."""

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
