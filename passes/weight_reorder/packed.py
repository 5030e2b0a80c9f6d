"""Scales and zero points of packed weights, lane by lane.

Output n of a product lies on lane n mod L of L lanes. What a kernel for `tpu.A16MatMul` or
`tpu.Mlp` receives of scale and zero point [N, K/g] is [L, ceil(N/L), K/g]: in row l the K/g numbers
of the outputs l, L + l, 2L + l and so on, so that one transfer brings long runs to every lane.
Outputs that fill up the last round have zeros. The weights stay [N, bytes of K].
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

    def by_lane(data: Array) -> Array:
        outputs, groups = data.shape
        rounds = math.ceil(outputs / lanes)
        whole = np.zeros((rounds * lanes, groups), data.dtype)
        whole[:outputs] = data
        return whole.reshape(rounds, lanes, groups).transpose(1, 0, 2)

    for place in FACTORS[type(op)]:
        if is_none(op.operands[place]):
            continue
        outputs, groups = shape_of(op.operands[place])
        shape = (lanes, math.ceil(outputs / lanes), groups)
        change_weight(op, place, shape, by_lane, weights)
