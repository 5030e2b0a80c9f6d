"""What one op allows: which of its slots may change their form, and which layouts it must have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.interfaces.layout import (
    Layout,
    LayoutConstant,
    LayoutInterface,
    Order,
    Slot,
)
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.passes.layout.labels import Form, is_bare, turned
from xdsl_tpu.passes.layout.problem import LayoutError


@dataclass(frozen=True)
class Choice:
    """Slots that may take the other layout together, by permuting each in its order.

    `layout` is theirs at present, `fixed` the one that they must have if there is one.
    """

    slots: tuple[Slot, ...]
    layout: Layout
    orders: Mapping[Slot, Order]
    fixed: Layout | None = None


@dataclass(frozen=True)
class Choices:
    """The choices of an op; `excluded` are pairs of different layouts that two cannot have."""

    choices: tuple[Choice, ...] = ()
    excluded: tuple[tuple[Layout, Layout], ...] = ()


def choices_of(op: Operation, forms: Mapping[SSAValue, Form], target: Layout) -> Choices:
    """What may change about an op.

    Raises:
        LayoutError: the op must have a layout that it cannot be given.
    """
    trait = LayoutInterface.of(op)
    if trait is None or LayoutConstant.of(op) is not None:
        return Choices()
    found = [_choice(op, trait, slots, forms) for slots in trait.tied(op)]
    present = [choice for choice in found if choice is not None]
    if len(present) == 2 == len(found):
        result = _pair(op, trait, present[0], present[1])
    else:
        able = (choice for choice in present if trait.can_permute(op, choice.orders))
        result = Choices(tuple(able))
    _check_required(op, trait, result)
    fixed = (replace(choice, fixed=_must_have(op, trait, target)) for choice in result.choices)
    return replace(result, choices=tuple(fixed))


def absorbed_order(
    op: Operation, index: int, forms: Mapping[SSAValue, Form]
) -> tuple[Slot, Order] | None:
    """The slot of an operand that keeps its form, and how that differs from the other layout."""
    trait = LayoutInterface.of(op)
    for slot in () if trait is None else trait.slots(op):
        if (slot.kind, slot.index) == ("operand", index):
            form = forms[op.operands[index]]
            order = turned(op.operands[index], form)
            return (slot, order) if order and form.channel == slot.channel else None
    return None


def describe(op: Operation) -> str:
    """An op for messages: `top.Conv 'conv1'`."""
    trait = LayoutInterface.of(op)
    name = name_of(op) if trait is None else trait.name(op)
    return op.name if name is None else f"{op.name} '{name}'"


def _choice(
    op: Operation,
    trait: LayoutInterface,
    slots: Sequence[Slot],
    forms: Mapping[SSAValue, Form],
) -> Choice | None:
    """The choice of tied slots, None when their values are not all in one known layout."""
    layouts: set[Layout] = set()
    orders: dict[Slot, Order] = {}
    for slot in slots:
        value = slot.value(op)
        if is_bare(value, slot.channel):
            continue
        form = forms.get(value)
        order = None if form is None else turned(value, form)
        if form is None or order is None or form.channel != slot.channel:
            return None
        layouts.add(form.layout)
        orders[slot] = order
    if (own := trait.layout(op)) is not None:
        layouts.add(own)
    return Choice(tuple(slots), layouts.pop(), orders) if orders and len(layouts) == 1 else None


def _pair(op: Operation, trait: LayoutInterface, one: Choice, other: Choice) -> Choices:
    """Two choices of an op, as far as they can be made independently of all else.

    A cut can express that two different layouts exclude each other, not that two equal ones
    do; in that case the second choice is given up.
    """
    first, second = (trait.can_permute(op, choice.orders) for choice in (one, other))
    both = trait.can_permute(op, {**one.orders, **other.orders})
    allowed = {
        (False, False): True,
        (True, False): first,
        (False, True): second,
        (True, True): both,
    }
    excluded: list[tuple[Layout, Layout]] = []
    for (turn, other_turn), allow in allowed.items():
        layouts = (
            one.layout.other if turn else one.layout,
            other.layout.other if other_turn else other.layout,
        )
        if not allow and layouts[0] is layouts[1]:
            return Choices((one,) if first else (other,) if second else ())
        if not allow:
            excluded.append(layouts)
    if not (first or second or both):
        return Choices()
    return Choices((one, other), tuple(excluded))


def _must_have(op: Operation, trait: LayoutInterface, target: Layout) -> Layout | None:
    required = trait.required(op)
    if required is None and trait.wants_target(op):
        return target
    return required


def _check_required(op: Operation, trait: LayoutInterface, result: Choices) -> None:
    required, own = trait.required(op), trait.layout(op)
    if required is None or own in (None, required) or result.choices:
        return
    wanted, present = (str(layout.name).replace("_", "-").lower() for layout in (required, own))
    raise LayoutError(
        f"{describe(op)} must be {wanted}, but it is {present} and cannot be rewritten; "
        "make it so before, or leave layouts as they are"
    )
