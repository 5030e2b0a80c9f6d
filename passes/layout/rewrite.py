"""Put a layout assignment into a program."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutInterface,
    Order,
    Slot,
    layout_order,
    permuted_type,
)
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.layout.choices import absorbed_order, describe
from xdsl_tpu.passes.layout.labels import turned
from xdsl_tpu.passes.layout.model import Model
from xdsl_tpu.passes.layout.names import Names, keep_returned_names, names_tensors, rename
from xdsl_tpu.passes.layout.problem import LayoutError, needs_copy

SUFFIX = {Layout.CHANNEL_FIRST: "channel_first", Layout.CHANNEL_LAST: "channel_last"}
"""What the name of a copy in a layout ends with."""


def apply_labels(model: Model, labels: Sequence[int]) -> set[Operation]:
    """Rewrite the module of `model` such that every variable has its label; gives the copies.

    Values get copies in the other layout where their readers need them, one for all of them,
    right behind the value. Names of what functions return stay.

    Raises:
        LayoutError: a copy is needed where no op knows how to make one.
    """
    with keep_returned_names(model.module):
        return _Rewriting(model, labels).run()


@dataclass
class _Rewriting:
    model: Model
    labels: Sequence[int]
    available: dict[tuple[SSAValue, Layout], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, Layout], SSAValue]
    )
    copied: set[SSAValue] = field(default_factory=set[SSAValue])
    """The values for which a copy is cheaper than that its readers absorb the difference."""
    replaced: list[Operation] = field(default_factory=list[Operation])
    arguments: list[BlockArgument] = field(default_factory=list[BlockArgument])

    def run(self) -> set[Operation]:
        model = self.model
        constants = {op for op in model.module.walk() if LayoutConstant.of(op) and not _unused(op)}
        self.names = Names(model.module)
        for value, variable in model.makers.items():
            layout = model.forms[value].layout
            if Layout(self.labels[variable]) is layout or _is_constant(value):
                self.available[value, layout] = value
        for value, tensor in zip(model.tensors, model.problem.tensors, strict=True):
            if needs_copy(tensor, self.labels):
                self.copied.add(value)
        bridges = {op for ops in model.bridges.values() for op in ops}
        for op in list(model.module.walk()):
            if op not in bridges:
                self._visit(op)
        self._erase(bridges, constants)
        copies = {
            value.owner
            for (source, layout), value in self.available.items()
            if layout is not Layout(self.labels[model.makers[source]])
        }
        return {op for op in copies if isinstance(op, Operation)}

    def _visit(self, op: Operation) -> None:
        operands, orders = self._operands(op)
        for choice, variable in self.model.choices.get(op, ()):
            if Layout(self.labels[variable]) is not choice.layout:
                orders.update(choice.orders)
        if orders:
            trait = LayoutInterface.of(op)
            assert trait is not None
            new = trait.permuted(op, orders, operands, Builder(InsertPoint.before(op)))
            self._replace(op, new)
            return
        for index, operand in enumerate(operands):
            if operand is not op.operands[index]:
                op.operands[index] = operand
        self._retype(op)

    def _operands(self, op: Operation) -> tuple[list[SSAValue], dict[Slot, Order]]:
        """The values that `op` is to read, and which of them it absorbs in another order."""
        operands: list[SSAValue] = list(op.operands)
        orders: dict[Slot, Order] = {}
        for index in range(len(operands)):
            source = self.model.sources.get((op, index))
            if source is None:
                continue
            reader = self.model.readers[op, index]
            wanted = Layout(self.labels[reader.variable])
            made = Layout(self.labels[self.model.makers[source]])
            if wanted is not made and source not in self.copied:
                place = absorbed_order(op, index, self.model.forms)
                assert place is not None
                orders[place[0]] = place[1]
                wanted = made
            operands[index] = self._value(source, wanted, op)
        return operands, orders

    def _replace(self, op: Operation, new: Sequence[SSAValue]) -> None:
        turned_any = False
        for old, result in zip(op.results, new, strict=True):
            if old in self.model.makers:
                layout = Layout(self.labels[self.model.makers[old]])
                self.available[old, layout] = result
                turned_any |= layout is not self.model.forms[old].layout
            else:
                old.replace_all_uses_with(result)
            if old.name_hint is not None:
                result.name_hint = old.name_hint
        if turned_any and names_tensors(op):
            rename(new, [self._result_name(old) for old in op.results])
        self.replaced.append(op)

    def _result_name(self, value: SSAValue) -> str | None:
        """The name of a result in the layout that it now has."""
        if value not in self.model.makers or name_of(value) is None:
            return name_of(value)
        layout = Layout(self.labels[self.model.makers[value]])
        if layout is self.model.forms[value].layout:
            return name_of(value)
        return self.names.new(self._name_in(value, layout))

    def _retype(self, op: Operation) -> None:
        """Give values through the regions of `op` their new types."""
        types: list[Attribute] = list(op.result_types)
        changed = False
        for carried, variable in self.model.carried.get(op, ()):
            if self.labels[variable] == self.model.current[variable]:
                continue
            for argument in carried.arguments:
                new = argument.block.insert_arg(self._turned_type(argument), argument.index)
                new.location, new.name_hint = argument.location, argument.name_hint
                self.available[argument, Layout(self.labels[variable])] = new
                self.arguments.append(argument)
            for index in carried.results:
                types[index] = self._turned_type(op.results[index])
                changed = True
        if not changed:
            return
        new_op = type(op).create(
            operands=list(op.operands),
            result_types=types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            successors=list(op.successors),
            regions=[op.detach_region(region) for region in list(op.regions)],
            location=op.location,
        )
        Builder(InsertPoint.before(op)).insert(new_op)
        self._replace(op, new_op.results)

    def _turned_type(self, value: SSAValue) -> Attribute:
        order = turned(value, self.model.forms[value])
        assert order is not None
        return permuted_type(value.type, order)

    # Copies

    def _value(self, source: SSAValue, layout: Layout, user: Operation) -> SSAValue:
        """`source` in a layout, for use by `user`."""
        if (source, layout) not in self.available:
            self.available[source, layout] = self._copy(source, layout, user)
        value = self.available[source, layout]
        maker = value.owner
        if isinstance(maker, Operation) and maker in self.model.bridges.get(source, ()):
            self._raise(maker, source, user)
        return value

    def _copy(self, source: SSAValue, layout: Layout, user: Operation) -> SSAValue:
        """A copy of `source` in a layout: a transposition that is there, or a new one."""
        base = self.available[source, layout.other]
        if base is source:
            for bridge in self.model.bridges.get(source, ()):
                if bridge.operands[0] is source:
                    return bridge.results[0]
        form = self.model.forms[source]
        order = layout_order(len(turned(source, form) or ()), layout, form.channel)
        maker = base.owner
        if isinstance(maker, Operation) and (constant := LayoutConstant.of(maker)) is not None:
            folded = constant.permuted(maker, order, Builder(_behind(base)))
            if folded is not None:
                return folded
        op, trait = self._transposer(source, user)
        name = self._copy_name(source, layout)
        return trait.make_transpose(op, base, order, name, Builder(_behind(base)))

    def _transposer(self, source: SSAValue, user: Operation) -> tuple[Operation, LayoutInterface]:
        """An op that can make a transposition of `source`: at one end of it, or of the dialect."""
        maker = source.owner
        ends = [user, *([maker] if isinstance(maker, Operation) else [])]
        ends += [op for (op, _), value in self.model.sources.items() if value is source]
        ends += self.model.bridges.get(source, [])
        dialects = {op.dialect_name() for op in ends}
        ends += [op for op in self.model.choices if op.dialect_name() in dialects]
        for op in ends:
            if (trait := LayoutInterface.of(op)) is not None:
                return op, trait
        raise LayoutError(
            f"{describe(user)} needs its operand in another layout, but neither it nor the op "
            "that makes the operand knows a transposition: give one of them a LayoutInterface"
        )

    def _copy_name(self, source: SSAValue, layout: Layout) -> str:
        """The name of a new copy: that of the value it takes the place of, or one derived."""
        maker = source.owner
        if not isinstance(maker, Operation) or names_tensors(maker):
            known = name_of(source)
            if layout is self.model.forms[source].layout and known is not None:
                return known  # the value itself is made in the other layout, under another name
            return self.names.new(self._name_in(source, layout))
        trait = LayoutInterface.of(maker)
        own = None if trait is None else trait.name(maker)
        return self.names.new(f"{own or maker.name}_{SUFFIX[layout]}")

    def _name_in(self, source: SSAValue, layout: Layout) -> str:
        """What a value should be called in a layout that it does not have now.

        The name of a transposition to that layout if there was one: the contents are the same.
        """
        for bridge in self.model.bridges.get(source, ()):
            name = name_of(bridge)
            if self.model.forms[bridge.results[0]].layout is layout and name is not None:
                self.names.free(name)
                return name
        return f"{name_of(source) or 'value'}_{SUFFIX[layout]}"

    def _raise(self, bridge: Operation, source: SSAValue, user: Operation) -> None:
        """Move a transposition up when it is not before `user`."""
        block, op = bridge.parent, user
        while op.parent is not None and op.parent is not block:
            parent = op.parent_op()
            if parent is None:
                break
            op = parent
        if op.parent is block and bridge.is_before_in_block(op):
            return
        bridge.detach()
        Builder(_behind(source)).insert(bridge)

    def _erase(self, bridges: set[Operation], constants: set[Operation]) -> None:
        """Remove what was replaced and what is no longer used."""
        kept = {value.owner for value in self.available.values()}
        doomed = {*self.replaced, *(bridge for bridge in bridges if bridge not in kept)}
        for op in reversed(list(self.model.module.walk())):
            constant = LayoutConstant.of(op) if op in constants else None
            if constant is not None and _unused(op):
                constant.release(op)
                doomed.add(op)
            if op in doomed:
                op.detach()
                op.erase()
        for argument in self.arguments:
            argument.block.erase_arg(argument)


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and LayoutConstant.of(value.owner) is not None


def _unused(op: Operation) -> bool:
    return all(result.first_use is None for result in op.results)


def _behind(value: SSAValue) -> InsertPoint:
    """Right behind the definition of a value."""
    owner = value.owner
    return InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
