"""What 8 bits save on a chip: its array, its memory and its lanes take more of them at a time."""

from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.passes.flops import flops
from xdsl_tpu.passes.tensors import shape_of

_INT8, _F16 = 1, 2
"""Bytes of an element."""


@dataclass(frozen=True)
class Rates:
    """How much of each takes a cycle more in 16 bits than in 8."""

    macs: float
    moved: float
    """Elements between DDR and local memory."""
    computed: float
    """Elements of an instruction outside the array."""
    cast: float
    """Elements of an instruction in 16 bits, which takes a cycle for them in any case."""

    @staticmethod
    def of(chip: Chip) -> "Rates":
        """The rates of a chip's description."""
        array = {
            width: chip.lanes * chip.cube_channels[width] * chip.cube_outputs[width]
            for width in (_INT8, _F16)
        }
        lanes = {width: chip.lanes * chip.eu(width) for width in (_INT8, _F16)}
        moved = chip.load_bytes_per_cycle / chip.tensor_derate
        return Rates(_gain(array), moved / (_F16 - _INT8), _gain(lanes), lanes[_F16])

    def saved(self, op: Operation) -> float:
        """Cycles that an op takes less in 8 bits than in 16, roughly: in DDR's and the array's."""
        tensors = [v for v in (*op.operands, *op.results) if is_ranked_tensor(v.type)]
        return flops(op) / 2 / self.macs + sum(prod(shape_of(v)) for v in tensors) / self.moved


def _gain(rate: dict[int, int]) -> float:
    """What one cycle more is needed for, from what is done in a cycle."""
    return 1 / (1 / rate[_F16] - 1 / rate[_INT8])
