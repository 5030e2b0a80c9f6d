"""Channels to the end of each pixel and back, without leaving local memory."""

from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.exchange import exchange, swapped
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit

TURNED, TO_THE_END, TO_THE_FRONT = (0, 2, 1), (0, 2, 3, 1), (0, 3, 1, 2)
EXCHANGED = (0, 3, 2, 1)


def permute(context: LocalContext) -> None:
    """tpu.Permute of an image (n, c, h, w) to pixels (n, h, w, c), or back; of (n, c, h), too;
    and of lanes with columns, (n, w, h, c).

    The command exchanges lanes and columns, (c, h, w) to (w, h, c):

        to the end:     (c, h, w)  seen as    (c, w, h)  exchanged  (h, w, c)
        to the front:   (h, w, c)  exchanged  (c, w, h)  seen as    (c, h, w)

    Raises DoesNotFit for another order, and for lane groups that are not a multiple of the EU
    width.
    """
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.PermuteOp)
    order, chip = ints(op.order), context.chip
    if order not in (TURNED, TO_THE_END, TO_THE_FRONT, EXCHANGED) or x.depth > 1:
        raise DoesNotFit(f"order {list(order)} has no local kernel")
    if chip.lanes % chip.eu(x.tensor.dtype.bytes):
        raise DoesNotFit(f"{chip.lanes} lanes are no multiple of the elements in an EU width")
    source, target = x.tensor, out.tensor
    if order == TO_THE_FRONT:
        target = swapped(target)
    elif order != EXCHANGED:
        source = swapped(source)
    if order == TURNED:
        target = swapped(target)
    exchange(context, source, target)
