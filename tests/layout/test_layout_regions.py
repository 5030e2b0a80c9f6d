"""Branches and loops: the same numbers with fewer transpositions, captured values included."""

import numpy as np
import pytest
from tests.passes.semantics import random_array
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.text import make_context, module_text, parse_module
from xdsl_tpu.dialects.weights import WEIGHT_FILE, Weights, attach
from xdsl_tpu.passes.layout.count import transpositions
from xdsl_tpu.passes.pipeline import make_pass

FIRST, LAST = "tensor<1x4x5x6xf32>", "tensor<1x5x6x4xf32>"
CONV = "{kernel_shape = [1, 1], pads = [0, 0, 0, 0], strides = [1, 1]}"
SHAPES = {"w": (4, 4, 1, 1), "b": (1, 5, 6, 4)}


def conv(result: str, operand: str) -> str:
    return (
        f'{result} = "top.Conv"({operand}, %w, %n) {CONV} : ({FIRST}, tensor<4x4x1x1xf32>, none) '
        f'-> {FIRST} loc("{result[1:]}")\n'
    )


def permute(result: str, operand: str, to_last: bool) -> str:
    order, one, other = ("0, 2, 3, 1", FIRST, LAST) if to_last else ("0, 3, 1, 2", LAST, FIRST)
    kind = f"{{order = [{order}]}} : ({one}) -> {other}"
    return f'{result} = "top.Permute"({operand}) {kind} loc("{result[1:]}")\n'


HEAD = f"""
func.func @main(%a: {LAST}, %s: tensor<1xf32>) -> {LAST} {{
  %n = "top.None"() : () -> none
  %w = "top.Weight"() : () -> tensor<4x4x1x1xf32> loc("w")
  %b = "top.Weight"() : () -> {LAST} loc("b")
  %x = "top.Input"(%a) : ({LAST}) -> {LAST} loc("x")
  %c = "top.Input"(%s) : (tensor<1xf32>) -> tensor<1xf32> loc("c")
"""

BRANCH = (
    HEAD
    + permute("%t", "%x", False)
    + conv("%k", "%t")
    + permute("%l", "%k", True)
    + '%i = "top.If"(%c) ({\n'
    + f'%p = "top.Add"(%l, %b) : ({LAST}, {LAST}) -> {LAST} loc("p")\n'
    + f'"top.Yield"(%p) : ({LAST}) -> () loc("y1")\n}}, {{\n'
    + permute("%q", "%l", False)
    + conv("%r", "%q")
    + permute("%u", "%r", True)
    + f'"top.Yield"(%u) : ({LAST}) -> () loc("y2")\n}}) : (tensor<1xf32>) -> {LAST} loc("i")\n'
    + permute("%v", "%i", False)
    + conv("%z", "%v")
    + permute("%y", "%z", True)
    + f"return %y : {LAST}\n}}"
)
"""Both branches capture %l, which a convolution made."""

LOOP = (
    HEAD
    + permute("%t", "%x", False)
    + conv("%k", "%t")
    + permute("%l", "%k", True)
    + '%one = "top.Weight"() : () -> tensor<1xf32> loc("one")\n'
    + '%i = "top.Loop"(%c, %one, %x) ({\n'
    + f"^bb0(%it: tensor<1xf32>, %go: tensor<1xf32>, %m: {LAST}):\n"
    + permute("%q", "%m", False)
    + conv("%r", "%q")
    + permute("%u", "%r", True)
    + f'%p = "top.Add"(%u, %l) : ({LAST}, {LAST}) -> {LAST} loc("p")\n'
    + f'"top.Yield"(%go, %p) : (tensor<1xf32>, {LAST}) -> () loc("y1")\n'
    + f'}}) : (tensor<1xf32>, tensor<1xf32>, {LAST}) -> {LAST} loc("i")\n'
    + f'%y = "top.Relu"(%i) : ({LAST}) -> {LAST} loc("y")\n'
    + f"return %y : {LAST}\n}}"
)
"""The body captures %l and carries what starts as the input."""


def module_of(text: str) -> ModuleOp:
    module = parse_module(text)
    weights = Weights()
    for name, shape in SHAPES.items():
        weights[name] = random_array(name, shape) / 2
    weights["one"] = np.ones(1, np.float32)
    module.attributes[WEIGHT_FILE] = StringAttr("w.npz")
    attach(module, weights)
    module.verify()
    return module


@pytest.mark.parametrize("one", ["cost=count", "cost=bytes", "strategy=greedy", "target=NHWC"])
@pytest.mark.parametrize(
    ("text", "before", "after", "scalars"),
    [(BRANCH, 6, 2, (0.0, 1.0)), (LOOP, 4, 2, (0.0, 1.0, 3.0))],
    ids=["branch", "loop"],
)
def test_numbers_stay(
    text: str, before: int, after: int, scalars: tuple[float, ...], one: str
) -> None:
    plain, moved = module_of(text), module_of(text)
    assert transpositions(plain).count == before
    make_pass("transfer-layout", one).apply(make_context(), moved)
    moved.verify()
    if "greedy" not in one:
        assert transpositions(moved).count == after, module_text(moved)
    x = random_array("x", (1, 5, 6, 4))
    for scalar in scalars:
        inputs = {"x": x, "c": np.array([scalar], np.float32)}
        (expected,), (found,) = (list(run_module(m, inputs).values()) for m in (plain, moved))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_loop_stops_and_collects() -> None:
    """The meaning of a loop itself: a limit, a condition, a carried value, a scan output."""
    text = """
func.func @main(%a: tensor<2xf32>, %b: tensor<1xf32>, %c: tensor<1xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) {
  %x = "top.Input"(%a) : (tensor<2xf32>) -> tensor<2xf32> loc("x")
  %m = "top.Input"(%b) : (tensor<1xf32>) -> tensor<1xf32> loc("m")
  %k = "top.Input"(%c) : (tensor<1xf32>) -> tensor<1xf32> loc("k")
  %r, %s = "top.Loop"(%m, %k, %x) ({
  ^bb0(%i: tensor<1xf32>, %go: tensor<1xf32>, %v: tensor<2xf32>):
    %d = "top.Add"(%v, %i) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32> loc("d")
    %g = "top.CompareConst"(%i) {mode = "Less", const_val = 3.0 : f64, inversed = false} : (tensor<1xf32>) -> tensor<1xf32> loc("g")
    "top.Yield"(%g, %d, %v) : (tensor<1xf32>, tensor<2xf32>, tensor<2xf32>) -> () loc("e")
  }) : (tensor<1xf32>, tensor<1xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>) loc(fused["r", "s"])
  return %r, %s : tensor<2xf32>, tensor<?x2xf32>
}
"""  # noqa: E501
    module = parse_module(text)
    start = np.array([1.0, 2.0], np.float32)
    for limit, condition, ways in ((2, 1, [0, 0]), (9, 1, [0, 0, 1, 3]), (5, 0, [])):
        given = (start, np.full(1, limit, np.float32), np.full(1, condition, np.float32))
        last, slices = run_module(module, given).values()
        total = sum(range(len(ways)))
        np.testing.assert_array_equal(last, start + total)
        np.testing.assert_array_equal(slices, [start + way for way in ways] or np.zeros((0, 2)))
