"""How many sections a group is cut into at most and at least (docs/hardware/groups.md)."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.shapes import of_value
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.passes.layer_group.lmem_size import element_bits
from xdsl_tpu.passes.layer_group.values import AXES, Axis, AxisSlices, GroupType, Secs

MIN_ROW_BYTES = 512
"""Rows up to this long are not cut: shorter ones cost the DMA more than they save."""


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


KnownSections = dict[tuple[Operation, GroupType], tuple[Secs, ...]]
"""The most sections that each result of an op allows, found once as long as it stays as it is."""


def max_sections(
    ops: Sequence[Operation], kind: GroupType, chip: Chip, known: KnownSections | None = None
) -> Secs:
    """The most sections along each axis that every result of the group allows.

    Parts of the channels take parts of weights, too, where h cannot be cut: else weights stay.
    """
    known = {} if known is None else known
    allowed: list[Secs] = []
    for op in ops:
        found = known.get((op, kind))
        if found is None:
            results = [result for result in op.results if not is_none(result)]
            found = tuple(_result_sections(op, result, kind, chip) for result in results)
            known[op, kind] = found
        allowed += found
    most = Secs(*map(min, zip(*allowed, strict=True)))
    if most.h > 1 and any(isinstance(op, LocalGen) and op.channel_weights() for op in ops):
        return most._replace(c=1)
    return most


def _result_sections(op: Operation, result: SSAValue, kind: GroupType, chip: Chip) -> Secs:
    assert isinstance(op, LocalGen)
    size, bits = of_value(result, kind, chip.lanes), element_bits(result)
    possible = {
        "n": size.n,
        "c": -(-size.c // chip.lanes) if op.shares_channels(kind) else 1,
        "d": size.d if kind is GroupType.THREE_D and bits > 4 else 1,
        "h": size.h,
        "w": size.w if bits > 4 and size.w * bits > MIN_ROW_BYTES * 8 else 1,
    }
    return Secs(**{a: possible[a] if a == "c" or op.may_split(a, kind) else 1 for a in AXES})
