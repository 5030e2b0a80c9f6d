"""Many small products at once: attention scores, attended values, batches of matrices.

The rows of all heads are moved together, so that runs in DDR are long and few commands move many
matrices; each product is then a command on its head's columns. Where those columns do not start
on an EU boundary, one copy in local memory spreads the heads out (or packs the results).
"""

from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.gemm import multiply
from xdsl_tpu.backend.kernels.heads_plan import (
    Bundle,
    Packed,
    Sizes,
    Tile,
    choose_tiles,
    head_slots,
    is_slotted,
    needs_whole_right,
)
from xdsl_tpu.backend.kernels.int8.requant import Factor
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned, compact


def product_of_heads(context: KernelContext, bundle: Bundle) -> bool:
    """Emit the products; False, and nothing emitted, when one of them does not fit."""
    work = choose_tiles(bundle, context.chip)
    if work is None:
        return False
    sizes = Sizes.of(bundle, work[0], context.chip)
    layer = _Layer(context.emitter, context.memory(), bundle, sizes)
    pipelined(work, layer.load, layer.compute, layer.store)
    return True


class _Layer:
    """The buffers, and the stages of the pipeline over the tiles."""

    def __init__(self, emitter: Emitter, memory: LocalMemory, bundle: Bundle, sizes: Sizes) -> None:
        self.emitter = emitter
        self.chip = emitter.chip
        self.bundle = bundle
        self._left = [memory.take(sizes.left) for _ in range(2)]
        self._right = [memory.take(sizes.right) for _ in range(2)]
        self._out = [memory.take(sizes.out) for _ in range(2)]
        self._left_slots = memory.take(sizes.left_slots)
        self._right_slots = memory.take(sizes.right_slots)
        self._out_slots = memory.take(sizes.out_slots)
        self._turned = memory.take(sizes.turned)
        self._total = memory.take(sizes.total_sums)

    def _dense(self, address: int, packed: Packed, tile: Tile) -> LocalTensor:
        return aligned(self.chip, address, packed.tile_shape(tile), packed.dtype)

    def load(self, tile: Tile, slot: int) -> None:
        """Stage 1: both operands."""
        for packed, addresses in ((self.bundle.left, self._left), (self.bundle.right, self._right)):
            fetch(self.emitter, self._dense(addresses[slot], packed, tile), packed.tile(tile))

    def compute(self, tile: Tile, slot: int) -> None:
        """Stage 2: spread the heads, multiply, pack the results."""
        bundle = self.bundle
        multiply_heads(
            self.emitter,
            self._dense(self._out[slot], bundle.out, tile),
            self._dense(self._left[slot], bundle.left, tile),
            self._dense(self._right[slot], bundle.right, tile),
            bundle.right_transpose,
            Slots(self._left_slots, self._right_slots, self._out_slots, self._turned, self._total),
            bundle.factor,
        )

    def store(self, tile: Tile, slot: int) -> None:
        """Stage 3: the packed results."""
        dense = self._dense(self._out[slot], self.bundle.out, tile)
        put(self.emitter, self.bundle.out.tile(tile), dense)


@dataclass(frozen=True, slots=True)
class Slots:
    """Addresses of the room for spread operands, spread results, a transposed matrix, and the
    32-bit sums of a lane group."""

    left: int
    right: int
    out: int
    turned: int
    total: int = 0


def multiply_heads(
    emitter: Emitter,
    out: LocalTensor,
    left: LocalTensor,
    right: LocalTensor,
    right_transpose: bool,
    slots: Slots,
    factor: Factor | None = None,
) -> None:
    """out[b, :, h] = left[b, :, h] x right[b, :, h] for tensors (batches, rows, heads, columns).

    `slots` are used for tensors for which `slot_bytes` is not 0; right operands for which
    `needs_whole_right` need them `whole`.
    """
    chip = emitter.chip
    left = _spread(emitter, left, slots.left)
    whole = needs_whole_right(chip, right.dtype, right_transpose)
    right = _spread(emitter, right, slots.right, whole)
    direct = is_slotted(chip, out)
    target = out if direct else head_slots(chip, slots.out, out.shape, out.dtype)
    places = [(batch, head) for batch in range(out.shape[0]) for head in range(out.shape[2])]
    # What a requantisation takes depends on banks.
    for place in emitter.alike(places) if factor is None else places:
        _product(emitter, target, left, right, place, right_transpose, slots, factor)
    if not direct:
        emitter.copy(out, target)


def _spread(emitter: Emitter, dense: LocalTensor, address: int, whole: bool = False) -> LocalTensor:
    """The operand with every head on an EU boundary."""
    if is_slotted(emitter.chip, dense, whole):
        return dense
    spread = head_slots(emitter.chip, address, dense.shape, dense.dtype, whole)
    emitter.copy(spread, dense)
    return spread


def _product(
    emitter: Emitter,
    out: LocalTensor,
    left: LocalTensor,
    right: LocalTensor,
    place: tuple[int, int],
    right_transpose: bool,
    slots: Slots,
    factor: Factor | None,
) -> None:
    """One matrix, in as many commands as its rows (or transposed columns) have lane groups."""
    chip, wide = emitter.chip, left.dtype is DType.F32
    all_columns = Piece(0, out.shape[3])
    by_rows = right_transpose and not wide
    by_columns = not wide and not needs_whole_right(chip, right.dtype, right_transpose)
    if right_transpose and wide:
        b = _turn(emitter, right, place, slots.turned)
    else:
        b = _matrix(emitter, right, place, Piece(0, right.shape[1]))
    for rows in cut(left.shape[1], chip.lanes):
        a = _matrix(emitter, left, place, rows, filters=wide)
        for columns in cut(out.shape[3], chip.lanes) if by_columns else (all_columns,):
            if by_columns:
                b = _matrix(emitter, right, place, columns)
            target = _columns(emitter, out, place, rows, columns)
            if factor is None:
                multiply(emitter, target, a, b, by_rows)
                continue
            total = aligned(chip, slots.total, target.shape, DType.I32)
            multiply(emitter, total, a, b, by_rows)
            factor.apply(emitter, target, total)


def _turn(
    emitter: Emitter, right: LocalTensor, place: tuple[int, int], address: int
) -> LocalTensor:
    """The transposed right matrix of one product."""
    batch, head = place
    _, rows, _, columns = right.shape
    stored = LocalTensor(
        right.at(batch, 0, head),
        (1, rows, 1, columns),
        (0, right.strides[1], columns, 1),
        right.dtype,
        right.layout,
    )
    turned = aligned(emitter.chip, address, (1, columns, 1, rows), right.dtype)
    transpose(emitter, turned, stored)
    return turned


def _matrix(
    emitter: Emitter,
    tile: LocalTensor,
    place: tuple[int, int],
    rows: Piece,
    filters: bool = False,
) -> LocalTensor:
    """Rows of one head's matrix, from a lane group's first on, as an operand."""
    chip = emitter.chip
    address = tile.at(place[0], rows.start // chip.lanes, place[1])
    make = compact if filters else aligned
    return make(chip, address, (1, rows.size, 1, tile.shape[3]), tile.dtype)


def _columns(
    emitter: Emitter, tile: LocalTensor, place: tuple[int, int], rows: Piece, columns: Piece
) -> LocalTensor:
    """A lane group's rows and some columns of one head's matrix."""
    chip = emitter.chip
    address = tile.at(place[0], rows.start // chip.lanes, place[1], columns.start)
    return aligned(chip, address, (1, rows.size, 1, columns.size), tile.dtype)
