"""The pass `order-rows`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.interfaces.movement import Moved, Movement
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, tensor_like
from xdsl_tpu.passes.layout.names import Names
from xdsl_tpu.passes.module_state import chip_of
from xdsl_tpu.passes.order_rows.breaks import choose
from xdsl_tpu.passes.order_rows.narrow import by_lanes
from xdsl_tpu.passes.order_rows.network import Component, Read, components
from xdsl_tpu.passes.order_rows.rows import inverse, moved, rows_of
from xdsl_tpu.passes.tensors import element_bytes, functions, shape_of

SUFFIX = "_reordered"
"""What the name of a value ends with whose rows come in another order than in the network."""

LARGEST_SHARE = 4
"""How often the largest value must fit into local memory for all to stay there: what is between the
products of a feed-forward block is made in two steps, beside values of a quarter of its size."""


@dataclass(frozen=True)
class OrderRowsPass(ModulePass):
    """Let ops that work row by row take rows in whatever order leaves the fewest to be moved.

        %1 = LayerNorm(%0)                           %1 = Rearrange(%0)       by windows
        %2 = Permute(%1)         by windows          %2 = LayerNorm(%1)
        %3 = MatMul(.. attention of %2 ..)     ->    %3 = MatMul(.. attention of %2 ..)
        %4 = Permute(%3)         by lines            %4 = Add(%1, %3)
        %5 = Add(%0, %4)                             %5 = MatMul(LayerNorm(%4), w)
        %6 = MatMul(LayerNorm(%5), w)                .. to whoever needs lines

    Rows of tokens are cut into windows, shifted and put back around products of all tokens of a
    window; norms, activations, sums and products with weights between those products do not mind.
    Values linked by such ops can each have any of the orders that occur; which, is found such that
    what is stored and loaded to change orders takes the fewest cycles. `chip` is a name or a
    `.toml` description, by default `module.chip`.

    With `in_lanes` values stay as they are where they are small beside local memory: to change
    their order there (`lane-moves`) takes less than a window that does not fill the lanes does in
    every op on it. Of small ones that the host gives or takes, rows of a few numbers come in the
    order in which each lane has neighbours:

        %1 = Cast(%0)      8192x3             %1 = Cast(%0)          8192x3
        %2 = MatMul(%1)    8192x64     ->     %r = Rearrange(%1)     lane by lane
        return %2                             %2 = MatMul(%r), and back
    """

    name = "order-rows"

    chip: str = ""
    in_lanes: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = chip_of(op, self.chip)
        for func in functions(op):
            for component in components(func):
                small = self.in_lanes and _is_small(component, chip)
                labels = by_lanes(component, chip) if small else choose(component, chip)
                if labels is not None:
                    _Rewriting(component, labels, Names(op)).run(func.body.block)


def _is_small(component: Component, chip: Chip) -> bool:
    """Whether all values of a component can stay in local memory beside what is made of them."""
    sizes = (
        rows.count * rows.width * element_bytes(value)
        for value in component.given
        if (rows := rows_of(value)) is not None
    )
    return LARGEST_SHARE * max(sizes, default=0) <= chip.lanes * chip.local_bytes


@dataclass
class _Rewriting:
    component: Component
    labels: Mapping[SSAValue, int]
    names: Names
    made: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )
    """Values in the orders in which they are needed."""

    def run(self, block: Block) -> None:
        graph = self.component.graph
        for op in list(block.ops):
            for read in graph.operands.get(op, ()):
                if read.source in self.component.given:
                    self._rewrite(read)
            if any(map(self._is_new, op.results)):
                op.location = name_loc(self.names.new(derived_name(op, SUFFIX)))
        for op in reversed(list(block.ops)):
            if moved(op) and not any(result.uses for result in op.results):
                op.detach()
                op.erase()

    def _is_new(self, value: SSAValue) -> bool:
        return self.labels.get(value) != self.component.given.get(value)

    def _rewrite(self, read: Read) -> None:
        label = self.component.wanted[read]
        if self.component.graph.is_read(read):
            label = self.labels[read.op.results[0]]
        if not self._is_new(read.source) and label == self.component.wanted[read]:
            return
        operand = read.op.operands[read.index]
        value = self._value(read.source, label, operand, read.op)
        if shape_of(value) != shape_of(operand):
            name = self.names.new(derived_name(operand, SUFFIX))
            shape = list(shape_of(operand))
            view = tpu.ReshapeOp.make(name, (value,), result_types=(operand.type,), shape=shape)
            _before(read.op, view)
            value = view.output
        read.op.operands[read.index] = value

    def _value(self, source: SSAValue, label: int, like: SSAValue, reader: Operation) -> SSAValue:
        """A value's rows in one order."""
        own = self.labels[source]
        if label == own:
            return source
        found = self.made.get((source, label))
        if found is not None:
            return found
        rows = rows_of(source)
        assert rows is not None
        maps = self.component.maps
        moves = maps[label].after(inverse(maps[own])).of_rows(rows.width)
        boxes = tpu.RearrangeOp.listed(Movement(rows.count * rows.width, (Moved(0, moves),)))
        made = tpu.RearrangeOp.make(
            self.names.new(derived_name(like, SUFFIX)),
            (source,),
            result_types=(tensor_like(source, shape_of(like)),),
            boxes=boxes,
        )
        _before(reader, made)
        self.made[source, label] = made.output
        return made.output


def _before(op: Operation, new: Operation) -> None:
    block = op.parent_block()
    assert block is not None
    block.insert_op_before(new, op)
