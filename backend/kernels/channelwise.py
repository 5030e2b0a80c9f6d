"""Layers whose output channel depends on the same input channel only: depthwise filters, pools.

Tiles of channels and rows stream through local memory; nothing but the rows shared by
neighbouring windows is loaded twice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Window
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, pipelined
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, cut, pipeline_cycles, steps_of
from xdsl_tpu.backend.kernels.transfer import fetch, load_cycles, put, store_cycles
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    ceil_div,
)
from xdsl_tpu.dialects.errors import DoesNotFit


@dataclass(frozen=True, slots=True)
class Sliding:
    """Windows over x (n, c, ih, iw) giving out (n, c, oh, ow), `passes` commands per tap.

    `scratch` is the element type of the scratch tensor, by default that of the result.
    """

    x: GlobalTensor
    out: GlobalTensor
    rows: Axis
    columns: Axis
    passes: int = 0
    scratch: DType | None = None

    @property
    def scratch_dtype(self) -> DType:
        """Element type of the scratch tensor."""
        return self.scratch or self.out.dtype

    @property
    def strided(self) -> bool:
        """Whether both strides exceed 1, which slows the pooling unit down threefold."""
        return self.rows.stride > 1 and self.columns.stride > 1


@dataclass(frozen=True, slots=True)
class Tile:
    """A part of the output, with all of its columns."""

    image: int
    channels: Piece
    rows: Piece

    def shapes(self, layer: Sliding) -> tuple[Shape4, Shape4]:
        """(n, c, h, w) of the input and the output tile."""
        reach, _, _ = layer.rows.reach(self.rows)
        x = (1, self.channels.size, reach.size, layer.columns.size)
        return x, (1, self.channels.size, self.rows.size, layer.columns.out)

    def window(self, layer: Sliding) -> Window:
        """What slides over the input tile."""
        _, up, down = layer.rows.reach(self.rows)
        _, left, right = layer.columns.reach(Piece(0, layer.columns.out))
        return Window(
            (layer.rows.kernel, layer.columns.kernel),
            (layer.rows.stride, layer.columns.stride),
            (up, down, left, right),
            (layer.rows.dilation, layer.columns.dilation),
        )


Compute = Callable[[Tile, LocalTensor, LocalTensor, Window, LocalTensor], None]
"""(tile, out, x, window, scratch like out)."""


def stream(
    context: KernelContext, layer: Sliding, compute: Compute, memory: LocalMemory, name: str
) -> None:
    """Emit the layer in tiles; `memory` is what its tables leave free.

    Raises TpuError when not even one row of one channel group fits.
    """
    chip, emitter = context.chip, context.emitter
    tiles = _choose(layer, chip, memory.left, name)
    x_bytes, out_bytes = _bytes(layer, tiles, chip)
    x_at = [memory.take(x_bytes, chip.eu_bytes) for _ in range(2)]
    out_at = [memory.take(out_bytes, chip.eu_bytes) for _ in range(2)]
    scratch_at = memory.take(_scratch_bytes(layer, out_bytes), chip.eu_bytes)

    def x_of(tile: Tile, slot: int) -> LocalTensor:
        return aligned(chip, x_at[slot], tile.shapes(layer)[0], layer.x.dtype)

    def out_of(tile: Tile, address: int) -> LocalTensor:
        return aligned(chip, address, tile.shapes(layer)[1], layer.out.dtype)

    def load(tile: Tile, slot: int) -> None:
        first = layer.rows.reach(tile.rows)[0].start
        local = x_of(tile, slot)
        start = (tile.image, tile.channels.start, first, 0)
        fetch(emitter, local, layer.x.window(start, local.shape))

    def work(tile: Tile, slot: int) -> None:
        out = out_of(tile, out_at[slot])
        scratch = aligned(chip, scratch_at, out.shape, layer.scratch_dtype)
        compute(tile, out, x_of(tile, slot), tile.window(layer), scratch)

    def store(tile: Tile, slot: int) -> None:
        local = out_of(tile, out_at[slot])
        start = (tile.image, tile.channels.start, tile.rows.start, 0)
        put(emitter, layer.out.window(start, local.shape), local)

    pipelined(tiles, load, work, store)


def _tiles(layer: Sliding, channels: int, rows: int) -> list[Tile]:
    return [
        Tile(image, lanes, piece)
        for image in range(layer.x.shape[0])
        for lanes in cut(layer.x.shape[1], channels)
        for piece in cut(layer.rows.out, rows)
    ]


def _bytes(layer: Sliding, tiles: list[Tile], chip: Chip) -> tuple[int, int]:
    """Bytes per lane of the largest input and output tile."""
    shapes = [tile.shapes(layer) for tile in tiles]
    x = max(aligned_bytes(chip, shape[0], layer.x.dtype) for shape in shapes)
    return x, max(aligned_bytes(chip, shape[1], layer.out.dtype) for shape in shapes)


def _scratch_bytes(layer: Sliding, out_bytes: int) -> int:
    """Room for a tensor like the result; rows of narrower elements are padded more."""
    return out_bytes * layer.scratch_dtype.bytes // layer.out.dtype.bytes


def _choose(layer: Sliding, chip: Chip, room: int, name: str) -> list[Tile]:
    best: tuple[int, list[Tile]] | None = None
    for channels in steps_of(layer.x.shape[1], chip.lanes):
        for rows in steps_of(layer.rows.out):
            tiles = _tiles(layer, channels, rows)
            x, out = _bytes(layer, tiles[: 2 * len(cut(layer.rows.out, rows))], chip)
            if 2 * (x + out) + _scratch_bytes(layer, out) > room:
                continue
            cycles = pipeline_cycles(_costs(layer, tiles, chip), len(tiles))
            if best is None or cycles < best[0]:
                best = (cycles, tiles)
            elif cycles > 2 * best[0]:
                break
    if best is None:
        raise DoesNotFit(f"{name}: not even one row of {chip.lanes} channels fits local memory")
    return best[1]


def _costs(layer: Sliding, tiles: list[Tile], chip: Chip) -> Iterator[tuple[int, int, int]]:
    width = layer.x.dtype.bytes
    taps = layer.rows.kernel * layer.columns.kernel * (3 if layer.strided else 1) + layer.passes
    known: dict[tuple[Shape4, Shape4], tuple[int, int, int]] = {}
    for tile in tiles:
        shapes = tile.shapes(layer)
        if shapes not in known:
            x, out = (
                aligned(chip, 0, shapes[0], layer.x.dtype),
                aligned(chip, 0, shapes[1], layer.out.dtype),
            )
            load = load_cycles(x, layer.x.window((0, 0, 0, 0), shapes[0]), chip)
            store = store_cycles(layer.out.window((0, 0, 0, 0), shapes[1]), out, chip)
            _, c, oh, ow = shapes[1]
            compute = ceil_div(c, chip.lanes) * ceil_div(oh * ow, chip.eu(width)) * taps
            known[shapes] = (load, compute, store)
        yield known[shapes]
