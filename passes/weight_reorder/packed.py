"""Scales and zero points of packed weights, lane by lane.

Output n of a product lies on lane n mod L of L lanes. What a kernel for `tpu.A16MatMul` or
`tpu.Mlp` receives of scale and zero point [N, K/g] is [blocks, L, B, K/g]: B rounds of L outputs
make a block, in whose row l are the K/g numbers of the outputs l, L + l and so on. B is such that a
row of zero points fills a row of DDR, so that blocks are loaded at full rate, if there are as many.
Outputs that fill up the last block have zeros. The weights stay [N, bytes of K].
"""

import math

import numpy as np
from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.tensors import shape_of
from xdsl_tpu.passes.weight_data import Array, change_weight

FACTORS: dict[type[Operation], tuple[int, ...]] = {
    tpu.A16MatMulOp: (2, 3),
    tpu.MlpOp: (2, 3, 6, 7, 10, 11),
}
"""Which operands are scales and zero points."""


def reorder_packed(op: tpu.A16MatMulOp | tpu.MlpOp, weights: Weights | None, chip: Chip) -> None:
    """Bring scales and zero points of products into the order of the lanes."""
    lanes = chip.lanes
    for place in FACTORS[type(op)]:
        if is_none(op.operands[place]):
            continue
        outputs, groups = shape_of(op.operands[place])
        rounds = min(math.ceil(chip.ddr_row_bytes / groups), math.ceil(outputs / lanes))
        blocks = math.ceil(outputs / (lanes * rounds))

        def by_lane(data: Array, sizes: tuple[int, int, int] = (blocks, rounds, groups)) -> Array:
            blocks, rounds, groups = sizes
            whole = np.zeros((blocks * rounds * lanes, groups), data.dtype)
            whole[: len(data)] = data
            return whole.reshape(blocks, rounds, lanes, groups).swapaxes(1, 2)

        change_weight(op, place, (blocks, lanes, rounds, groups), by_lane, weights)
