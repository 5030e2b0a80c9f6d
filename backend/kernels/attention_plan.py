"""What a fused attention consists of, and how it is cut into tiles.

Rows of queries lie on lanes, heads beside each other along the columns, as in DDR; a tile takes
some heads, rows and keys. Keys and values stay while the rows of their heads stream by.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.sequences.score_rows import scores_bytes, scores_cycles
from xdsl_tpu.backend.kernels.tiling import Piece, cut, pipeline_cycles
from xdsl_tpu.backend.kernels.transfer import load_cycles, store_cycles
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    align,
    aligned,
    aligned_bytes,
    ceil_div,
)

RANGE_ROWS = 64
"""Rows that one entry of `ranges` stands for."""


@dataclass(frozen=True, slots=True)
class Heads:
    """Matrices [batches, rows, heads, columns], dense in DDR; [batches, heads, rows, columns] if
    `head_major`."""

    address: int
    dtype: DType
    batches: int
    rows: int
    heads: int
    columns: int
    head_major: bool = False

    def tile(self, batch: int, rows: Piece, heads: Piece) -> GlobalTensor:
        """Some rows of some heads, (1, rows, 1, heads * columns), or (heads, rows, 1, columns)."""
        size = self.columns
        by_row, by_head = (size, self.rows * size) if self.head_major else (self.heads * size, size)
        start = batch * self.heads * self.rows * size + rows.start * by_row + heads.start * by_head
        shape, strides = (heads.size, rows.size, 1, size), (by_head, by_row, size, 1)
        if not self.head_major:
            width = heads.size * size
            shape, strides = (1, rows.size, 1, width), (self.rows * by_row, by_row, width, 1)
        return GlobalTensor(self.address + start * self.dtype.bytes, shape, strides, self.dtype)


@dataclass(frozen=True, slots=True)
class Mask:
    """Numbers added to the scores; a stride of 0 repeats them over batches, heads or rows."""

    address: int
    dtype: DType
    by_batch: int
    by_head: int
    by_row: int

    def tile(self, batch: int, heads: Piece, rows: Piece, keys: Piece) -> GlobalTensor:
        """(heads or 1, rows or 1, 1, keys) of it."""
        start = batch * self.by_batch + heads.start * self.by_head
        start += rows.start * self.by_row + keys.start
        shape = (
            heads.size if self.by_head else 1,
            rows.size if self.by_row else 1,
            1,
            keys.size,
        )
        strides = (self.by_head, self.by_row, keys.size, 1)
        return GlobalTensor(self.address + start * self.dtype.bytes, shape, strides, self.dtype)


@dataclass(frozen=True, slots=True)
class Mix:
    """New matrices of all heads: of[g] times weights[g][h] summed over g, plus bias[h]."""

    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]

    @classmethod
    def of(cls, numbers: Sequence[float], heads: int) -> "Mix":
        """From the attribute of the op, the bias last."""
        rows = [tuple(numbers[i : i + heads]) for i in range(0, len(numbers), heads)]
        return cls(tuple(rows[:-1]), rows[-1])


@dataclass(frozen=True)
class Problem:
    """out[b, :, h] = softmax(scale * q[b, :, h] k[b, :, h / group]^T + mask) v[b, :, h / group].

    `ranges` say for each `RANGE_ROWS` rows which keys they see, and beyond which of them, and up
    to which, the mask is not 0: (first, last, first masked, last masked), ends excluded.
    """

    q: Heads
    k: Heads
    v: Heads
    out: Heads
    scale: float
    mask: Mask | None = None
    ranges: tuple[tuple[int, int, int, int], ...] = ()
    mix_scores: Mix | None = None
    mix_shares: Mix | None = None

    @property
    def mixes(self) -> bool:
        """Whether heads are mixed, so that all of them are needed at once."""
        return self.mix_scores is not None or self.mix_shares is not None

    @property
    def group(self) -> int:
        """Heads of queries for each of keys."""
        return self.q.heads // self.k.heads

    @cached_property
    def dtype(self) -> DType:
        """Of operands and result."""
        return self.q.dtype

    def seen(self, rows: Piece, lanes: int) -> tuple[Piece, Piece]:
        """The keys that rows see, from the start of a lane group on, and those to be masked."""
        if not self.ranges:
            whole = Piece(0, self.k.rows)
            return whole, whole if self.mask is not None else Piece(0, 0)
        blocks = self.ranges[rows.start // RANGE_ROWS : ceil_div(rows.end, RANGE_ROWS)]
        first = min(block[0] for block in blocks) // lanes * lanes
        last = max(block[1] for block in blocks)
        starts = [block[2] for block in blocks if block[2] < block[3]]
        # Where one block of rows sees no further, the keys that others see are masked for it.
        starts += [block[1] for block in blocks if block[1] < last]
        ends = [block[3] for block in blocks if block[2] < block[3]]
        ends += [last for block in blocks if block[1] < last]
        if any(block[0] > first for block in blocks):
            starts, ends = [first], [*ends, max(block[0] for block in blocks)]
        if not starts:
            return Piece(first, last - first), Piece(first, 0)
        begin = max(first, min(starts))
        return Piece(first, last - first), Piece(begin, min(max(ends), last) - begin)


@dataclass(frozen=True, slots=True)
class Tiling:
    """How many heads of keys, rows of queries and keys a tile has, and how many heads of queries
    are computed together."""

    heads: int
    rows: int
    keys: int
    together: int


@dataclass(frozen=True, slots=True)
class Step:
    """One tile: which rows meet which keys, what to load for that, and into which buffers.

    `block` are the keys that are loaded, `keys` those of them that the rows see, `masked` those
    that the mask changes.
    """

    batch: int
    heads: Piece
    rows: Piece
    block: Piece
    keys: Piece
    masked: Piece
    first: bool
    last: bool
    load_kv: bool
    q_slot: int
    kv_slot: int
    slot: int


def steps(problem: Problem, tiling: Tiling, lanes: int) -> Iterator[Step]:
    """All tiles in order."""
    tile = count = loads = 0
    for batch in range(problem.q.batches):
        for heads in cut(problem.k.heads, tiling.heads):
            loaded: Piece | None = None
            for rows in cut(problem.q.rows, tiling.rows):
                seen, masked = problem.seen(rows, lanes)
                blocks = [
                    (block, common(block, seen))
                    for block in cut(problem.k.rows, tiling.keys)
                    if common(block, seen).size
                ]
                for index, (block, keys) in enumerate(blocks):
                    load = block != loaded
                    loaded = block
                    loads += load
                    yield Step(
                        batch,
                        heads,
                        rows,
                        block,
                        keys,
                        common(keys, masked),
                        index == 0,
                        index == len(blocks) - 1,
                        load,
                        tile % 2,
                        (loads - 1) % 2,
                        count % 2,
                    )
                    count += 1
                tile += 1


def common(a: Piece, b: Piece) -> Piece:
    """What two pieces share."""
    start = max(a.start, b.start)
    return Piece(start, max(0, min(a.end, b.end) - start))


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes per lane of each buffer. Those that transfers fill come twice, but for keys and values
    that are loaded only once."""

    q: int
    k: int
    v: int
    mask: int
    out: int
    q_slots: int
    k_slots: int
    v_slots: int
    sums: int
    statistics: int
    ones: int
    scores: tuple[int, ...]
    kv_buffers: int
    sum_buffers: int

    @classmethod
    def of(cls, problem: Problem, tiling: Tiling, chip: Chip) -> "Sizes":
        """For tiles of this size."""
        size, queries = problem.dtype.bytes, tiling.heads * problem.group
        rows, keys = min(tiling.rows, problem.q.rows), min(tiling.keys, problem.k.rows)
        groups = ceil_div(rows, chip.lanes)

        def dense(count: int, columns: int) -> int:
            return ceil_div(count, chip.lanes) * align(columns * size, chip.eu_bytes)

        def tile(part: Heads, count: int, some: int) -> int:
            return aligned_bytes(
                chip, part.tile(0, Piece(0, count), Piece(0, some)).shape, part.dtype
            )

        depth, width = problem.k.columns, problem.v.columns
        chunks = ceil_div(queries, tiling.together)
        lines = tiling.together * groups
        online = tiling.keys < problem.k.rows
        once = problem.k.heads <= tiling.heads and problem.q.batches == 1 and not online
        statistic = align(lines * DType.F32.bytes, chip.eu_bytes)
        return cls(
            tile(problem.q, rows, queries),
            tile(problem.k, keys, tiling.heads),
            tile(problem.v, keys, tiling.heads),
            mask_bytes(problem, tiling, chip),
            tile(problem.out, rows, queries),
            queries * dense(rows, depth),
            tiling.heads * dense(keys, depth),
            tiling.heads * dense(keys, width) if spreads_values(problem, tiling) else 0,
            lines * align(width * DType.F32.bytes, chip.eu_bytes),
            statistic,
            aligned_bytes(chip, (1, keys, 1, 1), problem.dtype),
            scores_bytes(chip, lines, keys),
            1 if once else 2,
            2 * chunks if online else 1,
        )

    @property
    def total(self) -> int:
        """All of it; the sums and a copy of them, and the statistics of online rows."""
        moving = 2 * (self.q + self.mask + self.out) + self.kv_buffers * (self.k + self.v)
        slots = self.q_slots + self.k_slots + self.v_slots
        sums = (self.sum_buffers + 1) * self.sums
        rows = (2 * self.sum_buffers + 8) * self.statistics
        return moving + slots + sums + rows + self.ones + sum(self.scores) + _SLACK


