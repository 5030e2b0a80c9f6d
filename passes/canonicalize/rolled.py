"""Steps of an unrolled loop as one computation on all of them.

`roll` looks at values that were computed alike, one for each step, and says how to compute them at
once: slices of one tensor are that tensor, element-wise ops and products with vectors are made of
what their operands roll up to. A plan is found first, without changing anything, and built when the
whole is known.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.dialects.names import name_loc
from xdsl_tpu.dialects.top.abstract import UnaryOp
from xdsl_tpu.dialects.top.elementwise import SeveralInputsOp
from xdsl_tpu.passes.canonicalize.common import has_relu, reshape
from xdsl_tpu.passes.canonicalize.slice import is_static, set_cuts
from xdsl_tpu.passes.graph import derived_name, has_shapes, rebuilt, tensor_like
from xdsl_tpu.passes.products import keeps_rows
from xdsl_tpu.passes.tensors import shape_of

Moving = top.ReshapeOp | top.SqueezeOp | top.UnsqueezeOp


@dataclass
class Builder:
    """Makes ops in the place of `root`, which lends them its name."""

    root: Operation
    none: SSAValue
    steps: int
    ops: list[Operation] = field(default_factory=list[Operation])

    def add(self, op: Operation) -> SSAValue:
        """Keep an op; its result."""
        self.ops.append(op)
        return op.results[0]

    def name(self) -> str:
        """A new one."""
        return derived_name(self.root, f"_all{len(self.ops)}")

    def reshaped(self, value: SSAValue, shape: Shape) -> SSAValue:
        """The value under a shape."""
        if shape_of(value) == shape:
            return value
        return self.add(reshape(self.name(), value, shape))

    def part(self, value: SSAValue, cuts: Sequence[Cut]) -> SSAValue:
        """What a slice takes of a value."""
        if [(0, size, 1) for size in shape_of(value)] == [(c.first, c.count, c.step) for c in cuts]:
            return value
        none, kind = self.none, tensor_like(value, [c.count for c in cuts])
        operands = (value, none, none, none)
        op = top.SliceOp.make(
            self.name(), operands, result_types=[kind], offset=[], steps=[], ends=[]
        )
        set_cuts(op, cuts)
        return self.add(op)


@dataclass(frozen=True)
class Rolled(ABC):
    """The values of all steps. `step` is the shape of each."""

    step: Shape

    @abstractmethod
    def places(self) -> set[int]:
        """Where the steps' axis may be put among those of a step."""

    @abstractmethod
    def build(self, builder: Builder, place: int) -> SSAValue:
        """All values in one: the shape of a step with the steps' axis at `place`."""

    @abstractmethod
    def sources(self) -> list[SSAValue]:
        """What it is computed from."""

    def stacked(self, place: int, steps: int) -> Shape:
        """The shape of all values."""
        return (*self.step[:place], steps, *self.step[place:])


def roll(values: Sequence[SSAValue], before: int = 0) -> Rolled | None:
    """How to compute the values of all steps at once, and those of `before` steps that come first
    and have no value here; None when they are not made alike.

    What is computed for a step alone has no other use: it would be computed twice.
    """
    if not has_shapes(*values) or len({shape_of(value) for value in values}) > 1:
        return None
    if all(value is values[0] for value in values):
        return Same(shape_of(values[0]), values[0])
    owners = [value.owner for value in values if isinstance(value.owner, Operation)]
    if len(owners) < len(values) or len({type(op) for op in owners}) > 1:
        return None
    found = _slices(values, before)
    if found is not None:
        return found
    once = all(value.has_one_use() for value in values)
    if not once or any(op.attributes != owners[0].attributes for op in owners):
        return None
    return _computed(owners, shape_of(values[0]), before)


