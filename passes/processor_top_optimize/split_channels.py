"""Convolutions whose channels are used in parts become one for each part."""

from collections.abc import Iterator
from itertools import accumulate

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_INT
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import UnaryOp
from xdsl_tpu.passes.canonicalize.split import shared_out
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, rebuilt, tensor_like, users
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.tensors import shape_of

_CHANNELS = 1
"""The axis of N, C, .. that has the channels."""


class SplitConvByChannels(RewritePattern):
    """Slices(Conv(Conv(x, W), D: depthwise)) -> Conv(Conv(x, W[i]), D[i]) for each Slice.

        Conv   1x48x128x128, 144x48x1x1          Conv   1x48x128x128, 48x48x1x1     (3 times)
        Conv   1x144x128x128, 144x1x3x3    ->    Conv   1x48x128x128, 48x1x3x3      (3 times)
        Slice  1x48x128x128    (3 times)

    A channel lies in a lane, and a part that begins in any but the first has to change its lanes.
    Between convolution and Slices there may be depthwise convolutions and what is computed element
    by element. Only the Slices read the result, and take each channel once. The parts may not
    occupy more groups of lanes than the channels together, each of which takes as long as a full
    one.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if op.group.value.data != 1 or not _is_cuttable(op):
            return
        chain = [op, *_behind(op.output)]
        found = shared_out(chain[-1].results[0])
        if found is None or found[0] != _CHANNELS:
            return
        cuts = found[1]
        counts = [shape_of(cut.output)[_CHANNELS] for cut in cuts]
        ends = list(accumulate(counts))
        lanes = chip_of(module_of(op)).lanes
        if all(end % lanes == 0 for end in ends[:-1]):
            return
        if sum(-(-count // lanes) for count in counts) > -(-ends[-1] // lanes):
            return
        for index, (cut, count, end) in enumerate(zip(cuts, counts, ends, strict=True)):
            last: Operation | None = None
            for link in chain:
                value = op.input if last is None else last.results[0]
                *weights, made = _of_part(link, value, slice(end - count, end), index)
                rewriter.insert([*weights, made])
                last = made
            assert last is not None  # a chain begins with the convolution
            last.location = cut.location
            rewriter.replace(cut, (), last.results)
        for link in reversed(chain):
            rewriter.erase(link)


def _is_cuttable(op: top.ConvOp) -> bool:
    weights = (op.filter,) if is_none(op.bias) else (op.filter, op.bias)
    return has_shapes(op.input, op.output) and all(map(is_f32_weight, weights))


def _behind(value: SSAValue) -> Iterator[top.ConvOp | UnaryOp]:
    """The ops one behind the other that treat each channel of a value by itself."""
    while len(readers := users(value)) == 1 and value.has_one_use():
        (op,) = readers
        if isinstance(op, top.ConvOp):
            filters = shape_of(op.filter)[0]
            if not filters == op.group.value.data == shape_of(value)[1] or not _is_cuttable(op):
                return
        elif not isinstance(op, UnaryOp):
            return
        yield op
        value = op.results[0]


def _of_part(
    op: top.ConvOp | UnaryOp, value: SSAValue, part: slice, index: int
) -> Iterator[Operation]:
    """What `op` computes of the channels in `part`; it comes last."""
    name = derived_name(op, f"_r_channels{index}")
    count = part.stop - part.start
    operands: list[SSAValue] = [value, *op.operands[1:]]
    if isinstance(op, top.ConvOp):
        for place, weight in enumerate(op.operands[1:], 1):
            if not is_none(weight):
                own = _channels(op, weight, part, derived_name(weight, f"_r_channels{index}"))
                operands[place] = own.output
                yield own
    images, _, *rest = shape_of(op.results[0])
    made = rebuilt(
        op,
        operands=operands,
        result_types=[tensor_like(op.results[0], (images, count, *rest))],
        location=name_loc(name),
    )
    if isinstance(made, top.ConvOp) and made.group.value.data != 1:
        made.group = I64_INT.encode(count)
    yield made


def _channels(op: Operation, weight: SSAValue, part: slice, name: str) -> top.WeightOp:
    """The rows of a filter or of a bias, or only a type when the numbers are not known."""
    shape = shape_of(weight)
    axis = next((axis for axis, size in enumerate(shape) if size != 1), 0)
    if (values := values_of(weight)) is not None:
        return make_weight(op, name, np.take(values, range(part.start, part.stop), axis))
    kind = tensor_like(weight, (*shape[:axis], part.stop - part.start, *shape[axis + 1 :]))
    return top.WeightOp.make(name, (), result_types=[kind])
