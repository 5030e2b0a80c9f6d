"""How many sections a group is cut into at most and at least (docs/hardware/groups.md)."""

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.tpu import (
    AddOp,
    BatchNormBwdOp,
    BinaryShiftOp,
    CompareOp,
    DivOp,
    MatMulOp,
    MaxOp,
    MinOp,
    MulOp,
    SubOp,
    WhereOp,
)
from xdsl_tpu.passes.layer_group.lmem_size import (
    allows_split,
    element_bits,
    eu_aligned,
    lane_bytes,
)
from xdsl_tpu.passes.layer_group.shapes import extent
from xdsl_tpu.passes.layer_group.values import (
    AXES,
    Axis,
    AxisSlices,
    GroupType,
    Refusal,
    Secs,
)

MIN_ROW_BYTES = 512
"""Rows up to this long are not cut: shorter ones cost the DMA more than they save."""

BINARY = (AddOp, SubOp, MulOp, DivOp, MinOp, MaxOp, CompareOp, BinaryShiftOp)

Scratch = Callable[[Operation], int]
"""Bytes per lane that an op needs besides its operands and results, at full size."""


def cut_axis(axis: Axis, size: int, secs: int, lanes: int) -> AxisSlices | None:
    """`size` elements in `secs` parts that differ by at most one; None when a part were empty.

    Parts along c are multiples of `lanes`, but for the last.
    """
    unit = lanes if axis == "c" else 1
    units = -(-size // unit)
    if secs > units:
        return None
    base, longer = divmod(units, secs)
    parts: list[tuple[int, int]] = []
    start = 0
    for index in range(secs):
        length = (base + (index < longer)) * unit
        parts.append((start, min(length, size - start)))
        start += length
    return tuple(parts)


def max_sections(ops: Sequence[Operation], kind: GroupType, chip: Chip) -> Secs:
    """The most sections along each axis that every result of the group allows."""
    most = [_first_batch(ops[0], kind, chip), 1 << 30, 1 << 30, 1 << 30, 1 << 30]
    for op in ops:
        for result in _tensors(op.results):
            allowed = _result_sections(op, result, ops, kind, chip)
            most = [min(*pair) for pair in zip(most, allowed, strict=True)]
    return Secs(*most)


def _first_batch(op: Operation, kind: GroupType, chip: Chip) -> int:
    """n of the first op's operand, or of the two that it combines."""
    combines = isinstance(op, (*BINARY, MatMulOp))
    operands = op.operands[: 2 if combines else 1]
    return max(extent(operand, kind, chip).n for operand in _tensors(operands))


def _result_sections(
    op: Operation, result: SSAValue, ops: Sequence[Operation], kind: GroupType, chip: Chip
) -> Secs:
    assert isinstance(op, LocalGen)
    size, bits = extent(result, kind, chip), element_bits(result)
    cuts_c = kind in (GroupType.MM, GroupType.SMALL_C) or (
        kind is GroupType.NORMAL and any(isinstance(o, WhereOp | BatchNormBwdOp) for o in ops)
    )
    possible = {
        "n": size.n,
        "c": -(-size.c // chip.lanes) if cuts_c else 1,
        "d": size.d if kind is GroupType.THREE_D and bits > 4 else 1,
        "h": size.h,
        "w": size.w if bits > 4 and size.w * bits > MIN_ROW_BYTES * 8 else 1,
    }
    return Secs(**{a: possible[a] if op.may_split(a, kind) else 1 for a in AXES})


def initial_sections(
    ops: Sequence[Operation], kind: GroupType, chip: Chip, scratch: Scratch
) -> Secs | Refusal:
    """The fewest sections with which the values of each single op fit into local memory.

    n is cut first, then c, d, h and what is left w. Refused when that is not possible.
    """
    most = max_sections(ops, kind, chip)
    secs = Secs()
    for op in ops:
        needed = op_bytes(op, kind, chip) + scratch(op)
        left = -(-needed // chip.local_bytes)
        for axis in AXES:
            limit = getattr(most, axis)
            taken = max(min(left, limit), getattr(secs, axis))
            secs = secs._replace(**{axis: taken})
            left = -(-left // taken)
        if left > 1:
            return Refusal(
                f"{op.name} needs {needed} bytes per lane and may be cut into "
                f"{most.total} parts at most",
                needed - most.total * chip.local_bytes,
            )
    return secs


def op_bytes(op: Operation, kind: GroupType, chip: Chip) -> int:
    """Bytes per lane of all operands and results of an op at full size."""
    total = sum(
        lane_bytes(extent(result, kind, chip), element_bits(result), True, chip)
        for result in _tensors(op.results)
    )
    for index, operand in enumerate(op.operands):
        if is_none(operand):
            continue
        aligned = eu_aligned(op, index) or allows_split(operand)
        total += lane_bytes(extent(operand, kind, chip), element_bits(operand), aligned, chip)
    return total


def _tensors(values: Sequence[SSAValue]) -> list[SSAValue]:
    return [value for value in values if not is_none(value)]
