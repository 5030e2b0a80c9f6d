"""Ops that only rearrange elements: permute, slice, concat, reshape, depth to space."""

from collections.abc import Sequence

from xdsl.ir import Operation

from xdsl_tpu.backend.kernels.move import LARGEST_SIZE, Side, move
from xdsl_tpu.backend.kernels.support import DdrValue, KernelContext, where
from xdsl_tpu.backend.tensor import contiguous, contiguous_strides
from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import NoKernel


def _row_major(value: DdrValue, shape: Sequence[int] | None = None) -> Side:
    return Side(value.address, contiguous_strides(tuple(shape or value.shape)))


def copy_whole(context: KernelContext, out: DdrValue, x: DdrValue) -> None:
    """Copy a whole tensor unless it is already in place."""
    if out.address != x.address:
        flat = (out.elements,)
        move(context, flat, _row_major(out, flat), _row_major(x, flat), x.dtype)


def reshape(context: KernelContext, op: Operation) -> None:
    """tpu.Reshape, Squeeze, Unsqueeze: nothing when result and operand share their address."""
    copy_whole(context, context.value(op.results[0]), context.value(op.operands[0]))


def permuted(
    context: KernelContext,
    out: DdrValue,
    x: DdrValue,
    shape: Sequence[int],
    order: Sequence[int],
) -> None:
    """out = x, seen as `shape`, with its dimensions in `order`."""
    strides = contiguous_strides(tuple(shape))
    sizes = [shape[a] for a in order]
    source = Side(x.address, tuple(strides[a] for a in order))
    move(context, sizes, _row_major(out, sizes), source, x.dtype)


def permute(context: KernelContext, op: Operation) -> None:
    """tpu.Permute."""
    assert isinstance(op, tpu.PermuteOp)
    x = context.value(op.input)
    permuted(context, context.value(op.output), x, x.shape, ints(op.order))


def slice_(context: KernelContext, op: Operation) -> None:
    """tpu.Slice with constant offsets and steps (negative steps walk backwards)."""
    assert isinstance(op, tpu.SliceOp)
    out, x = context.value(op.output), context.value(op.input)
    offsets, steps = list(ints(op.offset)), ints(op.steps)
    for axis, (offset, size) in enumerate(zip(offsets, x.shape, strict=True)):
        start = offset + size if offset < 0 else offset
        offsets[axis] = min(max(start, 0), size - 1)
    if any(step < 0 for step in steps):
        raise NoKernel(f"{where(op)}: negative steps have no kernel")
    strides = contiguous_strides(x.shape)
    start = sum(o * s for o, s in zip(offsets, strides, strict=True))
    source = Side(
        x.address + start * x.dtype.bytes,
        tuple(s * step for s, step in zip(strides, steps, strict=True)),
    )
    move(context, out.shape, _row_major(out), source, x.dtype)


def concat(context: KernelContext, op: Operation) -> None:
    """tpu.Concat."""
    assert isinstance(op, tpu.ConcatOp)
    out = context.value(op.output)
    axis = op.axis.value.data % len(out.shape)
    strides = contiguous_strides(out.shape)
    done = 0
    for operand in op.inputs:
        x = context.value(operand)
        target = Side(out.address + done * strides[axis] * out.dtype.bytes, strides)
        if (target.address, target.strides) != (x.address, contiguous_strides(x.shape)):
            move(context, x.shape, target, _row_major(x), x.dtype)
        done += x.shape[axis]


def depth_to_space(context: KernelContext, op: Operation) -> None:
    """tpu.Depth2Space in all its forms, as one permutation of (n, block, c, h, w) parts."""
    assert isinstance(op, tpu.Depth2SpaceOp)
    out, x = context.value(op.output), context.value(op.input)
    shape, order = depth_to_space_order(op, x.shape)
    permuted(context, out, x, shape, order)


