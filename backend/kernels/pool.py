"""`tpu.Pool1D` and `tpu.Pool2D` as layers over DDR: maximum and average.

docs/hardware/instructions.md#spord. Images and channels are one axis: each lane pools
planes that do not depend on one another.
"""

from collections.abc import Iterator
from itertools import groupby

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter, Window
from xdsl_tpu.backend.kernels.channelwise import Compute, Sliding, Tile, stream
from xdsl_tpu.backend.kernels.clamp import Clamp
from xdsl_tpu.backend.kernels.int8.pool import Pooling, pooling
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, check_window
from xdsl_tpu.backend.tensor import LocalTensor, Shape4
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.tpu.enums import PoolMode

PoolOp = tpu.Pool1DOp | tpu.Pool2DOp


def pool(context: KernelContext, op: Operation) -> None:
    """Emit a pooling layer.

    Raises TpuError for windows that a command cannot describe, and for means of integers that
    have no factor.
    """
    assert isinstance(op, PoolOp)
    x, out = context.value(op.input), context.value(op.output)
    x4, out4 = x.as4(_planes(x.shape)), out.as4(_planes(out.shape))
    rows, columns = window_axes(op, x4.shape, out4.shape)
    if not x.dtype.is_float:
        layer = Sliding(x4, out4, rows, columns)
        stream(context, layer, _integers(pooling(op), context.emitter), context.memory(), where(op))
        return
    clamp = Clamp.of(op.do_relu, op.relu_limit)
    averaging = op.pool_mode.data is PoolMode.Avg
    counted = bool(op.count_include_pad.value.data)
    emitter = context.emitter

    def compute(
        tile: Tile, out: LocalTensor, x: LocalTensor, window: Window, scratch: LocalTensor
    ) -> None:
        def produce(target: LocalTensor) -> None:
            if not averaging:
                emitter.max_pool(target, x, window)
                return
            emitter.avg_pool(target, x, window, 1 / (rows.kernel * columns.kernel))
            scale_borders(emitter, target, tile.rows, rows, columns, counted, context.chip)

        clamp.apply(emitter, out, scratch, produce)

    layer = Sliding(x4, out4, rows, columns, clamp.passes)
    stream(context, layer, compute, context.memory(), where(op))


def _integers(command: Pooling, emitter: Emitter) -> Compute:
    """The pool of 8-bit integers, one command."""

    def compute(
        tile: Tile, out: LocalTensor, x: LocalTensor, window: Window, scratch: LocalTensor
    ) -> None:
        command(emitter, out, x, window)

    return compute


def scale_borders(
    emitter: Emitter,
    out: LocalTensor,
    piece: Piece,
    rows: Axis,
    columns: Axis,
    counted: bool,
    chip: Chip,
    across: Piece | None = None,
) -> None:
    """Correct averages of windows that hold fewer elements than the kernel has.

    Padding is an element when `counted`; what a window sticks out beyond that never is. The
    correction multiplies the few rectangles of `out` that are concerned; `piece` are its rows,
    `across` its columns (all of them if None).
    """
    full = rows.kernel * columns.kernel
    for y, height in _runs(rows, piece, counted):
        for x, width in _runs(columns, across or Piece(0, columns.out), counted):
            if height * width in (0, full):
                continue
            start, shape = (0, 0, y.start, x.start), (*out.shape[:2], y.size, x.size)
            part = out.window(start, shape, chip)
            emitter.arith(Arith.MUL, part, part, full / (height * width))


def _runs(axis: Axis, piece: Piece, counted: bool) -> Iterator[tuple[Piece, int]]:
    """Runs of outputs in `piece` (numbered from its start) with the same count of elements."""
    counts = [_elements(axis, piece.start + i, counted) for i in range(piece.size)]
    start = 0
    for count, members in groupby(counts):
        size = len(list(members))
        yield Piece(start, size), count
        start += size


def _elements(axis: Axis, index: int, counted: bool) -> int:
    first = index * axis.stride - axis.before
    low, high = (-axis.before, axis.size + axis.after) if counted else (0, axis.size)
    taps = (first + tap * axis.dilation for tap in range(axis.kernel))
    return sum(low <= tap < high for tap in taps)


def _planes(shape: tuple[int, ...]) -> Shape4:
    """(1, n * c, h, w); a 1-D plane is a column, and a plane that is not kept one element."""
    n, c, *spatial = (*shape, *(1,) * (4 - len(shape)))
    if len(shape) < 2 or len(spatial) != 2:
        raise TpuError(f"a tensor of shape {shape} where (n, c, h, w) is expected")
    return 1, n * c, spatial[0], spatial[1]


def window_axes(op: PoolOp, x: Shape4, out: Shape4) -> tuple[Axis, Axis]:
    """How the window slides over the rows and columns of whole tensors (n, c, h, w)."""
    kernel, strides, pads = ints(op.kernel_shape), ints(op.strides), ints(op.pads)
    if len(kernel) == 1:
        kernel, strides, pads = (*kernel, 1), (*strides, 1), (pads[0], 0, pads[1], 0)
    axes = [
        # One window needs no stride, whatever the model says.
        Axis(
            x[2 + i],
            out[2 + i],
            kernel[i],
            strides[i] if out[2 + i] > 1 else 1,
            pads[i],
            pads[2 + i],
        )
        for i in range(2)
    ]
    check_window(axes, where(op))
    return axes[0], axes[1]
