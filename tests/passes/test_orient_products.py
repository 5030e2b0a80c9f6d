"""Products written transposed: the same numbers, fewer transpositions, and the least cost."""

from itertools import product

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.orient_products.labels import Labelling
from xdsl_tpu.passes.tensors import is_weight, shape_of

ORIENT = "orient-products"
HEADS, SIZE, TOKENS = 2, 8, 24


def swapped(net: Net, name: str, value: SSAValue) -> SSAValue:
    return net.op(top.PermuteOp, name, (value,), order=[0, 1, 3, 2])


def part(net: Net, name: str, value: SSAValue, first: int, axis: int = 3) -> SSAValue:
    options = {
        "offset": [first if a == axis else 0 for a in range(4)],
        "ends": [first + SIZE if a == axis else 1 << 30 for a in range(4)],
        "steps": [1] * 4,
    }
    return net.op(top.SliceOp, name, (value, net.none, net.none, net.none), axes=[], **options)


def times(net: Net, name: str, left: SSAValue, right: SSAValue, **flags: bool) -> SSAValue:
    return net.op(top.MatMulOp, name, (left, right, net.none), **flags)


def linear_attention(sums_too: bool = False) -> ModuleOp:
    """relu(q) (relu(k)^T v) of channels that came from a convolution, over its last column."""
    net = Net()
    image = net.op(top.AbsOp, "conv", (net.input("x", 1, HEADS * 3 * SIZE, 4, 6),))
    heads = net.op(top.ReshapeOp, "heads", (image,), shape=[1, HEADS, 3 * SIZE, TOKENS])
    rows = swapped(net, "rows", heads)
    q, k, v = (part(net, name, rows, SIZE * place) for place, name in enumerate("qkv"))
    q, k = (net.op(top.ReluOp, name, (value,)) for name, value in (("rq", q), ("rk", k)))
    v = net.op(top.PadOp, "one", (v, net.none), paddings=[0] * 7 + [1], val=1.0, mode="constant")
    state = times(net, "state", swapped(net, "kt", k), v)
    sums = times(net, "sums", q, state)
    one = net.op(top.AddConstOp, "safe", (_last(net, sums),), const_val=1.0)
    mean = net.op(top.DivOp, "mean", (part(net, "most", sums, 0), one))
    back = swapped(net, "back", mean)
    result = net.op(top.ReshapeOp, "y", (back,), shape=[1, HEADS * SIZE, 4, 6])
    return net.module(result, sums) if sums_too else net.module(result)


def _last(net: Net, sums: SSAValue) -> SSAValue:
    options = {"offset": [0, 0, 0, SIZE], "ends": [1 << 30] * 4, "steps": [1] * 4}
    return net.op(top.SliceOp, "last", (sums, net.none, net.none, net.none), axes=[], **options)


def test_linear_attention_needs_no_transposition() -> None:
    after = assert_same_numbers(linear_attention(), ORIENT)
    assert not ops_of(after, top.PermuteOp)
    state, sums = ops_of(after, top.MatMulOp)
    assert (bool(state.right_transpose), bool(sums.right_transpose)) == (True, False)
    assert shape_of(sums.output) == (1, HEADS, SIZE + 1, TOKENS)
    assert shape_of(ops_of(after, top.DivOp)[0].output) == (1, HEADS, SIZE, TOKENS)


@pytest.mark.parametrize(("size", "turned"), [(SIZE, True), (128, False)])
def test_short_parts_are_cut_and_joined_as_rows(size: int, turned: bool) -> None:
    """Parts of few columns lie in short pieces; of those of 256 bytes one order is as good as the
    other, and the transposition stays where it is."""
    net = Net()
    image = net.op(top.AbsOp, "conv", (net.input("x", 1, HEADS, 2 * size, 640),))
    rows = net.op(top.SigmoidOp, "shares", (swapped(net, "rows", image),))

    def half(name: str, first: int) -> SSAValue:
        ends = [1, HEADS, 640, first + size]
        given = (rows, net.none, net.none, net.none)
        return net.op(
            top.SliceOp, name, given, offset=[0, 0, 0, first], ends=ends, steps=[1] * 4, axes=[]
        )

    scaled = net.op(top.MulConstOp, "scaled", (half("a", 0),), const_val=2.0)
    joined = net.op(top.ConcatOp, "joined", (scaled, half("b", size)), axis=3)
    after = assert_same_numbers(net.module(joined), ORIENT)
    order = kinds(after)
    assert order.index("Permute") == (len(order) - 1 if turned else 1)


def test_what_is_returned_keeps_its_form_and_its_name() -> None:
    after = assert_same_numbers(linear_attention(True), ORIENT)
    (permute,) = ops_of(after, top.PermuteOp)
    assert shape_of(permute.output) == (1, HEADS, TOKENS, SIZE + 1)


def test_products_without_transpositions_stay() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, TOKENS, SIZE),))
    y = net.op(top.AbsOp, "b", (net.input("y", 1, HEADS, SIZE, TOKENS),))
    after = assert_same_numbers(net.module(times(net, "z", x, y)), ORIENT)
    assert kinds(after) == ["Abs", "Abs", "MatMul"]


