"""What of a function can be folded: sets of values with one fold, and the filters between them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none, is_ranked_tensor
from xdsl_tpu.dialects.interfaces.channels import AlongChannels, ChannelAlike
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.dialects.traits import SupportElementwise
from xdsl_tpu.passes.fold_columns.filters import FoldedSlide, Slide, folded
from xdsl_tpu.passes.joined_sets import JoinedSets
from xdsl_tpu.passes.tensors import is_weight, number_type, shape_of

Sliding = top.ConvOp | top.DeconvOp
Crossing = Sliding | top.MaxPoolOp
"""What may lie between sets of values of different folds."""

RANKS = (3, 4)
"""Of tensors whose columns can be folded."""


def is_given(value: SSAValue) -> bool:
    """Whether the host gives a value."""
    return isinstance(value.owner, top.InputOp)


def columns_axis(shape: Sequence[int]) -> int:
    """The last dimension that is longer than one."""
    return max(axis for axis in range(2, len(shape)) if shape[axis] > 1 or axis == 2)


PASSES: dict[type[Operation], int] = {
    top.HardSwishOp: 5,
    top.GELUOp: 14,
    top.SigmoidOp: 14,
    top.SiLUOp: 14,
    top.ExpOp: 16,
    top.TanhOp: 23,
}
"""What these ops take for each EU width, in floats, about."""

FEW_PASSES = 3
"""What all others take, about."""


class Work(NamedTuple):
    """A result that is made element by element, and what it takes for each EU width."""

    shape: Shape
    passes: int


@dataclass(eq=False, slots=True)
class Values:
    """Values that have one fold: they differ in channels at most.

    `worked` are results of ops on them, `made` and `read` the shapes of those that something else
    makes or reads, once for each, `given` of those that the host gives.
    """

    columns: int
    worked: list[Work] = field(default_factory=list[Work])
    made: list[Shape] = field(default_factory=list[Shape])
    given: list[Shape] = field(default_factory=list[Shape])
    read: list[Shape] = field(default_factory=list[Shape])
    narrowest: int = 1 << 30
    """Channels that the filters around have, at least."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A filter from one set of values to another, or the maximum of so many `pooled` columns: for
    each of them `slide` picks it."""

    op: Crossing
    source: Values
    target: Values
    slide: Slide
    rest: tuple[int, int]
    """Taps and result positions of the other dimensions, images included."""
    pooled: int = 0


@dataclass(slots=True)
class Network:
    """The sets of values of a function, by value, and its filters."""

    of: dict[SSAValue, Values] = field(default_factory=dict[SSAValue, Values])
    edges: list[Edge] = field(default_factory=list[Edge])

    def sets(self) -> list[Values]:
        """Each set once."""
        return list(dict.fromkeys(self.of.values()))


def in_step(op: Operation) -> bool:
    """Whether an op has one fold for all its values: it computes each element from those at its
    place, of values of one shape, or moves whole channels."""
    values = [value for value in op.operands if not is_none(value)]
    if op.has_trait(ChannelAlike, value_if_unregistered=False) and len(values) > 1:
        values, parameters = values[:1], values[1:]
        if not all(is_weight(one) and has_channels(one, values[0]) for one in parameters):
            return False
    if not values or not all(map(_can_fold, (*values, *op.results))):
        return False
    if any(map(is_weight, values)):
        return False
    if isinstance(op, AlongChannels):
        return op.multiplied(1, shape_of(values[0])) is not None
    alike = (SupportElementwise, ChannelAlike)
    stays = any(op.has_trait(trait, value_if_unregistered=False) for trait in alike)
    return stays and {shape_of(one) for one in (*values, *op.results)} == {shape_of(values[0])}


def has_channels(parameter: SSAValue, value: SSAValue) -> bool:
    """Whether a parameter has one element for each of several channels of a value."""
    shape, channels = shape_of(parameter), shape_of(value)[1:2]
    return (math.prod(shape),) == channels != (1,) and channels[0] in shape


def slide_of(op: Sliding) -> Slide | None:
    """How the op's filter goes over the columns; None when it is none that can be folded."""
    if op.group.value.data != 1 or op.dynweight_reorderd.value.data or not is_weight(op.filter):
        return None
    if not all(map(_can_fold, (op.input, op.output))):
        return None
    if not (is_none(op.bias) or is_weight(op.bias)):
        return None
    if isinstance(op, top.ConvOp) and (any(ints(op.inserts or ())) or op.auto_pad is not None):
        return None
    axis = columns_axis(shape_of(op.input))
    if columns_axis(shape_of(op.output)) != axis:
        return None
    window = op.windows()[axis - 2]
    if isinstance(op, top.ConvOp) and 1 < window.extent <= window.stride:
        return None  # patches that do not overlap are rows of a product
    return slide_along(op, axis)


