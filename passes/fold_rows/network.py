"""What of a function can have blocks of rows as channels: sets of values that have the same number
of blocks, and the ops between them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import is_none, is_ranked_tensor
from xdsl_tpu.dialects.interfaces.shape import Shape
from xdsl_tpu.passes.fold_columns.network import in_step as columns_in_step
from xdsl_tpu.passes.joined_sets import JoinedSets
from xdsl_tpu.passes.tensors import is_weight, number_type, shape_of

Pool = top.AvgPoolOp | top.MaxPoolOp
Crossing = top.ConvOp | top.AvgPoolOp | top.MaxPoolOp | top.Depth2SpaceOp
"""What may lie between sets of values."""

Broadcasting = top.AddOp | top.MulOp
"""What may take, beside an image, one element for each of its channels."""


class Halo(NamedTuple):
    """Rows of its neighbours that a block's filter sees."""

    above: int
    below: int


@dataclass(eq=False, slots=True)
class Values:
    """Values of one number of blocks: they differ in channels at most.

    `worked` are ops on them, `made` and `read` what something else makes or reads, once for each.
    """

    rows: int
    narrowest: int
    """Channels, at least."""
    filtered: bool = False
    """Whether a convolution reads or makes some of them."""
    worked: list[Operation] = field(default_factory=list[Operation])
    made: list[SSAValue] = field(default_factory=list[SSAValue])
    read: list[SSAValue] = field(default_factory=list[SSAValue])


@dataclass(frozen=True, slots=True)
class Edge:
    """An op from one set of values to another; a global pool has no target."""

    op: Crossing
    source: Values
    target: Values | None


@dataclass(slots=True)
class Network:
    """The sets of values of a function, by value, and the ops between them."""

    of: dict[SSAValue, Values] = field(default_factory=dict[SSAValue, Values])
    edges: list[Edge] = field(default_factory=list[Edge])
    steps: set[Operation] = field(default_factory=set[Operation])

    def sets(self) -> list[Values]:
        """Each set once."""
        return list(dict.fromkeys(self.of.values()))


def can_fold(value: SSAValue) -> bool:
    """Whether a value is an image of floats."""
    kind = value.type
    return (
        is_ranked_tensor(kind)
        and isinstance(number_type(value), AnyFloat)
        and len(kind.get_shape()) == 4
        and not is_weight(value)
    )


def per_channel(op: Operation) -> SSAValue | None:
    """The operand that has one element for each channel of the other one, in each image."""
    if not isinstance(op, Broadcasting) or len(op.operands) != 2:
        return None
    result = shape_of(op.results[0])
    if len(result) != 4 or math.prod(result[2:]) == 1:
        return None
    few = (*result[:2], 1, 1)
    shapes = [shape_of(value) for value in op.operands]
    if sorted(shapes) != sorted([few, result]):
        return None
    return op.operands[shapes.index(few)]


def in_step(op: Operation) -> bool:
    """Whether an op has one number of blocks for all its values."""
    few = per_channel(op)
    if few is not None:
        others = [value for value in op.operands if value is not few]
        return all(map(can_fold, (*others, *op.results))) and (is_weight(few) or can_fold(few))
    images = [v for v in (*op.operands, *op.results) if not is_none(v) and not is_weight(v)]
    return all(map(can_fold, images)) and columns_in_step(op)


def is_whole(op: Operation) -> bool:
    """Whether a pool takes the mean of whole images."""
    if not isinstance(op, top.AvgPoolOp) or not can_fold(op.input) or not can_fold(op.output):
        return False
    plain = not any(ints(op.pads)) and op.auto_pad is None and not op.is_adaptive.value.data
    return plain and ints(op.kernel_shape) == shape_of(op.input)[2:]


def crosses(op: Operation) -> bool:
    """Whether an op works on blocks of rows as it does on images, but for a halo."""
    if isinstance(op, top.ConvOp):
        return halo_of(op) is not None
    if isinstance(op, Pool):
        if not can_fold(op.input) or not can_fold(op.output) or len(op.kernel_shape) != 2:
            return False
        plain = op.auto_pad is None and not op.is_adaptive.value.data and not any(ints(op.pads))
        rows, result = shape_of(op.input)[2], shape_of(op.output)[2]
        kernel, stride = ints(op.kernel_shape)[0], ints(op.strides)[0]
        return plain and kernel == stride and result * stride == rows and result > 1
    if isinstance(op, top.Depth2SpaceOp):
        plain = op.in_is_NCHW.value.data and op.out_is_NCHW.value.data
        other = op.is_inversed.value.data or op.is_CRD.value.data
        return bool(plain and not other) and can_fold(op.input) and can_fold(op.output)
    return False


def halo_of(op: top.ConvOp) -> Halo | None:
    """The rows above and below a block that its filter sees; None of one that cannot be folded."""
    if not (is_weight(op.filter) and can_fold(op.input) and can_fold(op.output)):
        return None
    group, channels = op.group.value.data, shape_of(op.input)[1]
    if group not in (1, channels) or op.dynweight_reorderd.value.data:
        return None
    if not (is_none(op.bias) or is_weight(op.bias)) or len(op.kernel_shape) != 2:
        return None
    if any(ints(op.inserts or ())) or op.auto_pad is not None:
        return None
    if group > 1 and shape_of(op.output)[1] != channels:
        return None
    rows, result = shape_of(op.input)[2], shape_of(op.output)[2]
    window = op.windows()[0]
    if result * window.stride != rows:
        return None
    return Halo(window.before, max(0, window.extent - window.stride - window.before))


def network_of(func: FuncOp) -> Network:
    """The network of a function with static shapes."""
    network, linked = Network(), JoinedSets[SSAValue]()
    ops = list(func.body.block.ops)
    network.steps = {op for op in ops if in_step(op)}
    for op in ops:
        if op in network.steps:
            few = per_channel(op)
            for value in (*op.operands, *op.results[1:]):
                if not is_none(value) and not is_weight(value) and value is not few:
                    linked.join(value, op.results[0])
    sets = dict[SSAValue, Values]()
    for value in _foldable(ops):
        _, channels, rows, _ = shape_of(value)
        values = network.of[value] = sets.setdefault(linked.find(value), Values(rows, channels))
        values.narrowest = min(values.narrowest, channels)
    for op in ops:
        if isinstance(op, Crossing) and (whole := is_whole(op)) | crosses(op):
            target = None if whole else network.of[op.output]
            network.edges.append(Edge(op, network.of[op.input], target))
            for one in (network.of[op.input], target) if isinstance(op, top.ConvOp) else ():
                if one is not None:
                    one.filtered = True
        else:
            _count(op, network)
    return network


def _foldable(ops: Sequence[Operation]) -> Iterator[SSAValue]:
    for op in ops:
        for value in (*op.operands, *op.results):
            if not is_none(value) and can_fold(value):
                yield value


def _count(op: Operation, network: Network) -> None:
    """Note what an op works on or, if it cannot work on blocks, what it makes and reads.

    The host gives and takes rows as they are, and those that are normed leave their lanes anyway.
    """
    if op in network.steps:
        network.of[op.results[0]].worked.append(op)
        return
    if isinstance(op, top.InputOp | ReturnOp | top.PixelNormOp):
        return
    for value in op.results:
        if value in network.of:
            network.of[value].made.append(value)
    for value in dict.fromkeys(op.operands):
        if value in network.of:
            network.of[value].read.append(value)


def blocks_shape(shape: Shape, blocks: int) -> Shape:
    """Of a value with its rows in so many blocks."""
    images, channels, rows, columns = shape
    return (images, channels * blocks, rows // blocks, columns)
