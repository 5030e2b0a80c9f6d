"""Weights stored together as an image of the lanes (made by the pass `layer-group`)."""

from typing import NamedTuple

from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.top.source import WeightOp


class PackPlace(NamedTuple):
    """Where a weight is in a pack; all but the number in bytes.

    A pack is an image of the lanes, `lane_bytes` for each and `total_bytes` in all. The weight's
    channels lie in it as in local memory, from `offset` of every lane on.
    """

    number: int
    offset: int
    lane_bytes: int
    total_bytes: int


def pack_of(weight: WeightOp) -> PackPlace | None:
    """The weight's place in its pack; None when it is stored by itself, row-major."""
    return PackPlace(*ints(weight.pack)) if weight.pack is not None else None
