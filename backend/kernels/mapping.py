"""The driver of element-wise global layers: load boxes of the operands, compute, store.

The computation itself works on local tensors only, so a layer group can use it unchanged.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.regions import Box, tiles
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, LocalMemory, pipelined
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    strided,
)
from xdsl_tpu.dialects.errors import DoesNotFit


@dataclass(frozen=True)
class Work:
    """The local tensors of one tile.

    Operands may be 1 long where the result is longer. Each table is a polynomial's coefficients
    in every lane, (1, lanes, 1, terms), as the SFU takes them.
    """

    out: LocalTensor
    operands: Sequence[LocalTensor]
    scratch: Sequence[LocalTensor] = ()
    tables: Sequence[LocalTensor] = ()


Compute = Callable[[Emitter, Work], None]


@dataclass(frozen=True, slots=True)
class Types:
    """Element types of an op's result and of its operands."""

    out: DType
    operands: tuple[DType, ...]


@dataclass(frozen=True, slots=True)
class Scratch:
    """A scratch tensor: as large as the tile, with another height or width, or of fixed shape."""

    dtype: DType
    height: int | None = None
    width: int | None = None
    fixed: Shape4 | None = None

    def shape(self, sizes: Shape4) -> Shape4:
        """Its shape beside a tile of these sizes."""
        if self.fixed is not None:
            return self.fixed
        n, c, h, w = sizes
        height = h if self.height is None else self.height
        return n, c, height, w if self.width is None else self.width


@dataclass(frozen=True)
class ElementWise:
    """An op on equal boxes of its tensors: how to compute it, its scratch tensors and tables."""

    compute: Compute
    scratch: tuple[Scratch, ...] = ()
    tables: tuple[tuple[float, ...], ...] = ()
    table_dtype: DType = DType.F32


Describe = Callable[[Operation, Types], ElementWise]
"""How an element-wise op is computed, for a layer over DDR or for a slice in local memory."""


TABLE_BYTES = 256
"""Room kept per lane for one table."""

OVERLAPPING_TILES = 4
SMALL_TILE_BYTES = 4096
"""Work is cut into at least this many tiles, unless they would move fewer bytes per lane."""


def write_table(emitter: Emitter, table: LocalTensor, values: Sequence[float]) -> None:
    """Fill a table (1, lanes, 1, terms), one constant fill per term.

    Cheaper than loading it: a fill takes a cycle, a load of so few bytes hundreds.
    """
    for index, value in enumerate(values):
        shape = (1, table.shape[1], 1, 1)
        emitter.copy(strided(table.at(w=index), shape, (0, 0, 0, 1), table.dtype), value)


def run_boxes(
    context: KernelContext,
    values: Sequence[DdrValue],
    op: ElementWise,
    whole: Sequence[Box],
    units: Shape4,
) -> None:
    """Emit a layer that works through boxes of its tensors, tensor 0 being the result.

    Boxes are cut into tiles that fit local memory, in multiples of `units` (n, c, h, w).
    """
    layer = _Layer(context, tuple(values), op)
    work = [tile for box in whole for tile in layer.tiles(box, units)]
    layer.reserve(work)
    pipelined(work, layer.load, layer.compute, layer.store)


