"""Patterns of sums, products and per-channel maps: what they make, and that numbers stay."""

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"


def test_weight_moves_to_the_right_of_an_add() -> None:
    net = Net()
    w, x = net.weight("w", 4, 8), net.input("x", 4, 8)
    after = assert_same_numbers(net.module(net.op(top.AddOp, "y", (w, x))), CANONICALIZE)
    (add,) = ops_of(after, top.AddOp)
    assert isinstance(add.inputs[1].owner, top.WeightOp)


def test_weights_with_coefficients_stay_on_their_side() -> None:
    net = Net()
    w, x = net.weight("w", 4, 8), net.input("x", 4, 8)
    sum_ = net.op(top.AddOp, "y", (w, x), coeff=[2.0, 1.0])
    (add,) = ops_of(assert_same_numbers(net.module(sum_), CANONICALIZE), top.AddOp)
    assert isinstance(add.inputs[0].owner, top.WeightOp)


def test_channel_weight_makes_a_scale() -> None:
    net = Net()
    x = net.input("x", 2, 4, 3, 3)
    y = net.op(top.AddOp, "y", (x, net.weight("w", 4, 1, 1)), do_relu=True, relu_limit=0.5)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Scale"]


def test_weight_of_the_last_dimension_makes_no_scale() -> None:
    """96 elements along the last of 1x96x96 are not 96 channels."""
    net = Net()
    x = net.input("x", 1, 96, 96)
    y = net.op(top.AddOp, "y", (x, net.weight("w", 96)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Add"]


@pytest.mark.parametrize(
    ("number", "relu", "expected"),
    [
        (0.5, False, ["AddConst"]),
        (0.0, False, []),
        (0.0, True, ["AddConst"]),
    ],
)
def test_one_element_becomes_a_constant(number: float, relu: bool, expected: list[str]) -> None:
    net = Net()
    x = net.op(top.AbsOp, "x_abs", (net.input("x", 4, 8),))
    y = net.op(top.AddOp, "y", (x, net.weight("w", values=[number])), do_relu=relu)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Abs", *expected]


def test_equal_elements_are_one_constant() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    y = net.op(top.AddOp, "y", (x, net.weight("w", values=np.full(8, 3.0))))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["AddConst"]


def test_equal_elements_that_broadcast_stay() -> None:
    """The weight makes the result larger than x, so it is more than a number."""
    net = Net()
    x = net.input("x", 1, 8)
    y = net.op(top.AddOp, "y", (x, net.weight("w", values=np.full((4, 8), 3.0))))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Add"]


@pytest.mark.parametrize("coeff", [None, [1.0, -2.0]])
def test_two_adds_of_weights_are_one(coeff: list[float] | None) -> None:
    net = Net()
    x = net.input("x", 4, 8)
    attributes = {} if coeff is None else {"coeff": coeff}
    inner = net.op(top.AddOp, "inner", (x, net.weight("w1", 1, 8)), **attributes)
    y = net.op(top.AddOp, "y", (inner, net.weight("w2", 4, 8)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Add"]


def test_adds_with_a_relu_between_stay_two() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    inner = net.op(top.AddOp, "inner", (x, net.weight("w1", 4, 8)), do_relu=True)
    y = net.op(top.AddOp, "y", (inner, net.weight("w2", 4, 8)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Add", "Add"]


def test_operands_of_an_add_get_one_rank() -> None:
    net = Net()
    x, row = net.input("x", 2, 4, 8), net.input("row", 8)
    after = assert_same_numbers(net.module(net.op(top.AddOp, "y", (x, row))), CANONICALIZE)
    assert kinds(after) == ["Reshape", "Add"]


def test_product_with_its_sigmoid_is_silu() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 8),))
    y = net.op(top.MulOp, "y", (net.op(top.SigmoidOp, "s", (x,)), x))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs", "SiLU"]


def test_sigmoid_that_is_used_again_stays() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    sigmoid = net.op(top.SigmoidOp, "s", (x,))
    y = net.op(top.MulOp, "y", (x, sigmoid))
    assert kinds(assert_same_numbers(net.module(y, sigmoid), CANONICALIZE)) == ["Sigmoid", "Mul"]


def test_factors_meet_and_vanish() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    for index, factor in enumerate((4.0, 0.5, 0.5)):
        x = net.op(top.MulOp, f"m{index}", (x, net.weight(f"w{index}", values=[factor])))
    y = net.op(top.AbsOp, "y", (x,))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs"]


def test_channel_factor_makes_a_scale_only_in_four_dimensions() -> None:
    for shape, expected in (((2, 4, 3, 3), "Scale"), ((2, 4, 3), "Mul")):
        net = Net()
        x = net.input("x", *shape)
        y = net.op(top.MulOp, "y", (x, net.weight("w", 1, 4, *(1 for _ in shape[2:]))))
        assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == [expected]


def test_a_factor_for_each_head_of_products_makes_no_scale() -> None:
    for kind, expected in ((top.MulOp, "Mul"), (top.AddOp, "Add")):
        net = Net()
        x = net.input("x", 1, 4, 3, 6)
        scores = net.op(top.MatMulOp, "scores", (x, x, net.none), right_transpose=True)
        half = net.op(top.MulConstOp, "half", (scores,), const_val=0.5)
        y = net.op(kind, "y", (half, net.weight("w", 1, 4, 1, 1)))
        assert expected in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


def test_products_of_weights_are_one() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    inner = net.op(top.MulOp, "inner", (x, net.weight("w1", 1, 8)))
    y = net.op(top.MulOp, "y", (inner, net.weight("w2", 4, 8)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Mul"]


@pytest.mark.parametrize("halved", ["value", "sum", "product"])
def test_gelu_spelled_out(halved: str) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 8),))
    erf = net.op(top.ErfOp, "erf", (net.op(top.MulConstOp, "m", (x,), const_val=0.5**0.5),))
    plus = net.op(top.AddConstOp, "plus", (erf,), const_val=1.0)
    half = {"const_val": 0.5}
    if halved == "value":
        y = net.op(top.MulOp, "y", (net.op(top.MulConstOp, "h", (x,), **half), plus))
    elif halved == "sum":
        y = net.op(top.MulOp, "y", (net.op(top.MulConstOp, "h", (plus,), **half), x))
    else:
        y = net.op(top.MulConstOp, "y", (net.op(top.MulOp, "p", (x, plus)),), **half)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs", "GELU"]


def test_gelu_halved_twice_is_none() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 8),))
    erf = net.op(top.ErfOp, "erf", (net.op(top.MulConstOp, "m", (x,), const_val=0.5**0.5),))
    plus = net.op(top.AddConstOp, "plus", (erf,), const_val=1.0)
    halves = [net.op(top.MulConstOp, f"h{i}", (v,), const_val=0.5) for i, v in enumerate((x, plus))]
    y = net.op(top.MulOp, "y", halves)
    assert "GELU" not in kinds(assert_same_numbers(net.module(y), CANONICALIZE))


