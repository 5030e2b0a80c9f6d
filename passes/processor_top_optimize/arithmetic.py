"""Element by element: two inputs at a time, and one op for a common idiom."""

from math import isclose

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.interfaces.shape_rules import broadcast
from xdsl_tpu.passes.calibration.ranges import range_of, range_of_sum, scaled_range, set_range
from xdsl_tpu.passes.canonicalize.common import has_relu, in_place_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_QUICK_GELU = 1.702
_TOLERANCE = 1e-4


class ConvertMultiInputAdd(RewritePattern):
    """Add(a, b, c) -> Add(Add(a, b), c), the relu at the end.

    What is summed before the end has a range of its own: of a sum that a relu ends, it reaches
    below zero, and it may reach beyond that of the whole.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.AddOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) <= 2 or not has_shapes(*op.inputs):
            return
        factors = (1.0,) * len(op.inputs) if op.coeff is None else floats(op.coeff)
        total, made = op.inputs[0], list[top.AddOp]()
        reach = scaled_range(total, factors[0])
        for index, value in enumerate(op.inputs[1:], start=1):
            last = index == len(op.inputs) - 1
            pair = (factors[0] if index == 1 else 1.0, factors[index])
            shape = broadcast(shape_of(total), shape_of(value))
            addition = top.AddOp.make(
                op.location if last else derived_name(op, f"_r_sum{index}"),
                (total, value),
                result_types=[tensor_like(op.output, shape)],
                coeff=None if pair == (1.0, 1.0) else pair,
                do_relu=op.do_relu if last else False,
                relu_limit=op.relu_limit if last else -1.0,
            )
            made.append(addition)
            reach = range_of_sum(reach, scaled_range(value, factors[index]))
            if not last and reach is not None and range_of(addition.output) is not None:
                set_range(addition.output, reach)
            total = addition.output
        rewriter.replace(op, made)


class DivBySqrt(RewritePattern):
    """Div(x, Sqrt(y)) -> Mul(x, Rsqrt(y)), when nothing else uses the root."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.DivOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or op.is_reverse.value.data:
            return
        root = sole_producer(op.inputs[1], top.SqrtOp)
        if root is None:
            return
        inverse = top.RsqrtOp.make(
            derived_name(root, "_r_rsqrt"), (root.input,), result_types=[root.output.type]
        )
        product = in_place_of(op, top.MulOp, (op.inputs[0], inverse))
        rewriter.replace(op, [inverse, product])


class SquareOfAbs(RewritePattern):
    """Mul(Abs(x), Abs(x)) -> Mul(x, x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        absolutes = [value.owner for value in op.inputs if isinstance(value.owner, top.AbsOp)]
        if len(op.inputs) != 2 or len(absolutes) != 2:
            return
        if absolutes[0].input is absolutes[1].input:
            op.operands = [absolute.input for absolute in absolutes]
            rewriter.notify_op_modified(op)


class MulToQuickGELU(RewritePattern):
    """Mul(x, Sigmoid(MulConst(x, 1.702))) -> GELU(x) {approx_mode = "sigm"}."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 2 or has_relu(op):
            return
        for value, other in (op.inputs, reversed(op.inputs)):
            sigmoid = sole_producer(other, top.SigmoidOp)
            scaled = None if sigmoid is None else sole_producer(sigmoid.input, top.MulConstOp)
            if sigmoid is None or scaled is None or scaled.input is not value or has_relu(scaled):
                continue
            plain = (sigmoid.scale.value.data, sigmoid.bias.value.data) == (1.0, 0.0)
            if not plain or sigmoid.log.value.data:
                continue
            if isclose(scaled.const_val.value.data, _QUICK_GELU, abs_tol=_TOLERANCE):
                gelu = top.GELUOp.make(
                    op.location, (value,), result_types=[op.output.type], approx_mode="sigm"
                )
                rewriter.replace(op, gelu)
                return
