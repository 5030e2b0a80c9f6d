"""Groups of a convolution that are computed together.

The matrix unit reads a row of input channels for an output channel in every lane at once. Groups of
a few channels leave most of both empty; several of them as one, with zeros between them, fill both:
of 32 groups of 8 channels, four times 8 make 4 blocks of 64 by 64, where 32 by themselves are 32,
and one filter over all channels is 16.
"""

import math
from typing import NamedTuple

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.interpreters.layouts import FilterShape, fills_lanes, filter_blocks

BYTE = 1
"""Bytes of an 8-bit integer."""

BEHIND = 1 / 2
"""Part of a convolution's time in which its filter comes; the rest is left to its neighbours'."""


class Joined(NamedTuple):
    """How many groups are computed together, the blocks that the matrix unit goes through for one
    kernel position, and the cycles of all of it."""

    factor: int
    blocks: int
    cycles: float


def cheapest_join(filter_: FilterShape, group: int, width: int, places: int, chip: Chip) -> Joined:
    """The way with the fewest cycles; `filter_` is that of a group, `width` the bytes of its
    elements, `places` the elements of an output channel in all images.

    In 8 bits a group must take whole rounds of lanes, unless there is only one.
    """
    factors = [one for one in range(1, group + 1) if group % one == 0]
    known = [one for one in factors if _has_kernel(filter_, group, one, width, chip)]
    ways = (_joined(filter_, group, factor, width, places, chip) for factor in known)
    return min(ways, key=lambda one: one.cycles)


def _joined(
    filter_: FilterShape, group: int, factor: int, width: int, places: int, chip: Chip
) -> Joined:
    """The cycles of the array, of moving channels that do not begin on the first lane there and
    back, and what loading the filter, its zeros included, takes longer than a part of both."""
    joined, groups = _together(filter_, factor), group // factor
    blocks = filter_blocks(joined, groups, width, chip.weight_lanes)
    work = blocks * filter_.kh * filter_.kw * math.ceil(places / chip.cube_outputs[width])
    if groups > 1 and not _begin_on_lane_0(joined, groups, chip):
        rounds = math.ceil(joined.ic / chip.lanes) + math.ceil(joined.oc / groups / chip.lanes)
        work += groups * rounds * math.ceil(places / chip.eu(width))
    size = filter_.oc * joined.ic * filter_.kh * filter_.kw * width
    waiting = size / chip.load_bytes_per_cycle - BEHIND * work
    return Joined(factor, blocks, work + max(0.0, waiting))


def _together(filter_: FilterShape, factor: int) -> FilterShape:
    return FilterShape(filter_.oc, filter_.ic * factor, filter_.kh, filter_.kw)


def _has_kernel(filter_: FilterShape, group: int, factor: int, width: int, chip: Chip) -> bool:
    joined, groups = _together(filter_, factor), group // factor
    if width > BYTE or groups == 1:
        return True
    return fills_lanes(joined, groups, chip.weight_lanes)


def _begin_on_lane_0(joined: FilterShape, groups: int, chip: Chip) -> bool:
    """Whether inputs and outputs of every group do."""
    return not joined.ic % chip.lanes and fills_lanes(joined, groups, chip.weight_lanes)
