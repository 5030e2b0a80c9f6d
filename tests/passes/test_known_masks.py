"""Choices by masks that say the same everywhere: what is chosen, with the same numbers."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.weights import weights_of

CANONICALIZE = "canonicalize"
SHAPE = (1, 2, 3, 4)
LOWEST = -3.4028234663852886e38


def chosen(net: Net, mask: SSAValue, holds: bool) -> SSAValue:
    """A value where the mask `holds` or does not, a number elsewhere."""
    branches = (net.input("x", *SHAPE), net.none)
    names = ("y_is_const", "y_const_val")
    if not holds:
        branches, names = branches[::-1], ("x_is_const", "x_const_val")
    options = {"x_is_const": False, "y_is_const": False, names[0]: True, names[1]: -5.0}
    return net.op(top.WhereOp, "where", (mask, *branches), **options)


@pytest.mark.parametrize(
    ("numbers", "holds", "is_known"),
    [
        ([1, 1, 1, 1], True, True),
        ([0.5, 2, -1, 1], True, True),
        ([0, 0, 0, 0], False, True),
        ([0, 0, 0, 0], True, False),
        ([1, 1, 1, 1], False, False),
        ([1, 1, 0, 1], True, False),
    ],
)
def test_a_mask_that_says_the_same_everywhere_chooses_a_value(
    numbers: list[float], holds: bool, is_known: bool
) -> None:
    """Numbers are true where they are not 0; a constant is no value."""
    net = Net()
    y = net.op(top.AbsOp, "y", (chosen(net, net.weight("mask", 1, 1, 1, 4), holds),))
    module = net.module(y)
    weights_of(module)["mask"] = np.array(numbers, np.float32).reshape(1, 1, 1, 4)
    after = assert_same_numbers(module, CANONICALIZE, tolerance=0)
    assert kinds(after) == (["Abs"] if is_known else ["Where", "Abs"])


@pytest.mark.parametrize("inversed", [False, True])
@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_a_fill_that_fills_nothing_is_none(truth: float, inversed: bool) -> None:
    net = Net()
    operands = (net.weight("mask", 1, 1, 1, 4), net.input("x", *SHAPE))
    filled = net.op(top.MaskedFillOp, "filled", operands, inversed=inversed, const_val=3.0)
    module = net.module(net.op(top.AbsOp, "y", (filled,)))
    weights_of(module)["mask"] = np.full((1, 1, 1, 4), truth, np.float32)
    after = assert_same_numbers(module, CANONICALIZE, tolerance=0)
    assert kinds(after) == (["Abs"] if bool(truth) is inversed else ["MaskedFill", "Abs"])


def test_what_is_repeated_stays() -> None:
    net = Net()
    operands = (net.weight("mask", 1, 1, 1, 4), net.input("x", 1, 2, 1, 4), net.input("z", *SHAPE))
    y = net.op(top.WhereOp, "where", operands, x_is_const=False, y_is_const=False)
    module = net.module(net.op(top.AbsOp, "y", (y,)))
    weights_of(module)["mask"] = np.ones((1, 1, 1, 4), np.float32)
    after = assert_same_numbers(module, CANONICALIZE, tolerance=0)
    assert kinds(after) == ["Where", "Abs"]


@pytest.mark.parametrize("as_weight", [False, True])
@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize(("low", "hides"), [(LOWEST, True), (-6e4, True), (-5.9e4, False)])
def test_hidden_scores_are_those_with_a_weight_added(
    low: float, hides: bool, holds: bool, as_weight: bool
) -> None:
    """The number may be an attribute or a tensor of one element, the mask what is seen or not."""
    net = Net()
    mask, x = net.weight("mask", 1, 1, 3, 4), net.input("x", *SHAPE)
    other = net.weight("low", 1) if as_weight else net.none
    branches = (x, other) if holds else (other, x)
    names = ("y_is_const", "y_const_val") if holds else ("x_is_const", "x_const_val")
    given = {} if as_weight else {names[0]: True, names[1]: low}
    options = {"x_is_const": False, "y_is_const": False} | given
    where = net.op(top.WhereOp, "where", (mask, *branches), **options)
    module = net.module(net.op(top.SoftmaxOp, "y", (where,), axis=3))
    seen = np.tril(np.ones((3, 4), np.float32), 1).reshape(1, 1, 3, 4)
    weights_of(module)["mask"] = seen if holds else 1 - seen
    if as_weight:
        weights_of(module)["low"] = np.array([low], np.float32)
    after = assert_same_numbers(module, CANONICALIZE)
    assert kinds(after) == (["Add", "Softmax"] if hides else ["Where", "Softmax"])


def test_a_row_of_hidden_keys_keeps_its_choice() -> None:
    net = Net()
    branches = (net.input("x", *SHAPE), net.none)
    options = {"x_is_const": False, "y_is_const": True, "y_const_val": LOWEST}
    where = net.op(top.WhereOp, "where", (net.weight("mask", 1, 1, 3, 4), *branches), **options)
    module = net.module(net.op(top.SoftmaxOp, "y", (where,), axis=3))
    weights_of(module)["mask"] = np.tril(np.ones((3, 4), np.float32), -1).reshape(1, 1, 3, 4)
    after = assert_same_numbers(module, CANONICALIZE)
    assert kinds(after) == ["Where", "Softmax"]
