"""In which layout every value of a program is now.

IR does not say it. What is known comes from ops that can tell the layout they work in, and
spreads from there: through ops whose slots are tied, views, regions, and transpositions from one
layout to the other. Where nothing is known, transpositions that can be from one layout to the
other are taken for such. A label is only a name for one of two forms: a wrong guess costs
opportunities, never correctness.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp, NoneType, UnrankedTensorType
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutInterface,
    LayoutRegions,
    LayoutTranspose,
    Order,
    Slot,
    layout_order,
    tensor_shape,
)


@dataclass(frozen=True)
class Form:
    """The layout of a value and the number of its channel axis when that comes first."""

    layout: Layout
    channel: int = 1

    @property
    def other(self) -> "Form":
        """The same value in the opposite layout."""
        return Form(self.layout.other, self.channel)


def rank_of(value: SSAValue) -> int | None:
    """The rank of a value; None when it is no ranked tensor."""
    shape = tensor_shape(value.type)
    return None if shape is None else len(shape)


def turned(value: SSAValue, form: Form) -> Order | None:
    """The order that brings a value of this form into the other layout.

    None for a tensor of unknown rank; empty for a value that is no tensor, which ops may make and
    read in either layout but nobody can transpose.
    """
    rank = rank_of(value)
    if rank is None:
        return None if isinstance(value.type, UnrankedTensorType) else ()
    return layout_order(rank, form.layout.other, form.channel)


def is_bare(value: SSAValue, channel: int = 1) -> bool:
    """Whether both layouts of a value are the same as it has no dimension behind the channels.

    So it is for `none`, the absent value.
    """
    rank = rank_of(value)
    return isinstance(value.type, NoneType) or (rank is not None and rank <= channel + 1)


def bridged(op: Operation, forms: Mapping[SSAValue, Form]) -> bool:
    """Whether `op` is a transposition between the two layouts of its operand."""
    order = _order(op)
    if order is None or not {op.operands[0], op.results[0]} <= forms.keys():
        return False
    before, after = forms[op.operands[0]], forms[op.results[0]]
    return after == before.other and order == turned(op.operands[0], before)


def present_forms(module: ModuleOp) -> dict[SSAValue, Form]:
    """The form of every value of which one is known."""
    return _Spreading(module).run()


def _order(op: Operation) -> Order | None:
    trait = LayoutTranspose.of(op)
    return None if trait is None else trait.order(op)


@dataclass
class _Spreading:
    """Values with known forms, and those whose neighbours are still to be looked at."""

    module: ModuleOp
    forms: dict[SSAValue, Form] = field(default_factory=dict[SSAValue, Form])
    fresh: list[SSAValue] = field(default_factory=list[SSAValue])

    def run(self) -> dict[SSAValue, Form]:
        ops = list(self.module.walk())
        for op in ops:
            self._from_op_itself(op)
        self._spread()
        for op in ops:
            self._from_transposition(op)
            self._spread()
        return self.forms

    def _from_op_itself(self, op: Operation) -> None:
        trait = LayoutInterface.of(op)
        layout = None if trait is None else trait.layout(op)
        if trait is None or layout is None:
            return
        for slot in trait.slots(op):
            self._set(slot.value(op), Form(layout, slot.channel))

    def _from_transposition(self, op: Operation) -> None:
        order = _order(op)
        if order is None or op.operands[0] in self.forms or op.results[0] in self.forms:
            return
        for layout in Layout:
            if len(order) > 2 and order == layout_order(len(order), layout):
                self._set(op.operands[0], Form(layout.other))
                return

    def _set(self, value: SSAValue, form: Form) -> None:
        if value not in self.forms and not is_bare(value, form.channel):
            self.forms[value] = form
            self.fresh.append(value)

    def _spread(self) -> None:
        while self.fresh:
            value = self.fresh.pop()
            if isinstance(value.owner, Operation):
                self._through(value.owner, value)
            for use in list(value.uses):
                self._through(use.operation, value)
            for carried in self._carried.get(value, ()):
                for part in carried:
                    self._set(part, self.forms[value])

    def _through(self, op: Operation, value: SSAValue) -> None:
        form = self.forms[value]
        if (order := _order(op)) is not None:
            self._through_transposition(op, order, value)
        elif (trait := LayoutInterface.of(op)) is not None:
            for group in trait.tied(op):
                if any(slot.value(op) is value for slot in group):
                    for slot in group:
                        self._set(slot.value(op), Form(form.layout, slot.channel))
            self._through_view(trait, op, value)

    def _through_transposition(self, op: Operation, order: Order, value: SSAValue) -> None:
        form = self.forms[value]
        source, result = op.operands[0], op.results[0]
        if value is source and order == turned(source, form):
            self._set(result, form.other)
        if value is result and order == turned(source, form.other):
            self._set(source, form.other)

    def _through_view(self, trait: LayoutInterface, op: Operation, value: SSAValue) -> None:
        form = self.forms[value]
        sides = _view_sides(trait, op)
        if sides is None:
            return
        source, result = sides
        if source.value(op) is value and (after := trait.transfer(op, form.layout)) is not None:
            self._set(result.value(op), Form(after, result.channel))
        if result.value(op) is value:
            for layout in (form.layout, form.layout.other):
                if trait.transfer(op, layout) is form.layout:
                    self._set(source.value(op), Form(layout, source.channel))
                    return

    @cached_property
    def _carried(self) -> dict[SSAValue, list[list[SSAValue]]]:
        """For each value that goes through regions, all values on the same way."""
        found: dict[SSAValue, list[list[SSAValue]]] = {}
        for op in self.module.walk():
            for values in carried_values(op):
                for value in values:
                    found.setdefault(value, []).append(values)
        return found


def _view_sides(trait: LayoutInterface, op: Operation) -> tuple[Slot, Slot] | None:
    """The operand and the result of an op that `transfer` may be asked of."""
    slots = list(trait.slots(op))
    if len(slots) != 2 or [slot.kind for slot in slots] != ["operand", "result"]:
        return None
    return slots[0], slots[1]


def carried_values(op: Operation) -> Iterator[list[SSAValue]]:
    """For each value that goes through the regions of `op`, its names on the way."""
    trait = LayoutRegions.of(op)
    for carried in () if trait is None else trait.carried(op):
        yield [
            *(op.operands[index] for index in carried.operands),
            *carried.arguments,
            *(terminator.operands[index] for terminator, index in carried.yielded),
            *(op.results[index] for index in carried.results),
        ]