def spreads_values(problem: Problem, tiling: Tiling) -> bool:
    """Whether matrices of values must be copied to be operands."""
    return tiling.heads > 1 and not problem.v.head_major


_SLACK = 2048
"""Tables, and what is lost between buffers."""


def mask_bytes(problem: Problem, tiling: Tiling, chip: Chip) -> int:
    """Bytes per lane of a tile of the mask."""
    if problem.mask is None:
        return 0
    heads = tiling.heads * problem.group if problem.mask.by_head else 1
    rows = min(tiling.rows, problem.q.rows) if problem.mask.by_row else 1
    keys = min(tiling.keys, problem.k.rows)
    return aligned_bytes(chip, (heads, rows, 1, keys), problem.mask.dtype)


def choose(problem: Problem, chip: Chip) -> Tiling | None:
    """The tiling that should be done first; None when not even the smallest fits."""
    best: tuple[float, Tiling] | None = None
    for tiling in _candidates(problem, chip):
        if Sizes.of(problem, tiling, chip).total > chip.local_bytes:
            continue
        cycles = estimate(problem, tiling, chip)
        if best is None or cycles < best[0]:
            best = (cycles, tiling)
    return None if best is None else best[1]


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
                    if Sizes.of(problem, tiling, chip).total <= chip.local_bytes:
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
    load = _load(problem.q.tile(step.batch, step.rows, queries), chip) if step.first else 0
    if step.load_kv:
        load += _load(problem.k.tile(step.batch, step.block, step.heads), chip)
        load += _load(problem.v.tile(step.batch, step.block, step.heads), chip)
    if problem.mask is not None and step.masked.size:
        load += _load(problem.mask.tile(step.batch, queries, step.rows, step.masked), chip)
    target = problem.out.tile(step.batch, step.rows, queries)
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
    per = scores_cycles(chip, lines, keys, step.masked.size if problem.mask else 0)
    for mix in (problem.mix_scores, problem.mix_shares):
        if mix is not None:
            per += 2 * queries * lines * ceil_div(keys, chip.eu(size))
    per += lines * 8 * ceil_div(width, chip.eu(DType.F32.bytes)) // 2
    total += ceil_div(queries, tiling.together) * per
    if step.load_kv:
        total += 2 * ceil_div(step.block.size, chip.lanes) * step.heads.size * ceil_div(depth, 32)
    return total + (queries * groups * ceil_div(depth, 32) if step.first else 0)
