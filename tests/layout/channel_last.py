"""Networks in the form that TensorFlow exporters leave: channel-last, with transpositions.

Every op that has to be channel-first gets a transposition of its own before each operand with
channels and behind each result; all other ops between them work channel-last.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutInterface,
    Order,
    Slot,
    inverse,
    permuted_type,
)
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.layout.choices import choices_of
from xdsl_tpu.passes.layout.labels import Form, present_forms, turned
from xdsl_tpu.passes.layout.names import Names, rename

FIRST, LAST = Layout.CHANNEL_FIRST, Layout.CHANNEL_LAST


def make_channel_last(module: ModuleOp) -> None:
    """Rewrite a channel-first module of `top` ops with known shapes.

    Inputs become channel-last as well, and so do results that a channel-last op makes.
    """
    for op in list(module.walk()):
        if isinstance(op, FuncOp):
            _Rewriting(op, present_forms(module), Names(module)).run()


@dataclass
class _Rewriting:
    func: FuncOp
    forms: dict[SSAValue, Form]
    names: Names
    last: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """For each value that was channel-first the channel-last one."""
    old: list[Operation] = field(default_factory=list[Operation])

    def run(self) -> None:
        block = self.func.body.block
        end = block.last_op
        assert end is not None
        for op in list(block.ops):
            if isinstance(op, top.InputOp):
                self._input(op)
            elif op is end:
                op.operands = [self.last.get(operand, operand) for operand in op.operands]
            elif LayoutConstant.of(op) is None and (trait := LayoutInterface.of(op)) is not None:
                self._op(op, trait)
            else:
                self._surround(op, None)
        for op in reversed(self.old):
            op.detach()
            op.erase()
        kinds = [argument.type for argument in block.args]
        self.func.function_type = FunctionType.from_lists(kinds, list(end.operand_types))

    def _input(self, op: top.InputOp) -> None:
        order, argument = self._order(op.output), op.input
        if order is None or not isinstance(argument, BlockArgument):
            return
        block, index = argument.block, argument.index
        new = block.insert_arg(permuted_type(argument.type, order), index)
        new.location = argument.location
        made = top.InputOp.create(
            operands=[new],
            result_types=[new.type],
            attributes=dict(op.attributes),
            location=op.location,
        )
        Builder(InsertPoint.before(op)).insert(made)
        self.last[op.output] = made.output
        op.operands = [new]
        block.erase_arg(argument)
        self.old.append(op)

    def _op(self, op: Operation, trait: LayoutInterface) -> None:
        choices = choices_of(op, self.forms, FIRST).choices
        orders = {slot: order for choice in choices for slot, order in choice.orders.items()}
        follows = any(operand in self.last for operand in op.operands)
        whole = orders and len(choices) == len([g for g in trait.tied(op) if self._has_form(op, g)])
        if not follows or not whole or not trait.can_permute(op, orders):
            self._surround(op, trait)
            return
        builder = Builder(InsertPoint.before(op))
        operands: list[SSAValue] = list(op.operands)
        for slot, order in orders.items():
            if slot.kind == "operand":
                operands[slot.index] = self._in_order(op, operands[slot.index], order, trait)
        made = trait.permuted(op, orders, operands, builder)
        moved = {slot.index for slot in orders if slot.kind == "result"}
        rename(made, [self._name(value, value.index in moved) for value in op.results])
        for old, new in zip(op.results, made, strict=True):
            if old.index in moved:
                self.last[old] = new
            else:
                old.replace_all_uses_with(new)
        self.old.append(op)

    def _surround(self, op: Operation, trait: LayoutInterface | None) -> None:
        """Let `op` work channel-first, and make its results channel-last if it must do so."""
        for index, operand in enumerate(list(op.operands)):
            if operand in self.last:
                order = self._order(operand)
                assert order is not None
                op.operands[index] = _permute(
                    self.last[operand],
                    inverse(order),
                    self.names.new(f"{name_of(op)}_input_{index}"),
                    Builder(InsertPoint.before(op)),
                )
        if trait is None or trait.required(op) is not FIRST:
            return
        for result in op.results:
            if (order := self._order(result)) is not None:
                name = self.names.new(f"{name_of(result)}_channel_last")
                self.last[result] = _permute(result, order, name, Builder(InsertPoint.after(op)))

    def _in_order(
        self, op: Operation, value: SSAValue, order: Order, trait: LayoutInterface
    ) -> SSAValue:
        if value in self.last:
            return self.last[value]
        maker = value.owner
        if isinstance(maker, Operation) and (known := LayoutConstant.of(maker)) is not None:
            made = known.permuted(maker, order, Builder(InsertPoint.after(maker)))
            assert made is not None
            return made
        name = self.names.new(f"{name_of(value)}_channel_last")
        self.last[value] = trait.make_transpose(
            op, value, order, name, Builder(InsertPoint.before(op))
        )
        return self.last[value]

    def _name(self, value: SSAValue, moved: bool) -> str | None:
        name = name_of(value)
        return self.names.new(f"{name}_channel_last") if moved and name is not None else name

    def _has_form(self, op: Operation, group: Sequence[Slot]) -> bool:
        return any(slot.value(op) in self.forms for slot in group)

    def _order(self, value: SSAValue) -> Order | None:
        """The order that makes a channel-first value channel-last; None of any other value."""
        form = self.forms.get(value)
        return turned(value, form) if form is not None and form.layout is FIRST else None


def _permute(value: SSAValue, order: Order, name: str, builder: Builder) -> SSAValue:
    kind = permuted_type(value.type, order)
    return builder.insert(
        top.PermuteOp.make(name, (value,), result_types=[kind], order=order)
    ).output