class _Layer:
    """One element-wise layer: tensor 0 is the result, the others are operands."""

    def __init__(
        self, context: KernelContext, values: tuple[DdrValue, ...], op: ElementWise
    ) -> None:
        self.chip = context.chip
        self.emitter = context.emitter
        self.values = values
        self.op = op
        self.buffers: list[tuple[int, int]] = []
        self.scratch: list[int] = []
        self.tables: list[LocalTensor] = []

    def reserve(self, work: Sequence[Box]) -> None:
        """Lay out two buffers per tensor, large enough for every tile.

        The next tile is loaded before the current one is computed, so buffers may not depend on
        the size of a tile.
        """
        memory = LocalMemory(self.chip)
        for index, value in enumerate(self.values):
            shapes = (self._local_shape(box, index, box.sizes) for box in work)
            size = max(aligned_bytes(self.chip, shape, value.dtype) for shape in shapes)
            self.buffers.append((memory.take(size), memory.take(size)))
        for kind in self.op.scratch:
            shapes = (kind.shape(box.sizes) for box in work)
            size = max(aligned_bytes(self.chip, shape, kind.dtype) for shape in shapes)
            self.scratch.append(memory.take(size))
        for values in self.op.tables:
            shape = (1, self.chip.lanes, 1, len(values))
            table = memory.compact(shape, self.op.table_dtype)
            write_table(self.emitter, table, values)
            self.tables.append(table)

    def tiles(self, box: Box, units: Shape4) -> list[Box]:
        """Tiles of a box: small enough for local memory, enough of them to overlap their stages."""
        most = max(self._bytes(box, box.sizes) // OVERLAPPING_TILES, SMALL_TILE_BYTES)
        try:
            return tiles(box, lambda s: self._fits(box, s) and self._bytes(box, s) <= most, units)
        except DoesNotFit:
            return tiles(box, lambda s: self._fits(box, s), units)

    def _bytes(self, box: Box, sizes: Shape4) -> int:
        """Bytes per lane that move for a tile."""
        return sum(
            aligned_bytes(self.chip, self._local_shape(box, i, sizes), value.dtype)
            for i, value in enumerate(self.values)
        )

    def _fits(self, box: Box, sizes: Shape4) -> bool:
        """Whether two buffers of every tensor and one of the scratch fit."""
        scratch = sum(
            aligned_bytes(self.chip, kind.shape(sizes), kind.dtype) for kind in self.op.scratch
        )
        tables = len(self.op.tables) * TABLE_BYTES
        return 2 * self._bytes(box, sizes) + scratch + tables <= self.chip.local_bytes

    def _local_shape(self, box: Box, index: int, sizes: Shape4) -> Shape4:
        """Sizes of a tensor's tile: 1 where it repeats, but all lanes are filled."""
        strides = box.strides[index]
        n, c, h, w = (1 if s == 0 else size for size, s in zip(sizes, strides, strict=True))
        repeats = strides[1] == 0 and sizes[1] > 1
        return n, min(self.chip.lanes, sizes[1]) if repeats else c, h, w

    def _tensors(self, box: Box, slot: int) -> tuple[list[LocalTensor], list[LocalTensor]]:
        """The buffers of a tile: result and operands, then scratch."""
        tensors = [
            aligned(self.chip, pair[slot], self._local_shape(box, i, box.sizes), value.dtype)
            for i, (pair, value) in enumerate(zip(self.buffers, self.values, strict=True))
        ]
        scratch = [
            aligned(self.chip, address, kind.shape(box.sizes), kind.dtype)
            for address, kind in zip(self.scratch, self.op.scratch, strict=True)
        ]
        return tensors, scratch

    def _ddr(self, box: Box, index: int, shape: Shape4) -> GlobalTensor:
        value = self.values[index]
        address = value.address + box.offsets[index] * value.dtype.bytes
        return GlobalTensor(address, shape, box.strides[index], value.dtype)

    def load(self, box: Box, slot: int) -> None:
        """Bring the operands of a tile into local memory."""
        tensors, _ = self._tensors(box, slot)
        for index, tensor in enumerate(tensors[1:], start=1):
            if box.strides[index][1] == 0 and tensor.shape[1] > 1:
                n, _, h, w = tensor.shape
                self.emitter.load_broadcast(tensor, self._ddr(box, index, (n, 1, h, w)))
            else:
                self.emitter.load(tensor, self._ddr(box, index, tensor.shape))

    def compute(self, box: Box, slot: int) -> None:
        """Compute a tile."""
        tensors, scratch = self._tensors(box, slot)
        self.op.compute(self.emitter, Work(tensors[0], tensors[1:], scratch, self.tables))

    def store(self, box: Box, slot: int) -> None:
        """Write a tile's result to DDR."""
        tensors, _ = self._tensors(box, slot)
        self.emitter.store(self._ddr(box, 0, tensors[0].shape), tensors[0])
