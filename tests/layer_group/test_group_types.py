"""Which type a range of ops gets, and why it cannot be a group."""

from itertools import product

from tests.layer_group.op_samples import binary, layer_norm, matmul, out, relu, value, weight

from xdsl_tpu.dialects import tpu
from xdsl_tpu.passes.layer_group.group_type import RangeTypes, group_type, type_problem
from xdsl_tpu.passes.layer_group.values import GroupType


def test_single_op_is_normal() -> None:
    assert group_type([layer_norm((1, 4, 8, 8, 8), 4)]) is GroupType.NORMAL


def test_an_op_with_a_depth_makes_the_type() -> None:
    deep = layer_norm((1, 4, 8, 8, 8), 4)
    assert group_type([deep, relu(out(deep))]) is GroupType.THREE_D
    flat = layer_norm((1, 3136, 96), 2)
    assert group_type([flat, relu(out(flat))]) is GroupType.NORMAL


def test_types_of_all_ranges() -> None:
    """Those of `of`, for each beginning."""
    deep, flat = (lambda: layer_norm((1, 4, 8, 8, 8), 4)), (lambda: relu((1, 4, 8, 8, 8)))
    for kinds in product((deep, flat), repeat=5):
        types = RangeTypes([made() for made in kinds])
        for end in range(1, 6):
            for first in range(end):
                found = {
                    at: kind
                    for start, stop, kind in types.stretches(first, end)
                    for at in range(start, stop)
                }
                assert found == {start: types.of(start, end) for start in range(first, end)}


def test_rows_in_several_dimensions_are_in_no_group() -> None:
    op = matmul((1, 28, 28, 16), weight((16, 8)))
    assert type_problem([op], GroupType.NORMAL) == (
        "'y' (tpu.MatMul): rows of 1x28x28x16 in several dimensions are no rows over the lanes"
    )
    assert type_problem([matmul((64, 49, 96), (1, 96, 96))], GroupType.NORMAL) is None


def test_one_channel_that_the_group_computes_reaches_all_lanes() -> None:
    narrow = relu(value((2, 1, 8, 8)))
    total = binary(tpu.AddOp, value((2, 16, 8, 8)), out(narrow))
    assert type_problem([narrow, total], GroupType.NORMAL) is None
