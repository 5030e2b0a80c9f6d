"""Scores of attention that 8 bits give no earlier than F16 does.

A product in 8 bits takes twice as many channels at a time as one in F16, which is worth nothing
where the heads have no more than F16 takes at once. Its exact sums are brought to 8 bits then, and
cast back for the Softmax, which takes floats: each is a pass over scores, of which there are many
more than elements of queries and keys.
"""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.passes.lowering.ends import Ends
from xdsl_tpu.passes.lowering.fine_parts import MOVES
from xdsl_tpu.passes.lowering.int8.prices import Prices
from xdsl_tpu.passes.lowering.op_modes import FALLBACK, float_mode
from xdsl_tpu.passes.lowering.score_sums import SUMS
from xdsl_tpu.passes.tensors import is_weight, shape_of

GAIN = 0.82
"""Part of the cycles in 8 bits that F16 must do with: queries and keys have twice as many bytes,
which is not in the estimate."""

_GIVE_SCORES = (top.MatMulOp, top.MulConstOp, top.MulOp)
"""Ops that give the scores among the operands of a sum, rather than a bias or a mask."""


def score_products(func: FuncOp, chip: Chip) -> set[Operation]:
    """The products of two computed tensors that only a Softmax reads and that F16 gives earlier,
    and what scales, adds to and moves their results; none where a model came quantised, or where
    numbers are beyond F16."""
    ops = list(func.body.block.ops)
    if any(isinstance(op, top.WeightOp) and op.scale is not None for op in ops):
        return set()
    prices, ends, found = Prices(chip, set()), Ends(), set[Operation]()
    for op in ops:
        if isinstance(op, top.SoftmaxOp):
            behind = _behind(op.input)
            near = all(float_mode(one, ends) == FALLBACK for one in behind)
            if behind and near and _is_earlier_in_f16(behind[-1], prices):
                found.update(behind)
    return found


def _behind(value: SSAValue) -> list[Operation]:
    """The ops from a value back to the product that gives it; none when there is no such chain."""
    found: list[Operation] = []
    while value.has_one_use() and isinstance(op := value.owner, Operation):
        found.append(op)
        if isinstance(op, top.MatMulOp):
            return [] if is_weight(op.input) or is_weight(op.right) else found
        scores = _scores(op)
        if scores is None:
            return []
        value = scores
    return []


def _scores(op: Operation) -> SSAValue | None:
    """The operand of an op on scores that are the scores, not a mask or a factor; None for other
    ops."""
    if isinstance(op, (*MOVES, top.MulConstOp)):
        return op.operands[0]
    if not isinstance(op, (*SUMS, top.MulOp)):
        return None
    computed = [one for one in op.operands if not is_weight(one)]
    if isinstance(op, top.MulOp) and len(computed) > 1:
        return None
    same = [one for one in computed if shape_of(one) == shape_of(op.results[0])]
    return min(same, key=lambda one: not isinstance(one.owner, _GIVE_SCORES), default=None)


def _is_earlier_in_f16(product: Operation, prices: Prices) -> bool:
    eight, half = prices.of(product)
    casts = sum(prices.to_eight(one) for one in product.operands[:2])
    return half + casts < GAIN * (eight + prices.to_half(product.results[0]))
