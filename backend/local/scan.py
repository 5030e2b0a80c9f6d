"""`tpu.LinearScan` on slices that hold all steps."""

from xdsl_tpu.backend.kernels.scan import advance
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import aligned_operand
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit


def scan(context: LocalContext) -> None:
    """Emit the steps of a slice, which lie along n, h or w."""
    op, out = context.op, context.out
    assert isinstance(op, tpu.LinearScanOp)
    if out.depth > 1:
        raise DoesNotFit("a recurrence has no local kernel for slices with a depth")
    a, b = (aligned_operand(context, context.operand(index)) for index in range(2))
    initial = context.optional(2)
    before = None if initial is None else aligned_operand(context, initial)
    advance(context.emitter, (out.tensor, a, b), before, op.axis.value.data)
