"""`tpu.Mlp`: the feed-forward block of a transformer, for many rows.

down(f(gate(x)) * up(x)), or down(f(gate(x))). Rows lie on the lanes; what is between the products
stays in local memory, for as many rows as fit. Every matrix is loaded, and unpacked if it is
packed, once for each such chunk.
"""

from itertools import pairwise

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.mapping import TABLE_BYTES, write_table
from xdsl_tpu.backend.kernels.mlp_plan import Linear, Plan, Problem, describe, plans
from xdsl_tpu.backend.kernels.packed_stream import Cut, PackedStream, rings_of
from xdsl_tpu.backend.kernels.packed_weight import unpack_bytes
from xdsl_tpu.backend.kernels.product import bias_columns
from xdsl_tpu.backend.kernels.support import KernelContext, LocalMemory, first_that_fits, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import LocalTensor, aligned, compact
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def mlp(context: KernelContext, op: Operation) -> None:
    """x [.., K] through gate and up [inner, K] and down [outputs, inner].

    Raises NoKernel for experts, matrices that are not [N, K], and activations and precisions
    without an f16 sequence; DoesNotFit where local memory is too small for 64 rows.
    """
    assert isinstance(op, tpu.MlpOp)
    problem = describe(context, op)

    def build(memory: LocalMemory, plan: Plan) -> _Layer:
        return _Layer(context, problem, plan, memory)

    layer = first_that_fits(plans(problem, context.chip), build, context.chip)
    if layer is None:
        raise DoesNotFit(f"{where(op)}: not even {context.chip.lanes} rows fit local memory")
    layer.run()


class _Layer:
    """The buffers, and the two passes over a chunk of rows."""

    def __init__(
        self, context: KernelContext, problem: Problem, plan: Plan, memory: LocalMemory
    ) -> None:
        self.e, self.chip = context.emitter, context.chip
        self.p, self.plan = problem, plan
        columns = plan.inner.rounds * self.chip.lanes

        def take(count: int, width: int) -> list[int]:
            shape = (1, plan.rows, 1, width)
            return [memory.aligned(shape, problem.out.dtype).address for _ in range(count)]

        pairs = (problem.gate.weight, plan.inner), (problem.down.weight, plan.down)
        biased = any(linear.bias is not None for linear in problem.first)
        (self._x,), (self._inner,) = take(1, problem.gate.weight.depth), take(1, problem.inner)
        self._active, *self._parts = take(1 + len(problem.first) + biased, columns)
        self._scratch = [
            memory.aligned((1, plan.rows, 1, columns), dtype).address
            for dtype in problem.active.scratch
        ]
        self._unpacked = memory.take(
            max(unpack_bytes(self.chip, weight, how.rounds) for weight, how in pairs)
        )
        stored, added = plan.stored(self.chip.lanes), problem.residual is not None
        self._out = take(2, stored)
        self._sums = take((problem.down.bias is not None) + added, stored)
        self._residual = take(2 if added else 0, stored)
        active = problem.active
        self._tables = [
            compact(
                self.chip,
                memory.take(TABLE_BYTES),
                (1, self.chip.lanes, 1, len(values)),
                active.table_dtype,
            )
            for values in active.tables
        ]
        self._biases = {
            id(linear): self._bias(linear, memory) for linear in (*problem.first, problem.down)
        }
        factors = max(how.factor_bytes(self.chip, weight) for weight, how in pairs)
        tile = max(how.tile_bytes(self.chip, weight.row_bytes) for weight, how in pairs)
        self._tiles, self._factors = rings_of(context, memory, tile, factors)
        self._stores = 0

    def _bias(self, linear: Linear, memory: LocalMemory) -> LocalTensor | None:
        """Room for the bias of a product on every lane."""
        if linear.bias is None:
            return None
        place = memory.take(linear.bias.bytes)
        shape = (1, min(self.chip.lanes, self.plan.rows), 1, linear.weight.outputs)
        return aligned(self.chip, place, shape, linear.bias.dtype)

    def run(self) -> None:
        """Emit all chunks."""
        for table, values in zip(self._tables, self.p.active.tables, strict=True):
            write_table(self.e, table, values)
        for linear in (*self.p.first, self.p.down):
            bias = self._biases[id(linear)]
            if bias is not None and linear.bias is not None:
                self.e.load_broadcast(bias, linear.bias)
        depth = self.p.gate.weight.depth
        for rows in cut(self.p.rows, self.plan.rows):
            source = self.p.x.window((0, rows.start, 0, 0), (1, rows.size, 1, depth))
            x = self._rows(self._x, rows, depth)
            fetch(self.e, x, source)
            self._first(rows, x)
            self._second(rows)

    def _rows(self, address: int, rows: Piece, columns: int) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, columns), self.p.out.dtype)

    def _stream(self, linear: Linear, how: Cut) -> PackedStream:
        return PackedStream(self.e, linear.weight, how, self._tiles, self._factors)

    def _first(self, rows: Piece, x: LocalTensor) -> None:
        """f(gate) * up, tile by tile, into one matrix."""
        streams = [self._stream(one, self.plan.inner) for one in self.p.first]
        inner = self._rows(self._inner, rows, self.p.inner)
        active = self.p.active
        for piece in cut(self.p.inner, self.plan.inner.rounds * self.chip.lanes):
            out, *parts = (
                self._rows(place, rows, piece.size) for place in (self._active, *self._parts)
            )
            made = parts[: len(streams)]
            for linear, tiles, target in zip(self.p.first, streams, made, strict=True):
                bias = self._biases[id(linear)]
                raw = target if bias is None else parts[-1]
                self.e.mm2(raw, x, tiles.tile(piece, self._unpacked), right_transpose=True)
                if bias is not None:
                    added = bias_columns(bias, piece, rows.size, self.chip)
                    self.e.arith(Arith.ADD, target, raw, added)
            scratch = [
                aligned(self.chip, place, out.shape, dtype)
                for place, dtype in zip(self._scratch, active.scratch, strict=True)
            ]
            active.compute(self.e, out, made[0], scratch, self._tables)
            target = inner.window((0, 0, 0, piece.start), out.shape, self.chip)
            if self.p.up is None:
                self.e.copy(target, out)
            else:
                self.e.arith(Arith.MUL, target, out, made[1])

    def _second(self, rows: Piece) -> None:
        """Down, of all inner columns at once, and what is added to it."""
        downs = self._stream(self.p.down, self.plan.down)
        inner = self._rows(self._inner, rows, self.p.inner)
        for stored in cut(self.p.down.weight.outputs, self.plan.stored(self.chip.lanes)):
            slot = self._stores % 2
            out = self._rows(self._out[slot], rows, stored.size)
            start = (0, rows.start, 0, stored.start)
            added: list[LocalTensor] = []
            bias = self._biases[id(self.p.down)]
            if bias is not None:
                added.append(bias_columns(bias, stored, rows.size, self.chip))
            if self.p.residual is not None:
                residual = self._rows(self._residual[slot], rows, stored.size)
                fetch(self.e, residual, self.p.residual.window(start, residual.shape))
                added.append(residual)
            sums = [*(self._rows(place, rows, stored.size) for place in self._sums), out]
            for piece in cut(stored.size, self.plan.down.rounds * self.chip.lanes):
                outputs = Piece(stored.start + piece.start, piece.size)
                self._multiply(sums[0], inner, downs.tile(outputs, self._unpacked), piece)
            for (before, after), term in zip(pairwise(sums), added, strict=True):
                self.e.arith(Arith.ADD, after, before, term)
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
