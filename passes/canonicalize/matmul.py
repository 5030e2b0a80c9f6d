"""MatMul: take the bias in, keep the dimensions, weights on the right."""

from math import prod

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import (
    has_relu,
    in_place_of,
    reshape,
    unit_coefficients,
)
from xdsl_tpu.passes.constants import make_weight, reshaped_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_like,
    producer,
    rebuilt,
    sole_user,
    tensor_like,
    users,
)
from xdsl_tpu.passes.half_range import holds, magnitude
from xdsl_tpu.passes.products import is_plain, keeps_rows
from xdsl_tpu.passes.tensors import is_weight, shape_of

_FEWEST_DIMS = 3
"""Of matrices that have others beside them."""

_FEWEST_COLUMNS = 128
"""A product of fewer columns than this leaves the matrix unit idle."""


class MatMulWithBias(RewritePattern):
    """Add(MatMul(x, W, none), b) -> MatMul(x, W, b), when b has one element a column."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        addition = sole_user(op.output, top.AddOp)
        if addition is None or not is_none(op.bias) or has_relu(op):
            return
        if len(addition.inputs) != 2 or not unit_coefficients(addition):
            return
        if not has_shapes(op.right, *addition.inputs) or not is_like(addition.output, op.output):
            return
        bias = next(value for value in addition.inputs if value is not op.output)
        if not is_weight(bias) or len(shape_of(op.right)) != 2:
            return
        columns = shape_of(op.output)[-1]
        if op.output_transpose.value.data or shape_of(bias)[-1] != columns:
            return
        if prod(shape_of(bias)) != columns:
            return
        merged = rebuilt(
            op,
            operands=(op.input, op.right, bias),
            result_types=addition.result_types,
            location=addition.location,
        )
        merged.do_relu, merged.relu_limit = addition.do_relu, addition.relu_limit
        rewriter.replace(addition, merged)
        rewriter.erase(op)


class MatMulWithEqualBias(RewritePattern):
    """AddConst(MatMul(x, W, none), c) -> MatMul(x, W, b), all elements of b being c.

    What stands behind the product, as the split of query, key and value, then meets it.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        addition = sole_user(op.output, top.AddConstOp)
        if addition is None or not is_none(op.bias) or has_relu(op):
            return
        if not is_weight(op.right) or values_of(op.right) is None:
            return
        if op.output_transpose.value.data or not has_shapes(op.right, op.output):
            return
        *rows, columns = shape_of(op.output)
        if len(shape_of(op.right)) != 2 or not is_like(addition.output, op.output):
            return
        shape = (*(1 for _ in rows), columns)
        values = np.full(shape, addition.const_val.value.data, dtype=np.float32)
        bias = make_weight(op, derived_name(addition, "_bias"), values)
        merged = rebuilt(
            op,
            operands=(op.input, op.right, bias.output),
            result_types=addition.result_types,
            location=addition.location,
        )
        merged.do_relu, merged.relu_limit = addition.do_relu, addition.relu_limit
        rewriter.replace(addition, [bias, merged])
        rewriter.erase(op)


class MatMulWithColumnFactors(RewritePattern):
    """Mul(MatMul(x, W, b), c) -> MatMul(x, W c, b c), when c has one element a column.

    Integers that a network was quantised to stand in W, and their scales in c: f16 does not hold
    the sums of the former. Weights stay what it holds.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        product = sole_user(op.output, top.MulOp)
        if product is None or has_relu(op) or len(product.inputs) != 2:
            return
        if not has_shapes(op.right, *product.inputs) or not is_like(product.output, op.output):
            return
        flags = op.left_transpose, op.right_transpose, op.output_transpose, op.hdim_is_batch
        if any(flag.value.data for flag in flags) or len(shape_of(op.right)) != 2:
            return
        factor = next((value for value in product.inputs if value is not op.output), None)
        columns = shape_of(op.output)[-1]
        if factor is None or shape_of(factor)[-1:] != (columns,):
            return
        matrix, factors = (values_of(value) for value in (op.right, factor))
        if matrix is None or factors is None or factors.size != columns:
            return
        scaled, operands = matrix * factors.reshape(-1), [op.input, op.right, op.bias]
        if not holds(magnitude(scaled)) and holds(magnitude(matrix)):
            return
        made = [make_weight(op, derived_name(product, "_factors"), scaled)]
        if not is_none(op.bias):
            bias = values_of(op.bias)
            if bias is None or bias.size != columns:
                return
            added = bias * factors.reshape(*(1,) * (bias.ndim - 1), -1)
            made.append(make_weight(op, derived_name(product, "_bias"), added))
        operands[1 : 1 + len(made)] = [weight.output for weight in made]
        merged = rebuilt(
            op, operands=operands, result_types=product.result_types, location=product.location
        )
        merged.do_relu, merged.relu_limit = product.do_relu, product.relu_limit
        rewriter.replace(product, [*made, merged])
        rewriter.erase(op)


class NoKeepDimsAddReshape(RewritePattern):
    """MatMul(x, W) {keep_dims = false} -> Reshape(MatMul(x, W) {keep_dims = true})."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if op.keep_dims.value.data or not has_shapes(*op.operands[:2], op.output):
            return
        (*batch, rows, columns) = shape_of(op.input)[:-1] + shape_of(op.output)[-1:]
        kept = rebuilt(
            op,
            result_types=[tensor_like(op.output, (*batch, rows, columns))],
            location=name_loc(derived_name(op, "_r_keepdims")),
        )
        kept.keep_dims = BOOL.encode(True)
        rewriter.replace(op, [kept, reshape(op.location, kept.output, shape_of(op.output))])


