"""Factors of whole rows in front of products."""

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    is_calibrated,
    is_like,
    rebuilt,
    sole_producer,
)
from xdsl_tpu.passes.products import keeps_rows
from xdsl_tpu.passes.tensors import shape_of


class RowFactorsBehindProduct(RewritePattern):
    """MatMul(Mul(Softmax(s), f), v) -> Mul(MatMul(Softmax(s), v), f), f having one column.

        Softmax 12x512x512                      Softmax 12x512x512
        Mul     12x512x512, 512x1          ->   MatMul  12x512x512, 12x512x64
        MatMul  12x512x512, 12x512x64           Mul     12x512x64, 512x1

    Such factors are 0 for rows of attention of which every key is hidden. There they are fewer, and
    the softmax meets its product; where a row becomes longer by the product, they stay. They go
    behind the Permute and the Reshape that put heads beside each other, too.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        scaled = sole_producer(op.input, top.MulOp)
        if scaled is None or has_relu(scaled) or has_relu(op) or not is_none(op.bias):
            return
        if is_calibrated(op.output) or not keeps_rows(op):
            return
        if len(scaled.inputs) != 2 or not has_shapes(*scaled.inputs, op.right, op.output):
            return
        shares = next((v for v in scaled.inputs if _are_shares(v, scaled.output)), None)
        if shares is None:
            return
        factors = scaled.inputs[1 - tuple(scaled.inputs).index(shares)]
        before, after = shape_of(op.input), shape_of(op.output)
        if shape_of(factors)[-1:] != (1,) or len(before) != len(after) or after[-1] > before[-1]:
            return
        name = name_loc(derived_name(op, "_r_unscaled"))
        product = rebuilt(op, operands=(shares, *op.operands[1:]), location=name)
        made: list[Operation] = [product]
        last: Operation = op
        aligned = (1,) * (len(after) - len(shape_of(factors))) + shape_of(factors)
        for move, shape in _moves_behind(op.output, aligned):
            name = name_loc(derived_name(move, "_r_unscaled"))
            made.append(rebuilt(move, operands=made[-1].results, location=name))
            last, aligned = move, shape
        if last is not op:
            made.insert(0, reshape(derived_name(last, "_r_factors"), factors, aligned))
            factors = made[0].results[0]
        behind = rebuilt(
            scaled,
            operands=(made[-1].results[0], factors),
            result_types=last.result_types,
            location=last.location,
        )
        rewriter.replace(last, [*made, behind])


def _are_shares(value: SSAValue, scaled: SSAValue) -> bool:
    softmax = sole_producer(value, top.SoftmaxOp)
    return softmax is not None and is_like(value, scaled)


def _moves_behind(value: SSAValue, factors: Shape) -> Iterator[tuple[Operation, Shape]]:
    """What moves rows behind a product, one op after the other, and the factors' shape then.

    The factors must be in the same order afterwards, and there must be one for all heads.
    """
    while (use := value.get_user_of_unique_use()) is not None and has_shapes(*use.results):
        if isinstance(use, top.PermuteOp):
            order = ints(use.order)
            moved = [axis for axis in order if factors[axis] > 1]
            if moved != sorted(moved):
                return
            factors = tuple(factors[axis] for axis in order)
        elif isinstance(use, top.ReshapeOp):
            before, after = shape_of(value), shape_of(use.output)
            if before != after:
                if after != (*before[:-2], before[-2] * before[-1]) or factors[-2:] != (1, 1):
                    return
                factors = factors[:-1]
        else:
            return
        yield use, factors
        value = use.results[0]
