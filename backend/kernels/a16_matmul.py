"""`tpu.A16MatMul`: 16-bit rows times a packed matrix, which is unpacked tile by tile.

With few rows (a step of a language model that generates) the outputs lie on the lanes: the packed
tile is the left operand, and columns of results are transposed back to rows. With many the rows
lie on the lanes, and no result is transposed. Every byte of the matrix is loaded once for each
chunk of rows; rows are in as few chunks as fit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith
from xdsl_tpu.backend.kernels.packed_weight import Factors, PackedWeight, unpack, unpack_bytes
from xdsl_tpu.backend.kernels.support import KernelContext, Ring, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.kernels.transpose import transpose
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
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

FEW_TILES = 3
"""Packed tiles there must be room for: one in use, one arriving, one to come."""


def a16_matmul(context: KernelContext, op: Operation) -> None:
    """x [.., K] times a packed [N, K], plus a bias.

    Raises NoKernel for a matrix that is not packed by outputs, or element types that differ, and
    DoesNotFit where not even one tile fits local memory.
    """
    assert isinstance(op, tpu.A16MatMulOp)
    problem = describe(context, op)
    few = problem.rows <= context.chip.lanes - context.chip.cube_outputs[problem.kind.bytes]
    plan = choose(problem, context.chip, few, where(op))
    layer = _Few(context, problem, plan) if few else _Many(context, problem, plan)
    layer.run()


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows (1, M, 1, K) and (1, M, 1, N) in DDR, the matrix, and a bias (1, 1, 1, N)."""

    x: GlobalTensor
    out: GlobalTensor
    weight: PackedWeight
    bias: GlobalTensor | None

    @property
    def rows(self) -> int:
        """M."""
        return self.x.shape[1]

    @property
    def kind(self) -> DType:
        """The element type of rows and results."""
        return self.out.dtype


