"""`tpu.Upsample`: every element of an image repeated, by strided copies within the lanes.

Each of the scale_h * scale_w places of a repeated element is one copy with the result's strides;
the GDMA moves whole rows only.
"""

from dataclasses import dataclass, field

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.support import KernelContext, pipelined, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    aligned_bytes,
    ceil_div,
    strided,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit

Tile = tuple[Piece, Piece]
"""Planes and rows."""


def upsample(context: KernelContext, op: Operation) -> None:
    """Emit tpu.Upsample; raises TpuError when not even one row fits local memory."""
    assert isinstance(op, tpu.UpsampleOp)
    x, out = context.value(op.input), context.value(op.output)
    scales = op.scale_h.value.data, op.scale_w.value.data
    height, width = x.shape[-2:]
    planes = x.elements // (height * width)
    layer = _Layer(
        context,
        x.as4((1, planes, height, width)),
        out.as4((1, planes, height * scales[0], width * scales[1])),
        scales,
        Clamp.of(op.do_relu, op.relu_limit),
    )
    layer.emit(where(op))


@dataclass
class _Layer:
    """Planes lie on the lanes; tiles are planes and rows."""

    context: KernelContext
    x: GlobalTensor
    out: GlobalTensor
    scales: tuple[int, int]
    clamp: Clamp
    buffers: list[int] = field(default_factory=list[int])

    def emit(self, name: str) -> None:
        """Stream the tiles."""
        memory = self.context.memory()
        planes, rows = self._largest(name)
        chip, shapes = self.context.chip, self._shapes(planes, rows)
        sizes = [aligned_bytes(chip, shape, self.x.dtype) for shape in shapes]
        self.buffers = [memory.take(size) for size in (*sizes, *sizes)]
        if self.clamp.active:
            self.buffers.append(memory.take(sizes[1]))
        tiles = [(c, h) for c in cut(self.x.shape[1], planes) for h in cut(self.x.shape[2], rows)]
        pipelined(tiles, self._load, self._compute, self._store)

    def _largest(self, name: str) -> tuple[int, int]:
        """Planes and rows of a tile that fits."""
        chip = self.context.chip
        planes, rows = self.x.shape[1:3]

        def size() -> int:
            small, large = (
                aligned_bytes(chip, s, self.x.dtype) for s in self._shapes(planes, rows)
            )
            return 2 * (small + large) + (large if self.clamp.active else 0)

        while size() > chip.local_bytes:
            if planes > chip.lanes:
                planes = ceil_div(ceil_div(planes, 2), chip.lanes) * chip.lanes
            elif rows > 1:
                rows = ceil_div(rows, 2)
            else:
                raise DoesNotFit(f"{name}: a row of {self.out.shape[3]} does not fit local memory")
        return planes, rows

    def _shapes(self, planes: int, rows: int) -> tuple[Shape4, Shape4]:
        width = self.x.shape[3]
        return (
            (1, planes, rows, width),
            (1, planes, rows * self.scales[0], width * self.scales[1]),
        )

    def _tensors(self, tile: Tile, slot: int) -> tuple[LocalTensor, LocalTensor]:
        small, large = self._shapes(tile[0].size, tile[1].size)
        chip, dtype = self.context.chip, self.x.dtype
        before, after = self.buffers[2 * slot : 2 * slot + 2]
        return aligned(chip, before, small, dtype), aligned(chip, after, large, dtype)

    def _load(self, tile: Tile, slot: int) -> None:
        x, _ = self._tensors(tile, slot)
        source = self.x.window((0, tile[0].start, tile[1].start, 0), x.shape)
        fetch(self.context.emitter, x, source)

    def _compute(self, tile: Tile, slot: int) -> None:
        x, out = self._tensors(tile, slot)
        scratch = None
        if self.clamp.active:
            scratch = aligned(self.context.chip, self.buffers[4], out.shape, out.dtype)
        self.clamp.apply(self.context.emitter, out, scratch, lambda target: self._fill(target, x))

    def _fill(self, out: LocalTensor, x: LocalTensor) -> None:
        tall, wide = self.scales
        n, c, h, w = out.strides
        for y in range(tall):
            for z in range(wide):
                places = strided(out.at(h=y, w=z), x.shape, (n, c, h * tall, w * wide), out.dtype)
                self.context.emitter.copy(places, x)

    def _store(self, tile: Tile, slot: int) -> None:
        _, out = self._tensors(tile, slot)
        start = (0, tile[0].start, tile[1].start * self.scales[0], 0)
        put(self.context.emitter, self.out.window(start, out.shape), out)
