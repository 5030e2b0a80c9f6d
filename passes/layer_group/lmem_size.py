"""Bytes that values take in the local memory of one lane (docs/hardware/groups.md#sizes)."""

from collections.abc import Collection, Mapping

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, Ncdhw
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top import WeightOp
from xdsl_tpu.dialects.tpu import CastOp, Conv2DOp
from xdsl_tpu.dialects.tpu.local import stored_type
from xdsl_tpu.passes.layer_group.values import ValueSlices
from xdsl_tpu.passes.tensors import is_weight

MERGED_TAPS = 0x3
"""The bits of `use_3ic_optimize` that say whether kernel rows or columns are channels."""


def lane_bytes(part: Ncdhw, bits: int, eu_align: bool, chip: Chip) -> int:
    """Bytes per lane of a part with elements of `bits`.

    Channel c lies in lane c mod lanes; the h * w elements of a channel are consecutive, and with
    `eu_align` their bytes are rounded up to the EU width. Elements of 4 bits come in pairs.
    """
    row = -(-part.h * part.w * bits // 8)
    if eu_align:
        row = -(-row // chip.eu_bytes) * chip.eu_bytes
    return part.n * part.d * -(-part.c // chip.lanes) * row


def value_bytes(value: SSAValue, slices: ValueSlices, chip: Chip) -> int:
    """Bytes per lane of a value's largest slice."""
    return lane_bytes(slices.largest(), element_bits(value), slices.eu_align, chip)


def slice_bytes(
    value: SSAValue,
    of: Mapping[SSAValue, ValueSlices],
    inside: Collection[Operation],
    chip: Chip,
) -> int:
    """Bytes per lane of a value's largest slice in a group, with filter taps as channels if so.

    A convolution of `inside` that merges taps reads an operand with a channel for each tap and as
    many rows as its result has; columns stay together, because a DMA moves single ones slowly.
    """
    conv = _merging(value, inside)
    if conv is None:
        return value_bytes(value, of[value], chip)
    rows, columns = (bool(conv.use_3ic_optimize.value.data & bit) for bit in (1, 2))
    kernel_h, kernel_w = ints(conv.kernel_shape)
    stride_w = ints(conv.strides)[1]
    part, out = of[value].largest(), of[conv.output].largest()
    merged = part._replace(
        c=part.c * (kernel_h if rows else 1) * (kernel_w if columns else 1),
        h=out.h if rows else part.h,
        w=(out.w - 1) * stride_w + 1 if columns else part.w,
    )
    return lane_bytes(merged, element_bits(value), of[value].eu_align, chip)


def _merging(value: SSAValue, inside: Collection[Operation]) -> Conv2DOp | None:
    """The convolution that reads a value, perhaps through casts, with taps as channels."""
    for use in value.uses:
        user = use.operation
        if user not in inside:
            continue
        if isinstance(user, CastOp):
            return _merging(user.output, inside)
        if isinstance(user, Conv2DOp) and use.index == 0:
            return user if user.use_3ic_optimize.value.data & MERGED_TAPS else None
    return None


def element_bits(value: SSAValue) -> int:
    """Bits of one element in memory."""
    element = stored_type(value)
    if not isinstance(element, FixedBitwidthType):
        raise TpuError(f"tensor '{name_of(value)}': elements of type {element} have no size")
    return element.bitwidth


def eu_aligned(op: Operation, operand: int) -> bool:
    """Whether an operand lies aligned in local memory: all do but some weights.

    Weights that are split are laid out like activations.
    """
    value = op.operands[operand]
    if not is_weight(value) or allows_split(value):
        return True
    return not (isinstance(op, LocalGen) and operand in op.compact_weights())


def allows_split(value: SSAValue) -> bool:
    """Whether a weight is marked to be loaded slice by slice."""
    owner = value.owner
    if not isinstance(owner, WeightOp):
        return False
    marks = owner.allow_split
    return marks is not None and set(ints(marks)) == {1}