@pytest.mark.parametrize("bias", [True, False])
def test_factor_goes_into_the_weights_of_a_matmul(bias: bool) -> None:
    net = Net()
    x = net.input("x", 2, 4, 8)
    b = net.weight("b", 6) if bias else net.none
    product = net.op(top.MatMulOp, "p", (x, net.weight("w", 8, 6), b))
    flat = net.op(top.ReshapeOp, "r", (product,), shape=[8, 6])
    y = net.op(top.MulConstOp, "y", (flat,), const_val=-3.0)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul", "Reshape"]


@pytest.mark.parametrize(
    ("factor", "limit", "merged"),
    [
        (3.0, -1.0, True),
        (-3.0, -1.0, False),
        (3.0, 6.0, False),
    ],
)
def test_factor_passes_a_relu_when_it_keeps_signs(
    factor: float, limit: float, merged: bool
) -> None:
    net = Net()
    x, w = net.input("x", 1, 3, 5, 5), net.weight("w", 4, 3, 1, 1)
    conv = net.op(
        top.ConvOp,
        "c",
        (x, w, net.none),
        kernel_shape=[1, 1],
        strides=[1, 1],
        pads=[0, 0, 0, 0],
        do_relu=True,
        relu_limit=limit,
    )
    y = net.op(top.MulConstOp, "y", (conv,), const_val=factor)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == (["Conv"] if merged else ["Conv", "MulConst"])


