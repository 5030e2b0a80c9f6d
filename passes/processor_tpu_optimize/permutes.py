"""What the patterns around permutes share: recognise one, make one, move one behind an op."""

from collections.abc import Sequence

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import (
    derived_name,
    none_for,
    rebuilt,
    sole_producer,
    tensor_like,
)
from xdsl_tpu.passes.tensors import shape_of

Order = tuple[int, ...]

HEADS: Order = (0, 2, 1, 3)
"""The order that swaps rows and heads of batch, rows, heads, columns."""

TURNED: Order = (0, 2, 3, 1)
"""Swaps rows and heads, then turns each matrix."""

HARDWARE_RANK = 4
"""Transposes of more dimensions are done in steps."""


def permutation(op: tpu.PermuteOp) -> Permutation:
    """What a Permute does."""
    return Permutation(shape_of(op.input), ints(op.order))


def applied(order: Order, values: Sequence[int]) -> tuple[int, ...]:
    """`values`, one a dimension, in a new order."""
    return tuple(values[axis] for axis in order)


def inverse(order: Order) -> Order:
    """The order that undoes `order`."""
    return tuple(order.index(axis) for axis in range(len(order)))


def composed(first: Order, second: Order) -> Order:
    """The one order that does `first`, then `second`."""
    return applied(second, first)


def sole_permute(value: SSAValue, order: Order | None = None) -> tpu.PermuteOp | None:
    """The Permute that makes `value`, when nothing else uses it and it has this order."""
    op = sole_producer(value, tpu.PermuteOp)
    return op if op is not None and order in (None, ints(op.order)) else None


def permute(
    name: str | LocationAttr, value: SSAValue, order: Order, none: SSAValue
) -> tpu.PermuteOp:
    """`value` with its dimensions in another order."""
    kind = tensor_like(value, applied(order, shape_of(value)))
    return tpu.PermuteOp.make(name, (value, none), result_types=[kind], order=order)


def reshape(name: str | LocationAttr, value: SSAValue, shape: Sequence[int]) -> tpu.ReshapeOp:
    """`value` under another shape."""
    return tpu.ReshapeOp.make(name, (value,), result_types=[tensor_like(value, shape)])


def move_behind(
    op: Operation,
    permutes: Sequence[tpu.PermuteOp],
    operands: Sequence[SSAValue],
    rewriter: PatternRewriter,
    suffix: str | None = None,
) -> Operation:
    """Replace an element-wise op on permuted values by one on `operands`, permuted afterwards.

    `permutes` have equal orders; they go unless something else uses them. The new op is called
    like the old one with the name of the first Permute (or `suffix`) added; the Permute behind it
    gets the old name. Gives the new op, whose attributes are still those of the old one.
    """
    order = ints(permutes[0].order)
    (old,) = op.results
    restored = [0] * len(order)
    for place, axis in enumerate(order):
        restored[axis] = shape_of(old)[place]
    name = derived_name(op, f"_{derived_name(permutes[0], '')}" if suffix is None else suffix)
    moved = rebuilt(
        op,
        operands=operands,
        result_types=[tensor_like(old, restored)],
        location=name_loc(name),
    )
    behind = permute(op.location, moved.results[0], order, none_for(op, rewriter))
    rewriter.replace(op, [moved, behind])
    for one in dict.fromkeys(permutes):
        if not one.output.uses:
            rewriter.erase(one)
    return moved
