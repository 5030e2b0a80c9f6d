"""Ops that put elements elsewhere and change none: no result needs rounding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.call import Call
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.interpreters.numerics import movement
from xdsl_tpu.dialects.interpreters.numerics.resize import upsample
from xdsl_tpu.dialects.interpreters.registry import Rules

Array = npt.NDArray[Any]


def _whole(values: Array) -> list[int]:
    """A tensor of whole numbers as a list."""
    return [int(v) for v in values.reshape(-1)]


def identity(call: Call) -> Array:
    """The operand."""
    return call.tensor()


def identities(call: Call) -> Sequence[Array]:
    """All operands."""
    return call.tensors()


def _open_reshape(call: Call, x: Array) -> Array:
    """A reshape whose result type is still open: by the shape operand or attribute."""
    given = call.optional(1) if len(call.values) > 1 else None
    shape = _whole(given) if given is not None else call.integers("shape")
    if not shape and call.has("flatten_start_dim"):
        start = call.integer("flatten_start_dim")
        return x if start < 0 else x.reshape(*x.shape[:start], -1)
    return x.reshape([x.shape[i] if size == 0 else size for i, size in enumerate(shape)])


def reshape(call: Call) -> Array:
    """The same elements in order; 0 keeps a size, -1 takes what is left."""
    x, shape = call.tensor(), call.shape()
    return x.reshape(shape) if shape is not None else _open_reshape(call, x)


def view(call: Call) -> Array:
    """A reshape to the second operand."""
    return call.tensor().reshape(_whole(call.tensor(1)))


def flatten(call: Call) -> Array:
    """Dimensions start_dim .. end_dim as one."""
    x = call.tensor()
    start, end = call.axis(x.ndim, "start_dim"), call.axis(x.ndim, "end_dim")
    return x.reshape(*x.shape[:start], -1, *x.shape[end + 1 :])


def squeeze(call: Call) -> Array:
    """Without the dimensions of 1 at `axes`; no axes means all of them."""
    x, shape = call.tensor(), call.shape()
    if shape is not None:
        return x.reshape(shape)
    return x.squeeze(tuple(call.integers("axes")) or None)


def unsqueeze(call: Call) -> Array:
    """With dimensions of 1 at `axes` of the result."""
    x, shape = call.tensor(), call.shape()
    return x.reshape(shape) if shape is not None else np.expand_dims(x, call.integers("axes"))


def permute(call: Call) -> Array:
    """Dimension i of the result is dimension order[i] of the operand."""
    return call.tensor().transpose(call.integers("order"))


def transpose(call: Call) -> Array:
    """Two dimensions exchanged."""
    return call.tensor().swapaxes(call.integer("dim0"), call.integer("dim1"))


def concat(call: Call) -> Array:
    """One after the other along an axis."""
    return np.concatenate(call.tensors(), call.integer("axis"))


def split(call: Call) -> Sequence[Array]:
    """Parts along an axis, equal ones unless `split_size` says otherwise."""
    x = call.tensor()
    axis = call.axis(x.ndim)
    sizes = call.integers("split_size") or [-(-x.shape[axis] // call.integer("num"))] * (
        call.integer("num") - 1
    )
    cuts = np.cumsum(sizes)[: len(call.op.results) - 1]
    return np.split(x, cuts, axis)


def pack(call: Call) -> Array:
    """Stacked along a new axis."""
    return np.stack(call.tensors(), call.integer("axis"))


def unpack(call: Call) -> Sequence[Array]:
    """One result per index of an axis, without that axis."""
    return list(np.moveaxis(call.tensor(), call.integer("axis"), 0))


def _spread(values: list[int], axes: list[int], whole: Sequence[int]) -> list[int]:
    """Values given for some axes as values for all, `whole` elsewhere."""
    if not axes or len(values) == len(whole):
        return values
    spread = list(whole)
    for axis, value in zip(axes, values, strict=True):
        spread[axis] = value
    return spread


def slice_(call: Call) -> Array:
    """offset, ends and steps for every dimension, or for `axes`; operands override them."""
    x, shape = call.tensor(), call.shape()
    axes = call.integers("axes") if call.has("axes") else []
    given = [call.optional(i) for i in (1, 2, 3)]
    whole = ([0] * x.ndim, list(x.shape), [1] * x.ndim)
    limits = [
        _spread(_whole(value) if value is not None else call.integers(name), axes, default)
        for value, name, default in zip(given, ("offset", "ends", "steps"), whole, strict=True)
    ]
    starts, ends, steps = limits
    if shape is not None and len(starts) == x.ndim == len(shape):
        return movement.slice_to_shape(x, starts, steps, shape)
    return movement.strided_slice(x, starts, ends, steps)


def slice_axis(call: Call) -> Array:
    """Operands x, axis, start, step, end."""
    x = call.tensor()
    axis, start, end = (_whole(call.tensor(i))[0] for i in (1, 2, 4))
    step = 1 if (given := call.optional(3)) is None else _whole(given)[0]
    starts, ends, steps = [0] * x.ndim, list(x.shape), [1] * x.ndim
    starts[axis], ends[axis], steps[axis] = start, end, step
    return movement.strided_slice(x, starts, ends, steps)


def strided_slice(call: Call) -> Array:
    """TensorFlow's strided slice with its masks."""
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    masks = movement.SliceMasks(*map(call.integer, names))
    starts, ends, strides = (_whole(call.tensor(i)) for i in (1, 2, 3))
    return movement.masked_slice(call.tensor(), starts, ends, strides, masks)


