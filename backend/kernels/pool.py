"""Windows of `tpu.Pool1D` and `tpu.Pool2D`, and means of those that are not full.

docs/hardware/instructions.md#spord.
"""

from collections.abc import Iterator
from itertools import groupby

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.support import where
from xdsl_tpu.backend.kernels.tiling import Axis, Piece, check_window
from xdsl_tpu.backend.tensor import LocalTensor, Shape4
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints

PoolOp = tpu.Pool1DOp | tpu.Pool2DOp


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
