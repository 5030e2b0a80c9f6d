"""Values that lose an axis together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.builder import Builder
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.linked_dims.change import Axes, Change
from xdsl_tpu.passes.linked_dims.rules import attributes_without, rule_of
from xdsl_tpu.passes.tensors import shape_of


@dataclass
class Linked:
    """Values that lose an axis together, and the ops that hand it on among them."""

    change: Change
    axes: Axes
    ops: set[Operation] = field(default_factory=set[Operation])
    _new: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    @classmethod
    def to(cls, value: SSAValue, axis: int, change: Change) -> "Linked | None":
        """All that is linked to a value; None where one would lose two different axes."""
        self = cls(change, {value: axis})
        pending = [value]
        while pending:
            value = pending.pop()
            for op in (value.owner, *(use.operation for use in value.uses)):
                carried = carried_by(op, value, self.axes[value], change)
                if carried is None:
                    continue
                self.ops.add(cast(Operation, op))
                for other, own in carried.items():
                    if other not in self.axes:
                        self.axes[other] = own
                        pending.append(other)
                    elif self.axes[other] != own:
                        return None
        return self

    def rewrite(self) -> Mapping[SSAValue, SSAValue]:
        """Write the ops anew; who reads their results otherwise finds a Reshape. What each value
        has become."""
        block = cast(Block, next(iter(self.ops)).parent)
        old = [op for op in block.ops if op in self.ops]
        for op in old:
            operands = [self._without(value) for value in op.operands]
            kinds = [self._type(value) for value in op.results]
            made = rebuilt(op, operands=operands, result_types=kinds)
            made.attributes.update(attributes_without(op, self.axes, self.change))
            block.insert_op_before(made, op)
            self._new.update(zip(op.results, made.results, strict=True))
        for op in old:
            for value in op.results:
                if any(use.operation not in self.ops for use in value.uses):
                    self._give_back(value)
        for op in reversed(old):
            op.detach()
            op.erase()
        return self._new

    def _type(self, value: SSAValue) -> Attribute:
        shape = shape_of(value)
        changed = self.change.without(shape, self.axes[value]) if value in self.axes else shape
        return tensor_like(value, changed)

    def _without(self, value: SSAValue) -> SSAValue:
        """An operand without its axis."""
        if value in self._new or value not in self.axes:
            return self._new.get(value, value)
        shape, owner = self.change.without(shape_of(value), self.axes[value]), value.owner
        name = derived_name(value, f"_as_{'x'.join(map(str, shape))}")
        made = _reshape(name, value, shape)
        at_start = isinstance(owner, Block)
        place = InsertPoint.at_start(owner) if at_start else InsertPoint.after(owner)
        Builder(place).insert(made)
        self._new[value] = made.output
        return made.output

    def _give_back(self, value: SSAValue) -> None:
        """Let ops that are not linked read a value with its axis, under its old name."""
        maker, new = cast(Operation, value.owner), self._new[value]
        back = top.ReshapeOp.make(maker.location, (new,), result_types=[value.type])
        made = cast(Operation, new.owner)
        made.location = name_loc(derived_name(value, "_r_dropped"))
        Builder(InsertPoint.after(made)).insert(back)
        for use in list(value.uses):
            if use.operation not in self.ops:
                use.operation.operands[use.index] = back.output


def _reshape(name: str, value: SSAValue, shape: Shape) -> top.ReshapeOp:
    return top.ReshapeOp.make(name, (value,), result_types=[tensor_like(value, shape)])


def carried_by(op: Operation | Block, value: SSAValue, axis: int, change: Change) -> Axes | None:
    """The axes that values of an op lose with that of one of them; None when it needs it."""
    rule = None if isinstance(op, Block) else rule_of(op)
    if rule is None or isinstance(op, Block):
        return None
    tensors = [one for one in (*op.operands, *op.results) if not is_none(one)]
    if not has_shapes(*tensors):
        return None
    found = rule(op, value, axis, change)
    if found is None or value not in found:
        return None
    like = _sizes(found, change)
    suits = all(change.suits(shape_of(one), own, like) for one, own in found.items())
    return found if suits else None


def _sizes(axes: Axes, change: Change) -> Sequence[int]:
    """The sizes of the dimensions in question, of who is not repeated along them."""
    return max(change.sizes(shape_of(one), own) for one, own in axes.items())
