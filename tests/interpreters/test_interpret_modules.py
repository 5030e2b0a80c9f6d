"""Running modules: names, errors, rounding of 16-bit types, structure, memory."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerType, TensorType, f32

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import SUPPORTED_OPS, run_module
from xdsl_tpu.dialects.interpreters.numerics.rounding import ROUND_MODES, to_bf16, to_f16
from xdsl_tpu.dialects.text import parse_module

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
Make = Callable[..., Array]

TWO_INPUTS = """
module {
  func.func @main(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
    %x = "top.Input"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("left")
    %y = "top.Input"(%b) : (tensor<3xf32>) -> tensor<3xf32> loc("right")
    %w = "top.Weight"() : () -> tensor<3xf32> loc("w")
    %s = "top.Add"(%x, %y, %w)
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32> loc("sum")
    %r = "top.Relu"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("relu")
    return %r : tensor<2x3xf32>
  }
}
"""


def left() -> Array:
    return np.arange(-3, 3, dtype=np.float32).reshape(2, 3)


def right() -> Array:
    return np.array([0.5, -0.5, 1], np.float32)


WEIGHTS = {"w": np.ones(3, np.float32)}


def test_inputs_by_name_or_in_order_and_outputs_by_name() -> None:
    module = parse_module(TWO_INPUTS)
    named = run_module(module, {"right": right(), "left": left()}, WEIGHTS)
    ordered = run_module(module, [left(), right()], WEIGHTS)
    assert list(named) == ["relu"]
    assert np.array_equal(named["relu"], np.maximum(left() + right() + 1, 0))
    assert np.array_equal(named["relu"], ordered["relu"])


def test_the_trace_sees_every_tensor_but_the_weights() -> None:
    seen: dict[str, Array] = {}
    run_module(parse_module(TWO_INPUTS), [left(), right()], WEIGHTS, seen.__setitem__)
    assert list(seen) == ["left", "right", "sum", "relu"]
    assert np.array_equal(seen["sum"], left() + right() + 1)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"left": left()}, "missing input 'right'; the module takes 'left', 'right'"),
        ({"left": left(), "right": right(), "more": right()}, "unknown input 'more'"),
        ([left()], "1 inputs given, the module takes 2"),
        ([left(), np.ones(4, np.float32)], r"'right' has shape \(4,\), the module takes \(3,\)"),
        ([left().astype(np.float64), right()], "'left' has elements of float64; convert it to fl"),
        ([left(), np.array(["a", "b", "c"])], "'right' has elements of <U1"),
        ([left(), np.array([1, np.nan, 2], np.float32)], "'right' contains NaN; pass allow_nan"),
    ],
)
def test_wrong_inputs_are_refused(inputs: Any, message: str) -> None:
    with pytest.raises(TpuError, match=message):
        run_module(parse_module(TWO_INPUTS), inputs, WEIGHTS)


def test_nan_and_integers_are_taken_where_meant() -> None:
    nan = np.array([1, np.nan, 2], np.float32)
    module = parse_module(TWO_INPUTS)
    found = run_module(module, [left(), nan], WEIGHTS, allow_nan=True)["relu"]
    assert np.isnan(found[:, 1]).all()
    assert not np.isnan(found[:, 0]).any()
    whole = run_module(module, [left().astype(np.int64), right()], WEIGHTS)["relu"]
    assert np.array_equal(whole, np.maximum(left() + right() + 1, 0))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (None, "weight_file"),
        ({}, r"top\.Weight at 'w': there is no weight of that name"),
        ({"w": np.ones(4, np.float32)}, r"top\.Weight at 'w': its type says 3, the stored array"),
    ],
)
def test_missing_or_odd_weights_are_named(weights: Any, message: str) -> None:
    with pytest.raises(TpuError, match=message):
        run_module(parse_module(TWO_INPUTS), [left(), right()], weights)


UNSUPPORTED = """
module {
  func.func @main(%a: tensor<1x3xf32>) -> tensor<1x3xf32> {
    %x = "top.Input"(%a) : (tensor<1x3xf32>) -> tensor<1x3xf32> loc("in")
    %y = "top.PoolMask"(%x) {scale = 2 : i64} : (tensor<1x3xf32>) -> tensor<1x3xf32> loc("mask")
    return %y : tensor<1x3xf32>
  }
}
"""


def test_an_op_without_semantics_is_named() -> None:
    with pytest.raises(TpuError, match=r"top\.PoolMask at 'mask' has no interpreter semantics"):
        run_module(parse_module(UNSUPPORTED), [np.ones((1, 3), np.float32)])


def test_a_mistake_in_the_module_is_located() -> None:
    text = TWO_INPUTS.replace('tensor<2x3xf32> loc("sum")', 'tensor<4x3xf32> loc("sum")')
    text = text.replace('"top.Relu"(%s) : (tensor<2x3xf32>)', '"top.Relu"(%s) : (tensor<4x3xf32>)')
    with pytest.raises(TpuError, match=r"top.Add at 'sum' on operands of 2x3, 3, 3: result 0"):
        run_module(parse_module(text), [left(), right()], WEIGHTS)


def test_a_module_without_main() -> None:
    with pytest.raises(TpuError, match="no function @main"):
        run_module(parse_module("module {}"), [])


ADDRESSED = """
module @net {
  module @net {
    func.func @main(%a: tensor<1x4xf32>) -> tensor<1x4xf32, 8192 : i64> {
      %x = "top.Input"(%a) : (tensor<1x4xf32>) -> tensor<1x4xf32, 4096 : i64> loc("input")
      %y = func.call @subfunc_0(%x)
          : (tensor<1x4xf32, 4096 : i64>) -> tensor<1x4xf32, 8192 : i64>
      return %y : tensor<1x4xf32, 8192 : i64>
    }
    func.func @subfunc_0(%b: tensor<1x4xf32, 4096 : i64>) -> tensor<1x4xf32, 8192 : i64> {
      %none = "top.None"() : () -> none
      %h = "tpu.Cast"(%b)
          : (tensor<1x4xf32, 4096 : i64>) -> tensor<1x4xf16, 5000 : i64> loc("input_f16")
      %g = "tpu.Group"(%h) ({
        %l = "tpu.Load"(%h) : (tensor<1x4xf16, 5000 : i64>) -> tensor<1x4xf16> loc("loaded")
        %m = "tpu.MulConst"(%l) {const_val = 0.1 : f64}
            : (tensor<1x4xf16>) -> tensor<1x4xf16> loc("tenth")
        %s = "tpu.Store"(%m, %none)
            : (tensor<1x4xf16>, none) -> tensor<1x4xf16, 6000 : i64> loc("tenth")
        "tpu.Yield"(%s) : (tensor<1x4xf16, 6000 : i64>) -> ()
      }) {csecs = 1 : i64, dsecs = 1 : i64, group_type = 0 : i64, hsecs = 1 : i64,
          nsecs = 1 : i64, swpipl_stage_num = 3 : i64, wsecs = 1 : i64}
          : (tensor<1x4xf16, 5000 : i64>) -> tensor<1x4xf16, 6000 : i64>
      %o = "tpu.Cast"(%g)
          : (tensor<1x4xf16, 6000 : i64>) -> tensor<1x4xf32, 8192 : i64> loc("tenth_f32")
      return %o : tensor<1x4xf32, 8192 : i64>
    }
  }
}
"""


def test_nested_modules_calls_and_groups() -> None:
    """Loads and stores copy whole tensors; every op between them rounds to 16 bits."""
    x = np.array([[1.0, 0.3, 70000.0, -2.0]], np.float32)
    seen: dict[str, Array] = {}
    (y,) = run_module(parse_module(ADDRESSED), {"input": x}, trace=seen.__setitem__).values()
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float16).astype(np.float32)
    assert np.array_equal(seen["input_f16"], rounded)
    expected = (rounded * np.float32(0.1)).astype(np.float16).astype(np.float32)
    assert np.array_equal(y, expected)
    assert "loaded" not in seen
    assert list(run_module(parse_module(ADDRESSED), [x])) == ["tenth_f32"]


def bits(values: Array) -> Array:
    return np.ascontiguousarray(values, np.float32).view(np.uint32)


@settings(max_examples=300, deadline=None)
@given(st.floats(width=32, allow_nan=False))
def test_bf16_is_the_nearest_and_even_of_two(value: float) -> None:
    """Against exact arithmetic on the two neighbouring bf16 numbers."""
    x = np.array([value], np.float32)
    found = to_bf16(x)
    assert bits(found)[0] & 0xFFFF == 0
    if not np.isfinite(value):
        assert found[0] == x[0]
        return
    low = (bits(x) & np.uint32(0xFFFF0000)).view(np.float32)
    with np.errstate(over="ignore"):
        high = ((bits(x) & np.uint32(0xFFFF0000)) + np.uint32(0x10000)).view(np.float32)
    if not np.isfinite(high[0]):
        return
    below, above = abs(float(x[0]) - float(low[0])), abs(float(high[0]) - float(x[0]))
    even = low if not bits(low)[0] & 0x10000 else high
    expected = low if below < above else high if above < below else even
    assert found[0] == expected[0]


def test_special_values_survive_rounding() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, -0.0, 3.4e38, 1e-45], np.float32)
    for rounding in (to_bf16, to_f16):
        with np.errstate(over="ignore"):
            found = rounding(odd)
        assert np.isnan(found[0])
        assert found[1:4].tolist() == [np.inf, -np.inf, 0.0]
        assert np.signbit(found[3])
        assert found[4] == np.inf
        assert found[5] == 0
    nan_payload = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(to_bf16(nan_payload)).all()


@pytest.mark.parametrize(
    ("element", "rounding"), [(Float16Type(), to_f16), (BFloat16Type(), to_bf16), (f32, np.array)]
)
def test_results_are_rounded_to_their_type(
    run_op: Run, normal: Make, element: Any, rounding: Callable[[Array], Array]
) -> None:
    """f32 inside an op, one rounding at its end: not of the product before the bias is added."""
    x, w, b = (normal(*shape, seed=i) for i, shape in enumerate([(3, 64), (64, 5), (5,)]))
    x, w = rounding(x), rounding(w)
    types = [TensorType(element, [3, 5])]
    (found,) = run_op(tpu.MatMulOp, [x, w, b, None, None], types)
    exact = x.astype(np.float64) @ w.astype(np.float64) + b
    spacing = {"f16": 2**-10, "bf16": 2**-7, "f32": 2**-20}[str(element)]
    assert np.array_equal(found, rounding(found))
    np.testing.assert_allclose(found, exact, rtol=0.51 * spacing, atol=1e-5)
    (clipped,) = run_op(tpu.MatMulOp, [x, w, b, None, None], types, do_relu=True, relu_limit=1.0)
    assert np.array_equal(clipped, np.clip(found, 0, 1))


def test_large_tensors_are_rounded_like_small_ones(run_op: Run, normal: Make) -> None:
    """Rounded block by block and in place, but never in an operand's memory."""
    x = normal(3, 100_000)
    kept = x.copy()
    for element, rounding in ((Float16Type(), to_f16), (BFloat16Type(), to_bf16)):
        types = [TensorType(element, x.shape)]
        (cast,) = run_op(tpu.CastOp, [x], types)
        assert np.array_equal(cast, rounding(x))
        (scaled,) = run_op(tpu.MulConstOp, [x], types, const_val=3.0)
        assert np.array_equal(scaled, rounding(x * 3))
        assert np.array_equal(x, kept)


