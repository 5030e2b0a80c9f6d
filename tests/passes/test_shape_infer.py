"""Shapes, clones and folding."""

from collections.abc import Sequence

import numpy as np
import pytest
from tests.passes.semantics import Net, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context, parse_module
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.pipeline import make_pass
from xdsl_tpu.passes.tensors import shape_of


def inferred(text: str) -> ModuleOp:
    module = parse_module(text)
    make_pass("shape-infer").apply(make_context(), module)
    module.verify()
    return module


def weight_names(module: ModuleOp) -> Sequence[str | None]:
    return [name_of(op) for op in ops_of(module, top.WeightOp)]


def main_of(module: ModuleOp) -> FuncOp:
    return ops_of(module, FuncOp)[0]


def test_each_use_of_a_weight_gets_a_clone_counted_from_the_last() -> None:
    net = Net()
    x, w = net.input("x", 4, 8), net.weight("w", 4, 8)
    for index in range(3):
        x = net.op(top.AddOp, f"y{index}", (x, w))
    module = net.module(x)
    assert weight_names(module) == ["w_2", "w_1", "w_0"]
    weights = weights_of(module)
    for name in ("w_0", "w_1", "w_2"):
        np.testing.assert_array_equal(weights[name], weights["w"])
    adds = ops_of(module, top.AddOp)
    assert [name_of(op.inputs[1]) for op in adds] == ["w_2", "w_1", "w_0"]


def test_a_clone_takes_no_name_of_another_tensor() -> None:
    """`w_0` and `w_1` are tensors of their own, as exporters count; each keeps its numbers."""
    net = Net()
    x = net.input("x", 4, 8)
    w = net.weight("w", 4, 8, values=np.full((4, 8), 7.0, np.float32))
    other = net.weight("w_1", 4, 8, values=np.full((4, 8), 3.0, np.float32))
    for index, operand in enumerate((w, other, w)):
        x = net.op(top.AddOp, f"w_{index - 1}" if index == 1 else f"y{index}", (x, operand))
    module = net.module(x)
    assert sorted(map(str, weight_names(module))) == ["w_0_copy", "w_1", "w_1_copy"]
    weights = weights_of(module)
    for op, wanted in zip(ops_of(module, top.AddOp), (7.0, 3.0, 7.0), strict=True):
        assert (weights[name_of(op.inputs[1]) or ""] == wanted).all()


def test_weight_used_twice_by_one_op_is_cloned_too() -> None:
    net = Net()
    w = net.weight("w", 4, 8)
    y = net.op(top.AddOp, "y", (net.op(top.AddOp, "s", (net.input("x", 4, 8), w, w)),))
    assert weight_names(net.module(y)) == ["w_1", "w_0"]


def test_weights_without_numbers_are_cloned_by_type() -> None:
    module = inferred("""
      func.func @main(%a: tensor<4xf32>) -> tensor<*xf32> {
        %x = "top.Input"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
        %w = "top.Weight"() : () -> tensor<4xf32> loc("w")
        %y = "top.Add"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32> loc("y")
        %z = "top.Add"(%y, %w) : (tensor<*xf32>, tensor<4xf32>) -> tensor<*xf32> loc("z")
        return %z : tensor<*xf32>
      }""")
    assert weight_names(module) == ["w_1", "w_0"]


def test_results_and_the_signature_get_their_shapes() -> None:
    net = Net()
    y = net.op(top.PermuteOp, "y", (net.input("x", 1, 3, 4, 5),), order=[0, 2, 3, 1])
    module = net.module(y)
    function = main_of(module)
    returned = function.get_return_op()
    assert returned is not None
    assert shape_of(returned.operands[0]) == (1, 4, 5, 3)
    assert str(function.function_type.outputs.data[0]) == "tensor<1x4x5x3xf32>"


def test_global_pools_and_negative_axes_are_settled() -> None:
    net = Net()
    x = net.op(
        top.AvgPoolOp, "p", (net.input("x", 1, 3, 4, 5),), kernel_shape=[], strides=[], pads=[]
    )
    y = net.op(top.SoftmaxOp, "y", (x,), axis=-3)
    module = net.module(y)
    (pool,) = ops_of(module, top.AvgPoolOp)
    assert (ints(pool.kernel_shape), ints(pool.strides)) == ((4, 5), (1, 1))
    assert ops_of(module, top.SoftmaxOp)[0].axis.value.data == 1


def test_weights_of_lower_rank_align() -> None:
    net = Net()
    y = net.op(top.AddOp, "y", (net.input("x", 2, 4, 8), net.weight("w", 8)))
    (weight,) = ops_of(net.module(y), top.WeightOp)
    assert shape_of(weight.output) == (1, 1, 8)


