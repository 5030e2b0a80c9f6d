"""Sums over the few parts that the channels of an image are divided into."""

import math

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, none_for, tensor_like
from xdsl_tpu.passes.module_state import text_attribute
from xdsl_tpu.passes.tensors import shape_of

MOST_PARTS = 4
"""More would be added one after the other for longer than a reduction takes."""


class ReduceOfParts(RewritePattern):
    """Reduce(x: 1x2xCxHxW) {ReduceSum, axes = [1]} -> Add(Slice(image, C), Slice(image, C)).

    The image, 1x2CxHxW, is a Reshape of x. Channels lie over the lanes and the parts of an image
    are ranges of them, which layer groups hold; a reduction wants its axis in a row of one lane.
    So are means, times 1 / parts. Integer networks keep the reduction: partial sums have no scale.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        mode, axes = op.mode.data, ints(op.axes)
        if mode not in {"ReduceSum", "ReduceMean"} or len(axes) != 1:
            return
        if not has_shapes(op.input, op.output):
            return
        if text_attribute(module_of(op), "module.mode") == "INT8":
            return
        shape = shape_of(op.input)
        axis = axes[0] % len(shape)
        count, inner = shape[axis], shape[axis + 1 :]
        if not 1 < count <= MOST_PARTS or len(inner) < 3:
            return
        channels, image = inner[0], (math.prod(shape[:axis]), count * inner[0], *inner[1:])
        seen, none = reshape(derived_name(op, "_r_image"), op.input, image), none_for(op, rewriter)
        parts = [
            slice_along(
                derived_name(op, f"_r_part{index}"),
                seen.output,
                1,
                (index * channels, (index + 1) * channels),
                none,
            )
            for index in range(count)
        ]
        made: list[Operation] = [seen, *parts]
        kind = tensor_like(op.output, (image[0], *inner))
        total = parts[0].output
        for index, part in enumerate(parts[1:], 1):
            name = derived_name(op, f"_r_sum{index}")
            added = top.AddOp.make(name, (total, part.output), result_types=[kind])
            made.append(added)
            total = added.output
        if mode == "ReduceMean":
            name, share = derived_name(op, "_r_mean"), 1 / count
            scaled = top.MulConstOp.make(name, (total,), result_types=[kind], const_val=share)
            made.append(scaled)
            total = scaled.output
        made.append(reshape(op.location, total, shape_of(op.output)))
        rewriter.replace(op, made)
