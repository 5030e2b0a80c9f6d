"""Constants that f16 cannot hold: factors keep their ops in F32, masks saturate."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.integers.on_chip import Array, cosine, expected, found, model, notes

X = np.random.default_rng(0).standard_normal((1, 4, 8, 16)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((6, 4, 1, 1)).astype(np.float32)
M = np.random.default_rng(2).standard_normal((16, 16)).astype(np.float32)


def node(op: str, given: str, result: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, given.split(), result.split(), result, **attributes)


def number(value: float) -> Array:
    return np.array(value, np.float32)


def network(*nodes: onnx.NodeProto, **constants: Array) -> onnx.ModelProto:
    floats = {name: value.astype(np.float32) for name, value in constants.items()}
    return model([*nodes], {"x": X}, floats, {"y": "float32"})


HUGE, TINY = number(1e6), number(1e-9)

FACTORS = {
    "factor": network(node("Mul", "x c", "y"), c=HUGE),
    "divisor": network(node("Div", "x c", "y"), c=HUGE),
    "small factor": network(node("Mul", "x c", "y"), c=TINY),
    "term": network(node("Add", "x c", "y"), c=HUGE),
    "reversed term": network(node("Sub", "c x", "y"), c=HUGE),
    "weights of a product": network(node("MatMul", "x w", "y"), w=M * 1e5),
    "filter": network(node("Conv", "x w", "y"), w=W * 1e6),
    "channels": network(node("Mul", "x w", "y"), w=np.array([1e6, 1, 1, 1]).reshape(4, 1, 1)),
    "behind a product": network(node("MatMul", "x w", "p"), node("Mul", "p c", "y"), w=M, c=HUGE),
    "behind a filter": network(node("Conv", "x w", "p"), node("Mul", "p c", "y"), w=W, c=HUGE),
    "there and back": network(
        node("Mul", "x c", "a"),
        node("Relu", "a", "b"),
        node("Transpose", "b", "t", perm=[0, 2, 1, 3]),
        node("Mul", "t d", "y"),
        c=HUGE,
        d=number(1e-6),
    ),
    "into a norm": network(
        node("Mul", "x c", "a"), node("LayerNormalization", "a g", "y"), c=HUGE, g=np.ones(16)
    ),
    "weights of a norm": network(node("LayerNormalization", "x g", "y"), g=np.full(16, 1e6)),
    "small weights of a norm": network(
        node("LayerNormalization", "x g", "n"), node("Softmax", "n", "s", axis=-1),
        node("Mul", "n s", "y"), g=np.full(16, 1e-9),
    ),
    "filter of a deconvolution": network(
        node("ConvTranspose", "x w", "y"), w=np.swapaxes(W, 0, 1) * 1e6
    ),
    "slope": network(node("PRelu", "x w", "y"), w=np.full((4, 1, 1), 1e6)),
    "into a product": network(node("Mul", "x c", "a"), node("MatMul", "a w", "y"), c=HUGE, w=M),
    "into a Sigmoid": network(
        node("Mul", "x c", "a"), node("Mul", "a d", "b"), node("Sigmoid", "b", "y"),
        c=HUGE, d=number(1e-6),
    ),
    "of a choice": network(
        node("Greater", "x zero", "p"), node("Where", "p c x", "y"), zero=number(0), c=HUGE
    ),
    "comparison": network(
        node("Mul", "x c", "a"), node("Greater", "a d", "p"), node("Where", "p x zero", "y"),
        c=number(1e5), d=number(8e4), zero=number(0),
    ),
    "lower bound": network(node("Clip", "x c", "y"), c=HUGE),
    "norm of nothing": network(
        node("Relu", "x", "r"),
        node("Mul", "r zeros", "z"),
        node("ReduceL2", "z", "n", axes=[3]),
        node("Clip", "n least", "m"),
        node("Div", "z m", "y"),
        zeros=np.array([0, 1, 1, 1]).reshape(4, 1, 1),
        least=number(1e-12),
    ),
    "nothing and a little": network(
        node("Mul", "x zeros", "z"),
        node("ReduceL2", "z", "n", axes=[3]),
        node("Add", "n least", "m"),
        node("Div", "z m", "y"),
        zeros=np.array([0, 1, 1, 1]).reshape(4, 1, 1),
        least=number(1e-12),
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["F16", "INT8"])
@pytest.mark.parametrize("kind", FACTORS)
def test_numbers_are_those_of_f32(kind: str, mode: str, tmp_path: Path) -> None:
    made = FACTORS[kind]
    (value,), (reference,) = found(made, {"x": X}, mode, tmp_path), expected(made, {"x": X})
    assert np.isfinite(value).all()
    assert cosine(value, reference) > (0.9999 if mode == "F16" else 0.99)
    assert np.abs(value).max() == pytest.approx(np.abs(reference).max(), rel=0.03)


def attention(*mask: onnx.NodeProto, **constants: Array) -> onnx.ModelProto:
    """The last 4 of 16 are masked by `mask`, which makes `s` of the scores `p`."""
    keep = np.arange(16) < 12
    nodes = (node("MatMul", "x w", "p"), *mask, node("Softmax", "s", "y", axis=3))
    return network(*nodes, w=M, keep=keep, drop=~keep, **constants)


LOWEST = number(float(np.finfo(np.float32).min))
MASKS = {
    "weights": attention(
        node("Add", "p m", "s"), m=np.where(np.arange(16) < 12, 0, np.finfo(np.float32).min)
    ),
    "infinite weights": attention(
        node("Add", "p m", "s"), m=np.where(np.arange(16) < 12, 0, -np.inf)
    ),
    "choice": attention(
        node("Cast", "drop", "d", to=onnx.TensorProto.BOOL), node("Where", "d c p", "s"), c=LOWEST
    ),
    "factor": attention(
        node("Greater", "x far", "g"),
        node("Cast", "g", "f", to=onnx.TensorProto.FLOAT),
        node("Mul", "f c", "m"),
        node("Add", "p m", "s"),
        c=LOWEST,
        far=number(0.5),
    ),
}


@pytest.mark.parametrize("kind", MASKS)
def test_masks_stay_in_f16(kind: str, tmp_path: Path) -> None:
    made = MASKS[kind]
    (value,), (reference,) = found(made, {"x": X}, "F16", tmp_path), expected(made, {"x": X})
    assert cosine(value, reference) > 0.9999
    said = notes(made, "F16")
    assert not any("in F32" in line for line in said)
    assert any("65504 where more makes no difference" in line for line in said)


def test_what_is_said() -> None:
    made = network(node("Mul", "x c", "a"), node("Relu", "a", "y"), c=HUGE)
    said = "constants that F16 cannot hold keep ops in F32: 'y_Relu' (1e+06)"
    assert notes(made, "F16") == [said]
    assert notes(made, "F32") == notes(made, "BF16") == []


def test_small_terms_of_a_sum_stay_in_f16(tmp_path: Path) -> None:
    """As the branches of a network whose factors have not been trained."""
    made = network(node("Mul", "x c", "a"), node("Add", "a x", "y"), c=TINY)
    assert notes(made, "F16") == []
    assert cosine(found(made, {"x": X}, "F16", tmp_path)[0], X) > 0.9999


def small_products(bias: Array, convolved: bool = False) -> onnx.ModelProto:
    """Weights around 1e-6, as those of gates that have not been trained, beside a bias."""
    if convolved:
        return network(node("Conv", "x w b", "y"), w=W * 1e-6, b=bias[:6])
    return network(node("MatMul", "x w", "p"), node("Add", "p b", "y"), w=M * 1e-6, b=bias)


LEAST_BIAS = 2.0**-14 * 16**0.5
"""Of sums of 16 products."""


@pytest.mark.parametrize("convolved", [False, True])
@pytest.mark.parametrize("size", [1.0, LEAST_BIAS])
def test_small_products_fade_beside_their_bias(
    size: float, convolved: bool, tmp_path: Path
) -> None:
    made = small_products(np.where(np.arange(16) % 2, size, -size), convolved)
    assert notes(made, "F16") == []
    (value,), (reference,) = found(made, {"x": X}, "F16", tmp_path), expected(made, {"x": X})
    np.testing.assert_allclose(value, reference, rtol=2e-3)


@pytest.mark.parametrize("least", [0.0, 0.9 * LEAST_BIAS])
def test_small_products_beside_a_small_bias_stay_in_f32(least: float, tmp_path: Path) -> None:
    made = small_products(np.where(np.arange(16) == 5, least, 1.0))
    assert any("in F32" in line for line in notes(made, "F16"))
    (value,), (reference,) = found(made, {"x": X}, "F16", tmp_path), expected(made, {"x": X})
    np.testing.assert_allclose(value, reference, rtol=2e-3)
