"""What products of rows, and what lies between them, take with rows or with columns over the lanes.

Cycles of the TIU (docs/hardware/cycles.md). Matrices are (images, rows, columns).
"""

from math import ceil

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import floats
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interpreters.numerics.soft_ramp import is_level
from xdsl_tpu.passes.orient_products.labels import Pair
from xdsl_tpu.passes.tensors import element_bytes, shape_of

Matrices = tuple[int, int, int]

FUNCTION = 18
"""Passes of a function that needs coefficients, about."""

RAMP, LEVEL_RAMP = 7, 4
"""Passes of a `tpu.SoftRamp` beside its terms; and of one whose ramp stays in integers."""

MOVES = 2
"""Passes of bringing a value from the one form to the other, about."""

COMMANDS = 24
"""Cycles that a move takes more than its passes, about."""

GAIN = 0.95
"""What is turned must take this part of what it took: what groups gain and lose is left out."""


def matrices_of(shape: tuple[int, ...]) -> Matrices | None:
    """The sizes of a value of rank 3; None for others."""
    return (shape[0], shape[1], shape[2]) if len(shape) == 3 else None


class Prices:
    """Those for one chip; a pair is what rows and what columns over the lanes take."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip

    def lines(self, images: int, lanes: int, inner: int, width: int) -> int:
        """An instruction that goes once over so many numbers of `width` bytes."""
        return images * ceil(lanes / self.chip.lanes) * ceil(inner / self.chip.eu(width))

    def both(self, sizes: Matrices, width: int) -> Pair:
        """The same with rows and with columns over the lanes."""
        images, rows, columns = sizes
        plain = self.lines(images, rows, columns, width)
        return plain, self.lines(images, columns, rows, width)

    def product(self, op: tpu.MatMulOp) -> Pair:
        """A product with a matrix of weights, with its bias and the scale of its result."""
        images, rows, depth = shape_of(op.input)
        columns, width = shape_of(op.output)[-1], element_bytes(op.input)
        blocks = images * ceil(depth / self.chip.cube_channels[width])
        array = [
            blocks * ceil(one / self.chip.lanes) * ceil(other / self.chip.cube_outputs[width])
            for one, other in ((rows, columns), (columns, rows))
        ]
        biased = not is_none(op.bias)
        if width > 1:  # a convolution of floats has its bias in the command
            return array[0] + biased * self.both((images, rows, columns), width)[0], array[1]
        fused = self.chip.instructions.requantises
        passes = 0 if fused else 1 + biased
        sums = self.both((images, rows, columns), 4)
        return array[0] + passes * sums[0], array[1] + passes * sums[1]

    def element_wise(self, op: Operation, sizes: Matrices) -> Pair:
        """An op that computes each element of its result by itself."""
        passes, width = 2, max(element_bytes(value) for value in (op.operands[0], op.results[0]))
        if isinstance(op, tpu.ActiveOp):
            passes = FUNCTION
        elif isinstance(op, tpu.SoftRampOp):
            level = is_level(op.factor.value.data, op.limit.value.data, op.scale.value.data)
            whole = level and element_bytes(op.output) == 1
            passes, width = (LEVEL_RAMP if whole else RAMP) + len(floats(op.terms)), 2
        plain, turned = self.both(sizes, width)
        return passes * plain, passes * turned

    def move(self, sizes: Matrices, width: int) -> int:
        """Bringing a value from the one form to the other."""
        return MOVES * max(self.both(sizes, width)) + COMMANDS

    def fits(self, sizes: Matrices, width: int) -> bool:
        """Whether a value is small enough for moves, which are of the whole, to have room."""
        images, rows, columns = sizes
        lanes = self.chip.lanes
        most = images * max(ceil(rows / lanes) * columns, ceil(columns / lanes) * rows)
        return 8 * most * width <= self.chip.local_bytes
