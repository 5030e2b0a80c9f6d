"""Matrices of 4 or 8 bits with a scale and a zero point for every few elements of a row, or of
16-bit floats, of which nothing is packed.

No unit of the chip multiplies them: tiles are brought back to 16-bit floats in local memory,
(q - zero point) * scale rounded once, and then multiplied as any other matrix. Rows of the matrix,
the outputs of a product, lie on the lanes; scales and zero points lie lane by lane in DDR
(`passes/weight_reorder/packed.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
    ceil_div,
    contiguous,
    strided,
)
from xdsl_tpu.dialects.errors import NoKernel

LOW_HALF = 0x0F
HALF_BITS = 4


@dataclass(frozen=True, slots=True)
class PackedWeight:
    """[outputs, depth] of `bits` bits in DDR; addresses of bytes, scales and zero points.

    `group` elements of a row share a scale of type `kind`. `lanes` are those of the chip; `block`
    rounds of so many outputs have their scales together. Floats of that type have no scales.
    """

    address: int
    scale: int
    zero_point: int
    outputs: int
    depth: int
    bits: int
    group: int
    kind: DType
    lanes: int
    block: int

    @property
    def packed(self) -> bool:
        """Whether elements must be unpacked."""
        return self.bits < 8 * self.kind.bytes

    @property
    def groups(self) -> int:
        """Scales of one row."""
        return self.depth // self.group if self.packed else 0

    @property
    def rounds(self) -> int:
        """Rows that a lane holds of the whole matrix."""
        return ceil_div(self.outputs, self.lanes)

    @property
    def row_bytes(self) -> int:
        """Bytes of a packed row."""
        return self.depth * self.bits // 8

    @property
    def scale_bytes(self) -> int:
        """Bytes of scales and zero points that a lane needs for one of its rows."""
        return self.groups * (self.kind.bytes + 1)

    def rows(self, outputs: Piece) -> GlobalTensor:
        """Packed rows as (1, rows, 1, bytes), floats as (1, rows, 1, depth)."""
        start, kind = self.address + outputs.start * self.row_bytes, self.kind
        if not self.packed:
            return contiguous(start, (1, outputs.size, 1, self.depth), kind)
        return contiguous(start, (1, outputs.size, 1, self.row_bytes), DType.U8)

    def blocks(self, first: int, count: int) -> Piece:
        """The blocks that `count` rounds from the `first` one on lie in."""
        start = first // self.block
        return Piece(start, ceil_div(first + count, self.block) - start)

    def factors(self, blocks: Piece) -> tuple[GlobalTensor, GlobalTensor]:
        """Scales and zero points of some blocks, as (blocks, lanes, 1, numbers)."""
        width = self.block * self.groups
        shape = (blocks.size, self.lanes, 1, width)
        start = blocks.start * self.lanes * width
        places = ((self.scale, self.kind), (self.zero_point, DType.U8))
        scales, points = (
            contiguous(address + start * kind.bytes, shape, kind) for address, kind in places
        )
        return scales, points


def packed_weight(
    context: KernelContext,
    operands: Sequence[SSAValue],
    depth: int,
    outputs: int | None,
    bits: int,
    group: int,
    kind: DType,
) -> PackedWeight:
    """The matrix that weight, scale and zero point stand for; `outputs` are what must be found.

    Raises NoKernel where sizes or types do not fit together.
    """
    packed, scale, point = map(context.value, operands)
    found = packed.elements * 8 // (depth * bits)
    whole = found * depth * bits == packed.elements * 8 and depth % group == 0
    if not whole or outputs not in (None, found) or len(scale.shape) != 4:
        raise NoKernel(f"a packed matrix of {packed.shape} bytes for {outputs} rows of {depth}")
    if scale.dtype is not kind or kind.bytes != 2 or point.dtype is not DType.U8:
        kinds = ", ".join(one.label for one in (kind, scale.dtype, point.dtype))
        raise NoKernel(f"packed weights need one 16-bit type and zero points in bytes, not {kinds}")
    places = packed.address, scale.address, point.address
    lanes, block = context.chip.lanes, scale.shape[-2]
    return PackedWeight(*places, found, depth, bits, group, kind, lanes, block)


def float_weight(
    context: KernelContext, operand: SSAValue, depth: int, kind: DType
) -> PackedWeight:
    """The matrix [N, `depth`] of an operand. Raises NoKernel where sizes or types do not fit."""
    value = context.value(operand)
    if value.shape[-1] != depth or value.dtype is not kind or kind.bytes != 2:
        raise NoKernel(f"a matrix of {value.shape} {value.dtype.label} for rows of {depth}")
    outputs, bits = value.elements // depth, 8 * kind.bytes
    return PackedWeight(
        value.address, 0, 0, outputs, depth, bits, depth, kind, context.chip.lanes, 1
    )


@dataclass(frozen=True, slots=True)
class Factors:
    """Scales and zero points of some blocks in local memory, compact in every lane.

    `first` is the first round that they are of.
    """

    scales: LocalTensor
    points: LocalTensor
    first: int

    @classmethod
    def at(cls, chip: Chip, address: int, weight: PackedWeight, blocks: Piece) -> "Factors":
        """Those of some blocks, from `address` on."""
        width = weight.block * weight.groups
        shape, strides = (blocks.size, chip.lanes, 1, width), (width, width, width, 1)
        after = address + align(blocks.size * width * weight.kind.bytes, chip.eu_bytes)
        return cls(
            strided(address, shape, strides, weight.kind),
            strided(after, shape, strides, DType.U8),
            blocks.start * weight.block,
        )

    @staticmethod
    def bytes(chip: Chip, weight: PackedWeight, rounds: int) -> int:
        """Bytes of a lane for the blocks of `rounds` rows, wherever they begin."""
        blocks = min(ceil_div(rounds, weight.block) + 1, ceil_div(weight.rounds, weight.block))
        count = blocks * weight.block * weight.groups
        return align(count * weight.kind.bytes, chip.eu_bytes) + align(count, chip.eu_bytes)


def unpack_bytes(chip: Chip, weight: PackedWeight, rounds: int) -> int:
    """Bytes of a lane that `unpack` needs for `rounds` rows a lane, the result included."""
    if not weight.packed:
        return 0
    narrow = align(weight.depth, chip.eu_bytes)
    wide = align(weight.depth * weight.kind.bytes, chip.eu_bytes)
    return rounds * (max(2 * narrow, wide) + wide if weight.bits == HALF_BITS else 2 * wide)


def unpack(
    e: Emitter,
    address: int,
    weight: PackedWeight,
    packed: LocalTensor,
    factors: Factors,
    first: int,
    target: int | None = None,
) -> LocalTensor:
    """A tile (1, rows, 1, depth) in 16-bit floats, at `target`, from its packed rows.

    `first` is the number of the tile's first round. The room behind `address`
    (`unpack_bytes`), which is where the tile goes without a `target`, must not hold `packed`.
    """
    chip, rows = e.chip, packed.shape[1]
    rounds, groups = ceil_div(rows, chip.lanes), weight.groups
    shape = (1, rows, groups, weight.group)
    narrow, wide = (
        rounds * align(weight.depth * size, chip.eu_bytes) for size in (1, weight.kind.bytes)
    )

    def factor(one: LocalTensor) -> LocalTensor:
        start = one.address + (first - factors.first) * groups * one.dtype.bytes
        return strided(start, (1, rows, groups, 1), (0, groups, 1, 0), one.dtype)

    if weight.bits == HALF_BITS:
        whole = aligned(chip, address, shape, DType.U8)
        _halves(e, aligned(chip, address, (1, rows, 1, weight.depth), DType.U8), packed)
        difference = aligned(chip, address + narrow, shape, DType.I8)
        floats = aligned(chip, address + max(2 * narrow, wide), shape, weight.kind)
    else:
        whole = aligned(chip, packed.address, shape, DType.U8)
        difference = aligned(chip, address, shape, DType.I16)
        floats = aligned(chip, address + wide, shape, weight.kind)
    e.subtract_saturate(difference, whole, factor(factors.points))
    e.cast(floats, difference)
    place = address if target is None else target
    e.arith(Arith.MUL, aligned(chip, place, shape, weight.kind), floats, factor(factors.scales))
    return aligned(chip, place, (1, rows, 1, weight.depth), weight.kind)


def _halves(e: Emitter, whole: LocalTensor, packed: LocalTensor) -> None:
    """Bytes apart: the low half is the element of even number, the high one the next."""
    _, by_round, _, _ = whole.strides
    for place in (0, 1):
        target = strided(whole.at(w=place), packed.shape, (0, by_round, 0, 2), DType.U8)
        if place == 0:
            e.arith(Arith.AND, target, packed, LOW_HALF)
        else:
            e.shift_right(target, packed, HALF_BITS)
