"""The tiles of a fused attention: what is computed of each, wherever its operands come from."""

from abc import ABC, abstractmethod
from dataclasses import replace

from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.kernels.attention_plan import (
    Heads,
    Mix,
    Problem,
    Room,
    Step,
    Tiling,
    changes_mask,
    spreads_values,
    steps,
)
from xdsl_tpu.backend.kernels.attention_products import (
    Keys,
    left_slots,
    scale_factors,
    times_keys,
    times_values,
    turn_keys,
)
from xdsl_tpu.backend.kernels.mapping import write_table
from xdsl_tpu.backend.kernels.sequences.exp import (
    EXP2_4,
    EXP2_6,
    EXP2_F32_SCRATCH,
    LOG2_E,
    exp2_f32,
)
from xdsl_tpu.backend.kernels.sequences.row_set import RowSet
from xdsl_tpu.backend.kernels.sequences.score_rows import Buffers, Running, ScoreRows
from xdsl_tpu.backend.kernels.support import LocalMemory
from xdsl_tpu.backend.kernels.tiling import Piece, cut
from xdsl_tpu.backend.tensor import (
    DType,
    LocalTensor,
    aligned,
    aligned_bytes,
    compact,
    strided,
)

F16, F32 = DType.F16, DType.F32

_LOWEST_MASK = {F16: -30000.0, F32: -1e30}
"""A sum with a score stays finite, so that rows of which everything is masked have no NaN."""