def _slices(values: Sequence[SSAValue], before: int) -> Rolled | None:
    """Slices of one element along one axis of one tensor, each a step further."""
    slices = [_unshaped(value).owner for value in values]
    parts = [op for op in slices if isinstance(op, top.SliceOp) and is_static(op)]
    if len(parts) < len(values) or any(op.input is not parts[0].input for op in parts):
        return None
    cuts = [op.cuts() for op in parts]
    moving = [a for a, (one, two) in enumerate(zip(*cuts[:2], strict=True)) if one != two]
    if len(moving) != 1:
        return None
    (axis,) = moving
    first, stride = cuts[0][axis], cuts[1][axis].first - cuts[0][axis].first
    start = first.first - before * stride
    wanted = list(cuts[0])
    for number, cut in enumerate(cuts):
        wanted[axis] = Cut(first.first + number * stride, 1, cut[axis].step)
        if list(cut) != wanted:
            return None
    if stride <= 0 or start < 0:
        return None
    wanted[axis] = Cut(start, len(values) + before, stride)
    return Slices(shape_of(values[0]), parts[0].input, tuple(wanted), axis)


def _unshaped(value: SSAValue) -> SSAValue:
    """In front of what only changes its shape."""
    while isinstance(value.owner, Moving):
        value = value.owner.operands[0]
    return value


def _computed(ops: Sequence[Operation], step: Shape, before: int) -> Rolled | None:
    first = ops[0]
    if isinstance(first, Moving):
        inner = roll([op.operands[0] for op in ops], before)
        return None if inner is None else Reshaped(step, inner)
    if isinstance(first, UnaryOp | SeveralInputsOp):
        return _pointwise(first, _operands(ops, before), step)
    if isinstance(first, top.MatMulOp):
        return _dot(first, _operands(ops, before), step)
    if isinstance(first, top.ReduceOp):
        return _reduced(first, roll([op.operands[0] for op in ops], before), step)
    return None


def _operands(ops: Sequence[Operation], before: int) -> list[Rolled] | None:
    """The operands that are there, rolled up; None when one of them cannot be."""
    found: list[Rolled] = []
    for index, operand in enumerate(ops[0].operands):
        if any(len(op.operands) != len(ops[0].operands) for op in ops):
            return None
        if is_none(operand):
            continue
        rolled = roll([op.operands[index] for op in ops], before)
        if rolled is None:
            return None
        found.append(rolled)
    return found


def _pointwise(op: Operation, operands: list[Rolled] | None, step: Shape) -> Rolled | None:
    if operands is None or any(len(one.step) != len(step) for one in operands):
        return None
    return Pointwise(step, op, tuple(_together(operands)))


def _together(operands: Sequence[Rolled]) -> Sequence[Rolled]:
    """Operands that can have the steps' axis in one place, that of the largest, if any can."""
    if not operands or set[int].intersection(*(one.places() for one in operands)):
        return operands
    places = max(operands, key=lambda one: prod(one.step)).places()
    return [one if places & one.places() else Turned(one.step, one) for one in operands]


def _reduced(op: top.ReduceOp, inner: Rolled | None, step: Shape) -> Rolled | None:
    if inner is None:
        return None
    rank = len(inner.step)
    axes = tuple(sorted(axis % rank for axis in ints(op.axes))) or tuple(range(rank))
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(inner.step))
    return Reshaped(step, Reduced(kept, inner, axes, op.mode.data))


def _dot(op: top.MatMulOp, operands: list[Rolled] | None, step: Shape) -> Rolled | None:
    """A matrix times a vector, both of the step."""
    if operands is None or len(operands) != 2 or has_relu(op):
        return None
    if not keeps_rows(op) or op.is_lora.value.data:
        return None
    left, right = operands
    rank, rows = len(left.step), (*left.step[:-1], 1)
    if rank < 2 or len(right.step) != rank or step != rows:
        return None
    line = (*right.step[:-2], 1, left.step[-1])  # as long as a row: there is one column
    product = Pointwise(left.step, None, (left, Reshaped(line, right)))
    return Reduced(step, product, (rank - 1,), "ReduceSum")


@dataclass(frozen=True)
class Same(Rolled):
    """One value in all steps."""

    value: SSAValue

    def places(self) -> set[int]:
        return set(range(len(self.step) + 1))

    def build(self, builder: Builder, place: int) -> SSAValue:
        return builder.reshaped(self.value, self.stacked(place, 1))

    def sources(self) -> list[SSAValue]:
        return [self.value]


