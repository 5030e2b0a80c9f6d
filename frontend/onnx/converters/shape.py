"""Changes of shape: the same elements in another order, or only some of them, or repeated."""

import numpy as np
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.frontend.onnx.converters.context import INT_END, Context, Converter
from xdsl_tpu.frontend.onnx.graph import Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


def convert_reshape(context: Context, node: Node) -> None:
    """Reshape -> top.Reshape with the sizes as the model has them, -1 included."""
    target = context.numbers(node.inputs[1], "shape")
    if not target or (node.attribute("allowzero", 0) and 0 in target):
        target = [*context.shape(node.output)] or [1]
    context.emit(node, top.ReshapeOp, [context.value(node.inputs[0])], shape=target)


def convert_flatten(context: Context, node: Node) -> None:
    """Flatten -> top.Flatten when the batch stays, else top.Reshape to two dimensions."""
    x, rank = context.value(node.inputs[0]), len(context.shape(node.inputs[0]))
    axis = node.attribute("axis", 1)
    if rank and axis % rank == 1:
        context.emit(node, top.FlattenOp, [x], start_dim=1)
        return
    context.emit(node, top.ReshapeOp, [x], shape=context.shape(node.output))


def convert_squeeze(context: Context, node: Node) -> None:
    """Squeeze -> top.Squeeze."""
    shape = context.shape(node.inputs[0])
    axes = _axes(context, node)
    if axes is None:
        axes = [axis for axis, size in enumerate(shape) if size == 1]
    scalar = not context.shape(node.output)
    context.emit(node, top.SqueezeOp, [context.value(node.inputs[0])], axes=axes, is_scalar=scalar)


def convert_unsqueeze(context: Context, node: Node) -> None:
    """Unsqueeze -> top.Unsqueeze; of a scalar, which has a dimension here, top.Reshape."""
    x, shape = context.value(node.inputs[0]), context.shape(node.inputs[0])
    if not shape:
        context.emit(node, top.ReshapeOp, [x], shape=context.shape(node.output))
        return
    context.emit(node, top.UnsqueezeOp, [x], axes=_axes(context, node) or [])


def _axes(context: Context, node: Node) -> list[int] | None:
    """Axes from the second input (opset 13 on) or from the attribute."""
    if axes := context.numbers(node.input(1), "axes"):
        return axes
    return node.attributes.get("axes")


def convert_transpose(context: Context, node: Node) -> None:
    """Transpose -> top.Permute."""
    rank = len(context.shape(node.inputs[0]))
    order = node.attribute("perm", [*reversed(range(rank))])
    context.emit(node, top.PermuteOp, [context.value(node.inputs[0])], order=order)


def convert_slice(context: Context, node: Node) -> None:
    """Slice with constant bounds -> top.Slice; bounds beyond any tensor become INT_END.

    Axes walked backwards are gathered first, but for one whole one, which is a top.Reverse.
    """
    offset = context.numbers(node.inputs[1], "starts") or []
    ends = context.numbers(node.inputs[2], "ends") or []
    axes = context.numbers(node.input(3), "axes") or [*range(len(offset))]
    steps = context.numbers(node.input(4), "steps") or [1] * len(offset)
    x = context.value(node.inputs[0])
    sizes = [*context.shape(node.inputs[0])]
    axes = [axis % len(sizes) for axis in axes]
    order = sorted(range(len(axes)), key=axes.__getitem__)
    axes, offset, ends, steps = (
        [column[place] for place in order] for column in (axes, offset, ends, steps)
    )
    for place, axis in enumerate(axes):
        whole = slice(offset[place], ends[place], steps[place]).indices(sizes[axis])
        reverses = len(axes) == 1 and whole == (sizes[axis] - 1, -1, -1)
        if steps[place] >= 0 or reverses:
            continue
        x = _backwards(context, node, x, sizes, axis, range(*whole))
        offset[place], ends[place], steps[place] = 0, INT_END, 1
    context.emit(
        node,
        top.SliceOp,
        [x, *[context.none] * 3],
        offset=[_bounded(value) for value in offset],
        ends=[_bounded(value) for value in ends],
        axes=axes,
        steps=steps,
    )


def _backwards(
    context: Context, node: Node, x: SSAValue, sizes: list[int], axis: int, chosen: range
) -> SSAValue:
    """The chosen indices of one axis, in their order; `sizes` become those of the result."""
    sizes[axis] = len(chosen)
    indices = context.weight(f"{node.output}_indices{axis}", np.array(chosen))
    operands = [x, indices]
    return context.step(node, f"backwards{axis}", top.GatherOp, operands, sizes, axis=axis)


def _bounded(value: int) -> int:
    return max(-INT_END, min(value, INT_END))


def convert_concat(context: Context, node: Node) -> None:
    """Concat -> top.Concat, neighbouring constants joined into one weight, empty ones left out."""
    axis, operands = node.attributes["axis"], list[SSAValue]()
    for names in _runs(context, [n for n in node.inputs if 0 not in context.shape(n)]):
        if len(names) == 1:
            operands.append(context.value(names[0]))
            continue
        joined = np.concatenate([context.graph.constants[name] for name in names], axis)
        operands.append(context.weight(f"{node.output}_{names[0]}_joined", joined))
    if len(operands) == 1:
        context.bind(node.output, operands[0])
        return
    context.emit(node, top.ConcatOp, operands, axis=axis)