def slide_along(op: Sliding, axis: int) -> Slide:
    """How the op's filter goes over one dimension of its input."""
    window = op.windows()[axis - 2]
    return Slide(
        ints(op.kernel_shape)[axis - 2],
        window.stride,
        (ints(op.dilations or ()) or (1,) * len(op.kernel_shape))[axis - 2],
        window.before,
        window.after,
        shape_of(op.input)[axis],
        shape_of(op.output)[axis],
        isinstance(op, top.DeconvOp),
    )


def rows_together(op: Sliding, rows: int) -> FoldedSlide | None:
    """How the op's filter goes over its input so that so many rows of the result are one; None when
    it does not."""
    return folded(slide_along(op, 2), 1, rows, slides=True)


def pool_of(op: top.MaxPoolOp) -> Slide | None:
    """How the first of the columns that a pool takes together is picked; None for pools whose
    windows overlap in columns, leave some out or are padded there."""
    shape, result = shape_of(op.input), shape_of(op.output)
    if len(shape) != RANKS[1] or not _can_fold(op.input) or len(op.kernel_shape) != 2:
        return None
    axis = columns_axis(shape)
    kernel, stride = ints(op.kernel_shape)[axis - 2], ints(op.strides)[axis - 2]
    pads = ints(op.pads) or (0,) * 4
    plain = not op.is_adaptive.value.data and op.auto_pad is None
    exact = kernel == stride > 1 and result[axis] * stride == shape[axis]
    if not plain or not exact or pads[axis - 2] or pads[axis] or columns_axis(result) != axis:
        return None
    return Slide(1, stride, 1, 0, 0, shape[axis], result[axis])


def _can_fold(value: SSAValue) -> bool:
    kind = value.type
    return (
        is_ranked_tensor(kind)
        and isinstance(number_type(value), AnyFloat)
        and len(kind.get_shape()) in RANKS
    )


def network_of(func: FuncOp) -> Network:
    """The network of a function with static shapes."""
    network, linked = Network(), JoinedSets[SSAValue]()
    ops = list(func.body.block.ops)
    slides: dict[Operation, Slide | None] = {
        op: pool_of(op) if isinstance(op, top.MaxPoolOp) else slide_of(op)
        for op in ops
        if isinstance(op, Crossing)
    }
    steps = {op for op in ops if in_step(op)}
    for op in ops:
        if op in steps:
            for value in (*op.operands, *op.results[1:]):
                if not is_none(value) and not is_weight(value):
                    linked.join(value, op.results[0])
    sets = dict[SSAValue, Values]()
    for value in _foldable(ops):
        shape = shape_of(value)
        network.of[value] = sets.setdefault(linked.find(value), Values(shape[columns_axis(shape)]))
    for op in ops:
        slide = slides.get(op)
        if isinstance(op, Crossing) and slide is not None:
            network.edges.append(_edge(op, slide, network))
        else:
            _count(op, network, op in steps)
    return network


def _foldable(ops: Sequence[Operation]) -> Iterator[SSAValue]:
    for op in ops:
        for value in (*op.operands, *op.results):
            if _can_fold(value) and not is_weight(value):
                yield value


def _count(op: Operation, network: Network, folds: bool) -> None:
    """Note what an op works on or, if it cannot work on folded values, what it makes and reads."""
    for value in op.results:
        if value in network.of:
            values = network.of[value]
            others = values.given if is_given(value) else values.made
            if folds:
                passes = PASSES.get(type(op), FEW_PASSES)
                values.worked.append(Work(shape_of(value), passes))
            else:
                others.append(shape_of(value))
    for value in () if folds else dict.fromkeys(op.operands):
        if value in network.of:
            network.of[value].read.append(shape_of(value))


def _edge(op: Crossing, slide: Slide, network: Network) -> Edge:
    shape, kernel = shape_of(op.output), ints(op.kernel_shape)
    axis = columns_axis(shape)
    if isinstance(op, top.MaxPoolOp):
        places = math.prod(size for index, size in enumerate(shape) if index not in (1, axis))
        source, target = network.of[op.input], network.of[op.output]
        return Edge(op, source, target, slide, (1, places), kernel[axis - 2])
    taps = math.prod(size for index, size in enumerate(kernel, 2) if index != axis)
    places = math.prod(size for index, size in enumerate(shape) if index not in (1, axis))
    edge = Edge(op, network.of[op.input], network.of[op.output], slide, (taps, places))
    for values, end in ((edge.source, op.input), (edge.target, op.output)):
        values.narrowest = min(values.narrowest, shape_of(end)[1])
    return edge
