"""Ranges that only a mask makes large: -3.4e38 among scores of attention.

    Add(scores up to 3, mask of 0 and -3.4e38) -> Softmax    f16 does: the mask is -65504 in it

Such a range says nothing of the numbers that matter. Scores that are beyond f16 by themselves, and
then masked, are another thing: of them f16 makes infinities that were none.
"""

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.lowering.ends import CARRIERS, Ends
from xdsl_tpu.passes.tensors import is_weight


def is_masked(value: SSAValue, reach: float, ends: Ends) -> bool:
    """Whether what a tensor has beyond `reach` comes from a mask, and goes only into functions to
    which the largest number of a narrower type is as good.

    A factor makes a mask of what is 0 or 1, `(1 - seen) * -1e9`, before it is added to something.
    """
    return ends.is_bounded(value) and _is_made_by_mask(value, reach, ends)


def _is_made_by_mask(value: SSAValue, reach: float, ends: Ends) -> bool:
    if is_weight(value):
        return True
    op = value.owner
    if not isinstance(op, Operation) or not isinstance(op, CARRIERS):
        return False
    computed = [one for one in op.operands if not is_none(one) and not is_weight(one)]
    if isinstance(op, top.MulConstOp):
        return ends.is_added(value) and all(_is_within(one, 1) for one in computed)
    return all(_is_within(one, reach) or _is_made_by_mask(one, reach, ends) for one in computed)


def _is_within(value: SSAValue, reach: float) -> bool:
    known = range_of(value)
    return known is None or known.threshold <= reach