def pad(call: Call) -> Array:
    """Beginnings then ends of all dimensions; a short list is PyTorch's, last dimension first."""
    x = call.tensor()
    given = call.optional(1)
    paddings = _whole(given) if given is not None else call.integers("paddings")
    if len(paddings) != 2 * x.ndim:
        pairs = [(0, 0)] * (x.ndim - len(paddings) // 2)
        pairs += list(zip(paddings[0::2], paddings[1::2], strict=True))[::-1]
        paddings = [b for b, _ in pairs] + [e for _, e in pairs]
    value = conform(np.array(call.number("val"), np.float32), call.op.results[0].type)
    return movement.pad(x, paddings, float(value), call.text("mode"))


def tile(call: Call) -> Array:
    """Whole dimensions repeated."""
    given = call.optional(1)
    return np.tile(call.tensor(), _whole(given) if given is not None else call.integers("tile"))


def repeat(call: Call) -> Array:
    """Whole dimensions repeated, counts in the second operand."""
    return np.tile(call.tensor(), _whole(call.tensor(1)))


def expand(call: Call) -> Array:
    """Broadcast with a shape."""
    x, given = call.tensor(), call.optional(1)
    shape = _whole(given) if given is not None else call.integers("shape")
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape)))


def reverse(call: Call) -> Array:
    """Back to front along an axis."""
    return np.flip(call.tensor(), call.integer("axis"))


def swap_dim_inner(call: Call) -> Array:
    """Each dimension cut at its offset, tail first."""
    return movement.rotate(call.tensor(), call.integers("offset"))


def swap_channel(call: Call) -> Array:
    """Channels in another order."""
    return np.take(call.tensor(), call.integers("channel_order"), 1)


def shuffle_channel(call: Call) -> Array:
    """Channels read across groups."""
    return movement.shuffle_channels(call.tensor(), call.integer("group"))


def depth_to_space(call: Call) -> Array:
    """Blocks of channels to blocks of pixels, or back."""
    shuffle = movement.BlockShuffle(
        call.integer("block_h"),
        call.integer("block_w"),
        crd=call.flag("is_CRD"),
        inversed=call.flag("is_inversed"),
        in_nchw=call.flag("in_is_NCHW"),
        out_nchw=call.flag("out_is_NCHW"),
        swap_cr=call.flag("swap_cr"),
    )
    return shuffle(call.tensor())


def repeat_pixels(call: Call) -> Array:
    """Each pixel scale_h x scale_w times."""
    return upsample(call.tensor(), call.integer("scale_h"), call.integer("scale_w"))


