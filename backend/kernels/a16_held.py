"""A packed matrix that is unpacked once and stays, while rows stream by.

For products of many rows whose whole matrix fits local memory in 16 bits: rows are loaded,
multiplied and stored at the same time, in pieces, and every piece of the result is whole rows.
"""

from dataclasses import dataclass

from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.packed_stream import Cut, PackedStream, rings_of
from xdsl_tpu.backend.kernels.packed_weight import PackedWeight, unpack_bytes
from xdsl_tpu.backend.kernels.support import (
    KernelContext,
    LocalMemory,
    first_that_fits,
    pipelined,
)
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
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


def multiply_held(context: KernelContext, problem: Problem) -> bool:
    """Emit the product; False, and nothing emitted, when the matrix does not fit."""
    chip, weight = context.chip, problem.weight
    how = Cut.of(weight, max(1, UNPACK_BYTES // unpack_bytes(chip, weight, 1)), FACTOR_BYTES)
    most = max(1, ceil_div(problem.rows, chip.lanes) // FEWEST_PIECES) * chip.lanes

    def build(memory: LocalMemory, rows: int) -> _Layer:
        return _Layer(context, problem, how, rows, memory)

    layer = first_that_fits(dict.fromkeys((most, chip.lanes)), build, chip)
    if layer is None:
        return False
    layer.run()
    return True


class _Layer:
    """The buffers, and the stages of the pipeline over rows."""

    def __init__(
        self, context: KernelContext, problem: Problem, how: Cut, rows: int, memory: LocalMemory
    ) -> None:
        self.e, self.chip, self.p = context.emitter, context.chip, problem
        self._how, self._step, self._kind = how, rows, problem.kind
        chip, weight, wide = self.chip, problem.weight, problem.out.dtype

        def take(count: int, columns: int, dtype: DType) -> list[int]:
            shape = (1, rows, 1, columns)
            return [memory.aligned(shape, dtype).address for _ in range(count)]

        self._x = take(2, weight.depth, self._kind)
        self._out, self._raw = (
            take(2, weight.outputs, wide),
            take(problem.sums, weight.outputs, wide),
        )
        self._residual = take(2 if problem.residual else 0, weight.outputs, wide)
        self._unpacked = memory.take(unpack_bytes(chip, weight, how.rounds))
        self._bias = memory.take(0 if problem.bias is None else weight.outputs * wide.bytes)
        self._by_round = align(weight.depth * self._kind.bytes, chip.eu_bytes)
        self._matrix = memory.take(weight.rounds * self._by_round)
        tile, factors = how.tile_bytes(chip, weight.row_bytes), how.factor_bytes(chip, weight)
        self._tiles, self._factors = rings_of(context, memory, tile, factors)

    def run(self) -> None:
        """Emit all: the matrix, then rows."""
        self._hold()
        pipelined(cut(self.p.rows, self._step), self._load, self._compute, self._store)

    def _hold(self) -> None:
        """Unpack the whole matrix, and replicate the bias."""
        weight = self.p.weight
        if self.p.bias is not None:
            self.e.load_broadcast(self._bias_on(self.chip.lanes), self.p.bias)
        stream = PackedStream(self.e, weight, self._how, self._tiles, self._factors)
        for piece in cut(weight.outputs, self._how.rounds * self.chip.lanes):
            place = self._matrix + piece.start // self.chip.lanes * self._by_round
            stream.tile(piece, self._unpacked, place)

    def _bias_on(self, lanes: int) -> LocalTensor:
        shape = (1, lanes, 1, self.p.weight.outputs)
        return aligned(self.chip, self._bias, shape, self.p.out.dtype)

    def _rows(self, address: int, rows: Piece) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, self.p.weight.depth), self._kind)

    def _results(self, address: int, rows: Piece) -> LocalTensor:
        shape = (1, rows.size, 1, self.p.weight.outputs)
        return aligned(self.chip, address, shape, self.p.out.dtype)

    def _load(self, rows: Piece, slot: int) -> None:
        """Stage 1: rows, and what is added to them."""
        x, start = self._rows(self._x[slot], rows), (0, rows.start, 0, 0)
        fetch(self.e, x, self.p.x.window(start, x.shape))
        if self.p.residual is not None:
            added = self._results(self._residual[slot], rows)
            fetch(self.e, added, self.p.residual.window(start, added.shape))

    def _compute(self, rows: Piece, slot: int) -> None:
        """Stage 2: times the matrix, plus the bias or other rows."""
        weight = self.p.weight
        x = self._rows(self._x[slot], rows)
        shape = (1, weight.outputs, 1, weight.depth)
        matrix = aligned(self.chip, self._matrix, shape, self._kind)
        out = self._results(self._out[slot], rows)
        if not self.p.sums:
            self.e.mm2(out, x, matrix, right_transpose=True)
            return
        raw = self._results(self._raw[0], rows)
        self.e.mm2(raw, x, matrix, right_transpose=True)
        if self.p.residual is None:
            added = self._bias_on(min(self.chip.lanes, rows.size))
        else:
            added = self._results(self._residual[slot], rows)
        self.e.arith(Arith.ADD, out, raw, added)

    def _store(self, rows: Piece, slot: int) -> None:
        """Stage 3: whole rows of the result."""
        out = self._results(self._out[slot], rows)
        put(self.e, self.p.out.window((0, rows.start, 0, 0), out.shape), out)
