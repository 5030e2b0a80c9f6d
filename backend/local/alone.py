"""An op by itself, from DDR to DDR: its kernel works on a slice while others are moved.

How the result may be cut, and what a slice needs of the operands, the op says itself (`LocalGen`),
as it does for groups. Cuts are compared by the cycles of the commands that they would issue.
"""

from collections.abc import Callable

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.shares import parts_of, take
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalKernel
from xdsl_tpu.backend.local.cut_search import chosen
from xdsl_tpu.backend.local.cuts import KIND, cut_into
from xdsl_tpu.backend.local.problem import Problem, View, addresses_of, as_it_stands
from xdsl_tpu.backend.local.slices import Slices
from xdsl_tpu.backend.tile.emit import issue
from xdsl_tpu.backend.tile.verify import check
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.lane_view import Viewed


def in_slices(
    kernel: LocalKernel, view: View = as_it_stands
) -> Callable[[KernelContext, Operation], None]:
    """The kernel of an op by itself, made of the one that it has on slices.

    `view` gives shapes that lie better in the lanes than the op's own.
    """

    def alone(context: KernelContext, op: Operation) -> None:
        for seen in view(op, context.chip):
            _part(context, op, kernel, seen)

    return alone


def _part(context: KernelContext, op: Operation, kernel: LocalKernel, view: Viewed) -> None:
    """All slices of one view; where there are too few for all cores, they are the first one's."""
    chip = context.chip
    problem = Problem.of(op, view, kernel)
    steps, by_channel = chosen(problem, chip, context.cores)
    if not steps:
        raise DoesNotFit(f"{where(op)}: local memory is too small for the smallest slice of it")
    seen = problem.op(addresses_of(op, view))
    found = cut_into(seen, steps, by_channel, chip)
    assert found is not None
    slices = Slices(seen, kernel, found, chip)
    count = len(slices.places)
    parts = parts_of(context, count, 1)
    if not parts and context.core:
        return
    programs = tuple(
        slices.program(core, part) for core, part in enumerate(parts or (Piece(0, count),))
    )
    check(programs, chip)
    for step in (take(context, programs) if parts else programs[0]).steps:
        issue(context.emitter, KIND, step)
