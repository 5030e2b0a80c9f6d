"""What a fused attention consists of, and how it is cut into tiles.

Rows of queries lie on lanes, heads beside each other along the columns, as in DDR; a tile takes
some heads, rows and keys. Keys and values stay while the rows of their heads stream by.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.kernels.mapping import TABLE_BYTES
from xdsl_tpu.backend.kernels.sequences.score_rows import scores_bytes
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.tensor import (
    DType,
    GlobalTensor,
    align,
    aligned_bytes,
    ceil_div,
)
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.precision import Precision
from xdsl_tpu.dialects.records import record

RANGE_ROWS = 64
"""Rows that one entry of `ranges` stands for."""


@record(frozen=True, slots=True)
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

    def folded(self, batch: int, rows: Piece, heads: Piece, lanes: int) -> GlobalTensor:
        """As `tile`, whole lane groups of rows, neighbours in the same lane: as many rows as there
        are groups lie one behind the other, (1 or heads, lanes, groups, columns)."""
        flat = self.tile(batch, rows, heads)
        (count, _, _, width), (by_head, by_row, _, _) = flat.shape, flat.strides
        groups = rows.size // lanes
        return GlobalTensor(
            flat.address,
            (count, lanes, groups, width),
            (by_head, groups * by_row, by_row, 1),
            self.dtype,
        )


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class Mix:
    """New matrices of all heads: of[g] times weights[g][h] summed over g, plus bias[h]."""

    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]

    @classmethod
    def of(cls, numbers: Sequence[float], heads: int) -> "Mix":
        """From the attribute of the op, the bias last."""
        rows = [tuple(numbers[i : i + heads]) for i in range(0, len(numbers), heads)]
        return cls(tuple(rows[:-1]), rows[-1])


@record(frozen=True)
class Problem:
    """out[b, :, h] = softmax(scale * q[b, :, h] k[b, :, h / group]^T + mask) v[b, :, h / group].

    `ranges` say for each `RANGE_ROWS` rows which keys they see, and beyond which of them, and up
    to which, the mask is not 0: (first, last, first masked, last masked), ends excluded. Operands
    and result that are `held` lie in local memory as they are, all heads beside each other.
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
    precision: Precision = Precision.FAST
    held: bool = False

    @property
    def scores(self) -> DType:
        """Of the scores: F16 where that may be `fast`."""
        narrow = self.precision is Precision.FAST and self.dtype is DType.F16
        return DType.F16 if narrow else DType.F32

    @property
    def powers(self) -> DType:
        """Of what becomes of the scores: F16 where heads are mixed, too, whose sums would round in
        BF16."""
        if self.dtype is DType.F32 or self.precision is Precision.FULL:
            return DType.F32
        return DType.F16 if self.mixes else self.dtype

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

    def streamed(
        self, part: Heads, batch: int, rows: Piece, heads: Piece, lanes: int
    ) -> GlobalTensor:
        """A tile of queries or of the result. Which row is in which lane does not matter to
        whole lane groups unless rows differ in what they see: then rows of a lane are neighbours,
        which makes long runs of short rows."""
        differ = self.ranges or (self.mask is not None and self.mask.by_row)
        if differ or rows.size % lanes:
            return part.tile(batch, rows, heads)
        return part.folded(batch, rows, heads, lanes)

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


@record(frozen=True, slots=True)
class Tiling:
    """How many heads of keys, rows of queries and keys a tile has, and how many heads of queries
    are computed together."""

    heads: int
    rows: int
    keys: int
    together: int


@record(frozen=True, slots=True)
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