def test_padding_is_rounded_too(run_op: Run, normal: Make) -> None:
    x = to_f16(normal(2, 3))
    (padded,) = run_op(
        tpu.PadOp,
        [x, None, None, None, None],
        [TensorType(Float16Type(), [2, 4])],
        Float16Type(),
        paddings=[0, 0, 0, 1],
        val=0.1,
        mode="constant",
    )
    assert np.array_equal(padded, to_f16(padded))
    assert np.array_equal(padded[:, :3], x)


def test_casts_to_integers_round_as_told_and_saturate(run_op: Run) -> None:
    x = np.array([0.5, -1.5, 2.5, 300.0, -300.0], np.float32)
    types = [TensorType(IntegerType(8), [5])]
    for mode, expected in {
        "HalfAwayFromZero": [1, -2, 3],
        "HalfToEven": [0, -2, 2],
        "HalfUp": [1, -1, 3],
        "HalfDown": [0, -2, 2],
        "HalfToOdd": [1, -1, 3],
        "HalfTowardsZero": [0, -1, 2],
        "TowardsZero": [0, -1, 2],
        "Up": [1, -1, 3],
        "Down": [0, -2, 2],
    }.items():
        (found,) = run_op(tpu.CastOp, [x], types, round_mode=mode)
        assert found.dtype == np.int8
        assert found.tolist() == [*expected, 127, -128], mode
    assert ROUND_MODES.keys() == {mode.value for mode in tpu.RoundMode}


