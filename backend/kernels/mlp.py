"""`tpu.Mlp`: the gated feed-forward block of a language model, for many rows.

down(silu(gate(x)) * up(x)). Rows lie on the lanes; what is between the three products stays in
local memory, for as many rows as fit. Every matrix is loaded and unpacked once for each such chunk.
"""

from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.mapping import TABLE_BYTES, write_table
from xdsl_tpu.backend.kernels.packed_stream import FEW_TILES, Cut, PackedStream
from xdsl_tpu.backend.kernels.packed_weight import PackedWeight, packed_weight, unpack_bytes
from xdsl_tpu.backend.kernels.sequences.table import SEQUENCES
from xdsl_tpu.backend.kernels.sequences.unary import Unary
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import Piece, chunks_of, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    aligned,
    aligned_bytes,
    ceil_div,
    compact,
    contiguous,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
from xdsl_tpu.dialects.precision import precision_of

FACTOR_BYTES = 2048
"""Scales and zero points of a lane that are loaded together."""

MOST_ROUNDS = 8
"""Outputs a lane of the largest tile."""

STORED = 256
"""Columns of the result that are stored together, at least: a full row of DDR and more."""


def mlp(context: KernelContext, op: Operation) -> None:
    """x [.., K] through gate and up [inner, K] and down [outputs, inner], packed, without biases.

    Raises NoKernel for experts, biases, matrices that are not packed by outputs, and precisions
    without an f16 sequence for SiLU; DoesNotFit where local memory is too small for 64 rows.
    """
    assert isinstance(op, tpu.MlpOp)
    problem = describe(context, op)
    plan = choose(problem, context.chip)
    if plan is None:
        raise DoesNotFit(f"{where(op)}: not even {context.chip.lanes} rows fit local memory")
    _Layer(context, problem, plan).run()


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows (1, M, 1, K) and (1, M, 1, N) in DDR, and such that are added to the results, three
    matrices, and how SiLU is computed."""

    x: GlobalTensor
    out: GlobalTensor
    residual: GlobalTensor | None
    gate: PackedWeight
    up: PackedWeight
    down: PackedWeight
    silu: Unary

    @property
    def rows(self) -> int:
        """M."""
        return self.x.shape[1]


def describe(context: KernelContext, op: "tpu.MlpOp") -> Problem:
    """The op's operands as matrices."""
    x, out = context.value(op.input), context.value(op.output)
    biases = (op.bias_gate, op.bias_up, op.bias_down, op.expert_id)
    flags = (op.w_transpose_gate, op.w_transpose_up, op.w_transpose_down, op.quantized)
    if not all(map(is_none, biases)) or not all(flag.value.data for flag in flags):
        raise NoKernel(f"{where(op)}: only packed matrices [N, K] without biases")
    silu = SEQUENCES[precision_of(op)].get("SILU")
    if silu is None or out.dtype is not DType.F16:
        raise NoKernel(f"{where(op)}: SiLU is computed in f16 here")
    depth, outputs = x.shape[-1], out.shape[-1]
    form = (op.weight_bits.value.data, op.q_group_size.value.data, out.dtype)
    inner = op.scale_gate, op.zp_gate
    gate = packed_weight(context, (op.weight_gate, *inner), depth, None, *form)
    up = packed_weight(context, (op.weight_up, op.scale_up, op.zp_up), depth, None, *form)
    operands = (op.weight_down, op.scale_down, op.zp_down)
    down = packed_weight(context, operands, gate.outputs, outputs, *form)
    rows = x.elements // depth
    shape = (1, rows, 1, outputs)
    return Problem(
        contiguous(x.address, (1, rows, 1, depth), x.dtype),
        contiguous(out.address, shape, out.dtype),
        None if op.residual is None else context.value(op.residual).as4(shape),
        gate,
        up,
        down,
        silu,
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of a chunk, and how the matrices are cut."""

    rows: int
    inner: Cut
    down: Cut

    def stored(self, lanes: int) -> int:
        """Columns of the result that are stored together."""
        step = self.down.rounds * lanes
        return ceil_div(STORED, step) * step


def choose(problem: Problem, chip: Chip) -> Plan | None:
    """The fewest chunks of rows, then the largest tiles, that fit; None when nothing does."""
    down = Cut.of(problem.down, 1, FACTOR_BYTES)
    for rows in chunks_of(problem.rows, chip.lanes):
        for rounds in range(MOST_ROUNDS, 0, -1):
            plan = Plan(rows, Cut.of(problem.gate, rounds, FACTOR_BYTES), down)
            sizes = _Sizes.of(problem, plan, chip)
            if sizes.low + sizes.tiles + sizes.factors <= chip.local_bytes:
                return plan
    return None


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Bytes of a lane of each buffer; `low` of all but tiles and factors."""

    x: int
    inner: int
    part: int
    scratch: tuple[int, ...]
    unpacked: int
    out: int
    tiles: int
    factors: int
    tables: int
    residual: int

    @classmethod
    def of(cls, problem: Problem, plan: Plan, chip: Chip) -> "_Sizes":
        columns = plan.inner.rounds * chip.lanes

        def rows(width: int, dtype: DType = problem.out.dtype) -> int:
            return aligned_bytes(chip, (1, plan.rows, 1, width), dtype)

        unpacked = (
            unpack_bytes(chip, weight, one.rounds)
            for weight, one in ((problem.gate, plan.inner), (problem.down, plan.down))
        )
        pairs = ((problem.gate, plan.inner), (problem.down, plan.down))
        tile = max(one.tile_bytes(chip, weight) for weight, one in pairs)
        factors = max(one.factor_bytes(chip, weight) for weight, one in pairs)
        return cls(
            rows(problem.gate.depth),
            rows(problem.gate.outputs),
            rows(columns),
            tuple(rows(columns, dtype) for dtype in problem.silu.scratch),
            max(unpacked),
            rows(plan.stored(chip.lanes)),
            FEW_TILES * tile,
            3 * factors,
            TABLE_BYTES * len(problem.silu.tables),
            0 if problem.residual is None else rows(plan.stored(chip.lanes)),
        )

    @property
    def low(self) -> int:
        parts = self.x + self.inner + 3 * self.part + sum(self.scratch) + self.tables
        return parts + self.unpacked + 2 * self.out + 3 * self.residual


class _Layer:
    """The buffers, and the two passes over a chunk of rows."""

    def __init__(self, context: KernelContext, problem: Problem, plan: Plan) -> None:
        self.e, self.chip = context.emitter, context.chip
        self.p, self.plan = problem, plan
        self._context = context
        memory, sizes = context.memory(), _Sizes.of(problem, plan, context.chip)
        self._x, self._inner = memory.take(sizes.x), memory.take(sizes.inner)
        self._gate, self._up, self._silu = (memory.take(sizes.part) for _ in range(3))
        self._scratch = [memory.take(size) for size in sizes.scratch]
        self._unpacked = memory.take(sizes.unpacked)
        self._out = [memory.take(sizes.out) for _ in range(2)]
        self._raw, *self._residual = (memory.take(sizes.residual) for _ in range(3))
        self._tables: list[LocalTensor] = []
        for values in problem.silu.tables:
            shape = (1, self.chip.lanes, 1, len(values))
            table = compact(self.chip, memory.take(TABLE_BYTES), shape, problem.silu.table_dtype)
            write_table(self.e, table, values)
            self._tables.append(table)
        self._factors = context.top_ring(sizes.factors)
        self._tiles = context.ring(memory.next, self._factors.start)
        self._stores = 0

    def run(self) -> None:
        """Emit all chunks."""
        depth = self.p.gate.depth
        for rows in cut(self.p.rows, self.plan.rows):
            source = self.p.x.window((0, rows.start, 0, 0), (1, rows.size, 1, depth))
            x = self._rows(self._x, rows, depth)
            fetch(self.e, x, source)
            self._first(rows, x)
            self._second(rows)

    def _rows(self, address: int, rows: Piece, columns: int) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, columns), self.p.out.dtype)

    def _stream(self, weight: PackedWeight, how: Cut) -> PackedStream:
        return PackedStream(self.e, weight, how, self._tiles, self._factors)

    def _first(self, rows: Piece, x: LocalTensor) -> None:
        """silu(gate) * up, tile by tile, into one matrix."""
        gates, ups = (self._stream(one, self.plan.inner) for one in (self.p.gate, self.p.up))
        inner = self._rows(self._inner, rows, self.p.gate.outputs)
        for piece in cut(self.p.gate.outputs, self.plan.inner.rounds * self.chip.lanes):
            gate, up, silu = (
                self._rows(place, rows, piece.size) for place in (self._gate, self._up, self._silu)
            )
            for stream, target in ((gates, gate), (ups, up)):
                tile = stream.tile(piece, self._unpacked)
                self.e.mm2(target, x, tile, right_transpose=True)
            scratch = [
                aligned(self.chip, place, gate.shape, dtype)
                for place, dtype in zip(self._scratch, self.p.silu.scratch, strict=True)
            ]
            self.p.silu.compute(self.e, silu, gate, scratch, self._tables)
            target = inner.window((0, 0, 0, piece.start), gate.shape, self.chip)
            self.e.arith(Arith.MUL, target, silu, up)

    def _second(self, rows: Piece) -> None:
        """Down, of all inner columns at once."""
        downs = self._stream(self.p.down, self.plan.down)
        inner = self._rows(self._inner, rows, self.p.gate.outputs)
        for stored in cut(self.p.down.outputs, self.plan.stored(self.chip.lanes)):
            out = self._rows(self._out[self._stores % 2], rows, stored.size)
            start = (0, rows.start, 0, stored.start)
            target, added = out, out
            if self.p.residual is not None:
                target = self._rows(self._raw, rows, stored.size)
                added = self._rows(self._residual[self._stores % 2], rows, stored.size)
                fetch(self.e, added, self.p.residual.window(start, added.shape))
            for piece in cut(stored.size, self.plan.down.rounds * self.chip.lanes):
                outputs = Piece(stored.start + piece.start, piece.size)
                tile = downs.tile(outputs, self._unpacked)
                self._multiply(target, inner, tile, piece)
            if self.p.residual is not None:
                self.e.arith(Arith.ADD, out, target, added)
            put(self.e, self.p.out.window(start, out.shape), out)
            self._stores += 1

    def _multiply(
        self, out: LocalTensor, left: LocalTensor, tile: LocalTensor, columns: Piece
    ) -> None:
        """Some columns of `out`, one lane group after the other: a command has no strides."""
        for group in cut(out.shape[1], self.chip.lanes):
            number = group.start // self.chip.lanes
            place = out.at(g=number, w=columns.start)
            target = aligned(self.chip, place, (1, group.size, 1, columns.size), out.dtype)
            shape = (1, group.size, 1, left.shape[3])
            part = aligned(self.chip, left.at(g=number), shape, left.dtype)
            self.e.mm2(target, part, tile, right_transpose=True)
