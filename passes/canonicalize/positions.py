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
from xdsl_tpu.passes.canonicalize.box_origins import Origin, makers_of, origins_of
from xdsl_tpu.passes.canonicalize.common import (
    behind_views,
    has_relu,
    reshape,
    unit_coefficients,
)
from xdsl_tpu.passes.canonicalize.slice import is_static
from xdsl_tpu.passes.constants import Floats, make_weight
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    rebuilt,
    sole_producer,
    tensor_like,
    users,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of

_LEAST_KEYS_FOR_ONE = 2
"""Columns that are added to queries and keys must be so many times fewer than keys."""

_WORTH_SCORES = 1 << 18
"""Scores from which on to have them once, on the chip, is worth more columns of the product. Fewer
fit beside each other in local memory, where they are seen as images for nothing."""


@dataclass(frozen=True)
class _Box:
    """The queries and keys of a product that something is added to."""

    rows: int
    keys: int
    before: tuple[int, int] = (0, 0)

    @staticmethod
    def of(scores: Shape) -> "_Box":
        """All of them."""
        return _Box(scores[-2], scores[-1])


@dataclass
class _Sum:
    """What scores are made of: one product, times a factor, and terms that are stretched along
    some dimensions of the keys, each with the shape that it is stretched to.

    Terms may be added to a `box` of the scores only, of which `whole` are then the others, too."""

    products: list[top.MatMulOp] = field(default_factory=list[top.MatMulOp])
    factor: float = 1.0
    terms: list[tuple[SSAValue, Shape]] = field(default_factory=list[tuple[SSAValue, Shape]])
    box: _Box | None = None
    whole: SSAValue | None = None

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
            case top.ConcatOp() as joined if self.box is None and not self.products:
                return self._boxes(joined)
            case top.SliceOp() as part if self.whole is not None and part.input is self.whole:
                return self._is_box(part) and self._product(part.input)
            case _:
                return self._product(value)

    def _product(self, value: SSAValue) -> bool:
        """The product itself, or what is a multiple of it."""
        maker = value.owner
        if isinstance(maker, top.MulConstOp) and not has_relu(maker):
            self.factor = maker.const_val.value.data
            maker = sole_producer(maker.input, top.MatMulOp)
        if not isinstance(maker, top.MatMulOp):
            return False
        self.products.append(maker)
        return True

    def _boxes(self, joined: top.ConcatOp) -> bool:
        """Scores of which one box is a sum of its own, and all others are as they were."""
        makers = makers_of(joined)
        boxes = origins_of(joined, makers) if len(shape_of(joined.output)) > 2 else None
        if boxes is None:
            return False
        sums = [box for box in boxes if _is_sum(box)]
        rest = {box.source for box in boxes if box not in sums}
        if len(sums) != 1 or len(rest) != 1:
            return False
        (box,), (scores,) = sums, rest
        if not isinstance(scores, SSAValue) or not isinstance(box.source, SSAValue):
            return False
        *batch, _, _ = shape_of(joined.output)
        as_it_was = all(_is_in_place(one) for one in boxes if one is not box)
        if shape_of(scores) != shape_of(joined.output) or not as_it_was:
            return False
        if shape_of(box.source) != box.sizes or box.sizes[:-2] != tuple(batch):
            return False
        if not _keeps_axes(box):
            return False
        self.box = _Box(box.sizes[-2], box.sizes[-1], before=(box.at[-2], box.at[-1]))
        self.whole = scores
        others = [user for user in users(scores) if user not in makers]
        return len(others) == 1 and self.collect(box.source)

    def _is_box(self, part: top.SliceOp) -> bool:
        """Whether a Slice takes what is added to."""
        if self.box is None or not is_static(part):
            return False
        *batch, rows, keys = part.cuts()
        first = rows.first, keys.first
        sizes = rows.count, keys.count
        if not all(cut.step == 1 for cut in part.cuts()):
            return False
        whole = all(
            one.count == size for one, size in zip(batch, shape_of(part.input), strict=False)
        )
        return whole and (first, sizes) == (self.box.before, (self.box.rows, self.box.keys))

    def _summand(self, value: SSAValue, whole: Shape) -> bool:
        if not has_shapes(value):
            return False
        if shape_of(value) == whole:
            written = behind_views(value).owner
            if not isinstance(written, top.TileOp) or not has_shapes(written.input):
                return self.collect(value)
            value, whole = written.input, shape_of(written.output)  # as WidenStretched leaves it
        parts = _stretched_parts(value)
        if parts:
            return all(self._summand(part, whole) for part in parts)
        self.terms.append((value, whole))
        return not is_weight(value) and len(shape_of(value)) == len(whole)


def _is_sum(box: Origin) -> bool:
    """Whether a box comes from a sum, perhaps seen in another shape."""
    source = box.source
    return isinstance(source, SSAValue) and isinstance(behind_views(source).owner, top.AddOp)


def _is_in_place(box: Origin) -> bool:
    """Whether a box is at the place where it is in its source."""
    return box.at == box.first and _keeps_axes(box)


def _keeps_axes(box: Origin) -> bool:
    """Whether no dimensions change places between a box and its source."""
    return all(axis in (None, k) for k, axis in enumerate(box.axes))


