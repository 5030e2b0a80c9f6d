"""Requantisation, bias and filter of a quantised convolution, merged into one weight.

What a kernel for `tpu.Conv2D` receives after this pass when the filter has 8 bits
(docs/hardware/quantization.md#weight-images; `dialects/interpreters/coefficients.py` has the
layout):
`coeff_merged = true`, one weight `[1, min(oc, lanes), 1, bytes]` called `<op>_merge`, no bias
operand, no `multiplier` and no `rshift`. The filter in it is laid out as a 16-bit one, with
blocks of `filter_row` channels. A 3ic mode gets 0x30 when the input has several users,
else none of these bits.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.builder import Builder
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, i64
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.coefficients import (
    CoefficientLayout,
    Coefficients,
    float_words,
    merge_coefficients,
)
from xdsl_tpu.dialects.interpreters.layouts import (
    FilterShape,
    is_depthwise,
    reorder_conv_filter,
    reordered_filter_shape,
)
from xdsl_tpu.dialects.lanes import USUAL_WORDS, Lanes
from xdsl_tpu.dialects.quant import zero_point
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.graph import none_before
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_reorder.merge_rule import note_row, note_words, with_flags

Array = npt.NDArray[Any]

_BYTES = 1


def merge_conv(op: tpu.Conv2DOp, weights: Weights | None, of_chip: Lanes, mode: int) -> None:
    """Merge the coefficients of a convolution whose filter has 8 bits; sets `use_3ic_optimize`.

    `mode` says what to merge into the channels, as for other convolutions.

    Raises TpuError for a filter or bias that is no weight, and for missing or surplus factors.
    """
    where = f"tpu.Conv2D '{required_name(op)}'"
    has_bias = not is_none(op.bias)
    if not is_weight(op.filter) or (has_bias and not is_weight(op.bias)):
        raise TpuError(f"{where}: filter and bias of a quantised convolution must be weights")
    dims = shape_of(op.filter)
    if len(dims) != 4:
        raise TpuError(f"{where}: its filter has shape {dims}, not [oc, ic, kh, kw]")
    shape, group = FilterShape(*dims), op.group.value.data
    depthwise = is_depthwise(shape, group)
    row = reordered_filter_shape(shape, _BYTES, of_chip.row, group, mode)
    apart = has_bias and not bool(op.requant_floats)
    layout = CoefficientLayout(shape.oc, row[2] * row[3], apart, depthwise, of_chip)
    requant = _requantisation(op, shape.oc, where)
    merged = top.WeightOp.make(
        f"{required_name(op)}_merge",
        (),
        result_types=(TensorType(element_of(op.filter), layout.shape),),
    )
    Builder(InsertPoint.before(op)).insert(merged)
    if weights is not None:
        plain = weights[required_name(op.filter)]
        filter_ = reorder_conv_filter(plain, _BYTES, of_chip.row, group, mode)
        bias = weights[required_name(op.bias)].reshape(-1) if has_bias else None
        if bias is not None and not apart:
            requant, bias = float_words(requant, bias), None
        parts = Coefficients(requant, bias, filter_.reshape(shape.oc, -1))
        weights[required_name(merged)] = merge_coefficients(parts, depthwise, of_chip)
    note_row(op, of_chip.row)
    note_words(op, of_chip.words)
    _use(op, merged, mode, weights)


FARTHEST_OFFSET = 1 << 13
"""Steps of the result that an offset may have: f32 has 10 bits below a step there, so that what it
rounds away is nothing beside a step."""


def takes_offset(op: tpu.Conv2DOp, of_chip: Lanes, weights: Weights | None) -> bool:
    """Whether the bias of a convolution whose filter has 8 bits, not a depthwise one, may be added
    in f32 to what the sums are scaled to. Not where it is so large that f32 would round it, or
    where a channel has no room for two words of f32, one for each of what it has now."""
    if is_none(op.bias) or not is_weight(op.bias) or len(shape_of(op.filter)) != 4:
        return False
    if of_chip.words != USUAL_WORDS:
        return False
    shape = FilterShape(*shape_of(op.filter))
    if is_depthwise(shape, op.group.value.data):
        return False
    if weights is None:
        return True
    requant = _requantisation(op, shape.oc, f"tpu.Conv2D '{required_name(op)}'")
    words = float_words(requant, weights[required_name(op.bias)]).view(np.float32)
    return bool(np.isfinite(words).all() and np.abs(words[:, 1]).max() <= FARTHEST_OFFSET)


def _requantisation(op: tpu.Conv2DOp, channels: int, where: str) -> Array:
    """(multiplier, -shift, zero point) of each channel."""
    if op.multiplier is None or op.rshift is None:
        raise TpuError(f"{where}: an 8-bit filter needs multiplier and rshift")
    factors, shifts = ints(op.multiplier), ints(op.rshift)
    if {len(factors), len(shifts)} != {channels}:
        raise TpuError(f"{where}: {channels} channels need one multiplier and one rshift each")
    zeros = [zero_point(op.output.type)] * channels
    return np.stack([factors, [-s for s in shifts], zeros], axis=1).astype(np.int32)


def _use(op: tpu.Conv2DOp, merged: top.WeightOp, mode: int, weights: Weights | None) -> None:
    old = [value for value in (op.filter, op.bias) if not is_none(value)]
    op.use_3ic_optimize = IntegerAttr(with_flags(op, mode), i64)
    op.operands[1] = merged.output
    op.operands[2] = none_before(op)
    op.coeff_merged = BoolAttr.from_bool(True)
    op.multiplier = op.rshift = None
    for value in old:
        if not value.uses and isinstance(value.owner, top.WeightOp):
            if weights is not None:
                weights.pop(required_name(value))
            value.owner.detach()
            value.owner.erase()
