"""Element-wise ops by themselves in shapes that fill the lanes with long runs of DDR.

Such an op sees its result and operands as the same box of elements, each with its own strides in
DDR. Dimensions that lie one behind the other in all of them are one; one goes over the lanes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from xdsl.ir import Operation

from xdsl_tpu.backend.chip import Chip
from xdsl_tpu.backend.local.dry import element_of
from xdsl_tpu.backend.tensor import Shape4, ceil_div, contiguous_strides
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.interfaces.lane_view import Viewed
from xdsl_tpu.dialects.interfaces.local_gen import LocalGen
from xdsl_tpu.dialects.interfaces.shape import Shape, known_shape

MIN_RUN_BYTES = 256
"""Shorter DDR runs cost the GDMA as much as this."""

MAX_RUN_BYTES = 4096
"""One piece of a channel's interleave; longer runs gain nothing."""


class Box(NamedTuple):
    """A range of elements, (n, c, h, w), and for each tensor where it begins and its strides, which
    are 0 where it repeats; all in elements."""

    sizes: Shape4
    starts: tuple[int, ...]
    strides: tuple[Shape4, ...]


def views(op: Operation, chip: Chip) -> Iterator[Viewed]:
    """An element-wise op; its operands, but for parameters, broadcast as numpy has it."""
    assert isinstance(op, LocalGen)
    values, given = (*op.operands, op.results[0]), len(op.operands)
    seen = [
        index
        for index, value in enumerate(values)
        if not is_none(value) and index not in op.row_operands()
    ]
    shapes = [known_shape(values[index].type) or () for index in seen]
    width = max(element_of(values[index]).bytes for index in seen)
    for box in boxes(chip, shapes[-1], shapes, width):
        starts = [0] * len(values)
        sizes: list[Shape | None] = [None] * len(values)
        strides: list[Shape | None] = [None] * len(values)
        for index, start, steps in zip(seen, box.starts, box.strides, strict=True):
            own = tuple(1 if step == 0 else s for s, step in zip(box.sizes, steps, strict=True))
            starts[index], sizes[index] = start, own
            strides[index] = None if _is_row_major(own, steps) else steps
        whole = sizes[given]
        assert whole is not None
        yield Viewed(tuple(sizes[:given]), whole, {}, tuple(strides), tuple(starts))


def boxes(chip: Chip, out: Shape, tensors: Sequence[Shape], element_bytes: int) -> Iterable[Box]:
    """Boxes that together cover `out`, to which row-major tensors of the given shapes broadcast."""
    sizes, steps = _merged(out, [_strides(shape, out) for shape in tensors])
    if len(sizes) == 1:
        return _flat(chip, sizes[0], [step for (step,) in steps], element_bytes)
    sizes, steps = _parted(chip, sizes, steps, element_bytes)
    lanes = _lane_axis(chip, sizes)
    others = [axis for axis in range(len(sizes)) if axis != lanes]
    outer, inner = others[:-3], others[-3:]

    def four(values: Sequence[int], fill: int) -> Shape4:
        n, h, w = (*(fill for _ in range(3 - len(inner))), *(values[axis] for axis in inner))
        return n, values[lanes], h, w

    indices = product(*(range(sizes[axis]) for axis in outer))
    starts = (
        tuple(sum(i * own[axis] for i, axis in zip(index, outer, strict=True)) for own in steps)
        for index in indices
    )
    strides = tuple(four(own, 0) for own in steps)
    return [Box(four(sizes, 1), start, strides) for start in starts]


def _is_row_major(shape: Shape, strides: Shape) -> bool:
    found = zip(shape, strides, contiguous_strides(shape), strict=True)
    return all(size == 1 or step == usual for size, step, usual in found)


def _strides(shape: Shape, out: Shape) -> Shape:
    """Strides of a row-major tensor read with the shape `out`."""
    padded = (1,) * (len(out) - len(shape)) + shape
    found = zip(padded, out, contiguous_strides(padded), strict=True)
    return tuple(0 if own == 1 and wanted != 1 else step for own, wanted, step in found)


def _merged(out: Shape, strides: Sequence[Shape]) -> tuple[list[int], list[list[int]]]:
    """Sizes and strides without dimensions of 1; neighbours that all tensors walk as one joined."""
    columns: list[tuple[int, list[int]]] = []
    for axis, size in enumerate(out):
        steps = [own[axis] for own in strides]
        if size == 1:
            continue
        if columns and columns[-1][1] == [step * size for step in steps]:
            columns[-1] = (columns[-1][0] * size, steps)
        else:
            columns.append((size, steps))
    columns = columns or [(1, [1] * len(strides))]
    rows = zip(*(steps for _, steps in columns), strict=True)
    return [size for size, _ in columns], [list(row) for row in rows]


def _parted(
    chip: Chip, sizes: list[int], steps: list[list[int]], element_bytes: int
) -> tuple[list[int], list[list[int]]]:
    """The innermost dimension as parts of good length, where these fill the lanes twice as well as
    any other dimension does."""
    *outer, last = sizes
    most = min(chip.lanes, last * element_bytes // MIN_RUN_BYTES)
    parts = next((n for n in range(most, 1, -1) if last % n == 0), 1)
    if parts == 1 or min(_idle(chip, size) for size in outer) < 2 * _idle(chip, parts):
        return sizes, steps
    length = last // parts
    return [*outer, parts, length], [[*own[:-1], own[-1] * length, own[-1]] for own in steps]


def _lane_axis(chip: Chip, sizes: Sequence[int]) -> int:
    """The dimension over the lanes: the one that fills them best, outer ones first; never the
    innermost, because its elements would be runs of one."""
    return min(range(len(sizes) - 1), key=lambda axis: (_idle(chip, sizes[axis]), axis))


def _idle(chip: Chip, size: int) -> float:
    """How many times as long as over all lanes it takes over so many, in turns."""
    return ceil_div(size, chip.lanes) * chip.lanes / size


def _flat(chip: Chip, size: int, steps: Sequence[int], element_bytes: int) -> Iterator[Box]:
    """One run of elements, spread over as many lanes as keep DDR runs long, and what is left."""
    most = max(1, min(chip.lanes, size * element_bytes // MIN_RUN_BYTES))
    lanes = next((n for n in range(most, most // 2, -1) if size % n == 0), most)
    length = size // lanes
    rest = size - lanes * length
    pieces = _pieces(length, element_bytes)
    run = length // pieces
    strides = tuple((s * lanes * run, s * run, s * run, s) for s in steps)
    yield Box((pieces, lanes, 1, run), (0,) * len(steps), strides)
    if rest:
        starts = tuple(s * lanes * length for s in steps)
        yield Box((1, 1, 1, rest), starts, tuple((s, s, s, s) for s in steps))


def _pieces(length: int, element_bytes: int) -> int:
    """In how many runs a lane takes `length` elements; 1 when no divisor gives runs of good length.

    The runs of all lanes lie one behind the other, so a slice of whole pieces is one stretch of DDR
    and uses all of its channels. Slices cut from one long run per lane would be rows far apart, of
    which few start within the bytes that decide the share of the channels.
    """
    fewest = ceil_div(length * element_bytes, MAX_RUN_BYTES)
    most = length * element_bytes // MIN_RUN_BYTES
    return next((n for n in range(fewest, most + 1) if length % n == 0), 1)
