"""tpu.PixelNorm on slices: pixels are turned to rows, some lane groups of them at a time, and back.

    (c, pixels)  exchanged  (pixels, c)  normed  (pixels, c)  exchanged  (c, pixels)

Channels lie over the lanes, which nothing adds up. The rows are never all there, so that what
local memory does not hold twice can be cut along its pixels.
"""

import math

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels import norm
from xdsl_tpu.backend.kernels.mapping import Types
from xdsl_tpu.backend.kernels.reduction import plan_rows
from xdsl_tpu.backend.kernels.tiling import cut
from xdsl_tpu.backend.kernels.transpose import exchange
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import run
from xdsl_tpu.backend.local.row_views import shape_of
from xdsl_tpu.backend.tensor import DType, LocalTensor, aligned, aligned_bytes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import Viewed

ROWS_BYTES = 16384
"""Bytes per lane of rows from which on more at a time save nothing worth having."""


def view(op: Operation, chip: Chip) -> tuple[Viewed]:
    """N, C, .. as images of one line, whose parameters are rows."""
    images, channels, *pixels = shape_of(op)
    shape = (images, channels, 1, math.prod(pixels))
    rows = (None if is_none(value) else (1, 1, 1, channels) for value in op.operands[1:3])
    return (Viewed((shape, *rows, None, None), shape),)


def pixel_norm(context: LocalContext) -> None:
    """Emit a norm over all channels of each pixel; weight and bias are rows in every lane.

    Raises DoesNotFit where scratch memory does not hold the rows of one lane group.
    """
    op, chip, scratch = context.op, context.chip, context.scratch
    assert isinstance(op, tpu.PixelNormOp)
    x, out = (
        _in_a_line(tensor, chip) for tensor in (context.operand(0).tensor, context.out.tensor)
    )
    n, channels, _, pixels = x.shape
    row = aligned_bytes(chip, (1, 1, 1, channels), x.dtype)
    at_once = chip.lanes * max(1, ROWS_BYTES // (2 * n * row))
    given = [value.tensor for value in context.operands[1:3] if value is not None]
    types = Types(out.dtype, (x.dtype, *(value.dtype for value in given)))
    plan = plan_rows(channels, 1, chip.eu(DType.F32.bytes))
    work = norm.describe(op, types, plan, chip)
    for part in cut(pixels, at_once):
        start, shape = (0, 0, 0, part.start), (n, channels, 1, part.size)
        lanes = min(part.size, chip.lanes)
        rows = [aligned(chip, one.address, (1, lanes, 1, channels), one.dtype) for one in given]
        with scratch.temporary():
            turned, normed = (
                scratch.aligned((n, part.size, 1, channels), dtype)
                for dtype in (x.dtype, out.dtype)
            )
            exchange(context.emitter, scratch, x.window(start, shape, chip), turned)
            run(context, work, normed, [turned, *rows], whole=turned.shape, line=channels)
            exchange(context.emitter, scratch, normed, out.window(start, shape, chip))


def _in_a_line(tensor: LocalTensor, chip: Chip) -> LocalTensor:
    """A tensor with all pixels of an image in one line."""
    n, c, h, w = tensor.shape
    return aligned(chip, tensor.address, (n, c, 1, h * w), tensor.dtype)
