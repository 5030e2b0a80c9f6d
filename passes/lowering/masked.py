"""Ranges that only a mask makes large: -3.4e38 among scores of attention.

    Add(scores up to 3, mask of 0 and -3.4e38) -> Softmax    f16 does: the mask is -65504 in it

Such a range says nothing of the numbers that matter. Scores that are beyond f16 by themselves, and
then masked, are another thing: of them f16 makes infinities that were none.
"""

from collections.abc import Mapping
from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import F64, F64Attr
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.passes.calibration.ranges import range_of
from xdsl_tpu.passes.half_range import LARGEST_OF
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


def limit_masks(modes: Mapping[Operation, str]) -> None:
    """Make masks of ops in 16-bit floats numbers that these hold, also beside what they are added
    to: half the largest one there.

        Where(seen, 0, -3.4e38); Add(scores up to 100, mask) -> Softmax    in F16: -32752

    A score below -16 beside -65504 is minus infinity. A row of nothing else, that of a token which
    sees no other, has no softmax, and what comes out of it makes all rows behind it NaN.
    """
    ends = Ends()
    for op, mode in modes.items():
        largest, names = LARGEST_OF.get(mode), _CHOSEN.get(type(op))
        if largest is None or names is None or not ends.is_bounded(op.results[0]):
            continue
        halved = ends.is_added(op.results[0]) and ends.is_shared(op.results[0])
        limit = largest / 2 if halved else largest
        for name in names:
            number = cast("F64Attr", op.attributes[name]).value.data
            # What the format holds may be any number, no mask.
            if largest <= abs(number) < np.inf:
                op.attributes[name] = F64.encode(float(np.copysign(limit, number)))


_CHOSEN: Mapping[type[Operation], tuple[str, ...]] = {
    top.MaskedFillOp: ("const_val",),
    top.MulConstOp: ("const_val",),
    top.WhereOp: ("x_const_val", "y_const_val"),
}
"""Numbers that masks are made by."""
