"""The smaller passes between the lowering and the addresses."""

import numpy as np
import pytest
from tests.passes.lowering_samples import Sample, W, X, module_of, normal
from tests.passes.real_networks import apply
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.dialects.weights import Weights, attach, weights_of
from xdsl_tpu.passes.processor_tpu_optimize.group_conv import joined_filter

FOLDABLE = """
module @net attributes {module.state = "TPU_LOWERED", module.weight_file = "net.npz"} {
  func.func @main(%arg0: tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<3xf16>) {
    %n = "top.None"() : () -> none loc(unknown)
    %x = "top.Input"(%arg0) : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("x")
    %w = "top.Weight"() : () -> tensor<3xf32> loc("w")
    %v = "top.Weight"() : () -> tensor<3xf16> loc("v")
    %c = "tpu.Cast"(%w) : (tensor<3xf32>) -> tensor<3xf16> loc("c")
    %s = "tpu.Add"(%c, %v) : (tensor<3xf16>, tensor<3xf16>) -> tensor<3xf16> loc("s")
    %y = "tpu.Mul"(%x, %s) : (tensor<2x3xf16>, tensor<3xf16>) -> tensor<2x3xf16> loc("y")
    %z = "tpu.MulConst"(%v) {const_val = 2.0 : f64} : (tensor<3xf16>) -> tensor<3xf16> loc("z")
    return %y, %z : tensor<2x3xf16>, tensor<3xf16>
  }
}
"""


def foldable() -> ModuleOp:
    module = parse_module(FOLDABLE)
    weights = Weights()
    weights["w"] = np.array([0.1, 1 / 3, 1e6], np.float32)
    weights["v"] = np.array([1, 2, 3], np.float16)
    attach(module, weights)
    return module


def kinds(module: ModuleOp) -> list[str]:
    names = (op.name for op in module.walk())
    return [name for name in names if name.startswith(("tpu.", "top."))]


def test_weight_fold_computes_constants_once_and_drops_what_they_came_from() -> None:
    module = foldable()
    x = {"x": np.ones((2, 3), np.float32)}
    before = run_module(module, x)
    apply(module, ("weight-fold", ""))
    assert [name_of(op) for op in module.walk() if isinstance(op, top.WeightOp)] == ["v", "s"]
    assert set(weights_of(module)) == {"v", "s"}
    assert weights_of(module)["s"].dtype == np.float16
    for name, array in run_module(module, x).items():
        np.testing.assert_array_equal(array, before[name])


def test_weight_fold_leaves_what_the_function_returns() -> None:
    module = apply(foldable(), ("weight-fold", ""))
    assert "tpu.MulConst" in kinds(module)


def test_weight_fold_needs_numbers() -> None:
    module = parse_module(FOLDABLE)
    del module.attributes["module.weight_file"]
    before = kinds(module)
    assert kinds(apply(module, ("weight-fold", ""))) == before


@pytest.mark.parametrize(("group", "filters"), [(2, (4, 3, 2, 2)), (8, (16, 1, 3, 3))])
def test_group_convolution_as_dense_one_computes_the_same(
    group: int, filters: tuple[int, ...]
) -> None:
    channels = group * filters[1]
    attributes = {
        "kernel_shape": filters[2:],
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "group": group,
    }
    operands = [X(normal(1, channels, 6, 6)), W(normal(*filters)), None]
    module, inputs = module_of(Sample(top.ConvOp, operands, attributes))
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    (before,) = run_module(module, inputs).values()
    apply(module, ("processor-tpu-optimize", ""))
    (conv,) = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    assert conv.group.value.data == 1
    (after,) = run_module(module, inputs).values()
    np.testing.assert_allclose(after, before, atol=2e-3 * np.abs(before).max())


def test_dense_filter_is_zero_between_the_groups() -> None:
    dense = joined_filter(2, 2)(np.arange(1, 9).reshape(4, 2, 1, 1))
    assert dense.reshape(4, 4).tolist() == [
        [1, 2, 0, 0],
        [3, 4, 0, 0],
        [0, 0, 5, 6],
        [0, 0, 7, 8],
    ]


def test_joined_groups_have_zeros_beside_each_other_only() -> None:
    joined = joined_filter(4, 2)(np.arange(1, 9).reshape(4, 2, 1, 1))
    assert joined.reshape(4, 4).tolist() == [
        [1, 2, 0, 0],
        [0, 0, 3, 4],
        [5, 6, 0, 0],
        [0, 0, 7, 8],
    ]


REORDERED = """
module @net attributes {module.state = "TPU_REORDERED"} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %v = "top.Weight"() : () -> tensor<4xf32> loc("v")
    %w = "top.Weight"() : () -> tensor<4xf32> loc("w")
    %x = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
    %y = "top.Input"(%arg1) : (tensor<4xf32>) -> tensor<4xf32> loc("y")
    %a = "tpu.Mul"(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("a")
    %b = "tpu.Mul"(%y, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("b")
    %c = "tpu.Add"(%a, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("c")
    return %c, %b : tensor<4xf32>, tensor<4xf32>
  }
}
"""


def test_subnet_divide_keeps_inputs_outputs_and_their_names() -> None:
    module = parse_module(REORDERED)
    weights = {"w": np.arange(4, dtype=np.float32), "v": np.ones(4, np.float32)}
    inputs = {"x": np.full(4, 2, np.float32), "y": np.full(4, 5, np.float32)}
    before = run_module(module, inputs, weights)
    apply(module, ("subnet-divide", ""))
    for key, names in (("inputs", ["x", "y"]), ("outputs", ["c", "b"])):
        assert str(module.attributes[f"module.{key}"]) == str(names).replace("'", '"')
    main, subfunc = (op for op in module.walk() if isinstance(op, FuncOp))
    assert [op.name for op in main.body.block.ops] == [
        "top.Input",
        "top.Input",
        "func.call",
        "func.return",
    ]
    assert [name_of(argument) for argument in subfunc.body.block.args] == ["x", "y"]
    after = run_module(module, inputs, weights)
    assert list(after) == list(before)
    for name, array in after.items():
        np.testing.assert_array_equal(array, before[name])


def test_op_reorder_puts_each_weight_before_its_first_user() -> None:
    module = apply(parse_module(REORDERED), ("op-reorder", ""))
    names = [name_of(op) for op in module.walk() if op.results]
    assert names == ["x", "y", "w", "a", "v", "b", "c"]


def test_subnet_divide_refuses_what_it_cannot_divide() -> None:
    with pytest.raises(TpuError, match="dynamic=true is not supported"):
        apply(parse_module(REORDERED), ("subnet-divide", "dynamic=true"))
    with pytest.raises(TpuError, match="must hold one function"):
        apply(parse_module("module { }"), ("subnet-divide", ""))
    lowered = parse_module(REORDERED)
    lowered.attributes["module.state"] = StringAttr("TOP_F32")
    with pytest.raises(TpuError, match="in state TOP_F32, the pass needs TPU_REORDERED"):
        apply(lowered, ("subnet-divide", ""))


def test_a_returned_reshape_keeps_its_name() -> None:
    """It changes nothing, but the output is called after it."""
    text = """
    module @net attributes {module.state = "TPU_LOWERED"} {
      func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
        %x = "top.Input"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("x")
        %r = "tpu.Reshape"(%x) {shape = [4]} : (tensor<4xf32>) -> tensor<4xf32> loc("out")
        return %r : tensor<4xf32>
      }
    }"""
    module = apply(parse_module(text), ("processor-tpu-optimize", ""))
    assert kinds(module) == ["top.Input", "tpu.Reshape"]
