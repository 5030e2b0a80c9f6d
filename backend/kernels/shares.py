"""Which part of an op that works from DDR is a core's, when several work for it.

A kernel that can make any part of its results asks for the parts (`parts_of`), sees whether it can
do with them, and takes its own (`take`), which says that it is to be called on every core. One that
does not ask is called on the first core and makes everything.
"""

from itertools import pairwise
from typing import TypeVar

from xdsl_tpu.backend.kernels.support import KernelContext
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.tensor import ceil_div

T = TypeVar("T")


def parts_of(context: KernelContext, total: int, unit: int) -> tuple[Piece, ...]:
    """`total` results in one part for each core, in whole `unit`s but for the last; empty when
    that leaves a core without any."""
    units = ceil_div(total, unit)
    if context.cores < 2 or units < context.cores:
        return ()
    ends = [min(total, units * core // context.cores * unit) for core in range(context.cores + 1)]
    ends[-1] = total
    return tuple(Piece(a, b - a) for a, b in pairwise(ends))


def take(context: KernelContext, parts: tuple[T, ...]) -> T:
    """This core's part; the others will be asked for theirs."""
    context.is_shared = True
    return parts[context.core]
