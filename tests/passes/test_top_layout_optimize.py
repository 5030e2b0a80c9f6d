"""`processor-top-optimize`: products by parts, transposes as flags, rotations, moved Reshapes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from tests.passes.test_attention_split import cut_along
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.processor_top_optimize.optimize import ProcessorTopOptimizePass
from xdsl_tpu.passes.tensors import shape_of

OPTIMIZE = "processor-top-optimize"


def optimized(net: Net, *outputs: SSAValue) -> ModuleOp:
    return assert_same_numbers(net.module(*outputs), OPTIMIZE)


# SplitMatMulPattern


@dataclass(frozen=True)
class Columns:
    """A product whose columns are reshaped and cut along one dimension."""

    rows: tuple[int, ...] = (4, 5)
    columns: int = 48
    shapes: tuple[tuple[int, ...], ...] = ((4, 5, 3, 2, 8),)
    axis: int = 2
    bounds: tuple[tuple[int, int], ...] = ((0, 1), (1, 2), (2, 3))
    step: int = 1
    squeeze: bool = True
    bias: bool = True
    also_used: bool = False
    weight_is_input: bool = False

    def module(self) -> ModuleOp:
        net = Net()
        x = net.input("x", *self.rows, 16)
        w = (net.input if self.weight_is_input else net.weight)("w", 16, self.columns)
        bias = net.weight("b", 1, 1, self.columns) if self.bias else net.none
        value = net.op(top.MatMulOp, "mm", (x, w, bias), do_relu=True)
        for index, shape in enumerate(self.shapes):
            value = net.op(top.ReshapeOp, f"r{index}", (value,), shape=shape)
        outputs = [self.part(net, value, index) for index in range(len(self.bounds))]
        if self.also_used:
            outputs.append(net.op(top.AbsOp, "other", (value,)))
        return net.module(*outputs)

    def part(self, net: Net, value: SSAValue, index: int) -> SSAValue:
        begin, end = self.bounds[index]
        bounds = {"axes": [self.axis], "offset": [begin], "ends": [end], "steps": [self.step]}
        part = net.op(top.SliceOp, f"s{index}", (value, *[net.none] * 3), **bounds)
        if self.squeeze:
            part = net.op(top.SqueezeOp, f"q{index}", (part,), axes=[self.axis])
        return net.op(top.AbsOp, f"y{index}", (part,))


QKV = Columns()

SPLIT = {
    "q, k and v": (QKV, [16, 16, 16]),
    "no bias": (replace(QKV, bias=False), [16, 16, 16]),
    "no Reshape": (
        Columns(shapes=(), bounds=((0, 16), (16, 48)), squeeze=False),
        [16, 32],
    ),
    "two Reshapes": (replace(QKV, shapes=((20, 48), (4, 5, 3, 2, 8))), [16, 16, 16]),
    "unequal parts": (replace(QKV, bounds=((0, 2), (2, 3)), squeeze=False), [32, 16]),
    "cuts in another order": (replace(QKV, bounds=((1, 2), (2, 3), (0, 1))), [16, 16, 16]),
    "rows merged": (
        Columns(rows=(2, 3, 4), shapes=((2, 12, 3, 2, 8),)),
        [16, 16, 16],
    ),
    "a one in front of the columns": (
        Columns(shapes=((4, 5, 1, 3, 16),), axis=3),
        [16, 16, 16],
    ),
}


@pytest.mark.parametrize(("columns", "widths"), SPLIT.values(), ids=SPLIT.keys())
def test_product_is_split_by_columns(columns: Columns, widths: list[int]) -> None:
    after = assert_same_numbers(columns.module(), OPTIMIZE)
    products = ops_of(after, top.MatMulOp)
    assert [shape_of(op.output)[-1] for op in products] == widths
    assert all(op.do_relu.value.data for op in products)
    assert "Slice" not in kinds(after)
    assert "Squeeze" not in kinds(after)


def test_parts_have_the_vendors_names() -> None:
    after = assert_same_numbers(QKV.module(), OPTIMIZE)
    named = [str(name_of(op)) for op in after.walk() if op.results]
    assert {f"mm_matmul_{n}" for n in (1, 3, 5)} < set(named)
    assert {f"mm_reshape_{n}" for n in (1, 3, 5)} < set(named)
    assert {f"mm__{kind}_{n}" for kind in ("filter", "bias") for n in (0, 2, 4)} < set(named)


WHOLE = {
    "columns are not outermost": Columns(
        rows=(4, 5), shapes=((4, 5, 3, 2, 8),), axis=3, bounds=((0, 1), (1, 2))
    ),
    "rows are cut": Columns(axis=0, bounds=((0, 1), (1, 4)), squeeze=False),
    "rows are split, then cut": Columns(
        rows=(8,), shapes=((4, 2, 3, 16),), axis=1, bounds=((0, 1), (1, 2))
    ),
    "part of the cut dimension is rows": Columns(
        rows=(8,), columns=96, shapes=((6, 128),), axis=0, bounds=((0, 3), (3, 6)), squeeze=False
    ),
    "columns are left over": replace(QKV, bounds=((0, 1), (1, 2))),
    "first columns are left over": replace(QKV, bounds=((1, 2), (2, 3))),
    "parts overlap": replace(QKV, bounds=((0, 2), (1, 3)), squeeze=False),
    "steps of two": Columns(
        shapes=((4, 5, 4, 12),), bounds=((0, 4), (1, 4)), step=2, squeeze=False
    ),
    "one part": replace(QKV, bounds=((0, 3),), squeeze=False),
    "the whole is used": replace(QKV, also_used=True),
    "the right side is computed": replace(QKV, weight_is_input=True, bias=False),
}


@pytest.mark.parametrize("columns", WHOLE.values(), ids=WHOLE.keys())
def test_product_stays_whole(columns: Columns) -> None:
    after = assert_same_numbers(columns.module(), OPTIMIZE)
    assert len(ops_of(after, top.MatMulOp)) == 1
    assert "Slice" in kinds(after)


def test_parts_along_different_dimensions_leave_the_product_whole() -> None:
    net = Net()
    x = net.input("x", 4, 16)
    value = net.op(top.MatMulOp, "mm", (x, net.weight("w", 16, 8), net.none))
    parts = [cut_along(net, "rows", value, 0, 0, 2), cut_along(net, "columns", value, 1, 0, 4)]
    assert kinds(optimized(net, *parts)).count("MatMul") == 1


# Transposes of operands


def transposed_product(
    left: Sequence[int],
    right: Sequence[int],
    orders: tuple[Sequence[int] | None, Sequence[int] | None],
    **flags: bool,
) -> tuple[Net, SSAValue]:
    net = Net()
    values = [net.input("x", *left), net.input("y", *right)]
    for place, order in enumerate(orders):
        if order is not None:
            values[place] = net.op(top.PermuteOp, f"p{place}", (values[place],), order=order)
    return net, net.op(top.MatMulOp, "mm", (*values, net.none), **flags)


RIGHT = {
    "matrix": ((4, 3), (5, 3), (1, 0), False),
    "batches": ((2, 3, 5, 4), (2, 3, 6, 4), (0, 1, 3, 2), False),
    "already transposed": ((2, 5, 4), (2, 4, 6), (0, 2, 1), True),
    "ones among the batches move": ((1, 3, 5, 4), (1, 1, 6, 4), (1, 0, 3, 2), False),
}


@pytest.mark.parametrize(("left", "right", "order", "flag"), RIGHT.values(), ids=RIGHT.keys())
def test_right_transpose_becomes_a_flag(
    left: Sequence[int], right: Sequence[int], order: Sequence[int], flag: bool
) -> None:
    net, y = transposed_product(left, right, (None, order), right_transpose=flag)
    after = optimized(net, y)
    assert "Permute" not in kinds(after)
    (product,) = ops_of(after, top.MatMulOp)
    assert bool(product.right_transpose.value.data) is not flag


@pytest.mark.parametrize(
    ("left", "right", "order"),
    [
        ((2, 5, 3, 4), (2, 6, 5, 4), (0, 2, 3, 1)),
        ((2, 3, 5, 4), (2, 4, 3, 6), (0, 2, 1, 3)),
        ((3, 5, 4), (4, 6, 3), (2, 0, 1)),
        ((2, 3, 5, 4), (3, 2, 6, 4), (1, 0, 3, 2)),
        ((1, 3, 5, 4), (3, 1, 6, 4), (1, 0, 3, 2)),
    ],
    ids=["rows move, too", "heads", "batches move", "batches swap, too", "a one moves"],
)
def test_other_permutes_of_the_right_operand_stay(
    left: Sequence[int], right: Sequence[int], order: Sequence[int]
) -> None:
    net, y = transposed_product(left, right, (None, order))
    assert kinds(optimized(net, y)) == ["Permute", "MatMul"]


def shared_transpose(other: str) -> tuple[Net, list[SSAValue]]:
    """A transposed matrix as the right operand of one product and in another use."""
    net = Net()
    turned = net.op(top.PermuteOp, "p", (net.input("y", 3, 3),), order=(1, 0))
    outputs = [net.op(top.MatMulOp, "mm", (net.input("x", 4, 3), turned, net.none))]
    z = net.input("z", 3, 3)
    uses = {
        "right": lambda: net.op(top.MatMulOp, "mm2", (z, turned, net.none)),
        "left": lambda: net.op(top.MatMulOp, "mm2", (turned, z, net.none)),
        "both": lambda: net.op(top.MatMulOp, "mm2", (turned, turned, net.none)),
        "other": lambda: net.op(top.AbsOp, "abs", (turned,)),
    }
    return net, [*outputs, uses[other]()]


def test_all_products_of_a_transposed_matrix_change_together() -> None:
    net, outputs = shared_transpose("right")
    after = optimized(net, *outputs)
    assert kinds(after) == ["MatMul", "MatMul"]
    assert all(op.right_transpose.value.data for op in ops_of(after, top.MatMulOp))


@pytest.mark.parametrize("other", ["left", "both", "other"])
def test_transposed_matrix_used_otherwise_stays(other: str) -> None:
    net, outputs = shared_transpose(other)
    assert "Permute" in kinds(optimized(net, *outputs))


def test_left_transpose_is_a_flag_beside_a_right_one() -> None:
    net, y = transposed_product((2, 4, 5), (2, 6, 4), ((0, 2, 1), None), right_transpose=True)
    after = optimized(net, y)
    assert kinds(after) == ["MatMul"]
    (product,) = ops_of(after, top.MatMulOp)
    assert product.left_transpose.value.data


def test_left_transpose_undoes_a_flag() -> None:
    net, y = transposed_product((2, 5, 4), (2, 4, 6), ((0, 2, 1), None), left_transpose=True)
    after = optimized(net, y)
    assert kinds(after) == ["MatMul"]
    assert not ops_of(after, top.MatMulOp)[0].left_transpose.value.data


@pytest.mark.parametrize(
    ("left", "right", "order", "flag"),
    [
        ((2, 4, 5), (2, 4, 6), (0, 2, 1), False),
        ((4, 2, 5), (2, 6, 4), (1, 2, 0), True),
    ],
    ids=["right is not transposed", "batches move"],
)
def test_other_left_transposes_stay(
    left: Sequence[int], right: Sequence[int], order: Sequence[int], flag: bool
) -> None:
    net, y = transposed_product(left, right, (order, None), right_transpose=flag)
    assert kinds(optimized(net, y)) == ["Permute", "MatMul"]


# ConcatToSwapDimInner


def rotated(
    net: Net,
    name: str,
    x: SSAValue,
    axis: int,
    bounds: Sequence[tuple[int, int]] = ((2, 6), (0, 2)),
) -> SSAValue:
    parts = [
        cut_along(net, f"{name}_{i}", x, axis, begin, end - begin)
        for i, (begin, end) in enumerate(bounds)
    ]
    return net.op(top.ConcatOp, name, parts, axis=axis)


@pytest.mark.parametrize("axis", [1, -2])
def test_tail_before_head_is_a_rotation(axis: int) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 6, 6, 3),))
    parts = [cut_along(net, "tail", x, axis % 4, 2, 4), cut_along(net, "head", x, axis % 4, 0, 2)]
    after = optimized(net, net.op(top.ConcatOp, "y", parts, axis=axis))
    assert kinds(after) == ["Abs", "SwapDimInner"]
    (rotation,) = ops_of(after, top.SwapDimInnerOp)
    assert ints(rotation.offset) == tuple(2 if i == axis % 4 else 0 for i in range(4))


def test_rotations_of_two_dimensions_are_one() -> None:
    net = Net()
    x = rotated(net, "rows", net.input("x", 1, 6, 6, 3), 1)
    after = optimized(net, net.op(top.AbsOp, "y", (rotated(net, "columns", x, 2),)))
    assert kinds(after) == ["SwapDimInner", "Abs"]
    assert ints(ops_of(after, top.SwapDimInnerOp)[0].offset) == (0, 2, 2, 0)


def test_rotations_stay_two_without_the_merge() -> None:
    net = Net()
    x = rotated(net, "rows", net.input("x", 1, 6, 6, 3), 1)
    module = net.module(rotated(net, "columns", x, 2))
    after = assert_same_numbers(module, f"{OPTIMIZE}{{disable=TopMultiSwapDimMergeToOne}}")
    assert kinds(after) == ["SwapDimInner", "SwapDimInner"]


def test_three_dimensions_need_two_rotations() -> None:
    net = Net()
    x = net.input("x", 6, 6, 6, 3)
    for axis in range(3):
        x = rotated(net, f"r{axis}", x, axis)
    assert kinds(optimized(net, x)) == ["SwapDimInner", "SwapDimInner"]


@pytest.mark.parametrize(
    "bounds",
    [
        ((0, 2), (2, 6)),
        ((2, 6), (0, 1)),
        ((2, 5), (0, 2)),
        ((3, 6), (0, 2)),
        ((1, 6), (0, 2)),
        ((4, 6), (2, 4), (0, 2)),
    ],
    ids=["head first", "short head", "short tail", "gap", "overlap", "three parts"],
)
def test_other_joins_are_no_rotation(bounds: Sequence[tuple[int, int]]) -> None:
    net = Net()
    y = rotated(net, "y", net.input("x", 1, 6, 4), 1, bounds)
    assert "SwapDimInner" not in kinds(optimized(net, y))


def join(
    *, sources: int = 1, step: int = 1, used: bool = False, relu: bool = False, axis: int = 1
) -> list[str]:
    """What becomes of a rotation that differs in one respect."""
    net = Net()
    values = [net.input(f"x{i}", 1, 6, 6) for i in range(sources)]
    bounds = {"axes": [1], "offset": [2], "ends": [6], "steps": [step]}
    tail = net.op(top.SliceOp, "tail", (values[0], *[net.none] * 3), **bounds)
    head = cut_along(net, "head", values[-1], 1, 0, 2)
    attributes = {"do_relu": True} if relu else {}
    outputs = [net.op(top.ConcatOp, "y", (tail, head), axis=axis, **attributes)]
    if used:
        outputs.append(net.op(top.AbsOp, "other", (head,)))
    return kinds(optimized(net, *outputs))


def test_rotation_has_one_source_steps_of_one_no_relu_and_no_other_use() -> None:
    assert join() == ["SwapDimInner"]
    assert "SwapDimInner" not in join(sources=2)
    assert "SwapDimInner" not in join(step=2)
    assert "SwapDimInner" not in join(used=True)
    assert "SwapDimInner" not in join(relu=True)


# ReshapeReorderPattern and MulConstBeforePermute


def merged_product(
    left: Sequence[int] = (2, 3, 5, 4), right: Sequence[int] = (2, 3, 4, 6), used: bool = False
) -> list[str]:
    """A product of two values whose leading dimensions are merged, then split again."""
    net = Net()
    values = [net.input("left", *left), net.input("right", *right)]
    merged = [
        net.op(top.ReshapeOp, f"r{i}", (value,), shape=(6, *shape_of(value)[-2:]))
        for i, value in enumerate(values)
    ]
    product = net.op(top.MatMulOp, "mm", (*merged, net.none))
    scaled = net.op(top.MulConstOp, "scale", (product,), const_val=0.5)
    soft = net.op(top.SoftmaxOp, "soft", (scaled,), axis=2)
    split = net.op(top.ReshapeOp, "split", (soft,), shape=(2, 3, 5, 6))
    outputs = [net.op(top.AbsOp, "y", (split,))]
    if used:
        outputs.append(net.op(top.SinOp, "other", (merged[0],)))
    return kinds(optimized(net, *outputs))


def test_merged_batches_are_multiplied_as_they_are() -> None:
    assert merged_product() == ["MatMul", "MulConst", "Softmax", "Abs"]


def test_differently_merged_batches_stay() -> None:
    assert merged_product(right=(3, 2, 4, 6)).count("Reshape") == 3
    assert merged_product(left=(6, 1, 5, 4)).count("Reshape") == 3
    assert merged_product(used=True).count("Reshape") == 3


@pytest.mark.parametrize(
    ("source", "target", "axis"),
    [((2, 3, 4, 5), (6, 4, 5), 0), ((2, 3, 4, 5), (2, 12, 5), 2), ((2, 3, 4), (6, 4), 1)],
    ids=["along the merged dimension", "other dimensions merged", "3-D"],
)
def test_reshape_in_front_of_a_softmax_stays(
    source: Sequence[int], target: Sequence[int], axis: int
) -> None:
    net = Net()
    merged = net.op(top.ReshapeOp, "r", (net.input("x", *source),), shape=target)
    y = net.op(top.SoftmaxOp, "y", (merged,), axis=axis)
    assert kinds(optimized(net, y)) == ["Reshape", "Softmax"]


def keys(*, order: Sequence[int] = (0, 2, 1), back: Sequence[int] = (2, 3, 8, 5)) -> list[str]:
    """Transposed keys of heads, with batches and heads merged for it, scaled and multiplied."""
    net = Net()
    queries = net.input("q", 2, 3, 5, back[2])
    value = net.op(
        top.MatMulOp, "mm", (net.input("x", 2, 5, 24), net.weight("w", 24, 24), net.none)
    )
    value = net.op(top.ReshapeOp, "heads", (value,), shape=(2, 5, 3, 8))
    value = net.op(top.PermuteOp, "p", (value,), order=(0, 2, 1, 3))
    value = net.op(top.ReshapeOp, "merged", (value,), shape=(6, 5, 8))
    value = net.op(top.PermuteOp, "t", (value,), order=order)
    value = net.op(top.ReshapeOp, "parted", (value,), shape=back)
    value = net.op(top.MulConstOp, "scaled", (value,), const_val=0.25)
    y = net.op(top.MatMulOp, "scores", (queries, value, net.none))
    return kinds(optimized(net, y))


def test_keys_are_transposed_by_the_product() -> None:
    assert keys() == ["MatMul", "Reshape", "Permute", "MatMul"]


def test_keys_of_other_places_stay() -> None:
    assert "MulConst" in keys(order=(1, 0, 2), back=(2, 3, 5, 8))


def scaled_heads(*, weight: bool = True, used: bool = False) -> tuple[Net, list[SSAValue]]:
    net = Net()
    right = (net.weight if weight else net.input)("w", 16, 16)
    value = net.op(top.MatMulOp, "mm", (net.input("x", 4, 5, 16), right, net.none))
    value = net.op(top.ReshapeOp, "r", (value,), shape=(4, 5, 2, 8))
    value = net.op(top.PermuteOp, "p", (value,), order=(0, 2, 1, 3))
    turned = net.op(top.PermuteOp, "t", (value,), order=(0, 1, 3, 2))
    outputs = [net.op(top.MulConstOp, "y", (turned,), const_val=0.25)]
    if used:
        outputs.append(net.op(top.AbsOp, "other", (value,)))
    return net, outputs


def test_factor_behind_permutes_disappears_in_the_weights() -> None:
    net, outputs = scaled_heads()
    assert kinds(optimized(net, *outputs)) == ["MatMul", "Reshape", "Permute", "Permute"]


@pytest.mark.parametrize("options", [{"weight": False}, {"used": True}])
def test_factor_without_weights_of_its_own_stays(options: dict[str, bool]) -> None:
    net, outputs = scaled_heads(**options)
    after = optimized(net, *outputs)
    (factor,) = ops_of(after, top.MulConstOp)
    assert isinstance(factor.input.owner, top.PermuteOp)


# Switches


def test_unknown_pattern_cannot_be_disabled() -> None:
    net = Net()
    module = net.module(net.op(top.AbsOp, "y", (net.input("x", 2),)))
    with pytest.raises(TpuError, match=r"no_such.*unknown"):
        assert_same_numbers(module, f"{OPTIMIZE}{{disable=no_such}}")


def test_every_pattern_named_is_left_out() -> None:
    names = "SplitMatMulPattern,ConvertMatMulWithRightTranspose"
    made = make_pass(OPTIMIZE, f"disable={names}")
    assert made == ProcessorTopOptimizePass(disable=tuple(names.split(",")))
    after = assert_same_numbers(QKV.module(), f"{OPTIMIZE}{{disable={names}}}")
    assert len(ops_of(after, top.MatMulOp)) == 1


def test_weights_are_the_columns() -> None:
    """Not only the products agree: each weight is a part of the old one."""
    module = QKV.module()
    whole = weights_of(module)["w"]
    after = assert_same_numbers(module, OPTIMIZE)
    parts = [weights_of(after)[f"mm__filter_{n}"] for n in (0, 2, 4)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)