class Layer(ABC):
    """The buffers, and what is computed in each step.

    Where the tiles of queries, keys, values, mask and result lie in local memory, those say who
    bring them there.
    """

    def __init__(
        self, emitter: Emitter, memory: LocalMemory, problem: Problem, tiling: Tiling
    ) -> None:
        self.e = emitter
        self.chip = emitter.chip
        self.problem, self.tiling = problem, tiling
        self._kind, self._score, self._power = problem.dtype, problem.scores, problem.powers
        self.steps = list(steps(problem, tiling, self.chip.lanes))
        self._at = at = Room(memory, problem, tiling)
        scores, below, spare, exponents = at.scores
        self._buffers = Buffers(scores, below, spare, exponents, at.ones)
        lanes = self.chip.lanes
        self._ones_shape = (1, min(tiling.keys, problem.k.rows), 1, 1)
        self._table = compact(self.chip, at.tables[0], (1, lanes, 1, len(EXP2_4)), F16)
        self._wide_table = compact(self.chip, at.tables[1], (1, lanes, 1, len(EXP2_6)), F32)
        self._factors = scale_factors(problem.scale * LOG2_E, problem.dtype)

    @abstractmethod
    def queries(self, step: Step) -> LocalTensor:
        """The rows of a step, (1, rows, 1, heads * columns), or neighbouring rows in each lane,
        (1, lanes, groups, heads * columns); if heads come first, one of them at a time."""

    @abstractmethod
    def keys(self, step: Step) -> LocalTensor:
        """The keys of its block."""

    @abstractmethod
    def values(self, step: Step) -> LocalTensor:
        """The values of its block."""

    @abstractmethod
    def result(self, step: Step) -> LocalTensor:
        """Where the rows of a step go, as `queries`."""

    @abstractmethod
    def mask(self, step: Step) -> LocalTensor:
        """What is added to the scores of the keys that are masked: (heads or 1, rows, 1, keys). Of
        a mask that does not depend on rows the one row, in the lanes of rows or in the first."""

    def prepare(self) -> None:
        """What all steps need."""
        narrow, scores = self._power is not F32, self._buffers.scores
        if narrow:
            write_table(self.e, self._table, EXP2_4)
            ones = aligned(self.chip, self._buffers.ones, self._ones_shape, self._power)
            self.e.copy(ones, 1.0)
        if not narrow or self.tiling.keys < self.problem.k.rows:
            write_table(self.e, self._wide_table, EXP2_6)
        # Lanes without a row compute with what they have, which shall be numbers.
        shape = (1, self.chip.lanes, 1, self._at.scores_bytes[0] // self._score.bytes)
        self.e.copy(aligned(self.chip, scores, shape, self._score), 0.0)

    def heads(self, step: Step) -> Piece:
        """Its heads of queries."""
        group = self.problem.group
        return Piece(step.heads.start * group, step.heads.size * group)

    def _score_mask(self, step: Step) -> LocalTensor:
        """The mask in the type and the unit of the scores."""
        mask = self.mask(step)
        if not changes_mask(self.problem):
            return mask
        return aligned(self.chip, self._at.changed_mask, mask.shape, self._score)

    @abstractmethod
    def load(self, step: Step) -> None:
        """Bring what a step needs."""

    @abstractmethod
    def store(self, step: Step) -> None:
        """Bring away what is finished."""

    def compute(self, step: Step) -> None:
        """Scores, powers, sums."""
        if step.load_kv:
            self._spread_keys(step)
        if step.first:
            q = self.problem.q
            self._spread(self.queries(step), self._at.q_slots, q, self._factors[0])
        if self.problem.mask is not None and step.masked.size:
            self._change_mask(step)
        together = cut(self.heads(step).size, self.tiling.together)
        for number, heads in self.e.alike(list(enumerate(together))):
            self._heads(step, heads, number)

    def _change_mask(self, step: Step) -> None:
        """The mask in the type and the unit of the scores, one row of it in all lanes."""
        given, mask = self.mask(step), self._score_mask(step)
        if given.dtype is not mask.dtype:
            self.e.cast(mask, given)
            given = mask
        self.e.arith(Arith.MAX, mask, given, _LOWEST_MASK[self._score])
        self.e.arith(Arith.MUL, mask, mask, LOG2_E)
        lanes = min(self.chip.lanes, step.rows.size)
        if mask.shape[1] == 1 < lanes:
            _, _, h, w = mask.shape
            self.e.lane_broadcast(replace(mask, shape=(1, lanes, h, w)), mask)

    def _spread_keys(self, step: Step) -> None:
        p = self.problem
        self._spread(self.keys(step), self._at.k_slots, p.k, self._factors[1])
        if self._kind is F32:
            shape = (step.heads.size, step.block.size, 1, p.k.columns)
            turn_keys(self.e, self._at.turned, aligned(self.chip, self._at.k_slots, shape, F32))
        if spreads_values(p, self.tiling):
            self._spread(self.values(step), self._at.v_slots, p.v, 1.0)

    def _spread(self, tile: LocalTensor, target: int, heads: Heads, factor: float) -> None:
        """Every head's matrix by itself, on EU boundaries, times a factor."""
        here = self._by_head(tile, heads)
        make = left_slots if heads is self.problem.q else aligned
        there = make(self.chip, target, here.shape, tile.dtype)
        if factor == 1:
            self.e.copy(there, here)
        else:
            self.e.arith(Arith.MUL, there, here, factor)

    def _by_head(self, tile: LocalTensor, heads: Heads) -> LocalTensor:
        """A tile as (heads, rows, 1, columns), however heads lie; of neighbours in a lane each is
        in a lane group of its own."""
        (count, lanes, groups, width), (by_head, by_group, by_row, _) = tile.shape, tile.strides
        if not heads.head_major:
            count, by_head = width // heads.columns, heads.columns
        shape = (count, lanes * groups, 1, heads.columns)
        strides = (by_head, by_row if groups > 1 else by_group, heads.columns, 1)
        return strided(tile.address, shape, strides, tile.dtype)

    def _heads(self, step: Step, heads: Piece, number: int) -> None:
        """Some heads' rows against the keys of a step."""
        chip, e, p = self.chip, self.e, self.problem
        lanes = min(chip.lanes, step.rows.size)
        groups = -(-step.rows.size // chip.lanes)
        self._scores(step, heads)
        buffers = self._buffers
        if p.mix_scores is not None:
            buffers = buffers.exchanged()
            places = self._buffers.scores, buffers.scores
            self._mix(step, p.mix_scores, LOG2_E, places, self._score)
        grid = (lanes, heads.size * groups, step.keys.size)
        rows = ScoreRows(chip, grid, buffers, (self._score, self._power, self._kind))
        now, before = self._states(number, step)
        running = Running(
            rows.statistic(self._at.largest[now], self._score),
            rows.statistic(self._at.few[0] if not step.first else self._at.totals[now], F32),
        )
        old = None if step.first else rows.statistic(self._at.largest[before], self._score)
        table = self._table if self._power is not F32 else self._wide_table
        powers = rows.powers(e, table, running, old)
        if old is not None:
            self._rescale(rows, step, heads, (now, before), running)
        if p.mix_shares is not None:
            powers = self._mixed_shares(rows, step, powers, self._at.totals[now], p.mix_shares)
        operand = rows.operand(e, powers)
        self._values(step, heads, operand.address, now, accumulate=not step.first)
        if step.last:
            self._finish(rows, step, heads, now)

    def _mixed_shares(
        self, rows: ScoreRows, step: Step, powers: RowSet, totals: int, mix: Mix
    ) -> RowSet:
        """Powers over their sums, mixed over the heads."""
        e, chip, address = self.e, self.chip, rows.other(powers)
        inverse = wide = rows.statistic(self._at.few[1], F32)
        e.div(wide, 1.0, rows.statistic(totals, F32))
        if self._power is not F32:
            inverse = rows.statistic(self._at.few[2], self._power)
            e.cast(inverse, wide)
        shares = powers.placed(address, self._power)
        e.arith(Arith.MUL, shares.slots(chip), powers.slots(chip), powers.beside(inverse))
        self._mix(step, mix, 1.0, (address, powers.address), self._power)
        return powers

    def _mix(self, step: Step, mix: Mix, unit: float, ends: tuple[int, int], dtype: DType) -> None:
        """All heads' matrices from those at the first place to the second; `unit` is what their
        numbers are in."""
        e, heads, (source, target) = self.e, len(mix.bias), ends
        each = aligned(self.chip, source, (heads, step.rows.size, 1, step.keys.size), dtype)
        size = each.strides[0] * dtype.bytes
        shape = (1, min(self.chip.lanes, step.rows.size), 1, each.strides[0])

        def line(address: int) -> LocalTensor:
            return aligned(self.chip, address, shape, dtype)

        spare = [line(self._buffers.spare + i * size) for i in range(2)]
        for head in range(heads):
            out = line(target + head * size)
            # Sums go to and fro between two places, so that the last one is in the result's.
            steps = heads - 1 + (mix.bias[head] != 0)
            places = [out if (steps - i) % 2 == 0 else spare[1] for i in range(steps + 1)]
            e.arith(Arith.MUL, places[0], line(source), mix.weights[0][head])
            for other in range(1, heads):
                e.arith(Arith.MUL, spare[0], line(source + other * size), mix.weights[other][head])
                e.arith(Arith.ADD, places[other], places[other - 1], spare[0])
            if mix.bias[head] != 0:
                e.arith(Arith.ADD, out, places[-2], mix.bias[head] * unit)

    def _states(self, number: int, step: Step) -> tuple[int, int]:
        """Which of the running statistics and sums are written, and which are those before."""
        if len(self._at.largest) == 1:
            return 0, 0
        return 2 * number + step.slot, 2 * number + 1 - step.slot

    def _scores(self, step: Step, heads: Piece) -> None:
        """q k^T, and the mask."""
        chip, e, p = self.chip, self.e, self.problem
        out = self._score_tensor(step, heads.size)
        which, depth, kind = Keys(step.block, step.keys), p.q.columns, self._kind
        q_shape = (1, step.rows.size, 1, depth)
        q_step = left_slots(chip, 0, q_shape, kind).strides[0] * kind.bytes
        k_step = aligned(self.chip, 0, (1, step.block.size, 1, depth), kind).strides[0] * kind.bytes
        keys = self._at.k_slots
        if kind is F32:
            keys = self._at.turned
            k_step = aligned_bytes(chip, (1, depth, 1, step.block.size), F32)
        for index in self.e.alike(range(heads.size)):
            head = heads.start + index
            left, right = self._at.q_slots + head * q_step, keys + head // p.group * k_step
            target = aligned(chip, out.at(index), (1, *out.shape[1:]), out.dtype)
            times_keys(e, target, left, right, which, depth, kind)
        if p.mask is not None and step.masked.size:
            self._add_mask(step, heads, out)

    def _score_tensor(self, step: Step, heads: int) -> LocalTensor:
        shape = (heads, step.rows.size, 1, step.keys.size)
        return aligned(self.chip, self._buffers.scores, shape, self._score)

    def _add_mask(self, step: Step, heads: Piece, scores: LocalTensor) -> None:
        assert self.problem.mask is not None
        mask = self._score_mask(step)
        start = heads.start if self.problem.mask.by_head else 0
        count = heads.size if self.problem.mask.by_head else 1
        first = step.masked.start - step.keys.start
        shape = (*scores.shape[:3], step.masked.size)
        part = scores.window((0, 0, 0, first), shape, self.chip)
        by_row = mask.strides[1] if self.problem.mask.by_row else 0
        operand = strided(
            mask.at(start),
            (count, scores.shape[1], 1, step.masked.size),
            (mask.strides[0], by_row, mask.strides[2], 1),
            mask.dtype,
        )
        self.e.arith(Arith.ADD, part, part, operand)

    def _rescale(
        self,
        rows: ScoreRows,
        step: Step,
        heads: Piece,
        states: tuple[int, int],
        running: Running,
    ) -> None:
        """Bring what was summed before to the new largest score."""
        e, (now, before) = self.e, states
        change, wide, a, b = (rows.statistic(self._at.few[i], F32) for i in (1, 2, 3, 4))
        fell = wide if self._score is F32 else rows.statistic(self._at.few[1], F16)
        old = rows.statistic(self._at.largest[before], self._score)
        e.arith(Arith.SUB, fell, old, running.largest)
        if fell is not wide:
            e.cast(wide, fell)
        exponent = rows.statistic(self._at.few[5], EXP2_F32_SCRATCH[2])
        exp2_f32(e, change, wide, (a, b, exponent), self._wide_table)
        e.arith(Arith.MUL, wide, rows.statistic(self._at.totals[before], F32), change)
        e.arith(Arith.ADD, rows.statistic(self._at.totals[now], F32), wide, running.total)
        sums, new = (self._sum_tensor(self._at.sums[i], step, heads.size) for i in (before, now))
        e.arith(Arith.MUL, new, sums, self._beside(change, step, heads.size))

    def _sum_tensor(self, address: int, step: Step, heads: int) -> LocalTensor:
        shape = (heads, step.rows.size, 1, self.problem.v.columns)
        return aligned(self.chip, address, shape, F32)

    def _beside(self, statistic: LocalTensor, step: Step, heads: int) -> LocalTensor:
        """One number per row next to (heads, rows, 1, columns)."""
        groups = -(-step.rows.size // self.chip.lanes)
        shape = (heads, step.rows.size, 1, 1)
        return strided(statistic.address, shape, (groups, 1, 1, 1), statistic.dtype)

    def _values(self, step: Step, heads: Piece, powers: int, now: int, accumulate: bool) -> None:
        """Powers times values, added to the sums."""
        chip, p = self.chip, self.problem
        base = self._at.v_slots if spreads_values(p, self.tiling) else self.values(step).address
        slots = aligned(self.chip, base, (1, step.block.size, 1, p.v.columns), self._kind)
        out = self._sum_tensor(self._at.sums[now], step, heads.size)
        # Of f32 they are packed.
        left_shape = (heads.size, step.rows.size, 1, step.keys.size)
        left = left_slots(chip, powers, left_shape, self._kind)
        which = Keys(step.block, step.keys)
        for index in self.e.alike(range(heads.size)):
            head = (heads.start + index) // p.group
            right = base + head * slots.strides[0] * self._kind.bytes
            target = aligned(chip, out.at(index), (1, *out.shape[1:]), F32)
            times_values(self.e, target, left.at(index), right, which, self._kind, accumulate)

    def _finish(self, rows: ScoreRows, step: Step, heads: Piece, now: int) -> None:
        """Divide by the sums of powers, and put the heads beside each other."""
        e, p = self.e, self.problem
        sums = result = self._sum_tensor(self._at.sums[now], step, heads.size)
        if p.mix_shares is None:
            inverse = rows.statistic(self._at.few[1], F32)
            e.div(inverse, 1.0, rows.statistic(self._at.totals[now], F32))
            result = self._sum_tensor(self._at.sums[-1], step, heads.size)
            e.arith(Arith.MUL, result, sums, self._beside(inverse, step, heads.size))
        every = self._by_head(self.result(step), p.out)
        target = every.window((heads.start, 0, 0, 0), sums.shape, self.chip)
        e.convert(target, result)
