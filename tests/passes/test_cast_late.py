"""`cast-late`: the same numbers, and where the casts of what a network is given are."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp, f16, f32
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.cast_late import PIXEL
from xdsl_tpu.passes.tensors import element_of, shape_of

PASSES = "convert-top-to-tpu{{mode={mode} chip=bm1684x}},processor-tpu-optimize,cast-late"


def moved(shape: tuple[int, ...], order: tuple[int, ...], mode: str = "F16") -> ModuleOp:
    """A network that turns what it is given, and cuts it off at 0."""
    net = Net()
    x = net.input("x", *shape)
    turned = net.op(top.PermuteOp, "turned", (x,), order=list(order))
    end = net.op(top.ReluOp, "end", (turned,))
    tolerance = {"F16": 4e-3, "BF16": 4e-2, "F32": 1e-6}[mode]
    return assert_same_numbers(net.module(end), PASSES.format(mode=mode), tolerance=tolerance)


def permutes(module: ModuleOp) -> list[tuple[tuple[int, ...], object]]:
    found = ops_of(module, tpu.PermuteOp)
    return [(ints(op.order), element_of(op.input)) for op in found if isinstance(op, tpu.PermuteOp)]


@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_planes_are_moved_as_they_are_given(mode: str) -> None:
    module = moved((2, 3, 4, 8), (0, 2, 1, 3), mode)
    assert permutes(module) == [((0, 2, 1, 3), f32)]
    assert not ops_of(module, tpu.RearrangeOp)


@pytest.mark.parametrize(
    ("shape", "order", "outer"),
    [
        ((2, 6, 8, 3), (0, 3, 1, 2), (0, 2, 1, 3)),
        ((1, 2, 6, 8, 3), (0, 4, 1, 2, 3), (0, 3, 1, 2, 4)),
        ((2, 6, 8, PIXEL), (3, 0, 1, 2), (2, 0, 1, 3)),
    ],
)
def test_pixels_are_put_apart_in_their_lanes(
    shape: tuple[int, ...], order: tuple[int, ...], outer: tuple[int, ...]
) -> None:
    module = moved(shape, order)
    (apart,) = ops_of(module, tpu.RearrangeOp)
    assert element_of(apart.inputs[0]) == f16
    assert shape_of(apart.output) == (1, 12, 8 * shape[-1])
    assert permutes(module) == [(outer, f16)]


@pytest.mark.parametrize(
    ("shape", "order"), [((2, 6, 8, PIXEL + 1), (0, 3, 1, 2)), ((1, 48, 3), (0, 2, 1))]
)
def test_wide_pixels_and_single_rows_are_turned_in_ddr(
    shape: tuple[int, ...], order: tuple[int, ...]
) -> None:
    module = moved(shape, order)
    assert permutes(module) == [(order, f16)]
    assert not ops_of(module, tpu.RearrangeOp)


def test_floats_of_full_width_have_no_cast() -> None:
    assert permutes(moved((2, 3, 4, 8), (0, 2, 1, 3), "F32")) == [((0, 2, 1, 3), f32)]


@pytest.mark.parametrize(
    ("parts", "own"),
    [
        ([(0, 1, 1, 8), (1, 4, 1, 8)], True),
        ([(1, 3, 1, 8)], True),
        ([(0, 4, 2, 8)], True),
        ([(0, 2, 1, 8), (1, 4, 1, 8)], False),
        ([(0, 1, 1, 8), (1, 4, 1, 7)], False),
    ],
    ids=["all", "some", "every second", "some twice", "of rows"],
)
def test_slices_of_whole_rows_are_cast_each_by_itself(
    parts: list[tuple[int, int, int, int]], own: bool
) -> None:
    """Unless they have more than there is: `parts` say the rows, the step and the columns."""
    net = Net()
    x = net.input("x", 2, 4, 8)
    ends: list[SSAValue] = []
    for number, (first, last, step, columns) in enumerate(parts):
        cut = {"offset": [0, first, 0], "ends": [2, last, columns], "steps": [1, step, 1]}
        given = (x, net.none, net.none, net.none)
        part = net.op(top.SliceOp, f"part{number}", given, axes=list[int](), **cut)
        ends.append(net.op(top.ReluOp, f"end{number}", (part,)))
    after = assert_same_numbers(net.module(*ends), PASSES.format(mode="F16"), tolerance=4e-3)
    kinds = {element_of(op.input) for op in ops_of(after, tpu.SliceOp)}
    assert kinds == ({f32} if own else {f16})
    narrow = [op for op in ops_of(after, tpu.CastOp) if element_of(op.output) == f16]
    assert len(narrow) == (len(parts) if own else 1)
