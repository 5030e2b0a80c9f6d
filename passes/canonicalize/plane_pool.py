"""Pools over three dimensions of which the windows are one plane deep."""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.split import slice_every
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_RANK = 5


class PlanePool(RewritePattern):
    """A pool of volumes whose windows are one plane deep -> a pool of planes, of those it reads.

        MaxPool  1x1x128x20x90 -> 1x1x64x18x44      Reshape  1x128x20x90
           {kernel_shape = [1, 3, 3],           ->  Slice    1x64x20x90  {steps = [1, 2, 1, 1]}
            strides = [2, 1, 2]}                    MaxPool  1x64x18x44  {kernel_shape = [3, 3]}
                                                    Reshape  1x1x64x18x44

    Images of one channel have planes for channels, of which a convolution before need not make
    those that are left out. (LPRNet, arXiv 1806.10447, takes maxima of channels so.)
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.MaxPoolOp | top.AvgPoolOp, rewriter: PatternRewriter
    ) -> None:
        kernel, pads = ints(op.kernel_shape), ints(op.pads)
        if len(kernel) != _RANK - 2 or kernel[0] != 1 or not has_shapes(op.input, op.output):
            return
        made = shape_of(op.output)
        if len(made) != _RANK or pads[0] or pads[3]:
            return
        n, c, _, *plane = shape_of(op.input)
        step, depth = ints(op.strides)[0], made[2]
        value, axis, ops = op.input, 2, list[Operation]()
        if c == 1:
            ops.append(reshape(derived_name(op, "_r_planes"), value, (n, *shape_of(value)[2:])))
            value, axis = ops[-1].results[0], 1
        if step > 1:
            name = derived_name(op, "_r_some")
            ops.append(slice_every(name, value, axis, step, depth, none_for(op, rewriter)))
            value = ops[-1].results[0]
        if shape_of(value) != (planes := (n, c * depth, *plane)):
            ops.append(reshape(derived_name(op, "_r_as_planes"), value, planes))
            value = ops[-1].results[0]
        pool = rebuilt(
            op,
            operands=(value,),
            result_types=[tensor_like(op.output, (n, c * depth, *made[3:]))],
        )
        pool.location = name_loc(derived_name(op, "_r_pool"))
        pool.kernel_shape = I64_ARRAY.encode(kernel[1:])
        pool.strides = I64_ARRAY.encode(ints(op.strides)[1:])
        pool.pads = I64_ARRAY.encode([*pads[1:3], *pads[4:]])
        rewriter.replace(op, [*ops, pool, reshape(op.location, pool.output, made)])
