"""Equal weights of ops that are alike: one of them, the same numbers, and fewer bytes loaded."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, ops_of
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top

SIZE = 192
"""Columns of a matrix of more than 64 KiB in f32."""


def layers(count: int, values: list[np.ndarray], *, relu_at: int = -1) -> ModuleOp:
    """Products one behind the other, each with a weight of its own."""
    net = Net()
    x = net.input("x", 1, 5, SIZE)
    for number in range(count):
        weight = net.weight(f"w{number}", SIZE, SIZE, values=values[number % len(values)])
        flag = {"do_relu": True} if number == relu_at else {}
        x = net.op(top.MatMulOp, f"y{number}", (x, weight, net.none), **flag)
    return net.module(x)


def numbers(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((SIZE, SIZE)).astype(np.float32) / SIZE


def weights_left(module: ModuleOp) -> int:
    return len(ops_of(assert_same_numbers(module, "share-weights"), top.WeightOp))


def test_layers_that_are_the_same_read_one_weight() -> None:
    assert weights_left(layers(4, [numbers(1)])) == 1
    assert weights_left(layers(4, [numbers(1), numbers(2)])) == 2


def test_numbers_that_differ_in_one_place_are_others() -> None:
    almost = numbers(1)
    almost[7, 9] += 1
    assert weights_left(layers(2, [numbers(1), almost])) == 2


def test_other_ops_keep_their_own() -> None:
    assert weights_left(layers(3, [numbers(1)], relu_at=1)) == 2


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_one_number_everywhere_is_no_sign_of_sharing(value: float) -> None:
    assert weights_left(layers(2, [np.full((SIZE, SIZE), value, np.float32)])) == 2
