"""Sums of products of elements that are products of matrices."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.integers import is_integer_tensor
from xdsl_tpu.dialects.interfaces.layout_rules import aligned
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    none_for,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

LEAST = 8
"""Rows and columns from which on a product is one of matrices: of fewer, most of the array would
idle, and rows that are multiplied by one column are a product of elements for good reason."""


class SumOfProducts(RewritePattern):
    """Reduce(Mul(x: 2x64x1x32, y: 2x1x48x32), axes = [3]) {ReduceSum} -> MatMul(x, y).

        Mul     2x64x1x32 , 2x1x48x32               Reshape, Permute  2x32x48
        Reduce  2x64x48x32 {axes = [3]}      ->     MatMul            2x64x32 @ 2x32x48
        2x64x48

    Dimensions that both have are the batch, or what is summed over if they go; each has some of its
    own, along which the other one is stretched: rows and columns. So Mamba-2 writes its products of
    chunks (arXiv 2405.21060), and what is compared pair by pair. A mean is a multiple of it.
    Integers stay: products of matrices are of floats.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ReduceOp, rewriter: PatternRewriter) -> None:
        product = sole_producer(op.input, top.MulOp)
        if product is None or op.mode.data not in ("ReduceSum", "ReduceMean"):
            return
        if len(product.inputs) != 2 or has_relu(product) or is_integer_tensor(op.input):
            return
        if not has_shapes(*product.inputs, product.output, op.output):
            return
        found = _Matrices.of(op, product)
        if found is not None:
            rewriter.replace(op, found.made(none_for(op, rewriter)))


@dataclass
class _Matrices:
    """What a sum of products multiplies: dimensions of the product, by what they are to both."""

    op: top.ReduceOp
    sides: tuple[SSAValue, SSAValue]
    shape: Shape
    batch: Sequence[int]
    rows: Sequence[int]
    columns: Sequence[int]
    inner: Sequence[int]
    ops: list[Operation] = field(default_factory=list[Operation])

    @staticmethod
    def of(op: top.ReduceOp, product: top.MulOp) -> "_Matrices | None":
        """None where that is no product of matrices, or of very small ones."""
        shape = shape_of(product.output)
        x, y = (_behind_tile(value, shape) for value in product.inputs)
        given = [aligned(shape_of(value), len(shape)) for value in (x, y)]
        reduced = {axis % len(shape) for axis in ints(op.axes)}
        places: dict[tuple[bool, bool, bool], list[int]] = {}
        for axis, size in enumerate(shape):
            if size > 1:
                of_x, of_y = (one[axis] == size for one in given)
                places.setdefault((of_x, of_y, axis in reduced), []).append(axis)
        batch, inner = places.pop((True, True, False), []), places.pop((True, True, True), [])
        rows, columns = places.pop((True, False, False), []), places.pop((False, True, False), [])
        if places or not inner:
            return None
        if min(_size(shape, rows), _size(shape, columns)) < LEAST:
            return None
        return _Matrices(op, (x, y), shape, batch, rows, columns, inner)

    def made(self, none: SSAValue) -> list[Operation]:
        """The ops that replace the Reduce."""
        x, y = self.sides
        left = self._matrix("rows", x, (self.batch, self.rows, self.inner))
        right = self._matrix("columns", y, (self.batch, self.inner, self.columns))
        sizes = [_size(self.shape, axes) for axes in (self.batch, self.rows, self.columns)]
        kind, is_mean = tensor_like(self.op.output, sizes), self.op.mode.data == "ReduceMean"
        name = derived_name(self.op, "_r_product")
        summed = TensorType(f32, sizes) if is_mean else kind
        value = self._added(top.MatMulOp.make(name, (left, right, none), result_types=[summed]))
        if is_mean:
            mean = top.MulConstOp.make(
                derived_name(self.op, "_r_mean"),
                (value,),
                result_types=[kind],
                const_val=1 / _size(self.shape, self.inner),
                do_relu=False,
            )
            value = self._added(mean)
        axes = [*self.batch, *self.rows, *self.columns]
        value = self._ordered("placed", value, axes, sorted(axes))
        types = self.op.result_types
        self.ops.append(top.ReshapeOp.make(self.op.location, (value,), result_types=types))
        return self.ops

    def _matrix(self, label: str, value: SSAValue, groups: Sequence[Sequence[int]]) -> SSAValue:
        """A batch of matrices, of the dimensions in three groups."""
        axes = [axis for group in groups for axis in group]
        value = self._ordered(label, value, sorted(axes), axes)
        flat = [_size(self.shape, group) for group in groups]
        return self._added(reshape(derived_name(self.op, f"_r_{label}"), value, flat))

    def _ordered(
        self, label: str, value: SSAValue, given: Sequence[int], wanted: Sequence[int]
    ) -> SSAValue:
        """A value that has the `given` dimensions with these in another order."""
        if list(given) == list(wanted):
            return value
        name = derived_name(self.op, f"_r_{label}_seen")
        seen = self._added(reshape(name, value, [self.shape[axis] for axis in given]))
        turned = top.PermuteOp.make(
            derived_name(self.op, f"_r_{label}_turned"),
            (seen,),
            result_types=[tensor_like(value, [self.shape[axis] for axis in wanted])],
            order=[list(given).index(axis) for axis in wanted],
        )
        return self._added(turned)

    def _added(self, op: Operation) -> SSAValue:
        self.ops.append(op)
        return op.results[0]


def _behind_tile(value: SSAValue, shape: Shape) -> SSAValue:
    """What was written out along dimensions of size 1."""
    tile = sole_producer(value, top.TileOp)
    if tile is None or not has_shapes(tile.input) or len(shape_of(tile.input)) > len(shape):
        return value
    before, behind = (aligned(shape_of(one), len(shape)) for one in (tile.input, value))
    pairs = zip(before, behind, strict=True)
    return tile.input if all(old in (1, new) for old, new in pairs) else value


def _size(shape: Shape, axes: Sequence[int]) -> int:
    return prod(shape[axis] for axis in axes)
