"""Attention as one layer: scores stay in local memory, whatever their number."""

from dataclasses import replace

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.attention_choice import choose
from xdsl_tpu.backend.kernels.attention_plan import (
    Heads,
    Mask,
    Mix,
    Problem,
    Step,
)
from xdsl_tpu.backend.kernels.attention_tiles import Layer
from xdsl_tpu.backend.kernels.support import (
    DdrValue,
    KernelContext,
    LocalMemory,
    pipelined,
    where,
)
from xdsl_tpu.backend.kernels.transfer import fetch, put
from xdsl_tpu.backend.tensor import (
    GlobalTensor,
    LocalTensor,
    Shape4,
    aligned,
    contiguous_strides,
)
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats, ints
from xdsl_tpu.dialects.errors import DoesNotFit, TpuError
from xdsl_tpu.dialects.precision import precision_of


def attention(context: KernelContext, op: Operation) -> None:
    """tpu.FAttention: softmax(scale q k^T + mask) v for all batches and heads.

    Raises DoesNotFit when not even one row of 64 keys fits local memory.
    """
    assert isinstance(op, tpu.FAttentionOp)
    problem = describe(context, op)
    tiling = choose(problem, context.chip, _Streamed)
    if tiling is None:
        raise DoesNotFit(
            f"{where(op)}: one row of queries and 64 keys of {problem.k.columns} elements do not "
            f"fit the local memory of {context.chip.name}"
        )
    layer = _Streamed(context.emitter, LocalMemory(context.chip), problem, tiling)
    layer.prepare()
    pipelined(
        layer.steps,
        lambda step, _: layer.load(step),
        lambda step, _: layer.compute(step),
        lambda step, _: layer.store(step),
    )


def describe(context: KernelContext, op: "tpu.FAttentionOp") -> Problem:
    """The op's operands as matrices side by side."""
    q, k, v, out = (context.value(o) for o in (op.queries, op.keys, op.values, op.output))
    batch, rows, keys = (a.value.data for a in (op.batch, op.mq, op.mk))
    heads, kv_heads, depth = (a.value.data for a in (op.q_head, op.kv_head, op.dim))
    width = v.elements // (batch * keys * kv_heads)
    mask = context.optional(op.mask)
    major = (0,) * 4 if op.head_major is None else ints(op.head_major)
    turned = [bool(flag) for flag in major]
    problem = Problem(
        Heads(q.address, q.dtype, batch, rows, heads, depth, turned[0]),
        Heads(k.address, k.dtype, batch, keys, kv_heads, depth, turned[1]),
        Heads(v.address, v.dtype, batch, keys, kv_heads, width, turned[2]),
        Heads(out.address, out.dtype, batch, rows, heads, width, turned[3]),
        op.scale.value.data,
        None if mask is None else _mask(mask, (batch, heads, rows, keys), op),
        ranges_of(op),
        *mixes_of(op),
        precision=precision_of(op),
    )
    return _stacked(problem)


def ranges_of(op: "tpu.FAttentionOp") -> tuple[tuple[int, int, int, int], ...]:
    """Which keys rows see, of each `RANGE_ROWS` of them."""
    ranges = () if op.key_ranges is None else ints(op.key_ranges)
    return tuple((a, b, c, d) for a, b, c, d in zip(*(ranges[i::4] for i in range(4)), strict=True))


def mixes_of(op: "tpu.FAttentionOp") -> tuple[Mix | None, Mix | None]:
    """How heads are mixed in front of the softmax and behind it."""
    heads = op.q_head.value.data
    scores, shares = (
        None if numbers is None else Mix.of(floats(numbers), heads)
        for numbers in (op.mix_scores, op.mix_shares)
    )
    return scores, shares


def _stacked(problem: Problem) -> Problem:
    """One row of queries for each head: heads that share keys are the rows of one matrix."""
    q, mask = problem.q, problem.mask
    if q.rows > 1 or problem.group == 1 or problem.mixes or (mask is not None and mask.by_head):
        return problem

    def rows(heads: Heads) -> Heads:
        return replace(heads, rows=problem.group, heads=problem.k.heads, head_major=True)

    return replace(problem, q=rows(q), out=rows(problem.out), ranges=())


def _mask(value: DdrValue, full: Shape4, op: "tpu.FAttentionOp") -> Mask:
    shape = (1,) * (4 - len(value.shape)) + value.shape
    if op.has_mask_by_row:
        shape = (shape[0], shape[2], shape[1], shape[3])
    if shape[3] != full[3] or any(n not in (1, m) for n, m in zip(shape, full, strict=True)):
        raise TpuError(f"{where(op)}: a mask of shape {value.shape} does not spread over {full}")
    by = [0 if n == 1 else s for n, s in zip(shape, contiguous_strides(shape), strict=True)]
    return Mask(value.address, value.dtype, by[0], by[1], by[2])


class _Streamed(Layer):
    """Tiles that come from DDR and go there: a step is loaded while the one before is computed."""

    def queries(self, step: Step) -> LocalTensor:
        return self._dense(self._at.q[step.q_slot], self._rows(self.problem.q, step))

    def keys(self, step: Step) -> LocalTensor:
        source = self.problem.k.tile(step.batch, step.block, step.heads)
        return self._dense(self._at.k[step.kv_slot], source)

    def values(self, step: Step) -> LocalTensor:
        source = self.problem.v.tile(step.batch, step.block, step.heads)
        return self._dense(self._at.v[step.kv_slot], source)

    def result(self, step: Step) -> LocalTensor:
        return self._dense(self._at.out[step.q_slot], self._rows(self.problem.out, step))

    def mask(self, step: Step) -> LocalTensor:
        source, by_row = self._masked(step)
        heads, rows, _, keys = source.shape
        rows = rows if by_row else min(self.chip.lanes, step.rows.size)
        return aligned(self.chip, self._at.mask[step.slot], (heads, rows, 1, keys), source.dtype)

    def _masked(self, step: Step) -> tuple[GlobalTensor, int]:
        """The mask in DDR, and how far apart its rows are, 0 if it has one."""
        mask = self.problem.mask
        assert mask is not None
        return mask.tile(step.batch, self.heads(step), step.rows, step.masked), mask.by_row

    def _rows(self, part: Heads, step: Step) -> GlobalTensor:
        return self.problem.streamed(part, step.batch, step.rows, self.heads(step), self.chip.lanes)

    def _dense(self, address: int, source: GlobalTensor) -> LocalTensor:
        return aligned(self.chip, address, source.shape, source.dtype)

    def load(self, step: Step) -> None:
        """Keys and values unless they are there, queries, and the mask."""
        p, e = self.problem, self.e
        if step.load_kv:
            fetch(e, self.keys(step), p.k.tile(step.batch, step.block, step.heads))
        if step.first:
            fetch(e, self.queries(step), self._rows(p.q, step))
        if step.load_kv:
            fetch(e, self.values(step), p.v.tile(step.batch, step.block, step.heads))
        if p.mask is not None and step.masked.size:
            source, by_row = self._masked(step)
            if by_row:
                fetch(e, self.mask(step), source)
            else:
                e.load_broadcast(self.mask(step), source)

    def store(self, step: Step) -> None:
        """Finished rows."""
        if step.last:
            put(self.e, self._rows(self.problem.out, step), self.result(step))
