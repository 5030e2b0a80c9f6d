"""Which images and channels a component should have: those that keep most of it in local memory.

Where two ops see a value differently it changes its lanes in local memory, or goes through DDR, and
so it does around an op that has no local form. That is weighed against lanes that stay empty.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.timing.gdma_cost import Direction, shortest_cycles
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interfaces.lane_view import Lanes, LaneView, Viewed, lanes_of
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.tpu.local import LocalReshape
from xdsl_tpu.passes.constants import reshaped_weight
from xdsl_tpu.passes.graph import rebuilt
from xdsl_tpu.passes.layer_group.base_groups import why_not_local
from xdsl_tpu.passes.layer_group.prices import Part, Prices
from xdsl_tpu.passes.place_values.changes import Changes
from xdsl_tpu.passes.place_values.components import Component, Port
from xdsl_tpu.passes.tensors import element_bytes, element_of, shape_of, size_in_bytes

WORTH = 0.95
"""Another way of seeing values must cost at most this share of what they cost as they stand."""


def viewed_op(op: LaneView, view: Viewed, operands: Iterable[SSAValue]) -> Operation:
    """The op under other shapes, its operands being `operands`."""
    result = TensorType[Attribute](element_of(op.results[0]), view.result)
    made = rebuilt(op, operands=tuple(operands), result_types=(result,))
    made.attributes.update(view.attributes)
    return made


def is_as_it_stands(op: LaneView, view: Viewed) -> bool:
    """Whether a view of an op changes nothing."""
    shapes = zip(view.operands, op.operands, strict=True)
    same = all(shape is None or shape == shape_of(value) for shape, value in shapes)
    return same and view.result == shape_of(op.results[0])


@dataclass
class Chooser:
    """Costs of components in cycles, roughly; what an op can do is asked once."""

    chip: Chip
    changes: Changes
    _global: dict[Operation, bool] = field(default_factory=dict[Operation, bool])

    def choose(self, component: Component) -> Lanes | None:
        """The best images and channels; None when values are best seen as they stand."""
        options = self.options(component)
        costs = {lanes: self.cost(component, lanes) for lanes in options}
        best = min(costs, key=lambda lanes: costs[lanes], default=None)
        if best is None or costs[best] > WORTH * self.as_it_stands(component):
            return None
        return best

    def options(self, component: Component) -> list[Lanes]:
        """The images and channels that may be better than how values stand."""
        if not component.ops:
            return []
        elements = math.prod(shape_of(component.values[0]))
        wanted = component.wanted()
        # An op by itself sees its values as it likes.
        in_company = sum(not isinstance(op, LocalReshape) for op in component.ops) > 1
        idle = in_company and any(map(self._is_idle, component.values))
        if idle or any(map(self._is_short, component.values)):
            wanted += component.even(self.chip.lanes)
        return [lanes for lanes in dict.fromkeys(wanted) if elements % max(1, lanes.rows) == 0]

    def as_it_stands(self, component: Component) -> float:
        """What a component costs when nothing is changed."""
        work = sum(self._op(op, None) for op in component.ops)
        return work + sum(self._crossing(port, None) for port in component.ports)

    def cost(self, component: Component, lanes: Lanes) -> float:
        """What a component costs when all of it that can be is seen as `lanes`."""
        total = sum(self._op(op, lanes) for op in component.ops)
        for port in component.ports:
            if not port.takes(lanes) and not self._is_global(port.op):
                is_read = port.index is not None
                made, read = (lanes, port.lanes) if is_read else (port.lanes, lanes)
                total += self._change(port.value, made, read)
            total += self._crossing(port, lanes)
        return total

    def _is_short(self, value: SSAValue) -> bool:
        """Whether a value comes from DDR or goes there at half the rate or less as it stands."""
        run = size_in_bytes(value) / max(lanes_of(shape_of(value)).rows, 1)
        return 2 * run <= self.chip.ddr_row_bytes

    def _is_idle(self, value: SSAValue) -> bool:
        """Whether a value leaves at least half of the lanes empty as it stands."""
        return self._leaves_empty(lanes_of(shape_of(value)).channels)

    def _leaves_empty(self, channels: int) -> bool:
        return 2 * channels <= self.chip.lanes

    def _crossing(self, port: Port, lanes: Lanes | None) -> float:
        """What is lost where a value comes from DDR or goes there in runs shorter than a row of
        it, because few elements lie together in a lane. What only moves elements, and has no local
        form as it stands, need not be such a place: `lane-moves` joins it to what is around it."""
        if not self._is_global(port.op) or self.changes.may_move(port.op, port.value):
            return 0.0
        seen = lanes or lanes_of(shape_of(port.value))
        size = size_in_bytes(port.value)
        lost = self.chip.ddr_row_bytes * seen.rows / max(size, 1)
        return size / self.chip.load_bytes_per_cycle * max(0.0, lost - 1)

    def _op(self, op: LaneView, lanes: Lanes | None) -> float:
        """Its transfers when it cannot be in a group, and its work on the lanes."""
        given = [op.operands[index] for index in op.followed()]
        met = [op.results[0], *given]
        if lanes is None:
            if self._is_global(op):
                return sum(map(self._transfer, met))
            return self._work(op, lanes_of(shape_of(op.results[0])))
        if isinstance(op, LocalReshape):
            return 0.0
        view = op.viewed(lanes)
        if view is not None and not self._is_refused(op, view):
            return self._work(op, lanes)
        own = self._own(op, lanes)
        if own is None:
            return sum(map(self._transfer, met))
        before = sum(self._change(value, lanes, own) for value in given)
        return before + self._work(op, own) + self._change(op.results[0], own, lanes)

    def exceptions(self, component: Component, lanes: Lanes) -> dict[SSAValue, Lanes]:
        """The results of ops that are to be seen under lanes of their own, and these."""
        found: dict[SSAValue, Lanes] = {}
        for op in component.ops:
            view = op.viewed(lanes)
            if view is None or self._is_refused(op, view):
                own = self._own(op, lanes)
                if own is not None:
                    found[op.results[0]] = own
        return found

    def _own(self, op: LaneView, lanes: Lanes) -> Lanes | None:
        """Under what an op can be in a group that cannot be seen as its neighbours are, where its
        values change their lanes before and behind it within local memory."""
        if isinstance(op, LocalReshape):
            return None
        given = [op.operands[index] for index in op.followed()]
        for own in op.lanes_wanted():
            view = op.viewed(own)
            if view is None or self._is_refused(op, view):
                continue
            changes = self.changes
            if not all(changes.is_local(value, lanes, own) for value in given):
                continue
            if changes.is_local(op.results[0], own, lanes):
                return own
        return None

    def _work(self, op: LaneView, lanes: Lanes) -> float:
        """One pass over the result, with lanes and the EUs of each filled as they are."""
        if isinstance(op, LocalReshape):
            return 0.0
        result = op.results[0]
        inner = math.prod(shape_of(result)) / lanes.rows
        groups = lanes.images * math.ceil(lanes.channels / self.chip.lanes)
        return groups * math.ceil(inner / self.chip.eu(element_bytes(result)))

    def _transfer(self, value: SSAValue) -> float:
        """A way through DDR."""
        return self.changes.transfer(value)

    def _change(self, value: SSAValue, made: Lanes, read: Lanes) -> float:
        """A change of lanes."""
        return self.changes.price(value, made, read)

    def _is_global(self, op: Operation) -> bool:
        if op not in self._global:
            self._global[op] = why_not_local(op) is not None
        return self._global[op]

    def _is_refused(self, op: LaneView, view: Viewed) -> bool:
        if is_as_it_stands(op, view):
            return self._is_global(op)
        trial = viewed_op(op, view, map(_stand_in, op.operands, view.operands))
        refused = why_not_local(trial) is not None
        trial.drop_all_references()
        return refused


@dataclass
class SureChooser(Chooser):
    """Costs in which ops take as many passes as their commands do, and each change of lanes what it
    takes through DDR: what gains by these is sure to."""

    prices: Prices = field(kw_only=True)
    _passes: dict[Operation, float] = field(default_factory=dict[Operation, float])
    _products: dict[tuple[Operation, Lanes], float] = field(
        default_factory=dict[tuple[Operation, Lanes], float]
    )

    def better(self, component: Component, chosen: Lanes | None) -> Lanes | None:
        """Images and channels that fill the lanes, where those `chosen` do not and they are better
        than these; else the ones chosen."""
        costs = {lanes: self.cost(component, lanes) for lanes in self.filling(component, chosen)}
        best = min(costs, key=lambda lanes: costs[lanes], default=None)
        if best is None:
            return chosen
        now = self.as_it_stands(component) if chosen is None else self.cost(component, chosen)
        return best if costs[best] < WORTH * now else chosen

    def filling(self, component: Component, chosen: Lanes | None) -> list[Lanes]:
        """Images and channels that fill the lanes, where those `chosen` do not."""
        stands = min(lanes_of(shape_of(value)).channels for value in component.values)
        if not self._leaves_empty(stands if chosen is None else chosen.channels):
            return []
        return [one for one in self.options(component) if not self._leaves_empty(one.channels)]

    def work(self, op: LaneView, lanes: Lanes | None) -> float:
        """What an op takes with its values under some lanes, or as they stand."""
        if lanes is None or isinstance(op, LocalReshape):
            return self._op(op, lanes)
        view = op.viewed(lanes)
        if view is not None and not self._is_refused(op, view):
            return self._work(op, lanes)
        given = (op.operands[index] for index in op.followed())
        return sum(map(self._transfer, (op.results[0], *given)))

    def met(self, ports: Sequence[Port], lanes: Lanes | None) -> tuple[float, set[Lanes]]:
        """What is lost where a value under some lanes meets ports, and the lanes that these ask
        for instead."""
        lost = sum(self._crossing(port, lanes) for port in ports)
        others = {
            port.lanes
            for port in ports
            if lanes is not None and not port.takes(lanes) and not self._is_global(port.op)
        }
        return lost, others

    def stored(self, value: SSAValue, made: Lanes, read: Lanes) -> float:
        """A way through DDR from some lanes to others, in runs of a row of either."""
        size = size_in_bytes(value)
        runs = max(made.rows, read.rows) * self.chip.ddr_row_bytes
        return self._transfer(value) * max(1.0, runs / max(size, 1))

    def _work(self, op: LaneView, lanes: Lanes) -> float:
        if isinstance(op, tpu.MatMulOp):
            if (op, lanes) not in self._products:
                self._products[op, lanes] = self._product(op, lanes)
            return self._products[op, lanes]
        if op not in self._passes:
            self._passes[op] = self._measured(op)
        return self._passes[op] * super()._work(op, lanes)

    def _product(self, op: tpu.MatMulOp, lanes: Lanes) -> float:
        """What the commands of a product take under some lanes: how full these are, and how many
        rows each command has, is not all that matters."""
        view = op.viewed(lanes)
        if view is not None:
            trial = viewed_op(op, view, map(_stand_in, op.operands, view.operands))
            cycles = self.prices.compute(trial, Part(self.chip.lanes))
            trial.drop_all_references()
            self.prices.forget(trial)
            if cycles:
                return cycles
        return super()._work(op, lanes)

    def _measured(self, op: LaneView) -> float:
        """What commands of an op take for each pass over its result as it stands; one of what has
        no local form."""
        if self._is_global(op):
            return 1.0
        cycles = self.prices.compute(op, Part(self.chip.lanes))
        one = super()._work(op, lanes_of(shape_of(op.results[0])))
        return max(1.0, cycles / one) if cycles and one else 1.0

    def _transfer(self, value: SSAValue) -> float:
        ways = Direction.STORE, Direction.LOAD
        return super()._transfer(value) + sum(shortest_cycles(way, self.chip) for way in ways)

    def _change(self, value: SSAValue, made: Lanes, read: Lanes) -> float:
        return self._transfer(value)


def _stand_in(value: SSAValue, shape: Shape | None) -> SSAValue:
    """A value of another shape that is a weight when the given one is."""
    if shape is None:
        return value
    if isinstance(value.owner, top.WeightOp):
        return reshaped_weight(value.owner, shape).output
    return Block(arg_types=(TensorType(element_of(value), shape),)).args[0]