def _stretched_parts(value: SSAValue) -> Sequence[SSAValue]:
    """Terms that are stretched along each other, and are fewer numbers apart; or none."""
    total = sole_producer(value, top.AddOp)
    if total is None or has_relu(total) or not unit_coefficients(total):
        return ()
    if not has_shapes(*total.inputs) or any(is_weight(one) for one in total.inputs):
        return ()
    shapes = [shape_of(one) for one in total.inputs]
    if any(len(one) != len(shape_of(value)) for one in shapes):
        return ()
    return total.inputs if sum(map(math.prod, shapes)) < math.prod(shape_of(value)) else ()


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
    images. The terms may be added to each other first, or to a box of the scores only, which an
    assignment puts back (`scores[:, 1:, 1:] += ...` behind a class token); they have at most half
    as many columns as there are keys. Done where scores are many: as one product they are those of
    fused attention.
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
        box = found.box or _Box.of(shape_of(product.output))
        choices = [_choice(shape_of(term), whole, box.keys) for term, whole in found.terms]
        known = [choice for choice in choices if choice is not None]
        columns = sum(len(choice) for choice in known)
        if len(known) != len(choices) or _LEAST_KEYS_FOR_ONE * columns > shape[-1]:
            return
        made = _Build(op, product, found, box).finish(known)
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


@dataclass
class _Build:
    """The product with terms as further columns of the queries, and ones in the keys."""

    op: top.SoftmaxOp
    product: top.MatMulOp
    found: _Sum
    box: _Box
    made: list[Operation] = field(default_factory=list[Operation])

    def finish(self, choices: Sequence[Floats]) -> list[Operation]:
        """All ops, the last of which gives the scores."""
        op, product = self.op, self.product
        queries, of_queries = _unscaled(product.input)
        axis = len(shape_of(queries)) - 1
        terms = self._terms([len(choice) for choice in choices], axis)
        left = self._joined("queries", (queries, *terms), axis)
        right = self._keys(choices, self.found.factor * of_queries)
        operands = (left, right, *product.operands[2:])
        name = name_loc(derived_name(op, "_r_scores"))
        scores = self._added(rebuilt(product, operands=operands, location=name))
        if shape_of(scores) != shape_of(op.input):
            self._added(reshape(derived_name(op, "_r_seen"), scores, shape_of(op.input)))
        return self.made

    def _terms(self, counts: Sequence[int], axis: int) -> list[SSAValue]:
        """What is added to scores, for each query: nothing to those out of the box."""
        *batch, rows, _ = shape_of(self.product.input)
        seen: list[SSAValue] = []
        for number, ((term, _), count) in enumerate(zip(self.found.terms, counts, strict=True)):
            name = derived_name(self.op, f"_r_term{number}")
            seen.append(self._added(reshape(name, term, (*batch, self.box.rows, count))))
        if self.box.rows == rows:
            return seen
        terms = self._joined("terms", seen, axis) if len(seen) > 1 else seen[0]
        before, behind = self.box.before[0], rows - self.box.before[0] - self.box.rows
        padded = top.PadOp.make(
            derived_name(self.op, "_r_padded"),
            (terms, self.product.bias),
            result_types=[tensor_like(terms, (*batch, rows, sum(counts)))],
            paddings=[*(0 for _ in batch), before, 0, *(0 for _ in batch), behind, 0],
            mode="constant",
        )
        return [self._added(padded)]

    def _keys(self, choices: Sequence[Floats], factor: float) -> SSAValue:
        """Them, times a factor, with ones where a term is added."""
        keys = self.product.right
        *batch, _, count = shape_of(keys)
        beside = self.box.before[1], count - self.box.before[1] - self.box.keys
        ones = np.pad(np.concatenate(choices), ((0, 0), beside))
        turned = _turned(keys)
        source, of_keys = _unscaled(keys if turned is None else turned.input)
        if factor * of_keys != 1:
            # the keys', as a queries' projection may be read for the terms, too
            scaled = top.MulConstOp.make(
                derived_name(self.op, "_r_scaled"),
                (source,),
                result_types=[source.type],
                const_val=factor * of_keys,
                do_relu=False,
            )
            source = self._added(scaled)
        ones = ones if turned is None else ones.T
        whole = np.ascontiguousarray(np.broadcast_to(ones, (*batch, *ones.shape)))
        weight = self._added(make_weight(self.op, derived_name(self.op, "_r_ones"), whole))
        right = self._joined("keys", (source, weight), len(batch) + (turned is not None))
        if turned is None:
            return right
        *front, longer, shorter = shape_of(right)
        kind = tensor_like(right, (*front, shorter, longer))
        name = name_loc(derived_name(self.op, "_r_turned"))
        return self._added(rebuilt(turned, operands=(right,), result_types=[kind], location=name))

    def _joined(self, label: str, parts: Sequence[SSAValue], axis: int) -> SSAValue:
        sizes = list(shape_of(parts[0]))
        sizes[axis] = sum(shape_of(part)[axis] for part in parts)
        kind = tensor_like(parts[0], sizes)
        name = derived_name(self.op, f"_r_{label}")
        return self._added(top.ConcatOp.make(name, parts, result_types=[kind], axis=axis))

    def _added(self, new: Operation) -> SSAValue:
        self.made.append(new)
        return new.results[0]


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
