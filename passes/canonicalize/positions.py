"""Positions that are added to the scores of attention, row by row and column by column."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import (
    behind_views,
    has_relu,
    reshape,
    unit_coefficients,
)
from xdsl_tpu.passes.constants import Floats, make_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.tensors import is_weight, shape_of

_LEAST_KEYS_FOR_ONE = 2
"""Columns that are added to queries and keys must be so many times fewer than keys."""

_WORTH_SCORES = 1 << 18
"""Scores from which on to have them once, on the chip, is worth more columns of the product. Fewer
fit beside each other in local memory, where they are seen as images for nothing."""


@dataclass
class _Sum:
    """What scores are made of: one product, times a factor, and terms that are stretched along
    some dimensions of the keys, each with the shape that it is stretched to."""

    products: list[top.MatMulOp] = field(default_factory=list[top.MatMulOp])
    factor: float = 1.0
    terms: list[tuple[SSAValue, Shape]] = field(default_factory=list[tuple[SSAValue, Shape]])

    def collect(self, value: SSAValue) -> bool:
        """Take a value apart; False when it is made of anything else, or has other readers."""
        if not value.has_one_use() or not has_shapes(value):
            return False
        match value.owner:
            case top.ReshapeOp() as view:
                return has_shapes(view.input) and self.collect(view.input)
            case top.AddOp() as total if len(total.inputs) == 2:
                if has_relu(total) or not unit_coefficients(total):
                    return False
                return all(self._summand(one, shape_of(total.output)) for one in total.inputs)
            case top.MulConstOp() as scaled if not has_relu(scaled):
                if (product := sole_producer(scaled.input, top.MatMulOp)) is None:
                    return False
                self.products.append(product)
                self.factor = scaled.const_val.value.data
                return True
            case top.MatMulOp() as product:
                self.products.append(product)
                return True
            case _:
                return False

    def _summand(self, value: SSAValue, whole: Shape) -> bool:
        if not has_shapes(value):
            return False
        if shape_of(value) == whole:
            written = behind_views(value).owner
            if not isinstance(written, top.TileOp) or not has_shapes(written.input):
                return self.collect(value)
            value, whole = written.input, shape_of(written.output)  # as WidenStretched leaves it
        self.terms.append((value, whole))
        return not is_weight(value) and len(shape_of(value)) == len(whole)


class PositionsIntoProduct(RewritePattern):
    """Softmax(MatMul(q, k) + rows + columns) -> Softmax(MatMul(Concat(q, rows, columns), ..)).

        MatMul  3x196x64 @ 3x64x196                     Concat  3x196x64, 3x196x14, 3x196x14
        Reshape 3x196x14x14                             Concat  3x64x196, 3x14x196, 3x14x196 (0, 1)
        Add     3x196x14x14, 3x196x14x1          ->     MatMul  3x196x92 @ 3x92x196
        Add     3x196x14x14, 3x196x1x14                 Softmax 3x196x196
        Reshape 3x196x196
        Softmax

    A query's position is added to the scores of its keys as a number for each row of the keys'
    image and one for each column (the relative positions of MViT and SAM). What is added to a key's
    score is a product with ones where the key is of that row, and scores need not be seen as
    images. The terms may be added to each other first; they have at most half as many columns as
    there are keys. Done where scores are many: as one product they are those of fused attention.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.SoftmaxOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input):
            return
        shape, found = shape_of(op.input), _Sum()
        if math.prod(shape) < _WORTH_SCORES:
            return
        if op.axis.value.data % len(shape) != len(shape) - 1 or not found.collect(op.input):
            return
        if len(found.products) != 1 or not found.terms:
            return
        (product,) = found.products
        if not _is_plain(product) or shape_of(product.output)[-1] != shape[-1]:
            return
        choices = [_choice(shape_of(term), whole, shape[-1]) for term, whole in found.terms]
        known = [choice for choice in choices if choice is not None]
        columns = sum(len(choice) for choice in known)
        if len(known) != len(choices) or _LEAST_KEYS_FOR_ONE * columns > shape[-1]:
            return
        terms = [term for term, _ in found.terms]
        made = _joined(op, product, found.factor, terms, known)
        rewriter.insert(made)
        op.operands[0] = made[-1].results[0]
        rewriter.notify_op_modified(op)


