"""Which numbers an input of a network may be, for inputs that are ids, positions or masks.

A module says so in its attribute `module.input_ranges`, from `low` up to but not including `high`:

    module.input_ranges = [{name = "input_ids", low = 0 : si64, high = 30522 : si64}]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute

from xdsl_tpu.dialects.errors import TpuError

INPUT_RANGES = "module.input_ranges"
"""The module attribute."""

_SI64 = IntegerType(64, Signedness.SIGNED)


@dataclass(frozen=True)
class InputRange:
    """Whole numbers from `low` up to but not including `high`."""

    low: int
    high: int


TRUTH = InputRange(0, 2)
"""0 and 1: of masks, and of integers that nothing else is known of."""


def ranges_attribute(ranges: Mapping[str, InputRange]) -> ArrayAttr[DictionaryAttr]:
    """The attribute for ranges by the names of the inputs."""
    return ArrayAttr(
        DictionaryAttr(
            {
                "high": IntegerAttr(one.high, _SI64),
                "low": IntegerAttr(one.low, _SI64),
                "name": StringAttr(name),
            }
        )
        for name, one in ranges.items()
    )


def ranges_of(module: ModuleOp) -> dict[str, InputRange]:
    """The ranges that a module notes, by the names of its inputs; empty for most.

    Raises TpuError when the attribute does not have its form.
    """
    attribute = module.attributes.get(INPUT_RANGES)
    if attribute is None:
        return {}
    entries: tuple[Attribute, ...] = (attribute,)
    if isinstance(attribute, ArrayAttr):
        entries = cast(ArrayAttr[Attribute], attribute).data
    return dict(map(_range, entries))


def _range(entry: Attribute) -> tuple[str, InputRange]:
    fields: Mapping[str, Attribute] = entry.data if isinstance(entry, DictionaryAttr) else {}
    match [fields.get(key) for key in ("name", "low", "high")]:
        case [StringAttr() as name, IntegerAttr() as low, IntegerAttr() as high]:
            first, end = (cast(IntegerAttr[Any], one).value.data for one in (low, high))
            if first < end:
                return name.data, InputRange(first, end)
        case _:
            pass
    raise TpuError(
        f"{INPUT_RANGES} holds {entry}; an entry must be "
        '{high = .. : si64, low = .. : si64, name = ".."} with low below high'
    )
