"""Convolutions whose filters are too large for local memory."""

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import in_place_of
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    module_of,
    none_for,
    rebuilt,
    tensor_like,
)
from xdsl_tpu.passes.module_state import chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

_BYTES = {"F32": 4, "F16": 2, "BF16": 2}

SHARE = 3 / 8
"""Of a lane's memory for the filters of one output channel: those of the next one come meanwhile,
and an image wants room, too."""


class LargeFilter(RewritePattern):
    """Conv(x: NxCxHxW) -> Add(Conv(x[:, :C/2]), Conv(x[:, C/2:])).

        Conv 1x8192x7x7, 64x8192x3x3  ->  Slice, Slice    1x4096x7x7
                                          Conv, Conv      64x4096x3x3
                                          Add

    A lane holds the filter of an output channel while that is computed. One that takes more than
    `SHARE` of its memory is applied to half of the input channels at a time, in floats alone: of
    8-bit integers the ranges of the halves are not known.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.filter, op.output) or op.group.value.data != 1:
            return
        chip, size = chip_of(module_of(op)), _BYTES.get(float_format(module_of(op)) or "F16")
        if size is None:
            return
        _, channels, *kernel = shape_of(op.filter)
        block = chip.weight_lanes.channels(size)
        blocks = -(-channels // block)
        taps = 1
        for length in kernel:
            taps *= length
        if blocks < 2 or blocks * block * taps * size <= SHARE * chip.local_bytes:
            return
        filters = values_of(op.filter)
        if filters is not None:
            cut = blocks // 2 * block
            rewriter.replace(op, _in_halves(op, filters, cut, none_for(op, rewriter)))


def _in_halves(op: top.ConvOp, filters: Floats, cut: int, none: SSAValue) -> list[Operation]:
    shape = list(shape_of(op.input))
    made: list[Operation] = []
    sums: list[SSAValue] = []
    for number, (low, high) in enumerate(((0, cut), (cut, shape[1]))):
        part = [shape[0], high - low, *shape[2:]]
        some = top.SliceOp.make(
            derived_name(op, f"_r_channels_{low}"),
            (op.input, none, none, none),
            result_types=[tensor_like(op.input, part)],
            offset=[0, low, *(0 for _ in ints(op.kernel_shape))],
            ends=[shape[0], high, *shape[2:]],
            steps=[1] * len(shape),
            hasparamConvert_axes=[1],
        )
        weight = make_weight(op, derived_name(op, f"_filter_{low}"), filters[:, low:high])
        bias = none if number else op.bias
        conv = rebuilt(
            op,
            operands=(some.output, weight.output, bias),
            location=name_loc(derived_name(op, f"_r_sum_{low}")),
        )
        conv.do_relu = BOOL.convert(False)
        made += [some, weight, conv]
        sums.append(conv.output)
    return [*made, in_place_of(op, top.AddOp, sums)]
