"""Values that lie as often as they are needed, so that an op can be seen as its neighbours are.

A sum of the scores of 16 windows of 4 heads with a matrix for each head cannot be seen as one of 64
matrices, as products see their scores. With the matrices written 16 times it can. So it is with a
mask for each of several sequences, of which each has several heads.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import LaneView
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.tpu.local import LocalBroadcast
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.graph import derived_name
from xdsl_tpu.passes.place_values.choose import Chooser
from xdsl_tpu.passes.place_values.components import Component
from xdsl_tpu.passes.tensors import (
    element_of,
    is_weight,
    none_of,
    shape_of,
    size_in_bytes,
)
from xdsl_tpu.passes.weight_data import change_weight

TIMES = 2
"""How many times as long as the loads what is saved must take: a network may wait for weights."""

_MATRIX = 2
"""Dimensions at the end along which nothing is repeated."""

_Repeats = Mapping[tuple[LaneView, int], Shape]
"""Ops, the places of weights among their operands, and the shapes that these would have."""


@dataclass(frozen=True)
class Repeater:
    """Repeats weights, and small values, where what is saved by it takes longer than loading them.

    `tiled` are the values that have been repeated to a shape, each once for all that read it so.
    """

    chooser: Chooser
    weights: Weights | None
    tiled: dict[tuple[SSAValue, Shape], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, Shape], SSAValue]
    )

    def repeat(self, component: Component) -> None:
        """Repeat those of the ops of a component, all or none."""
        repeats = dict(self._repeats(component))
        if not repeats:
            return
        gained = self._best(component) - self._with(component, repeats)
        if gained < TIMES * self._loads(repeats):
            return
        for (op, place), shape in repeats.items():
            if is_weight(value := op.operands[place]):
                repeated = partial(np.broadcast_to, shape=shape)
                change_weight(op, place, shape, repeated, self.weights)
            else:
                op.operands[place] = self._tiled(value, shape)

    def _tiled(self, value: SSAValue, shape: Shape) -> SSAValue:
        """A computed value, or an input, repeated to a shape."""
        if (value, shape) not in self.tiled:
            owner, after = value.owner, InsertPoint.after
            place = InsertPoint.at_start(owner) if isinstance(owner, Block) else after(owner)
            func = place.block.parent_op()
            assert isinstance(func, FuncOp)
            none = none_of(func)
            tile = tpu.TileOp.make(
                derived_name(value, f"_repeated_{len(self.tiled)}"),
                (value, none),
                result_types=(TensorType(element_of(value), shape),),
                tile=[n // own for n, own in zip(shape, shape_of(value), strict=True)],
            )
            Rewriter.insert_op(tile, place)
            self.tiled[value, shape] = tile.output
        return self.tiled[value, shape]

    def _repeats(self, component: Component) -> Iterator[tuple[tuple[LaneView, int], Shape]]:
        """Operands for which an op cannot be seen in some way that the component asks for."""
        options = None
        for op in component.ops:
            if not isinstance(op, LocalBroadcast):
                continue
            for place, value in enumerate(op.operands):
                shape = _repeated(op, value)
                if shape is None:
                    continue
                if options is None:
                    options = self.chooser.options(component)
                if any(op.viewed(lanes) is None for lanes in options):
                    yield (op, place), shape

    def _best(self, component: Component) -> float:
        """The least that a component costs."""
        chooser = self.chooser
        costs = [chooser.cost(component, lanes) for lanes in chooser.options(component)]
        return min([chooser.as_it_stands(component), *costs])

    def _with(self, component: Component, repeats: _Repeats) -> float:
        """The same with operands repeated."""
        olds = {(op, place): op.operands[place] for op, place in repeats}
        for (op, place), shape in repeats.items():
            op.operands[place] = _weight(olds[op, place], shape)
        cost = self._best(component)
        for (op, place), old in olds.items():
            op.operands[place] = old
        return cost

    def _loads(self, repeats: _Repeats) -> float:
        """Cycles in which what is more is loaded, and before that written, if it is no weight."""
        more = 0.0
        for (op, place), shape in repeats.items():
            value = op.operands[place]
            times = prod(shape) // prod(shape_of(value)) - (1 if is_weight(value) else 0)
            more += (1 if is_weight(value) else 2) * size_in_bytes(value) * times
        return more / self.chooser.chip.load_bytes_per_cycle


def _repeated(op: Operation, value: SSAValue) -> Shape | None:
    """The shape of an operand of matrices that has one for each of those of the result; what is
    computed has a row of each at most."""
    whole = shape_of(op.results[0])
    if is_none(value) or len(whole) <= _MATRIX:
        return None
    if not is_weight(value) and (len(shape_of(value)) < _MATRIX or shape_of(value)[-_MATRIX] > 1):
        return None
    shape = shape_of(value)
    full = (*whole[:-_MATRIX], *shape[-_MATRIX:])
    some = len(shape) == len(whole) and 1 < prod(shape[:-_MATRIX]) < prod(whole[:-_MATRIX])
    return full if some else None


def _weight(value: SSAValue, shape: Shape) -> SSAValue:
    """What stands for a weight of another shape."""
    kind = TensorType(element_of(value), shape)
    return top.WeightOp.make(derived_name(value, ""), (), result_types=(kind,)).output
