"""The pass `fold-blocks`."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.traits import InOutSameShape, SupportElementwise
from xdsl_tpu.dialects.weights import known_weights
from xdsl_tpu.passes.fold_columns.block_filters import (
    Block,
    Part,
    blocks_of,
    parts_of,
    price_of,
    repeated,
    ways_of,
)
from xdsl_tpu.passes.fold_columns.building import Building, as_convolution, set_window
from xdsl_tpu.passes.fold_columns.choice import Folds, Prices, choose_folds, prices_for
from xdsl_tpu.passes.fold_columns.filters import Array, beside
from xdsl_tpu.passes.fold_columns.fold import BYTES
from xdsl_tpu.passes.fold_columns.network import Edge, Sliding, network_of
from xdsl_tpu.passes.graph import rebuilt, tensor_like
from xdsl_tpu.passes.module_state import State, chip_of, float_format, require_state
from xdsl_tpu.passes.tensors import element_of, functions, required_name, shape_of

GAIN = 0.9
"""What blocks must bring the estimate down to: it leaves out what layer groups gain and lose."""


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

        %y = Conv(%x) : (1x64x80x80) -> 1x80x80x80, 3x3
        %z = SiLU(%y)
    ->
        %a = SiLU(Conv(%x)) : (1x64x80x80) -> 1x64x80x80, 3x3
        %b = SiLU(Conv(%x)) : (1x64x80x80) -> 1x64x40x40, 4x4, strides 2
        %z = Concat(%a, Depth2Space(%b)) : 1x80x80x80

    Ops behind that work element by element do so on the blocks. Where outputs fill all lanes and
    at most half of them once more, those last ones become blocks in the same way.

        %y = Deconv(%x) : (1x64x32x32) -> 1x32x64x64, 2x2, strides 2
    ->
        %b = Conv(%x) : (1x64x32x32) -> 1x128x32x32, 1x1
        %y = Depth2Space(%b) : 1x128x32x32 -> 1x32x64x64

    Bytes change lanes as F16, in their own memory: the casts are in the estimate.

    The blocks of a transposed convolution are whole strides, and have no zeros to multiply. Where
    its places see different pixels each is a convolution by itself, if that is expected to be
    faster. A line is an image of one column.

        %y = Deconv(%x) : (1x64x32x32) -> 1x64x64x64, 4x4, strides 2
    ->
        %p = Conv(%x), Conv(%x), Conv(%x), Conv(%x) : (1x64x32x32) -> 1x64x32x32, 2x2
        %y = Depth2Space(Concat(%p)) : 1x256x32x32 -> 1x64x64x64
    """

    name = "fold-blocks"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        mode = float_format(op) or "F16"
        chip = chip_of(op, self.chip)
        weights = known_weights(op)
        for func in functions(op):
            network = network_of(func)
            prices = prices_for(func, network, chip, BYTES[mode])
            some = [edge for edge in network.edges if _may_have_blocks(edge, prices)]
            folds = choose_folds(network, prices) if some else None
            for edge in some:
                best = _best(edge, folds or {}, prices)
                if best is not None and isinstance(edge.op, Sliding):
                    _Spreading(func, weights).run(edge.op, _whole(edge.op, prices), *best)


def _may_have_blocks(edge: Edge, prices: Prices) -> bool:
    op = edge.op
    if isinstance(op, top.MaxPoolOp) or edge.slide.dilation > 1:
        return False
    outputs, rank = shape_of(op.output)[1], len(shape_of(op.output))
    if rank != len(op.kernel_shape) + 2 or not set(ints(op.dilations or ())) <= {1}:
        return False
    if isinstance(op, top.DeconvOp):
        return max(ints(op.strides)) > 1
    last = outputs - _whole(op, prices)
    return 0 < last <= prices.chip.lanes // 2 and max(ints(op.kernel_shape)) > 1


def _whole(op: Sliding, prices: Prices) -> int:
    """Outputs that fill all lanes without blocks; none of a transposed convolution, which
    multiplies zeros then."""
    if isinstance(op, top.DeconvOp):
        return 0
    lanes = prices.chip.lanes
    return shape_of(op.output)[1] // lanes * lanes