def depth_to_space_order(
    op: tpu.Depth2SpaceOp, shape: tuple[int, ...]
) -> tuple[list[int], list[int]]:
    """The operand's shape split into parts, and the order of the parts in the result.

    Space is (h, bh, w, bw), depth is (c, bh, bw) for CRD and (bh, bw, c) for DCR; `swap_cr`
    exchanges bh and bw in the depth.
    """
    bh, bw = op.block_h.value.data, op.block_w.value.data
    inverse = bool(op.is_inversed.value.data)
    in_nchw, out_nchw = bool(op.in_is_NCHW.value.data), bool(op.out_is_NCHW.value.data)
    n = shape[0]
    c, h, w = shape[1:] if in_nchw else (shape[3], shape[1], shape[2])
    if inverse:
        parts = {"n": n, "c": c, "h": h // bh, "w": w // bw, "y": bh, "x": bw}
    else:
        parts = {"n": n, "c": c // (bh * bw), "h": h, "w": w, "y": bh, "x": bw}
    block = "xy" if bool(op.swap_cr.value.data) else "yx"
    depth = f"c{block}" if bool(op.is_CRD.value.data) else f"{block}c"
    space = (f"n{'c'}hywx", "nhywxc")
    deep = (f"n{depth}hw", f"nhw{depth}")
    wide, narrow = space[0 if (not inverse and out_nchw) or (inverse and in_nchw) else 1], deep
    if inverse:
        source, target = wide, narrow[0 if out_nchw else 1]
    else:
        source, target = narrow[0 if in_nchw else 1], wide
    return [parts[p] for p in source], [source.index(p) for p in target]


def swap_dim_inner(context: KernelContext, op: Operation) -> None:
    """tpu.SwapDimInner: along each axis with an offset, the tail comes before the head."""
    assert isinstance(op, tpu.SwapDimInnerOp)
    out, x = context.value(op.output), context.value(op.input)
    strides = contiguous_strides(x.shape)
    pieces: list[tuple[list[int], int, int]] = [([], 0, 0)]
    for axis, offset in enumerate(ints(op.offset)):
        size, step = x.shape[axis], strides[axis]
        spans = [(offset, size - offset, 0), (0, offset, size - offset)] if offset else []
        spans = spans or [(0, size, 0)]
        pieces = [
            ([*sizes, length], source + start * step, target + place * step)
            for sizes, source, target in pieces
            for start, length, place in spans
        ]
    for sizes, source, target in pieces:
        move(
            context,
            sizes,
            Side(out.address + target * out.dtype.bytes, strides),
            Side(x.address + source * x.dtype.bytes, strides),
            x.dtype,
        )


def pad(context: KernelContext, op: Operation) -> None:
    """tpu.Pad: the operand goes into the middle of the result, after a fill with the constant or
    before borders are copied from it."""
    assert isinstance(op, tpu.PadOp)
    mode = op.mode.data.value
    if mode not in BORDERS:
        raise NoKernel(f"{where(op)}: padding mode {mode} has no kernel")
    out, x = context.value(op.output), context.value(op.input)
    paddings = ints(op.paddings)
    rank = len(x.shape)
    if mode == "constant":
        fill(context, out, op.val.value.data)
    strides = contiguous_strides(out.shape)
    start = sum(p * s for p, s in zip(paddings[:rank], strides, strict=True))
    target = Side(out.address + start * out.dtype.bytes, strides)
    move(context, x.shape, target, _row_major(x), x.dtype)
    if mode != "constant":
        _borders(context, out, x.shape, paddings, mode)


BORDERS = ("constant", "edge", "reflect")


def _borders(
    context: KernelContext,
    out: DdrValue,
    middle: Sequence[int],
    paddings: Sequence[int],
    mode: str,
) -> None:
    """Copy what surrounds the middle of the result from it, one axis after the other.

    An axis that is done is copied whole with the next ones, so corners come of themselves.
    """
    rank, strides = len(middle), contiguous_strides(out.shape)
    for axis, size in enumerate(middle):
        before, after = paddings[axis], paddings[axis + rank]
        sizes = [out.shape[a] if a < axis else 1 if a == axis else middle[a] for a in range(rank)]
        start = sum(paddings[a] * strides[a] for a in range(axis + 1, rank))
        last = before + size - 1
        pairs = [(i, before if mode == "edge" else 2 * before - i) for i in range(before)]
        pairs += [(last + i, last if mode == "edge" else last - i) for i in range(1, after + 1)]
        for target, source in pairs:
            places = (
                out.address + (start + i * strides[axis]) * out.dtype.bytes
                for i in (target, source)
            )
            to, back = (Side(place, strides) for place in places)
            move(context, sizes, to, back, out.dtype)


def fill(context: KernelContext, out: DdrValue, value: float) -> None:
    """Set a whole tensor to a constant."""
    row = min(out.elements, LARGEST_SIZE)
    done = 0
    while done < out.elements:
        rows = min((out.elements - done) // row, LARGEST_SIZE)
        if not rows:
            row, rows = out.elements - done, 1
        address = out.address + done * out.dtype.bytes
        context.emitter.fill(contiguous(address, (1, 1, rows, row), out.dtype), value)
        done += rows * row
