"""Sums over rows of matrices in DDR, as products with a row of ones.

The rows lie on the lanes as they do in DDR, so that transfers move whole rows; along the lanes the
array adds, exactly as it multiplies: operands of 16 bits into sums of f32. A kernel with the summed
dimension within the lanes (`rows.py`) would move single columns where the matrix is narrow or there
is only one.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.gemm import multiply
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, LocalMemory, pipelined
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned, aligned_bytes

F32 = DType.F32
_SHARE = 8
"""Into so many parts local memory is divided, the most that there are buffers of one size: two
tiles of the operand, one in f32, two of sums, two of results, and ones."""

Prepare = Callable[[Emitter, LocalTensor, LocalTensor], None]
"""(target in f32, x): what is summed, made of the tile x."""
Finish = Callable[[Emitter, LocalTensor, LocalTensor, LocalTensor], None]
"""(result, spare, sums): the result from the sums; `spare` is as large as they are."""


@dataclass(frozen=True, slots=True)
class _Tile:
    """Rows and columns of one matrix; `first` and `last` of its columns."""

    outer: int
    row: int
    rows: int
    column: int
    columns: int
    first: bool
    last: bool


def column_sums(
    context: KernelContext,
    out: DdrValue,
    x: DdrValue,
    extent: tuple[int, int, int],
    prepare: Prepare | None,
    finish: Finish,
) -> None:
    """out (outer, inner) from x (outer, size, inner) = `extent`, summed over `size`.

    `prepare` None sums x itself, in its own type.
    """
    layer = _Layer(context, out, x, extent, prepare, finish)
    pipelined(layer.tiles, layer.load, layer.compute, layer.store)


class _Layer:
    """The buffers, and the stages of the pipeline over tiles."""

    def __init__(
        self,
        context: KernelContext,
        out: DdrValue,
        x: DdrValue,
        extent: tuple[int, int, int],
        prepare: Prepare | None,
        finish: Finish,
    ) -> None:
        self._emitter, self._chip = context.emitter, context.chip
        outer, size, inner = extent
        self._x = x.as4((1, outer, size, inner))
        self._out = out.as4((1, outer, 1, inner))
        self._prepare, self._finish = prepare, finish
        kind = x.dtype if prepare is None else F32
        rows, columns = _sizes(self._chip, size, inner, F32 if prepare else x.dtype)
        self.tiles = [
            _Tile(o, r, min(rows, size - r), c, min(columns, inner - c), r == 0, r + rows >= size)
            for o in range(outer)
            for c in range(0, inner, columns)
            for r in range(0, size, rows)
        ]
        memory = context.memory()
        self._tiles = [memory.aligned((1, rows, 1, columns), x.dtype) for _ in range(2)]
        self._wide = memory.aligned((1, rows, 1, columns), F32) if prepare else None
        self._ones = _ones(memory, rows, kind)
        self._sums = [memory.aligned((1, 1, 1, columns), F32) for _ in range(2)]
        self._results = [memory.aligned((1, 1, 1, columns), out.dtype) for _ in range(2)]
        self._emitter.copy(self._ones, 1.0)

    def _part(self, buffer: LocalTensor, tile: _Tile, rows: int) -> LocalTensor:
        return aligned(self._chip, buffer.address, (1, rows, 1, tile.columns), buffer.dtype)

    def load(self, tile: _Tile, slot: int) -> None:
        """Stage 1: rows onto the lanes."""
        source = self._x.window(
            (0, tile.outer, tile.row, tile.column), (1, 1, tile.rows, tile.columns)
        )
        rows = source.view((1, tile.rows, 1, tile.columns), (0, source.strides[2], 0, 1))
        fetch(self._emitter, self._part(self._tiles[slot], tile, tile.rows), rows)

    def compute(self, tile: _Tile, slot: int) -> None:
        """Stage 2: add; after the last rows, the result."""
        x = self._part(self._tiles[slot], tile, tile.rows)
        if self._prepare is not None and self._wide is not None:
            wide = self._part(self._wide, tile, tile.rows)
            self._prepare(self._emitter, wide, x)
            x = wide
        sums, spare = (self._part(buffer, tile, 1) for buffer in self._sums)
        ones = self._ones.window((0, 0, 0, 0), (1, 1, 1, tile.rows), self._chip)
        multiply(self._emitter, sums, ones, x, accumulate=not tile.first)
        if tile.last:
            self._finish(self._emitter, self._part(self._results[slot], tile, 1), spare, sums)

    def store(self, tile: _Tile, slot: int) -> None:
        """Stage 3: a finished part of the result."""
        if tile.last:
            at = (0, tile.outer, 0, tile.column)
            target = self._out.window(at, (1, 1, 1, tile.columns))
            put(self._emitter, target, self._part(self._results[slot], tile, 1))


def _sizes(chip: Chip, size: int, inner: int, dtype: DType) -> tuple[int, int]:
    """Rows and columns of a tile: as many columns as their sums fit, then rows in whole sets of
    lanes, as many as a row of ones may have columns."""
    room = chip.local_bytes // _SHARE
    columns = min(inner, LIMITS.extent, room // F32.bytes)
    row = aligned_bytes(chip, (1, 1, 1, columns), dtype)
    rows = max(1, room // row) * chip.lanes
    return min(size, LIMITS.extent, rows, room // dtype.bytes), columns


def _ones(memory: LocalMemory, count: int, dtype: DType) -> LocalTensor:
    """A row for the left side of `multiply`: a compact filter in f32."""
    if dtype is F32:
        return memory.compact((1, 1, 1, count), dtype)
    return memory.aligned((1, 1, 1, count), dtype)