def rearrange(call: Call) -> Array:
    """Boxes of elements of the operands, each where it belongs; the rest is the border."""
    shape, numbers = call.shape(), call.integers("boxes")
    assert shape is not None
    sources = [x.reshape(-1) for x in call.tensors()]
    flat = np.full(math.prod(shape), call.attribute("border") or 0, sources[0].dtype)
    while numbers:
        (operand, to, at, loops), numbers = numbers[:4], numbers[4:]
        triples, numbers = numbers[: 3 * loops], numbers[3 * loops :]
        target, source = np.array([to]), np.array([at])
        for extent, far, near in zip(triples[::3], triples[1::3], triples[2::3], strict=True):
            target = np.add.outer(target, far * np.arange(extent)).reshape(-1)
            source = np.add.outer(source, near * np.arange(extent)).reshape(-1)
        flat[target] = sources[operand][source]
    return flat.reshape(shape)


def triangle(call: Call) -> Array:
    """The upper or lower triangle of the last two dimensions, zeros elsewhere."""
    keep = np.triu if call.integer("upper") else np.tril
    return keep(call.tensor(), call.integer("diagonal"))


def random_like(call: Call) -> Array:
    """The random numbers handed in as the second operand."""
    return call.tensor(1)


def shape_assign(call: Call) -> Array:
    """A reshape to the second operand, or to the result's type."""
    shape = call.shape()
    return call.tensor().reshape(shape or _whole(call.tensor(1)))


def core_split(call: Call) -> Sequence[Array]:
    """Equal parts along an axis, the last perhaps shorter."""
    x = call.tensor()
    axis = call.axis(x.ndim)
    parts = len(call.op.results)
    step = math.ceil(x.shape[axis] / parts)
    return np.split(x, [step * (i + 1) for i in range(parts - 1)], axis)


RULES: Final[Rules] = {
    identity: (
        tpu.LoadOp,
        tpu.StoreOp,
        tpu.LoadToL2MOp,
        tpu.Device2HostOp,
        tpu.Host2DeviceOp,
        tpu.Weight2ActivationOp,
    ),
    identities: (
        tpu.IdentityOp,
        tpu.CoreBeginOp,
        tpu.CoreEndOp,
    ),
    reshape: (top.ReshapeOp, tpu.ReshapeOp, tpu.ShapeReshapeOp),
    view: (top.ViewOp,),
    flatten: (top.FlattenOp,),
    squeeze: (top.SqueezeOp, tpu.SqueezeOp, tpu.ShapeSqueezeOp),
    unsqueeze: (top.UnsqueezeOp, tpu.UnsqueezeOp, tpu.ShapeUnsqueezeOp),
    permute: (top.PermuteOp, tpu.PermuteOp, tpu.ShapeTransposeOp),
    transpose: (top.TransposeOp,),
    concat: (top.ConcatOp, tpu.ConcatOp, tpu.AppendOp, tpu.JoinOp, tpu.ShapePackOp, tpu.CoreJoinOp),
    split: (top.SplitOp,),
    core_split: (tpu.CoreSplitOp,),
    pack: (top.PackOp,),
    unpack: (top.UnpackOp,),
    slice_: (top.SliceOp, tpu.SliceOp, tpu.ShapeSliceOp),
    slice_axis: (top.SliceAxisOp,),
    strided_slice: (top.StridedSliceOp, tpu.StridedSliceOp),
    pad: (top.PadOp, tpu.PadOp),
    tile: (top.TileOp, tpu.TileOp, tpu.ShapeTileOp),
    repeat: (top.RepeatOp,),
    expand: (top.ExpandOp,),
    reverse: (top.ReverseOp, tpu.ReverseOp, tpu.ShapeReverseOp),
    swap_dim_inner: (top.SwapDimInnerOp, tpu.SwapDimInnerOp),
    swap_channel: (top.SwapChannelOp, tpu.SwapChannelOp),
    shuffle_channel: (top.ShuffleChannelOp, tpu.ShuffleChannelOp),
    depth_to_space: (top.Depth2SpaceOp, tpu.Depth2SpaceOp),
    repeat_pixels: (top.UpsampleOp, tpu.UpsampleOp),
    rearrange: (tpu.RearrangeOp,),
    triangle: (top.TriluOp, tpu.TriluOp),
    random_like: (top.RandnLikeOp, tpu.RandnLikeOp),
    shape_assign: (tpu.ShapeAssignOp,),
}
