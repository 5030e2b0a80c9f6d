"""The pass `fold-blocks`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.weights import known_weights
from xdsl_tpu.passes.fold_columns.building import Building
from xdsl_tpu.passes.fold_columns.choice import Folds, Prices, choose_folds
from xdsl_tpu.passes.fold_columns.filters import Array
from xdsl_tpu.passes.fold_columns.fold import BYTES
from xdsl_tpu.passes.fold_columns.network import Edge, network_of
from xdsl_tpu.passes.graph import rebuilt
from xdsl_tpu.passes.module_state import State, chip_of, float_format, require_state
from xdsl_tpu.passes.tensors import element_of, functions, required_name, shape_of

GAIN = 0.9
"""What blocks must bring the estimate down to: it leaves out what layer groups gain and lose."""


class Block(NamedTuple):
    """Rows and columns of neighbouring pixels that become channels."""

    rows: int
    columns: int

    @property
    def size(self) -> int:
        """Pixels."""
        return self.rows * self.columns


@dataclass(frozen=True)
class FoldBlocksPass(ModulePass):
    """Let convolutions of few outputs compute blocks of pixels as channels, and spread these.

        %y = Conv(%x) : (1x64x512x512) -> 1x3x512x512, 3x3
    ->
        %b = Conv(%x) : (1x64x512x512) -> 1x48x128x128, 6x6, strides 4
        %y = Depth2Space(%b) : 1x48x128x128 -> 1x3x512x512

    The filters of a block's pixels lie beside each other in one that sees all of them: of 36 taps
    each has 9, but 16 pixels are computed at once. Blocks are chosen by estimated cycles for
    `chip`, a name or a `.toml` description, and a convolution that `fold-columns` would do better,
    or that reads what it folds, is left to that.
    """

    name = "fold-blocks"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        mode = float_format(op) or "F16"
        if BYTES[mode] < BYTES["F16"]:
            return  # bytes do not change lanes where they lie
        prices = Prices(chip_of(op, self.chip), BYTES[mode])
        weights = known_weights(op)
        for func in functions(op):
            network = network_of(func)
            few = [edge for edge in network.edges if _may_have_blocks(edge, prices)]
            folds = choose_folds(network, prices) if few else None
            for edge in few:
                block = _best(edge, folds or {}, prices)
                if block is not None and isinstance(edge.op, top.ConvOp):
                    _Spreading(func, weights).run(edge.op, block)


def _may_have_blocks(edge: Edge, prices: Prices) -> bool:
    op = edge.op
    if not isinstance(op, top.ConvOp) or len(op.kernel_shape) != 2 or edge.slide.dilation > 1:
        return False
    shape = shape_of(op.output)
    plain = len(shape) == 4 and set(ints(op.dilations or ())) <= {1}
    return plain and shape[1] <= prices.chip.lanes // 2 and max(ints(op.kernel_shape)) > 1


def _best(edge: Edge, folds: Folds, prices: Prices) -> Block | None:
    """The block of the lowest estimate; None where columns, or nothing at all, are as good."""
    source, target = folds.get(edge.source, 1), folds.get(edge.target, 1)
    if source > 1:
        return None
    otherwise = prices.way(edge, 1, target)[0]
    if target > 1:
        otherwise += prices.values(edge.target, target) - prices.values(edge.target, 1)
    assert isinstance(edge.op, top.ConvOp)
    found = [(_price(edge.op, block, prices), block) for block in _blocks(edge.op, prices)]
    price, block = min(found, default=(otherwise, Block(1, 1)))
    return block if price < GAIN * otherwise else None


def _blocks(op: top.ConvOp, prices: Prices) -> Iterator[Block]:
    _, channels, height, width = shape_of(op.output)
    strides = ints(op.strides)
    most = [LIMITS.window_stride // stride for stride in strides]
    for rows in range(1, most[0] + 1):
        for columns in range(1, most[1] + 1):
            block = Block(rows, columns)
            fits = 1 < block.size <= prices.chip.lanes // channels
            if fits and height % rows == width % columns == 0:
                yield block


def _kernel(op: top.ConvOp, block: Block) -> tuple[int, int]:
    """Rows and columns that a block's filter sees."""
    (height, width), (down, across) = ints(op.kernel_shape), ints(op.strides)
    return height + (block.rows - 1) * down, width + (block.columns - 1) * across


