"""The largest of several rows of a product, as networks of points take it over the points of a set.

Where a product has few columns to sum over and more that it gives, its operand is the smaller thing
to turn: columns then lie over the lanes, and the rows of a set in the row of one lane.
"""

from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_WIDER = 4
"""How many times as many columns a product must give as it sums over."""

_RANK_OF_A_SET = 2


class PooledRows(RewritePattern):
    """Reduce(MatMul(x: 2000x32x9, W: 9x64)) {ReduceMax, axes = [1]} -> Reduce(Conv(x turned)).

    Permute  1x64000x9 -> 1x9x64000
    Conv     1x9x2000x32 -> 1x64x2000x32  {kernel = [1, 1]}
    Reduce   1x64x2000  {ReduceMax, axes = [3]}
    Permute  1x2000x64
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, top.MatMulOp)
        if (
            product is None
            or op.mode.data != "ReduceMax"
            or not has_shapes(op.output, product.input)
        ):
            return
        right = values_of(product.right)
        bias = product.bias if is_none(product.bias) else values_of(product.bias)
        if right is None or bias is None or not _pools_sets(op, product, right.shape):
            return
        made: list[Operation] = []
        image = _image(product, made)
        filters = make_weight(
            op, derived_name(product.right, "_r_filter"), right.T[:, :, None, None]
        )
        made.append(filters)
        if not isinstance(bias, SSAValue):
            weight = make_weight(op, derived_name(product, "_r_bias"), bias.reshape(-1))
            made.append(weight)
            bias = weight.output
        shape = shape_of(op.input)
        sets, rows, columns = prod(shape[:-2]), *shape[-2:]
        conv = top.ConvOp.make(
            derived_name(product, "_r_columns"),
            (image, filters.output, bias),
            result_types=[tensor_like(op.input, (1, columns, sets, rows))],
            kernel_shape=[1, 1],
            strides=[1, 1],
            pads=[0, 0, 0, 0],
            do_relu=product.do_relu,
            relu_limit=product.relu_limit,
        )
        largest = top.ReduceOp.make(
            derived_name(op, "_r_largest"),
            (conv.output,),
            result_types=[tensor_like(op.input, (1, columns, sets))],
            axes=[3],
            keepdims=False,
            mode="ReduceMax",
        )
        back = _turned(derived_name(op, "_r_back"), largest.output)
        made += [conv, largest, back, reshape(op.location, back.output, shape_of(op.output))]
        rewriter.replace(op, made)


def _pools_sets(op: top.ReduceOp, product: top.MatMulOp, matrix: tuple[int, ...]) -> bool:
    """Whether rows of several sets, times a `matrix` wide enough, become one for each set."""
    shape = shape_of(op.input)
    flags = (product.left_transpose, product.right_transpose, product.output_transpose)
    if any(flag.value.data for flag in (*flags, product.hdim_is_batch)):
        return False
    if len(shape) <= _RANK_OF_A_SET or prod(shape[:-2]) == 1 or len(matrix) != _RANK_OF_A_SET:
        return False
    if [axis % len(shape) for axis in ints(op.axes)] != [len(shape) - 2]:
        return False
    sums, columns = matrix
    return sums * _WIDER <= columns and shape_of(product.input) == (*shape[:-1], sums)


def _image(product: top.MatMulOp, made: list[Operation]) -> SSAValue:
    """The left operand with what is summed over as channels: 1 x sums x sets x rows."""
    *sets, rows, sums = shape_of(product.input)
    line = reshape(derived_name(product, "_r_line"), product.input, (1, prod(sets) * rows, sums))
    turned = _turned(derived_name(product, "_r_turned"), line.output)
    image = reshape(derived_name(product, "_r_image"), turned.output, (1, sums, prod(sets), rows))
    made += [line, turned, image]
    return image.output


def _turned(name: str, value: SSAValue) -> top.PermuteOp:
    one, rows, columns = shape_of(value)
    kind = tensor_like(value, (one, columns, rows))
    return top.PermuteOp.make(name, (value,), result_types=[kind], order=[0, 2, 1])
