"""A packed matrix that is unpacked once and stays, while rows stream by.

For products of many rows whose whole matrix fits local memory in 16 bits: rows are loaded,
multiplied and stored at the same time, in pieces, and every piece of the result is whole rows.
"""

from dataclasses import dataclass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.packed_stream import FEW_TILES, Cut, PackedStream
from xdsl_tpu.backend.kernels.packed_weight import PackedWeight, unpack_bytes
from xdsl_tpu.backend.kernels.support import KernelContext, pipelined
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
)

FEWEST_PIECES = 4
"""Pieces of rows there should be, so that transfers and products overlap."""

UNPACK_BYTES = 24576
"""Room of a lane for unpacking a tile, if one round of rows does not need more."""

FACTOR_BYTES = 4096
"""Scales and zero points of a lane that are loaded together."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows (1, M, 1, K) and (1, M, 1, N) in DDR, the matrix, and what is added to the results:
    a bias (1, 1, 1, N) or as many rows (1, M, 1, N)."""

    x: GlobalTensor
    out: GlobalTensor
    weight: PackedWeight
    bias: GlobalTensor | None
    residual: GlobalTensor | None

    @property
    def rows(self) -> int:
        """M."""
        return self.x.shape[1]

    @property
    def kind(self) -> DType:
        """The element type of rows and of the unpacked matrix; results may be in f32."""
        return self.x.dtype

    @property
    def sums(self) -> bool:
        """Whether something is added to the results."""
        return self.bias is not None or self.residual is not None


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Bytes of a lane of each buffer."""

    matrix: int
    unpacked: int
    x: int
    out: int
    bias: int
    factors: int
    tiles: int
    residual: int

    @classmethod
    def of(cls, problem: Problem, how: Cut, rows: int, chip: Chip) -> "_Sizes":
        weight, kind, wide = problem.weight, problem.kind, problem.out.dtype
        by_round = align(weight.depth * kind.bytes, chip.eu_bytes)
        bias = 0 if problem.bias is None else align(weight.outputs * wide.bytes, chip.eu_bytes)
        out = aligned_bytes(chip, (1, rows, 1, weight.outputs), wide)
        return cls(
            weight.rounds * by_round,
            unpack_bytes(chip, weight, how.rounds),
            aligned_bytes(chip, (1, rows, 1, weight.depth), kind),
            out,
            bias,
            3 * how.factor_bytes(chip, weight),
            FEW_TILES * how.tile_bytes(chip, weight.row_bytes),
            0 if problem.residual is None else out,
        )

    @property
    def sums(self) -> bool:
        return bool(self.bias or self.residual)

    @property
    def total(self) -> int:
        results = (3 if self.sums else 2) * self.out + 2 * self.residual
        fixed = self.matrix + self.unpacked + self.bias + self.factors + self.tiles
        return fixed + 2 * self.x + results


def multiply_held(context: KernelContext, problem: Problem) -> bool:
    """Emit the product; False, and nothing emitted, when the matrix does not fit."""
    chip, weight = context.chip, problem.weight
    how = Cut.of(weight, max(1, UNPACK_BYTES // unpack_bytes(chip, weight, 1)), FACTOR_BYTES)
    rows = max(1, ceil_div(problem.x.shape[1], chip.lanes) // FEWEST_PIECES) * chip.lanes
    sizes = _Sizes.of(problem, how, rows, chip)
    if sizes.total > chip.local_bytes and rows > chip.lanes:
        rows = chip.lanes
        sizes = _Sizes.of(problem, how, rows, chip)
    if sizes.total > chip.local_bytes:
        return False
    layer = _Layer(context, problem, sizes)
    layer.hold(how)
    pipelined(cut(problem.x.shape[1], rows), layer.load, layer.compute, layer.store)
    return True


class _Layer:
    """The buffers, and the stages of the pipeline over rows."""

    def __init__(self, context: KernelContext, problem: Problem, sizes: _Sizes) -> None:
        self.e, self.chip, self.p = context.emitter, context.chip, problem
        self._context, self._sizes = context, sizes
        self._kind: DType = problem.kind
        memory = context.memory()
        self._x = [memory.take(sizes.x) for _ in range(2)]
        self._out = [memory.take(sizes.out) for _ in range(2)]
        self._raw = memory.take(sizes.out if sizes.sums else 0)
        self._residual = [memory.take(sizes.residual) for _ in range(2)]
        self._unpacked = memory.take(sizes.unpacked)
        self._bias = memory.take(sizes.bias)
        self._matrix = memory.take(sizes.matrix)
        self._end = memory.next

    def hold(self, how: Cut) -> None:
        """Unpack the whole matrix, and replicate the bias."""
        weight = self.p.weight
        factors = self._context.top_ring(self._sizes.factors)
        tiles = self._context.ring(self._end, factors.start)
        if self.p.bias is not None:
            self.e.load_broadcast(self._bias_on(self.chip.lanes), self.p.bias)
        stream = PackedStream(self.e, weight, how, tiles, factors)
        by_round = align(weight.depth * self._kind.bytes, self.chip.eu_bytes)
        for piece in cut(weight.outputs, how.rounds * self.chip.lanes):
            place = self._matrix + piece.start // self.chip.lanes * by_round
            stream.tile(piece, self._unpacked, place)

    def _bias_on(self, lanes: int) -> LocalTensor:
        shape = (1, lanes, 1, self.p.weight.outputs)
        return aligned(self.chip, self._bias, shape, self.p.out.dtype)

    def _rows(self, address: int, rows: Piece) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, self.p.weight.depth), self._kind)

    def _results(self, address: int, rows: Piece) -> LocalTensor:
        shape = (1, rows.size, 1, self.p.weight.outputs)
        return aligned(self.chip, address, shape, self.p.out.dtype)

    def load(self, rows: Piece, slot: int) -> None:
        """Stage 1: rows, and what is added to them."""
        x, start = self._rows(self._x[slot], rows), (0, rows.start, 0, 0)
        fetch(self.e, x, self.p.x.window(start, x.shape))
        if self.p.residual is not None:
            added = self._results(self._residual[slot], rows)
            fetch(self.e, added, self.p.residual.window(start, added.shape))

    def compute(self, rows: Piece, slot: int) -> None:
        """Stage 2: times the matrix, plus the bias or other rows."""
        weight = self.p.weight
        x = self._rows(self._x[slot], rows)
        shape = (1, weight.outputs, 1, weight.depth)
        matrix = aligned(self.chip, self._matrix, shape, self._kind)
        out = self._results(self._out[slot], rows)
        if not self._sizes.sums:
            self.e.mm2(out, x, matrix, right_transpose=True)
            return
        raw = self._results(self._raw, rows)
        self.e.mm2(raw, x, matrix, right_transpose=True)
        if self.p.residual is None:
            added = self._bias_on(min(self.chip.lanes, rows.size))
        else:
            added = self._results(self._residual[slot], rows)
        self.e.arith(Arith.ADD, out, raw, added)

    def store(self, rows: Piece, slot: int) -> None:
        """Stage 3: whole rows of the result."""
        out = self._results(self._out[slot], rows)
        put(self.e, self.p.out.window((0, rows.start, 0, 0), out.shape), out)
