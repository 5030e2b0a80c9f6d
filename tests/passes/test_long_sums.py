"""Sums of many numbers as means and lengths: the same numbers, within F16's reach."""

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

import xdsl_tpu as xt
from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.passes.calibration.ranges import Range, set_range
from xdsl_tpu.passes.pipeline import make_pass

PASS = "canonicalize"
TERMS = 8


def total(net: Net, x: SSAValue, mode: str = "ReduceSum") -> SSAValue:
    return net.op(top.ReduceOp, "total", (x,), axes=[2], keepdims=False, mode=mode)


def times(net: Net, x: SSAValue, factor: float, **more: bool) -> SSAValue:
    return net.op(top.MulConstOp, "times", (x,), const_val=factor, **more)


def modes(net: Net, y: SSAValue) -> tuple[list[str], list[str]]:
    """Ops, and the modes of Reduces, behind the pass."""
    after = assert_same_numbers(net.module(y), PASS)
    return kinds(after), [op.mode.data for op in ops_of(after, top.ReduceOp)]


@pytest.mark.parametrize(
    ("factor", "left"),
    [
        (1 / TERMS, ["Reduce"]),
        (1 / (TERMS - 1), ["Reduce", "MulConst"]),  # an unbiased variance
        (2 / TERMS, ["Reduce", "MulConst"]),
        (0.5 / TERMS, ["Reduce", "MulConst"]),
    ],
)
def test_a_sum_over_its_terms_is_a_mean(factor: float, left: list[str]) -> None:
    net = Net()
    found = modes(net, times(net, total(net, net.input("x", 2, 3, TERMS)), factor))
    assert found == (left, ["ReduceMean"])


@pytest.mark.parametrize("factor", [2.01 / TERMS, 0.49 / TERMS, -1 / TERMS, 3.0])
def test_other_factors_leave_a_sum(factor: float) -> None:
    net = Net()
    found = modes(net, times(net, total(net, net.input("x", 2, 3, TERMS)), factor))
    assert found == (["Reduce", "MulConst"], ["ReduceSum"])


def test_a_relu_keeps_its_op() -> None:
    net = Net()
    x = net.input("x", 2, 3, TERMS)
    found = modes(net, times(net, total(net, x), 1 / TERMS, do_relu=True))
    assert found == (["Reduce", "MulConst"], ["ReduceMean"])


def test_a_sum_that_is_read_elsewhere_stays() -> None:
    net = Net()
    sums = total(net, net.input("x", 2, 3, TERMS))
    _, found = modes(net, net.op(top.AddOp, "y", (times(net, sums, 1 / TERMS), sums)))
    assert found == ["ReduceSum"]


@pytest.mark.parametrize(
    ("mode", "factor", "left"),
    [
        ("ReduceSum", None, ["Reduce"]),
        ("ReduceSum", 3.0, ["Reduce", "MulConst"]),
        ("ReduceMean", None, ["Reduce", "MulConst"]),
        ("ReduceMean", TERMS / (TERMS - 1), ["Reduce", "MulConst"]),  # as a standard deviation
    ],
)
def test_a_root_of_squares_is_a_length(mode: str, factor: float | None, left: list[str]) -> None:
    net = Net()
    x = net.input("x", 2, 3, TERMS)
    squares = total(net, net.op(top.MulOp, "square", (x, x)), mode)
    if factor is not None:
        squares = times(net, squares, factor)
    assert modes(net, net.op(top.SqrtOp, "y", (squares,))) == (left, ["ReduceL2"])


def test_other_products_have_no_length() -> None:
    net = Net()
    x = net.op(top.AbsOp, "abs", (net.input("x", 2, 3, TERMS),))
    other = net.op(top.AbsOp, "other", (net.input("z", 2, 3, TERMS),))
    products = total(net, net.op(top.MulOp, "products", (x, other)))
    assert modes(net, net.op(top.SqrtOp, "y", (products,)))[1] == ["ReduceSum"]


def test_squares_that_are_read_elsewhere_stay() -> None:
    net = Net()
    x = net.input("x", 2, 3, TERMS)
    squares = net.op(top.MulOp, "square", (x, x))
    root = net.op(top.SqrtOp, "root", (total(net, squares),))
    wide = net.op(top.UnsqueezeOp, "wide", (root,), axes=[2])
    assert modes(net, net.op(top.AddOp, "y", (wide, squares)))[1] == ["ReduceSum"]


@pytest.mark.parametrize("large", [4.0, 300.0])
def test_a_deviation_of_large_numbers_in_f16(tmp_path: Path, large: float) -> None:
    """As PyTorch writes `x.std(-1)`: squares of 300 are beyond F16, and so are sums of 16s."""
    terms = 16384
    value = helper.make_tensor_value_info
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["mean"], axes=[2], keepdims=1),
        helper.make_node("Sub", ["x", "mean"], ["apart"]),
        helper.make_node("Mul", ["apart", "apart"], ["squares"]),
        helper.make_node("ReduceSum", ["squares", "axis"], ["total"], keepdims=0),
        helper.make_node("Div", ["total", "less"], ["variance"]),
        helper.make_node("Sqrt", ["variance"], ["y"]),
    ]
    constants = [
        numpy_helper.from_array(np.array([2], np.int64), "axis"),
        numpy_helper.from_array(np.array(terms - 1, np.float32), "less"),
    ]
    inputs = [value("x", TensorProto.FLOAT, [1, 8, terms])]
    outputs = [value("y", TensorProto.FLOAT, [1, 8])]
    graph = helper.make_graph(nodes, "deviation", inputs, outputs, constants)
    model = tmp_path / "deviation.onnx"
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    model.write_bytes(made.SerializeToString())
    x = np.random.default_rng(0).standard_normal((1, 8, terms), np.float32) * np.float32(large)
    found = xt.compile(model, quantize="F16").run({"x": x})["y"]
    np.testing.assert_allclose(found, x.std(2, ddof=1), rtol=2e-3)


def test_ranges_are_those_of_what_is_kept() -> None:
    """A calibrated sum's range is not its mean's."""
    net = Net()
    sums = total(net, net.input("x", 2, 3, TERMS))
    module = net.module(times(net, sums, 1 / TERMS))
    (sums,) = [op.output for op in ops_of(module, top.ReduceOp)]
    set_range(sums, Range(-8.0, 8.0))
    (factor,) = ops_of(module, top.MulConstOp)
    set_range(factor.output, Range(-1.0, 1.0))
    wanted = factor.output.type
    make_pass(PASS, "").apply(make_context(), module)
    (mean,) = ops_of(module, top.ReduceOp)
    assert mean.output.type == wanted
