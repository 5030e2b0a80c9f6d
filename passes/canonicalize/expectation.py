"""The mean of a distribution over bins, as detectors read box sides from it: along rows.

A head gives `sides x bins` channels for every place; the softmax over the bins of a side times the
bins' values, added up, is how far that side is (distribution focal loss; Li et al., Generalized
Focal Loss, 2020). Bins in channels lie in different lanes; in a row they lie in one.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.constants import make_weight, values_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, sole_producer, tensor_like
from xdsl_tpu.passes.products import keeps_rows
from xdsl_tpu.passes.tensors import shape_of

MOST_BINS = 64
"""Elements of a row that are added up one after the other; a longer sum is a product."""


@dataclass(frozen=True)
class _Bins:
    """`softmax` over the `bins` channels that each of the `sides` has in `channels`.

    `channels` is images x (sides * bins) x places; where the result lists places before sides,
    `places_first`.
    """

    channels: SSAValue
    softmax: top.SoftmaxOp
    images: int
    sides: int
    bins: int
    places: int
    places_first: bool


class ExpectationInRows(RewritePattern):
    """Conv(Softmax(Permute(Reshape(x))), W: 1x16x1x1) -> sums of products along rows.

        Reshape  1x64x8400 -> 1x4x16x8400               Permute  1x64x8400 -> 1x8400x64
        Permute  1x16x4x8400                            Reshape  1x8400x4x16
        Softmax  {axis = 1}                        ->   Softmax  {axis = 3}
        Conv     1x1x4x8400 {kernel = [1, 1]}           Mul      with W: 16
                                                        Reduce   1x8400x4 {ReduceSum, axes = [3]}
                                                        Permute  1x4x8400
                                                        Reshape  1x1x4x8400

    The same where the Softmax is in front of the Permute. Not in the vendor's compiler.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.output) or has_relu(op) or not is_none(op.bias):
            return
        found = _bins(op.input)
        if found is None or found.bins > MOST_BINS:
            return
        values = values_of(op.filter)
        if values is None or not _adds_up(op, values):
            return
        x, images, sides, bins = found.channels, found.images, found.sides, found.bins
        places = found.places
        made: list[Operation] = []
        line = (images, sides * bins, places)
        if shape_of(x) != line:
            made.append(reshape(derived_name(op, "_r_line"), x, line))
            x = made[-1].results[0]
        turned = top.PermuteOp.make(
            derived_name(op, "_r_turned"),
            (x,),
            result_types=[tensor_like(x, (images, places, sides * bins))],
            order=[0, 2, 1],
        )
        rows = reshape(derived_name(op, "_r_rows"), turned.output, (images, places, sides, bins))
        softmax = top.SoftmaxOp.make(
            derived_name(found.softmax, "_r_in_rows"),
            (rows.output,),
            result_types=[rows.output.type],
            axis=3,
            beta=found.softmax.beta.value.data,
        )
        made += [turned, rows, softmax]
        total = _added_up(op, softmax.output, values.reshape(-1), made)
        if not found.places_first:
            back = top.PermuteOp.make(
                derived_name(op, "_r_back"),
                (total,),
                result_types=[tensor_like(total, (images, sides, places))],
                order=[0, 2, 1],
            )
            made.append(back)
            total = back.output
        made.append(reshape(op.location, total, shape_of(op.output)))
        rewriter.replace(op, made)


class ColumnToSum(RewritePattern):
    """MatMul(Softmax(x): 1x8400x4x16, W: 16x1) -> Reduce(Mul(Softmax(x), W)) {axes = [3]}.

    A column leaves all execution units but one idle, and rows of other dimensions would have to
    become one. Only for few elements in a row.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.right, op.output) or has_relu(op) or not is_none(op.bias):
            return
        if not keeps_rows(op):
            return
        shape = shape_of(op.input)
        if sole_producer(op.input, top.SoftmaxOp) is None or len(shape) != len(DIMENSIONS):
            return
        if math.prod(shape_of(op.right)) != shape[-1] or shape[-1] > MOST_BINS:
            return
        values = values_of(op.right)
        if values is None:
            return
        made: list[Operation] = []
        total = _added_up(op, op.input, values.reshape(-1), made)
        made.append(reshape(op.location, total, shape_of(op.output)))
        rewriter.replace(op, made)


DIMENSIONS = ("images", "places", "sides", "bins")
"""Dimensions of a distribution in rows."""


def _adds_up(op: top.ConvOp, values: npt.NDArray[np.float32]) -> bool:
    """Whether a convolution gives one sum of all channels for every pixel."""
    count, channels, *kernel = values.shape
    return (
        (count, channels) == (1, shape_of(op.input)[1])
        and len(kernel) == 2
        and math.prod(kernel) == 1
        and not any(ints(op.pads))
        and math.prod(ints(op.strides)) == 1
    )


def _bins(value: SSAValue) -> _Bins | None:
    """What `value`, images x bins x sides x places or with places before sides, is made of."""
    permute = sole_producer(value, top.PermuteOp)
    if permute is not None:
        softmax = sole_producer(permute.input, top.SoftmaxOp)
        split = None if softmax is None else sole_producer(softmax.input, top.ReshapeOp)
    else:
        softmax = sole_producer(value, top.SoftmaxOp)
        permute = None if softmax is None else sole_producer(softmax.input, top.PermuteOp)
        split = None if permute is None else sole_producer(permute.input, top.ReshapeOp)
    if softmax is None or permute is None or split is None or softmax.log.value.data:
        return None
    if not has_shapes(split.input, split.output):
        return None
    order = tuple(ints(permute.order))
    parts, source = shape_of(split.output), shape_of(split.input)
    if order not in ((0, 2, 1, 3), (0, 2, 3, 1)) or len(source) < 3:
        return None
    images, sides, bins, places = parts
    if source[:2] != (images, sides * bins):
        return None
    axis = softmax.axis.value.data % len(parts)
    if axis != (1 if softmax.output is value else 2):
        return None
    return _Bins(split.input, softmax, images, sides, bins, places, order == (0, 2, 3, 1))


def _added_up(
    op: Operation, rows: SSAValue, values: npt.NDArray[np.float32], made: list[Operation]
) -> SSAValue:
    """The sum along the last dimension of rows times `values`; what makes it is put into `made`."""
    weight = make_weight(op, derived_name(op, "_r_values"), values)
    product = top.MulOp.make(
        derived_name(op, "_r_product"), (rows, weight.output), result_types=[rows.type]
    )
    shape = shape_of(rows)
    total = top.ReduceOp.make(
        derived_name(op, "_r_sum"),
        (product.output,),
        result_types=[tensor_like(rows, shape[:-1])],
        axes=[len(shape) - 1],
        keepdims=False,
        mode="ReduceSum",
    )
    made += [weight, product, total]
    return total.output
