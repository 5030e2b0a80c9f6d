"""Rows over their length, spelled in all ways: one norm, with the same numbers."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.pipelines import STAGES
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"
OPTIMIZE = "processor-top-optimize"
SHAPE = (2, 3, 5, 8)

Length = Callable[[Net, SSAValue], SSAValue]


def reduced(net: Net, x: SSAValue, mode: str, axis: int = -1, keepdims: bool = True) -> SSAValue:
    return net.op(top.ReduceOp, mode, (x,), axes=[axis], keepdims=keepdims, mode=mode)


def squares(net: Net, x: SSAValue, mode: str, power: bool = False) -> SSAValue:
    square = (
        net.op(top.PowOp, "square", (x,), exponent=2.0)
        if power
        else net.op(top.MulOp, "square", (x, x))
    )
    return reduced(net, square, mode)


def clipped(net: Net, x: SSAValue, least: float = 1e-12) -> SSAValue:
    length = reduced(net, x, "ReduceL2")
    return net.op(top.ClipOp, "clip", (length,), min=least, max=3.4028234663852886e38)


def root(net: Net, x: SSAValue, mode: str, epsilon: float, power: bool = False) -> SSAValue:
    total = squares(net, x, mode, power)
    if epsilon:
        total = net.op(top.AddConstOp, "added", (total,), const_val=epsilon)
    if power:
        return net.op(top.PowOp, "root", (total,), exponent=0.5)
    return net.op(top.SqrtOp, "root", (total,))


LENGTHS: dict[str, tuple[Length, bool]] = {
    "l2": (lambda net, x: reduced(net, x, "ReduceL2"), True),
    "clipped": (clipped, True),
    "largest": (
        lambda net, x: net.op(
            top.MaxConstOp, "max", (reduced(net, x, "ReduceL2"),), const_val=1e-8
        ),
        True,
    ),
    "added": (
        lambda net, x: net.op(
            top.AddConstOp, "sum", (reduced(net, x, "ReduceL2"),), const_val=1e-6
        ),
        True,
    ),
    "sum": (lambda net, x: root(net, x, "ReduceSum", 0.0), True),
    "sum and epsilon": (lambda net, x: root(net, x, "ReduceSum", 0.3), True),
    "powers": (lambda net, x: root(net, x, "ReduceSum", 0.3, power=True), True),
    "mean": (lambda net, x: root(net, x, "ReduceMean", 0.3), False),
}
"""A length, and whether it is that of the whole row."""


@pytest.mark.parametrize("name", list(LENGTHS))
@pytest.mark.parametrize("tiled", [False, True])
def test_division_by_a_length(name: str, tiled: bool) -> None:
    length, whole = LENGTHS[name]
    net = Net()
    x = net.input("x", *SHAPE)
    divisor = length(net, x)
    if tiled:
        divisor = net.op(top.ExpandOp, "tile", (divisor,), shape=list(SHAPE))
    after = assert_same_numbers(
        net.module(net.op(top.DivOp, "y", (x, divisor))), CANONICALIZE, tolerance=2e-6
    )
    assert kinds(after) == (["RMSNorm", "MulConst"] if whole else ["RMSNorm"])


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("form", ["Reciprocal", "Rsqrt"])
def test_product_with_an_inverse_and_a_weight(swapped: bool, form: str) -> None:
    """As language models have it: the weight becomes that of the norm."""
    net = Net()
    x = net.input("x", *SHAPE)
    if form == "Rsqrt":
        total = net.op(top.AddConstOp, "added", (squares(net, x, "ReduceMean"),), const_val=1e-5)
        inverse = net.op(top.RsqrtOp, "inverse", (total,))
    else:
        inverse = net.op(top.ReciprocalOp, "inverse", (root(net, x, "ReduceMean", 1e-5),))
    y = net.op(top.MulOp, "y", (inverse, x) if swapped else (x, inverse))
    y = net.op(top.MulOp, "z", (y, net.weight("w", SHAPE[-1])))
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["RMSNorm"]


def test_rows_of_zeros_stay_zeros() -> None:
    net = Net()
    x = net.op(top.MulConstOp, "zero", (net.input("x", *SHAPE),), const_val=0.0)
    y = net.op(top.DivOp, "y", (x, clipped(net, x)))
    assert "RMSNorm" in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


OTHERS: dict[str, Length] = {
    "another axis": lambda net, x: reduced(net, x, "ReduceL2", 2),
    "a sum": lambda net, x: reduced(net, x, "ReduceSum"),
    "a guard that alters short rows": lambda net, x: clipped(net, x, 1e-3),
    "a length of something else": lambda net, x: reduced(
        net, net.op(top.AbsOp, "a", (net.input("z", *SHAPE),)), "ReduceL2"
    ),
    "a product of two": lambda net, x: net.op(
        top.SqrtOp,
        "root",
        (reduced(net, net.op(top.MulOp, "m", (x, net.input("z", *SHAPE))), "ReduceSum"),),
    ),
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_what_is_no_norm_stays(name: str) -> None:
    net = Net()
    x = net.op(top.ExpOp, "x_exp", (net.input("x", *SHAPE),))
    y = net.op(top.DivOp, "y", (x, OTHERS[name](net, x)))
    after = kinds(assert_same_numbers(net.module(y), CANONICALIZE))
    assert "Div" in after
    assert "RMSNorm" not in after


def test_a_length_that_is_used_again_stays() -> None:
    net = Net()
    x = net.input("x", *SHAPE)
    length = clipped(net, x)
    module = net.module(net.op(top.DivOp, "y", (x, length)), length)
    assert "RMSNorm" not in kinds(assert_same_numbers(module, CANONICALIZE))


def test_a_weight_of_channels_is_not_the_norms() -> None:
    net = Net()
    x = net.input("x", *SHAPE)
    y = net.op(top.DivOp, "y", (x, root(net, x, "ReduceMean", 0.1)))
    y = net.op(top.MulOp, "z", (y, net.weight("w", 3, 1, 1)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["RMSNorm", "Scale"]


@pytest.mark.parametrize(("order", "moves"), [([0, 2, 1, 3], True), ([0, 1, 3, 2], False)])
def test_norms_go_before_permutes_of_heads(order: list[int], moves: bool) -> None:
    net = Net()
    x = net.op(top.PermuteOp, "p", (net.input("x", *SHAPE),), order=order)
    size = [SHAPE[axis] for axis in order][-1]
    y = net.op(top.RMSNormOp, "y", (x, net.weight("w", size)), eps=1e-5)
    after = kinds(assert_same_numbers(net.module(y), OPTIMIZE))
    assert after == (["RMSNorm", "Permute"] if moves else ["Permute", "RMSNorm"])


def scores(net: Net, rows: int, keys: int, shift: float = 0.0) -> SSAValue:
    """Products of heads' queries and keys, times a number for each head."""
    q = net.op(top.MulConstOp, "q", (net.input("q_in", 2, 3, rows, 8),), const_val=0.5)
    s = net.op(top.MatMulOp, "s", (q, net.input("k", 2, 3, 8, keys), net.none))
    values = np.full((1, 3, 1, 1), shift)
    return net.op(
        top.ScaleOp, "y", (s, net.weight("f", 1, 3, 1, 1), net.weight("t", values=values))
    )


