"""ScatterND and ScatterElements: at known coordinates that are a box they are Concats."""

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.interfaces.shape_rules import Cut
from xdsl_tpu.passes.canonicalize.common import reshape
from xdsl_tpu.passes.canonicalize.gather import progression
from xdsl_tpu.passes.canonicalize.split import slice_along
from xdsl_tpu.passes.constants import whole_numbers_of
from xdsl_tpu.passes.graph import derived_name, has_shapes, none_for, tensor_like
from xdsl_tpu.passes.tensors import shape_of


class ScatterToConcat(RewritePattern):
    """ScatterND(x: 4x9, rows 0..3 x columns 2..4, y: 4x2) -> Concat of what y leaves of x and y.

                                                 Slice 4x9 -> 4x2
        ScatterND 4x9, 4x2x2, 4x2    ->          Slice 4x9 -> 4x5
                                                 Concat 4x2, y, 4x5

    An assignment to a slice, `x[:, 2:4] = y`. The coordinates are known, name every element of a
    box once and in order, and replace what is there. Along each axis the box has neighbours, or
    every n-th of all, as in `x[:, 1::2] = y`, where the axis becomes two. An axis of which the box
    has everything is not cut; where it has all of x, y takes its place.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScatterNDOp, rewriter: PatternRewriter) -> None:
        if op.reduction.value.data or not has_shapes(op.input_data, op.updates, op.output):
            return
        shape = shape_of(op.input_data)
        if (numbers := whole_numbers_of(op.indices)) is None or 0 in shape_of(op.updates):
            return
        if (cuts := _box(numbers.reshape(-1, shape_of(op.indices)[-1]), shape)) is None:
            return
        if (parted := _parted(cuts, shape)) is None:
            return
        rewriter.replace(op, _written(op, op.input_data, *parted, none_for(op, rewriter)))


class ScatterElementsToConcat(RewritePattern):
    """ScatterElements(x: 4x9, columns 2..4, y: 4x2) {axis = 1} -> Concat as of a ScatterND.

        ScatterElements 4x9, 4x2, 4x2    ->    Concat 4x2, y, 4x5

    A `select_scatter` or `slice_scatter`. The indices are known and the same all along every other
    axis, of which the box has the first elements, as many as there are updates.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: top.ScatterElementsOp, rewriter: PatternRewriter) -> None:
        if op.reduction.value.data or not has_shapes(op.input, op.updates, op.output):
            return
        shape, news = shape_of(op.input), shape_of(op.updates)
        if (known := whole_numbers_of(op.indices)) is None or 0 in news:
            return
        axis = op.axis.value.data % len(shape)
        lines = np.moveaxis(known, axis, -1).reshape(-1, news[axis])
        if (lines != lines[0]).any():
            return
        along = progression([int(place) % shape[axis] for place in lines[0]])
        if along is None:
            return
        cuts = [along if place == axis else Cut(0, size, 1) for place, size in enumerate(news)]
        if (parted := _parted(cuts, shape)) is not None:
            rewriter.replace(op, _written(op, op.input, *parted, none_for(op, rewriter)))


def _box(coordinates: npt.NDArray[np.int64], shape: tuple[int, ...]) -> list[Cut] | None:
    """What coordinates, one a row, have of each axis of a tensor; None when they are no box, are
    not in the order of its elements, or name one twice. Axes that they do not reach are whole."""
    depth = coordinates.shape[1]
    places = coordinates
    if coordinates.size and coordinates.min() < 0:
        places = np.where(coordinates < 0, coordinates + np.asarray(shape[:depth]), coordinates)
    cuts: list[Cut] = []
    inside = 1
    for axis in reversed(range(depth)):
        line = places[::inside, axis]
        again = line[1:] == line[0]
        count = int(again.argmax()) + 1 if again.any() else len(line)
        if len(places) % (inside * count) or (part := progression(line[:count].tolist())) is None:
            return None
        cuts.insert(0, part)
        inside *= count
    if inside != len(places):
        return None
    counts = [part.count for part in cuts]
    for axis, part in enumerate(cuts):
        along = part.first + part.step * np.arange(part.count)
        wanted = along.reshape(-1, *(1,) * (depth - axis - 1))
        if not (places[:, axis].reshape(counts) == wanted).all():
            return None
    return [*cuts, *(Cut(0, size, 1) for size in shape[depth:])]


def _parted(
    cuts: list[Cut], shape: tuple[int, ...]
) -> tuple[tuple[int, ...], list[tuple[int, int]]] | None:
    """The tensor's shape with an axis of every n-th element as two, and begin and end of the box
    along each; None where an axis has some of such elements only, or they leave a rest."""
    sizes: list[int] = []
    bounds: list[tuple[int, int]] = []
    for part, size in zip(cuts, shape, strict=True):
        if part.step == 1:
            sizes.append(size)
            bounds.append((part.first, part.first + part.count))
        elif size == part.count * part.step:
            sizes += [part.count, part.step]
            bounds += [(0, part.count), (part.first, part.first + 1)]
        else:
            return None
    return tuple(sizes), bounds


def _written(
    op: top.ScatterNDOp | top.ScatterElementsOp,
    value: SSAValue,
    sizes: tuple[int, ...],
    bounds: list[tuple[int, int]],
    none: SSAValue,
) -> list[Operation]:
    """The ops that put the updates into the box `bounds` of the data `value`, seen as `sizes`."""
    made: list[Operation] = []

    def add(new: Operation) -> SSAValue:
        made.append(new)
        return new.results[0]

    if sizes != shape_of(value):
        value = add(reshape(derived_name(op, "_r_parted"), value, sizes))
    cut = [axis for axis, (begin, end) in enumerate(bounds) if (begin, end) != (0, sizes[axis])]
    around: list[tuple[int, SSAValue | None, SSAValue | None]] = []
    for axis in cut:
        begin, end = bounds[axis]
        size = sizes[axis]
        sides = [
            add(slice_along(derived_name(op, f"_r_{side}{axis}"), value, axis, limits, none))
            if limits[0] < limits[1]
            else None
            for side, limits in (("before", (0, begin)), ("after", (end, size)))
        ]
        around.append((axis, sides[0], sides[1]))
        if axis != cut[-1]:
            name = derived_name(op, f"_r_within{axis}")
            value = add(slice_along(name, value, axis, (begin, end), none))
    box = tuple(end - begin for begin, end in bounds)
    result = add(reshape(derived_name(op, "_r_updates"), op.updates, box))
    for axis, before, after in reversed(around):
        inputs = [one for one in (before, result, after) if one is not None]
        shape = shape_of(result)
        begin, end = bounds[axis]
        whole = tensor_like(result, (*shape[:axis], sizes[axis], *shape[axis + 1 :]))
        name = derived_name(op, f"_r_along{axis}")
        result = add(top.ConcatOp.make(name, inputs, result_types=[whole], axis=axis))
    add(reshape(op.location, result, shape_of(op.output)))
    return made
