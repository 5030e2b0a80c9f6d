"""What ops take in 8 bits and in F16, in cycles of the unit that they keep busy.

Of two programs that are equal but for the format of a few ops only the difference matters, so that
nothing here knows of layer groups. Figures are those of the chip's cycle model (`backend/timing`).
"""

from collections.abc import Callable, Mapping
from math import ceil, prod
from typing import Any, NamedTuple

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interpreters.layouts import (
    FilterShape,
    is_depthwise,
    most_merged_rows,
)
from xdsl_tpu.passes.joined_groups import cheapest_join
from xdsl_tpu.passes.lowering.int8.by_floats import ELEMENTS, is_line, plain_function, taken
from xdsl_tpu.passes.lowering.int8.functions import FUNCTIONS
from xdsl_tpu.passes.lowering.int8.level_ramps import shared_range
from xdsl_tpu.passes.tensors import is_weight, shape_of

BYTE, HALF, WORD = 1, 2, 4
"""Bytes of an 8-bit integer, of an F16, of an exact sum of products."""

CAST = 2
"""Passes of a cast between F16 and 8 bits: the factor, and the type."""

MOVE = 2
"""Passes of an op that brings elements to other places."""

TABLE = 20
"""Passes in F16 of a function that needs coefficients, about."""


class Price(NamedTuple):
    """Cycles of an op in 8 bits and in F16."""

    eight: int = 0
    half: int = 0


class Prices:
    """Those of ops of one function for one chip.

    `images` are the values whose channels lie over the lanes. All others are taken to fill them.
    Copies of what a network is given are part of the ops that read them, or, `apart`, come beside
    other work.
    """

    def __init__(self, chip: Chip, images: set[SSAValue], apart: bool = False) -> None:
        self.chip, self._images, self.apart = chip, images, apart

    def of(self, op: Operation) -> Price:
        """Those of one op that can be in either format."""
        rule = _RULES.get(type(op))
        if rule is None and type(op) in FUNCTIONS:
            rule = _function
        return Price() if rule is None else rule(self, op)

    def is_image(self, op: Operation) -> bool:
        """Whether what an op makes is an image."""
        return any(one in self._images for one in op.results)

    def to_half(self, value: SSAValue) -> int:
        """Cycles of a cast of 8 bits to F16."""
        return CAST * self.lines(value, HALF)

    def to_eight(self, value: SSAValue, wide: bool = False) -> int:
        """Cycles of a cast to 8 bits from F16 or, `wide`, what one from F32 takes more than to
        F16."""
        return self.lines(value, WORD) if wide else CAST * self.lines(value, HALF)

    def lines(self, value: SSAValue, width: int) -> int:
        """Cycles of an instruction that goes over elements of so many bytes once."""
        shape = shape_of(value)
        if value in self._images:
            return lines_of(shape, width, self.chip)
        return ceil(prod(shape) / (self.chip.lanes * self.chip.eu(width)))

    def loaded(self, value: SSAValue, width: int) -> float:
        """Cycles that a tensor of so many bytes an element takes from DDR."""
        size = prod(shape_of(value)) * width * self.chip.tensor_derate
        return size / self.chip.load_bytes_per_cycle

    def passes(self, op: Operation) -> int:
        """Cycles of one instruction in 16 bits on all that an op makes."""
        tensors = [one for one in op.results if isinstance(one.type, TensorType)]
        return sum(self.lines(one, HALF) for one in tensors)

    def moved(self, func: FuncOp) -> int:
        """Cycles of moving all weights in 8 bits, and what comes in and goes out in f32."""
        block = func.body.block
        weights = [op.output for op in block.ops if isinstance(op, top.WeightOp)]
        (*_, end) = block.ops
        outside = [v for v in (*block.args, *end.operands) if isinstance(v.type, TensorType)]
        loads = sum(self.loaded(one, BYTE) for one in weights)
        return ceil(loads + sum(self.loaded(one, WORD) for one in outside))

    def copied(self, op: Operation, width: int) -> float:
        """Cycles of loading what the network is given for a convolution, whose rows become channels
        of an image that is loaded as often: f32, or 8 bits that it was brought to before."""
        if not isinstance(op, top.ConvOp):
            return 0
        rows = _merged_rows(op, width, self.chip)
        image = self.loaded(op.input, BYTE if width == BYTE else WORD)
        return rows * image / ints(op.strides)[0] if rows > 1 else 0

    def scaled(self, value: SSAValue, width: int) -> int:
        """What brings exact sums to 8 bits, which some chips do on the way."""
        fused = width > BYTE or self.chip.instructions.requantises
        return 0 if fused else self.lines(value, WORD)


def lines_of(shape: Shape, width: int, chip: Chip) -> int:
    """Cycles of an instruction on a value with its channels over the lanes."""
    images, channels, *rest = shape
    return images * ceil(channels / chip.lanes) * ceil(prod(rest) / chip.eu(width))


