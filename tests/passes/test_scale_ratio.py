"""Attention that divides by sums over all keys: the same numbers, and none beyond F16."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.ir import SSAValue

import xdsl_tpu as xt
from xdsl_tpu.dialects import top
from xdsl_tpu.passes.scale_early.ratios import LONG

PASS = "scale-early"
HEADS, DEPTH, ROWS = 2, 4, 8


def positive(net: Net, name: str, *shape: int) -> SSAValue:
    """An operand whose sums are not near zero."""
    x = net.op(top.AbsOp, f"{name}_abs", (net.input(name, *shape),))
    return net.op(top.AddConstOp, f"{name}_more", (x,), const_val=0.5)


def product(net: Net, name: str, left: SSAValue, right: SSAValue, **more: bool) -> SSAValue:
    return net.op(top.MatMulOp, name, (left, right, net.none), **more)


def operands(net: Net, keys: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Queries, keys by columns, values."""
    q = positive(net, "q", 1, HEADS, ROWS, DEPTH)
    k = positive(net, "k", 1, HEADS, DEPTH, keys)
    return q, k, net.input("v", 1, HEADS, keys, DEPTH)


def total(net: Net, keys: SSAValue) -> SSAValue:
    return net.op(top.ReduceOp, "total", (keys,), axes=[3], keepdims=True, mode="ReduceSum")


def divided(net: Net, keys: int = LONG) -> SSAValue:
    q, k, v = operands(net, keys)
    below = product(net, "below", q, total(net, k))
    guarded = net.op(top.AddConstOp, "guarded", (below,), const_val=1e-6)
    return net.op(top.DivOp, "y", (product(net, "above", q, product(net, "kv", k, v)), guarded))


def by_reciprocal(net: Net, keys: int = LONG) -> SSAValue:
    q, k, v = operands(net, keys)
    below = product(net, "below", q, total(net, k))
    inverse = net.op(top.ReciprocalOp, "inverse", (below,), const_val=1.0)
    flat = net.op(top.ReshapeOp, "flat", (inverse,), shape=[1, HEADS, ROWS])
    wide = net.op(top.UnsqueezeOp, "wide", (flat,), axes=[3])
    return net.op(top.MulOp, "y", (wide, product(net, "above", q, product(net, "kv", k, v))))


def one_product(net: Net, keys: int = LONG, again: bool = False) -> SSAValue:
    """The last column of the values is 1."""
    q, k, _ = operands(net, keys)
    values = positive(net, "v1", 1, HEADS, keys, DEPTH + 1)
    both = product(net, "both", q, product(net, "kv", k, values))

    def columns(name: str, first: int, end: int) -> SSAValue:
        bounds = {"axes": [3], "offset": [first], "ends": [end], "steps": [1]}
        return net.op(top.SliceOp, name, (both, *[net.none] * 3), **bounds)

    above, below = columns("above", 0, DEPTH), columns("below", DEPTH, DEPTH + 1)
    y = net.op(top.DivOp, "y", (above, below))
    return net.op(top.AddOp, "z", (y, above)) if again else y


@pytest.mark.parametrize("build", [divided, by_reciprocal, one_product])
def test_both_terms_are_scaled(build: Callable[[Net], SSAValue]) -> None:
    net = Net()
    before = net.module(build(net))
    plain = kinds(before).count("MulConst")
    after = assert_same_numbers(before, PASS)
    # a factor for each matrix that is smaller than the queries are
    assert kinds(after).count("MulConst") - plain == (1 if build is one_product else 2)


@pytest.mark.parametrize("build", [divided, by_reciprocal, one_product])
def test_short_sums_stay(build: Callable[[Net, int], SSAValue]) -> None:
    net = Net()
    assert "MulConst" not in kinds(assert_same_numbers(net.module(build(net, LONG - 1)), PASS))


def read_elsewhere(net: Net) -> SSAValue:
    return one_product(net, again=True)


def nothing_in_common(net: Net) -> SSAValue:
    q, k, v = operands(net, LONG)
    other = positive(net, "other", 1, HEADS, ROWS, DEPTH)
    above = product(net, "above", other, product(net, "kv", k, v))
    return net.op(top.DivOp, "y", (above, product(net, "below", q, total(net, k))))


def with_relu(net: Net) -> SSAValue:
    q, k, v = operands(net, LONG)
    above = product(net, "above", q, product(net, "kv", k, v))
    below = product(net, "below", q, total(net, k), do_relu=True)
    return net.op(top.DivOp, "y", (above, below))


def the_other_way(net: Net) -> SSAValue:
    q, k, v = operands(net, LONG)
    above = product(net, "above", q, product(net, "kv", k, v))
    given = (product(net, "below", q, total(net, k)), above)
    return net.op(top.DivOp, "y", given, is_reverse=True)


@pytest.mark.parametrize("build", [read_elsewhere, nothing_in_common, with_relu, the_other_way])
def test_what_is_no_ratio_stays(build: Callable[[Net], SSAValue]) -> None:
    net = Net()
    assert "MulConst" not in kinds(assert_same_numbers(net.module(build(net)), PASS))


def test_sums_that_f16_does_not_hold(tmp_path: Path) -> None:
    """1,024 keys near 3 add up to 3,000, and 32 products of those with queries near 3 to more than
    65,504: what was divided by infinity was 0."""
    keys, depth = 1024, 32
    value = helper.make_tensor_value_info
    shapes = {"q": [1, 2, 16, depth], "k": [1, 2, depth, keys], "v": [1, 2, keys, depth]}
    nodes = [
        helper.make_node("ReduceSum", ["k", "axis"], ["total"], keepdims=1),
        helper.make_node("MatMul", ["q", "total"], ["below"]),
        helper.make_node("MatMul", ["k", "v"], ["kv"]),
        helper.make_node("MatMul", ["q", "kv"], ["above"]),
        helper.make_node("Div", ["above", "below"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "linear",
        [value(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [value("y", TensorProto.FLOAT, [1, 2, 16, depth])],
        [numpy_helper.from_array(np.array([3], np.int64), "axis")],
    )
    model = tmp_path / "linear.onnx"
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    model.write_bytes(made.SerializeToString())
    random = np.random.default_rng(0)
    given = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    given["q"], given["k"] = np.abs(given["q"]) + 2, np.abs(given["k"]) + 2
    found = xt.compile(model, quantize="F16").run(given)["y"]
    wanted = given["q"] @ (given["k"] @ given["v"]) / (given["q"] @ given["k"].sum(3)[..., None])
    assert np.abs(found - wanted).max() < 0.01 * np.abs(wanted).max()
