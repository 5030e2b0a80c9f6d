"""Ops that rearrange elements inside the lanes, or move whole channels between them."""

import math
from collections.abc import Iterator, Sequence
from itertools import product

from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.context import LocalContext, LocalValue
from xdsl_tpu.backend.local.lane_shift import shift_lanes
from xdsl_tpu.backend.local.parts import settled
from xdsl_tpu.backend.local.rearrange import move_elements
from xdsl_tpu.backend.tensor import Layout, LocalTensor, aligned, strided
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import DoesNotFit, TpuError
from xdsl_tpu.dialects.interfaces.index_map import IndexMap
from xdsl_tpu.dialects.interfaces.local_gen import GroupType, Ncdhw
from xdsl_tpu.dialects.interfaces.shape import known_shape


def reshape(context: LocalContext) -> None:
    """tpu.Reshape, Squeeze, Unsqueeze: another view of each lane's elements.

    Nothing happens when the result has the operand's address. Raises TpuError when elements
    would change lanes.
    """
    x, out = context.operand(0), context.out
    same = (x.full.n, x.full.c, x.start.c, x.start.n) == (
        out.full.n,
        out.full.c,
        out.start.c,
        out.start.n,
    )
    if not same or math.prod(x.tensor.shape) != math.prod(out.tensor.shape):
        raise DoesNotFit(f"a reshape of {x.full} to {out.full} moves elements between lanes")
    if x.depth == out.depth:
        if x.tensor.address != out.tensor.address:
            n, c, h, w = out.tensor.shape
            strides = (x.tensor.strides[0], x.tensor.strides[1], w, 1)
            source = strided(x.tensor.address, (n, c, h, w), strides, x.dtype)
            context.emitter.copy(out.tensor, settled(source, context.chip))
        return
    for target, source in _folded(out, x) if x.depth > 1 else map(_swapped, _folded(x, out)):
        context.emitter.copy(target, source)


def _folded(flat: LocalValue, deep: LocalValue) -> Iterator[tuple[LocalTensor, LocalTensor]]:
    """Each depth of one value and its place in another that has no depth.

    Raises TpuError when that one has a depth too.
    """
    count, c, h, w = deep.tensor.shape
    n = count // deep.depth
    if flat.depth > 1:
        raise DoesNotFit(f"a reshape from depth {deep.depth} to {flat.depth} has no local kernel")
    for d in range(deep.depth):
        address = flat.tensor.address + d * h * w * flat.dtype.bytes
        strides = (flat.tensor.strides[0], flat.tensor.strides[1], w, 1)
        part = strided(deep.tensor.at(d * n), (n, c, h, w), deep.tensor.strides, deep.dtype)
        yield strided(address, (n, c, h, w), strides, flat.dtype), part


def _swapped(pair: tuple[LocalTensor, LocalTensor]) -> tuple[LocalTensor, LocalTensor]:
    return pair[1], pair[0]


def slice_(context: LocalContext) -> None:
    """tpu.Slice: a strided part of each lane, or some of the channels.

    Raises TpuError when the slice of the operand does not hold what the result needs.
    """
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.SliceOp)
    shape, offsets, steps = _shape(op.input), list(ints(op.offset)), ints(op.steps)
    offsets = [o + size if o < 0 else o for o, size in zip(offsets, shape, strict=True)]
    offset = _axes(context, offsets, shape)
    if any(step != 1 for step in (*steps[1:2], *steps[4:])) or min(steps) < 1:
        raise DoesNotFit(f"steps {list(steps)} have no local kernel")
    step = Ncdhw(*_padded(steps, 1, context.group_type))
    first = Ncdhw(
        *(
            o + start * s - low
            for o, start, s, low in zip(offset, out.start, step, x.start, strict=True)
        )
    )
    images = x.tensor.shape[0] // x.depth
    whole_images = images == out.tensor.shape[0] // out.depth
    if min(first) < 0 or step.d != 1 or (out.depth > 1 and not whole_images):
        raise DoesNotFit(f"the operand's slice begins at {x.start}; {offset} of it are left out")
    start = (first.d * images + first.n, first.c, first.h, first.w)
    part = x.tensor.window(start, out.tensor.shape, context.chip)
    n, c, h, w = part.strides
    spread = strided(part.address, part.shape, (n * step.n, c, h * step.h, w * step.w), part.dtype)
    copy_channels(context, out.tensor, spread)


def concat(context: LocalContext) -> None:
    """tpu.Concat: every operand to its place in the result."""
    op, out = context.op, context.out
    assert isinstance(op, tpu.ConcatOp)
    shape = _shape(op.output)
    axis = op.axis.value.data % len(shape)
    along = _axes(context, [int(a == axis) for a in range(len(shape))], shape)
    done = 0
    for index, operand in enumerate(op.inputs):
        x = context.operand(index)
        offsets = [0] * len(shape)
        offsets[axis] = done
        n, c, d, h, w = _axes(context, offsets, shape)
        if d or x.depth != out.depth:
            raise DoesNotFit("a concatenation along the depth has no local kernel")
        part = _within(x, out, along, context.chip)
        place = out.tensor.window((n, c, h, w), part.shape, context.chip)
        if settled(place, context.chip).address != part.address:
            copy_channels(context, place, part)
        done += _shape(operand)[axis]


