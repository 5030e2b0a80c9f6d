"""Sums over the channels of slices, which lie over the lanes, as products with a row of ones.

Along the lanes the array adds, exactly as it multiplies: operands of 16 bits into sums of f32. With
the summed dimension within the lanes (`rows.py`) transfers would move single columns where a matrix
is narrow or there is only one.
"""

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.product import multiply
from xdsl_tpu.backend.kernels.reduce import finished, prepared, reduced_extent
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.matmul import matrix_of
from xdsl_tpu.backend.local.row_views import shape_of
from xdsl_tpu.backend.tensor import DType
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.interfaces.lane_view import Viewed

F32 = DType.F32


def view(op: Operation, chip: Chip) -> tuple[Viewed]:
    """A reduction of (outer, size, inner) with what it sums over the lanes."""
    assert isinstance(op, tpu.ReduceOp)
    outer, size, inner = reduced_extent(op, shape_of(op))
    attributes = {"axes": I64_ARRAY.convert([1]), "keepdims": BOOL.convert(True)}
    return (Viewed(((outer, size, 1, inner), None, None), (outer, 1, 1, inner), attributes),)


def column_sums(context: LocalContext) -> None:
    """Emit a sum, or a norm made of sums, over all channels of (n, channels, 1, w)."""
    op = context.op
    assert isinstance(op, tpu.ReduceOp)
    mode, out, x = op.mode.data, context.out.tensor, context.operand(0).tensor
    n, rows, _, columns = x.shape
    if rows > LIMITS.extent or columns > LIMITS.extent:
        raise DoesNotFit(f"{rows} x {columns} elements are too many for one product")
    e, scratch, shape = context.emitter, context.scratch, (1, 1, 1, columns)
    wide = scratch.aligned((1, rows, 1, columns), F32) if mode in ("ReduceL1", "ReduceL2") else None
    kind = x.dtype if wide is None else F32
    make = scratch.compact if kind is F32 else scratch.aligned
    ones = make((1, 1, 1, rows), kind)
    sums, spare = (scratch.aligned(shape, F32) for _ in range(2))
    e.copy(ones, 1.0)
    for image in range(n):
        source = matrix_of(x, image)
        if wide is not None:
            if x.dtype is not F32:
                e.cast(wide, source)
                source = wide
            prepared(e, mode, wide, source)
            source = wide
        multiply(e, sums, ones, source)
        finished(e, mode, matrix_of(out, image), spare, sums, rows)
