"""Filters and biases of convolutions.

What a kernel for `tpu.Conv2D` receives after this pass (P = `filter_row` / bytes of an element,
64 bytes where it is not given):

- filter, f32: `[1, oc, ic/group, kh*kw]`, the original order.
- filter, 16 bits, depthwise (group = ic = oc > 1): `[1, oc, kh, kw]`, the original order.
- filter, 16 bits, else: `[1, oc, 1, ceil(ic'/P) * k' * P]` (rank-2 split
  `[1, oc, ceil(ic'/P), k' * P]` when longer than 65535). For each output channel: blocks of P
  input channels; in a block the k' kernel positions; at a position the P channels side by side,
  zeros beyond the last. ic' and k' are ic/group and kh*kw unless a 3ic mode merged them.
- bias: `[1, oc, 1, 1]` f32; 16-bit depthwise: the 16-bit type of the filter.

`use_3ic_optimize` says how the few channels of a first layer were merged with kernel rows or
columns so that P parallel channels are better used. Its low two bits:

- 0: not merged, ic' = ic, k' = kh*kw;
- 1: rows merged, ic' = ic*kh (channel c, row r at c*kh + r), k' = kw: the kernel must present
  the input with kh row-shifted copies of every channel;
- 2: columns merged, ic' = ic*kw, k' = kh;
- 3: both merged, ic' = ic*kh*kw (c*kh*kw + r*kw + s), k' = 1.

The flags above them say who spreads the input out: 0x10 the convolution itself, on data already
in local memory; 0x20 in addition when the input has several users and must stay as it is. f32
filters are never merged. A filter that is computed is brought into its layout by ops in front of
the convolution.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects.builtin import IntegerAttr, NoneType, TensorType, UnknownLoc, i64
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp, is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.layouts import (
    FilterShape,
    is_depthwise,
    reorder_conv_filter,
    reordered_filter_shape,
)
from xdsl_tpu.dialects.lanes import channels_of_row
from xdsl_tpu.dialects.weights import Weights, as_float32, from_float32
from xdsl_tpu.passes.tensors import element_bytes, element_of, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_data import change_weight
from xdsl_tpu.passes.weight_reorder.merge_rule import note_row, with_flags

FILTER, BIAS = 1, 2


def reorder_conv(op: tpu.Conv2DOp, weights: Weights | None, row: int, mode: int) -> None:
    """Lay out the filter and the bias of a 2-D convolution; sets `use_3ic_optimize`.

    `row` are the bytes of channels side by side; `mode` says what to merge into the channels: 0 to
    3 as above.
    """
    note_row(op, row)
    if not is_weight(op.filter):
        reorder_computed(op, weights, row)
        return
    dims = shape_of(op.filter)
    if len(dims) != 4:
        raise TpuError(
            f"tpu.Conv2D '{required_name(op)}': its filter has shape {dims}, not [oc, ic, kh, kw]"
        )
    shape, group = FilterShape(*dims), op.group.value.data
    size = element_bytes(op.filter)
    depthwise = is_depthwise(shape, group)
    op.use_3ic_optimize = IntegerAttr(with_flags(op, mode), i64)
    moved = size < 4 and not depthwise
    change_weight(
        op,
        FILTER,
        reordered_filter_shape(shape, size, row, group, mode),
        lambda data: reorder_conv_filter(data, size, row, group, mode),
        weights,
        name=f"{required_name(op)}_filter_reorderd" if moved else None,
    )
    if not is_none(op.bias) and is_weight(op.bias):
        _reorder_bias(op, weights, to_filter_type=depthwise and size < 4)


def reorder_computed(op: tpu.Conv2DOp, weights: Weights | None, row: int) -> None:
    """Lay out a filter that is computed.

    filter (oc, ic, kh, kw) -> Pad (oc, blocks * P, k) -> Permute of (oc, blocks, P, k) to
    (oc, blocks, k, P) -> Reshape (1, oc, 1, blocks * k * P)

    In f32 it is a Reshape (1, oc, ic, k) alone, of a depthwise one a Reshape (1, oc, kh, kw). With
    `dynweight_reorderd` it is laid out already.
    """
    size, depthwise = element_bytes(op.filter), op.is_depthwise
    if not is_none(op.bias) and is_weight(op.bias):
        _reorder_bias(op, weights, to_filter_type=depthwise and size < 4)
    if op.dynweight_reorderd.value.data:
        return
    oc, ic, *kernel = shape_of(op.filter)
    shape = FilterShape(oc, ic, kernel[0], math.prod(kernel[1:]))
    target, made = reordered_filter_shape(shape, size, row, op.group.value.data, 0), _Made(op)
    if depthwise or size >= 4:
        op.operands[FILTER] = made.reshaped("reordered", op.filter, target)
        return
    lanes, taps = channels_of_row(row, size), math.prod(kernel)
    blocks = -(-ic // lanes)
    x = made.reshaped("taps", op.filter, (oc, ic, taps))
    if blocks * lanes != ic:
        paddings = [0, 0, 0, 0, blocks * lanes - ic, 0]
        x = made.op("filled", tpu.PadOp, x, (oc, blocks * lanes, taps), paddings=paddings)
    x = made.reshaped("blocks", x, (oc, blocks, lanes, taps))
    order = [0, 1, 3, 2]
    x = made.op("turned", tpu.PermuteOp, x, (oc, blocks, taps, lanes), order=order)
    x = made.reshaped("reordered", x, target)
    op.operands[FILTER] = x


@dataclass(frozen=True)
class _Made:
    """Ops in front of a convolution, of its filter's element type."""

    conv: tpu.Conv2DOp

    def op(
        self,
        label: str,
        kind: type[NamedOp],
        x: SSAValue,
        shape: Sequence[int],
        /,
        **attributes: Any,
    ) -> SSAValue:
        """One op, called `<convolution>_filter_<label>`."""
        declared = [name for name, _ in kind.get_irdl_definition().operands]
        none = [self._none()] * (len(declared) - 1) if kind is not tpu.ReshapeOp else []
        if kind is tpu.PadOp:
            attributes = {"val": 0.0, **attributes}
        made = kind.make(
            f"{required_name(self.conv)}_filter_{label}",
            (x, *none),
            result_types=[TensorType(element_of(x), tuple(shape))],
            **attributes,
        )
        Builder(InsertPoint.before(self.conv)).insert(made)
        return made.results[0]

    def reshaped(self, label: str, x: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape."""
        return self.op(label, tpu.ReshapeOp, x, shape, shape=list(shape))

    def _none(self) -> SSAValue:
        block = self.conv.parent
        assert block is not None
        found = next((op for op in block.ops if isinstance(op, top.NoneOp)), None)
        if found is None:
            found = top.NoneOp.make(UnknownLoc(), (), result_types=(NoneType(),))
            Builder(InsertPoint.at_start(block)).insert(found)
        return found.output


def _reorder_bias(op: tpu.Conv2DOp, weights: Weights | None, to_filter_type: bool) -> None:
    channels = shape_of(op.output)[1]
    if not to_filter_type:
        change_weight(op, BIAS, (1, channels, 1, 1), lambda data: data, weights)
        return
    old, new = element_of(op.bias), element_of(op.filter)
    change_weight(
        op,
        BIAS,
        (1, channels, 1, 1),
        lambda data: from_float32(as_float32(data, old), new),
        weights,
        name=f"{required_name(op)}_reordered",
        element=new,
    )
