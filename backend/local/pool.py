"""`tpu.Pool2D` on slices."""

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.backend.kernels.elementwise import fused_relu
from xdsl_tpu.backend.kernels.int8.pool import pooling
from xdsl_tpu.backend.kernels.pool import scale_borders, window_axes
from xdsl_tpu.backend.kernels.tiling import Piece
from xdsl_tpu.backend.local.context import LocalContext
from xdsl_tpu.backend.local.elementwise import finish
from xdsl_tpu.backend.local.views import covered, sliding
from xdsl_tpu.backend.tensor import LocalTensor
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import DoesNotFit
from xdsl_tpu.dialects.tpu.enums import PoolMode


def pool(context: LocalContext) -> None:
    """Emit a maximum or average over windows.

    Raises DoesNotFit for slices of more rows than a command holds.
    """
    op = context.op
    assert isinstance(op, tpu.Pool1DOp | tpu.Pool2DOp)
    x, out, emitter = context.operand(0), context.out, context.emitter
    if max(x.tensor.shape) > LIMITS.extent:
        raise DoesNotFit(f"{max(x.tensor.shape)} rows are more than one command holds")
    sizes = [(v.full.n, v.full.c, v.full.h, v.full.w) for v in (x, out)]
    rows, columns = window_axes(op, sizes[0], sizes[1])
    place = window, *_ = sliding(x, out, rows, columns)
    averaging = op.pool_mode.data is PoolMode.Avg
    with context.scratch.temporary():
        source = covered(context, x.tensor, *place)
        if not x.dtype.is_float:
            pooling(op)(emitter, out.tensor, source, window)
            return

        def produce(target: LocalTensor) -> None:
            if not averaging:
                emitter.max_pool(target, source, window)
                return
            emitter.avg_pool(target, source, window, 1 / (rows.kernel * columns.kernel))
            down = Piece(out.start.h, target.shape[2])
            across = Piece(out.start.w, target.shape[3])
            counted = bool(op.count_include_pad.value.data)
            scale_borders(emitter, target, down, rows, columns, counted, context.chip, across)

        finish(context, out.tensor, fused_relu(op), produce)
