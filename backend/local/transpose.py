"""Channels to the end of each pixel and back, without leaving local memory."""

from collections.abc import Iterator

from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.tensor import LocalTensor, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit

TO_THE_END, TO_THE_FRONT = (0, 2, 3, 1), (0, 3, 1, 2)


def permute(context: LocalContext) -> None:
    """tpu.Permute of (n, c, h, w) to (n, h, w, c), or back.

    The command exchanges lanes and columns, (c, h, w) to (w, h, c), for one lane group of each:

        to the end:     (c, h, w)  copied as  (c, w, h)  exchanged  (h, w, c)
        to the front:   (h, w, c)  exchanged  (c, w, h)  copied as  (c, h, w)

    Raises TpuError for another order, and for lane groups that are not a multiple of the EU width.
    """
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.PermuteOp)
    order = ints(op.order)
    if order not in (TO_THE_END, TO_THE_FRONT) or x.depth > 1:
        raise DoesNotFit(f"order {list(order)} has no local kernel")
    chip = context.chip
    if chip.lanes % chip.eu(x.tensor.dtype.bytes):
        raise DoesNotFit(f"{chip.lanes} lanes are no multiple of the elements in an EU width")
    one = _to_the_end if order == TO_THE_END else _to_the_front
    for n in range(x.tensor.shape[0]):
        one(context, out.tensor, x.tensor, n)


def _to_the_end(context: LocalContext, out: LocalTensor, x: LocalTensor, n: int) -> None:
    chip, scratch = context.chip, context.scratch
    _, channels, height, width = x.shape
    for c, count, y, rows in _parts(context, channels, height):
        before = scratch.aligned((1, count, width, rows), x.dtype)
        part = x.window((n, c, y, 0), (1, count, rows, width), chip)
        context.emitter.copy(before, _swapped(part))
        after = scratch.aligned((1, rows, width, count), x.dtype)
        context.emitter.transpose_cw(after, before)
        target = out.window((n, y, 0, c), after.shape, chip)
        context.emitter.copy(target, after)


def _to_the_front(context: LocalContext, out: LocalTensor, x: LocalTensor, n: int) -> None:
    chip, scratch = context.chip, context.scratch
    _, height, width, channels = x.shape
    for c, count, y, rows in _parts(context, channels, height):
        before = scratch.aligned((1, rows, width, count), x.dtype)
        part = x.window((n, y, 0, c), before.shape, chip)
        context.emitter.copy(before, part)
        after = scratch.aligned((1, count, width, rows), x.dtype)
        context.emitter.transpose_cw(after, before)
        target = out.window((n, c, y, 0), (1, count, rows, width), chip)
        context.emitter.copy(target, _swapped(after))


def _parts(
    context: LocalContext, channels: int, height: int
) -> Iterator[tuple[int, int, int, int]]:
    """First channel and number of channels, first row and number of rows of what one command
    exchanges, each with room of its own for temporary tensors."""
    lanes = context.chip.lanes
    for c in range(0, channels, lanes):
        for y in range(0, height, lanes):
            with context.scratch.temporary():
                yield c, min(lanes, channels - c), y, min(lanes, height - y)


def _swapped(tensor: LocalTensor) -> LocalTensor:
    """Rows as columns and columns as rows."""
    n, c, h, w = tensor.shape
    sn, sc, sh, sw = tensor.strides
    return strided(tensor.address, (n, c, w, h), (sn, sc, sw, sh), tensor.dtype)
