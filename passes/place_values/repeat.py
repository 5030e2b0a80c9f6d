"""Weights that lie as often as they are needed, so that an op can be seen as its neighbours are.

A sum of the scores of 16 windows of 4 heads with a matrix for each head cannot be seen as one of 64
matrices, as products see their scores. With the matrices written 16 times it can.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.lane_view import LaneView
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.tpu.local import LocalBroadcast
from xdsl_tpu.dialects.weights import Weights
from xdsl_tpu.passes.place_values.choose import Chooser
from xdsl_tpu.passes.place_values.components import Component
from xdsl_tpu.passes.tensors import element_of, is_weight, required_name, shape_of, size_in_bytes
from xdsl_tpu.passes.weight_data import change_weight

TIMES = 2
"""How many times as long as the loads what is saved must take: a network may wait for weights."""

_MATRIX = 2
"""Dimensions at the end along which nothing is repeated."""

_Repeats = Mapping[tuple[LaneView, int], Shape]
"""Ops, the places of weights among their operands, and the shapes that these would have."""


@dataclass(frozen=True)
class Repeater:
    """Repeats weights where what is saved by it takes longer than loading them."""

    chooser: Chooser
    weights: Weights | None

    def repeat(self, component: Component) -> None:
        """Repeat those of the ops of a component, all or none."""
        repeats = dict(self._repeats(component))
        if not repeats:
            return
        gained = self._best(component) - self._with(component, repeats)
        if gained < TIMES * self._loads(repeats):
            return
        for (op, place), shape in repeats.items():
            repeated = partial(np.broadcast_to, shape=shape)
            change_weight(op, place, shape, repeated, self.weights)

    def _repeats(self, component: Component) -> Iterator[tuple[tuple[LaneView, int], Shape]]:
        """Weights for which an op cannot be seen in some way that the component asks for."""
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
        """The same with weights repeated."""
        olds = {(op, place): op.operands[place] for op, place in repeats}
        for (op, place), shape in repeats.items():
            op.operands[place] = _weight(olds[op, place], shape)
        cost = self._best(component)
        for (op, place), old in olds.items():
            op.operands[place] = old
        return cost

    def _loads(self, repeats: _Repeats) -> float:
        """Cycles in which what is more is loaded."""
        more = 0
        for (op, place), shape in repeats.items():
            value = op.operands[place]
            more += size_in_bytes(value) * (prod(shape) // prod(shape_of(value)) - 1)
        return more / self.chooser.chip.load_bytes_per_cycle


def _repeated(op: Operation, value: SSAValue) -> Shape | None:
    """The shape of a weight of matrices that has one for each of those of the result."""
    whole = shape_of(op.results[0])
    if not is_weight(value) or len(whole) <= _MATRIX:
        return None
    shape = shape_of(value)
    full = (*whole[:-_MATRIX], *shape[-_MATRIX:])
    some = len(shape) == len(whole) and 1 < prod(shape[:-_MATRIX]) < prod(whole[:-_MATRIX])
    return full if some else None


def _weight(value: SSAValue, shape: Shape) -> SSAValue:
    """What stands for a weight of another shape."""
    kind = TensorType(element_of(value), shape)
    return top.WeightOp.make(required_name(value), (), result_types=(kind,)).output
