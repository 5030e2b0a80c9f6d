"""Scale: the chip has none, a convolution does it."""

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu
from xdsl_tpu.passes.constants import is_f32_weight, make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer
from xdsl_tpu.passes.tensors import shape_of


class MergeScale2Conv(RewritePattern):
    """Scale(Conv(x, W, b), s, t) -> Conv(x, W * s, b * s + t), when the Conv has no relu."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        conv = sole_producer(op.input, top.ConvOp)
        if conv is None or has_relu(conv):
            return
        kernels, scale, shift = (values_of(v) for v in (conv.filter, op.scale, op.bias))
        if kernels is None or scale is None or shift is None:
            return
        scale, bias = scale.reshape(-1), shift.reshape(-1)
        if not is_none(conv.bias):
            if (old := values_of(conv.bias)) is None:
                return
            bias = old.reshape(-1) * scale + bias
        per_output = scale.reshape(-1, *(1 for _ in kernels.shape[1:]))
        weights = [
            make_weight(op, derived_name(op, "_merge_filter_weight"), kernels * per_output),
            make_weight(op, derived_name(op, "_merge_bias_weight"), bias),
        ]
        merged = rebuilt(conv, operands=(conv.input, *weights), location=op.location)
        merged.do_relu, merged.relu_limit = op.do_relu, op.relu_limit
        rewriter.replace(op, [*weights, merged])


class MergeScaleIntoMatMul(RewritePattern):
    """Scale(Reshape(MatMul(x, W, b)), s, t) -> Reshape(MatMul(x, W * s, b * s + t)).

        MatMul   1x16x128 @ 128x256
        Reshape  1x16x256 -> 16x256           ->  MatMul   1x16x128 @ 128x256
        Scale    16x256 by 1x256                  Reshape  1x16x256 -> 16x256

    The channels of rows are their elements: a scale in rank 2. There may be no Reshape.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        flat = sole_producer(op.input, top.ReshapeOp)
        product = sole_producer(op.input if flat is None else flat.input, top.MatMulOp)
        if product is None or has_relu(product) or not has_shapes(op.input, product.output):
            return
        turned = product.right_transpose, product.left_transpose, product.output_transpose
        if any(flag.value.data for flag in (*turned, product.hdim_is_batch)):
            return
        matrix, scale, shift = (values_of(v) for v in (product.right, op.scale, op.bias))
        if matrix is None or scale is None or shift is None or matrix.ndim != 2:
            return
        width = matrix.shape[1]
        ends = shape_of(op.input)[1:], shape_of(product.output)[-1:]
        if ends != ((width,), (width,)):
            return
        total = shift.reshape(-1)
        if not is_none(product.bias):
            if (old := values_of(product.bias)) is None:
                return
            total = old.reshape(-1) * scale.reshape(-1) + total
        bias = total.reshape(*(1,) * (len(shape_of(product.output)) - 1), width)
        weights = [
            make_weight(op, derived_name(op, "_merge_right"), matrix * scale.reshape(-1)),
            make_weight(op, derived_name(op, "_merge_bias"), bias),
        ]
        name = op.location if flat is None else name_loc(derived_name(op, "_r_rows"))
        kind = op.output.type if flat is None else product.output.type
        operands = (product.input, *weights, *product.operands[3:])
        merged = rebuilt(product, operands=operands, result_types=[kind], location=name)
        merged.do_relu, merged.relu_limit = op.do_relu, op.relu_limit
        made: list[Operation] = [*weights, merged]
        if flat is not None:
            made.append(
                rebuilt(
                    flat,
                    operands=(merged.output,),
                    result_types=[op.output.type],
                    location=op.location,
                )
            )
        rewriter.replace(op, made)


class ConvertScaleOp(RewritePattern):
    """Scale(x: NxCxHxW, s, t) -> Conv(x, s: Cx1x1x1, t) with a group for each channel."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScaleOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input) or len(shape_of(op.input)) not in (3, 4):
            return
        if not is_f32_weight(op.scale) or not is_f32_weight(op.bias):
            return
        scale, shift = values_of(op.scale), values_of(op.bias)
        if scale is None or shift is None:
            return
        channels = shape_of(op.input)[1]
        weights = [
            make_weight(op, derived_name(op, "_filter_weight"), scale.reshape(channels, 1, 1, 1)),
            make_weight(op, derived_name(op, "_bias_weight"), shift.reshape(channels)),
        ]
        conv = top.ConvOp.make(
            op.location,
            (op.input, *weights),
            result_types=[op.output.type],
            kernel_shape=(1, 1),
            strides=(1, 1),
            pads=(0, 0, 0, 0),
            dilations=(1, 1),
            group=channels,
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        rewriter.replace(op, [*weights, conv])
