"""`tpu.FAttention` in a layer group: queries, keys, values and result stay in local memory."""

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.attention import mixes_of, ranges_of
from xdsl_tpu.backend.kernels.attention_choice import choose
from xdsl_tpu.backend.kernels.attention_plan import (
    Heads,
    Mask,
    Problem,
    Step,
    Tiling,
    room_bytes,
)
from xdsl_tpu.backend.kernels.attention_tiles import Layer
from xdsl_tpu.backend.kernels.support import LocalMemory, where
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.tensor import LocalTensor, aligned, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.precision import precision_of


def attention(context: LocalContext) -> None:
    """Emit an attention whose rows lie over the lanes, the heads of each beside each other.

    Raises DoesNotFit when scratch memory does not hold the scores of its tiles.
    """
    op = context.op
    assert isinstance(op, tpu.FAttentionOp)
    problem = _describe(context, op)
    tiling = choose(problem, context.chip, _Held)
    if tiling is None:
        raise DoesNotFit(f"{where(op)}: no scores of it fit local memory beside its operands")
    size = room_bytes(problem, tiling, context.chip)
    assert size is not None
    start = context.scratch.take(size)
    memory = LocalMemory(context.chip, [(start, start + size)])
    layer = _Held(context.emitter, memory, problem, tiling)
    layer.lies = (*(context.operand(index).tensor for index in range(3)), context.out.tensor)
    layer.mask_lies = _mask(context)
    layer.prepare()
    for step in layer.steps:
        layer.compute(step)


def _describe(context: LocalContext, op: "tpu.FAttentionOp") -> Problem:
    depth = op.dim.value.data

    def heads(value: LocalTensor, count: int, columns: int) -> Heads:
        return Heads(0, value.dtype, value.shape[0], value.shape[1], count, columns)

    q, k, v = (context.operand(index).tensor for index in range(3))
    mask = _mask(context)
    queries, kept = op.q_head.value.data, op.kv_head.value.data
    width = v.shape[2] * v.shape[3] // kept
    return Problem(
        heads(q, queries, depth),
        heads(k, kept, depth),
        heads(v, kept, width),
        heads(context.out.tensor, queries, width),
        op.scale.value.data,
        None if mask is None else _steps_of(mask),
        ranges_of(op),
        *mixes_of(op),
        precision=precision_of(op),
        held=True,
    )


def _steps_of(mask: LocalTensor) -> Mask:
    """Where it repeats; it lies where it lies, whatever the strides are."""
    images, rows, _, keys = mask.shape
    by_batch = images > 1 and rows * keys
    return Mask(0, mask.dtype, by_batch, 0, keys if rows > 1 else 0)


def _mask(context: LocalContext) -> LocalTensor | None:
    mask = context.optional(3)
    return None if mask is None else mask.tensor


class _Held(Layer):
    """Tiles that are parts of what is in local memory anyway."""

    def __init__(
        self, emitter: Emitter, memory: LocalMemory, problem: Problem, tiling: Tiling
    ) -> None:
        super().__init__(emitter, memory, problem, tiling)
        of = problem.q, problem.k, problem.v, problem.out
        shapes = ((one.batches, one.rows, 1, one.heads * one.columns) for one in of)
        self.lies = tuple(aligned(self.chip, 0, shape, problem.dtype) for shape in shapes)
        """Queries, keys, values and result; until it is said elsewhere, all at the beginning."""
        self.mask_lies: LocalTensor | None = None
        if (mask := problem.mask) is not None:
            images = problem.q.batches if mask.by_batch else 1
            shape = (images, problem.q.rows if mask.by_row else 1, 1, problem.k.rows)
            self.mask_lies = aligned(self.chip, 0, shape, mask.dtype)

    def queries(self, step: Step) -> LocalTensor:
        return self._part(self.lies[0], self.problem.q, step, step.rows)

    def keys(self, step: Step) -> LocalTensor:
        return self._part(self.lies[1], self.problem.k, step, step.block)

    def values(self, step: Step) -> LocalTensor:
        return self._part(self.lies[2], self.problem.v, step, step.block)

    def result(self, step: Step) -> LocalTensor:
        return self._part(self.lies[3], self.problem.out, step, step.rows)

    def mask(self, step: Step) -> LocalTensor:
        lies, mask = self.mask_lies, self.problem.mask
        assert lies is not None
        assert mask is not None
        image = step.batch if mask.by_batch else 0
        first = lies.at(image, g=step.rows.start // self.chip.lanes if mask.by_row else 0)
        address = first + step.masked.start * lies.dtype.bytes
        shape = (1, step.rows.size if mask.by_row else 1, 1, step.masked.size)
        return strided(address, shape, lies.strides, lies.dtype)

    def load(self, step: Step) -> None:
        """Everything is there."""

    def store(self, step: Step) -> None:
        """The result stays."""

    def _part(self, whole: LocalTensor, part: Heads, step: Step, rows: Piece) -> LocalTensor:
        """Some rows, from a lane group on, of the heads of a step."""
        heads = step.heads if part.heads == self.problem.k.heads else self.heads(step)
        width = heads.size * part.columns
        first = whole.at(step.batch, g=rows.start // self.chip.lanes)
        address = first + heads.start * part.columns * whole.dtype.bytes
        strides = (whole.strides[0], whole.strides[1], width, 1)
        return strided(address, (1, rows.size, 1, width), strides, whole.dtype)