@dataclass(frozen=True)
class Slices(Rolled):
    """Parts of one tensor, one behind the other along an axis."""

    value: SSAValue
    cuts: tuple[Cut, ...]
    axis: int

    def places(self) -> set[int]:
        before = prod(cut.count for cut in self.cuts[: self.axis])
        return {j for j in range(len(self.step) + 1) if prod(self.step[:j]) == before}

    def build(self, builder: Builder, place: int) -> SSAValue:
        whole = builder.part(self.value, self.cuts)
        return builder.reshaped(whole, self.stacked(place, builder.steps))

    def sources(self) -> list[SSAValue]:
        return [self.value]


@dataclass(frozen=True)
class Reshaped(Rolled):
    """Steps under another shape."""

    inner: Rolled

    def _inner_place(self, place: int) -> int | None:
        before = prod(self.step[:place])
        inside = self.inner.step
        found = (j for j in self.inner.places() if prod(inside[:j]) == before)
        return next(found, None)

    def places(self) -> set[int]:
        return {j for j in range(len(self.step) + 1) if self._inner_place(j) is not None}

    def build(self, builder: Builder, place: int) -> SSAValue:
        inside = self._inner_place(place)
        assert inside is not None, "one of `places`"
        value = self.inner.build(builder, inside)
        return builder.reshaped(value, self.stacked(place, shape_of(value)[inside]))

    def sources(self) -> list[SSAValue]:
        return self.inner.sources()


@dataclass(frozen=True)
class Turned(Rolled):
    """Steps whose axis is moved to where it is wanted."""

    inner: Rolled

    def places(self) -> set[int]:
        return set(range(len(self.step) + 1)) if self.inner.places() else set()

    def build(self, builder: Builder, place: int) -> SSAValue:
        found = self.inner.places()
        if place in found:
            return self.inner.build(builder, place)
        inside = min(found, key=lambda axis: abs(axis - place))
        value = self.inner.build(builder, inside)
        order = [axis for axis in range(len(self.step) + 1) if axis != inside]
        order.insert(place, inside)
        kind = tensor_like(value, [shape_of(value)[axis] for axis in order])
        return builder.add(
            top.PermuteOp.make(builder.name(), (value,), result_types=[kind], order=order)
        )

    def sources(self) -> list[SSAValue]:
        return self.inner.sources()


@dataclass(frozen=True)
class Pointwise(Rolled):
    """An element-wise op, a copy of `op`; a product where there is none."""

    op: Operation | None
    operands: tuple[Rolled, ...]

    def places(self) -> set[int]:
        return set[int].intersection(*(one.places() for one in self.operands))

    def build(self, builder: Builder, place: int) -> SSAValue:
        operands = [one.build(builder, place) for one in self.operands]
        steps = max(shape_of(value)[place] for value in operands)
        kind = tensor_like(operands[0], self.stacked(place, steps))
        if self.op is None:
            return builder.add(top.MulOp.make(builder.name(), operands, result_types=[kind]))
        copy = rebuilt(self.op, operands=operands, result_types=[kind])
        copy.location = name_loc(builder.name())
        return builder.add(copy)

    def sources(self) -> list[SSAValue]:
        return [value for one in self.operands for value in one.sources()]


@dataclass(frozen=True)
class Reduced(Rolled):
    """A reduction over axes of a step, which stay as 1."""

    inner: Rolled
    axes: tuple[int, ...]
    mode: str

    def places(self) -> set[int]:
        return self.inner.places()

    def build(self, builder: Builder, place: int) -> SSAValue:
        value = self.inner.build(builder, place)
        axes = [axis + (axis >= place) for axis in self.axes]
        kind = tensor_like(value, self.stacked(place, shape_of(value)[place]))
        operands, name = (value,), builder.name()
        op = top.ReduceOp.make(
            name, operands, result_types=[kind], axes=axes, keepdims=True, mode=self.mode
        )
        return builder.add(op)

    def sources(self) -> list[SSAValue]:
        return self.inner.sources()
