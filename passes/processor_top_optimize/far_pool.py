"""Pools whose windows lie further apart than a command can say."""

from dataclasses import replace
from math import gcd

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY
from xdsl_tpu.dialects.interfaces.shape import ShapeError
from xdsl_tpu.dialects.interfaces.shape_rules import Window
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.padding import pads_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, rebuilt, tensor_like
from xdsl_tpu.passes.tensors import shape_of

_Pool = top.AvgPoolOp | top.MaxPoolOp


class FarPool(RewritePattern):
    """Pool(x) {k x k, strides k x k} -> Pool(Pool(x) {a x a, strides a x a}) {k/a x k/a}.

        AvgPool {64, strides 64}  1x96x3136     ->   AvgPool {8, strides 8}  1x96x3136
                                                     AvgPool {8, strides 8}  1x96x392
        AvgPool {100, strides 100,              ->   AvgPool {10, strides 10}  1x96x150
                 pads 0, 50}      1x96x150           AvgPool {10, strides 10, pads 0, 5}  1x96x15
        MaxPool {3, strides 17}   1x32x64       ->   MaxPool {3, strides 1}  1x32x64
                                                     Slice   {every 17th}    1x32x62

    Windows that lie side by side are pooled in parts, and the parts then, which gives the same
    maximum and the same mean; padding is then of whole parts. Others are pooled at a stride that
    divides theirs, most of them in vain, and every n-th result is kept. The longest stride that a
    command can say is asked of the instruction set.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.AvgPoolOp | top.MaxPoolOp, rewriter: PatternRewriter
    ) -> None:
        if not has_shapes(op.input, op.output) or not op.keepdims.value.data:
            return
        if op.ceil_mode is not None and op.ceil_mode.value.data:
            return
        try:
            windows = op.windows()
        except ShapeError:
            return
        if all(one.stride <= LIMITS.window_stride for one in windows):
            return
        sizes = shape_of(op.input)[2:]
        parts = [_part(one, size) for one, size in zip(windows, sizes, strict=True)]
        if all(part > 1 or not _is_far(one) for one, part in zip(windows, parts, strict=True)):
            rewriter.replace(op, _in_parts(op, windows, parts))
        else:
            rewriter.replace(op, _in_vain(op, windows, none_for(op, rewriter)))


def _is_far(window: Window) -> bool:
    return window.stride > LIMITS.window_stride


def _divisor(*numbers: int) -> int:
    """The largest of all of them that is a stride."""
    return max(one for one in range(1, LIMITS.window_stride + 1) if gcd(*numbers) % one == 0)


def _part(window: Window, size: int) -> int:
    """The size of the first windows where far ones lie side by side; 0 where they do not, 1 where
    that is no use."""
    is_padded = window.before or window.after
    if window.kernel != window.stride or (is_padded and not _is_far(window)):
        return 0
    if not _is_far(window):
        return window.kernel
    return _divisor(window.kernel, *((size, window.before) if is_padded else ()))


def _in_parts(op: _Pool, windows: tuple[Window, ...], parts: list[int]) -> list[Operation]:
    """Pools of parts, and the pool of those; near windows are whole at once."""
    pairs = list(zip(windows, parts, strict=True))
    first = tuple(Window(part, stride=part) if _is_far(one) else one for one, part in pairs)
    second = tuple(
        Window(
            one.kernel // part,
            stride=one.kernel // part,
            before=one.before // part,
            after=one.after // part,
        )
        if _is_far(one)
        else Window(1)
        for one, part in pairs
    )
    whole = "x".join(str(one.kernel) for one in windows)
    inner = _pool(op, derived_name(op, f"_r_parts_of_{whole}"), first, op.input)
    inner.do_relu = BOOL.convert(False)
    outer = rebuilt(op, operands=[inner.output])
    _set_windows(outer, second)
    return [inner, outer]


def _in_vain(op: _Pool, windows: tuple[Window, ...], none: SSAValue) -> list[Operation]:
    """A pool at strides that divide those wanted, and a Slice of its results."""
    near = tuple(replace(one, stride=_divisor(one.stride)) for one in windows)
    steps = [one.stride // other.stride for one, other in zip(windows, near, strict=True)]
    dense = _pool(op, derived_name(op, "_r_dense"), near, op.output)
    shape = shape_of(op.output)
    every = [1, 1, *steps]
    ends = [(size - 1) * step + 1 for size, step in zip(shape, every, strict=True)]
    kept = top.SliceOp.make(
        op.location,
        (dense.output, none, none, none),
        result_types=[op.output.type],
        offset=[0] * len(shape),
        ends=ends,
        steps=every,
        hasparamConvert_axes=[axis for axis, step in enumerate(every) if step > 1],
    )
    return [dense, kept]


def _pool(op: _Pool, name: str, windows: tuple[Window, ...], like: SSAValue) -> _Pool:
    """A pool of the same input with other windows, its numbers of the type of `like`."""
    shape = shape_of(op.input)
    sizes = (one.positions(size) for one, size in zip(windows, shape[2:], strict=True))
    kind = tensor_like(like, (*shape[:2], *sizes))
    made = rebuilt(op, result_types=[kind], location=name_loc(name))
    _set_windows(made, windows)
    return made


def _set_windows(op: _Pool, windows: tuple[Window, ...]) -> None:
    op.kernel_shape = I64_ARRAY.encode([one.kernel for one in windows])
    op.strides = I64_ARRAY.encode([one.stride for one in windows])
    op.pads = I64_ARRAY.encode(pads_of(windows))
