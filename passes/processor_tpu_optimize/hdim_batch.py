"""Batches of matrices whose rows and heads are swapped: the product reads them as they lie."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.canonicalize.permute_order import Permutation
from xdsl_tpu.passes.graph import derived_name, none_for, rebuilt, sole_user, tensor_like
from xdsl_tpu.passes.processor_tpu_optimize.permutes import (
    HEADS,
    TURNED,
    Order,
    applied,
    permute,
    reshape,
    sole_permute,
)
from xdsl_tpu.passes.tensors import is_weight, shape_of, size_in_bytes
from xdsl_tpu.passes.weight_data import change_weight

_UNTURN: Order = (0, 3, 2, 1)
"""Turns each matrix of batch, rows, heads, columns."""


@dataclass
class MatMulHdimBatchPattern(RewritePattern):
    """MatMul(Permute(x), Permute(y)) -> Permute(MatMul(x, y) {hdim_is_batch}).

        Permute [0, 2, 1, 3]  64x49x3x32  (both)
        MatMul  64x3x49x32 @ (64x3x49x32)^T     ->    MatMul {hdim_is_batch}  64x49x3x49
                64x3x49x49                            Permute [0, 2, 1, 3]    64x3x49x49

    Rows and heads of batch, rows, heads, columns are not swapped for the product, which finds
    its matrices with a stride; its result is swapped instead, and that Permute moves on to the
    next product. Each operand may be

    - a Permute [0, 2, 1, 3], or [0, 2, 3, 1] (then its transpose flag is toggled), used here only,
    - a weight, used here only, whose numbers are permuted,
    - anything for which the Permute would move no data (one row or one head),
    - anything else, which then needs a Permute in turn: only when fewer bytes move than before.
      (The vendor's compiler does this always.)

    At least one operand is a Permute, and not both are weights. Batch and heads of both operands
    are the same: kernels read a matrix of their own for each (`PermuteTileSwap` keeps a Tile). The
    left operand must not be turned alone: it then keeps a Permute [0, 3, 2, 1] of its own.

    The vendor's compiler leaves f32 alone; here the kernels for f32 read such operands, too.
    """

    weights: Weights | None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tpu.MatMulOp, rewriter: PatternRewriter) -> None:
        if bool(op.hdim_is_batch) or bool(op.output_transpose) or not bool(op.keep_dims):
            return
        values = (op.input, op.right)
        if any(len(shape_of(value)) != len(HEADS) for value in values):
            return
        if shape_of(op.input)[:2] != shape_of(op.right)[:2]:
            return
        left, right = map(_plan, values)
        if left is None or right is None or not _is_worth_it(op, (left, right)):
            return
        turn_left = bool(op.left_transpose) != left.turns
        turn_right = bool(op.right_transpose) != right.turns
        alone = turn_left and not turn_right
        if alone and not left.turns:
            return
        operands = [
            self._operand(op, left, rewriter, alone),
            self._operand(op, right, rewriter, False),
        ]
        product = rebuilt(
            op,
            operands=(*operands, *op.operands[2:]),
            result_types=[tensor_like(op.output, applied(HEADS, shape_of(op.output)))],
            location=name_loc(derived_name(op, "_hdim_is_batch")),
        )
        product.hdim_is_batch = BoolAttr.from_bool(True)
        product.left_transpose = BoolAttr.from_bool(turn_left and turn_right)
        product.right_transpose = BoolAttr.from_bool(turn_right)
        behind = permute(op.location, product.output, HEADS, none_for(op, rewriter))
        rewriter.replace(op, [product, behind])
        for one in (left.permute, right.permute):
            if one is not None:
                rewriter.erase(one)

    def _operand(
        self, op: tpu.MatMulOp, operand: "_Operand", rewriter: PatternRewriter, alone: bool
    ) -> SSAValue:
        """The operand as batch, rows, heads, columns; with `alone`, not turned."""
        value, before = operand.value, operand.permute
        shape = applied(HEADS, shape_of(value))
        match operand.way:
            case _Way.PERMUTE:
                assert before is not None
                if not alone:
                    return before.input
                name = derived_name(before, "_r_turned")
                made = permute(name, before.input, _UNTURN, none_for(op, rewriter))
            case _Way.WEIGHT:
                place = list(op.operands).index(value)
                name = derived_name(value, "_hdim_is_batch")
                change_weight(op, place, shape, _swap_heads, self.weights, name=name)
                return op.operands[place]
            case _Way.RESHAPE:
                made = reshape(
                    derived_name(value, f"_r_reshape_for_{derived_name(op, '')}"), value, shape
                )
            case _Way.NEW_PERMUTE:
                name = derived_name(value, f"_r_permute_for_{derived_name(op, '')}")
                made = permute(name, value, HEADS, none_for(op, rewriter))
        rewriter.insert(made)
        return made.output


class _Way(Enum):
    """How rows and heads of an operand get swapped back."""

    PERMUTE = auto()
    WEIGHT = auto()
    RESHAPE = auto()
    NEW_PERMUTE = auto()


@dataclass(frozen=True)
class _Operand:
    """An operand of the product; `permute` is the Permute that goes, if one does."""

    value: SSAValue
    way: _Way
    permute: tpu.PermuteOp | None = None

    @property
    def turns(self) -> bool:
        """Whether the Permute also turns each matrix."""
        return self.permute is not None and ints(self.permute.order) == TURNED


def _plan(value: SSAValue) -> _Operand | None:
    """How an operand is read; None for a weight that others use."""
    before = sole_permute(value)
    if before is not None and ints(before.order) in (HEADS, TURNED):
        return _Operand(value, _Way.PERMUTE, before)
    if is_weight(value):
        return _Operand(value, _Way.WEIGHT) if value.has_one_use() else None
    if Permutation(shape_of(value), HEADS).moves_nothing:
        return _Operand(value, _Way.RESHAPE)
    return _Operand(value, _Way.NEW_PERMUTE)


def _is_worth_it(op: tpu.MatMulOp, operands: Sequence[_Operand]) -> bool:
    """Whether a Permute goes, and no more bytes are moved than before when one comes."""
    ways = [operand.way for operand in operands]
    if _Way.PERMUTE not in ways:
        return False
    if _Way.NEW_PERMUTE not in ways:
        return True
    after = sole_user(op.output, tpu.PermuteOp)
    cancels = after is not None and ints(after.order) == HEADS
    result = size_in_bytes(op.output)
    gone = sum(size_in_bytes(one.value) for one in operands if one.way is _Way.PERMUTE)
    new = sum(size_in_bytes(one.value) for one in operands if one.way is _Way.NEW_PERMUTE)
    return new < gone + result if cancels else new + result < gone


def _swap_heads(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.swapaxes(array, 1, 2)
