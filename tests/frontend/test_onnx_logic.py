"""Conditions joined with constants."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

Agree = Callable[..., ModuleOp]
Array = npt.NDArray[Any]
X = np.random.default_rng(3).standard_normal((2, 1, 6)).astype(np.float32)


def joined(agree: Agree, op: str, constant: Array, turned: bool) -> list[str]:
    """Names of the ops that compute x > 0 joined with a constant, chosen by a Where."""
    inputs = ["c", "b"] if turned else ["b", "c"]
    nodes = [
        helper.make_node("Greater", ["x", "zero"], ["b"]),
        helper.make_node(op, inputs, ["j"]),
        helper.make_node("Where", ["j", "one", "zero"], ["y"]),
    ]
    constants = {"zero": np.float32(0), "one": np.array(3, np.float32), "c": constant}
    module = agree(nodes, {"x": X}, {name: np.asarray(value) for name, value in constants.items()})
    return [op.name for op in module.walk()]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (2, 5, 1), (6,)], ids=str)
@pytest.mark.parametrize(("op", "neutral"), [("And", True), ("Or", False)])
def test_what_decides_nothing_goes(
    agree: Agree, op: str, neutral: bool, shape: tuple[int, ...], turned: bool
) -> None:
    names = joined(agree, op, np.full(shape, neutral), turned)
    assert "top.Weight" not in names


@pytest.mark.parametrize(("op", "neutral"), [("And", True), ("Or", False)])
def test_others_stay(agree: Agree, op: str, neutral: bool) -> None:
    """One number of the other kind decides where it stands."""
    constant = np.full((5, 1), neutral)
    constant[2] = not neutral
    names = joined(agree, op, constant, turned=False)
    assert names.count("top.Weight") == 1
    joined(agree, op, np.full((5, 1), not neutral), turned=True)