def _conv(prices: Prices, op: top.ConvOp | top.DeconvOp) -> Price:
    filter_, group = FilterShape.of(shape_of(op.filter)), op.group.value.data
    chip, positions = prices.chip, prod(ints(op.kernel_shape))
    images, channels, *rest = shape_of(op.output)

    def windows(width: int) -> float:
        made = WORD if width == BYTE and not chip.instructions.requantises else width
        return positions * lines_of((images, channels, *rest), made, chip)

    def array(width: int) -> float:
        blocks = cheapest_join(filter_, group, width, images * prod(rest), chip).blocks
        places = images * ceil(prod(rest) / chip.cube_outputs[width])
        rows = _merged_rows(op, width, chip)
        loads = 0 if prices.apart else prices.copied(op, width)
        fused = width > BYTE or is_none(op.bias) or chip.instructions.requantises
        biased = 0 if fused else prices.lines(op.output, WORD)
        return max(places * blocks * positions // rows + biased, loads)

    work = windows if is_depthwise(filter_, group) else array
    return Price(*(_product(prices, op, op.filter, width, work(width)) for width in (BYTE, HALF)))


def _merged_rows(op: top.ConvOp | top.DeconvOp, width: int, chip: Chip) -> int:
    """How many rows of the filter become channels of what is loaded for it."""
    filter_ = FilterShape.of(shape_of(op.filter))
    rows = filter_.kh if _is_image(op) and op.group.value.data == 1 else 1
    return rows if filter_.ic * rows <= most_merged_rows(width, chip.weight_lanes) else 1


def _is_image(op: top.ConvOp | top.DeconvOp) -> bool:
    """Whether a convolution reads what is loaded for it in any case."""
    return isinstance(op, top.ConvOp) and isinstance(op.input.owner, top.InputOp | Block)


def _product(prices: Prices, op: Operation, weight: SSAValue, width: int, products: float) -> int:
    """Products, and what makes their sums the result's; or the weights, if those take longer."""
    work = products + prices.scaled(op.results[0], width)
    return ceil(max(work, prices.loaded(weight, width) if is_weight(weight) else 0))


def _matmul(prices: Prices, op: top.MatMulOp) -> Price:
    *images, rows, columns = shape_of(op.output)
    left = shape_of(op.input)
    depth, count = left[-2 if op.left_transpose.value.data else -1], prod(images)
    if is_weight(op.right):
        rows, count = rows * count, 1
    chip = prices.chip

    def array(width: int) -> float:
        blocks = ceil(depth / chip.cube_channels[width])
        ways = ((rows, columns), (columns, rows))
        return (
            count
            * blocks
            * min(
                ceil(one / chip.lanes) * ceil(other / chip.cube_outputs[width])
                for one, other in ways
            )
        )

    def biased(width: int) -> int:
        if is_none(op.bias) or chip.instructions.requantises:
            return 0
        return prices.lines(op.output, WORD if width == BYTE else HALF)

    return Price(
        *(_product(prices, op, op.right, width, array(width) + biased(width))
          for width in (BYTE, HALF))
    )  # fmt: skip


def _pool(prices: Prices, op: top.AvgPoolOp | top.MaxPoolOp) -> Price:
    taps = prod(ints(op.kernel_shape))
    return Price(*(taps * prices.lines(op.results[0], width) for width in (BYTE, HALF)))


def _function(prices: Prices, op: Operation) -> Price:
    function, whole = plain_function(op), prices.lines(op.results[0], HALF)
    cycles = None if function is None else taken(function, prices.chip)
    once = prices.lines(op.results[0], BYTE)
    line = once if is_line(op) else None
    if cycles is None:
        table = once * prices.chip.eu(BYTE)
        return Price(line or table, min(table, TABLE * whole))
    share = whole * prices.chip.eu(HALF) / ELEMENTS
    best = ceil(cycles.best(shared_range(op) is not None) * share)
    return Price(line or best, ceil(cycles.in_floats * share))


def _passes(*eight: int) -> Callable[[Prices, Operation], Price]:
    """Of an op that is instructions on results and scratch memory of so many bytes in 8 bits, and
    one in F16."""

    def rule(prices: Prices, op: Operation) -> Price:
        result = op.results[0]
        return Price(sum(prices.lines(result, one) for one in eight), prices.lines(result, HALF))

    return rule


def _sum(prices: Prices, op: top.AddOp | top.SubOp) -> Price:
    whole, terms = prices.lines(op.output, HALF), len(op.inputs)
    return Price((2 * terms - 1) * whole, (terms - 1) * whole)


def _leaky_relu(prices: Prices, op: Operation) -> Price:
    return Price(*(2 * prices.lines(op.results[0], width) for width in (BYTE, HALF)))


def _move(prices: Prices, op: Operation) -> Price:
    made = [(prices.lines(one, BYTE), prices.lines(one, HALF)) for one in op.results]
    eight, half = (MOVE * sum(one) for one in zip(*made, strict=True))
    return Price(eight, half)


def _spread(prices: Prices, op: top.Depth2SpaceOp) -> Price:
    """Elements of 8 bits change lanes in DDR only."""
    eight, half = _move(prices, op)
    if not op.is_inversed.value.data and shape_of(op.output)[1] % prices.chip.lanes:
        eight = ceil(2 * prices.loaded(op.output, BYTE))
    return Price(eight, half)


# Any: each function takes the classes that it stands beside.
_RULES: Mapping[type[Operation], Callable[[Prices, Any], Price]] = {
    top.AbsOp: _passes(BYTE),
    top.AddConstOp: _passes(WORD, WORD),
    top.AddOp: _sum,
    top.AvgPoolOp: _pool,
    top.ConcatOp: _move,
    top.ConvOp: _conv,
    top.DeconvOp: _conv,
    top.Depth2SpaceOp: _spread,
    top.LeakyReluOp: _leaky_relu,
    top.MatMulOp: _matmul,
    top.MaxOp: _passes(BYTE),
    top.MaxPoolOp: _pool,
    top.MinOp: _passes(BYTE),
    top.MulConstOp: _passes(BYTE),
    top.MulOp: _passes(HALF, HALF),
    top.PermuteOp: _move,
    top.ReluOp: _passes(BYTE),
    top.ReverseOp: _move,
    top.ShuffleChannelOp: _move,
    top.SliceOp: _move,
    top.SplitOp: _move,
    top.SubConstOp: _passes(WORD, WORD),
    top.SubOp: _sum,
    top.SwapChannelOp: _move,
    top.SwapDimInnerOp: _move,
    top.UpsampleOp: _move,
}