def _within(x: LocalValue, out: LocalValue, along: Ncdhw, chip: Chip) -> LocalTensor:
    """The rows and columns of an operand that the result has, of which there may be more for
    another reader; all of them along the axis of a concatenation."""
    start, sizes = [0, 0, 0, 0], list(x.tensor.shape)
    for place, axis in ((2, 3), (3, 4)):
        if not along[axis] and sizes[place] != out.tensor.shape[place]:
            start[place] = out.start[axis] - x.start[axis]
            sizes[place] = out.tensor.shape[place]
    if sizes == list(x.tensor.shape):
        return x.tensor
    n, c, h, w = start
    return x.tensor.window((n, c, h, w), (sizes[0], sizes[1], sizes[2], sizes[3]), chip)


def shuffle_channel(context: LocalContext) -> None:
    """tpu.ShuffleChannel: channels to other lanes, seen as `group` rows and read by columns."""
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.ShuffleChannelOp)
    if x.tensor.shape != out.tensor.shape or x.start != out.start:
        raise DoesNotFit("channels of another part of an image cannot change lanes")
    n, c, h, w = x.tensor.shape
    group = op.group.value.data
    move_elements(context, IndexMap.permuted((n, group, c // group, h * w), (0, 2, 1, 3)))


def swap_dim_inner(context: LocalContext) -> None:
    """tpu.SwapDimInner: along each axis with an offset, the tail comes before the head."""
    op, x, out = context.op, context.operand(0), context.out
    assert isinstance(op, tpu.SwapDimInnerOp)
    offsets = list(_axes(context, list(ints(op.offset)), _shape(op.input)))
    if offsets[2] or x.depth > 1 or x.start != out.start:
        raise DoesNotFit(f"a rotation by {offsets} has no local kernel")
    del offsets[2]
    sizes = x.tensor.shape
    spans = [_spans(size, offset) for size, offset in zip(sizes, offsets, strict=True)]
    for parts in product(*spans):
        source, target, shape = (
            (parts[0][i], parts[1][i], parts[2][i], parts[3][i]) for i in range(3)
        )
        part = x.tensor.window(source, shape, context.chip)
        copy_channels(context, out.tensor.window(target, shape, context.chip), part)


def _spans(size: int, offset: int) -> list[tuple[int, int, int]]:
    """(from, to, length) of the tail and the head."""
    if not offset:
        return [(0, 0, size)]
    return [(offset, 0, size - offset), (0, size - offset, offset)]


def copy_channels(context: LocalContext, out: LocalTensor, x: LocalTensor) -> None:
    """Copy between tensors that may begin on different lanes, with any strides."""
    emitter, chip = context.emitter, context.chip
    lanes = [tensor.address >> chip.lane_shift for tensor in (x, out)]
    source, target = settled(x, chip), settled(out, chip)
    if lanes[0] == lanes[1]:
        emitter.copy(target, source)
        return
    with context.scratch.temporary():
        if source.layout is not Layout.ALIGNED:
            source = _room(context, x, lanes[0])
            emitter.copy(source, x)
        landing = target
        if target.layout is not Layout.ALIGNED:
            landing = _room(context, x, lanes[1])
        if lanes[0] and source.address != x.address:  # nothing lies in the lanes before it
            emitter.lane_copy(landing, source)
        else:
            shift_lanes(emitter, context.scratch, landing, source)
        if landing is not target:
            emitter.copy(target, landing)


def _room(context: LocalContext, like: LocalTensor, lane: int) -> LocalTensor:
    """Scratch for an EU-aligned tensor from a lane on."""
    chip = context.chip
    low, high = aligned(chip, lane << chip.lane_shift, like.shape, like.dtype).span(chip)
    address = context.scratch.take(high - low)
    return aligned(chip, lane << chip.lane_shift | address, like.shape, like.dtype)


def _axes(context: LocalContext, offsets: Sequence[int], shape: Sequence[int]) -> Ncdhw:
    """Offsets per dimension as offsets along n, c, d, h, w.

    Of the dimensions that make up w only the outermost may have one.
    """
    kept = 4 if context.group_type is GroupType.THREE_D else 3
    if context.group_type is GroupType.SMALL_C and any(offsets):
        raise DoesNotFit("offsets in a SMALL_C group have no local kernel")
    if any(offsets[kept + 1 :]):
        raise DoesNotFit(f"offsets {list(offsets)} of {list(shape)} have no local kernel")
    joined = [o * math.prod(shape[kept + 1 :]) for o in offsets[kept : kept + 1]]
    return Ncdhw(*_padded([*offsets[:kept], *joined], 0, context.group_type))


def _padded(values: Sequence[int], empty: int, kind: GroupType) -> list[int]:
    """Values of up to four (in GROUP_3D five) dimensions along n, c, d, h, w."""
    if kind is GroupType.THREE_D and len(values) > 4:
        return list(values[:5])
    n, c, h, w = [*values, *[empty] * 4][:4]
    return [n, c, empty, h, w]


def _shape(value: SSAValue) -> Sequence[int]:
    shape = known_shape(value.type)
    if shape is None:
        raise TpuError(f"{value.type} has no static shape")
    return shape
