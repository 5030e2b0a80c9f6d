"""What it takes to meet a value under other images and channels than those it is made under."""

import math
from dataclasses import dataclass
from functools import lru_cache

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.lane_moves import Rows, lane_steps
from xdsl_tpu.dialects.interfaces.lane_view import Lanes
from xdsl_tpu.passes.tensors import element_bytes, shape_of, size_in_bytes

_RANK = 4
"""Dimensions of the largest values that change their lanes in local memory."""

_SHARE = 4
"""How often a value must fit into local memory to change its lanes there, where it lies twice
beside what else is made."""

_PASSES, _COMMANDS = 8, 100
"""Cycles: passes over a value on each side, whose lanes and columns change places and back, some of
them between rows that are put together (9 of 4x64x256 on both, 19 of 4x256x256), and what is lost
with short ones."""

_PASSES_OF_BYTES = 28
"""The same where elements have a byte, of which a command moves no more than of wider ones (28 of
1x3136x384 on both sides)."""


@dataclass(frozen=True)
class Changes:
    """In cycles, roughly; through DDR unless `in_lanes` says that elements may change their lanes
    in local memory, which `lane-moves` makes of a Reshape."""

    chip: Chip
    in_lanes: bool = False

    def transfer(self, value: SSAValue) -> float:
        """A store and a load."""
        rates = self.chip.store_bytes_per_cycle, self.chip.load_bytes_per_cycle
        return sum(size_in_bytes(value) / rate for rate in rates)

    def price(self, value: SSAValue, one: Lanes, other: Lanes) -> float:
        """Of a value that is made under `one` and read under `other`, or the other way round."""
        through_ddr = self.transfer(value)
        if not self.is_local(value, one, other):
            return through_ddr
        passes = sum(self._pass(value, lanes) for lanes in (one, other))
        times = _PASSES if element_bytes(value) > 1 else _PASSES_OF_BYTES
        return min(through_ddr, _COMMANDS + times * passes)

    def _pass(self, value: SSAValue, lanes: Lanes) -> int:
        """One over all of a value, however few lanes it has and however short its runs are."""
        run = math.prod(shape_of(value)) // lanes.rows
        groups = lanes.images * math.ceil(lanes.channels / self.chip.lanes)
        return groups * math.ceil(run / self.chip.eu(element_bytes(value)))

    def is_local(self, value: SSAValue, one: Lanes, other: Lanes) -> bool:
        """Whether a value can change its lanes without leaving local memory."""
        shape, room = shape_of(value), self.chip.lanes * self.chip.local_bytes
        if not self.in_lanes or len(shape) > _RANK or _SHARE * size_in_bytes(value) > room:
            return False
        return _has_steps(math.prod(shape), one, other)


@lru_cache(maxsize=1024)
def _has_steps(elements: int, one: Lanes, other: Lanes) -> bool:
    if elements % one.rows or elements % other.rows:
        return False
    sides = (Rows(*lanes, elements // lanes.rows) for lanes in (one, other))
    return lane_steps(IndexMap.identity(elements), *sides) is not None