def _runs(context: Context, names: list[str]) -> list[list[str]]:
    """Consecutive names, constants next to each other together."""
    runs: list[list[str]] = []
    for name in names:
        constant = name in context.graph.constants
        if constant and runs and runs[-1][-1] in context.graph.constants:
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def convert_split(context: Context, node: Node) -> None:
    """Split -> top.Split with the size of every part; the whole when all others are empty."""
    axis = node.attribute("axis", 0)
    if not all(node.outputs):
        (whole,) = filter(None, node.outputs)
        if context.shape(whole) != context.shape(node.inputs[0]):
            raise UnsupportedNode("all its outputs must have names")
        context.bind(whole, context.value(node.inputs[0]))
        return
    sizes = [context.shape(name)[axis] for name in node.outputs]
    context.emit(
        node,
        top.SplitOp,
        [context.value(node.inputs[0])],
        axis=axis,
        num=len(sizes),
        split_size=sizes,
    )


def convert_expand(context: Context, node: Node) -> None:
    """Expand -> top.Expand to the shape of the result."""
    shape = context.shape(node.output)
    context.emit(node, top.ExpandOp, [context.value(node.inputs[0])], shape=shape)


def convert_tile(context: Context, node: Node) -> None:
    """Tile -> top.Tile."""
    repeats = context.numbers(node.inputs[1], "repeats") or []
    context.emit(node, top.TileOp, [context.value(node.inputs[0])], tile=repeats)


def convert_pad(context: Context, node: Node) -> None:
    """Pad with constant sizes -> top.Pad: all sizes before, then all after."""
    mode = node.attribute("mode", "constant")
    if mode not in ("constant", "edge", "reflect", "wrap"):
        raise UnsupportedNode(f"padding mode '{mode}' is not supported")
    given = context.numbers(node.inputs[1], "pads") or []
    rank = len(context.shape(node.inputs[0]))
    axes = context.numbers(node.input(3), "axes") or [*range(rank)]
    pads = [0] * 2 * rank
    for index, axis in enumerate(axes):
        pads[axis % rank] = given[index]
        pads[axis % rank + rank] = given[index + len(axes)]
    x = context.value(node.inputs[0])
    if min(pads) < 0:
        if mode != "constant":
            raise UnsupportedNode(f"negative pads with mode '{mode}' are not supported")
        x, pads = _cropped(context, node, pads)
        if not any(pads):
            context.bind(node.output, x)
            return
    if mode == "wrap":
        _wrap(context, node, pads)
        return
    context.emit(
        node,
        top.PadOp,
        [x],
        paddings=pads,
        val=context.number(node.input(2), "value") or 0.0,
        mode=mode,
    )


def _cropped(context: Context, node: Node, pads: list[int]) -> tuple[SSAValue, list[int]]:
    """The input without what negative pads cut off, and the pads that are left."""
    shape = context.shape(node.inputs[0])
    starts = [max(0, -n) for n in pads[: len(shape)]]
    ends = [n - max(0, -m) for n, m in zip(shape, pads[len(shape) :], strict=True)]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    if min(sizes) <= 0:
        raise UnsupportedNode("its negative pads leave nothing of the input")
    operands = [context.value(node.inputs[0]), *[context.none] * 3]
    options = {"offset": starts, "ends": ends, "steps": [1] * len(shape)}
    x = context.step(node, "cropped", top.SliceOp, operands, sizes, **options)
    return x, [max(0, n) for n in pads]


def _wrap(context: Context, node: Node, pads: list[int]) -> None:
    """Along each axis, Concat of its last indices, all of them and the first ones."""
    x, shape = context.value(node.inputs[0]), [*context.shape(node.inputs[0])]
    padded = [axis for axis in range(len(shape)) if pads[axis] or pads[axis + len(shape)]]
    for axis in padded:
        before, after, size = pads[axis], pads[axis + len(shape)], shape[axis]
        if not (0 <= before <= size and 0 <= after <= size):
            raise UnsupportedNode(f"pads {before} and {after} do not fit into {size} indices")
        parts = [x]
        for label, start, count in (("last", size - before, before), ("first", 0, after)):
            if count:
                sizes = [count if place == axis else n for place, n in enumerate(shape)]
                part = _sliced(context, node, f"{label}_{axis}", x, axis, start, sizes)
                parts.insert(0 if label == "last" else len(parts), part)
        shape[axis] += before + after
        if axis == padded[-1]:
            context.emit(node, top.ConcatOp, parts, axis=axis)
        else:
            x = context.step(node, f"axis_{axis}", top.ConcatOp, parts, shape, axis=axis)


def _sliced(
    context: Context,
    node: Node,
    label: str,
    x: SSAValue,
    axis: int,
    start: int,
    sizes: list[int],
) -> SSAValue:
    return context.step(
        node,
        label,
        top.SliceOp,
        [x, *[context.none] * 3],
        sizes,
        offset=[start],
        ends=[start + sizes[axis]],
        axes=[axis],
        steps=[1],
    )


def convert_depth_to_space(context: Context, node: Node) -> None:
    """DepthToSpace, SpaceToDepth -> top.Depth2Space."""
    inverse = node.op_type == "SpaceToDepth"
    block = node.attributes["blocksize"]
    context.emit(
        node,
        top.Depth2SpaceOp,
        [context.value(node.inputs[0])],
        block_h=block,
        block_w=block,
        is_CRD=node.attribute("mode", "DCR") != "DCR",
        is_inversed=inverse,
    )


CONVERTERS: dict[str, Converter] = {
    "Concat": convert_concat,
    "DepthToSpace": convert_depth_to_space,
    "Expand": convert_expand,
    "Flatten": convert_flatten,
    "Pad": convert_pad,
    "Reshape": convert_reshape,
    "Slice": convert_slice,
    "SpaceToDepth": convert_depth_to_space,
    "Split": convert_split,
    "Squeeze": convert_squeeze,
    "Tile": convert_tile,
    "Transpose": convert_transpose,
    "Unsqueeze": convert_unsqueeze,
}
