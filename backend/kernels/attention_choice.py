"""Which tiling of a fused attention is done first."""

from collections.abc import Iterator
from functools import lru_cache

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.attention_plan import Problem, Step, Tiling, room_bytes, steps
from xdsl_tpu.backend.kernels.sequences.score_rows import scores_cycles
from xdsl_tpu.backend.kernels.tiling import Piece, pipeline_cycles
from xdsl_tpu.backend.kernels.transfer import load_cycles, store_cycles
from xdsl_tpu.backend.tensor import DType, GlobalTensor, aligned, ceil_div


def choose(problem: Problem, chip: Chip) -> Tiling | None:
    """The tiling that should be done first; None when not even the smallest fits."""
    priced = [(estimate(problem, one, chip), one) for one in _candidates(problem, chip)]
    return min(priced, key=lambda pair: pair[0], default=(0, None))[1]


HALF = 2
"""What is computed of values that stay in local memory may take this part of it."""

AS_FAST = 1.02
"""Of two tilings the smaller one is better unless it takes this many times as long."""


@lru_cache(maxsize=256)
def choose_small(problem: Problem, chip: Chip) -> Tiling | None:
    """The tiling that takes the least memory of those that are about the fastest; None when no
    tiling fits what operands leave of local memory."""
    priced: list[tuple[float, int, Tiling]] = []
    for tiling in _candidates(problem, chip):
        size = room_bytes(problem, tiling, chip)
        if size is not None and HALF * size <= chip.local_bytes:
            priced.append((estimate(problem, tiling, chip), size, tiling))
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


_MOST_STEPS = 64


def estimate(problem: Problem, tiling: Tiling, chip: Chip) -> float:
    """Cycles of all tiles, by the costs of the first ones."""
    every = list(steps(problem, tiling, chip.lanes))
    per = ceil_div(len(every), problem.q.batches * ceil_div(problem.k.heads, tiling.heads))
    some = every[: max(_MOST_STEPS, min(per, 4 * _MOST_STEPS))]
    costs = [_cost(problem, tiling, step, chip) for step in some]
    return pipeline_cycles(costs, len(every))


def _cost(problem: Problem, tiling: Tiling, step: Step, chip: Chip) -> tuple[int, int, int]:
    queries = Piece(step.heads.start * problem.group, step.heads.size * problem.group)
    place = step.batch, step.rows, queries, chip.lanes
    if problem.held:
        return 0, _compute(problem, tiling, step, chip), 0
    load = _load(problem.streamed(problem.q, *place), chip) if step.first else 0
    if step.load_kv:
        load += _load(problem.k.tile(step.batch, step.block, step.heads), chip)
        load += _load(problem.v.tile(step.batch, step.block, step.heads), chip)
    if problem.mask is not None and step.masked.size:
        load += _load(problem.mask.tile(step.batch, queries, step.rows, step.masked), chip)
    target = problem.streamed(problem.out, *place)
    local = aligned(chip, 0, target.shape, target.dtype)
    store = store_cycles(target, local, chip) if step.last else 0
    return load, _compute(problem, tiling, step, chip), store


def _load(source: GlobalTensor, chip: Chip) -> int:
    return load_cycles(aligned(chip, 0, source.shape, source.dtype), source, chip)


def _compute(problem: Problem, tiling: Tiling, step: Step, chip: Chip) -> int:
    size = problem.dtype.bytes
    groups = ceil_div(step.rows.size, chip.lanes)
    queries = step.heads.size * problem.group
    outputs, channels = chip.cube_outputs[size], chip.cube_channels[size]
    depth, width, keys = problem.k.columns, problem.v.columns, step.keys.size
    product = ceil_div(keys, outputs) * ceil_div(depth, channels)
    product += ceil_div(width, outputs) * ceil_div(keys, channels)
    total = queries * groups * product
    lines = tiling.together * groups
    masked = step.masked.size if problem.mask else 0
    per = scores_cycles(chip, lines, keys, masked, problem.scores, problem.powers)
    mixes = (problem.mix_scores, problem.scores), (problem.mix_shares, problem.powers)
    for mix, dtype in mixes:
        if mix is not None:
            per += 2 * queries * lines * ceil_div(keys, chip.eu(dtype.bytes))
    per += lines * 8 * ceil_div(width, chip.eu(DType.F32.bytes)) // 2
    total += ceil_div(queries, tiling.together) * per
    if step.load_kv:
        total += 2 * ceil_div(step.block.size, chip.lanes) * step.heads.size * ceil_div(depth, 32)
    return total + (queries * groups * ceil_div(depth, 32) if step.first else 0)
