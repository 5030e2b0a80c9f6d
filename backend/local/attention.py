"""`tpu.FAttention` in a layer group: queries, keys, values and result stay in local memory."""

from xdsl_tpu.backend.emitter import Emitter
from xdsl_tpu.backend.kernels.attention import mixes_of
from xdsl_tpu.backend.kernels.attention_choice import choose
from xdsl_tpu.backend.kernels.attention_plan import Heads, Problem, Step, Tiling, room_bytes
from xdsl_tpu.backend.kernels.attention_tiles import Layer
from xdsl_tpu.backend.kernels.support import LocalMemory, where
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.tensor import LocalTensor, aligned, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit, NoKernel
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
    layer.prepare()
    for step in layer.steps:
        layer.compute(step)


def _describe(context: LocalContext, op: "tpu.FAttentionOp") -> Problem:
    depth = op.dim.value.data

    def heads(value: LocalTensor, count: int, columns: int) -> Heads:
        return Heads(0, value.dtype, value.shape[0], value.shape[1], count, columns)

    q, k, v = (context.operand(index).tensor for index in range(3))
    queries, kept = op.q_head.value.data, op.kv_head.value.data
    width = v.shape[2] * v.shape[3] // kept
    return Problem(
        heads(q, queries, depth),
        heads(k, kept, depth),
        heads(v, kept, width),
        heads(context.out.tensor, queries, width),
        op.scale.value.data,
        None,
        (),
        *mixes_of(op),
        precision=precision_of(op),
        held=True,
    )


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

    def queries(self, step: Step) -> LocalTensor:
        return self._part(self.lies[0], self.problem.q, step, step.rows)

    def keys(self, step: Step) -> LocalTensor:
        return self._part(self.lies[1], self.problem.k, step, step.block)

    def values(self, step: Step) -> LocalTensor:
        return self._part(self.lies[2], self.problem.v, step, step.block)

    def result(self, step: Step) -> LocalTensor:
        return self._part(self.lies[3], self.problem.out, step, step.rows)

    def mask(self, step: Step) -> LocalTensor:
        raise NoKernel(f"a mask of {step.masked.size} keys has no form in local memory")

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
