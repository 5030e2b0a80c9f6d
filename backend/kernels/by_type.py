"""Ops that have kernels of their own for quantised integers, and for filters of one channel."""

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels import conv
from xdsl_tpu.backend.kernels.int8 import conv as int8_conv
from xdsl_tpu.backend.kernels.support import KernelContext, where
from xdsl_tpu.backend.kernels.tiling import check_window
from xdsl_tpu.backend.local import by_type
from xdsl_tpu.backend.local.alone import in_slices
from xdsl_tpu.backend.local.views import conv_axes
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.shape import known_shape


def _as_table(op: Operation) -> Viewed:
    """A computed filter (C, 1, kh, kw) seen as one that was laid out in advance: (1, C, kh, kw)."""
    assert isinstance(op, tpu.Conv2DOp)
    shape = known_shape(op.filter.type)
    table = (1, shape[0], *shape[2:]) if shape is not None and shape[1] == 1 else None
    return Viewed((None, table, *(None for _ in op.operands[2:])), ())


_depthwise = in_slices(by_type.conv2d, view=_as_table)


def conv2d(context: KernelContext, op: Operation) -> None:
    """`tpu.Conv2D` by the type of its operand; with a filter for each channel slice by slice."""
    assert isinstance(op, tpu.Conv2DOp)
    is_float = context.value(op.input).dtype.is_float
    if not op.is_depthwise:
        kernel = conv.conv2d if is_float else int8_conv.conv2d
        kernel(context, op)
        return
    if is_float:
        check_window(conv_axes(op, context.chip.lanes), where(op))
    else:
        int8_conv.check(context, op)
    _depthwise(context, op)