def _best(edge: Edge, folds: Folds, prices: Prices) -> tuple[Block, bool] | None:
    """The block of the lowest estimate, and whether it is divided; None where columns, or nothing
    at all, are as good."""
    source, target = folds.get(edge.source, 1), folds.get(edge.target, 1)
    assert isinstance(edge.op, Sliding)
    whole = _whole(edge.op, prices)
    if source > 1 or (whole and target > 1):
        return None
    otherwise = prices.way(edge, 1, target)[0]
    if target > 1:
        otherwise += prices.values(edge.target, target) - prices.values(edge.target, 1)
    last = shape_of(edge.op.output)[1] - whole
    beside = _beside_blocks(edge.op, whole, prices)
    blocks = list(blocks_of(edge.op, last, prices))
    best: tuple[Block, bool] | None = None
    for divided in (False, True)[: 1 + isinstance(edge.op, top.DeconvOp)]:
        found = [(price_of(edge.op, last, one, prices, divided=divided), one) for one in blocks]
        price, block = min(found, default=(otherwise, Block(1, 1)))
        if beside + price < GAIN * otherwise:
            otherwise, best = beside + price, (block, divided)
    return best


def _beside_blocks(op: Sliding, whole: int, prices: Prices) -> float:
    """Cycles of the outputs that fill all lanes, and of putting the others behind them."""
    if not whole:
        return 0
    _, inputs, height, width = shape_of(op.filter)
    images, outputs, *places = shape_of(op.output)
    pixels = images * math.prod(places)
    moved = -(-outputs // prices.chip.lanes) * -(-pixels // prices.chip.eu(prices.width))
    return prices.array(inputs, whole, height * width, pixels) + moved


class _Spreading(Building):
    """One convolution on its way to blocks."""

    def run(self, op: Sliding, whole: int, block: Block, divided: bool) -> None:
        """Put new convolutions and what spreads channels in the place of the old one: of all its
        outputs, or of those behind the `whole` lane groups."""
        if len(op.kernel_shape) == 1:
            op = self._widened(op)
        behind = list(_behind(op))
        last = behind[-1] if behind else op
        self._builder = Builder(InsertPoint.before(last))
        parts = parts_of(op, block, divided=divided)
        labels = ["in_blocks"] if len(parts) == 1 else [f"part{n}" for n in range(len(parts))]
        made = [self._first(op, whole)] if whole else []
        made += [self._in_blocks(op, whole, block, *one) for one in zip(parts, labels, strict=True)]
        for follower in behind:
            name = required_name(follower)
            names = [f"{name}_{label}" for label in ("first", *labels)][-len(made) :]
            made = [self._follow(follower, *one) for one in zip(made, names, strict=True)]
        shape, name = list(shape_of(last.results[0])), required_name(last)
        shape[1] -= whole
        spread = top.Depth2SpaceOp.make(
            f"{name}_last" if whole else name,
            (self._joined(f"{name}_in_blocks", made[bool(whole) :]),),
            result_types=(tensor_like(last.results[0], shape),),
            block_h=block.rows,
            block_w=block.columns,
            is_CRD=False,
            is_inversed=False,
        )
        result = self._builder.insert(spread).output
        if whole:
            result = self._joined(name, (made[0], result))
        last.results[0].replace_all_uses_with(result)
        for old in (*reversed(behind), op):
            old.detach()
            old.erase()

    def _widened(self, op: Sliding) -> Sliding:
        """A filter over lines as one over images of one column."""
        self._builder = Builder(InsertPoint.before(op))
        name, shape = required_name(op), (*shape_of(op.output), 1)
        image = self._reshape(op.input, (*shape_of(op.input), 1), f"{name}_image")
        kernel = (*shape_of(op.filter), 1)
        filters = self._changed(op.filter, f"{name}_wide_filter", kernel, lambda data: data)
        wide = rebuilt(
            op,
            operands=[image, filters, op.bias],
            result_types=[tensor_like(op.output, shape)],
            location=name_loc(f"{name}_wide"),
        )
        wide.kernel_shape, wide.strides = (
            I64_ARRAY.encode((*ints(one), 1)) for one in (op.kernel_shape, op.strides)
        )
        before, after = ints(op.pads) or (0, 0)
        wide.pads, wide.dilations = (
            I64_ARRAY.encode((before, 0, after, 0)),
            I64_ARRAY.encode((1, 1)),
        )
        if isinstance(wide, top.DeconvOp) and wide.output_padding is not None:
            wide.output_padding = I64_ARRAY.encode((*ints(wide.output_padding), 0))
        result = self._builder.insert(wide).output
        line = self._reshape(result, shape[:-1], name)
        op.output.replace_all_uses_with(line)
        op.detach()
        op.erase()
        return wide

    def _follow(self, op: Operation, value: SSAValue, name: str) -> SSAValue:
        kind = tensor_like(op.results[0], shape_of(value))
        operands = [value, *op.operands[1:]]
        new = rebuilt(op, operands=operands, result_types=[kind], location=name_loc(name))
        return self._builder.insert(new).results[0]

    def _first(self, op: Sliding, whole: int) -> SSAValue:
        """The outputs that fill all lanes."""
        name, shape = required_name(op), list(shape_of(op.output))
        shape[1] = whole
        made = whole, shape_of(op.filter)[2:]
        operands = [op.input, *self._tables(op, slice(whole), "first", lambda data: data, made)]
        conv = rebuilt(
            op,
            operands=operands,
            result_types=[tensor_like(op.output, shape)],
            location=name_loc(f"{name}_first"),
        )
        return self._builder.insert(conv).output

    def _joined(self, name: str, values: Sequence[SSAValue]) -> SSAValue:
        """The channels of all values."""
        if len(values) == 1:
            return values[0]
        shape = list(shape_of(values[0]))
        shape[1] = sum(shape_of(value)[1] for value in values)
        kind = tensor_like(values[0], shape)
        return self._builder.insert(
            top.ConcatOp.make(name, values, result_types=(kind,), axis=1)
        ).output

    def _in_blocks(self, op: Sliding, start: int, block: Block, part: Part, label: str) -> SSAValue:
        """The outputs from `start` on, of all pixels of a part of a block."""
        images, channels, height, width = shape_of(op.output)
        ways, outputs = ways_of(op, block), channels - start
        count = outputs * (part.places.stop - part.places.start)
        first = outputs * part.places.start

        def filters(data: Array) -> Array:
            return beside(data, ways)[(slice(first, first + count), slice(None), *part.taps)]

        shape = (images, count, height // block.rows, width // block.columns)
        kernel = [taps.stop - taps.start for taps in part.taps]
        tables = self._tables(op, slice(start, None), label, filters, (count, kernel))
        kind = TensorType(element_of(op.output), shape)
        name = name_loc(f"{required_name(op)}_{label}")
        conv = as_convolution(op, [op.input, *tables], kind, name)
        for axis, (how, taps) in enumerate(zip(ways, part.taps, strict=True)):
            set_window(conv, how.within(taps), axis)
        return self._builder.insert(conv).output

    def _tables(
        self,
        op: Sliding,
        outputs: slice,
        label: str,
        change: Callable[[Array], Array],
        made: tuple[int, Sequence[int]],
    ) -> Sequence[SSAValue]:
        """Filter and bias of some outputs, as `made` ones of a kernel."""
        (count, kernel), name = made, required_name(op)
        old = len(range(*outputs.indices(shape_of(op.output)[1])))

        def filters(data: Array) -> Array:
            return change(data[outputs])

        def biases(data: Array) -> Array:
            return repeated(data.reshape(-1)[outputs], count // old)

        shape = (count, shape_of(op.filter)[1], *kernel)
        tables = [self._changed(op.filter, f"{name}_{label}_filter", shape, filters), op.bias]
        if not is_none(op.bias):
            tables[1] = self._changed(op.bias, f"{name}_{label}_bias", (count,), biases)
        return tables

    def _changed(
        self, old: SSAValue, name: str, shape: Sequence[int], change: Callable[[Array], Array]
    ) -> SSAValue:
        def data() -> Array:
            assert self._weights is not None
            return change(self._weights[required_name(old)].reshape(shape_of(old)))

        return self._new_weight(name, shape, element_of(old), data)


def _behind(op: Sliding) -> Iterator[Operation]:
    """The ops behind a convolution that work on each element of what the one before gives alone."""
    value = op.output
    while (use := value.get_unique_use()) is not None and use.index == 0:
        reader = use.operation
        plain = reader.has_trait(InOutSameShape) and reader.has_trait(SupportElementwise)
        if not plain or len(reader.results) != 1 or not all(map(is_none, reader.operands[1:])):
            return
        yield reader
        value = reader.results[0]
