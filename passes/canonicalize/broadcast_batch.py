"""Matrices that meet several others each: what they meet is one matrix of more rows or columns.

A product for each pair would read such a matrix again for each, and give little work at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import reshaped_weight
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, sole_producer, tensor_like
from xdsl_tpu.passes.products import is_plain
from xdsl_tpu.passes.tensors import shape_of

_MOST_MOVED = 32
"""Rows (or columns) of a matrix that is permuted: more of them give each product work enough.

With 32 rows, 12 x 64 products of 64 x 127 take 925,197 cycles instead of 1,168,447, permutes
included; with 64 rows 2,054,161 instead of 2,011,589.
"""


@dataclass(frozen=True)
class _Batch:
    """The batch dimensions of a product, those of size 1 left out.

    Each is a size and whether only one operand has it, the left one if `of_rows`.
    """

    dims: tuple[tuple[int, bool], ...]
    of_rows: bool

    @property
    def count(self) -> int:
        """How many matrices one of the other operand meets."""
        return prod(size for size, is_added in self.dims if is_added)

    @property
    def kept(self) -> int:
        """How many matrices the other operand has."""
        return prod(size for size, is_added in self.dims if not is_added)


@dataclass(frozen=True)
class _Order:
    """A value seen in `shape`, permuted by `order`: batches, and the rest in its matrices."""

    shape: tuple[int, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, batch: _Batch, rows: int, columns: int) -> "_Order":
        dims = (*batch.dims, (rows, False), (columns, False))
        row = len(batch.dims)
        kept = [axis for axis in range(row) if not dims[axis][1]]
        added = [axis for axis in range(row) if dims[axis][1]]
        matrix = [*added, row, row + 1] if batch.of_rows else [row, *added, row + 1]
        order = [axis for axis in (*kept, *matrix) if dims[axis][0] > 1]
        places = sorted(order)
        shape = tuple(dims[axis][0] for axis in places)
        return cls(shape, tuple(places.index(axis) for axis in order))

    @property
    def permuted(self) -> tuple[int, ...]:
        return tuple(self.shape[axis] for axis in self.order)

    @property
    def is_moved(self) -> bool:
        """Whether any element changes places."""
        return self.order != tuple(range(len(self.order)))


class BroadcastBatch(RewritePattern):
    """MatMul(x: 4x256x1x16, y: 1x256x16x64) -> Permute(MatMul(Permute(x): 256x4x16, y: 256x16x64)).

    Each of several matrices on one side meets several on the other: these become one, with rows
    below each other, or columns beside each other where the left side is the one that has fewer
    matrices. Where that takes Permutes, each has at most 32 of them.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.MatMulOp, rewriter: PatternRewriter) -> None:
        if not has_shapes(op.input, op.right, op.output) or not is_none(op.bias):
            return
        if not is_plain(op):
            return
        left, right = shape_of(op.input), shape_of(op.right)
        batch = _batch_of(left[:-2], right[:-2])
        if batch is None:
            return
        rows, columns = left[-2], right[-1]
        wide = _Order.of(batch, *(left if batch.of_rows else right)[-2:])
        made = _Order.of(batch, rows, columns)
        is_moved = wide.is_moved or made.is_moved
        if is_moved and (rows if batch.of_rows else columns) > _MOST_MOVED:
            return
        _rewrite(op, batch, wide, made, rewriter)


def _rewrite(
    op: top.MatMulOp, batch: _Batch, wide: _Order, made: _Order, rewriter: PatternRewriter
) -> None:
    rows, depth, columns = *shape_of(op.input)[-2:], shape_of(op.right)[-1]
    rows, columns = (
        (batch.count * rows, columns) if batch.of_rows else (rows, batch.count * columns)
    )
    shapes = ((batch.kept, rows, depth), (batch.kept, depth, columns))
    operands: list[SSAValue] = []
    for value, shape, is_wide in zip(
        op.operands[:2], shapes, (batch.of_rows, not batch.of_rows), strict=True
    ):
        weight = None if is_wide else sole_producer(value, top.WeightOp)
        if weight is not None:
            narrow = reshaped_weight(weight, shape)
            rewriter.replace(weight, narrow)
            operands.append(narrow.output)
            continue
        ops = list(_arranged(value, wide if is_wide else None, shape))
        rewriter.insert(ops)
        operands.append(ops[-1].results[0] if ops else value)
    product = rebuilt(
        op,
        operands=(*operands, *op.operands[2:]),
        result_types=[tensor_like(op.output, (batch.kept, rows, columns))],
        location=name_loc(derived_name(op, "_r_batch")),
    )
    rewriter.replace(op, [product, *_restored(op, product.output, made)])


def _batch_of(left: Sequence[int], right: Sequence[int]) -> _Batch | None:
    """How the batch dimensions of one side lie in those of the other, if several in several."""
    rank = max(len(left), len(right))
    left, right = ((1,) * (rank - len(sizes)) + tuple(sizes) for sizes in (left, right))
    pairs = [pair for pair in zip(left, right, strict=True) if pair != (1, 1)]
    of_rows = any(other == 1 for _, other in pairs)
    if of_rows == any(one == 1 for one, _ in pairs):
        return None  # both or neither lack some
    batch = _Batch(tuple((max(pair), 1 in pair) for pair in pairs), of_rows)
    return batch if batch.kept > 1 else None


def _arranged(value: SSAValue, to: _Order | None, shape: tuple[int, ...]) -> Iterator[Operation]:
    """The matrices of an operand of the product, in `shape`."""
    if to is not None and to.is_moved:
        seen = reshape(derived_name(value, "_r_seen"), value, to.shape)
        permute = top.PermuteOp.make(
            derived_name(value, "_r_order"),
            (seen.output,),
            result_types=[tensor_like(value, to.permuted)],
            order=to.order,
        )
        yield seen
        yield permute
        value = permute.output
    if shape_of(value) != shape:
        yield reshape(derived_name(value, "_r_batch"), value, shape)


def _restored(op: top.MatMulOp, value: SSAValue, made: _Order) -> Iterator[Operation]:
    """The result of `op` from that of the product; the last op has the name of `op`."""
    if made.is_moved:
        seen = reshape(derived_name(op, "_r_seen"), value, made.permuted)
        permute = top.PermuteOp.make(
            derived_name(op, "_r_order"),
            (seen.output,),
            result_types=[tensor_like(value, made.shape)],
            order=[made.order.index(axis) for axis in range(len(made.order))],
        )
        yield seen
        yield permute
        value = permute.output
    yield reshape(op.location, value, shape_of(op.output))