def test_what_weights_alone_decide_is_computed() -> None:
    net = Net()
    w = net.op(top.SinOp, "s", (net.weight("w", 4, 8),))
    w = net.op(top.PermuteOp, "p", (w,), order=[1, 0])
    module = net.module(net.op(top.AddOp, "y", (net.input("x", 8, 4), w)))
    assert kinds(module) == ["Add"]
    assert weight_names(module) == ["p"]
    weights = weights_of(module)
    np.testing.assert_allclose(weights["p"], np.sin(weights["w"]).T, rtol=1e-6)


@pytest.mark.parametrize("kind", [top.ExpandOp, top.SinOp])
def test_expansions_and_results_are_not_folded(kind: type[Operation]) -> None:
    net = Net()
    w = net.weight("w", 1, 8)
    if kind is top.ExpandOp:
        w = net.op(top.ExpandOp, "e", (w,), shape=[4, 8])
        y = net.op(top.AddOp, "y", (net.input("x", 4, 8), w))
    else:
        y = net.op(top.SinOp, "y", (w,))
    assert ops_of(net.module(y), kind)


def test_rows_of_a_constant_table_by_constant_integers_are_folded() -> None:
    """Sums of integers are computed as such: 2^31 - 3, and the third row from the end."""
    module = parse_module("""
module @m attributes {module.state = "TOP_F32", module.weight_file = "w.npz"} {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2xsi32>) -> (tensor<2x3xf32>, tensor<2xsi32>) {
    %0 = "top.Input"(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("x")
    %1 = "top.Input"(%arg1) : (tensor<2xsi32>) -> tensor<2xsi32> loc("n")
    %2 = "top.Weight"() : () -> tensor<5x3xf32> loc("table")
    %3 = "top.Weight"() : () -> tensor<2xsi32> loc("one")
    %4 = "top.Weight"() : () -> tensor<2xsi32> loc("two")
    %5 = "top.Weight"() : () -> tensor<2xsi32> loc("places")
    %6 = "top.Add"(%3, %4) : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32> loc("sum")
    %7 = "top.Gather"(%2, %5) {axis = 0 : si32} : (tensor<5x3xf32>, tensor<2xsi32>) -> tensor<2x3xf32> loc("rows")
    %8 = "top.Add"(%0, %7) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("y")
    %9 = "top.Mul"(%1, %6) : (tensor<2xsi32>, tensor<2xsi32>) -> tensor<2xsi32> loc("z")
    return %8, %9 : tensor<2x3xf32>, tensor<2xsi32>
  }
}
""")  # noqa: E501
    table = np.arange(15, dtype=np.float32).reshape(5, 3)
    weights = Weights()
    weights.update({"table": table, "one": np.array([2**31 - 4, 1], np.int32)})
    weights.update({"two": np.ones(2, np.int32), "places": np.array([-3, 1], np.int32)})
    attach(module, weights)
    make_pass("shape-infer").apply(make_context(), module)
    assert kinds(module) == ["Add", "Mul"]
    assert weights["sum"].tolist() == [2**31 - 3, 2]
    assert weights["sum"].dtype == np.int32
    assert np.array_equal(weights["rows"], table[[2, 1]])


def test_unused_ops_go() -> None:
    net = Net()
    x = net.input("x", 4)
    net.op(top.SinOp, "unused", (x,))
    assert kinds(net.module(net.op(top.AbsOp, "y", (x,)))) == ["Abs"]


def test_tuples_are_taken_apart() -> None:
    net = Net()
    x, y = net.input("x", 2, 4), net.input("y", 3, 4)
    pair = net.op(top.TupleOp, "t", (x, y))
    joined = net.op(top.ConcatOp, "c", (pair,), axis=0)
    module = net.module(joined)
    assert kinds(module) == ["Concat"]
    assert shape_of(ops_of(module, top.ConcatOp)[0].output) == (5, 4)


def test_shapes_that_do_not_fit_name_the_op() -> None:
    net = Net()
    y = net.op(top.AddOp, "the sum", (net.input("x", 2, 3), net.input("y", 4, 3)))
    with pytest.raises(TpuError, match=r'top\.Add "the sum": cannot broadcast 2x3 with 4x3'):
        net.module(y)


def test_missing_weights_are_named() -> None:
    net = Net()
    y = net.op(top.SinOp, "s", (net.weight("w", 4),))
    y = net.op(top.AddOp, "y", (net.input("x", 4), y))
    del net.weights["w"]
    with pytest.raises(TpuError, match="no weight w"):
        net.module(y)
