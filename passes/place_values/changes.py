"""What it takes to meet a value under other images and channels than those it is made under."""

import math
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.interfaces.lane_moves import Rows
from xdsl_tpu.dialects.interfaces.lane_view import Lanes
from xdsl_tpu.dialects.interfaces.movement import movement_of
from xdsl_tpu.passes.lane_prices import cycles_in_lanes
from xdsl_tpu.passes.tensors import number_type, shape_of, size_in_bytes

_RANK = 4
"""Dimensions of the largest values that change their lanes in local memory."""

_SHARE = 4
"""How often a value must fit into local memory to change its lanes there, where it lies twice
beside what else is made."""


@dataclass(frozen=True)
class Changes:
    """In cycles: of the GDMA, for long runs, where a value goes through DDR, and of the TIU's
    commands where it does not, which takes `in_lanes`: elements may change their lanes in local
    memory, which `lane-moves` makes of a Reshape."""

    chip: Chip
    in_lanes: bool = False

    def transfer(self, value: SSAValue) -> float:
        """A store and a load in long runs."""
        rates = self.chip.store_bytes_per_cycle, self.chip.load_bytes_per_cycle
        return sum(size_in_bytes(value) / rate for rate in rates)

    def price(self, value: SSAValue, made: Lanes, read: Lanes) -> float:
        """Of a value that is made under some lanes and read under others."""
        through_ddr, local = self.transfer(value), self._local(value, made, read)
        return through_ddr if local is None else min(through_ddr, local)

    def is_local(self, value: SSAValue, made: Lanes, read: Lanes) -> bool:
        """Whether a value can change its lanes without leaving local memory."""
        return self._local(value, made, read) is not None

    def may_move(self, op: Operation, value: SSAValue) -> bool:
        """Whether an op only moves elements, of a value that may do so in local memory."""
        return self.in_lanes and movement_of(op) is not None and self._has_room(value)

    def _has_room(self, value: SSAValue) -> bool:
        return _SHARE * size_in_bytes(value) <= self.chip.lanes * self.chip.local_bytes

    def _local(self, value: SSAValue, made: Lanes, read: Lanes) -> int | None:
        if not self.in_lanes or len(shape_of(value)) > _RANK or not self._has_room(value):
            return None
        elements = math.prod(shape_of(value))
        if elements % made.rows or elements % read.rows:
            return None
        sides = (Rows(*lanes, elements // lanes.rows) for lanes in (made, read))
        return cycles_in_lanes(number_type(value), *sides, self.chip)
