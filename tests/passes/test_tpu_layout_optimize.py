"""`processor-tpu-optimize`: products that read heads as they lie, and permutes on the move."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.tensors import shape_of

HEADS = (0, 2, 1, 3)
TURNED = (0, 2, 3, 1)


def optimized(
    net: Net, *outputs: SSAValue, mode: str = "F32", disable: str = "", tolerance: float = 1e-5
) -> ModuleOp:
    """The network lowered and optimised; its numbers are those of the top network."""
    options = f"{{disable={disable}}}" if disable else ""
    return assert_same_numbers(
        net.module(*outputs),
        f"convert-top-to-tpu{{mode={mode} chip=bm1684x}},processor-tpu-optimize{options}",
        tolerance=tolerance,
    )


def permuted(net: Net, name: str, x: SSAValue, order: Sequence[int] = HEADS) -> SSAValue:
    return net.op(top.PermuteOp, name, (x,), order=order)


def end(net: Net, x: SSAValue, name: str = "end") -> SSAValue:
    """A use of `x` that no Permute moves behind."""
    return net.op(top.MinConstOp, name, (x,), const_val=100.0)


def only(module: ModuleOp, kind: type[Any]) -> Any:
    (op,) = ops_of(module, kind)
    return op


def orders(module: ModuleOp) -> list[tuple[int, ...]]:
    return [ints(op.order) for op in ops_of(module, tpu.PermuteOp)]


# MatMulHdimBatchPattern


def product(
    left: tuple[Sequence[int], Sequence[int] | None],
    right: tuple[Sequence[int], Sequence[int] | None],
    kinds_of: tuple[str, str] = ("input", "input"),
    **flags: bool,
) -> tuple[Net, SSAValue]:
    """A product of inputs (or weights) in the given shapes, permuted in the given orders."""
    net = Net()
    values: list[SSAValue] = []
    for place, (shape, order) in enumerate((left, right)):
        make = net.weight if kinds_of[place] == "weight" else net.input
        value = make(f"v{place}", *shape)
        values.append(value if order is None else permuted(net, f"p{place}", value, order))
    return net, net.op(top.MatMulOp, "mm", (*values, net.none), **flags)


ROWS = (2, 7, 3, 5)  # batch, rows, heads, K
COLUMNS = (2, 6, 3, 5)  # batch, columns, heads, K: transposed
DEPTH = (2, 5, 3, 6)  # batch, K, heads, columns

BOTH = {
    "right transposed by its flag": ((ROWS, HEADS), (COLUMNS, HEADS), True, (False, True)),
    "right transposed by its order": ((ROWS, HEADS), (COLUMNS, TURNED), False, (False, True)),
    "right as it is": ((ROWS, HEADS), (DEPTH, HEADS), False, (False, False)),
    "right transposed twice": ((ROWS, HEADS), (DEPTH, TURNED), True, (False, False)),
    "both transposed": (((2, 5, 3, 7), TURNED), (COLUMNS, TURNED), False, (True, True)),
}


@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize(("left", "right", "flag", "flags"), BOTH.values(), ids=BOTH.keys())
def test_two_permutes_become_one_of_the_result(
    left: Any, right: Any, flag: bool, flags: tuple[bool, bool], mode: str
) -> None:
    net, y = product(left, right, right_transpose=flag)
    tolerance = {"F32": 1e-5, "F16": 3e-3, "BF16": 3e-2}[mode]
    after = optimized(net, y, mode=mode, tolerance=tolerance)
    assert [kind for kind in kinds(after) if kind != "Cast"] == ["MatMul", "Permute"]
    matmul = only(after, tpu.MatMulOp)
    assert bool(matmul.hdim_is_batch)
    assert (bool(matmul.left_transpose), bool(matmul.right_transpose)) == flags
    assert name_of(matmul) == "mm_hdim_is_batch"
    assert orders(after) == [HEADS]


def test_left_operand_is_not_turned_alone() -> None:
    """It keeps a Permute that turns its matrices."""
    net, y = product(((2, 5, 3, 7), TURNED), (DEPTH, HEADS))
    after = optimized(net, y)
    assert kinds(after) == ["Permute", "MatMul", "Permute"]
    assert orders(after) == [(0, 3, 2, 1), HEADS]
    assert not bool(only(after, tpu.MatMulOp).left_transpose)


def test_product_with_a_weight_permutes_its_numbers() -> None:
    net, y = product((ROWS, HEADS), ((2, 3, 5, 6), None), ("input", "weight"))
    after = optimized(net, y)
    assert kinds(after) == ["MatMul", "Permute"]
    weight = only(after, top.WeightOp)
    assert shape_of(weight.output) == DEPTH
    assert weights_of(after)[str(name_of(weight))].shape == DEPTH


def test_weight_on_the_left() -> None:
    net, y = product(((2, 3, 7, 5), None), (DEPTH, HEADS), ("weight", "input"))
    assert kinds(optimized(net, y)) == ["MatMul", "Permute"]


def test_result_keeps_its_name() -> None:
    net, y = product((ROWS, HEADS), (DEPTH, HEADS))
    assert name_of(only(optimized(net, y), tpu.PermuteOp)) == "mm"


def test_operand_of_one_row_is_reshaped() -> None:
    net, y = product(((2, 3, 1, 5), None), ((2, 5, 3, 6), HEADS))
    after = optimized(net, y)
    assert kinds(after) == ["Reshape", "MatMul", "Reshape"]
    assert bool(only(after, tpu.MatMulOp).hdim_is_batch)


def test_one_head_needs_no_batches_of_heads() -> None:
    net, y = product(((2, 1, 7, 5), None), ((2, 5, 1, 6), HEADS))
    assert kinds(optimized(net, y)) == ["Reshape", "MatMul"]


def attended(rows: int, depth: int, columns: int, *, behind: bool) -> list[tuple[int, ...]]:
    """Orders left when only the right operand is permuted."""
    net, y = product(((2, 3, rows, depth), None), ((2, depth, 3, columns), HEADS))
    if behind:
        y = permuted(net, "behind", y)
    return orders(optimized(net, end(net, y)))


def test_permute_moves_to_the_smaller_operand() -> None:
    """7x5 @ 5x32 to 7x32: 35 elements are moved instead of 160 and 224."""
    assert attended(7, 5, 32, behind=True) == [HEADS]
    assert len(attended(49, 49, 4, behind=True)) == 2  # 2401 instead of 196 and 196: stays


def test_result_is_not_permuted_for_a_smaller_operand() -> None:
    """Without a Permute behind that cancels, 35 and 224 are more than 160."""
    assert attended(7, 5, 32, behind=False) == [HEADS]
    net, y = product(((2, 3, 7, 5), None), ((2, 5, 3, 32), HEADS))
    assert not bool(only(optimized(net, y), tpu.MatMulOp).hdim_is_batch)


REFUSED: dict[str, tuple[Any, Any, tuple[str, str], dict[str, bool]]] = {
    "no permute": (((2, 3, 7, 5), None), ((2, 3, 5, 6), None), ("input", "input"), {}),
    "both weights": (((2, 3, 7, 5), None), ((2, 3, 5, 6), None), ("weight", "weight"), {}),
    "another order": (
        ((2, 3, 5, 7), (0, 1, 3, 2)),
        ((2, 3, 6, 5), (0, 1, 3, 2)),
        ("input", "input"),
        {},
    ),
    "batches move": (
        ((3, 7, 2, 5), (2, 0, 1, 3)),
        ((3, 5, 2, 6), (2, 0, 1, 3)),
        ("input", "input"),
        {},
    ),
    "heads broadcast": ((ROWS, HEADS), ((2, 5, 1, 6), HEADS), ("input", "input"), {}),
    "batches broadcast": ((ROWS, HEADS), ((1, 5, 3, 6), HEADS), ("input", "input"), {}),
    "3-D right": ((ROWS, HEADS), ((5, 6), None), ("input", "input"), {}),
    "weight turned alone": (
        ((2, 3, 5, 7), None),
        (DEPTH, HEADS),
        ("weight", "input"),
        {"left_transpose": True},
    ),
    "output transposed": (
        (ROWS, HEADS),
        (DEPTH, HEADS),
        ("input", "input"),
        {"output_transpose": True},
    ),
    "rows merged": ((ROWS, HEADS), (DEPTH, HEADS), ("input", "input"), {"keep_dims": False}),
}


@pytest.mark.parametrize(("left", "right", "makers", "flags"), REFUSED.values(), ids=REFUSED.keys())
def test_product_reads_permuted_operands(
    left: Any, right: Any, makers: tuple[str, str], flags: dict[str, bool]
) -> None:
    net, y = product(left, right, makers, **flags)
    assert not any(bool(op.hdim_is_batch) for op in ops_of(optimized(net, y), tpu.MatMulOp))


@pytest.mark.parametrize("place", [0, 1])
def test_permute_that_others_use_stays(place: int) -> None:
    net = Net()
    values = [
        permuted(net, "p0", net.input("a", *ROWS)),
        permuted(net, "p1", net.input("b", *DEPTH)),
    ]
    y = net.op(top.MatMulOp, "mm", (*values, net.none))
    after = optimized(net, y, end(net, values[place], "other"))
    assert not bool(only(after, tpu.MatMulOp).hdim_is_batch)


def test_weight_that_others_use_stays() -> None:
    text = """
    module attributes {module.state = "TPU_LOWERED", module.weight_file = "w.npz"} {
      func.func @main(%a: tensor<2x7x3x5xf32>) -> (tensor<2x3x7x6xf32>, tensor<2x3x5x6xf32>) {
        %n = "top.None"() : () -> none
        %x = "top.Input"(%a) : (tensor<2x7x3x5xf32>) -> tensor<2x7x3x5xf32> loc("x")
        %w = "top.Weight"() : () -> tensor<2x3x5x6xf32> loc("w")
        %p = "tpu.Permute"(%x, %n) {order = [0, 2, 1, 3]}
          : (tensor<2x7x3x5xf32>, none) -> tensor<2x3x7x5xf32> loc("p")
        %y = "tpu.MatMul"(%p, %w, %n, %n, %n)
          : (tensor<2x3x7x5xf32>, tensor<2x3x5x6xf32>, none, none, none)
          -> tensor<2x3x7x6xf32> loc("y")
        %z = "tpu.MulConst"(%w) {const_val = 2.0 : f64}
          : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32> loc("z")
        return %y, %z : tensor<2x3x7x6xf32>, tensor<2x3x5x6xf32>
      }
    }
    """
    after = assert_same_numbers(text, "processor-tpu-optimize")
    assert kinds(after) == ["Permute", "MatMul", "MulConst"]


def test_bias_and_relu_stay_with_the_product() -> None:
    net = Net()
    values = [
        permuted(net, "p0", net.input("a", *ROWS)),
        permuted(net, "p1", net.input("b", *DEPTH)),
    ]
    y = net.op(top.MatMulOp, "mm", (*values, net.weight("bias", 6)), do_relu=True)
    matmul = only(optimized(net, y), tpu.MatMulOp)
    assert bool(matmul.hdim_is_batch)
    assert bool(matmul.do_relu)


# Attention as a whole


def attention(mode: str = "F32", disable: str = "") -> ModuleOp:
    net = Net()
    parts = [net.input(name, 2, 7, 3, 8) for name in ("q", "k", "v")]
    q, k, v = (permuted(net, f"p{i}", x) for i, x in enumerate(parts))
    scores = net.op(top.MatMulOp, "scores", (q, k, net.none), right_transpose=True)
    scaled = net.op(top.MulConstOp, "scaled", (scores,), const_val=0.25)
    biased = net.op(top.AddOp, "biased", (scaled, net.weight("bias", 1, 3, 7, 7)))
    soft = net.op(top.SoftmaxOp, "soft", (biased,), axis=3)
    heads = permuted(net, "back", net.op(top.MatMulOp, "heads", (soft, v, net.none)))
    y = net.op(top.ReshapeOp, "y", (heads,), shape=(2, 7, 24))
    tolerance = {"F32": 1e-5, "F16": 3e-3, "BF16": 3e-2}[mode]
    return optimized(net, y, mode=mode, disable=disable, tolerance=tolerance)


@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
def test_attention_needs_no_permute(mode: str) -> None:
    after = attention(mode)
    computing = [kind for kind in kinds(after) if kind != "Cast"]
    assert computing == ["MatMul", "MulConst", "Add", "Softmax", "MatMul", "Reshape"]
    assert all(bool(op.hdim_is_batch) for op in ops_of(after, tpu.MatMulOp))


NEEDED = ("MatMulHdimBatchPattern", "PermuteReorderPattern", "PermuteAddWeightReorderPattern")


@pytest.mark.parametrize("name", NEEDED)
def test_attention_needs_each_pattern(name: str) -> None:
    assert "Permute" in kinds(attention(disable=name))