class Room:
    """Where everything lies that tiles of this size need. What transfers fill comes twice, but for
    keys and values that are loaded only once; of operands that are `held` there is nothing."""

    def __init__(self, memory: LocalMemory, problem: Problem, tiling: Tiling) -> None:
        """Raises DoesNotFit."""
        chip, queries = memory.chip, tiling.heads * problem.group
        rows, keys = min(tiling.rows, problem.q.rows), min(tiling.keys, problem.k.rows)
        groups, depth, width = ceil_div(rows, chip.lanes), problem.k.columns, problem.v.columns

        def several(count: int, size: int) -> list[int]:
            return [memory.take(size) for _ in range(count)]

        def dense(count: int, columns: int) -> int:
            return aligned_bytes(chip, (1, count, 1, columns), problem.dtype)

        def tiles(count: int, part: Heads, rows: int, some: int) -> list[int]:
            shape = part.tile(0, Piece(0, rows), Piece(0, some)).shape
            return several(count, 0 if problem.held else aligned_bytes(chip, shape, part.dtype))

        online = tiling.keys < problem.k.rows
        once = problem.k.heads <= tiling.heads and problem.q.batches == 1 and not online
        self.q = tiles(2, problem.q, rows, queries)
        self.out = tiles(2, problem.out, rows, queries)
        self.mask = several(2, 0 if problem.held else mask_bytes(problem, tiling, chip))
        self.k, self.v = (
            tiles(1 if once else 2, part, keys, tiling.heads) for part in (problem.k, problem.v)
        )
        self.q_slots = memory.take(queries * dense(rows, depth))
        self.k_slots = memory.take(tiling.heads * dense(keys, depth))
        spread = tiling.heads * dense(keys, width) if spreads_values(problem, tiling) else 0
        self.v_slots = memory.take(spread)
        lines = tiling.together * groups
        states = 2 * ceil_div(queries, tiling.together) if online else 1
        statistic = align(lines * DType.F32.bytes, chip.eu_bytes)
        sums = lines * align(width * DType.F32.bytes, chip.eu_bytes)
        self.sums = several(states + 1, sums)
        self.largest, self.totals = several(states, statistic), several(states, statistic)
        self.few = several(6, statistic)
        self.ones = memory.take(aligned_bytes(chip, (1, keys, 1, 1), DType.F16))
        self.scores_bytes = scores_bytes(chip, lines, keys, problem.scores, problem.powers)
        self.scores = [memory.take(size) for size in self.scores_bytes]
        f32 = problem.dtype is DType.F32
        turned = aligned_bytes(chip, (tiling.heads, depth, 1, keys), DType.F32)
        self.turned = memory.take(turned if f32 else 0)
        changed = mask_bytes(problem, tiling, chip, problem.scores) if changes_mask(problem) else 0
        self.changed_mask = memory.take(changed)
        self.tables = several(2, TABLE_BYTES)


def room_bytes(problem: Problem, tiling: Tiling, chip: Chip) -> int | None:
    """Bytes of a lane that a tiling needs; None where there are not so many."""
    memory = LocalMemory(chip)
    try:
        Room(memory, problem, tiling)
    except DoesNotFit:
        return None
    return memory.next


def spreads_values(problem: Problem, tiling: Tiling) -> bool:
    """Whether matrices of values must be copied to be operands."""
    beside = problem.v.heads if problem.held else tiling.heads
    return beside > 1 and not problem.v.head_major


def changes_mask(problem: Problem) -> bool:
    """Whether what is made of the mask lies elsewhere: in another type, or because others read it
    where it is."""
    mask = problem.mask
    return mask is not None and (problem.held or mask.dtype is not problem.scores)


def mask_bytes(problem: Problem, tiling: Tiling, chip: Chip, dtype: DType | None = None) -> int:
    """Bytes per lane of a tile of the mask, by default in its own type."""
    if problem.mask is None:
        return 0
    heads = tiling.heads * problem.group if problem.mask.by_head else 1
    rows = min(tiling.rows, problem.q.rows) if problem.mask.by_row else 1
    keys = min(tiling.keys, problem.k.rows)
    return aligned_bytes(chip, (heads, rows, 1, keys), dtype or problem.mask.dtype)
