"""Images with something around them, made within the lanes."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


class _Run(NamedTuple):
    """Neighbours of the result, `size` from `to` on, that are those of the operand from `at` on."""

    to: int
    at: int
    size: int


def pad(context: LocalContext) -> None:
    """tpu.Pad of the rows and columns of images: a copy for each run of both that stay neighbours.

    Raises DoesNotFit for a slice that does not hold what the result reads.
    """
    op, x, out, chip = context.op, context.operand(0), context.out, context.chip
    assert isinstance(op, tpu.PadOp)
    n, c, h, w = out.tensor.shape
    rows = op.sources("h", out.start.h, h)
    columns = op.sources("w", out.start.w, w)
    if x.depth > 1 or x.tensor.shape[:2] != (n, c):
        raise DoesNotFit(
            f"something around {x.full} in {out.full} is no matter of rows and columns"
        )
    if None in (*rows, *columns):
        context.emitter.copy(out.tensor, op.val.value.data)
    for down in _runs(rows, x.start.h, x.tensor.shape[2]):
        for across in _runs(columns, x.start.w, x.tensor.shape[3]):
            shape = (n, c, down.size, across.size)
            target = out.tensor.window((0, 0, down.to, across.to), shape, chip)
            source = x.tensor.window((0, 0, down.at, across.at), shape, chip)
            context.emitter.copy(settled(target, chip), settled(source, chip))


def _runs(sources: Sequence[int | None], first: int, size: int) -> Iterator[_Run]:
    """Neighbours that follow each other in the slice of the operand, which begins at `first`."""
    to = 0
    while to < len(sources):
        at, count = sources[to], 1
        if at is None:
            to += 1
            continue
        while to + count < len(sources) and sources[to + count] == at + count:
            count += 1
        if at < first or at + count > first + size:
            raise DoesNotFit(f"{at} to {at + count} are read, but the slice begins at {first}")
        yield _Run(to, at - first, count)
        to += count
