"""What the TIU computes in a function, and what is loaded for it, roughly, in cycles.

A network that waits for its weights is done no earlier with fewer cycles of the TIU.
"""

from bisect import bisect_left, bisect_right
from math import ceil, prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_ranked_tensor
from xdsl_tpu.dialects.interfaces.lane_view import lanes_of
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.interpreters.layouts import most_merged_rows
from xdsl_tpu.passes.tensors import element_bytes, is_weight, shape_of, size_in_bytes

PASSES: dict[type[Operation], int] = {
    tpu.ActiveOp: 18,
    tpu.LayerNormOp: 12,
    tpu.SoftRampOp: 12,
    tpu.SoftmaxOp: 16,
}
"""Instructions of ops on all that they make."""

FEW = 2
"""Those of others."""

VIEWS = tpu.ReshapeOp, tpu.SqueezeOp, tpu.UnsqueezeOp, top.WeightOp, top.NoneOp, top.InputOp


class Busy:
    """Where in a function the TIU computes about as long as weights are loaded for it, or longer.

    Weights run ahead as far as local memory has room, so that it is neighbours with half as many
    in front of an op, and half behind, that count.
    """

    def __init__(self, func: FuncOp, chip: Chip) -> None:
        rate = chip.tensor_derate / chip.load_bytes_per_cycle
        ops = list(func.body.block.ops)
        loaded = set[SSAValue]()
        self._places = {op: place for place, op in enumerate(ops)}
        self._work, self._loads = [0.0], [0.0]
        for op in ops:
            weights = [one for one in op.operands if is_weight(one) and _is_known(one)]
            size = sum(size_in_bytes(one) for one in weights if one not in loaded)
            loaded.update(weights)
            self._work.append(self._work[-1] + _of(op, chip))
            self._loads.append(self._loads[-1] + size * rate)
        self._reach = chip.lanes * chip.local_bytes * rate / 2

    def at(self, op: Operation) -> float:
        """Cycles of computing around an op over those of loading."""
        place = self._places[op]
        first = bisect_left(self._loads, self._loads[place] - self._reach)
        last = bisect_right(self._loads, self._loads[place + 1] + self._reach) - 1
        loads = self._loads[last] - self._loads[first]
        return (self._work[last] - self._work[first]) / max(loads, 1.0)


def _of(op: Operation, chip: Chip) -> int:
    known = [result for result in op.results if _is_known(result)]
    if isinstance(op, VIEWS) or not known or not all(map(_is_known, op.operands[:1])):
        return 0
    if isinstance(op, tpu.MatMulOp):
        return _product(op, chip)
    if isinstance(op, tpu.Conv2DOp):
        return _convolution(op, chip)
    if isinstance(op, tpu.FAttentionOp):
        return _attention(op, chip)
    return PASSES.get(type(op), FEW) * sum(_lines(result, chip) for result in known)


def _is_known(value: SSAValue) -> bool:
    return is_ranked_tensor(value.type) and known_shape(value.type) is not None


def _lines(value: SSAValue, chip: Chip, width: int = 0) -> int:
    shape = shape_of(value)
    images, channels = lanes_of(shape)
    inner = prod(shape) / max(images * channels, 1)
    return images * ceil(channels / chip.lanes) * ceil(inner / chip.eu(width or _width(value)))


def _width(value: SSAValue) -> int:
    return min(element_bytes(value), 4)


def _array(chip: Chip, sizes: tuple[int, int, int], width: int) -> int:
    """Rows over the lanes, columns and depth."""
    rows, columns, depth = sizes
    rounds = ceil(rows / chip.lanes) * ceil(columns / chip.cube_outputs[width])
    return rounds * ceil(depth / chip.cube_channels[width])


def _product(op: tpu.MatMulOp, chip: Chip) -> int:
    shape, left = (1, *shape_of(op.output)), shape_of(op.input)
    depth, width = left[-2 if op.left_transpose.value.data else -1], _width(op.input)
    rows = shape[2] if op.hdim_is_batch.value.data else shape[-2]
    images = prod(shape) // max(rows * shape[-1], 1)
    scaled = 2 * _lines(op.output, chip, 4) if width == 1 else _lines(op.output, chip)
    return images * _array(chip, (rows, shape[-1], depth), width) + scaled


def _convolution(op: tpu.Conv2DOp, chip: Chip) -> int:
    images, channels, *places = shape_of(op.output)
    taps, width, group = prod(ints(op.kernel_shape)), _width(op.input), op.group.value.data
    scaled = 2 * _lines(op.output, chip, 4) if width == 1 else 0
    depth, rows = shape_of(op.input)[1] // group, ints(op.kernel_shape)[0]
    if group == 1 and depth * rows <= most_merged_rows(width, chip.weight_lanes):
        depth, taps = depth * rows, taps // rows  # rows of an image become channels
    if depth == 1 and group == channels:
        return taps * _lines(op.output, chip, 4 if width == 1 else width) + scaled
    return taps * images * _array(chip, (channels, prod(places), depth), width) + scaled


def _attention(op: tpu.FAttentionOp, chip: Chip) -> int:
    """Both products, and a softmax of what is between them."""
    batch, heads, rows, keys, depth = (
        one.value.data for one in (op.batch, op.q_head, op.mq, op.mk, op.dim)
    )
    width = _width(op.queries)
    products = _array(chip, (rows, keys, depth), width) + _array(chip, (rows, depth, keys), width)
    scores = ceil(rows / chip.lanes) * ceil(keys / chip.eu(width))
    return batch * heads * (products + PASSES[tpu.SoftmaxOp] * scores)
