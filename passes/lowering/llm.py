"""Building blocks of language models: attention by blocks, rotary positions, packed products."""

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.language_models import CAUSAL, WINDOW
from xdsl_tpu.passes.lowering.common import build, same
from xdsl_tpu.passes.lowering.context import (
    BF16,
    F16,
    CannotLowerError,
    LoweringContext,
    Lowerings,
)
from xdsl_tpu.passes.tensors import is_weight, required_name

RANGE_ROWS = 64
"""Rows of queries that one range of keys is for (`tpu.FAttention`)."""


def _attention(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """FAttention -> FAttention; of a causal one each row sees the keys up to its own.

    Rows are the last of the keys when there are fewer of them.
    """
    assert isinstance(op, top.FAttentionOp)
    operands = [ctx.as_type(value, ctx.element) for value in op.operands]
    ranges = None
    if _number(op, CAUSAL):
        ranges = causal_ranges(op.mq.value.data, op.mk.value.data, _number(op, WINDOW))
    return build(
        op, ctx, tpu.FAttentionOp, operands, ctx.element, key_ranges=ranges, causal=None,
        window=None,
    )  # fmt: skip


def _number(op: Operation, name: str) -> int:
    found = op.attributes.get(name)
    return found.value.data if isinstance(found, IntegerAttr) else 0


def causal_ranges(rows: int, keys: int, window: int = 0) -> list[int] | None:
    """`key_ranges` of rows that are the last ones of `keys`; None for fewer than two ranges.

    Keys before the first row are a history, in which the mask says what is there. Without one, a
    row sees nothing before its `window` (0: no window).
    """
    if rows <= RANGE_ROWS:
        return None
    before = keys - rows
    ranges: list[int] = []
    for first in range(0, rows, RANGE_ROWS):
        last = min(first + RANGE_ROWS, rows)
        if before:
            ranges += [0, before + last, 0, before + last]
            continue
        nearest = max(0, last - window) if window else 0
        oldest = max(0, first + 1 - window) if window else 0
        ranges += [oldest, last, oldest if nearest > 0 else first, last]
    return ranges


def _packed_product(op: Operation, ctx: LoweringContext) -> Sequence[SSAValue]:
    """A16MatMul -> A16MatMul with scale and bias in the 16-bit type of the mode."""
    assert isinstance(op, top.A16MatMulOp)
    where = f"{op.name} '{required_name(op)}'"
    if ctx.element not in (F16, BF16):
        raise CannotLowerError(f"{where}: packed weights need the mode F16 or BF16")
    if not op.right_transpose.value.data:
        raise CannotLowerError(f"{where}: packed weights are [N, K]; right_transpose must be true")
    for value, what in ((op.weight, "weight"), (op.scale, "scale"), (op.zp, "zero point")):
        if not is_weight(value):
            raise CannotLowerError(f"{where}: its {what} is not constant")
    scale = ctx.as_type(op.scale, ctx.element)
    bias = op.bias if is_none(op.bias) else ctx.as_type(op.bias, ctx.element)
    return build(
        op,
        ctx,
        tpu.A16MatMulOp,
        (op.input, op.weight, scale, op.zp, bias),
        ctx.element,
        keep=False,
        weight_bits=op.weight_bits,
        q_group_size=op.q_group_size,
        w_transpose=BoolAttr.from_bool(True),
        sign=BoolAttr.from_bool(True),
        dq_type=op.dq_type.data,
    )


LOWERINGS: Lowerings = {
    top.A16MatMulOp: _packed_product,
    top.FAttentionOp: _attention,
    top.RopeOp: same(tpu.RopeOp),
}
