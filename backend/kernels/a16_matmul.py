"""`tpu.A16MatMul`: 16-bit rows times a packed matrix, which is unpacked tile by tile.

With few rows (a step of a language model that generates) the outputs lie on the lanes: the packed
tile is the left operand, and columns of results are transposed back to rows. With many the rows
lie on the lanes, and no result is transposed. A matrix that fits stays (`a16_held`); of another one
every byte is loaded once for each chunk of rows, which are as few as fit.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.a16_held import Problem, multiply_held
from xdsl_tpu.backend.kernels.packed_stream import Cut, PackedStream, rings_of
from xdsl_tpu.backend.kernels.packed_weight import packed_weight, unpack_bytes
from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, first_that_fits, where
from xdsl_tpu.backend.kernels.tiling import Piece, chunks_of, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    align,
    aligned,
    aligned_bytes,
    contiguous,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel

TILE_BYTES = 8192
"""Packed bytes of a lane that are loaded by one transfer, if a row is not longer."""

UNPACK_BYTES = 49152
"""Room of a lane for unpacking a tile, if one round of rows does not need more."""

FACTOR_BYTES = 8192
"""Scales and zero points of a lane that are loaded together."""

MOST_OUTPUTS = 4096
"""Results that are stored together, so that stores go on while later ones are computed."""


def a16_matmul(context: KernelContext, op: Operation) -> None:
    """x [.., K] times a packed [N, K], plus a bias.

    Raises NoKernel for a matrix that is not packed by outputs, or element types that differ unless
    the result is the sums in f32, and DoesNotFit where not even one tile fits local memory.
    """
    assert isinstance(op, tpu.A16MatMulOp)
    problem = describe(context, op)
    few = problem.rows <= context.chip.lanes - context.chip.cube_outputs[problem.kind.bytes]
    if not few and multiply_held(context, problem):
        return

    def build(memory: LocalMemory, plan: Plan) -> _Layer:
        return (_Few if few else _Many)(context, problem, plan, memory)

    layer = first_that_fits(plans(problem, context.chip), build, context.chip)
    if layer is None:
        raise DoesNotFit(
            f"{where(op)}: one row and {context.chip.lanes} outputs do not fit local memory"
        )
    outputs = Piece(0, problem.weight.outputs)
    if parts := parts_of(context, outputs.size, context.chip.lanes):
        outputs = take(context, parts)
    layer.run(outputs)


def describe(context: KernelContext, op: "tpu.A16MatMulOp") -> Problem:
    """The op's operands as matrices."""
    x, out = context.value(op.input), context.value(op.output)
    bias = context.optional(op.bias)
    depth, outputs = x.shape[-1], out.shape[-1]
    if not op.w_transpose.value.data or out.dtype not in (x.dtype, DType.F32):
        raise NoKernel(f"{where(op)}: rows of one 16-bit type times a packed [N, K] only")
    form = (op.weight_bits.value.data, op.q_group_size.value.data, x.dtype)
    weight = packed_weight(context, (op.weight, op.scale, op.zp), depth, outputs, *form)
    residual = None if op.residual is None else context.value(op.residual)
    if residual is not None and bias is not None:
        raise NoKernel(f"{where(op)}: a bias and rows are not added both")
    rows = x.elements // depth
    return Problem(
        contiguous(x.address, (1, rows, 1, depth), x.dtype),
        contiguous(out.address, (1, rows, 1, outputs), out.dtype),
        weight,
        None if bias is None else bias.as4((1, 1, 1, outputs)),
        None if residual is None else residual.as4((1, rows, 1, outputs)),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of a chunk, and how the matrix is cut."""

    rows: int
    cut: Cut

    def outputs(self, lanes: int) -> int:
        """Outputs whose scales and zero points come together."""
        return self.cut.rounds * self.cut.tiles * lanes


def plans(problem: Problem, chip: Chip) -> Iterator[Plan]:
    """The fewest chunks of rows, then the largest tiles, first."""
    weight = problem.weight
    most = min(TILE_BYTES // weight.row_bytes, UNPACK_BYTES // unpack_bytes(chip, weight, 1))
    for rows in chunks_of(problem.rows, chip.lanes):
        for rounds in range(min(max(1, most), weight.rounds), 0, -1):
            together = min(FACTOR_BYTES, MOST_OUTPUTS * weight.scale_bytes // chip.lanes)
            yield Plan(rows, Cut.of(weight, rounds, together))


@dataclass(frozen=True, slots=True)
class _Group:
    """Rows, as loaded, and the outputs that are computed of them in tiles; their bias."""

    rows: Piece
    x: LocalTensor
    outputs: Piece
    bias: LocalTensor | None


class _Layer(ABC):
    """Buffers, and the walk over chunks of rows, groups of tiles and tiles."""

    def __init__(
        self, context: KernelContext, problem: Problem, plan: Plan, memory: LocalMemory
    ) -> None:
        self.e = context.emitter
        self.chip = context.chip
        self.problem = problem
        self.plan = plan
        self._context, self._memory = context, memory
        depth, kind = problem.weight.depth, problem.kind
        self._x = memory.aligned((1, plan.rows, 1, depth), kind).address
        self._unpacked = memory.take(unpack_bytes(self.chip, problem.weight, plan.cut.rounds))
        self._count = 0

    def _take_results(self, outputs: int) -> None:
        """Room for so many results of all rows, for packed tiles behind it and, at the end of
        memory, for scales, zero points and parts of the bias."""
        memory, problem, chip = self._memory, self.problem, self.chip
        kind, shape = problem.out.dtype, (1, self.plan.rows, 1, outputs)
        count = 2 + problem.sums + 2 * (problem.residual is not None)
        places = [memory.aligned(shape, kind).address for _ in range(count)]
        self._out, self._residual = places[:2], places[-2:]
        self._raw = places[2 if problem.sums else 0]
        how = self.plan.cut
        bias = 0 if problem.bias is None else self._together() * kind.bytes
        factors = max(how.factor_bytes(chip, problem.weight), align(bias, chip.eu_bytes))
        tile = how.tile_bytes(chip, problem.weight.row_bytes)
        self._tiles, self._factors = rings_of(self._context, memory, tile, factors)

    def _together(self) -> int:
        """Outputs whose results, scales and zero points come together."""
        lanes = self.chip.lanes
        return min(self.plan.outputs(lanes), align(self.problem.weight.outputs, lanes))

    def run(self, outputs: Piece) -> None:
        """Emit what makes these outputs, which begin where the lanes do."""
        weight, depth = self.problem.weight, self.problem.weight.depth
        for rows in cut(self.problem.rows, self.plan.rows):
            source = self.problem.x.window((0, rows.start, 0, 0), (1, rows.size, 1, depth))
            x = aligned(self.chip, self._x, source.shape, source.dtype)
            fetch(self.e, x, source)
            stream = PackedStream(self.e, weight, self.plan.cut, self._tiles, self._factors)
            for part in cut(outputs.size, self.plan.outputs(self.chip.lanes)):
                some = Piece(outputs.start + part.start, part.size)
                group = _Group(rows, x, some, self._bias(some, rows))
                for piece in cut(some.size, self.plan.cut.rounds * self.chip.lanes):
                    tile = Piece(some.start + piece.start, piece.size)
                    self._multiply(group, piece, stream.tile(tile, self._unpacked))
                self._finish(group)

    def _bias(self, group: Piece, rows: Piece) -> LocalTensor | None:
        if self.problem.bias is None:
            return None
        shape = (1, min(self.chip.lanes, rows.size), 1, group.size)
        place = self._factors.take(aligned_bytes(self.chip, shape, self.problem.out.dtype))
        target = aligned(self.chip, place, shape, self.problem.out.dtype)
        source = self.problem.bias.window((0, 0, 0, group.start), (1, 1, 1, group.size))
        self.e.load_broadcast(target, source)
        return target

    def _result(self, address: int, rows: Piece, outputs: int) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, outputs), self.problem.out.dtype)

    def _store(
        self, rows: Piece, outputs: Piece, raw: LocalTensor, bias: LocalTensor | None
    ) -> None:
        """Add to finished results what must be and store them; `bias` is that of these outputs."""
        place, start = self._out[self._count % 2], (0, rows.start, 0, outputs.start)
        added = bias
        if self.problem.residual is not None:
            added = self._result(self._residual[self._count % 2], rows, outputs.size)
            fetch(self.e, added, self.problem.residual.window(start, added.shape))
        if added is not None:
            out = self._result(place, rows, outputs.size)
            self.e.arith(Arith.ADD, out, raw, added)
            raw = out
        put(self.e, self.problem.out.window(start, raw.shape), raw)
        self._count += 1

    def _target(self) -> int:
        """Where results are computed: if something is added they are finished elsewhere."""
        return self._raw if self.problem.sums else self._out[self._count % 2]

    @abstractmethod
    def _multiply(self, group: _Group, piece: Piece, tile: LocalTensor) -> None:
        """Add the product with the unpacked tile of a piece of the group's outputs."""

    @abstractmethod
    def _finish(self, group: _Group) -> None:
        """Bring the sums of a group of columns to DDR."""


class _Few(_Layer):
    """Outputs on lanes; results of a group of tiles are stored together."""

    def __init__(
        self, context: KernelContext, problem: Problem, plan: Plan, memory: LocalMemory
    ) -> None:
        super().__init__(context, problem, plan, memory)
        shape = (1, plan.cut.rounds * self.chip.lanes, 1, plan.rows)
        self._columns = memory.aligned(shape, problem.out.dtype).address
        self._take_results(self._together())

    def _multiply(self, group: _Group, piece: Piece, tile: LocalTensor) -> None:
        rows = group.rows
        shape = (1, piece.size, 1, rows.size)
        columns = aligned(self.chip, self._columns, shape, self.problem.out.dtype)
        self.e.mm2(columns, tile, group.x, right_transpose=True)
        whole = self._result(self._target(), rows, group.outputs.size)
        part = whole.window((0, 0, 0, piece.start), (1, rows.size, 1, piece.size), self.chip)
        transpose(self.e, part, columns)

    def _finish(self, group: _Group) -> None:
        raw = self._result(self._target(), group.rows, group.outputs.size)
        self._store(group.rows, group.outputs, raw, group.bias)


class _Many(_Layer):
    """Rows on lanes; every tile's results are stored by themselves."""

    def __init__(
        self, context: KernelContext, problem: Problem, plan: Plan, memory: LocalMemory
    ) -> None:
        super().__init__(context, problem, plan, memory)
        self._take_results(plan.cut.rounds * self.chip.lanes)

    def _multiply(self, group: _Group, piece: Piece, tile: LocalTensor) -> None:
        rows, bias = group.rows, group.bias
        raw = self._result(self._target(), rows, piece.size)
        self.e.mm2(raw, group.x, tile, right_transpose=True)
        if bias is not None:
            lanes = min(self.chip.lanes, rows.size)
            bias = bias.window((0, 0, 0, piece.start), (1, lanes, 1, piece.size), self.chip)
        self._store(rows, Piece(group.outputs.start + piece.start, piece.size), raw, bias)

    def _finish(self, group: _Group) -> None:
        """Nothing is left to do."""
