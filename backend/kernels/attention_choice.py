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


@lru_cache(maxsize=256)
def choose(problem: Problem, chip: Chip, make: Make) -> Tiling | None:
    """The tiling that should be done first; None when not even the smallest fits."""
    priced = [(_cycles(problem, one, chip, make), one) for one in _candidates(problem, chip)]
    return min(priced, key=lambda pair: pair[0], default=(0, None))[1]


HALF = 2
"""What is computed of values that stay in local memory may take this part of it."""

AS_FAST = 1.005
"""Of two tilings the smaller one is better unless it takes this many times as long."""


@lru_cache(maxsize=256)
def choose_small(problem: Problem, chip: Chip, make: Make) -> Tiling | None:
    """The tiling that takes the least memory of those that are about the fastest; None when no
    tiling fits what operands leave of local memory."""
    priced: list[tuple[float, int, Tiling]] = []
    for tiling in _candidates(problem, chip):
        size = room_bytes(problem, tiling, chip)
        if size is not None and HALF * size <= chip.local_bytes:
            priced.append((_cycles(problem, tiling, chip, make), size, tiling))
    if not priced:
        return None
    enough = AS_FAST * min(cycles for cycles, *_ in priced)
    fast = [(size, cycles, tiling) for cycles, size, tiling in priced if cycles <= enough]
    return min(fast, key=lambda one: one[:2])[2]


_MOST_LINES = 16
"""Rows per lane that are worth computing together: a division takes that many at once."""

_LONGEST_BLOCK = 16384


def _candidates(problem: Problem, chip: Chip) -> Iterator[Tiling]:
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
                    if room_bytes(problem, tiling, chip) is not None:
                        found = True
                        yield tiling
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