class RepeatedWeightToRows(RewritePattern):
    """MatMul(x: BxCxMxK, W: Bx1xKxN) -> Reshape(MatMul(Reshape(x): BxCMxK, W: BxKxN)).

    A matrix that meets several others is not repeated for them: their rows are those of one. What
    `BroadcastBatch` leaves: a single matrix, and batches that either side lacks.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        weight = producer(op.right, top.WeightOp)
        if weight is None or not is_none(op.bias) or not has_shapes(op.input, op.output):
            return
        left, right = shape_of(op.input), shape_of(op.right)
        if not keeps_rows(op):
            return
        if len(left) != len(right) or len(left) < _FEWEST_DIMS or right[-3] != 1 or left[-3] == 1:
            return
        if not op.right.has_one_use():
            return
        *batch, count, rows, depth = left
        given, columns = shape_of(op.output), shape_of(op.output)[-1]
        flat = reshape(derived_name(op.input, "_r_rows"), op.input, (*batch, count * rows, depth))
        narrower = reshaped_weight(weight, (*right[:-3], *right[-2:]))
        product = rebuilt(
            op,
            operands=(flat.output, narrower.output, op.bias),
            result_types=[tensor_like(op.output, (*given[:-3], count * rows, columns))],
            location=name_loc(derived_name(op, "_r_rows")),
        )
        back = reshape(op.location, product.output, shape_of(op.output))
        rewriter.replace(weight, narrower)
        rewriter.replace(op, [flat, product, back])


class LeftWeightToConv(RewritePattern):
    """MatMul(W: MxK, x: BxKxN) -> Conv(x: BxKxN, W: MxKx1x1), for several matrices.

    Rows that a constant mixes are channels, which stay over the lanes for what follows.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        weight = producer(op.input, top.WeightOp)
        if weight is None or is_weight(op.right) or not is_none(op.bias):
            return
        if not has_shapes(op.input, op.right, op.output) or not is_plain(op):
            return
        left, right = shape_of(op.input), shape_of(op.right)
        matrices = len(left) == 2 and len(right) == _FEWEST_DIMS and right[0] > 1
        if not matrices or not op.input.has_one_use():
            return
        filters = reshaped_weight(weight, (*left, 1, 1))
        conv = in_place_of(
            op,
            top.ConvOp,
            (op.right, filters.output, op.bias),
            kernel_shape=(1, 1),
            strides=(1, 1),
            pads=(0, 0, 0, 0),
        )
        rewriter.replace(weight, filters)
        rewriter.replace(op, conv)


class PermuteMatMulPermute(RewritePattern):
    """MatMul(W: MxK, Permute(x, [0, 2, 1]): BxKxN), permuted back -> MatMul(x: BxNxK, W^T: KxM).

    The Permute [0, 2, 1] of the result goes, too.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        before, after = producer(op.right, top.PermuteOp), sole_user(op.output, top.PermuteOp)
        if before is None or after is None or not is_weight(op.input):
            return
        if {ints(before.order), ints(after.order)} != {(0, 2, 1)} or not is_none(op.bias):
            return
        if not is_plain(op):
            return
        values = values_of(op.input)
        if values is None or prod(values.shape[:-2]) != 1:
            return
        right = make_weight(
            op, derived_name(op.input, "_transposed"), values.reshape(values.shape[-2:]).T
        )
        swapped = rebuilt(
            op,
            operands=(before.input, right, op.bias),
            result_types=[after.output.type],
            location=after.location,
        )
        rewriter.replace(after, [right, swapped])


class SliceMatMul(RewritePattern):
    """Slice(MatMul(x, W, b), columns i..j) for every user -> MatMul(x, W[:, i:j], b[i:j]) each.

    There are several users, all of them Slices of at least 128 columns with step 1.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        slices = [user for user in users(op.output) if isinstance(user, top.SliceOp)]
        if len(slices) < 2 or len(slices) != len(set(use.operation for use in op.output.uses)):
            return
        if not all(map(_cuts_columns, slices)) or op.right_transpose.value.data:
            return
        if op.output_transpose.value.data or not op.keep_dims.value.data:
            return
        right, bias = values_of(op.right), values_of(op.bias)
        if right is None or right.ndim != 2 or (bias is None and not is_none(op.bias)):
            return
        for part in slices:
            columns = _columns(part)
            operands = [make_weight(op, derived_name(part, "_filter"), right[:, columns])]
            if bias is not None:
                operands.append(make_weight(op, derived_name(part, "_bias"), bias[..., columns]))
            cut = rebuilt(
                op,
                operands=(op.input, *operands, *op.operands[1 + len(operands) :]),
                result_types=[part.output.type],
                location=part.location,
            )
            rewriter.replace(part, [*operands, cut])
        rewriter.erase(op)


def _cuts_columns(op: top.SliceOp) -> bool:
    """Whether a Slice takes enough neighbouring columns of all rows."""
    *others, last = op.cuts()
    whole = all(
        part.step == 1 and part.count == size
        for part, size in zip(others, shape_of(op.input), strict=False)
    )
    return whole and last.step == 1 and last.count >= _FEWEST_COLUMNS


def _columns(op: top.SliceOp) -> slice:
    part = op.cuts()[-1]
    return slice(part.first, part.first + part.count)
