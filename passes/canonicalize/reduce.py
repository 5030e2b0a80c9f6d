"""Reduce: over nothing, over the image, twice."""

from math import prod, sqrt

from xdsl.dialects.builtin import FloatAttr, StringAttr, f64
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY, ints
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import HARDWARE_RANK, VIEWS, has_relu, reshape
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    rebuilt,
    sole_producer,
    sole_user,
    tensor_like,
    without_range,
)
from xdsl_tpu.passes.tensors import axis_behind_view, shape_of

_KEEPS_SINGLES = frozenset({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"})
"""Modes that give back a single element as it is (ReduceL1 and ReduceL2 give its size)."""


_NEARLY_ONE = 0.5, 2.0
"""Factors that are left of what makes a mean of a sum, as those of variances are."""

_DIGIT = 2.0**-23
"""What f32 does not tell from 1."""


class ReduceToReshape(RewritePattern):
    """Reduce(x: 8x1x4) {axes = [1]} -> Reshape(x), as each element stands alone."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output) or op.mode.data not in _KEEPS_SINGLES:
            return
        if prod(shape_of(op.input)) == prod(shape_of(op.output)):
            rewriter.replace(op, reshape(op.location, op.input, shape_of(op.output)))


class ReduceToPool(RewritePattern):
    """Reduce(x: NxCxHxW) {ReduceMean, axes = [2, 3]} -> AvgPool(x) {kernel = [H, W]}.

    ReduceMax becomes MaxPool. Integers have no pool.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        pools = {"ReduceMean": top.AvgPoolOp, "ReduceMax": top.MaxPoolOp}
        pool = pools.get(op.mode.data)
        if pool is None or not has_shapes(op.input, op.output) or is_integer_tensor(op.input):
            return
        if len(shape_of(op.input)) != 4 or ints(op.axes) not in ((2, 3), (-2, -1)):
            return
        pooled = pool.make(
            op.location,
            (op.input,),
            result_types=[op.output.type],
            kernel_shape=shape_of(op.input)[2:],
            strides=(1, 1),
            pads=(0, 0, 0, 0),
            count_include_pad=True,
            keepdims=op.keepdims,
        )
        rewriter.replace(op, pooled)


class KeepReducedDims(RewritePattern):
    """Reshape(Reduce(x: 1x8x64) {axes = [2]}: 1x8): 1x8x1 -> Reduce(x) {axes = [2], keepdims}.

    The dimensions that are lost may come back by an Unsqueeze, too: so a variance is exported.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        view = sole_user(op.output, top.ReshapeOp) or sole_user(op.output, top.UnsqueezeOp)
        if view is None or op.keepdims.value.data or not has_shapes(op.input, view.output):
            return
        shape = shape_of(op.input)
        gone = {axis % len(shape) for axis in ints(op.axes)}
        kept = tuple(1 if axis in gone else size for axis, size in enumerate(shape))
        if shape_of(view.output) != kept:
            return
        made = rebuilt(op, result_types=[view.output.type], location=view.location)
        made.attributes["keepdims"] = BOOL.convert(True)
        rewriter.replace(view, made)
        rewriter.erase(op)


class MergeReduces(RewritePattern):
    """Reduce(Reduce(x) {axes = [3]}) {axes = [2]} -> Reduce(x) {axes = [2, 3]}.

    Both are of one mode that can be done in two steps, and treat their axes alike.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        inner = sole_producer(op.input, top.ReduceOp)
        if inner is None or inner.mode != op.mode or op.mode.data not in _KEEPS_SINGLES:
            return
        if bool(op.keepdims.value.data) != bool(inner.keepdims.value.data):
            return
        if not has_shapes(inner.input, op.input):
            return
        first, second = _axes(inner), _axes(op)
        if not op.keepdims.value.data:
            left = [axis for axis in range(len(shape_of(inner.input))) if axis not in first]
            second = tuple(left[axis] for axis in second)
        axes = tuple(sorted({*first, *second}))
        if axes != tuple(range(axes[0], axes[-1] + 1)):
            return
        merged = rebuilt(op, operands=(inner.input,))
        merged.axes = I64_ARRAY.encode(axes)
        rewriter.replace(op, merged)


class TopReduceTranspose(RewritePattern):
    """Reduce(Permute(x, [0, 2, 3, 1])) {axes = [1, 2]} -> Reduce(x) {axes = [2, 3]}.

    Without keepdims, and when the dimensions that stay keep their order.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        permute = sole_producer(op.input, top.PermuteOp)
        if permute is None or op.keepdims.value.data or not has_shapes(permute.input):
            return
        order, reduced = ints(permute.order), set(_axes(op))
        staying = [axis for index, axis in enumerate(order) if index not in reduced]
        if staying != sorted(staying):
            return
        moved = rebuilt(op, operands=(permute.input,))
        moved.axes = I64_ARRAY.encode(sorted(order[axis] for axis in reduced))
        rewriter.replace(op, moved)


class ReduceBeforeView(RewritePattern):
    """Reduce(Reshape(x: 4x1600x80 -> 1x4x40x40x80), axes = [4]) -> Reshape(Reduce(x, axes = [2])).

    What is reduced is whole in x, too, which has fewer dimensions: no op of the chip has more than
    four. So einsum writes the scores of pixels and texts whose largest is taken (arXiv 2401.17270).
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        view = op.input.owner
        if not isinstance(view, VIEWS) or not has_shapes(view.operands[0], op.input, op.output):
            return
        source, seen = shape_of(view.operands[0]), shape_of(op.input)
        if len(seen) <= HARDWARE_RANK or len(source) >= len(seen):
            return
        found = [axis_behind_view(axis, seen, source) for axis in _axes(op)]
        axes = [axis for axis in found if axis is not None]
        if len(set(axes)) < len(found) or len(axes) == len(source):
            return
        shape = [size for axis, size in enumerate(source) if axis not in axes]
        reduced = rebuilt(
            op,
            operands=(view.operands[0],),
            result_types=[tensor_like(op.output, shape)],
            location=name_loc(derived_name(op, "_before_view")),
        )
        reduced.axes = I64_ARRAY.encode(axes)
        reduced.keepdims = BOOL.encode(False)
        back = reshape(op.location, reduced.output, shape_of(op.output))
        rewriter.replace(op, [reduced, back])


class RootOfSquares(RewritePattern):
    """Sqrt(MulConst(Reduce(Mul(x, x)) {ReduceSum}, c)) -> MulConst(Reduce(x) {ReduceL2}, sqrt(c)).

    A ReduceMean is a sum times a number, too. The root of large or many squares is within f16
    where these and their sum are not.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SqrtOp, rewriter: PatternRewriter) -> None:
        scaled = sole_producer(op.input, top.MulConstOp)
        if scaled is not None and (has_relu(scaled) or scaled.const_val.value.data <= 0):
            return
        total = sole_producer(op.input if scaled is None else scaled.input, top.ReduceOp)
        if total is None or not has_shapes(total.input):
            return
        squares = sole_producer(total.input, top.MulOp)
        if squares is None or has_relu(squares) or len(squares.inputs) != 2:
            return
        x = squares.inputs[0]
        terms = prod(shape_of(total.input)[axis] for axis in _axes(total))
        parts = {"ReduceSum": 1, "ReduceMean": terms}.get(total.mode.data)
        if parts is None or x is not squares.inputs[1] or is_integer_tensor(x):
            return
        factor = (1.0 if scaled is None else scaled.const_val.value.data) / parts
        alone = factor == 1
        kind = op.output.type if alone else without_range(total.output)
        name = op.location if alone else name_loc(derived_name(op, "_r_length"))
        length = rebuilt(total, operands=(x,), result_types=[kind], location=name)
        length.mode = StringAttr("ReduceL2")
        if alone:
            rewriter.replace(op, length)
            return
        root = top.MulConstOp.make(
            op.location, (length.output,), result_types=op.result_types, const_val=sqrt(factor)
        )
        rewriter.replace(op, [length, root])


class SumToMean(RewritePattern):
    """MulConst(Reduce(x: 1x64x500) {ReduceSum, axes = [2]}, 1 / 499) -> MulConst(Reduce(x)
    {ReduceMean}, 500 / 499).

    Of a factor of about one over the terms; one that is just that goes. A sum may be beyond f16
    whose mean is not.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MulConstOp, rewriter: PatternRewriter) -> None:
        total = sole_producer(op.input, top.ReduceOp)
        if total is None or total.mode.data != "ReduceSum" or not has_shapes(total.input):
            return
        if is_integer_tensor(total.input):
            return
        terms = prod(shape_of(total.input)[axis] for axis in _axes(total))
        rest = op.const_val.value.data * terms
        if not _NEARLY_ONE[0] <= rest <= _NEARLY_ONE[1]:
            return
        alone = abs(rest - 1) < _DIGIT and not has_relu(op)
        kind = op.output.type if alone else without_range(total.output)
        name = op.location if alone else name_loc(derived_name(total, "_r_mean"))
        mean = rebuilt(total, result_types=[kind], location=name)
        mean.mode = StringAttr("ReduceMean")
        if alone:
            rewriter.replace(op, mean)
            return
        scaled = rebuilt(op, operands=(mean,))
        scaled.const_val = FloatAttr(rest, f64)
        rewriter.replace(op, [mean, scaled])


def _axes(op: top.ReduceOp) -> tuple[int, ...]:
    rank = len(shape_of(op.input))
    return tuple(axis % rank for axis in ints(op.axes))
