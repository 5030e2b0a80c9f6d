"""Rules on local memory that several families of ops share.

Facts from docs/hardware/groups.md.
"""

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects.base import RankedTensor, is_none
from xdsl_tpu.dialects.interfaces.lane_view import (
    Lanes,
    LaneView,
    Viewed,
    lanes_of,
    stretched_shapes,
)
from xdsl_tpu.dialects.interfaces.local_gen import (
    Axis,
    GroupType,
    LocalGen,
    Ncdhw,
    Part,
    Range,
    axis_number,
    clipped,
)
from xdsl_tpu.dialects.interfaces.local_shapes import ncdhw
from xdsl_tpu.dialects.interfaces.shape import Shape, dims, known_shape
from xdsl_tpu.dialects.interfaces.shape_rules import Window
from xdsl_tpu.dialects.quant import stored_element
from xdsl_tpu.dialects.traits import StoredValues

MAX_STRIDE = 15
"""The largest stride that the pooling instructions can encode."""
LINE_BYTES = 64
"""Bytes of a line of a lane: matrices, and rows that are read by themselves, begin with one."""
MAX_CHANNELS = 65535
"""The largest channel number that an instruction can encode."""

FLOATS = (Float32Type, Float16Type, BFloat16Type)


class LocalAnyShape(LocalGen):
    """An op that has a local form whatever its shapes."""

    def local_support(self, kind: GroupType) -> str | None:
        return None


class AlikeEverywhere(LocalGen):
    """An op that takes as long on every slice of the same sizes."""

    def place_key(self, starts: Sequence[Ncdhw]) -> Hashable:
        return None


class TakesMargins(LocalGen):
    """An op that finds what it needs in an operand of which more is there."""

    def takes_margins(self) -> bool:
        return True


class EachElement(AlikeEverywhere, TakesMargins, LocalAnyShape, LaneView):
    """Element by element on one tensor, whatever its shape; other operands are parameters."""

    def shares_channels(self, kind: GroupType) -> bool:
        return True

    def may_overwrite(self) -> bool:
        return True

    def viewed(self, lanes: Lanes) -> Viewed | None:
        shape = known_shape(self.results[0].type)
        if shape is None or lanes_of(shape) == lanes:
            return as_it_stands(self)
        left, rest = divmod(prod(shape), lanes.rows)
        if rest:
            return None
        seen = (*lanes, left)
        return Viewed((seen, *(None for _ in self.operands[1:])), seen)


class LocalBroadcast(AlikeEverywhere, TakesMargins, LaneView):
    """Element by element on operands of equal rank that may be stretched along some axes.

    Weights among them are loaded slice by slice; one channel that the chip has computed is copied
    to the other lanes. From rank 5 on several dimensions share the
    innermost axes in local memory, so they must be stretched alike.
    """

    def local_support(self, kind: GroupType) -> str | None:
        operands = self._present()
        shapes = [known_shape(operand.type) for operand in operands]
        if len(shapes) < 2:
            return None
        first = shapes[0]
        for operand, shape in zip(operands, shapes, strict=True):
            if first is None or shape is None:
                return "the shapes are not known"
            if (why := _broadcast_problem(first, shape, operand)) is not None:
                return why
        return None

    def shares_channels(self, kind: GroupType) -> bool:
        return True

    def _present(self) -> list[SSAValue]:
        return [operand for operand in self.operands if not is_none(operand)]

    def split_weights(self) -> tuple[int, ...]:
        return tuple(range(len(self.operands)))

    def lane_weights(self) -> tuple[int, ...]:
        return tuple(range(len(self.operands)))

    def stretches_channels(self) -> bool:
        return True

    def followed(self) -> tuple[int, ...]:
        whole = known_shape(self.results[0].type)
        shapes = [known_shape(operand.type) for operand in self.operands]
        if whole is None:
            return ()
        return tuple(i for i, s in enumerate(shapes) if s is not None and prod(s) == prod(whole))

    def viewed(self, lanes: Lanes) -> Viewed | None:
        whole = known_shape(self.results[0].type)
        shapes = [known_shape(operand.type) for operand in self._present()]
        if whole is None or None in shapes:
            return None
        if lanes_of(whole) == lanes and all(len(shape or ()) == len(whole) for shape in shapes):
            return as_it_stands(self)
        views = stretched_shapes([*filter(None, shapes), whole], whole, lanes)
        if views is None:
            return None
        seen = iter(views)
        given = tuple(None if is_none(operand) else next(seen) for operand in self.operands)
        return Viewed(given, views[-1])


def is_weight(value: SSAValue) -> bool:
    """Whether a value is an entry of the weight file."""
    owner = value.owner
    return isinstance(owner, Operation) and owner.has_trait(
        StoredValues, value_if_unregistered=False
    )


def _broadcast_problem(left: Shape, right: Shape, operand: SSAValue) -> str | None:
    both = f"{dims(left)} and {dims(right)}"
    if len(left) != len(right):
        return f"its operands have different ranks: {both}"
    kinds = [_stretched(*sizes) for sizes in zip(left, right, strict=True)]
    if len(kinds) == 5 and isinstance(stored_type(operand), FLOATS):
        opposite = kinds[3] * kinds[4] == -1
        if kinds[3] == kinds[4] or (opposite and not any(kinds[:3])):
            return None
    elif all(kind == kinds[3] for kind in kinds[4:]):
        return None
    return f"dimensions 3 and on of {both}, which share an axis, are not broadcast alike"


