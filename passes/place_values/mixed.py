"""Parts of a component under different images and channels, where they are stored in between."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, lanes_of
from xdsl_tpu.passes.order_rows.choose import (
    MOST_ENTRIES,
    Table,
    TooLargeError,
    best_labels,
    cost_of,
)
from xdsl_tpu.passes.place_values.choose import WORTH, SureChooser
from xdsl_tpu.passes.place_values.components import Component, Port
from xdsl_tpu.passes.tensors import shape_of


def mixed(
    sure: SureChooser, component: Component, chosen: Lanes | None
) -> dict[SSAValue, Lanes] | None:
    """Images and channels of each value, where several in one component are better than `chosen`
    for all; None where they are not, or hard to find.

    Scores of windows of 16 rows want a window an image, and then products with weights, norms and
    activations between two attentions have 16 of 64 lanes to work on.
    """
    options = [chosen, *sure.filling(component, chosen)]
    if len(options) == 1:
        return None
    problem = _Problem(sure, component, options)
    try:
        tables = problem.tables()
        labels = best_labels([len(options)] * len(component.values), tables)
    except TooLargeError:
        return None
    now = sure.as_it_stands(component) if chosen is None else sure.cost(component, chosen)
    if len({*labels}) == 1 or cost_of(labels, tables) >= WORTH * now:
        return None
    found = {value: options[labels[node]] for value, node in problem.nodes.items()}
    return {value: lanes for value, lanes in found.items() if lanes is not None}


@dataclass
class _Problem:
    """A node for each value, whose labels are the options; None, if it is one, is how it stands."""

    sure: SureChooser
    component: Component
    options: Sequence[Lanes | None]
    nodes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def tables(self) -> list[Table]:
        """Costs in cycles."""
        self.nodes = {value: node for node, value in enumerate(self.component.values)}
        readers: dict[SSAValue, list[LaneView]] = defaultdict(list)
        for op in self.component.ops:
            for index in op.followed():
                if op.operands[index] in self.nodes:
                    readers[op.operands[index]].append(op)
        ports: dict[SSAValue, list[Port]] = defaultdict(list)
        for port in self.component.ports:
            ports[port.value].append(port)
        tables = [self._work(op) for op in self.component.ops]
        return tables + [self._changes(v, readers[v], ports[v]) for v in self.nodes]

    def _work(self, op: LaneView) -> Table:
        costs = np.array([self.sure.work(op, lanes) for lanes in self.options])
        return Table((self.nodes[op.results[0]],), costs)

    def _changes(self, value: SSAValue, ops: Sequence[LaneView], ports: Sequence[Port]) -> Table:
        """Of a value that is read under others than those it is made under: once for each."""
        given = lanes_of(shape_of(value))
        nodes = dict.fromkeys([self.nodes[value], *(self.nodes[op.results[0]] for op in ops)])
        sizes = [len(self.options)] * len(nodes)
        if prod(sizes) > MOST_ENTRIES:
            raise TooLargeError
        costs = np.zeros(sizes)
        met = [self.sure.met(ports, self.options[own]) for own in range(len(self.options))]
        stored = cache(partial(self.sure.stored, value))  # by a few lanes, for many labels
        for labels in product(*map(range, sizes)):
            seen = [self.options[label] or given for label in labels]
            lost, asked = met[labels[0]]
            others = {*seen[1:], *asked} - {seen[0]}
            costs[labels] = lost + sum(stored(seen[0], one) for one in others)
        axes = [*nodes]
        order = sorted(range(len(axes)), key=axes.__getitem__)
        return Table(tuple(axes[at] for at in order), costs.transpose(order))
