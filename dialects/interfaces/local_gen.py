"""What an op tells the layer-group pass about running from local memory, slice by slice.

Nothing here knows a dialect: an op answers for itself whether it has a local form, along which
axes its result may be cut, and which part of an operand a part of its result needs.
"""

from collections.abc import Callable, Hashable, Sequence
from enum import IntEnum
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects.records import record

Axis: TypeAlias = Literal["n", "c", "d", "h", "w"]
AXES: tuple[Axis, ...] = ("n", "c", "d", "h", "w")

Loop: TypeAlias = Axis | Literal["k"]
"""Along what an op by itself may be cut: an axis of its result, or "k", what it sums over."""

Range: TypeAlias = tuple[int, int]
"""First index and length."""


class GroupType(IntEnum):
    """How the dimensions of a group's tensors map to n, c, d, h, w; the values are the IR's."""

    NORMAL = 0
    THREE_D = 1
    SMALL_C = 2
    MM_INT4 = 3
    MM = 4


class Ncdhw(NamedTuple):
    """Sizes along the five axes that local memory knows; c lies over the lanes."""

    n: int
    c: int
    d: int
    h: int
    w: int


@record(frozen=True, slots=True)
class Part:
    """`length` elements from `start` of an op's result, along one axis that has `whole`."""

    axis: Axis
    start: int
    length: int
    whole: int
    kind: GroupType

    @property
    def end(self) -> int:
        """The first index after the part."""
        return self.start + self.length

    @property
    def is_last(self) -> bool:
        """Whether nothing comes after the part."""
        return self.end == self.whole


class LocalGen(Operation):
    """An op that may work on slices in local memory: one that can says so by `local_support`.

    The other defaults are those of an op that takes each element of the result from the same place
    of every operand.
    """

    WHY_GLOBAL: ClassVar[str] = "it has no local form"

    def local_support(self, kind: GroupType) -> str | None:
        """None when the op has a local form in a group of this type, else why not, in words.

        The reason is for users of the compiler: it names shapes and attributes, not classes.
        """
        return self.WHY_GLOBAL

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        """Whether the result may be made in several parts along the axis."""
        return True

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """The range of an operand, which has `size` along the axis, that a part needs.

        Never less than what is needed, often more. None when the axis cannot be cut like this.
        """
        return same_range(part, size)

    def loops(self, operand: int) -> tuple[Loop, Loop, Loop, Loop]:
        """Whose parts those of an operand along n, c, h and w are, when the op is by itself.

        Parts of other axes than their own, and of sums, are the same elements of the operand.
        """
        return "n", "c", "h", "w"

    def summed(self) -> int:
        """How many elements are summed over that may come in parts, when the op is by itself."""
        return 1

    def of_sum(self, part: Range, size: int) -> Range:
        """What a part of the sum needs of an operand that has `size` elements along it, as many for
        each that is summed over, or one for as many."""
        start, end = (place * size // self.summed() for place in (part[0], sum(part)))
        return start, end - start

    def goes_on_along(self) -> Axis | None:
        """Along what a slice goes on where the one before it ended, when the op is by itself: its
        kernel is given that one. None where slices do not depend on each other."""
        return None

    def cut_alone(self) -> tuple[Loop, ...]:
        """Along what the op may be cut when it is by itself."""
        axes: tuple[Axis, ...] = ("n", "c", "h", "w")
        return tuple(axis for axis in axes if self.may_split(axis, GroupType.NORMAL))

    def takes_margins(self) -> bool:
        """Whether the op copes with operands of which more is there than `backward` asked for.

        So it is when another user of the operand needs more of it.
        """
        return False

    def split_weights(self) -> tuple[int, ...]:
        """Operands that, when they are weights, are loaded slice by slice like activations."""
        return ()

    def shares_channels(self, kind: GroupType) -> bool:
        """Whether cores may each make some channels of the result, where these are the second
        dimension.

        An op must know which of its weights go with them (`channel_weights`), so one that says
        nothing of how it may be cut does not.
        """
        return type(self).may_split is not LocalGen.may_split and self.may_split("c", kind)

    def channel_weights(self) -> tuple[int, ...]:
        """Operands that, when they are weights, have as many channels as the result, each for one
        of those: a part of the channels needs no others."""
        return ()

    def compact_weights(self) -> tuple[int, ...]:
        """Operands that, when they are weights, lie in local memory without alignment."""
        return ()

    def row_operands(self) -> tuple[int, ...]:
        """Operands that every lane needs whole, as one row, whatever their shape."""
        return ()

    def stretches_channels(self) -> bool:
        """Whether an operand of one channel is used with every channel of the result."""
        return False

    def lane_weights(self) -> tuple[int, ...]:
        """Operands that, when they are weights, have a channel in each lane: small ones of several
        ops may be loaded at once."""
        return ()

    def may_overwrite(self) -> bool:
        """Whether the result may lie where an operand of its type did that nothing reads
        afterwards: it is made of the same elements, or of the same rows."""
        return False

    def follows_reader(self) -> bool:
        """Whether the op works on its operand wherever that lies, so that a reader of the result
        decides how both do."""
        return False

    def place_key(self, starts: Sequence[Ncdhw]) -> Hashable:
        """What the price of a slice depends on besides the sizes of its operands and results.

        `starts` are the places where these begin in the whole, operands first, absent ones left
        out. Everything, unless the op knows better: a key that leaves something out gives one
        slice the price of another.
        """
        return tuple(starts)


class MergesTaps(LocalGen):
    """An op that may read its first operand with filter taps as channels."""

    def merged_taps(self) -> tuple[bool, bool]:
        """Whether rows, and whether columns, of the filter are channels of the operand."""
        return False, False

    def tap_code(self) -> int:
        """How a Load of the operand says that."""
        return 0

    def merged(self, part: Ncdhw, out: Ncdhw) -> Ncdhw:
        """What a part of the operand takes with its taps as channels, for a part of the result."""
        return part


def tap_reader(value: SSAValue, is_inside: Callable[[Operation], bool]) -> MergesTaps | None:
    """The op inside a group that reads a value with filter taps as channels, perhaps through
    others that follow it; None when there is none."""
    for use in value.uses:
        op = use.operation
        if not isinstance(op, LocalGen) or not is_inside(op):
            continue
        if op.follows_reader():
            return tap_reader(op.results[0], is_inside)
        if isinstance(op, MergesTaps) and use.index == 0:
            return op if any(op.merged_taps()) else None
    return None


def same_range(part: Part, size: int) -> Range | None:
    """The same range, or the one element of an operand that is stretched along the axis.

    None when the operand has another size: its elements do not lie where the result's do.
    """
    if size == part.whole:
        return part.start, part.length
    return (0, 1) if size == 1 else None


def clipped(start: int, end: int, size: int) -> Range | None:
    """What lies inside an operand of `size`; None when nothing does."""
    low, high = max(start, 0), min(end, size)
    return (low, high - low) if high > low else None


_AXIS_NUMBERS: dict[bool, tuple[Axis, ...]] = {
    False: ("n", "c", "h", "w"),
    True: ("n", "c", "d", "h", "w"),
}


def axis_number(axis: Axis, kind: GroupType) -> int:
    """The tensor dimension that an axis stands for: NORMAL and MM 0123 = nchw, THREE_D ncdhw.

    In SMALL_C the innermost dimension, h, counts as 2. An axis that the type does not have
    counts as 2, too: its size is 1.
    """
    numbers = _AXIS_NUMBERS[kind is GroupType.THREE_D]
    return numbers.index(axis) if axis in numbers else 2
