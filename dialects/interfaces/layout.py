"""What ops tell the layout passes: where their channels are, and how they look in another layout.

A tensor with channels has two physical layouts, channel-first (N, C, spatial) and channel-last
(N, spatial, C), whatever its rank. A dialect takes part in layout assignment by putting traits
on its ops; the passes name no dialect and no op:

| trait | on | says |
|---|---|---|
| `LayoutInterface` | every op that has or tolerates a layout | all of what follows below |
| `LayoutTranspose` | the op that permutes dimensions | by which order |
| `LayoutConstant` | ops that make constants | the constant in another order, at no cost |
| `LayoutRegions` | ops with regions | which values pass through them |

An op without any of them keeps the form of its operands and results. A minimal dialect:

    class MyLayout(LayoutInterface):
        def make_transpose(self, op, value, order, name, builder):
            return builder.insert(MyTransposeOp(value, order)).result

    class Elementwise(MyLayout):            # traits = traits_def(Elementwise())
        def slots(self, op):
            return (*operand_slots(0, 1), *result_slots(0))

    class Conv(MyLayout):                   # works in both layouts, told by `data_format`
        def slots(self, op):
            return (*operand_slots(0, 1), *result_slots(0))     # operand 2, the bias, has rank 1
        def layout(self, op):
            return Layout.CHANNEL_LAST if op.data_format.data == "NHWC" else Layout.CHANNEL_FIRST
        def permuted(self, op, orders, operands, builder):
            other = "NCHW" if op.data_format.data == "NHWC" else "NHWC"
            return rebuilt(op, orders, operands, builder, data_format=StringAttr(other))

    class IsTranspose(LayoutTranspose):     # on MyTransposeOp
        def order(self, op):
            return tuple(op.perm.get_values())

Passes ask with `LayoutInterface.of(op)` and its like, which give None for all other ops.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Literal, Self, TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.traits import OpTrait

from xdsl_tpu.dialects.names import name_of

Order: TypeAlias = tuple[int, ...]
"""A permutation: dimension i of the result is dimension `order[i]` of the input."""


class Layout(IntEnum):
    """Where the channels of a tensor are; the values are the labels of the formal problem."""

    CHANNEL_FIRST = 0
    CHANNEL_LAST = 1

    @property
    def other(self) -> "Layout":
        """The opposite layout."""
        return Layout(1 - self)


@dataclass(frozen=True)
class Slot:
    """An operand or result of an op that has a channel axis.

    `channel` is the number of that axis in the channel-first layout, 1 unless there is no batch;
    in the channel-last layout it is always the last one.
    """

    kind: Literal["operand", "result"]
    index: int
    channel: int = 1

    def value(self, op: Operation) -> SSAValue:
        """The operand or result of `op` that is meant."""
        return op.operands[self.index] if self.kind == "operand" else op.results[self.index]


Orders: TypeAlias = Mapping[Slot, Order]
"""For every slot whose form changes, the order in which its present dimensions are to come."""


def operand_slots(*indices: int, channel: int = 1) -> tuple[Slot, ...]:
    """Slots of the operands with these indices."""
    return tuple(Slot("operand", index, channel) for index in indices)


def result_slots(*indices: int, channel: int = 1) -> tuple[Slot, ...]:
    """Slots of the results with these indices."""
    return tuple(Slot("result", index, channel) for index in indices)


class LayoutInterface(OpTrait, ABC):
    """How an op behaves under a change of layout. Only the first two methods must be given.

    The defaults are those of an op that works element by element: any layout will do, the same
    one in all slots, and its attributes know nothing of dimensions.

    Subclasses must be hashable and without state, as all traits; an op class has at most one.
    """

    names_tensors: ClassVar[bool] = True
    """Whether a name is that of a tensor in one layout, as locations are in this project.

    Then a result in another layout gets another name, and a copy in the old one takes the old
    name over. False for dialects in which a name is that of an op, whatever its results.
    """

    @classmethod
    def of(cls, op: Operation) -> Self | None:
        """The trait of this op, None when it has none."""
        return op.get_trait(cls)

    @abstractmethod
    def make_transpose(
        self, op: Operation, value: SSAValue, order: Order, name: str, builder: Builder
    ) -> SSAValue:
        """Insert this dialect's transposition of `value` and give its result.

        `op` is the op on whose behalf that happens, and a source of attributes such as a device;
        `value` is one of its operands or results, or such in another layout. `name` is the name
        for the new tensor, derived from those that `name` gives and unique among them.
        """

    @abstractmethod
    def slots(self, op: Operation) -> Sequence[Slot]:
        """Operands and results with a channel axis; no others ever change their form.

        Slots may be listed whose value is `none` or has no dimension behind the channels: both
        layouts of it are the same. A value that is no tensor has a layout, too, though it cannot
        be transposed (its order is empty): its maker and its readers must agree.
        """

    def name(self, op: Operation) -> str | None:
        """The name of the op, which those of transpositions beside it are derived from.

        By default that of its location; for dialects that keep names elsewhere to override.
        """
        return name_of(op)

    def layout(self, op: Operation) -> Layout | None:
        """The layout in which the op reads its slots at present, as it is written in the IR.

        None for an op that cannot tell because it does the same in either.
        """
        return self.required(op)

    def wants_target(self, op: Operation) -> bool:
        """Whether passes must give the op the layout that is their target, if it can have it.

        That is for ops that are faster in one layout, such as convolutions. By default all that
        can tell their layout; say no for a normalisation or a bias along the channel axis,
        which can tell but do not care. (The greedy pass `auto-nhwc` goes by `layout` alone.)
        """
        return self.layout(op) is not None

    def required(self, op: Operation) -> Layout | None:
        """The only layout that the op may have afterwards; None when both are possible."""
        return None

    def tied(self, op: Operation) -> Sequence[Sequence[Slot]]:
        """The slots that can change their form, in groups that must agree on a layout.

        Slots in no group keep their form, but operands among them may `absorb` a transposition.
        """
        return (self.slots(op),)

    def can_permute(self, op: Operation, orders: Orders) -> bool:
        """Whether `permuted` can do this; `orders` holds whole groups of `tied`, one or more.

        Answer no for what the op as it stands cannot take: an axis or a side operand that
        cannot be moved, a device without kernels for the other layout.
        """
        return True

    def permuted(
        self, op: Operation, orders: Orders, operands: Sequence[SSAValue], builder: Builder
    ) -> Sequence[SSAValue]:
        """Insert the op that computes the same in other forms; give its results, in order.

        `operands` has one value for each operand of the op, those in `orders` permuted already.
        The results in `orders` must come out permuted. `op` itself stays, for the caller to
        erase; the new op takes its location. Only called after `can_permute` or `absorb`.
        """
        return rebuilt(op, orders, operands, builder)

    def transfer(self, op: Operation, layout: Layout) -> Layout | None:
        """For an op that gives the same data another shape: the layout of its result.

        `layout` is that of the operand. None when the channels are no dimension of the result,
        and for all other ops. Which slots may then change is for `tied` and `can_permute`: the
        groups of such an op are its operand by itself and its result by itself.
        """
        return None

    def preference(self, op: Operation) -> tuple[int, int]:
        """What the op itself costs, in cycles, channel-first and channel-last.

        Only the difference matters. Counts when the passes minimise cycles, and not when they
        minimise numbers or bytes of transpositions.
        """
        return (0, 0)

    def absorb(self, op: Operation, operand: Slot, order: Order) -> int | None:
        """What it costs, in cycles, to read `operand` permuted, without changing anything else.

        None when that is impossible. Asked for operand slots in no group of `tied`, such as the
        factors of a matrix product; `permuted` is called with the slot in `orders`.
        """
        return None


class LayoutTranspose(OpTrait, ABC):
    """On the op that permutes the dimensions of its first operand into its first result."""

    @classmethod
    def of(cls, op: Operation) -> Self | None:
        """The trait of this op, None when it has none."""
        return op.get_trait(cls)

    @abstractmethod
    def order(self, op: Operation) -> Order | None:
        """The order, counted from the front; None when it is not known."""


class LayoutConstant(OpTrait, ABC):
    """On ops whose results are known before the network runs: all copies of them are free."""

    @classmethod
    def of(cls, op: Operation) -> Self | None:
        """The trait of this op, None when it has none."""
        return op.get_trait(cls)

    def permuted(self, op: Operation, order: Order, builder: Builder) -> SSAValue | None:
        """Insert the constant with its dimensions in another order and give it.

        None when that cannot be done here: a transposition is put behind the constant, for a
        later pass to evaluate.
        """
        return None

    def release(self, op: Operation) -> None:
        """Called before the constant is erased as nothing uses it any more."""


@dataclass(frozen=True)
class Carried:
    """One value on its way through an op with regions: all of these have the same layout.

    For a loop: the initial value is an operand, then come the body's argument, what the body
    yields and the result. For a branch: what each region yields and the result.
    """

    operands: tuple[int, ...] = ()
    arguments: tuple[BlockArgument, ...] = ()
    yielded: tuple[tuple[Operation, int], ...] = ()
    """Terminators with the number of the operand."""
    results: tuple[int, ...] = ()
    channel: int = 1


class LayoutRegions(OpTrait, ABC):
    """On ops with regions through which tensors pass, such as a branch or a loop.

    Values that a region takes from outside need not be named: their uses are like any other.
    """

    @classmethod
    def of(cls, op: Operation) -> Self | None:
        """The trait of this op, None when it has none."""
        return op.get_trait(cls)

    @abstractmethod
    def carried(self, op: Operation) -> Sequence[Carried]:
        """The values that pass through and may change their form, types of all parts included."""

    def trips(self, op: Operation) -> int:
        """How often the regions run, as far as known: the weight of what is inside."""
        return 1


def layout_order(rank: int, to: Layout, channel: int = 1) -> Order:
    """The order that brings a tensor of the other layout into layout `to`.

    With `channel` 1 and rank 4: (0, 2, 3, 1) to channel-last and (0, 3, 1, 2) to channel-first.
    The identity for tensors that have no dimension behind the channels.
    """
    if rank <= channel + 1:
        return tuple(range(rank))
    before, behind = range(channel), range(channel, rank)
    if to is Layout.CHANNEL_LAST:
        return (*before, *behind[1:], behind[0])
    return (*before, behind[-1], *behind[:-1])


def inverse(order: Order) -> Order:
    """The order that undoes `order`."""
    return tuple(order.index(axis) for axis in range(len(order)))


def composed(first: Order, then: Order) -> Order:
    """The order that does what `first` and after it `then` do."""
    return tuple(first[axis] for axis in then)


def moves_data(shape: Sequence[int], order: Order) -> bool:
    """Whether a transposition changes the order of elements: not when only 1s change places."""
    kept = [axis for axis in order if shape[axis] != 1]
    return kept != sorted(kept)


def tensor_shape(type: Attribute) -> tuple[int, ...] | None:
    """The dimensions of a ranked tensor type, negative ones unknown; None of any other type."""
    if not isinstance(type, TensorType):
        return None
    return cast("TensorType[Attribute]", type).get_shape()


def permuted_type(type: Attribute, order: Order) -> Attribute:
    """A ranked tensor type with its dimensions in another order; any other type as it is."""
    if not isinstance(type, TensorType):
        return type
    tensor = cast("TensorType[Attribute]", type)
    shape = tensor.get_shape()
    return TensorType(tensor.element_type, [shape[axis] for axis in order], tensor.encoding)


def rebuilt(
    op: Operation,
    orders: Orders,
    operands: Sequence[SSAValue],
    builder: Builder,
    **attributes: Attribute,
) -> Sequence[SSAValue]:
    """Insert a copy of `op` with other operands, its results in other forms; give its results.

    `attributes` replace those of the same names, be they attributes or properties.
    """
    types = list(op.result_types)
    for slot, order in orders.items():
        if slot.kind == "result":
            types[slot.index] = permuted_type(types[slot.index], order)
    properties = dict(op.properties)
    properties.update({key: value for key, value in attributes.items() if key in properties})
    others = {key: value for key, value in attributes.items() if key not in properties}
    new = type(op).create(
        operands=operands,
        result_types=types,
        properties=properties,
        attributes={**op.attributes, **others},
        successors=op.successors,
        regions=[region.clone() for region in op.regions],
        location=op.location,
    )
    return builder.insert(new).results