def test_factors_of_scores_go_to_the_queries() -> None:
    net = Net()
    after = assert_same_numbers(net.module(scores(net, 6, 10)), OPTIMIZE)
    assert kinds(after) == ["Mul", "MatMul"]
    (product,) = ops_of(after, top.MulOp)
    assert shape_of(product.inputs[1]) == (1, 3, 1, 1)


@pytest.mark.parametrize(("keys", "shift"), [(8, 0.0), (10, 0.5)])
def test_factors_stay_with_few_scores_or_a_shift(keys: int, shift: float) -> None:
    net = Net()
    after = assert_same_numbers(net.module(scores(net, 6, keys, shift)), OPTIMIZE)
    assert kinds(after) == ["MulConst", "MatMul", "Conv"]


def test_what_equal_ops_hid_is_found_once_they_are_one() -> None:
    """The rows and their length are of two Permutes that do the same."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 2, 5, 3, 8),))
    one, two = (net.op(top.PermuteOp, name, (x,), order=[0, 2, 1, 3]) for name in ("p", "q"))
    length = net.op(top.ReduceOp, "r", (one,), axes=[3], keepdims=True, mode="ReduceL2")
    guarded = net.op(top.ClipOp, "c", (length,), min=1e-12, max=3e38)
    module = net.module(net.op(top.DivOp, "y", (two, guarded)))
    assert "RMSNorm" not in kinds(assert_same_numbers(module, "canonicalize,extra-optimize"))
    after = assert_same_numbers(module, ",".join(STAGES["top"]))
    assert kinds(after) == ["Abs", "Permute", "RMSNorm", "MulConst"]


def centered_rows(net: Net, x: SSAValue, epsilon: float = 1e-5, keepdims: bool = True) -> SSAValue:
    """A LayerNorm by its mean and variance."""
    center = net.op(top.SubOp, "center", (x, reduced(net, x, "ReduceMean")))
    square = net.op(top.MulOp, "square", (center, center))
    variance = net.op(
        top.ReduceOp, "variance", (square,), axes=[-1], keepdims=keepdims, mode="ReduceMean"
    )
    if not keepdims:
        variance = net.op(top.UnsqueezeOp, "back", (variance,), axes=[-1])
    added = net.op(top.AddConstOp, "added", (variance,), const_val=epsilon)
    inverse = net.op(top.RsqrtOp, "inverse", (added,))
    return net.op(top.MulOp, "y", (center, inverse))


@pytest.mark.parametrize("keepdims", [True, False])
def test_rows_less_their_mean_are_a_layer_norm(keepdims: bool) -> None:
    """A variance may lose its dimension and get it back."""
    net = Net()
    y = centered_rows(net, net.input("x", *SHAPE), keepdims=keepdims)
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "z", (y,))), CANONICALIZE)
    assert kinds(after) == ["LayerNorm", "Abs"]


@pytest.mark.parametrize(("groups", "moves"), [(2, True), (4, True), (8, False)])
def test_rows_of_whole_channels_are_groups(groups: int, moves: bool) -> None:
    net = Net()
    x = net.input("x", 2, 4, 5, 6)
    rows = net.op(top.ReshapeOp, "rows", (x,), shape=[2, groups, 120 // groups])
    y = net.op(top.ReshapeOp, "image", (centered_rows(net, rows),), shape=[2, 4, 5, 6])
    after = assert_same_numbers(net.module(net.op(top.AbsOp, "z", (y,))), CANONICALIZE)
    assert kinds(after) == (
        ["GroupNorm", "Abs"] if moves else ["Reshape", "LayerNorm", "Reshape", "Abs"]
    )
