"""Movement that keeps to rows, but takes other elements of each, picks them; the numbers stay."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.tensors import required_name, shape_of

PASSES = "shape-infer,canonicalize,convert-top-to-tpu{mode=F32 chip=bm1684x},processor-tpu-optimize"


Shape = tuple[int, ...]
Skew = Callable[[Net, SSAValue, Shape], SSAValue]


def reshaped(net: Net, x: SSAValue, *shape: int) -> SSAValue:
    """Another shape."""
    return net.op(top.ReshapeOp, f"reshape{'x'.join(map(str, shape))}", (x,), shape=shape)


def cut(net: Net, x: SSAValue, shape: Shape, axis: int, first: int, last: int) -> SSAValue:
    """A part of a value of a shape along an axis."""
    return net.op(
        top.SliceOp,
        f"cut{axis}_{first}_{last}_{shape[-1]}",
        (x, *[net.none] * 3),
        offset=[first if at == axis else 0 for at in range(len(shape))],
        ends=[last if at == axis else size for at, size in enumerate(shape)],
        steps=[1] * len(shape),
    )


def padded(net: Net, x: SSAValue, rank: int, before: int, after: int) -> SSAValue:
    """Zeros around the last axis."""
    counts = [*[0] * (rank - 1), before, *[0] * (rank - 1), after]
    return net.op(
        top.PadOp, f"pad{before}_{after}", (x, net.none), paddings=counts, mode="constant"
    )


def turned(net: Net, wide: SSAValue, shape: Shape) -> SSAValue:
    """The end of what follows a zero in front of each row of so many distances."""
    heads, rows, size = shape
    down = reshaped(net, wide, heads, size + 1, rows)
    rest = cut(net, down, (heads, size + 1, rows), 1, 1, size + 1)
    return cut(net, reshaped(net, rest, *shape), shape, 2, 0, rows)


def by_padding(net: Net, x: SSAValue, shape: Shape) -> SSAValue:
    """wav2vec2-conformer: a zero is put in front of each row."""
    return turned(net, padded(net, x, 3, 1, 0), shape)


def by_joining(net: Net, x: SSAValue, shape: Shape) -> SSAValue:
    """ESPnet: a column of zeros is joined with them."""
    zeros = net.weight("zeros", *shape[:2], 1, values=np.zeros((*shape[:2], 1)))
    return turned(net, net.op(top.ConcatOp, "wide", (zeros, x), axis=2), shape)


def by_rows(net: Net, x: SSAValue, shape: Shape) -> SSAValue:
    """XLNet: the first row of the turned matrix goes."""
    heads, rows, size = shape
    down = reshaped(net, x, heads, size, rows)
    left = reshaped(net, cut(net, down, (heads, size, rows), 1, 1, size), heads, rows, size - 1)
    return cut(net, left, (heads, rows, size - 1), 2, 0, rows)


def by_lines(net: Net, x: SSAValue, shape: Shape) -> SSAValue:
    """BoTNet: one line of all rows, with zeros behind."""
    heads, rows, size = shape
    line = reshaped(net, padded(net, x, 3, 0, 1), heads, rows * (size + 1))
    down = reshaped(net, padded(net, line, 2, 0, size - rows), heads, rows + 1, size)
    first = cut(net, down, (heads, rows + 1, size), 1, 0, rows)
    return cut(net, first, shape, 2, rows - 1, size)


@pytest.mark.parametrize(
    ("skew", "shape", "places"),
    [
        (by_padding, (3, 70, 139), (1, 70, 70)),  # images share places
        (by_padding, (3, 9, 17), (1, 27, 9)),  # their rows fill the lanes together
        (by_joining, (2, 64, 127), (1, 64, 64)),
        (by_joining, (2, 63, 125), (1, 126, 63)),
        (by_rows, (2, 80, 160), (1, 80, 80)),
        (by_lines, (4, 16, 31), (1, 64, 16)),
    ],
)
def test_spellings_of_relative_positions(skew: Skew, shape: Shape, places: Shape) -> None:
    net = Net()
    after = assert_same_numbers(net.module(skew(net, net.input("x", *shape), shape)), PASSES)
    (made,) = ops_of(after, tpu.GatherElementsOp)
    assert shape_of(made.indices) == places
    which = weights_of(after)[required_name(made.indices.owner)].astype(int)[0]
    assert which.shape == places[1:]
    assert (np.diff(which[:9], axis=0) == -1).all()
    assert (np.diff(which, axis=1) == 1).all()
    assert not ops_of(after, tpu.SliceOp)


@pytest.mark.parametrize(("rows", "kind"), [(128, np.uint8), (129, np.uint16)])
def test_indices_have_as_many_bits_as_they_need(rows: int, kind: type[np.integer[Any]]) -> None:
    net, shape = Net(), (1, rows, 2 * rows - 1)
    after = assert_same_numbers(net.module(by_padding(net, net.input("x", *shape), shape)), PASSES)
    (made,) = ops_of(after, tpu.GatherElementsOp)
    assert weights_of(after)[required_name(made.indices.owner)].dtype == kind


def test_what_others_read_on_the_way_stays() -> None:
    net, shape = Net(), (2, 80, 160)
    x = net.input("x", *shape)
    down = reshaped(net, x, 2, 160, 80)
    left = reshaped(net, cut(net, down, (2, 160, 80), 1, 1, 160), 2, 80, 159)
    after = assert_same_numbers(net.module(cut(net, left, (2, 80, 159), 2, 0, 80), left), PASSES)
    assert not ops_of(after, tpu.GatherElementsOp)


def test_a_slice_of_the_same_columns_of_all_rows_stays() -> None:
    net = Net()
    x = reshaped(net, net.input("x", 2, 70, 30), 1, 140, 30)
    after = assert_same_numbers(net.module(cut(net, x, (1, 140, 30), 2, 7, 27)), PASSES)
    assert not ops_of(after, tpu.GatherElementsOp)


def test_rows_that_change_places_stay() -> None:
    net = Net()
    x = reshaped(net, net.input("x", 2, 70, 30), 2, 30, 70)
    after = assert_same_numbers(net.module(cut(net, x, (2, 30, 70), 1, 0, 20)), PASSES)
    assert not ops_of(after, tpu.GatherElementsOp)


@pytest.mark.parametrize(("columns", "picks"), [(10, True), (9, False)])
def test_few_of_a_row_are_read_where_they_are(columns: int, picks: bool) -> None:
    """One of four elements at least."""
    net = Net()
    line = reshaped(net, net.input("x", 1, 4, 40), 1, 160)
    rows = reshaped(net, cut(net, line, (1, 160), 1, 3, 159), 1, 4, 39)
    after = assert_same_numbers(net.module(cut(net, rows, (1, 4, 39), 2, 0, columns)), PASSES)
    assert bool(ops_of(after, tpu.GatherElementsOp)) == picks
