"""Dimensions of size 1 go from batches of products: what is left, and that numbers stay."""

from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

PASS = "drop-unit-dims"


def attention(net: Net, windows: int, heads: int, *, scaled: bool = True) -> SSAValue:
    """An attention in windows of one image, as exported: batch, windows, heads, rows, columns."""
    rows, size = 7, 4
    x = net.input("x", 1, windows * rows, 3 * heads * size)
    shape = [1, windows, rows, 3, heads, size]
    parts = net.op(top.ReshapeOp, "parts", (x,), shape=shape)
    turned = net.op(top.PermuteOp, "turned", (parts,), order=[3, 0, 1, 4, 2, 5])
    sliced = [
        net.op(
            top.SliceOp,
            f"part{index}",
            (turned, net.none, net.none, net.none),
            axes=[0],
            offset=[index],
            ends=[index + 1],
            steps=[1],
        )
        for index in range(3)
    ]
    q, k, v = (
        net.op(top.SqueezeOp, f"squeezed{place}", (one,), axes=[0])
        for place, one in enumerate(sliced)
    )
    if scaled:
        q = net.op(top.MulConstOp, "scaled", (q,), const_val=0.5)
    keys = net.op(top.PermuteOp, "keys", (k,), order=[0, 1, 2, 4, 3])
    scores = net.op(top.MatMulOp, "scores", (q, keys, net.none))
    scores = net.op(top.AddOp, "biased", (scores, net.weight("bias", heads, rows, rows)))
    shares = net.op(top.SoftmaxOp, "shares", (scores,), axis=4)
    return net.op(top.MatMulOp, "mixed", (shares, v, net.none))


def test_an_attention_in_windows_has_four_dimensions() -> None:
    net = Net()
    mixed = attention(net, windows=3, heads=2)
    back = net.op(top.PermuteOp, "back", (mixed,), order=[0, 1, 3, 2, 4])
    y = net.op(top.ReshapeOp, "y", (back,), shape=[1, 21, 8])
    after = assert_same_numbers(net.module(y), PASS)
    products = ops_of(after, top.MatMulOp)
    assert [shape_of(one.output) for one in products] == [(3, 2, 7, 7), (3, 2, 7, 4)]
    (softmax,) = ops_of(after, top.SoftmaxOp)
    assert softmax.axis.value.data == 3
    assert [len(shape_of(one.output)) for one in ops_of(after, top.PermuteOp)] == [5, 4, 4]


def test_what_others_read_gets_its_dimension_back() -> None:
    net = Net()
    mixed = attention(net, windows=3, heads=2, scaled=False)
    folded = net.op(top.CumSumOp, "y", (mixed, net.none), axis=3)
    after = assert_same_numbers(net.module(folded, mixed), PASS)
    (other,) = ops_of(after, top.CumSumOp)
    assert shape_of(other.input) == (1, 3, 2, 7, 4)
    assert kinds(after)[-2:] == ["Reshape", "CumSum"]


def test_of_several_dimensions_as_many_go_as_leave_four() -> None:
    net = Net()
    y = attention(net, windows=1, heads=1)
    after = assert_same_numbers(net.module(y), PASS)
    assert {len(shape_of(one.output)) for one in ops_of(after, top.MatMulOp)} == {4}


def test_matrices_that_serve_several_others_stay() -> None:
    net = Net()
    left, right = net.input("x", 2, 1, 3, 4, 5), net.input("z", 1, 2, 3, 5, 4)
    y = net.op(top.MatMulOp, "y", (left, right, net.none))
    after = assert_same_numbers(net.module(y), PASS)
    assert kinds(after) == ["MatMul"]
