"""Pools of windows with lines and columns, one dimension after the other."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import BOOL, I64_ARRAY
from xdsl_tpu.dialects.interfaces.shape import Shape, ShapeError
from xdsl_tpu.dialects.interfaces.shape_rules import Window
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.padding import pads_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, module_of, rebuilt, tensor_like
from xdsl_tpu.passes.lowering.reduction import MOST_SUMMED
from xdsl_tpu.passes.module_state import MODE_BYTES, chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

Pool = top.AvgPoolOp | top.MaxPoolOp
Windows = tuple[Window, Window]

_CASTS = 2
"""Commands that make floats of 8-bit numbers: the type, and the scale."""

STRIDED = 3
"""How much longer a tap takes where windows are apart in both dimensions (backend/isa)."""


class PoolByLines(RewritePattern):
    """Pool(x) {h x w} -> Pool(Pool(x) {h x 1}) {1 x w}, where that takes fewer cycles.

        AvgPool {14x14}              1x576x14x14   ->   AvgPool {14x1}                1x576x14x14
                                                        AvgPool {1x14}                1x576x1x14
        MaxPool {3x3, strides 2x2}   1x64x112x112  ->   MaxPool {3x1, strides 2x1}    1x64x112x112
                                                        MaxPool {1x3, strides 1x2}    1x64x56x112
        AvgPool {256x256}            1x32x256x256  ->   AvgPool {8x1, strides 8x1}    1x32x256x256
                                                        AvgPool {32x1}                1x32x32x256
                                                        AvgPool {1x256}               1x32x1x256

    A command adds one tap a cycle to as many windows as a lane has units for: to a single one,
    the whole image, that is one of them. Down the columns there are as many windows as
    columns. Of images that are pooled as a whole several lines come first, so that layer groups can
    have them in slices. Means with padding stay, whose windows have different sizes.

    In INT8 means of lines have no range of their own, and are floats: a cast is paid for. Rounding
    them to 8 bits once more would cost the mean of the image its accuracy. The range of maxima of
    lines is that of what they are taken from.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: top.AvgPoolOp | top.MaxPoolOp, rewriter: PatternRewriter
    ) -> None:
        width = MODE_BYTES.get(float_format(module_of(op)) or "F16")
        windows = _separable(op)
        if windows is None or width is None:
            return
        steps = _steps(windows, shape_of(op.input)[2:])
        chip, shape = chip_of(module_of(op)), shape_of(op.input)
        is_mean = isinstance(op, top.AvgPoolOp)
        made = _cycles(op, steps, shape, max(width, 2) if is_mean else width, chip)
        if width == 1 and is_mean:
            made += _CASTS * _chunks(shape, chip.eu(4), chip)
        if made < _cycles(op, [windows], shape, width, chip):
            rewriter.replace(op, _in_steps(op, steps))


def _separable(op: Pool) -> Windows | None:
    """The windows of a pool of images whose two dimensions can be pooled one by one."""
    if not has_shapes(op.input, op.output):
        return None
    if op.ceil_mode is not None and op.ceil_mode.value.data:
        return None
    try:
        slides = op.windows()
    except ShapeError:
        return None
    if len(slides) != 2 or any(one.kernel < 2 or one.dilation > 1 for one in slides):
        return None
    padded = any(one.before or one.after for one in slides)
    return None if padded and isinstance(op, top.AvgPoolOp) else (slides[0], slides[1])


def _steps(windows: Windows, sizes: Shape) -> list[Windows]:
    """Down the columns, a few lines of whole ones first, then along the lines."""
    down, along = windows
    still = Window(1)
    if down.kernel == sizes[0] > LIMITS.window_stride:
        few = max(one for one in range(1, LIMITS.window_stride + 1) if down.kernel % one == 0)
        if few > 1:
            rest = Window(down.kernel // few)
            return [(Window(few, stride=few), still), (rest, still), (still, along)]
    return [(down, still), (still, along)]


def _placed(windows: Windows, shape: Shape) -> Shape:
    sizes = zip(windows, shape[2:], strict=True)
    return (*shape[:2], *(one.positions(size) for one, size in sizes))


def _cycles(op: Pool, steps: Sequence[Windows], shape: Shape, width: int, chip: Chip) -> int:
    """Of pools that follow each other, by the formula of their command."""
    total = 0
    for windows in steps:
        taps = prod(one.kernel for one in windows)
        is_wide = width > 1 and isinstance(op, top.AvgPoolOp) and taps > MOST_SUMMED
        units = chip.eu(4 if is_wide else width)
        shape = _placed(windows, shape)
        images, channels, lines, columns = shape
        if windows[0].kernel > 1:
            chunks = -(-lines * columns // units)
        else:
            chunks = lines * -(-columns // units)
        factor = STRIDED if all(one.stride > 1 for one in windows) else 1
        total += images * -(-channels // chip.lanes) * chunks * taps * factor
    return total


def _chunks(shape: Shape, units: int, chip: Chip) -> int:
    """Cycles of a command on each element."""
    images, channels, *sizes = shape
    return images * -(-channels // chip.lanes) * -(-prod(sizes) // units)


def _in_steps(op: Pool, steps: Sequence[Windows]) -> list[Operation]:
    """The same pool of one dimension after the other."""
    value, shape = op.input, shape_of(op.input)
    made: list[Operation] = []
    for number, windows in enumerate(steps):
        shape = _placed(windows, shape)
        is_last = number == len(steps) - 1
        name = op.location if is_last else name_loc(derived_name(op, f"_r_lines{number}"))
        is_mean = isinstance(op, top.AvgPoolOp)
        between = TensorType(f32, shape) if is_mean else tensor_like(op.input, shape)
        kind = op.output.type if is_last else between
        pool = rebuilt(op, operands=[value], result_types=[kind], location=name)
        pool.kernel_shape = I64_ARRAY.encode([one.kernel for one in windows])
        pool.strides = I64_ARRAY.encode([one.stride for one in windows])
        pool.pads = I64_ARRAY.encode(pads_of(windows))
        if not is_last:
            pool.do_relu, pool.keepdims = BOOL.convert(False), BOOL.convert(True)
        made.append(pool)
        value = pool.output
    return made
