"""Unrolled recurrences: one op however they are spelled, with the same numbers."""

from collections.abc import Callable

import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.passes.tensors import shape_of

STEPS, CHANNELS, STATE = 6, 3, 4


def take(net: Net, x: SSAValue, axis: int, number: int, name: str) -> SSAValue:
    """One step of a tensor, without its axis."""
    cut = {"offset": [number], "ends": [number + 1], "steps": [1], "axes": [axis]}
    part = net.op(top.SliceOp, f"{name}_slice", (x, net.none, net.none, net.none), **cut)
    return net.op(top.SqueezeOp, name, (part,), axes=[axis])


def states(
    net: Net,
    factor: Callable[[int], SSAValue],
    summand: Callable[[int], SSAValue],
    first: SSAValue | None = None,
    steps: int = STEPS,
) -> list[SSAValue]:
    """h_t = a_t * h_(t-1) + b_t with operands in changing order; the first is b_0 or goes on from
    `first`."""
    found = [summand(0) if first is None else first]
    for t in range(first is None, steps):
        pair = (factor(t), found[-1])
        product = net.op(top.MulOp, f"m{t}", pair if t % 2 else pair[::-1])
        terms = (product, summand(t))
        found.append(net.op(top.AddOp, f"h{t}", terms if t % 3 else terms[::-1]))
    return found if first is None else found[1:]


def stacked(net: Net, values: list[SSAValue], axis: int) -> SSAValue:
    parts = [
        net.op(top.UnsqueezeOp, f"u{t}", (value,), axes=[axis]) for t, value in enumerate(values)
    ]
    return net.op(top.ConcatOp, "y", parts, axis=axis)


def sources(net: Net, axis: int) -> tuple[SSAValue, SSAValue]:
    """Factors and summands, computed."""
    shape = [1, CHANNELS, STATE]
    shape.insert(axis, STEPS)
    a, b = (net.input(name, *shape) for name in "ab")
    return net.op(top.SigmoidOp, "as", (a,)), net.op(top.AbsOp, "bs", (b,))


def scanned(module: ModuleOp) -> ModuleOp:
    return assert_same_numbers(module, "canonicalize")


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("initial", [True, False])
def test_all_states(axis: int, initial: bool) -> None:
    net = Net()
    a, b = sources(net, axis)
    first = net.op(top.AbsOp, "h", (net.input("h_in", 1, CHANNELS, STATE),)) if initial else None
    found = states(
        net,
        lambda t: take(net, a, axis, t, f"a{t}"),
        lambda t: take(net, b, axis, t, f"b{t}"),
        first,
    )
    after = scanned(net.module(stacked(net, found, axis)))
    (scan,) = ops_of(after, top.LinearScanOp)
    assert scan.axis.value.data == axis
    assert not {"Add", "Mul", "Concat", "Slice"} & set(kinds(after))


def test_a_state_of_zeros_in_front() -> None:
    """0 * a_0 + b_0, as what multiplies zeros becomes."""
    net = Net()
    a, b = sources(net, 2)
    zero = net.op(top.MulConstOp, "zero", (take(net, a, 2, 0, "a0"),), const_val=0.0)
    first = net.op(top.AddOp, "first", (zero, take(net, b, 2, 0, "b0")))
    found = states(
        net,
        lambda t: take(net, a, 2, t + 1, f"a{t + 1}"),
        lambda t: take(net, b, 2, t + 1, f"b{t + 1}"),
        first,
        STEPS - 1,
    )
    after = scanned(net.module(stacked(net, [first, *found], 2)))
    (scan,) = ops_of(after, top.LinearScanOp)
    assert shape_of(scan.output) == (1, CHANNELS, STEPS, STATE)
    assert kinds(after) == ["Sigmoid", "Abs", "LinearScan"]


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("stack", [1, 2])
def test_products_of_states_with_vectors(axis: int, stack: int) -> None:
    """y_t = h_t . c_t, stacked along either axis."""
    net = Net()
    a, b = sources(net, axis)
    c = net.op(top.AbsOp, "cs", (net.input("c", 1, STEPS, STATE),))
    found = states(
        net,
        lambda t: take(net, a, axis, t, f"a{t}"),
        lambda t: take(net, b, axis, t, f"b{t}"),
    )
    products: list[SSAValue] = []
    for t, h in enumerate(found):
        vector = net.op(top.UnsqueezeOp, f"cu{t}", (take(net, c, 1, t, f"c{t}"),), axes=[2])
        y = net.op(top.MatMulOp, f"p{t}", (h, vector, net.none))
        products.append(net.op(top.SqueezeOp, f"ps{t}", (y,), axes=[2]))
    after = scanned(net.module(stacked(net, products, stack)))
    assert len(ops_of(after, top.LinearScanOp)) == len(ops_of(after, top.ReduceOp)) == 1
    assert not ops_of(after, top.MatMulOp)
    assert not ops_of(after, top.ConcatOp)
    assert len(ops_of(after, top.PermuteOp)) == (axis != stack)


