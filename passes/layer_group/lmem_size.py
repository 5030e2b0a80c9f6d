"""Bytes that values take in the local memory of one lane (docs/hardware/groups.md#sizes)."""

from collections.abc import Callable, Collection, Mapping

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen, Ncdhw, tap_reader
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.top import WeightOp
from xdsl_tpu.dialects.tpu.local import LocalReshape, stored_type
from xdsl_tpu.passes.address_assign.planner import ALIGNMENT_BYTES
from xdsl_tpu.passes.layer_group.values import ValueSlices
from xdsl_tpu.passes.tensors import is_weight


def alignment(chip: Chip) -> int:
    """What addresses in the local memory of a group are multiples of: the EU width, and what
    tensors in DDR are aligned to, because small weights lie side by side there as in a lane."""
    return max(chip.eu_bytes, ALIGNMENT_BYTES)


def lane_bytes(part: Ncdhw, bits: int, eu_align: bool, chip: Chip) -> int:
    """Bytes per lane of a part with elements of `bits`.

    Channel c lies in lane c mod lanes; the h * w elements of a channel are consecutive, and with
    `eu_align` their bytes are rounded up to the EU width. Elements of 4 bits come in pairs.
    """
    row = -(-part.h * part.w * bits // 8)
    if eu_align:
        row = -(-row // chip.eu_bytes) * chip.eu_bytes
    return part.n * part.d * -(-part.c // chip.lanes) * row


def cycles_to_fill(used: int, chip: Chip) -> float:
    """How long it takes to load what fits into local memory beside `used` bytes of every lane."""
    return max(0, chip.local_bytes - used) * chip.lanes / chip.load_bytes_per_cycle


def op_bytes(op: Operation, sizes: Callable[[SSAValue], Ncdhw], chip: Chip) -> int:
    """Bytes per lane of what an op reads and makes, weights aside. A view needs no more than what
    it sees."""
    values = op.operands if isinstance(op, LocalReshape) else (*op.operands, *op.results)
    return sum(
        lane_bytes(sizes(value), element_bits(value), True, chip)
        for value in dict.fromkeys(values)
        if not is_none(value) and not is_weight(value)
    )


def value_bytes(value: SSAValue, slices: ValueSlices, chip: Chip) -> int:
    """Bytes per lane of a value's largest slice."""
    return lane_bytes(slices.largest(), element_bits(value), slices.eu_align, chip)


def slice_bytes(
    value: SSAValue,
    of: Mapping[SSAValue, ValueSlices],
    inside: Collection[Operation],
    chip: Chip,
) -> int:
    """Bytes per lane of a value's largest slice in a group, with filter taps as channels if so."""
    reader = tap_reader(value, inside.__contains__)
    if reader is None:
        return value_bytes(value, of[value], chip)
    merged = reader.merged(of[value].largest(), of[reader.results[0]].largest())
    return lane_bytes(merged, element_bits(value), of[value].eu_align, chip)


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
