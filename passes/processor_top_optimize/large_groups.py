"""Convolutions in groups whose filters together are too large for local memory."""

from math import gcd, prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_INT
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import Floats, linear_of, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    module_of,
    none_for,
    rebuilt,
    tensor_like,
)
from xdsl_tpu.passes.module_state import MODE_BYTES, chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

SHARE = 3 / 8
"""Of local memory for the filters of a convolution: those of the next one come meanwhile, and an
image wants room, too."""


class LargeGroups(RewritePattern):
    """Conv(x) in groups -> Concat of convolutions, each of some of the groups.

        Conv 1x3712x14x14, 3712x232x3x3   ->  Slice, Slice    1x1856x14x14
          {group = 16}                        Conv, Conv      1856x232x3x3 {group = 8}
                                              Concat          1x3712x7x7

    Filters of groups lie in local memory together, as channels of a group begin in any lane. Those
    that take more than `SHARE` of it are used in parts, which begin in the first lane if groups
    do somewhere.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        groups = op.group.value.data
        if groups == 1 or not has_shapes(op.input, op.filter, op.output):
            return
        chip, size = chip_of(module_of(op)), MODE_BYTES[float_format(module_of(op)) or "F16"]
        results, depth, *_ = shape_of(op.filter)
        share = SHARE * chip.lanes * chip.local_bytes / (prod(shape_of(op.filter)) * size)
        known = linear_of(op.filter, op.bias)
        if share >= 1 or depth == 1 or known is None:
            return
        most = max(1, int(share * groups))
        each = gcd(depth, results // groups)
        aligned = chip.lanes // gcd(chip.lanes, each)
        if aligned < groups:
            most = max(1, most // aligned) * aligned
        rewriter.replace(op, _in_parts(op, *known, most, none_for(op, rewriter)))


def _in_parts(
    op: top.ConvOp, filters: Floats, bias: Floats | None, most: int, none: SSAValue
) -> list[Operation]:
    """Convolutions of `most` groups each, and what puts their results together."""
    groups, ops, made = op.group.value.data, list[Operation](), list[SSAValue]()
    images, results, *rest = shape_of(op.output)
    depth, width = filters.shape[1], results // groups
    for number, first in enumerate(range(0, groups, most)):
        last, name = min(first + most, groups), derived_name(op, f"_r_groups{number}")
        which = slice(first * width, last * width)
        read = slice_along(f"{name}_read", op.input, 1, (first * depth, last * depth), none)
        weights = [make_weight(op, f"{name}_filter", filters[which])]
        if bias is not None:
            weights.append(make_weight(op, f"{name}_bias", bias[which]))
        conv = rebuilt(
            op,
            operands=[read, *weights, *op.operands[1 + len(weights) :]],
            result_types=[tensor_like(op.output, (images, which.stop - which.start, *rest))],
            location=name_loc(name),
        )
        conv.group = I64_INT.encode(last - first)
        ops += [read, *weights, conv]
        made.append(conv.output)
    joined = top.ConcatOp.make(op.location, made, result_types=[op.output.type], axis=1)
    return [*ops, joined]