def describe(context: KernelContext, op: "tpu.A16MatMulOp") -> Problem:
    """The op's operands as matrices."""
    x, packed, scale, point, out = (
        context.value(v) for v in (op.input, op.weight, op.scale, op.zp, op.output)
    )
    bias = context.optional(op.bias)
    bits, group = op.weight_bits.value.data, op.q_group_size.value.data
    depth, outputs = x.shape[-1], out.shape[-1]
    if not op.w_transpose.value.data or packed.elements * 8 != outputs * depth * bits:
        raise NoKernel(f"{where(op)}: a packed matrix of shape {packed.shape} is not [N, K]")
    if len({x.dtype, scale.dtype, out.dtype}) > 1 or out.dtype.bytes != 2 or depth % group:
        raise NoKernel(f"{where(op)}: 16-bit floats of one type and whole groups of {group} only")
    weight = PackedWeight(
        packed.address,
        scale.address,
        point.address,
        outputs,
        depth,
        bits,
        group,
        out.dtype,
        context.chip.lanes,
    )
    rows = x.elements // depth
    return Problem(
        contiguous(x.address, (1, rows, 1, depth), x.dtype),
        contiguous(out.address, (1, rows, 1, outputs), out.dtype),
        weight,
        None if bias is None else bias.as4((1, 1, 1, outputs)),
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of a chunk, rounds of outputs of a tile, and tiles whose factors come together."""

    rows: int
    rounds: int
    tiles: int


def choose(problem: Problem, chip: Chip, few: bool, place: str) -> Plan:
    """The fewest chunks of rows, then the largest tiles, that fit.

    Raises DoesNotFit when nothing does.
    """
    weight = problem.weight
    most = max(
        1, min(TILE_BYTES // weight.row_bytes, UNPACK_BYTES // unpack_bytes(chip, weight, 1))
    )
    for rows in _chunks(problem.rows, chip.lanes):
        for rounds in range(min(most, weight.rounds), 0, -1):
            tiles = _tiles(weight, chip, rounds)
            plan = Plan(rows, rounds, tiles)
            if _low_bytes(problem, plan, chip, few) + _high_bytes(problem, plan, chip) <= (
                chip.local_bytes
            ):
                return plan
    raise DoesNotFit(f"{place}: one row and {chip.lanes} outputs do not fit local memory")


def _chunks(rows: int, lanes: int) -> Iterator[int]:
    """Sizes of chunks of rows, by growing numbers of equal chunks of whole lane groups."""
    groups, before = ceil_div(rows, lanes), 0
    for count in range(1, groups + 1):
        size = min(rows, ceil_div(groups, count) * lanes)
        if size != before:
            yield size
        before = size


def _tiles(weight: PackedWeight, chip: Chip, rounds: int) -> int:
    """Tiles whose scales and zero points are loaded together."""
    by_bytes = FACTOR_BYTES // (rounds * weight.scale_bytes)
    return max(1, min(by_bytes, MOST_OUTPUTS // (rounds * chip.lanes)))


def _low_bytes(problem: Problem, plan: Plan, chip: Chip, few: bool) -> int:
    """Bytes of the buffers that come before those of packed tiles."""
    kind, depth, outputs = problem.kind, problem.weight.depth, plan.rounds * chip.lanes
    total = aligned_bytes(chip, (1, plan.rows, 1, depth), kind)
    total += unpack_bytes(chip, problem.weight, plan.rounds)
    if few:
        total += aligned_bytes(chip, (1, outputs, 1, plan.rows), kind)
        outputs = min(outputs * plan.tiles, align(problem.weight.outputs, chip.lanes))
    buffers = 2 + (problem.bias is not None)
    return total + buffers * aligned_bytes(chip, (1, plan.rows, 1, outputs), kind)


def _high_bytes(problem: Problem, plan: Plan, chip: Chip) -> int:
    """Bytes for packed tiles, scales and zero points, at least."""
    tile = align(problem.weight.row_bytes, chip.eu_bytes) * plan.rounds
    return FEW_TILES * tile + 2 * factor_bytes(problem, plan, chip)


def factor_bytes(problem: Problem, plan: Plan, chip: Chip) -> int:
    """Bytes of a lane for what is loaded with a group of tiles: factors, and the bias."""
    rounds = min(plan.rounds * plan.tiles, problem.weight.rounds)
    bias = 0 if problem.bias is None else rounds * chip.lanes * problem.kind.bytes
    return Factors.bytes(chip, problem.weight, rounds) + align(bias, chip.eu_bytes)


class _Layer:
    """Buffers, and the walk over chunks of rows, groups of tiles and tiles."""

    def __init__(self, context: KernelContext, problem: Problem, plan: Plan) -> None:
        self.e = context.emitter
        self.chip = context.chip
        self.problem = problem
        self.plan = plan
        self._memory = memory = context.memory()
        depth, kind = problem.weight.depth, problem.kind
        self._x = memory.take(aligned_bytes(self.chip, (1, plan.rows, 1, depth), kind))
        self._unpacked = memory.take(unpack_bytes(self.chip, problem.weight, plan.rounds))
        self._context = context
        self._count = 0

    def _take_results(self, outputs: int) -> None:
        shape = (1, self.plan.rows, 1, outputs)
        size = aligned_bytes(self.chip, shape, self.problem.kind)
        self._out = [self._memory.take(size) for _ in range(2)]
        self._raw = self._memory.take(size if self.problem.bias is not None else 0)

    def run(self) -> None:
        """Emit all of it."""
        factors = self._context.top_ring(2 * factor_bytes(self.problem, self.plan, self.chip))
        tiles = self._context.ring(self._memory.next, factors.start)
        outputs = self.plan.rounds * self.plan.tiles * self.chip.lanes
        for rows in cut(self.problem.rows, self.plan.rows):
            x = self.problem.x.window(
                (0, rows.start, 0, 0), (1, rows.size, 1, self.problem.x.shape[3])
            )
            local = aligned(self.chip, self._x, x.shape, x.dtype)
            fetch(self.e, local, x)
            for group in cut(self.problem.weight.outputs, outputs):
                self._group(rows, local, group, factors, tiles)

    def _group(self, rows: Piece, x: LocalTensor, group: Piece, high: Ring, ring: Ring) -> None:
        weight, lanes = self.problem.weight, self.chip.lanes
        factors = Factors.at(
            self.chip,
            high.take(factor_bytes(self.problem, self.plan, self.chip)),
            weight,
            ceil_div(group.size, lanes),
        )
        for target, source in zip(
            (factors.scales, factors.points), weight.factors(group), strict=True
        ):
            fetch(self.e, target, source)
        bias = self._bias(factors, group, rows)
        for piece in cut(group.size, self.plan.rounds * lanes):
            outputs = Piece(group.start + piece.start, piece.size)
            source = weight.rows(outputs)
            size = aligned_bytes(self.chip, source.shape, source.dtype)
            packed = aligned(self.chip, ring.take(size), source.shape, source.dtype)
            fetch(self.e, packed, source)
            tile = unpack(self.e, self._unpacked, weight, packed, factors, piece.start // lanes)
            self._multiply(rows, x, tile, group, piece, bias)
        self._finish(rows, group, bias)

    def _bias(self, factors: Factors, group: Piece, rows: Piece) -> LocalTensor | None:
        if self.problem.bias is None:
            return None
        _, end = factors.points.span(self.chip)
        shape = (1, min(self.chip.lanes, rows.size), 1, group.size)
        target = aligned(self.chip, align(end, self.chip.eu_bytes), shape, self.problem.kind)
        source = self.problem.bias.window((0, 0, 0, group.start), (1, 1, 1, group.size))
        self.e.load_broadcast(target, source)
        return target

    def _result(self, address: int, rows: Piece, outputs: int) -> LocalTensor:
        return aligned(self.chip, address, (1, rows.size, 1, outputs), self.problem.kind)

    def _store(
        self, rows: Piece, outputs: Piece, raw: LocalTensor, bias: LocalTensor | None
    ) -> None:
        """Add the bias to finished results and store them; `bias` is that of these outputs."""
        place = self._out[self._count % 2]
        if bias is not None:
            out = self._result(place, rows, outputs.size)
            self.e.arith(Arith.ADD, out, raw, bias)
            raw = out
        start = (0, rows.start, 0, outputs.start)
        put(self.e, self.problem.out.window(start, raw.shape), raw)
        self._count += 1

    def _target(self) -> int:
        """Where results are computed: with a bias they are finished elsewhere."""
        return self._raw if self.problem.bias is not None else self._out[self._count % 2]

    def _multiply(
        self,
        rows: Piece,
        x: LocalTensor,
        tile: LocalTensor,
        group: Piece,
        piece: Piece,
        bias: LocalTensor | None,
    ) -> None:
        raise NotImplementedError

    def _finish(self, rows: Piece, group: Piece, bias: LocalTensor | None) -> None:
        raise NotImplementedError


class _Few(_Layer):
    """Outputs on lanes; results of a group of tiles are stored together."""

    def __init__(self, context: KernelContext, problem: Problem, plan: Plan) -> None:
        super().__init__(context, problem, plan)
        outputs = plan.rounds * self.chip.lanes
        shape = (1, outputs, 1, plan.rows)
        self._columns = self._memory.take(aligned_bytes(self.chip, shape, problem.kind))
        self._take_results(
            min(outputs * plan.tiles, align(problem.weight.outputs, self.chip.lanes))
        )

    def _multiply(
        self,
        rows: Piece,
        x: LocalTensor,
        tile: LocalTensor,
        group: Piece,
        piece: Piece,
        bias: LocalTensor | None,
    ) -> None:
        shape = (1, piece.size, 1, rows.size)
        columns = aligned(self.chip, self._columns, shape, self.problem.kind)
        self.e.mm2(columns, tile, x, right_transpose=True)
        whole = self._result(self._target(), rows, group.size)
        part = whole.window((0, 0, 0, piece.start), (1, rows.size, 1, piece.size), self.chip)
        transpose(self.e, part, columns)

    def _finish(self, rows: Piece, group: Piece, bias: LocalTensor | None) -> None:
        self._store(rows, group, self._result(self._target(), rows, group.size), bias)


class _Many(_Layer):
    """Rows on lanes; every tile's results are stored by themselves."""

    def __init__(self, context: KernelContext, problem: Problem, plan: Plan) -> None:
        super().__init__(context, problem, plan)
        self._take_results(plan.rounds * self.chip.lanes)

    def _multiply(
        self,
        rows: Piece,
        x: LocalTensor,
        tile: LocalTensor,
        group: Piece,
        piece: Piece,
        bias: LocalTensor | None,
    ) -> None:
        raw = self._result(self._target(), rows, piece.size)
        self.e.mm2(raw, x, tile, right_transpose=True)
        if bias is not None:
            lanes = min(self.chip.lanes, rows.size)
            bias = bias.window((0, 0, 0, piece.start), (1, lanes, 1, piece.size), self.chip)
        self._store(rows, Piece(group.start + piece.start, piece.size), raw, bias)

    def _finish(self, rows: Piece, group: Piece, bias: LocalTensor | None) -> None:
        """Nothing is left to do."""
