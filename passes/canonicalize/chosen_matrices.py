"""Rows that are each multiplied by a matrix of their own choice, as in mixtures of experts.

An exporter reads the chosen matrix of each row, which moves a matrix for every row. A row may as
well stand in the columns of the matrix it has chosen, with zeros in those of the others: all rows
together times all matrices below each other are one product, which reads each matrix once.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.canonicalize.common import VIEWS, reshape
from xdsl_tpu.passes.constants import (
    copy_weight,
    is_known,
    known_values,
    make_weight,
    reshaped_weight,
)
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    producer,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import element_of, shape_of

_RANK = 3
"""Of several matrices beside each other."""


@dataclass(frozen=True)
class _Choice:
    """Which of the matrices in `weight` each row takes, of `rows` rows in these dimensions."""

    weight: top.WeightOp
    indices: SSAValue
    rows: tuple[int, ...]


class ChosenMatrices(RewritePattern):
    """MatMul(x: 64x1x128, Gather(W: 4x128x512, i: 64)) -> MatMul(Mul(x, i == 0..3), W: 512x512).

        Gather  W: 4x128x512, i: 64              Compare  i: 64x1x1 == 0..3: 64x4x1
        MatMul  64x1x128, 64x128x512        ->   Mul      64x1x128, 64x4x1
                                                 MatMul   64x512, W: 512x512

    The same for GatherND, and for columns on the right of the chosen matrices. Only of what TopK
    or ArgMax chose, of at most as many matrices as there are rows or columns of a result.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.right, op.output) or not is_none(op.bias):
            return
        if not is_plain(op):
            return
        vectors, matrices, on_left = op.input, op.right, False
        if (choice := _choice(matrices)) is None:
            vectors, matrices, on_left = op.right, op.input, True
            if (choice := _choice(matrices)) is None:
                return
        count, *matrix = shape_of(choice.weight.output)
        length, columns = reversed(matrix) if on_left else matrix
        shape = shape_of(vectors)
        if len(shape) != len(choice.rows) + 2 or shape[-1 if on_left else -2] != 1:
            return
        if count > min(prod(choice.rows), columns):
            return
        right = _below_each_other(choice.weight, on_left)
        line = reshape(derived_name(op, "_r_line"), vectors, (*shape[:-2], 1, length))
        made: list[Operation] = [right, line]
        hits = _hits(op, choice, count, made)
        spread = top.MulOp.make(
            derived_name(op, "_r_spread"),
            (line.output, hits),
            result_types=[tensor_like(vectors, (*choice.rows, count, length))],
        )
        rows = prod(choice.rows)
        flat = reshape(derived_name(op, "_r_rows"), spread.output, (rows, count * length))
        product = top.MatMulOp.make(
            derived_name(op, "_r_product"),
            (flat.output, right.output, none_for(op, rewriter)),
            result_types=[tensor_like(op.output, (rows, columns))],
            do_relu=op.do_relu,
            relu_limit=op.relu_limit,
        )
        made += [spread, flat, product]
        rewriter.replace(op, [*made, reshape(op.location, product.output, shape_of(op.output))])


def _choice(matrices: SSAValue) -> _Choice | None:
    """Which matrices these are, where each is one of a weight and nothing else reads them."""
    gather = sole_producer(matrices, top.GatherOp) or sole_producer(matrices, top.GatherNDOp)
    if gather is None or not has_shapes(gather.input, gather.indices):
        return None
    weight = producer(gather.input, top.WeightOp)
    if weight is None or not is_known(weight.output) or len(shape_of(weight.output)) != _RANK:
        return None
    rows = shape_of(gather.indices)
    if isinstance(gather, top.GatherOp):
        if gather.axis.value.data != 0 or not gather.keepdims.value.data:
            return None
    else:
        if gather.batch_dims.value.data != 0 or rows[-1] != 1:
            return None
        rows = rows[:-1]
    return _Choice(weight, gather.indices, rows) if _counts_from_zero(gather.indices) else None


def _counts_from_zero(indices: SSAValue) -> bool:
    """Whether no index counts from the end: those of elements that were looked for."""
    owner = indices.owner
    while isinstance(owner, (*VIEWS, top.CastOp)):
        indices = owner.operands[0]
        owner = indices.owner
    return isinstance(owner, top.TopKOp | top.ArgOp) and indices is owner.indices


def _below_each_other(weight: top.WeightOp, turned: bool) -> top.WeightOp:
    """All matrices as one, of the rows of all; of their columns if they are `turned`."""
    count, rows, columns = shape_of(weight.output)
    name = derived_name(weight, "_r_below")
    if not turned:
        return reshaped_weight(copy_weight(weight, name), (count * rows, columns))
    turned_values = known_values(weight.output).transpose(0, 2, 1)
    return make_weight(weight, name, turned_values.reshape(-1, rows))


def _hits(op: Operation, choice: _Choice, count: int, made: list[Operation]) -> SSAValue:
    """rows x `count` x 1: 1 where a row has chosen a matrix, 0 elsewhere."""
    shape = (*choice.rows, 1, 1)
    column = reshape(derived_name(op, "_r_chosen"), choice.indices, shape)
    kind = element_of(choice.indices)
    places = make_weight(op, derived_name(op, "_r_places"), np.arange(count).reshape(-1, 1), kind)
    hits = top.CompareOp.make(
        derived_name(op, "_r_hits"),
        (column.output, places.output),
        result_types=[tensor_like(op.results[0], (*choice.rows, count, 1))],
        mode="Equal",
    )
    made += [column, places, hits]
    return hits.output
