"""`tpu.LinearScan`: the states of a linear recurrence, one step after the other.

h_t = a_t * h_(t-1) + b_t: a product and a sum for each step, on all elements of a state at once.
Where a slice does not hold all steps, the next one goes on from its last.
"""

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.emitter import Arith, Emitter
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand
from xdsl_tpu.backend.local.row_views import shape_of
from xdsl_tpu.backend.tensor import LocalTensor, Shape4
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import I64_INT
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.lane_view import Viewed


def view(op: Operation, chip: Chip) -> Iterator[Viewed]:
    """What is before the steps' axis over the lanes, or what is behind it where that fills more:
    then a view for each of what is before, of steps as images."""
    assert isinstance(op, tpu.LinearScanOp)
    axis, shape = op.axis.value.data, shape_of(op)
    outer, steps, inner = prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :])
    lanes = _lanes(inner, chip)
    if min(outer, chip.lanes) >= min(lanes, chip.lanes):
        yield _seen(op, 2, (1, outer, steps, inner), (1, outer, 1, inner))
        return
    state = (1, lanes, 1, inner // lanes)
    for row in range(outer):
        yield _seen(op, 0, (steps, *state[1:]), state, row)


def _lanes(inner: int, chip: Chip) -> int:
    """Over how many lanes a state may lie: those that divide it, or one for each element, in as
    many rounds as it takes."""
    most = min(chip.lanes, inner)
    lanes = next(n for n in range(most, 0, -1) if inner % n == 0)
    return inner if 2 * lanes < most else lanes


def _seen(op: "tpu.LinearScanOp", axis: int, whole: Shape4, state: Shape4, row: int = 0) -> Viewed:
    initial = None if is_none(op.initial) else state
    first = row * prod(whole)
    starts = (first, first, row * prod(state), first)
    return Viewed((whole, whole, initial), whole, {"axis": I64_INT.convert(axis)}, (), starts)


def scan(context: LocalContext) -> None:
    """Emit the steps of a slice, which lie along n, h or w."""
    op, out = context.op, context.out
    assert isinstance(op, tpu.LinearScanOp)
    if out.depth > 1:
        raise DoesNotFit("a recurrence has no local kernel for slices with a depth")
    a, b = (aligned_operand(context, context.operand(index)) for index in range(2))
    initial, axis = context.optional(2), op.axis.value.data
    before = None if initial is None else aligned_operand(context, initial)
    if context.before is not None:
        ended = context.before.tensor
        before = _state(ended, axis, ended.shape[axis] - 1, context.chip)
    advance(context.emitter, (out.tensor, a, b), before, axis)


def advance(
    e: Emitter,
    tensors: Sequence[LocalTensor],
    before: LocalTensor | None,
    axis: int,
) -> None:
    """out, a and b in local memory, whose steps lie along one of n, h, w; `before` is the state
    before the first step."""
    for step in range(tensors[0].shape[axis]):
        out, a, b = (_state(tensor, axis, step, e.chip) for tensor in tensors)
        if before is None:
            e.copy(out, b)
        else:
            e.arith(Arith.MUL, out, a, before)
            e.arith(Arith.ADD, out, out, b)
        before = out


def _state(tensor: LocalTensor, axis: int, step: int, chip: Chip) -> LocalTensor:
    """One step of a tensor."""
    n, c, h, w = (1 if place == axis else size for place, size in enumerate(tensor.shape))
    start = [0, 0, 0, 0]
    start[axis] = step
    return tensor.window((start[0], start[1], start[2], start[3]), (n, c, h, w), chip)
