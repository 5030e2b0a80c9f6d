"""Scales and zero points of packed weights, lane by lane.

Output n of a product lies on lane n mod L of L lanes. What a kernel for `tpu.A16MatMul` receives
of scale and zero point [N, K/g] is [L, ceil(N/L), K/g]: in row l the K/g numbers of the outputs
l, L + l, 2L + l and so on, so that one transfer brings long runs to every lane. Outputs that fill
up the last round have zeros. The weights stay [N, bytes of K].
"""

import math

import numpy as np

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.tensors import shape_of
from xdsl_tpu.passes.weight_data import Array, change_weight

SCALE, ZERO_POINT = 2, 3


def reorder_packed(op: tpu.A16MatMulOp, weights: Weights | None, chip: Chip) -> None:
    """Bring scale and zero point of a product into the order of the lanes."""
    lanes = chip.lanes

    def by_lane(data: Array) -> Array:
        outputs, groups = data.shape
        rounds = math.ceil(outputs / lanes)
        whole = np.zeros((rounds * lanes, groups), data.dtype)
        whole[:outputs] = data
        return whole.reshape(rounds, lanes, groups).transpose(1, 0, 2)

    for place in (SCALE, ZERO_POINT):
        if is_none(op.operands[place]):
            continue
        outputs, groups = shape_of(op.operands[place])
        shape = (lanes, math.ceil(outputs / lanes), groups)
        change_weight(op, place, shape, by_lane, weights)