def _stretched(left: int, right: int) -> int:
    """Which side is stretched along a dimension: 1 the left one, -1 the right one, 0 none."""
    return 0 if left == right else 1 if left == 1 else -1


def stored_type(value: SSAValue) -> Attribute:
    """The type that the elements of a ranked tensor have in memory."""
    return stored_element(cast(RankedTensor, value.type).element_type)


def last_axis_problem(shape: Shape, axis: int) -> str | None:
    """Why an op along an axis cannot have it in one lane when others are there; None if it can."""
    if axis == len(shape) - 1:
        return None
    return f"axis {axis} is not the last one of {dims(shape)}"


def splits_before(axis: Axis, kind: GroupType, first: int) -> bool:
    """Whether an op that needs dimensions `first` and on in one piece may be cut along an axis.

    SMALL_C has the innermost dimension as its third axis, whatever its number.
    """
    return axis_number(axis, kind) < (2 if kind is GroupType.SMALL_C else first)


def splits_beside(axis: Axis, kind: GroupType, first: int, last: int, rank: int) -> bool:
    """Whether an op that needs dimensions `first` to `last` in one piece may be cut along an axis:
    before them, or, of four dimensions, behind them."""
    behind = rank == 4 and kind is GroupType.NORMAL and axis_number(axis, kind) > last
    return behind or splits_before(axis, kind, first)


class LocalWindows(LocalGen):
    """An op whose windows slide over its first operand; any others it needs as a whole."""

    @abstractmethod
    def windows(self) -> tuple[Window, ...]:
        """One window a spatial dimension."""

    def reach(self, window: Window) -> int:
        """How many elements a window takes from its position on."""
        return window.extent

    def place_key(self, starts: Sequence[Ncdhw]) -> Hashable:
        """Where the first window begins in its slice, and whether that is the first one."""
        x, out = starts[0], starts[-1]
        windows = self.windows()
        along = (window_along("d", windows), window_along("h", windows), window_along("w", windows))
        d, h, w = (Window(1) if window is None else window for window in along)
        first = (x.d, x.h, x.w) == (0, 0, 0)
        return (
            x.d * d.apart - out.d * d.stride,
            x.h * h.apart - out.h * h.stride,
            x.w * w.apart - out.w * w.stride,
            first,
        )

    def backward(self, part: Part, operand: int, size: int) -> Range | None:
        """What the windows see; the last part takes all that is left."""
        if operand > 0:
            return 0, size
        window = window_along(part.axis, self.windows())
        if window is None:
            return super().backward(part, operand, size)
        start = part.start * window.stride - window.before
        end = start + (part.length - 1) * window.stride + self.reach(window)
        first, behind = -(-start // window.apart), -(-end // window.apart)
        return clipped(first, size if part.is_last else behind, size)


class LocalReshape(TakesMargins, LaneView):
    """An op that keeps all elements in order; dimensions 0 and 1 must stay, as n and c do.

    Its result can be the memory of its operand. Rows may be cut where both sides have the same.
    """

    def local_support(self, kind: GroupType) -> str | None:
        source, target = (known_shape(v.type) for v in (self.operands[0], self.results[0]))
        if source is None or target is None:
            return "the shapes are not known"
        if min(len(source), len(target)) >= 2 and source[:2] == target[:2]:
            return None
        return f"{dims(source)} to {dims(target)} changes dimension 0 or 1"

    def may_split(self, axis: Axis, kind: GroupType) -> bool:
        return axis in ("n", "c") or self._keeps_rows(kind)

    def _keeps_rows(self, kind: GroupType) -> bool:
        if kind not in (GroupType.NORMAL, GroupType.THREE_D):
            return False
        shapes = (known_shape(v.type) for v in (self.operands[0], self.results[0]))
        source, target = (None if s is None else ncdhw(s, kind, lanes=1) for s in shapes)
        return source is not None and source == target

    def viewed(self, lanes: Lanes) -> Viewed | None:
        """Nothing at all: both sides get one shape."""
        shape = known_shape(self.results[0].type)
        left, rest = divmod(prod(shape or (0,)), lanes.rows)
        return None if rest or not left else Viewed(((*lanes, left),), (*lanes, left))


def as_it_stands(op: Operation) -> Viewed | None:
    """An op under the shapes that it has; None when its result's is not known."""
    shape = known_shape(op.results[0].type)
    return None if shape is None else Viewed((None,) * len(op.operands), shape)


def window_along(axis: Axis, windows: Sequence[Window]) -> Window | None:
    """The window of an op on N, C, [D], H, W that slides along an axis; None along others.

    One of N, C, W lies along h: its only spatial dimension is the third.
    """
    spatial: tuple[Axis, ...] = ("d", "h", "w") if len(windows) == 3 else ("h", "w")
    place = spatial.index(axis) if axis in spatial else len(windows)
    return windows[place] if place < len(windows) else None


def stride_problem(windows: Sequence[Window]) -> str | None:
    """Why strides are too large for an instruction, None when they are not."""
    strides = [window.stride for window in windows]
    if max(strides) <= MAX_STRIDE:
        return None
    return f"its stride {dims(strides)} is above {MAX_STRIDE}"
