"""Masks chosen in place of a bias: what becomes of them, and that numbers stay."""

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.canonicalize import masked_bias
from xdsl_tpu.passes.tensors import shape_of

CANONICALIZE = "canonicalize"
LOWEST = -3.4028234663852886e38


@pytest.fixture(autouse=True)
def large_from_64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masked_bias, "LARGE", 2 * 4 * 8)


def attention(
    seen: int = 1,
    hides_last: bool = True,
    lowest: float = LOWEST,
    rows: int = 4,
) -> tuple[Net, list[SSAValue]]:
    """The scores of two layers, some hidden in a bias of two heads, as T5 does."""
    net = Net()
    added = net.weight("bias", 1, 2, rows, 8)
    given = net.input("given", 1, 1, seen, 8)
    shown = net.op(
        top.CompareConstOp, "shown", (given,), mode="Greater", const_val=0.3, inversed=False
    )
    name = "y_const_val" if hides_last else "x_const_val"
    attributes = {"x_is_const": not hides_last, "y_is_const": hides_last, name: lowest}
    branches = (added, net.none) if hides_last else (net.none, added)
    mask = net.op(top.WhereOp, "mask", (shown, *branches), **attributes)
    scores = [net.input(f"scores{number}", 1, 2, rows, 8) for number in range(2)]
    pairs = ((scores[0], mask), (mask, scores[1]))
    sums = [net.op(top.AddOp, f"sum{number}", pair) for number, pair in enumerate(pairs)]
    shares = [
        net.op(top.SoftmaxOp, f"shares{number}", (one,), axis=3) for number, one in enumerate(sums)
    ]
    return net, shares


@pytest.mark.parametrize("hides_last", [True, False])
@pytest.mark.parametrize("seen", [1, 4])
def test_a_mask_stands_beside_the_bias(seen: int, hides_last: bool) -> None:
    net, shares = attention(seen, hides_last)
    after = assert_same_numbers(net.module(*shares), CANONICALIZE, tolerance=0)
    assert kinds(after).count("Add") == 4
    (mask,) = ops_of(after, top.WhereOp)
    assert shape_of(mask.output) == (1, 1, seen, 8)


def test_a_small_mask_stays() -> None:
    net, shares = attention(rows=3)
    after = assert_same_numbers(net.module(*shares), CANONICALIZE)
    assert kinds(after).count("Add") == 2


def test_a_number_that_does_not_absorb_the_bias_stays() -> None:
    net, shares = attention(lowest=-1e4)
    after = assert_same_numbers(net.module(*shares), CANONICALIZE)
    assert kinds(after).count("Add") == 2


def test_a_mask_that_is_read_otherwise_stays() -> None:
    net, shares = attention()
    (mask,) = (use.operation.results[0] for use in net.none.uses)
    hidden = net.op(top.AbsOp, "hidden", (mask,))
    after = assert_same_numbers(net.module(*shares, hidden), CANONICALIZE)
    assert kinds(after).count("Add") == 2


def test_a_condition_as_large_as_the_bias_stays() -> None:
    net = Net()
    shown = net.input("given", 1, 2, 4, 8)
    mask = net.op(
        top.WhereOp,
        "mask",
        (shown, net.weight("bias", 1, 2, 4, 8), net.none),
        y_is_const=True,
        y_const_val=LOWEST,
    )
    sums = net.op(top.AddOp, "sum", (net.input("scores", 1, 2, 4, 8), mask))
    shares = [net.op(top.SoftmaxOp, "shares", (sums,), axis=3)]
    after = assert_same_numbers(net.module(*shares), CANONICALIZE)
    assert kinds(after).count("Add") == 1
