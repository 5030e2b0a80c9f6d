"""The pass `fold-columns`."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.channels import AlongChannels
from xdsl_tpu.dialects.names import fused_loc, name_loc
from xdsl_tpu.dialects.weights import Weights, known_weights
from xdsl_tpu.passes.fold_columns.building import Folding, as_convolution, set_window
from xdsl_tpu.passes.fold_columns.choice import Folds, Prices, choose_folds, prices_for
from xdsl_tpu.passes.fold_columns.filters import (
    Array,
    FoldedSlide,
    Slide,
    beside,
    folded,
    folded_filter,
    shortest,
    staggering,
)
from xdsl_tpu.passes.fold_columns.network import (
    Edge,
    Network,
    Sliding,
    columns_axis,
    in_step,
    is_given,
    network_of,
    rows_together,
)
from xdsl_tpu.passes.graph import rebuilt
from xdsl_tpu.passes.module_state import State, chip_of, float_format, require_state
from xdsl_tpu.passes.tensors import element_of, functions, is_weight, required_name, shape_of
from xdsl_tpu.passes.weight_data import Change

BYTES = {"F32": 4, "F16": 2, "BF16": 2, "INT8": 1}
"""Of an element, in each mode."""


@dataclass(frozen=True)
class FoldColumnsPass(ModulePass):
    """Let neighbouring columns be channels where there are too few of these to fill the array.

        %y = Conv(%x) : (1x8x12800) -> 1x8x12800, 11 taps
        %z = LeakyRelu(%y)
    ->
        %f = fold(%x) : 1x8x12800 -> 1x64x1600
        %g = Conv(%f) : (1x64x1600) -> 1x64x1600, 3 taps
        %h = LeakyRelu(%g)
        %z = unfold(%h) : 1x64x1600 -> 1x8x12800

    Column f i + p of channel c is column i of channel c f + p then. Folds are chosen by estimated
    cycles for `chip`, a name or a `.toml` description: moves at the borders count, which are
    transpositions or filters of zeros and ones, and a network without convolutions of few channels
    is left alone. A strided convolution may fold its result by itself, and a transposed one by its
    stride: it has no zeros to multiply then. Where taps become fewer by it, the last channels of
    each folded column are moved to the next one in front of a convolution, by a depthwise one. A
    maximum of columns that are channels is that of what filters of zeros and ones pick. Where the
    result of a convolution of folded columns is not folded, rows may become channels of it, too,
    as in `fold-blocks`, before all are moved back.
    """

    name = "fold-columns"

    chip: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        require_state(op, State.TOP_F32, self.name, State.TOP_CALIBRATED)
        chip, width = chip_of(op, self.chip), BYTES[float_format(op) or "F16"]
        weights = known_weights(op)
        for func in functions(op):
            network = network_of(func)
            prices = prices_for(func, network, chip, width)
            folds = choose_folds(network, prices)
            if folds is not None:
                _Rewriting(func, network, folds, prices, weights).run()


class _Rewriting(Folding[Edge]):
    """A function on its way to folded values; each value is made in the folds that are read."""

    def __init__(
        self,
        func: FuncOp,
        network: Network,
        folds: Folds,
        prices: Prices,
        weights: Weights | None,
    ) -> None:
        super().__init__(func, weights, {edge.op: edge for edge in network.edges})
        self._network, self._folds, self._prices = network, folds, prices
        self._staggers: dict[tuple[SSAValue, int, int], SSAValue] = {}

    def _is_folded(self, op: Operation) -> bool:
        return in_step(op) and self._fold(op.results[0]) > 1

    def _fold(self, value: SSAValue) -> int:
        return self._folds[self._network.of[value]]

    def _in(self, value: SSAValue, fold: int) -> SSAValue:
        """A value in some fold: as it was made, or moved to where it is read."""
        versions = self._made.setdefault(value, {1: value})
        if fold not in versions:
            source = next(iter(versions))
            ways = (shape_of(value), source, fold, is_given(value))
            if self._prices.by_array(*ways) <= self._prices.through_ddr(*ways):
                versions[fold] = self._by_array(value, source, fold)
                return versions[fold]
            plain = versions.get(1)
            if plain is None:
                plain = versions[1] = self._unfolded(value, versions[source], source)
            if fold != 1:
                versions[fold] = self._folded(value, plain, fold)
        return versions[fold]

    def _by_array(self, value: SSAValue, source: int, fold: int) -> SSAValue:
        """A filter of zeros and ones: strided to fold, transposed to unfold."""
        shape = shape_of(value)
        columns, channels = shape[columns_axis(shape)], shape[1]
        taken, given = (source, fold) if fold > 1 else (1, source)
        how = folded(Slide(1, 1, 1, 0, 0, columns, columns), taken, given)
        assert how is not None

        def data() -> Array:
            one = folded_filter(np.eye(channels, dtype=np.float32)[..., None], 0, how)
            return one if fold > 1 else one.swapaxes(0, 1)

        name = required_name(value) + (f"_fold_{fold}" if fold > 1 else "")
        less, more = channels * taken, channels * given
        outputs, inputs = (more, less) if fold > 1 else (less, more)
        window = (how.slide.kernel, how.slide.stride, 0, 0)
        kind = top.ConvOp if fold > 1 else top.DeconvOp
        result = _folded_type(value, fold)
        return self._convolution(
            kind, name, value, (self._made[value][source], result), (outputs, inputs, data), window
        )

    def _staggered(self, value: SSAValue, fold: int, stagger: int) -> SSAValue:
        """A folded value with the last channels of each column in the next one."""
        known = self._staggers.get((value, fold, stagger))
        if known is not None:
            return known
        x, shape = self._in(value, fold), list(_folded_shape(shape_of(value), fold))
        channels, shape[columns_axis(shape)] = shape[1], shape[columns_axis(shape)] + 1
        made = self._convolution(
            top.ConvOp,
            f"{required_name(value)}_fold_{fold}_stagger_{stagger}",
            value,
            (x, TensorType(element_of(value), shape)),
            (channels, 1, lambda: staggering(channels // fold, fold, stagger)),
            (2, 1, 1, 1),
            group=channels,
        )
        self._staggers[value, fold, stagger] = made
        return made

    def _follow(self, op: Operation) -> None:
        """An op whose values all have one fold."""
        fold = self._fold(op.results[0])
        operands = [self._operand(op, v, fold) for v in op.operands]
        names = [f"{required_name(result)}_folded" for result in op.results]
        new = rebuilt(
            op,
            operands=operands,
            result_types=[_folded_type(result, fold) for result in op.results],
            location=fused_loc(names) if len(names) > 1 else name_loc(names[0]),
        )
        if isinstance(op, AlongChannels):
            new.attributes.update(op.multiplied(fold, shape_of(operands[0])) or {})
        self._builder.insert(new)
        for old, result in zip(op.results, new.results, strict=True):
            self._made[old] = {fold: result}

    def _operand(self, op: Operation, value: SSAValue, fold: int) -> SSAValue:
        """What an op reads of folded values; its parameters are repeated."""
        if is_none(value):
            return value
        if not is_weight(value):
            return self._in(value, fold)
        shape, channels = list(shape_of(value)), math.prod(shape_of(value))
        shape[shape.index(channels)] *= fold
        return self._weight(
            op, value, required_name(value), shape, lambda data: np.repeat(data.reshape(-1), fold)
        )

    def _cross(self, edge: Edge) -> bool:
        """Fold what lies between values as far as these are; False when nothing changes."""
        op = edge.op
        taken, given = self._folds[edge.source], self._folds[edge.target]
        _, source, target, rows = self._prices.way(edge, taken, given)
        if (source, target) == (1, 1):
            if op.input in self._made:
                op.operands[0] = self._in(op.input, 1)
            return False
        if isinstance(op, top.MaxPoolOp):
            self._made[op.output] = {target: self._pool(op, edge, source, target)}
        elif rows > 1:
            made = self._slide(op, edge, source, target, rows)
            self._made[op.output] = {1: self._unblocked(op.output, made, rows, target)}
        else:
            self._made[op.output] = {target: self._slide(op, edge, source, target)}
        return True

    def _pool(self, op: top.MaxPoolOp, edge: Edge, source: int, target: int) -> SSAValue:
        """Rows are pooled first, then the columns that belong together are picked one by one."""
        x, name, axis = (
            self._in(op.input, source),
            required_name(op),
            columns_axis(shape_of(op.input)),
        )
        along = axis - 2
        window = [ints(op.kernel_shape), ints(op.strides)]
        sizes = list(shape_of(x))
        sizes[5 - axis] = shape_of(op.output)[5 - axis]
        rows = rebuilt(
            op,
            operands=[x],
            result_types=[TensorType(element_of(op.output), sizes)],
            location=name_loc(f"{name}_rows"),
        )
        rows.kernel_shape, rows.strides = (
            I64_ARRAY.encode([1 if a == along else n for a, n in enumerate(one)]) for one in window
        )
        pooled = self._builder.insert(rows).output
        channels = shape_of(op.input)[1]
        kind = _folded_type(op.output, target)
        picked: list[SSAValue] = []
        for number in range(edge.pooled):
            how = folded(replace(edge.slide, before=-number), source, target)
            assert how is not None
            one = np.eye(channels, dtype=np.float32)[..., None]
            picked.append(
                self._convolution(
                    top.ConvOp,
                    f"{name}_column{number}",
                    op.output,
                    (pooled, kind),
                    (channels * target, channels * source, partial(folded_filter, one, 0, how)),
                    (how.slide.kernel, how.slide.stride, how.slide.before, how.slide.after),
                )
            )
        final = f"{name}_folded" if target > 1 else name
        made = top.MaxOp.make(final, picked, result_types=[kind])
        return self._builder.insert(made).results[0]

    def _slide(self, op: Sliding, edge: Edge, source: int, target: int, rows: int = 1) -> SSAValue:
        """A filter between folded values; so many rows of its result are channels, too."""
        how = shortest(edge.slide, source, target, slides=rows > 1)
        assert how is not None
        x = self._in(op.input, source)
        if how.stagger:
            x = self._staggered(op.input, source, how.stagger)
        operands = [x, self._filter(op, how, rows), self._bias(op, target, rows)]
        shape = list(_folded_shape(shape_of(op.output), target))
        element, axis = element_of(op.output), columns_axis(shape_of(op.input)) - 2
        location = name_loc(f"{required_name(op)}_folded") if target * rows > 1 else op.location
        down = rows_together(op, rows) if rows > 1 else None
        if down is None:
            kinds = [TensorType(element, shape)]
            new = rebuilt(op, operands=operands, result_types=kinds, location=location)
        else:
            shape[1:3] = shape[1] * rows, shape[2] // rows
            new = as_convolution(op, operands, TensorType(element, shape), location)
            set_window(new, down, 0)
        set_window(new, how, axis)
        return self._builder.insert(new).results[0]

    def _filter(self, op: Sliding, how: FoldedSlide, rows: int) -> SSAValue:
        axis = columns_axis(shape_of(op.input)) - 2
        oc, ic, *kernel = shape_of(op.filter)
        kernel[axis] = how.slide.kernel
        down = rows_together(op, rows) if rows > 1 else None
        if down is not None:
            kernel[0] = down.slide.kernel
        shape = (oc * how.given * rows, ic * how.taken, *kernel)

        def filters(data: Array) -> Array:
            columns = folded_filter(data, axis, how)
            return beside(columns, [down]) if down is not None else columns

        return self._weight(op, op.filter, "filter", shape, filters)

    def _bias(self, op: Sliding, given: int, rows: int) -> SSAValue:
        if given * rows == 1 or is_none(op.bias):
            return op.bias
        shape = (math.prod(shape_of(op.bias)) * given * rows,)
        return self._weight(
            op, op.bias, "bias", shape, lambda data: np.tile(np.repeat(data.ravel(), given), rows)
        )

    def _weight(
        self, op: Operation, old: SSAValue, label: str, shape: Sequence[int], change: Change
    ) -> SSAValue:
        """A changed copy of a weight; of a module without weights only its type."""
        name = f"{required_name(op)}_folded_{label}"
        weights = self._weights

        def data() -> Array:
            assert weights is not None
            return change(weights[required_name(old)].reshape(shape_of(old)))

        return self._new_weight(name, shape, element_of(old), data)

    def _folded(self, value: SSAValue, plain: SSAValue, fold: int) -> SSAValue:
        """Reshape, Permute, Reshape."""
        shape, axis = shape_of(value), columns_axis(shape_of(value))
        split = (*shape[:axis], shape[axis] // fold, fold, *shape[axis + 1 :])
        order = [0, 1, axis + 1, *(i for i in range(2, len(split)) if i != axis + 1)]
        name = f"{required_name(value)}_fold_{fold}"
        x = self._reshape(plain, split, f"{name}_split")
        x = self._permute(x, order, f"{name}_order")
        return self._reshape(x, _folded_shape(shape, fold), name)

    def _unblocked(self, value: SSAValue, made: SSAValue, rows: int, fold: int) -> SSAValue:
        """What has rows, and folded columns, as channels: Reshape, Permute, Reshape."""
        images, channels, height, width = shape_of(value)
        split = (images, rows, channels, fold, height // rows, width // fold)
        name = required_name(value)
        x = self._reshape(made, split, f"{name}_unfold_split")
        x = self._permute(x, (0, 2, 4, 1, 5, 3), f"{name}_unfold_order")
        return self._reshape(x, shape_of(value), name)

    def _unfolded(self, value: SSAValue, made: SSAValue, fold: int) -> SSAValue:
        shape, axis = shape_of(value), columns_axis(shape_of(value))
        less = _folded_shape(shape, fold)
        split = (shape[0], shape[1], fold, *less[2:])
        order = [0, 1, *range(3, axis + 2), 2, *range(axis + 2, len(split))]
        name = required_name(value)
        x = self._reshape(made, split, f"{name}_unfold_split")
        x = self._permute(x, order, f"{name}_unfold_order")
        return self._reshape(x, shape, name)


def _folded_shape(shape: Sequence[int], fold: int) -> tuple[int, ...]:
    axis = columns_axis(shape)
    return (
        shape[0],
        shape[1] * fold,
        *shape[2:axis],
        shape[axis] // fold,
        *shape[axis + 1 :],
    )


def _folded_type(value: SSAValue, fold: int) -> TensorType[Any]:
    return TensorType(element_of(value), _folded_shape(shape_of(value), fold))
