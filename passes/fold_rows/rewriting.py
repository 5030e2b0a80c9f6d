"""A function on its way to blocks of rows."""

import math

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import I64_ARRAY, I64_INT, ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.channels import AlongChannels
from xdsl_tpu.dialects.names import fused_loc, name_loc
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.fold_columns.building import Folding
from xdsl_tpu.passes.fold_columns.filters import Array
from xdsl_tpu.passes.fold_rows.choice import Folds, Prices
from xdsl_tpu.passes.fold_rows.network import (
    Edge,
    Network,
    blocks_shape,
    halo_of,
    per_channel,
)
from xdsl_tpu.passes.graph import rebuilt, tensor_like
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of


class Rewriting(Folding[Edge]):
    """Puts ops on blocks in the place of others; each value is made in the ways that it is read."""

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

    def _is_folded(self, op: Operation) -> bool:
        return op in self._network.steps and self._fold(op.results[0]) > 1

    def _fold(self, value: SSAValue) -> int:
        return self._folds[self._network.of[value]]

    def _in(self, value: SSAValue, fold: int) -> SSAValue:
        """A value in so many blocks: as it was made, or seen as such."""
        versions = self._made.setdefault(value, {1: value})
        if fold not in versions:
            name = required_name(value) + (f"_rows_by_{fold}" if fold > 1 else "")
            source = next(iter(versions.values()))
            versions[fold] = self._reshape(source, blocks_shape(shape_of(value), fold), name)
        return versions[fold]

    def _follow(self, op: Operation) -> None:
        """An op whose values all have as many blocks."""
        fold = self._fold(op.results[0])
        few = per_channel(op)
        operands = [
            self._repeated(v, fold) if v is few and not is_weight(v) else self._operand(op, v, fold)
            for v in op.operands
        ]
        names = [f"{required_name(result)}_in_rows" for result in op.results]
        kinds = [tensor_like(r, blocks_shape(shape_of(r), fold)) for r in op.results]
        location = fused_loc(names) if len(names) > 1 else name_loc(names[0])
        new = rebuilt(op, operands=operands, result_types=kinds, location=location)
        if isinstance(op, AlongChannels):
            new.attributes.update(op.multiplied(fold, shape_of(operands[0])) or {})
        self._builder.insert(new)
        for old, result in zip(op.results, new.results, strict=True):
            self._made[old] = {fold: result}

    def _operand(self, op: Operation, value: SSAValue, fold: int) -> SSAValue:
        if is_none(value):
            return value
        if not is_weight(value):
            return self._in(value, fold)
        shape, channels = list(shape_of(value)), math.prod(shape_of(value))
        shape[1 if len(shape) == 4 else shape.index(channels)] *= fold
        name = f"{required_name(op)}_in_rows_{required_name(value)}"
        return self._new_weight(
            name, shape, element_of(value), lambda: np.repeat(self._data(value).reshape(-1), fold)
        )

    def _data(self, weight: SSAValue) -> Array:
        assert self._weights is not None
        return self._weights[required_name(weight)].reshape(shape_of(weight))

    def _mixed(self, x: SSAValue, like: SSAValue, name: str, matrix: Array) -> SSAValue:
        """Channels times a matrix [outputs, inputs]."""
        outputs, inputs = matrix.shape
        images, _, *rest = shape_of(x)
        result = TensorType(element_of(like), (images, outputs, *rest))
        data = (outputs, inputs, lambda: matrix.astype(np.float32))
        return self._convolution(top.ConvOp, name, like, (x, result), data, (1, 1, 0, 0))

    def _repeated(self, value: SSAValue, fold: int) -> SSAValue:
        """One element a channel, for each of its blocks."""
        plain, channels = self._in(value, 1), shape_of(value)[1]
        matrix = np.repeat(np.eye(channels), fold, axis=0)
        return self._mixed(plain, value, f"{required_name(value)}_for_{fold}", matrix)

    def _cross(self, edge: Edge) -> bool:
        op, taken = edge.op, self._folds[edge.source]
        given = taken if edge.target is None else self._folds[edge.target]
        _, fold = self._prices.edge(edge, taken, given)
        if fold == 1:
            if op.input in self._made:
                op.operands[0] = self._in(op.input, 1)
            return False
        x = self._in(op.input, fold)
        if edge.target is None:
            assert isinstance(op, top.AvgPoolOp)
            self._made[op.output] = {1: self._mean(op, x, fold)}
        else:
            self._made[op.output] = {fold: self._slide(op, x, fold)}
        return True

    def _mean(self, op: top.AvgPoolOp, x: SSAValue, fold: int) -> SSAValue:
        """Means of blocks, and of these."""
        shape, channels = shape_of(x), shape_of(op.output)[1]
        kind = tensor_like(op.input, (*shape[:2], 1, 1))
        name = required_name(op)
        parts = rebuilt(op, operands=[x], result_types=[kind], location=name_loc(f"{name}_of_rows"))
        parts.attributes["kernel_shape"] = I64_ARRAY.encode(shape[2:])
        means = self._builder.insert(parts).results[0]
        return self._mixed(means, op.output, name, np.repeat(np.eye(channels), fold, 1) / fold)

    def _slide(self, op: Operation, x: SSAValue, fold: int) -> SSAValue:
        """A filter within each block."""
        name = f"{required_name(op)}_in_rows"
        shape = blocks_shape(shape_of(op.results[0]), fold)
        new = rebuilt(
            op,
            operands=[x, *op.operands[1:]],
            result_types=[tensor_like(op.results[0], shape)],
            location=name_loc(name),
        )
        if isinstance(new, top.ConvOp) and isinstance(op, top.ConvOp):
            new.operands[0] = self._with_halo(op, x, fold)
            new.operands[1] = self._filter(op, fold)
            new.operands[2] = self._operand(op, op.bias, fold)
            pads = list(ints(op.pads)) or [0] * 4
            pads[0] = pads[2] = 0
            new.attributes["pads"] = I64_ARRAY.encode(pads)
            if op.group.value.data > 1:
                new.attributes["group"] = I64_INT.encode(op.group.value.data * fold)
        return self._builder.insert(new).results[0]

    def _filter(self, op: top.ConvOp, fold: int) -> SSAValue:
        outputs, inputs, *kernel = shape_of(op.filter)
        depthwise = op.group.value.data > 1
        shape = (outputs * fold, inputs * (1 if depthwise else fold), *kernel)

        def data() -> Array:
            old = self._data(op.filter)
            if depthwise:
                return np.repeat(old, fold, axis=0)
            new = np.zeros((outputs, fold, inputs, fold, *kernel), old.dtype)
            for block in range(fold):
                new[:, block, :, block] = old
            return new.reshape(shape)

        return self._new_weight(
            f"{required_name(op)}_in_rows_filter", shape, element_of(op.filter), data
        )

    def _with_halo(self, op: top.ConvOp, x: SSAValue, fold: int) -> SSAValue:
        """Blocks with the rows of their neighbours that a filter sees."""
        halo, name = halo_of(op), required_name(op)
        assert halo is not None
        channels = shape_of(op.input)[1]
        parts = [x]
        images, many, rows, columns = shape_of(x)
        if halo.above:
            last = self._rows(x, op.input, rows - halo.above, rows, f"{name}_above")
            parts.insert(
                0, self._mixed(last, op.input, f"{name}_above_moved", _shifted(channels, fold, -1))
            )
        if halo.below:
            first = self._rows(x, op.input, 0, halo.below, f"{name}_below")
            parts.append(
                self._mixed(first, op.input, f"{name}_below_moved", _shifted(channels, fold, 1))
            )
        if len(parts) == 1:
            return x
        kind = tensor_like(op.input, (images, many, rows + halo.above + halo.below, columns))
        made = top.ConcatOp.make(f"{name}_with_halo", parts, result_types=[kind], axis=2)
        return self._builder.insert(made).output

    def _rows(self, x: SSAValue, like: SSAValue, first: int, end: int, name: str) -> SSAValue:
        images, channels, _, columns = shape_of(x)
        kind = tensor_like(like, (images, channels, end - first, columns))
        made = top.SliceOp.make(
            name,
            [x, self._none, self._none, self._none],
            result_types=[kind],
            offset=[0, 0, first, 0],
            steps=[1, 1, 1, 1],
            ends=[images, channels, end, columns],
            axes=[],
        )
        return self._builder.insert(made).results[0]


def _shifted(channels: int, fold: int, by: int) -> Array:
    """Each block takes what its neighbour has; the outermost one zeros."""
    return np.kron(np.eye(channels), np.eye(fold, k=by))