def test_quotient_by_a_weight_is_a_product() -> None:
    net = Net()
    x = net.input("x", 4, 8)
    y = net.op(top.DivOp, "y", (x, net.weight("w", 4, 8)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Mul"]


def test_quotient_by_zero_stays() -> None:
    net = Net()
    y = net.op(top.DivOp, "y", (net.input("x", 2), net.weight("w", values=[1.0, 0.0])))
    after = net.module(y)
    before = kinds(after)
    assert before == ["Div"]


def test_softsign_spelled_out() -> None:
    net = Net()
    x = net.op(top.SinOp, "s", (net.input("x", 4, 8),))
    bottom = net.op(top.AddConstOp, "b", (net.op(top.AbsOp, "a", (x,)),), const_val=1.0)
    y = net.op(top.DivOp, "y", (x, bottom))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Sin", "Softsign"]


@pytest.mark.parametrize(("exponent", "expected"), [(2.0, "Mul"), (0.5, "Sqrt"), (3.0, "Pow")])
def test_powers(exponent: float, expected: str) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 4, 8),))
    y = net.op(top.PowOp, "y", (x,), exponent=exponent)
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["Abs", expected]


@pytest.mark.parametrize(("kind", "expected"), [(top.MaxOp, "MaxConst"), (top.MinOp, "MinConst")])
def test_maximum_with_a_number(kind: type[NamedOp], expected: str) -> None:
    net = Net()
    y = net.op(kind, "y", (net.weight("w", values=[0.25]), net.input("x", 4, 8)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == [expected]


@pytest.mark.parametrize("swapped", [False, True])
def test_comparison_with_a_number(swapped: bool) -> None:
    net = Net()
    x, w = net.input("x", 4, 8), net.weight("w", values=[0.25])
    y = net.op(top.CompareOp, "y", (w, x) if swapped else (x, w), mode="Less")
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["CompareConst"]


def test_difference_with_a_number() -> None:
    net = Net()
    y = net.op(top.SubOp, "y", (net.input("x", 4, 8), net.weight("w", values=[0.25])))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["AddConst"]


def test_batch_norm_is_a_scale_and_scales_merge() -> None:
    net = Net()
    x = net.input("x", 2, 4, 3, 3)
    positive = net.weight("var", values=[0.5, 1.0, 2.0, 4.0])
    norm = net.op(
        top.BatchNormOp,
        "n",
        (x, net.weight("mean", 4), positive, net.weight("gamma", 4), net.none),
        epsilon=1e-3,
    )
    y = net.op(top.MulOp, "y", (norm, net.weight("w", 1, 4, 1, 1)))
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Scale"]


def test_constants_around_a_scale_go_into_it() -> None:
    net = Net()
    x = net.op(top.MulConstOp, "m", (net.input("x", 2, 4, 3, 3),), const_val=3.0)
    x = net.op(top.AddConstOp, "a", (x,), const_val=-1.0)
    x = net.op(top.ScaleOp, "s", (x, net.weight("sw", 4), net.weight("sb", 4)))
    x = net.op(top.AddConstOp, "a2", (x,), const_val=0.5)
    y = net.op(top.MulConstOp, "y", (x,), const_val=2.0, do_relu=True)
    after = assert_same_numbers(net.module(y), CANONICALIZE)
    assert kinds(after) == ["Scale"]
    assert ops_of(after, top.ScaleOp)[0].scale.type.get_shape() == (1, 4, 1, 1)


def test_scale_of_a_flat_matmul_goes_into_it() -> None:
    net = Net()
    product = net.op(top.MatMulOp, "p", (net.input("x", 3, 8), net.weight("w", 8, 4), net.none))
    y = net.op(top.ScaleOp, "y", (product, net.weight("sw", 1, 4), net.weight("sb", 1, 4)))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["MatMul"]


def test_prelu_of_one_slope_is_leaky() -> None:
    net = Net()
    y = net.op(top.PReluOp, "y", (net.input("x", 4, 8), net.weight("w", values=[0.25])))
    assert kinds(assert_same_numbers(net.module(y), CANONICALIZE)) == ["LeakyRelu"]


@pytest.mark.parametrize("kind", [top.AddOp, top.MulOp, top.SubOp])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("shape", "rows"),
    [
        ((2, 5, 1, 3, 1, 2), (2, 5, 192)),
        ((1, 1, 1, 3, 1, 2), (2, 5, 192)),
        ((3, 1, 2), (2, 5, 192)),
        ((2, 5, 8, 1, 4, 1), (2, 5, 192)),
    ],
)
def test_stretched_rows_are_written_out(
    kind: type[top.AddOp | top.MulOp | top.SubOp],
    known: bool,
    shape: tuple[int, ...],
    rows: tuple[int, ...],
) -> None:
    """Heads (8), sizes of the image (3), points (4) and coordinates (2)."""
    net = Net()
    x = net.input("x", 2, 5, 8, 3, 4, 2)
    other = net.weight("w", *shape) if known else net.input("z", *shape)
    after = assert_same_numbers(net.module(net.op(kind, "y", (x, other))), CANONICALIZE)
    (op,) = ops_of(after, kind)
    assert shape_of(op.results[0]) == rows
    assert len(list(ops_of(after, top.TileOp))) == (not known)


@pytest.mark.parametrize("do_relu", [False, True])
@pytest.mark.parametrize(
    ("seen", "after", "expected"),
    [
        ([3, 20, 1], [3, 4, 5], ["Mul", "Add"]),
        ([3, 20], [3, 4, 5], ["Mul", "Add"]),
        ([3, 20, 1], [3, 5, 4], ["Reshape", "Scale", "Reshape"]),  # is not seen as it was
        ([3, 4, 5, 1], [3, 4, 5], ["Reshape", "Scale", "Reshape"]),  # channels are a dimension
        ([6, 10, 1], [3, 4, 5], ["Reshape", "Scale", "Reshape"]),  # images are not
    ],
)
def test_scale_of_series(
    seen: list[int], after: list[int], expected: list[str], do_relu: bool
) -> None:
    net = Net()
    x = net.op(top.ReshapeOp, "r", (net.input("x", 3, 4, 5),), shape=seen)
    shape = (1, seen[1], *(1 for _ in seen[2:]))
    y = net.op(
        top.ScaleOp, "y", (x, net.weight("s", *shape), net.weight("b", *shape)), do_relu=do_relu
    )
    z = net.op(top.ReshapeOp, "z", (y,), shape=after)
    assert kinds(assert_same_numbers(net.module(z), "canonicalize")) == expected


@pytest.mark.parametrize(
    ("order", "bias", "expected"),
    [
        ((0, 2, 1), True, ["MatMul", "Permute"]),
        ((0, 2, 1), False, ["MatMul", "Permute"]),
        ((2, 1, 0), True, ["MatMul", "Permute", "Scale"]),  # channels are rows
    ],
)
def test_scale_of_turned_rows(order: tuple[int, ...], bias: bool, expected: list[str]) -> None:
    net = Net()
    b = net.weight("b", 4) if bias else net.none
    product = net.op(top.MatMulOp, "m", (net.input("x", 3, 5, 6), net.weight("w", 6, 4), b))
    turned = net.op(top.PermuteOp, "p", (product,), order=list(order))
    channels = (3, 5, 4)[order[1]]
    scale = (net.weight("s", 1, channels, 1), net.weight("t", 1, channels, 1))
    y = net.op(top.ScaleOp, "y", (turned, *scale), do_relu=True)
    assert kinds(assert_same_numbers(net.module(y), "canonicalize")) == expected