def _is_plain(product: top.MatMulOp) -> bool:
    """Whether a product has matrices of its own for each of its batch, and nothing besides."""
    flags = (product.left_transpose, product.right_transpose, product.output_transpose)
    if any(flag.value.data for flag in (*flags, product.hdim_is_batch)) or has_relu(product):
        return False
    if not is_none(product.bias) or not has_shapes(product.input, product.right):
        return False
    left, right = shape_of(product.input), shape_of(product.right)
    return len(left) > 2 and left[:-2] == right[:-2] and not is_weight(product.right)


def _choice(term: Shape, whole: Shape, keys: int) -> Floats | None:
    """(n, keys): ones where one of a term's n numbers for a query is added to a key's score.

    None when it is not stretched along dimensions of the keys alone, which come last.
    """
    split = next((at for at in range(len(whole)) if math.prod(whole[at:]) == keys), None)
    if split is None or term[:split] != whole[:split]:
        return None
    sizes, own = whole[split:], term[split:]
    if any(part not in (1, size) for part, size in zip(own, sizes, strict=True)):
        return None
    count = math.prod(own)
    numbers = np.broadcast_to(np.arange(count).reshape(own), sizes).reshape(keys)
    return (numbers == np.arange(count)[:, None]).astype(np.float32)


def _joined(
    op: top.SoftmaxOp,
    product: top.MatMulOp,
    factor: float,
    terms: Sequence[SSAValue],
    choices: Sequence[Floats],
) -> list[Operation]:
    """The product with terms as further columns of the queries, and ones in the keys."""
    made: list[Operation] = []

    def add(new: Operation) -> SSAValue:
        made.append(new)
        return new.results[0]

    def joined(name: str, parts: Sequence[SSAValue], axis: int) -> SSAValue:
        sizes = list(shape_of(parts[0]))
        sizes[axis] = sum(shape_of(part)[axis] for part in parts)
        kind = tensor_like(parts[0], sizes)
        return add(top.ConcatOp.make(name, parts, result_types=[kind], axis=axis))

    (queries, of_queries), keys = _unscaled(product.input), product.right
    *batch, rows, _ = shape_of(queries)
    seen = [
        add(reshape(derived_name(op, f"_r_term{number}"), term, (*batch, rows, len(choice))))
        for number, (term, choice) in enumerate(zip(terms, choices, strict=True))
    ]
    left = joined(derived_name(op, "_r_queries"), (queries, *seen), len(batch) + 1)
    ones = np.concatenate(choices)
    turned = _turned(keys)
    source, of_keys = _unscaled(keys if turned is None else turned.input)
    factor *= of_queries * of_keys
    if factor != 1:
        # the keys', as a queries' projection may be read for the terms, too
        name = derived_name(op, "_r_scaled")
        scaled = top.MulConstOp.make(
            name, (source,), result_types=[source.type], const_val=factor, do_relu=False
        )
        source = add(scaled)
    ones = ones if turned is None else ones.T
    whole = np.broadcast_to(ones, (*batch, *ones.shape))
    weight = add(make_weight(op, derived_name(op, "_r_ones"), np.ascontiguousarray(whole)))
    axis = len(batch) + (turned is not None)
    right = joined(derived_name(op, "_r_keys"), (source, weight), axis)
    if turned is not None:
        *front, longer, shorter = shape_of(right)
        kind = tensor_like(right, (*front, shorter, longer))
        name = name_loc(derived_name(op, "_r_turned"))
        right = add(rebuilt(turned, operands=(right,), result_types=[kind], location=name))
    operands = (left, right, *product.operands[2:])
    name = name_loc(derived_name(op, "_r_scores"))
    scores = add(rebuilt(product, operands=operands, location=name))
    if shape_of(scores) != shape_of(op.input):
        add(reshape(derived_name(op, "_r_seen"), scores, shape_of(op.input)))
    return made


def _unscaled(value: SSAValue) -> tuple[SSAValue, float]:
    """What a value is a multiple of, and the factor."""
    scaled = value.owner
    if isinstance(scaled, top.MulConstOp) and not has_relu(scaled):
        return scaled.input, scaled.const_val.value.data
    return value, 1.0


def _turned(keys: SSAValue) -> top.PermuteOp | None:
    """The Permute that turned the keys, of which it leaves the batch as it is."""
    permute = sole_producer(keys, top.PermuteOp)
    if permute is None or not has_shapes(permute.input):
        return None
    rank = len(shape_of(keys))
    return permute if ints(permute.order) == (*range(rank - 2), rank - 1, rank - 2) else None
