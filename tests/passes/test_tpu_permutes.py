"""`processor-tpu-optimize`: permutes move on and cancel; reshapes that only rename go."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from tests.passes.test_attention_split import cut_along
from tests.passes.test_tpu_layout_optimize import HEADS, end, only, optimized, orders, permuted
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.tensors import shape_of

# PermuteReorderPattern


UNARY: dict[str, tuple[type[NamedOp], dict[str, Any]]] = {
    "Softmax": (top.SoftmaxOp, {"axis": 3}),
    "MulConst": (top.MulConstOp, {"const_val": 0.5}),
    "AddConst": (top.AddConstOp, {"const_val": 0.5}),
    "Active": (top.GELUOp, {}),
    "Relu": (top.ReluOp, {}),
}


@pytest.mark.parametrize("kind", UNARY)
def test_permute_moves_behind_an_op_of_one_input(kind: str) -> None:
    net = Net()
    op, attributes = UNARY[kind]
    y = net.op(op, "y", (permuted(net, "p", net.input("x", 2, 5, 3, 7)),), **attributes)
    after = optimized(net, y)
    assert kinds(after) == [kind, "Permute"]
    (moved, behind) = (op for op in after.walk() if op.dialect_name() == "tpu")
    assert (name_of(moved), name_of(behind)) == ("y_p", "y")


@pytest.mark.parametrize("axis", range(4))
def test_softmax_follows_its_dimension(axis: int) -> None:
    net = Net()
    y = net.op(top.SoftmaxOp, "y", (permuted(net, "p", net.input("x", 2, 5, 3, 2)),), axis=axis)
    after = optimized(net, y)
    assert kinds(after) == ["Softmax", "Permute"]
    assert only(after, tpu.SoftmaxOp).axis.value.data == HEADS[axis]


@pytest.mark.parametrize(("order", "used"), [((0, 3, 1, 2), False), (HEADS, True)])
def test_other_permutes_stay_in_front(order: tuple[int, ...], used: bool) -> None:
    net = Net()
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7), order)
    outputs = [net.op(top.SoftmaxOp, "y", (value,), axis=3)]
    if used:
        outputs.append(end(net, value, "other"))
    assert kinds(optimized(net, *outputs))[:2] == ["Permute", "Softmax"]


def test_cast_lets_a_permute_pass() -> None:
    text = """
    module attributes {module.state = "TPU_LOWERED"} {
      func.func @main(%a: tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf16> {
        %n = "top.None"() : () -> none
        %x = "top.Input"(%a) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
        %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]}
          : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
        %c = "tpu.Cast"(%p) : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf16> loc("c")
        %q = "tpu.Permute"(%c, %n) {order = [0, 2, 1, 3]}
          : (tensor<2x3x5x7xf16>, none) -> tensor<2x5x3x7xf16> loc("q")
        %y = "tpu.MinConst"(%q) {const_val = 1.0 : f64}
          : (tensor<2x5x3x7xf16>) -> tensor<2x5x3x7xf16> loc("y")
        return %y : tensor<2x5x3x7xf16>
      }
    }
    """
    after = assert_same_numbers(text, "processor-tpu-optimize")
    assert kinds(after) == ["Cast", "MinConst"]


BINARY = (top.AddOp, top.SubOp, top.MulOp)


@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize("other", [(2, 5, 3, 7), (1, 5, 1, 7)])
def test_equal_permutes_move_behind_an_op_of_two_inputs(
    kind: type[NamedOp], other: tuple[int, ...]
) -> None:
    net = Net()
    shapes = ((2, 5, 3, 7), other)
    values = [permuted(net, f"p{i}", net.input(f"x{i}", *shape)) for i, shape in enumerate(shapes)]
    after = optimized(net, net.op(kind, "y", values))
    assert kinds(after)[-1] == "Permute"
    assert kinds(after).count("Permute") == 1


@pytest.mark.parametrize("kind", BINARY)
def test_one_permute_stays_in_front_of_an_op_of_two_inputs(kind: type[NamedOp]) -> None:
    net = Net()
    values = [permuted(net, "p", net.input("x", 2, 5, 3, 7)), net.input("y", 2, 3, 5, 7)]
    assert kinds(optimized(net, net.op(kind, "z", values)))[0] == "Permute"


# PermuteAddWeightReorderPattern


@pytest.mark.parametrize("kind", [top.AddOp, top.MulOp])
@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
def test_weight_is_permuted_instead(kind: type[NamedOp], mode: str) -> None:
    net = Net()
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7))
    y = net.op(kind, "y", (value, net.weight("w", 1, 3, 5, 7)))
    tolerance = {"F32": 1e-6, "F16": 3e-3, "BF16": 3e-2}[mode]
    after = optimized(net, y, mode=mode, tolerance=tolerance)
    assert [kind for kind in kinds(after) if kind != "Cast"][1:] == ["Permute"]
    weight = only(after, top.WeightOp)
    assert shape_of(weight.output) == (1, 5, 3, 7)
    assert str(name_of(weight)).startswith("y_transposed_")


def weighted(
    *, order: Sequence[int] = HEADS, used: bool = False, shape: Sequence[int] = (1, 3, 5, 7)
) -> list[str]:
    net = Net()
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7), order)
    outputs = [net.op(top.AddOp, "y", (value, net.weight("w", *shape)))]
    if used:
        outputs.append(end(net, value, "other"))
    return kinds(optimized(net, *outputs))


def test_weight_stays_where_the_permute_must() -> None:
    assert weighted() == ["Add", "Permute"]
    assert weighted(order=(0, 3, 2, 1), shape=(1, 7, 3, 5)) == ["Permute", "Add"]
    assert weighted(used=True)[0] == "Permute"
    assert weighted(shape=(5, 7)) == ["Add", "Permute"]  # shape inference put ones in front


def test_shared_weight_stays() -> None:
    """Its other user wants it as it is."""
    from_text = """
    module attributes {module.state = "TPU_LOWERED", module.weight_file = "w.npz"} {
      func.func @main(%a: tensor<2x5x3x7xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>) {
        %n = "top.None"() : () -> none
        %x = "top.Input"(%a) : (tensor<2x5x3x7xf32>) -> tensor<2x5x3x7xf32> loc("x")
        %w = "top.Weight"() : () -> tensor<1x3x5x7xf32> loc("w")
        %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]}
          : (tensor<2x5x3x7xf32>, none) -> tensor<2x3x5x7xf32> loc("p")
        %y = "tpu.Add"(%p, %w)
          : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("y")
        %z = "tpu.Mul"(%y, %w)
          : (tensor<2x3x5x7xf32>, tensor<1x3x5x7xf32>) -> tensor<2x3x5x7xf32> loc("z")
        return %y, %z : tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>
      }
    }
    """
    after = assert_same_numbers(from_text, "processor-tpu-optimize")
    assert kinds(after) == ["Permute", "Add", "Mul"]


# MovePermuteAfterAdd, ErasePermuteAroundAdd

BACK = (0, 2, 3, 1)
FORTH = (0, 3, 1, 2)


def test_equal_permutes_move_behind_a_sum() -> None:
    net = Net()
    values = [permuted(net, f"p{i}", net.input(f"x{i}", 2, 5, 3, 7), FORTH) for i in range(2)]
    assert kinds(optimized(net, net.op(top.AddOp, "y", values))) == ["Add", "Permute"]


def test_equal_permutes_and_reshapes_move_behind_a_sum() -> None:
    net = Net()
    values = [permuted(net, f"p{i}", net.input(f"x{i}", 2, 5, 3, 7), FORTH) for i in range(2)]
    flat = [net.op(top.ReshapeOp, f"r{i}", (x,), shape=(2, 105)) for i, x in enumerate(values)]
    after = optimized(net, end(net, net.op(top.AddOp, "sum", flat)))
    assert kinds(after)[:3] == ["Add", "Permute", "Reshape"]


def sum_of_permutes(
    orders_in: Sequence[Sequence[int]], *, after: Sequence[int] | None = None, used: str = ""
) -> list[tuple[int, ...]]:
    """Orders left of a sum of two permuted inputs of 2x7x5x3, with a Permute behind."""
    net = Net()
    values: dict[str, SSAValue] = {}
    for index, order in enumerate(orders_in):
        shape = [0] * 4
        for place, axis in enumerate(order):
            shape[axis] = (2, 7, 5, 3)[place]
        values[f"p{index}"] = permuted(net, f"p{index}", net.input(f"x{index}", *shape), order)
    y = values["sum"] = net.op(top.AddOp, "sum", list(values.values()))
    if after is not None:
        y = permuted(net, "after", y, after)
    outputs = [end(net, y)]
    if used:
        outputs.append(net.op(top.SinOp, "other", (values[used],)))
    return orders(optimized(net, *outputs))


def test_different_permutes_stay_in_front_of_a_sum() -> None:
    assert sorted(sum_of_permutes((FORTH, BACK))) == [BACK, FORTH]


def test_permutes_used_elsewhere_stay_in_front_of_a_sum() -> None:
    assert sum_of_permutes((FORTH, FORTH), used="p1") == [FORTH, FORTH]


def test_reshapes_that_differ_stay_in_front_of_a_sum() -> None:
    net = Net()
    values = [permuted(net, "p0", net.input("x0", 2, 5, 3, 7), FORTH)]
    values.append(permuted(net, "p1", net.input("x1", 2, 3, 5, 7), FORTH))
    flat = [net.op(top.ReshapeOp, f"r{i}", (x,), shape=(2, 105)) for i, x in enumerate(values)]
    after = optimized(net, net.op(top.AddOp, "y", flat))
    assert kinds(after).count("Permute") == 2


def test_permutes_around_a_sum_cancel() -> None:
    assert sum_of_permutes((FORTH, FORTH), after=BACK) == []


@pytest.mark.parametrize("orders_in", [(FORTH, (0, 1, 3, 2)), ((0, 1, 3, 2), FORTH)])
def test_of_three_permutes_around_a_sum_one_stays(orders_in: Sequence[Sequence[int]]) -> None:
    assert sum_of_permutes(orders_in, after=BACK) == [(0, 3, 2, 1)]


def test_permutes_around_a_sum_that_do_not_cancel_stay() -> None:
    assert len(sum_of_permutes((FORTH, BACK), after=(0, 1, 3, 2))) == 3
    assert len(sum_of_permutes((FORTH, (0, 1, 3, 2)), after=BACK, used="sum")) == 3
    assert len(sum_of_permutes((FORTH, (0, 1, 3, 2)), after=BACK, used="p1")) == 3


# PermuteFuse, PermuteFuse2


def chain(*steps: tuple[str, Sequence[int]], used: bool = False) -> list[str]:
    """What is left of Permutes ("p", order) and Reshapes ("r", shape) in a row."""
    net = Net()
    values = [net.input("x", 2, 5, 3, 7)]
    for index, (kind, sizes) in enumerate(steps):
        if kind == "r":
            values.append(net.op(top.ReshapeOp, f"s{index}", values[-1:], shape=sizes))
        else:
            values.append(permuted(net, f"s{index}", values[-1], sizes))
    outputs = [end(net, values[-1])]
    if used:
        outputs.append(net.op(top.SinOp, "other", (values[-2],)))
    return kinds(optimized(net, *outputs))


def test_permutes_in_a_row_cancel() -> None:
    assert chain(("p", HEADS), ("p", HEADS)) == ["MinConst"]
    assert chain(("p", FORTH), ("p", BACK)) == ["MinConst"]
    assert chain(("p", FORTH), ("r", (2, 7, 15)), ("p", (0, 2, 1))) == ["Reshape", "MinConst"]


def test_permutes_in_a_row_are_one() -> None:
    assert chain(("p", HEADS), ("p", (0, 1, 3, 2))) == ["Permute", "MinConst"]


def test_permutes_that_do_not_cancel_stay() -> None:
    kept = chain(("p", FORTH), ("r", (14, 5, 3)), ("p", (1, 0, 2)))
    assert kept == ["Permute", "Reshape", "Permute", "MinConst"]
    assert chain(("p", HEADS), ("p", (0, 1, 3, 2)), used=True).count("Permute") == 2


def test_permute_of_five_dimensions_stays_in_two_steps() -> None:
    """As one it would need more dimensions than the chip transposes."""
    net = Net()
    first = permuted(net, "p", net.input("x", 2, 3, 4, 5, 6), (1, 0, 3, 2, 4))
    y = permuted(net, "q", first, (0, 2, 1, 4, 3))
    after = optimized(net, end(net, y))
    assert len(orders(after)) == 2


def test_permute_that_moves_no_data_is_a_reshape() -> None:
    net = Net()
    y = permuted(net, "p", net.input("x", 2, 1, 3, 4), HEADS)
    assert kinds(optimized(net, end(net, y))) == ["Reshape", "MinConst"]


# PermuteMulconstSwap, PermuteFuseAddSoftmax


def test_factor_moves_in_front_of_a_permute_to_channels_last() -> None:
    net = Net()
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7), BACK)
    after = optimized(net, net.op(top.MulConstOp, "y", (value,), const_val=0.5))
    assert kinds(after) == ["MulConst", "Permute"]


def test_factor_stays_behind_other_permutes() -> None:
    net = Net()
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7), FORTH)
    after = optimized(net, net.op(top.MulConstOp, "y", (value,), const_val=0.5))
    assert kinds(after) == ["Permute", "MulConst"]


def masked(mask: Sequence[int], *, swapped: bool = False, axis: int = 3) -> list[str]:
    net = Net()
    values = [permuted(net, "p", net.input("x", 2, 5, 3, 7)), net.input("mask", *mask)]
    total = net.op(top.AddOp, "sum", values[::-1] if swapped else values)
    y = net.op(top.SoftmaxOp, "soft", (total,), axis=axis)
    return kinds(optimized(net, end(net, permuted(net, "q", y))))


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("mask", [(2, 1, 5, 7), (1, 1, 5, 7), (2, 3, 1, 7)])
def test_permutes_around_a_masked_softmax_cancel(mask: Sequence[int], swapped: bool) -> None:
    assert masked(mask, swapped=swapped) == ["Reshape", "Add", "Softmax", "MinConst"]


def chosen(mask: Sequence[int], *, otherwise: bool) -> list[str]:
    """A Softmax of scores where a mask says so and of a number elsewhere, or the other way."""
    net = Net()
    scores, cond = permuted(net, "p", net.input("x", 2, 5, 3, 7)), net.input("mask", *mask)
    sides = (net.none, scores) if otherwise else (scores, net.none)
    numbers = {"x_is_const": otherwise, "y_is_const": not otherwise}
    given = (
        net.op(top.CompareConstOp, "cond", (cond,), mode="Greater", const_val=0.0, inversed=False),
        *sides,
    )
    total = net.op(top.WhereOp, "chosen", given, x_const_val=-9.0, y_const_val=-9.0, **numbers)
    y = net.op(top.SoftmaxOp, "soft", (total,), axis=3)
    return kinds(optimized(net, end(net, permuted(net, "q", y))))


@pytest.mark.parametrize("otherwise", [False, True])
@pytest.mark.parametrize("mask", [(2, 1, 5, 7), (1, 1, 1, 7), (2, 3, 1, 7)])
def test_permutes_around_a_softmax_of_what_is_chosen_cancel(
    mask: Sequence[int], otherwise: bool
) -> None:
    assert "Permute" not in chosen(mask, otherwise=otherwise)


def test_a_choice_for_each_head_and_row_stays() -> None:
    assert chosen((2, 3, 5, 7), otherwise=False).count("Permute") == 2


def test_mask_of_each_head_and_row_stays() -> None:
    assert masked((2, 3, 5, 7)).count("Permute") == 2


def test_mask_of_lower_rank_stays() -> None:
    assert masked((5, 7)).count("Permute") == 2


# ReshapeSliceSqueezePattern, MatMulRemoveReshapePattern


def cut_part(
    split: Sequence[int] = (4, 5, 3, 2, 8),
    axis: int = 2,
    first: int = 1,
    size: int = 1,
    used: bool = False,
) -> list[str]:
    net = Net()
    value = net.op(top.ReshapeOp, "split", (net.input("x", 4, 5, 48),), shape=split)
    cut = cut_along(net, "cut", value, axis, first, size)
    part = net.op(top.SqueezeOp, "part", (cut,), axes=[axis]) if size == 1 else cut
    outputs = [end(net, part)]
    if used:
        outputs.append(net.op(top.SinOp, "other", (cut,)))
    return kinds(optimized(net, *outputs))


def test_part_is_cut_from_the_unsplit_dimension() -> None:
    assert cut_part() == ["Slice", "Reshape", "MinConst"]
    assert cut_part((4, 5, 3, 16)) == ["Slice", "MinConst"]
    assert cut_part((4, 5, 48, 1, 1), axis=2, first=7)[0] == "Slice"
    assert cut_part((2, 2, 5, 48), axis=0) == ["Slice", "MinConst"]


def test_part_stays_behind_the_reshape() -> None:
    assert cut_part(axis=3) == ["Reshape", "Slice", "Squeeze", "MinConst"]
    assert cut_part((20, 3, 16), axis=1) == ["Reshape", "Slice", "Squeeze", "MinConst"]
    assert cut_part(size=2) == ["Reshape", "Slice", "MinConst"]
    assert cut_part(used=True).count("Slice") == 1


def unsqueezed_product(
    left: tuple[Sequence[int], Sequence[int]], right: tuple[Sequence[int], Sequence[int]]
) -> list[str]:
    net = Net()
    values = [
        net.op(top.ReshapeOp, f"r{i}", (net.input(f"x{i}", *old),), shape=new)
        for i, (old, new) in enumerate((left, right))
    ]
    return kinds(optimized(net, end(net, net.op(top.MatMulOp, "mm", (*values, net.none)))))


def test_ones_among_the_batches_are_left_out() -> None:
    left, right = (6, 5, 4), (6, 4, 7)
    assert unsqueezed_product((left, (1, *left)), (right, (1, *right))) == [
        "MatMul",
        "Reshape",
        "MinConst",
    ]
    assert unsqueezed_product((left, (6, 1, 5, 4)), (right, (6, 1, 4, 7)))[0] == "MatMul"


def test_other_reshapes_of_operands_stay() -> None:
    left, right = (6, 5, 4), (6, 4, 7)
    assert unsqueezed_product((left, (2, 3, 5, 4)), (right, (2, 3, 4, 7)))[-2] == "MatMul"
    assert unsqueezed_product((left, (1, *left)), ((4, 42), (1, 6, 4, 7)))[-2] == "MatMul"
    assert unsqueezed_product((left, (1, 6, 4, 5)), ((6, 5, 7), (1, 6, 5, 7)))[-2] == "MatMul"
    assert unsqueezed_product(((5, 4), (1, 5, 4)), ((4, 7), (1, 4, 7)))[-2] == "MatMul"


def test_numbers_of_permuted_weights_are_permuted() -> None:
    net = Net()
    values = np.arange(1 * 3 * 5 * 7, dtype=np.float32).reshape(1, 3, 5, 7)
    value = permuted(net, "p", net.input("x", 2, 5, 3, 7))
    after = optimized(net, net.op(top.AddOp, "y", (value, net.weight("w", values=values))))
    stored = weights_of(after)["y_transposed_add_weight"]
    np.testing.assert_array_equal(stored, values.transpose(HEADS))