def _price(op: top.ConvOp, block: Block, prices: Prices) -> float:
    """Cycles of the array, of loading the filter, and of spreading the blocks: each place of them
    is turned, picked, turned back, and written to every so many columns."""
    chip, (images, channels, height, width) = prices.chip, shape_of(op.output)
    inputs, taps = shape_of(op.input)[1], int(np.prod(_kernel(op, block)))
    places, outputs = images * height * width // block.size, channels * block.size
    work = prices.array(inputs, outputs, taps, places)
    lines, eu = -(-places // chip.lanes), chip.eu(prices.width)
    turning = 2 * lines * (chip.lanes // eu)
    spread = block.size * (turning + lines + lines * (chip.lanes // eu) * block.columns)
    return work + prices.load((inputs, outputs, taps)) + spread


class _Spreading(Building):
    """One convolution on its way to blocks."""

    def run(self, op: top.ConvOp, block: Block) -> None:
        """Put the new convolution and what spreads its channels in the place of the old one."""
        self._builder = Builder(InsertPoint.before(op))
        images, channels, height, width = shape_of(op.output)
        name, kernel = required_name(op), _kernel(op, block)
        kind = element_of(op.output)
        shape = (images, channels * block.size, height // block.rows, width // block.columns)
        strides = ints(op.strides)
        operands = [
            op.input,
            self._changed(
                op.filter,
                f"{name}_in_blocks_filter",
                (shape[1], shape_of(op.filter)[1], *kernel),
                partial(_beside, strides=strides, block=block),
            ),
            op.bias,
        ]
        if not is_none(op.bias):
            repeated = partial(_repeated, block=block)
            operands[2] = self._changed(op.bias, f"{name}_in_blocks_bias", shape[1:2], repeated)
        conv = rebuilt(
            op,
            operands=operands,
            result_types=[TensorType(kind, shape)],
            location=name_loc(f"{name}_in_blocks"),
        )
        conv.kernel_shape = I64_ARRAY.encode(kernel)
        conv.strides = I64_ARRAY.encode([strides[0] * block.rows, strides[1] * block.columns])
        conv.pads = I64_ARRAY.encode(_pads(op))
        made = self._builder.insert(conv).output
        spread = top.Depth2SpaceOp.make(
            op.location,
            (made,),
            result_types=op.result_types,
            block_h=block.rows,
            block_w=block.columns,
            is_CRD=False,
            is_inversed=False,
        )
        op.output.replace_all_uses_with(self._builder.insert(spread).output)
        op.detach()
        op.erase()

    def _changed(
        self, old: SSAValue, name: str, shape: Sequence[int], change: Callable[[Array], Array]
    ) -> SSAValue:
        def data() -> Array:
            assert self._weights is not None
            return change(self._weights[required_name(old)].reshape(shape_of(old)))

        return self._new_weight(name, shape, element_of(old), data)


def _pads(op: top.ConvOp) -> list[int]:
    """Those in front as they are, those behind up to what the last window sees."""
    windows, sizes = op.windows(), shape_of(op.input)[2:]
    behind: list[int] = []
    for window, size, count in zip(windows, sizes, shape_of(op.output)[2:], strict=True):
        end = (count - 1) * window.stride + window.extent - window.before
        behind.append(max(0, end - size))
    return [*(window.before for window in windows), *behind]


def _beside(filters: Array, strides: Sequence[int], block: Block) -> Array:
    """(outputs, inputs, kh, kw) for each pixel of a block, one behind the other, in a filter that
    sees the whole block."""
    outputs, inputs, height, width = filters.shape
    down, across = strides
    size = height + (block.rows - 1) * down, width + (block.columns - 1) * across
    wide = np.zeros((block.rows, block.columns, outputs, inputs, *size), filters.dtype)
    for row in range(block.rows):
        for column in range(block.columns):
            y, x = row * down, column * across
            wide[row, column, :, :, y : y + height, x : x + width] = filters
    return wide.reshape(block.size * outputs, inputs, *size)


def _repeated(bias: Array, block: Block) -> Array:
    """Of each output for each pixel of a block, one behind the other."""
    return np.tile(bias.reshape(-1), block.size)
