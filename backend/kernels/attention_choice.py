"""Which tiling of a fused attention is done first, by the cycles of its commands."""

from collections.abc import Callable, Iterator
from functools import lru_cache

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.attention_plan import Problem, Step, Tiling, room_bytes
from xdsl_tpu.backend.kernels.attention_tiles import Layer
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.tiling import pipeline_cycles
from xdsl_tpu.backend.local.dry import DryEmitter

Make = Callable[[Emitter, LocalMemory, Problem, Tiling], Layer]
"""The tiles of an attention, with its operands in DDR or in local memory."""


HALF = 2
"""What is computed of values that stay in local memory may take this part of it."""

AS_FAST = 1.005
"""Of two tilings of such the smaller one is better unless it takes this many times as long."""


@lru_cache(maxsize=256)
def choose(problem: Problem, chip: Chip, make: Make) -> Tiling | None:
    """The tiling that should be done first; where operands stay in local memory the one that takes
    the least of it of those that are about the fastest. None when not even the smallest fits."""
    most = chip.local_bytes // HALF if problem.held else chip.local_bytes
    priced = [
        (_cycles(problem, tiling, chip, make), size, tiling)
        for tiling, size in _candidates(problem, chip)
        if size <= most
    ]
    enough = (AS_FAST if problem.held else 1) * min((one[0] for one in priced), default=0)
    fast = [one for one in priced if one[0] <= enough]
    if problem.held:
        fast.sort(key=lambda one: (one[1], one[0]))
    return fast[0][2] if fast else None


_MOST_LINES = 16
"""Rows per lane that are worth computing together: a division takes that many at once."""

_LONGEST_BLOCK = 16384


def _candidates(problem: Problem, chip: Chip) -> Iterator[tuple[Tiling, int]]:
    """Tilings, and how many bytes of a lane they need."""
    lanes, heads = chip.lanes, problem.k.heads
    rows = [n * lanes for n in (1, 2, 4, 8, 16) if (n - 1) * lanes < problem.q.rows]
    keys = [problem.k.rows]
    keys += [n for n in (8192, 4096, 2048, 1024, 512, 256, 64) if n < problem.k.rows]
    for block in keys[:1] if problem.mixes else keys:
        found = False
        for few in (n for n in range(1, heads + 1) if heads % n == 0):
            if problem.mixes and few < heads:
                continue
            for tall in rows:
                queries = few * problem.group
                for together in (n for n in range(1, queries + 1) if queries % n == 0):
                    if problem.mixes and together < queries:
                        continue
                    lines = together * tall // lanes
                    if together > 1 and lines > _MOST_LINES and not problem.mixes:
                        break
                    tiling = Tiling(few, tall, block, together)
                    size = room_bytes(problem, tiling, chip)
                    if size is not None:
                        found = True
                        yield tiling, size
        if found and block < _LONGEST_BLOCK:
            # Shorter blocks only add work.
            return


def _cycles(problem: Problem, tiling: Tiling, chip: Chip, make: Make) -> float:
    """What all steps take, by the commands of one of each kind."""
    layer = make(DryEmitter(chip), LocalMemory(chip), problem, tiling)
    known: dict[object, tuple[int, int, int]] = {}

    def dry(part: Callable[[Step], None], step: Step) -> DryEmitter:
        layer.e = emitter = DryEmitter(chip)
        part(step)
        return emitter

    def cycles(step: Step) -> tuple[int, int, int]:
        parts = step.heads, step.rows, step.block, step.keys, step.masked
        kind = step.first, step.last, step.load_kv, *(part.size for part in parts)
        if kind not in known:
            known[kind] = (
                dry(layer.load, step).gdma_cycles,
                dry(layer.compute, step).tiu_cycles,
                dry(layer.store, step).gdma_cycles,
            )
        return known[kind]

    return pipeline_cycles(map(cycles, layer.steps), len(layer.steps))