@pytest.mark.parametrize("last", [True, False])
def test_vectors_whose_steps_lie_elsewhere(last: bool) -> None:
    """y_t = h_t . c_t, as a sum of products, with one c_t behind the other as rows or columns."""
    net = Net()
    a, b = sources(net, 2)
    shape = (1, STATE, STEPS) if last else (1, STEPS, STATE)
    c = net.op(top.AbsOp, "cs", (net.input("c", *shape),))
    found = states(
        net, lambda t: take(net, a, 2, t, f"a{t}"), lambda t: take(net, b, 2, t, f"b{t}")
    )
    sums: list[SSAValue] = []
    for t, h in enumerate(found):
        vector = take(net, c, 2 if last else 1, t, f"c{t}")
        product = net.op(
            top.MulOp, f"p{t}", (h, net.op(top.UnsqueezeOp, f"cu{t}", (vector,), axes=[1]))
        )
        sums.append(
            net.op(top.ReduceOp, f"s{t}", (product,), axes=[2], keepdims=False, mode="ReduceSum")
        )
    after = scanned(net.module(stacked(net, sums, 2)))
    assert len(ops_of(after, top.LinearScanOp)) == len(ops_of(after, top.ReduceOp)) == 1
    assert len(ops_of(after, top.PermuteOp)) == last
    assert not ops_of(after, top.ConcatOp)


def test_factors_computed_step_by_step() -> None:
    """exp(d_t * w), with one w for all steps, and c_t * x_t for the summands."""
    net = Net()
    d = net.op(top.AbsOp, "ds", (net.input("d", 1, CHANNELS, STEPS),))
    x = net.op(top.AbsOp, "xs", (net.input("x", 1, CHANNELS, STEPS),))
    c = net.op(top.AbsOp, "cs", (net.input("c", 1, STEPS, STATE),))
    w = net.op(top.AbsOp, "ws", (net.input("w", 1, CHANNELS, STATE),))

    def column(value: SSAValue, t: int, name: str) -> SSAValue:
        return net.op(top.UnsqueezeOp, f"{name}u", (take(net, value, 2, t, name),), axes=[2])

    def factor(t: int) -> SSAValue:
        product = net.op(top.MulOp, f"dw{t}", (column(d, t, f"d{t}"), w))
        return net.op(top.SigmoidOp, f"a{t}", (product,))

    def summand(t: int) -> SSAValue:
        row = net.op(top.UnsqueezeOp, f"cu{t}", (take(net, c, 1, t, f"c{t}"),), axes=[1])
        return net.op(top.MulOp, f"b{t}", (column(x, t, f"x{t}"), row))

    h = net.op(top.AbsOp, "h", (net.input("h_in", 1, CHANNELS, STATE),))
    found = states(net, factor, summand, h)
    after = scanned(net.module(stacked(net, found, 2)))
    assert len(ops_of(after, top.LinearScanOp)) == len(ops_of(after, top.SigmoidOp)) == 1
    assert len(ops_of(after, top.MulOp)) == 2


def test_one_factor_for_all_steps() -> None:
    net = Net()
    _, b = sources(net, 2)
    decay = net.op(top.AbsOp, "decay", (net.input("d", 1, CHANNELS, STATE),))
    h = net.op(top.AbsOp, "h", (net.input("h_in", 1, CHANNELS, STATE),))
    found = states(net, lambda t: decay, lambda t: take(net, b, 2, t, f"b{t}"), h)
    after = scanned(net.module(stacked(net, found, 2)))
    assert len(ops_of(after, top.LinearScanOp)) == len(ops_of(after, top.TileOp)) == 1


def test_the_last_state_is_used_once_more() -> None:
    """What multiplies it and adds something is not another step."""
    net = Net()
    a, b = sources(net, 2)
    found = states(
        net,
        lambda t: take(net, a, 2, t, f"a{t}"),
        lambda t: take(net, b, 2, t, f"b{t}"),
    )
    other = net.op(top.AbsOp, "o", (net.input("o_in", 1, CHANNELS, STATE),))
    more = net.op(top.AddOp, "more", (net.op(top.MulOp, "om", (found[-1], other)), other))
    after = scanned(net.module(more))
    (scan,) = ops_of(after, top.LinearScanOp)
    assert shape_of(scan.output)[2] == STEPS


def test_too_few_steps_stay() -> None:
    net = Net()
    a, b = sources(net, 2)
    found = states(
        net,
        lambda t: take(net, a, 2, t, f"a{t}"),
        lambda t: take(net, b, 2, t, f"b{t}"),
        steps=3,
    )
    after = scanned(net.module(stacked(net, found, 2)))
    assert not ops_of(after, top.LinearScanOp)


@pytest.mark.parametrize("twice", [True, False])
def test_steps_out_of_order_stay(twice: bool) -> None:
    """The factors of two steps changed places, or one factor is used in two steps."""
    net = Net()
    a, b = sources(net, 2)
    order = [0, 1, 3, 3, 4, 5] if twice else [0, 1, 3, 2, 4, 5]
    found = states(
        net,
        lambda t: take(net, a, 2, order[t], f"a{t}"),
        lambda t: take(net, b, 2, t, f"b{t}"),
    )
    after = scanned(net.module(stacked(net, found, 2)))
    assert not ops_of(after, top.LinearScanOp)


def test_a_factor_that_depends_on_the_state_stays() -> None:
    """As the gates of a GRU do."""
    net = Net()
    _, b = sources(net, 2)
    h = net.op(top.AbsOp, "h", (net.input("h_in", 1, CHANNELS, STATE),))
    for t in range(STEPS):
        gate = net.op(top.SigmoidOp, f"g{t}", (h,))
        kept = net.op(top.MulOp, f"m{t}", (gate, h))
        h = net.op(top.AddOp, f"h{t}", (kept, take(net, b, 2, t, f"b{t}")))
    after = scanned(net.module(h))
    assert not ops_of(after, top.LinearScanOp)
