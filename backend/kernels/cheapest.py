"""Which of several ways to emit a layer takes least time, found by emitting each on its own."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.support import Cursor, KernelContext
from xdsl_tpu.backend.program import Program
from xdsl_tpu.backend.timing import simulate
from xdsl_tpu.dialects.errors import DoesNotFit

Way = Callable[[KernelContext], None]

_chosen: dict[tuple[Chip, Hashable], int] = {}


def cheapest(context: KernelContext, ways: Sequence[Way], key: Hashable) -> Way:
    """The way whose commands, with nothing before or after them, end first.

    `key` says all that the cycles depend on; what was found for it on a chip is remembered. A way
    for which local memory is too small is left out, unless it is the only one.
    """
    known = (context.chip, key)
    if known not in _chosen:
        cycles = [_cycles(context, way) for way in ways]
        _chosen[known] = min(range(len(ways)), key=lambda index: cycles[index])
    return ways[_chosen[known]]


def _cycles(context: KernelContext, way: Way) -> float:
    chip = context.chip
    program = Program(name="", chip=chip.name, quantize="")
    alone = replace(context, emitter=Emitter(chip, program), streamed=Cursor(), topmost=Cursor())
    try:
        way(alone)
    except DoesNotFit:
        return float("inf")
    alone.emitter.finish()
    return simulate(program.tiu, program.gdma, chip).total
