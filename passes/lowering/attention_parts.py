"""Attention whose scores 8 bits cannot keep on the chip."""

import math
from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import is_weight, shape_of

MOVES = (top.PermuteOp, top.ReshapeOp, top.SliceOp, top.SqueezeOp, top.UnsqueezeOp)
"""Ops on operands and results of an attention that the fused one reads through."""

AROUND = (top.AddOp, top.ConvOp, top.MulConstOp, top.PermuteOp, top.ReshapeOp)
"""Ops on scores, beside products that mix the heads."""

HALF = 2
"""Bytes of an F16."""

MANY = 6
"""Lane groups of keys from which on one op is done before the parts of an attention with scores in
floats."""

SHARE = 0.4
"""Of local memory: where the scores of all heads need more, with all their softmax does, as those
of many windows may, its parts do not stay in one group, and one op is done earlier from a lane
group of keys on."""

TENSORS = 7
"""Tensors of 16 bits and the size of the scores that a softmax needs at a time, its operand, its
result and their casts included."""


def wide_attention(func: FuncOp, chip: Chip) -> set[Operation]:
    """The ops of attentions that are done earlier in F16 than in 8 bits.

    In 8 bits the products take half the time, but scores are written to DDR and read four times
    unless those of a head fit local memory beside what their softmax needs. In F16 products and
    softmax are one op that keeps them on the chip (`fuse-attention`), also where heads are mixed.
    With the ops between the two products go those that only move their operands and result.
    """
    found: set[Operation] = set()
    for op in func.body.block.ops:
        if isinstance(op, top.SoftmaxOp):
            found |= _around(op, chip)
    return found


def _around(op: top.SoftmaxOp, chip: Chip) -> set[Operation]:
    shape = shape_of(op.output)
    if op.axis.value.data % len(shape) != len(shape) - 1:
        return set()
    before, after = _behind(op.input), _ahead(op.output)
    if before is None or after is None:
        return set()
    between = [*before, *after]
    mixed = any(_is_mix(one) for one in between)
    if not mixed and _fits(shape, chip) and not _is_in_floats(before, shape, chip):
        return set()
    products = [one for one in between if _is_attention_product(one)]
    moves = [move for product in products for move in _moves(product)]
    return {op, *between, *moves}


def _fits(shape: tuple[int, ...], chip: Chip) -> bool:
    """Whether the scores of one head have room in local memory with all their softmax needs."""
    return _needed(shape, chip) <= chip.local_bytes


def _needed(shape: tuple[int, ...], chip: Chip) -> int:
    """Bytes of each lane for the scores of one head and all their softmax needs."""
    widths = -(-shape[-1] // chip.eu(HALF))
    return TENSORS * -(-shape[-2] // chip.lanes) * widths * chip.eu_bytes


def _is_in_floats(before: list[Operation], shape: tuple[int, ...], chip: Chip) -> bool:
    """Whether many scores are in floats in any case (`score_products`), as those of heads of few
    channels are: 8 bits would be for the product with the values only, and cost a cast of
    all shares."""
    product = next(one for one in before if _is_attention_product(one))
    assert isinstance(product, top.MatMulOp)
    depth = shape_of(product.input)[-2 if product.left_transpose.value.data else -1]
    if depth > chip.cube_channels[HALF] or shape[-1] < chip.lanes:
        return False
    needed = math.prod(shape[:-2]) * _needed(shape, chip)
    return shape[-1] >= MANY * chip.lanes or needed > SHARE * chip.local_bytes


def _is_attention_product(op: Operation) -> bool:
    return isinstance(op, top.MatMulOp) and not is_weight(op.input) and not is_weight(op.right)


def _is_mix(op: Operation) -> bool:
    """Whether a product mixes the heads, which have been moved to the end."""
    if not isinstance(op, top.MatMulOp) or not isinstance(op.input.owner, top.PermuteOp):
        return False
    heads = shape_of(op.output)[-1]
    return is_weight(op.right) and shape_of(op.right) == (heads, heads)


def _behind(value: SSAValue) -> list[Operation] | None:
    """The ops from the product of queries and keys to a value; None when there is no such chain."""
    found: list[Operation] = []
    while value.has_one_use() and isinstance(op := value.owner, Operation):
        found.append(op)
        if _is_attention_product(op):
            return found
        if not (isinstance(op, AROUND) or _is_mix(op)):
            return None
        value = _larger(op)
    return None


def _larger(op: Operation) -> SSAValue:
    """The operand that is no mask: of a sum the one that is as large as the result."""
    if not isinstance(op, top.AddOp):
        return op.operands[0]
    same = [v for v in op.inputs if not is_weight(v) and shape_of(v) == shape_of(op.output)]
    products = [v for v in same if isinstance(v.owner, top.MatMulOp | top.MulConstOp)]
    return [*products, *same, op.inputs[0]][0]


def _ahead(value: SSAValue) -> list[Operation] | None:
    """The ops from a value to the product with the values, which takes it on the left."""
    found: list[Operation] = []
    while value.has_one_use():
        (use,) = value.uses
        op = use.operation
        found.append(op)
        if _is_attention_product(op):
            return found if use.index == 0 else None
        if not (isinstance(op, top.PermuteOp | top.ReshapeOp) or _is_mix(op)):
            return None
        value = op.results[0]
    return None


def _moves(product: Operation) -> Iterator[Operation]:
    """What only moves operands and results of a product, as far as nothing else reads it."""
    for value in product.operands[:2]:
        while isinstance(op := value.owner, MOVES) and value.has_one_use():
            yield op
            value = op.operands[0]
    value = product.results[0]
    while value.has_one_use():
        (use,) = value.uses
        if not isinstance(use.operation, MOVES):
            return
        yield use.operation
        value = use.operation.results[0]
