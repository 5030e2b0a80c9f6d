"""`tpu.Resample` and `tpu.Upsample` on slices."""

from collections.abc import Iterable
from itertools import product

from xdsl_tpu.backend.kernels.elementwise import fused_relu
from xdsl_tpu.backend.kernels.tiling import Piece, cut, steps_of
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import finish
from xdsl_tpu.backend.local.resample_image import Resizing, resample_tile, scratch_shapes
from xdsl_tpu.backend.tensor import LocalTensor, Shape4, aligned_bytes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def resample(context: LocalContext) -> None:
    """Emit new rows and columns, in as large parts as the scratch memory allows."""
    op = context.op
    assert isinstance(op, tpu.ResampleOp)
    shares = context.optional(1)
    _resize(context, Resizing.of(op), None if shares is None else shares.tensor, context.out.tensor)


def upsample(context: LocalContext) -> None:
    """Emit repeated rows and columns, and the clamp."""
    op, x = context.op, context.operand(0)
    assert isinstance(op, tpu.UpsampleOp)
    sizes = (x.full.h, op.scale_h.value.data), (x.full.w, op.scale_w.value.data)
    rows, columns = (
        tuple(i for i in range(size) for _ in range(scale)) if scale > 1 else ()
        for size, scale in sizes
    )
    resizing = Resizing(rows, columns, (False, False))
    out = context.out.tensor
    finish(context, out, fused_relu(op), lambda made: _resize(context, resizing, None, made))


def _resize(
    context: LocalContext, resizing: Resizing, shares: LocalTensor | None, out: LocalTensor
) -> None:
    x = context.operand(0)
    with context.scratch.temporary():
        for image, channels, rows in _parts(context, resizing, out.shape):
            absolute = Piece(rows.start + context.out.start.h, rows.size)
            reach = resizing.reach(absolute)
            low = reach.start - x.start.h
            if low < 0 or low + reach.size > x.tensor.shape[2] or x.start.w:
                raise DoesNotFit(
                    f"rows {absolute.start} to {absolute.end} are made of rows {reach.start} to "
                    f"{reach.end}, but the slice begins at {x.start}"
                )
            count, (_, _, _, w) = channels.size, x.tensor.shape
            source = x.tensor.window(
                (image, channels.start, low, 0), (1, count, reach.size, w), context.chip
            )
            target = out.window(
                (image, channels.start, rows.start, 0),
                (1, count, rows.size, out.shape[3]),
                context.chip,
            )
            blends = resizing.tile(absolute, reach.start, shares)
            with context.scratch.temporary():
                resample_tile(context.emitter, target, source, blends, context.scratch)


def _parts(
    context: LocalContext, resizing: Resizing, out: Shape4
) -> Iterable[tuple[int, Piece, Piece]]:
    """Images, channels and rows of the result to make at a time."""
    x, chip, kind = context.operand(0), context.chip, context.out.dtype
    n, c, h, w = out

    def found() -> Iterable[tuple[int, Piece, Piece]] | None:
        for channels, rows in product(steps_of(c, chip.lanes), steps_of(h)):
            pieces = cut(h, rows)
            places = (Piece(p.start + context.out.start.h, p.size) for p in pieces)
            reach = max(resizing.reach(place).size for place in places)
            source = (1, channels, reach, x.tensor.shape[3])
            shapes = scratch_shapes(source, (1, channels, rows, w), resizing)
            if context.scratch.holds([aligned_bytes(chip, s, kind) for s in shapes]):
                return product(range(n), cut(c, channels), pieces)
        return None

    return context.scratch.enough(found, "for one row")
