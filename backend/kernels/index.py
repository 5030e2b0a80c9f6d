"""Rows read and written by indices that are known when the program runs, by the GDMA alone.

docs/hardware/instructions.md#other-gdma-forms. Indices are 32-bit integers in DDR, from 0 on;
lowering turns every other form of indexing into rows of a matrix.
"""

import math
from collections.abc import Iterator

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.moves import copy_whole
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, where
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.movement.transfers import LARGEST_SIZE
from xdsl_tpu.backend.tensor import DType, GlobalTensor, contiguous
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import NoKernel


def gather(context: KernelContext, op: Operation) -> None:
    """tpu.Gather: slices of a tensor along one axis.

    Raises TpuError for indices that are not i32.
    """
    assert isinstance(op, tpu.GatherOp)
    x, indices, out = (context.value(v) for v in (op.input, op.indices, op.output))
    axis = op.axis.value.data % len(x.shape)
    inner = math.prod(x.shape[axis + 1 :])
    outer, size, rows = math.prod(x.shape[:axis]), x.shape[axis], indices.elements
    index = _indices(indices, op)
    source = contiguous(x.address, (1, outer, size, inner), x.dtype)
    target = contiguous(out.address, (1, outer, rows, inner), out.dtype)
    for channels, columns in _parts(outer, inner):
        context.emitter.gather(
            _part(target, channels, columns), _part(source, channels, columns), index
        )


def scatter_rows(context: KernelContext, op: Operation) -> None:
    """tpu.ScatterND of rows: a copy of a tensor with slices of its first axis replaced.

    Raises TpuError for coordinates of more than one axis and for reductions.
    """
    assert isinstance(op, tpu.ScatterNDOp)
    x, indices, updates, out = (
        context.value(v) for v in (op.input_data, op.indices, op.updates, op.output)
    )
    if indices.shape[-1] != 1 or op.reduction.value.data:
        raise NoKernel(f"{where(op)}: only whole rows are written, and nothing else done to them")
    inner = math.prod(x.shape[1:])
    copy_whole(context, out, x)
    index = _indices(indices, op)
    source = contiguous(updates.address, (1, 1, indices.elements, inner), updates.dtype)
    target = contiguous(out.address, (1, 1, x.shape[0], inner), out.dtype)
    for channels, columns in _parts(1, inner):
        context.emitter.scatter(
            _part(target, channels, columns), _part(source, channels, columns), index
        )


def _indices(value: DdrValue, op: Operation) -> GlobalTensor:
    if value.dtype is not DType.I32:
        raise NoKernel(f"{where(op)}: indices are {value.dtype.label}, i32 expected")
    return contiguous(value.address, (1, 1, value.elements, 1), value.dtype)


def _parts(channels: int, columns: int) -> Iterator[tuple[Piece, Piece]]:
    """Channels and columns in pieces that a command's 16-bit sizes can name."""
    for c in cut(channels, LARGEST_SIZE):
        for w in cut(columns, LARGEST_SIZE):
            yield c, w


def _part(tensor: GlobalTensor, channels: Piece, columns: Piece) -> GlobalTensor:
    start, rows = (0, channels.start, 0, columns.start), tensor.shape[2]
    return tensor.window(start, (1, channels.size, rows, columns.size))
