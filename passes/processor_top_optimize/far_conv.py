"""Convolutions whose windows lie further apart than a command can say."""

from collections.abc import Iterator

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.backend.isa.common import LIMITS
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.interpreters.layouts import MERGE_HEIGHT, MERGE_NOTHING, choose_3ic
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.constants import Floats, make_weight, values_of
from xdsl_tpu.passes.graph import (
    derived_name,
    has_shapes,
    module_of,
    none_for,
    rebuilt,
    tensor_like,
)
from xdsl_tpu.passes.module_state import MODE_BYTES, chip_of, float_format
from xdsl_tpu.passes.tensors import shape_of

FLOATS = ("F32", "F16", "BF16")


class FarConv(RewritePattern):
    """Conv(x: NxCxHxW) {k, stride s} -> Conv(NxsCx(H/s)xW) {k/s rounded up, stride 1}.

        Conv {20x3, strides 20x1}  1x70x40x9   ->   Reshape, Permute, Reshape  1x1400x2x9
                                                    Conv {1x3, strides 1x1}
        Conv {3x3, strides 33x1}   1x40x70x9   ->   Slice, Reshape, Slice, Reshape  1x40x6x9
                                                    Conv {3x3, strides 3x1}

    Along an axis whose stride no command can say the image is seen in blocks of that many rows (or
    columns), which become channels; what of a block no window reads is left out, and then, where
    few rows are left, they stay rows, a block behind another. Borders are put around the image
    before. Windows of one row that lie side by side need nothing: kernels take each as a row, also
    where it is one because rows are merged as they are loaded (`use_3ic_optimize`). The longest
    stride is asked of the instruction set.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ConvOp, rewriter: PatternRewriter) -> None:
        made = _nearer(op, float_format(module_of(op)) or "F16", rewriter)
        if made:
            rewriter.replace(op, made)


def bring_nearer(func: FuncOp, modes: dict[Operation, str]) -> None:
    """The same for convolutions that are lowered to other floats than the network as a whole, of
    which other rows can be merged; `modes` then has the new ops."""
    mode = float_format(module_of(func)) or "F16"
    for op in [op for op in func.body.block.ops if isinstance(op, top.ConvOp)]:
        own, conv = modes.get(op, mode), op
        while own in FLOATS and own != mode and (made := _nearer(conv, own, PatternRewriter(conv))):
            modes.update((one, own) for one in made if not isinstance(one, top.WeightOp))
            modes.pop(conv, None)
            PatternRewriter(conv).replace(conv, made)
            conv = made[-1]
            assert isinstance(conv, top.ConvOp)


def _nearer(op: top.ConvOp, mode: str, rewriter: PatternRewriter) -> list[Operation]:
    """What stands for a convolution one of whose strides no command can say, itself the last; none
    where there is no such stride, or in vain."""
    if not has_shapes(op.input, op.filter, op.output) or any(ints(op.inserts or ())):
        return []
    strides = ints(op.strides)
    far = [axis for axis, stride in enumerate(strides) if stride > LIMITS.window_stride]
    if not far or _are_rows(op, mode):
        return []
    filters = values_of(op.filter)
    if filters is None:
        return []
    axis = 0 if _become_rows(op) else far[0]
    return list(_Along(op, axis, none_for(op, rewriter)).rewritten(filters))


def _are_rows(op: top.ConvOp, mode: str) -> bool:
    """Whether every window is a row of its own, once rows that can be are merged."""
    kernel, strides, shape = ints(op.kernel_shape), ints(op.strides), shape_of(op.input)
    if len(kernel) != 2 or op.group.value.data != 1 or any(ints(op.pads)):
        return False
    if set(ints(op.dilations or ())) - {1}:
        return False
    size = MODE_BYTES[mode]
    lanes = chip_of(module_of(op)).weight_lanes
    merge = choose_3ic(shape_of(op.filter)[1], *kernel, size, lanes)
    one_row = kernel[0] == strides[0] == 1 and merge == MERGE_NOTHING
    beside = kernel[1] == strides[1] and shape[3] == shape_of(op.output)[3] * strides[1]
    near = merge == MERGE_HEIGHT and strides[1] <= LIMITS.window_stride
    return near or (beside and (one_row or merge == MERGE_HEIGHT))


def _become_rows(op: top.ConvOp) -> bool:
    """Whether windows are rows of their own once their rows are channels."""
    kernel, strides, shape = ints(op.kernel_shape), ints(op.strides), shape_of(op.input)
    beside = kernel == strides and not any(ints(op.pads)) and op.group.value.data == 1
    plain = not set(ints(op.dilations or ())) - {1}
    return beside and plain and shape[3:] == (shape_of(op.output)[-1] * strides[-1],)


class _Along:
    """A convolution along the spatial axis of number `axis`."""

    def __init__(self, op: top.ConvOp, axis: int, none: SSAValue) -> None:
        self.op, self.axis, self.none = op, axis, none
        self.at = 2 + axis
        kernel, rank = ints(op.kernel_shape), len(ints(op.kernel_shape))
        self.stride = ints(op.strides)[axis]
        self.dilation = ints(op.dilations)[axis] if op.dilations is not None else 1
        self.reach = (kernel[axis] - 1) * self.dilation + 1
        self.count = -(-self.reach // self.stride)
        self.kept = min(self.reach, self.stride)
        self.blocks = shape_of(op.output)[self.at] - 1 + self.count
        self.before = ints(op.pads)[axis]
        self.sides = axis, rank + axis
        near = self.count == 1 and self.kept <= LIMITS.window_stride
        self.stays = near and self.stride > LIMITS.window_stride

    def rewritten(self, filters: Floats) -> Iterator[Operation]:
        """The ops that stand for it, the convolution last."""
        value = self.op.input
        for made in self._moved():
            value = made.results[0]
            yield made
        operands = [value, *self.op.operands[1:]]
        if not self.stays:
            weight = make_weight(self.op, self._name("filter"), self._folded(filters))
            yield weight
            operands[1] = weight.output
        conv = rebuilt(self.op, operands=operands)
        pads = list(ints(conv.pads))
        for side in self.sides:
            pads[side] = 0
        conv.pads = I64_ARRAY.encode(pads)
        strides, kernel = list(ints(conv.strides)), list(ints(conv.kernel_shape))
        strides[self.axis] = self.kept if self.stays else 1
        conv.strides = I64_ARRAY.encode(strides)
        if not self.stays:
            kernel[self.axis] = self.count
            conv.kernel_shape = I64_ARRAY.encode(kernel)
            dilations = [1] * len(kernel) if conv.dilations is None else list(ints(conv.dilations))
            dilations[self.axis] = 1
            conv.dilations = I64_ARRAY.encode(dilations)
        yield conv

    def _name(self, what: str) -> str:
        return derived_name(self.op, f"_r_{what}_{self.axis}")

    def _moved(self) -> Iterator[Operation]:
        """The image in whole blocks, of which the rows that are read become channels, or stay."""
        at, value, shape = self.at, self.op.input, list(shape_of(self.op.input))
        behind = self.blocks * self.stride - shape[at] - self.before
        if behind < 0:
            shape[at] += behind
            yield (made := self._first(value, at, shape, "read"))
            value = made.output
        if self.before or behind > 0:
            counts = [0] * (2 * len(shape))
            counts[at], counts[len(shape) + at] = self.before, max(0, behind)
            shape[at] = self.blocks * self.stride
            padded = top.PadOp.make(
                self._name("padded"),
                (value, self.none),
                result_types=[tensor_like(value, shape)],
                paddings=counts,
                mode="constant",
            )
            yield padded
            value = padded.output
        apart = [*shape[:at], self.blocks, self.stride, *shape[at + 1 :]]
        yield (blocks := reshape(self._name("blocks"), value, apart))
        value = blocks.output
        if self.kept < self.stride:
            apart[at + 1] = self.kept
            yield (made := self._first(value, at + 1, apart, "windows"))
            value = made.output
        if self.stays:
            together = [*shape[:at], self.blocks * self.kept, *shape[at + 1 :]]
            yield reshape(self._name("together"), value, together)
            return
        order = [axis for axis in range(len(apart)) if axis != at + 1]
        order.insert(2, at + 1)
        turned = top.PermuteOp.make(
            self._name("turned"),
            (value,),
            result_types=[tensor_like(value, [apart[axis] for axis in order])],
            order=order,
        )
        yield turned
        folded = [shape[0], shape[1] * self.kept, *shape[2:]]
        folded[at] = self.blocks
        yield reshape(self._name("folded"), turned.output, folded)

    def _first(self, value: SSAValue, axis: int, shape: list[int], what: str) -> top.SliceOp:
        """As much of a value as this shape has, which is shorter along one axis."""
        return top.SliceOp.make(
            self._name(what),
            (value, self.none, self.none, self.none),
            result_types=[tensor_like(value, shape)],
            offset=[0] * len(shape),
            ends=list(shape),
            steps=[1] * len(shape),
            hasparamConvert_axes=[axis],
        )

    def _folded(self, filters: Floats) -> Floats:
        """Taps of a filter by block and place in it, those of a block as channels."""
        at, shape = self.at, filters.shape
        spread = np.zeros((*shape[:at], self.count * self.kept, *shape[at + 1 :]), filters.dtype)
        places = [slice(None)] * len(shape)
        places[at] = slice(0, self.reach, self.dilation)
        spread[tuple(places)] = filters
        parts = spread.reshape(*shape[:at], self.count, self.kept, *shape[at + 1 :])
        turned = np.moveaxis(parts, at + 1, 2)
        sizes = list(shape)
        sizes[1], sizes[at] = shape[1] * self.kept, self.count
        return turned.reshape(sizes)
