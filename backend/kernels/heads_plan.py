"""Many small products whose matrices lie side by side in DDR, and how many to take at once."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.int8.requant import Factor
from xdsl_tpu.backend.kernels.tiling import Piece, cut, pipeline_cycles, steps_of
from xdsl_tpu.backend.kernels.transfer import load_cycles, store_cycles
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    align,
    aligned,
    ceil_div,
    strided,
)


@dataclass(frozen=True, slots=True)
class Packed:
    """Matrices [batches, rows, heads, columns], dense in DDR: one for each batch and head."""

    address: int
    dtype: DType
    batches: int
    rows: int
    heads: int
    columns: int

    def tile_shape(self, tile: "Tile") -> Shape4:
        """Sizes of some batches and heads of it, all rows."""
        return tile.batches.size, self.rows, tile.heads.size, self.columns

    def tile(self, tile: "Tile") -> GlobalTensor:
        """Some batches and heads of it, all rows."""
        row = self.heads * self.columns
        strides = (self.rows * row, row, self.columns, 1)
        start = tile.batches.start * strides[0] + tile.heads.start * self.columns
        shape = self.tile_shape(tile)
        return GlobalTensor(self.address + start * self.dtype.bytes, shape, strides, self.dtype)


@dataclass(frozen=True, slots=True)
class Tile:
    """The batches and heads that are computed together."""

    batches: Piece
    heads: Piece


@dataclass(frozen=True, slots=True)
class Bundle:
    """out[b, :, h] = left[b, :, h] x right[b, :, h] for all batches b and heads h.

    `right` holds the transposed matrices when `right_transpose`. Products of integers are brought
    to their scale by `factor`.
    """

    left: Packed
    right: Packed
    out: Packed
    right_transpose: bool
    factor: Factor | None = None

    @property
    def wide(self) -> bool:
        """Whether the products are in f32."""
        return self.left.dtype is DType.F32

    @property
    def turns_right(self) -> bool:
        """Whether the right matrices must be transposed in local memory."""
        return self.wide and self.right_transpose


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


def turned_bytes(chip: Chip, right: Shape4, dtype: DType) -> int:
    """Bytes per lane of one transposed right matrix of a tile."""
    _, rows, _, columns = right
    return ceil_div(columns, chip.lanes) * align(rows * dtype.bytes, chip.eu_bytes)


def total_bytes(chip: Chip, columns: int) -> int:
    """Bytes per lane of the 32-bit sums of one lane group of a product."""
    return align(columns * DType.I32.bytes, chip.eu_bytes)


def is_slotted(chip: Chip, tensor: LocalTensor, whole: bool = False) -> bool:
    """Whether every head's matrix in a tile can be an operand as it lies there."""
    n, rows, heads, columns = tensor.shape
    size = tensor.dtype.bytes
    starts = [(n, tensor.strides[0]), (heads, tensor.strides[2])]
    placed = all(count == 1 or step * size % chip.eu_bytes == 0 for count, step in starts)
    across = whole and rows > chip.lanes and tensor.strides[1] != align(columns, chip.eu(size))
    return tensor.address % chip.eu_bytes == 0 and placed and not across


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes per lane of each buffer; `*_slots` are zero where the dense tile will do."""

    left: int
    right: int
    out: int
    left_slots: int
    right_slots: int
    out_slots: int
    turned: int
    total_sums: int

    @classmethod
    def of(cls, bundle: Bundle, tile: Tile, chip: Chip) -> "Sizes":
        """For tiles of this size."""

        def slots(packed: Packed, whole: bool = False) -> int:
            return slot_bytes(chip, _dense(chip, packed.tile_shape(tile), packed.dtype), whole)

        turned = 0
        if bundle.turns_right:
            turned = turned_bytes(chip, bundle.right.tile_shape(tile), bundle.right.dtype)
        return cls(
            _dense_bytes(chip, bundle.left, tile),
            _dense_bytes(chip, bundle.right, tile),
            _dense_bytes(chip, bundle.out, tile),
            slots(bundle.left),
            slots(
                bundle.right, needs_whole_right(chip, bundle.right.dtype, bundle.right_transpose)
            ),
            slots(bundle.out),
            turned,
            0 if bundle.factor is None else total_bytes(chip, bundle.out.columns),
        )

    @property
    def total(self) -> int:
        """With two buffers of everything that moves."""
        moving = 2 * (self.left + self.right + self.out)
        slots = self.left_slots + self.right_slots + self.out_slots
        return moving + slots + self.turned + self.total_sums


def _dense_bytes(chip: Chip, packed: Packed, tile: Tile) -> int:
    pixels = tile.heads.size * packed.columns * packed.dtype.bytes
    groups = ceil_div(packed.rows, chip.lanes)
    return tile.batches.size * groups * align(pixels, chip.eu_bytes)


def tiles(bundle: Bundle, batches: int, heads: int) -> list[Tile]:
    """The work in tiles of this many batches and heads."""
    return [
        Tile(some, few)
        for some in cut(bundle.out.batches, batches)
        for few in cut(bundle.out.heads, heads)
    ]


def choose_tiles(bundle: Bundle, chip: Chip) -> list[Tile] | None:
    """The fastest tiling that fits local memory; None when not even one product does."""
    best: tuple[int, list[Tile]] | None = None
    for heads in steps_of(bundle.out.heads):
        for batches in steps_of(bundle.out.batches):
            candidate = tiles(bundle, batches, heads)
            if Sizes.of(bundle, candidate[0], chip).total > chip.local_bytes:
                continue
            cycles = pipeline_cycles(_costs(bundle, candidate, chip), len(candidate))
            if best is None or cycles < best[0]:
                best = (cycles, candidate)
    return None if best is None else best[1]


def _costs(bundle: Bundle, work: list[Tile], chip: Chip) -> Iterator[tuple[int, int, int]]:
    known: dict[tuple[int, int], tuple[int, int, int]] = {}
    for tile in work:
        size = (tile.batches.size, tile.heads.size)
        if size not in known:
            known[size] = _cost(bundle, tile, chip)
        yield known[size]


def _cost(bundle: Bundle, tile: Tile, chip: Chip) -> tuple[int, int, int]:
    kind = bundle.left.dtype
    count = tile.batches.size * tile.heads.size
    groups = ceil_div(bundle.left.rows, chip.lanes)
    outputs = ceil_div(bundle.out.columns, chip.cube_outputs[kind.bytes])
    depth = ceil_div(bundle.left.columns, chip.cube_channels[kind.bytes])
    sizes = Sizes.of(bundle, tile, chip)
    # A copy with gaps moves half an EU row per cycle.
    copied = 2 * (sizes.left_slots + sizes.right_slots + sizes.out_slots) // chip.eu_bytes
    load = sum(
        load_cycles(_dense(chip, source.shape, source.dtype), source, chip)
        for source in (bundle.left.tile(tile), bundle.right.tile(tile))
    )
    target = bundle.out.tile(tile)
    store = store_cycles(target, _dense(chip, target.shape, target.dtype), chip)
    product = outputs * depth
    if bundle.factor is not None:
        product += ceil_div(bundle.out.columns, chip.eu(DType.I32.bytes))
    return load, count * groups * product + copied, store


def _dense(chip: Chip, shape: Shape4, dtype: DType) -> LocalTensor:
    return aligned(chip, 0, shape, dtype)
