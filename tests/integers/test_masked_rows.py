"""Rows of scores that a mask hides whole, in 16 bits: numbers, whatever the scores are.

A token of padding in front sees no other. Its row has equal shares, or such as its scores give;
a NaN there would be one in every row of the next layer.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from tests.integers.on_chip import Array, cosine, expected, found, model

RNG = np.random.default_rng(4)
ROWS, HIDDEN = 16, 3

WAYS = {
    "choice of a term": ("Cast m b", "Where b zero low a", "Add s a t"),
    "choice of a score": ("Cast m b", "Where b s low t"),
    "factor": ("Sub one m i", "Mul i low a", "Add s a t"),
}


def _node(op: str, *values: str) -> onnx.NodeProto:
    attributes: dict[str, Any] = {"to": onnx.TensorProto.BOOL} if op == "Cast" else {}
    return helper.make_node(op, values[:-1], values[-1:], values[-1], **attributes)


def attention(way: str, low: float) -> onnx.ModelProto:
    steps = ("MatMul q k s", *WAYS[way], "Softmax t p", "MatMul p v y")
    nodes = [_node(*step.split()) for step in steps]
    constants = {"zero": np.array(0), "one": np.array(1), "low": np.array(low)}
    floats = {name: value.astype(np.float32) for name, value in constants.items()}
    return model(nodes, inputs(1), floats, {"y": "float32"})


def inputs(size: float) -> dict[str, Array]:
    """Scores of about -16 times `size`; the first tokens are padding, and none sees a later one."""
    mask = np.tril(np.ones((ROWS, ROWS)))
    mask[:, :HIDDEN] = 0
    given = {
        "q": size * np.abs(RNG.standard_normal((2, ROWS, 16))) + size,
        "k": -np.abs(RNG.standard_normal((2, 16, ROWS))) - 1,
        "v": RNG.standard_normal((2, ROWS, 16)),
        "m": mask,
    }
    return {name: value.astype(np.float32) for name, value in given.items()}


@pytest.mark.parametrize("low", [np.finfo(np.float32).min, -65504.0, -1e9], ids=str)
@pytest.mark.parametrize("kind", ["F16", "BF16"])
@pytest.mark.parametrize("way", WAYS)
def test_hidden_rows_are_numbers(way: str, kind: str, low: float, tmp_path: Path) -> None:
    made, given = attention(way, float(low)), inputs(2.0)
    (value,), (reference,) = found(made, given, kind, tmp_path), expected(made, given)
    assert np.isfinite(value).all()
    seen = slice(HIDDEN, None)
    assert cosine(value[:, seen], reference[:, seen]) > 0.998