@pytest.mark.parametrize("flag", ["left_transpose", "right_transpose"])
def test_products_that_are_turned_already_stay(flag: str) -> None:
    net = Net()
    shapes = [[1, HEADS, TOKENS, SIZE], [1, HEADS, SIZE, TOKENS]]
    chosen = shapes[0 if flag == "right_transpose" else 1]
    x = net.op(top.AbsOp, "a", (net.input("x", *chosen),))
    y = net.op(top.AbsOp, "b", (net.input("y", *chosen),))
    result = swapped(net, "t", times(net, "z", x, y, **{flag: True}))
    after = assert_same_numbers(net.module(result), ORIENT)
    assert kinds(after) == ["Abs", "Abs", "MatMul", "Permute"]


def test_a_value_times_its_own_transpose() -> None:
    """Preferences that contradict each other: x as left and as right matrix."""
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, SIZE, TOKENS),))
    rows = swapped(net, "rows", x)
    gram = times(net, "gram", swapped(net, "again", rows), rows)
    after = assert_same_numbers(net.module(swapped(net, "t", gram)), ORIENT)
    assert not ops_of(after, top.PermuteOp)
    (left,) = ops_of(after, top.MatMulOp)
    assert bool(left.right_transpose)


def test_weights_follow() -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", 1, HEADS, SIZE, TOKENS),))
    rows = swapped(net, "rows", x)
    weighted = net.op(top.MulOp, "m", (rows, net.weight("w", 1, HEADS, TOKENS, SIZE)))
    shifted = net.op(top.AddOp, "s", (weighted, net.weight("b", SIZE)))
    after = assert_same_numbers(net.module(swapped(net, "t", shifted)), ORIENT)
    computed = [op for op in ops_of(after, top.PermuteOp) if not is_weight(op.input)]
    assert [shape_of(op.input) for op in computed] == [(1, 1, 1, SIZE)] * len(computed)
    assert shape_of(ops_of(after, top.MulOp)[0].output) == (1, HEADS, SIZE, TOKENS)


def softmax(net: Net, name: str, value: SSAValue, axis: int) -> SSAValue:
    return net.op(top.SoftmaxOp, name, (value,), axis=axis)


def test_keys_with_a_softmax_over_tokens_are_turned_once() -> None:
    """softmax(k)^T v: the transposition of the product serves the softmax, too."""
    net = Net()
    k, v = (
        net.op(top.AbsOp, f"a{name}", (net.input(name, 1, HEADS, TOKENS, SIZE),)) for name in "kv"
    )
    keys = softmax(net, "p", k, 2)
    after = assert_same_numbers(net.module(times(net, "z", swapped(net, "kt", keys), v)), ORIENT)
    assert kinds(after) == ["Abs", "Abs", "Permute", "Softmax", "MatMul"]
    (turned,) = ops_of(after, top.SoftmaxOp)
    assert turned.axis.value.data % 4 == 3


@pytest.mark.parametrize("shape", [(2, 5, 7), (1, 5, 3, 4), (5, 7), (2, 5, 1, 1, 7)])
def test_a_softmax_along_another_dimension_is_turned(shape: tuple[int, ...]) -> None:
    net = Net()
    axis = shape.index(5)
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    after = assert_same_numbers(net.module(softmax(net, "y", x, axis)), ORIENT)
    (turned,) = ops_of(after, top.SoftmaxOp)
    assert shape_of(turned.output)[-1] == 5
    assert len(ops_of(after, top.PermuteOp)) == 2


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((2, 5, 7), 2), ((2, 5, 1), 1), ((2, 7, 5, 1, 1), 2), ((1, 3, 8192), 1), ((1, 3, 2, 4096), 1)],
)
def test_a_softmax_along_rows_or_down_long_columns_stays(shape: tuple[int, ...], axis: int) -> None:
    net = Net()
    x = net.op(top.AbsOp, "a", (net.input("x", *shape),))
    after = assert_same_numbers(net.module(softmax(net, "y", x, axis)), ORIENT)
    assert kinds(after) == ["Abs", "Softmax"]


def everything(problem: Labelling) -> int:
    choices = product((0, 1), repeat=len(problem.nodes))
    return min(problem.cost(labels) for labels in choices)


@pytest.mark.parametrize("seed", range(20))
def test_labels_are_those_of_least_cost(seed: int) -> None:
    """Of pairs that prefer to be alike, or to differ where no cycle of them is odd."""
    rng = np.random.default_rng(seed)
    count = 9
    colour = rng.integers(0, 2, count)
    nodes = [(int(a), int(b)) for a, b in rng.integers(0, 30, (count, 2))]
    pairs: dict[tuple[int, int], tuple[int, int, int, int]] = {}
    for a in range(count):
        for b in range(a + 1, count):
            if rng.random() < 0.4:
                cost = int(rng.integers(1, 30))
                both = (0, cost, 0, 0) if rng.random() < 0.3 else (0, cost, cost, 0)
                pairs[a, b] = both if colour[a] == colour[b] else (both[1], 0, 0, both[2])
    problem = Labelling(nodes, pairs)
    assert problem.cost(problem.best()) == everything(problem)


@pytest.mark.parametrize("seed", range(20))
def test_contradictions_are_no_worse_than_no_change(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    count = 9
    nodes = [(0, int(b)) for b in rng.integers(0, 30, count)]
    tables = rng.integers(0, 30, (count, count, 4))
    pairs = {
        (a, b): (int(t[0]), int(t[1]), int(t[2]), int(t[3]))
        for a in range(count)
        for b in range(a + 1, count)
        for t in (tables[a, b],)
    }
    problem = Labelling(nodes, pairs)
    assert everything(problem) <= problem.cost(problem.best()) <= problem.cost([0] * count)