def chain(length: int) -> str:
    type_ = "tensor<1024x1024xf32>"
    lines = [f'%0 = "top.Input"(%a) : ({type_}) -> {type_} loc("x")']
    for i in range(1, length + 1):
        lines.append(
            f'%{i} = "top.AddConst"(%{i - 1}) {{const_val = 1.0 : f64}} : ({type_}) -> {type_}'
            f' loc("y{i}")'
        )
    body = "\n".join(lines)
    return (
        f"module {{ func.func @main(%a: {type_}) -> {type_} {{ {body}\n"
        f"return %{length} : {type_} }} }}"
    )


def test_dead_values_are_let_go() -> None:
    """A chain of thirty 4 MB tensors needs a few of them at a time, not all."""
    module = parse_module(chain(30))
    x = np.zeros((1024, 1024), np.float32)
    tracemalloc.start()
    (y,) = run_module(module, [x]).values()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert y[0, 0] == 30
    assert peak < 5 * x.nbytes


def test_inputs_are_not_written_to(run_op: Run, normal: Make) -> None:
    x = normal(4, 6)
    kept = x.copy()
    x.flags.writeable = False
    run_op(tpu.SoftmaxOp, [x] + [None] * 5, [TensorType(f32, x.shape)], axis=1)
    run_op(tpu.ActiveOp, [x], [TensorType(f32, x.shape)], mode="GELU")
    assert np.array_equal(x, kept)


def test_both_dialects_are_largely_covered() -> None:
    names = {op.name for op in SUPPORTED_OPS}
    assert sum(name.startswith("top.") for name in names) >= 125
    assert sum(name.startswith("tpu.") for name in names) >= 85
