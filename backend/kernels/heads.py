"""Many small products at once: attention scores, attended values, batches of matrices.

The rows of all heads are moved together, so that runs in DDR are long and few commands move many
matrices; each product is then a command on its head's columns. Where those columns do not start
on an EU boundary, one copy in local memory spreads the heads out (or packs the results).
"""

from dataclasses import dataclass
from functools import partial

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.int8.requant import Factor, scaled_product
from xdsl_tpu.backend.kernels.product import multiply
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    Shape4,
    align,
    aligned,
    ceil_div,
    compact,
    strided,
)


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
            target = _matrix(emitter, out, place, rows, columns)
            if factor is None:
                multiply(emitter, target, a, b, by_rows)
                continue
            room = partial(aligned, chip, slots.total, target.shape, DType.I32)
            scaled_product(emitter, target, (a, b, by_rows), None, factor, room)


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
    columns: Piece | None = None,
    filters: bool = False,
) -> LocalTensor:
    """Rows of one head's matrix, from a lane group's first on, and some or all of their columns."""
    chip, columns = emitter.chip, columns or Piece(0, tile.shape[3])
    address = tile.at(place[0], rows.start // chip.lanes, place[1], columns.start)
    make = compact if filters else aligned
    return make(chip, address, (1, rows.size, 1, columns.size), tile.dtype)


def needs_whole_right(chip: Chip, right: DType, right_transpose: bool) -> bool:
    """Whether a command takes all lane groups of the right matrix at once.

    So it does when K lies on the lanes. Of a transposed matrix each lane group gives as many
    columns of the result as there are lanes, unless the next columns would not start on an EU
    boundary then. Those of f32 are turned before.
    """
    if not right_transpose:
        return True
    return right is not DType.F32 and chip.lanes % chip.eu(right.bytes) != 0


def head_slots(
    chip: Chip, address: int, shape: Shape4, dtype: DType, whole: bool = False
) -> LocalTensor:
    """A tile (batches, rows, heads, columns) where every head's matrix can be an operand.

    Each head starts on an EU boundary; with `whole`, its lane groups are as far apart as those
    of an EU-aligned matrix, so that it is one.
    """
    _, rows, heads, columns = shape
    groups = ceil_div(rows, chip.lanes)
    column = align(columns, chip.eu(dtype.bytes))
    if whole:
        strides = (heads * groups * column, column, groups * column, 1)
    else:
        strides = (groups * heads * column, heads * column, column, 1)
    return strided(address, shape, strides, dtype)


def slot_bytes(chip: Chip, tensor: LocalTensor, whole: bool = False) -> int:
    """Bytes per lane of `head_slots` for a tile; 0 where the tile itself will do."""
    if is_slotted(chip, tensor, whole):
        return 0
    layout = head_slots(chip, 0, tensor.shape, tensor.dtype, whole)
    return align(layout.span(chip)[1], chip.eu_bytes)


def is_slotted(chip: Chip, tensor: LocalTensor, whole: bool = False) -> bool:
    """Whether every head's matrix in a tile can be an operand as it lies there."""
    n, rows, heads, columns = tensor.shape
    size = tensor.dtype.bytes
    starts = [(n, tensor.strides[0]), (heads, tensor.strides[2])]
    placed = all(count == 1 or step * size % chip.eu_bytes == 0 for count, step in starts)
    across = whole and rows > chip.lanes and tensor.strides[1] != align(columns, chip.eu(size))
    return tensor.address % chip.eu_bytes == 0 and placed and not across
