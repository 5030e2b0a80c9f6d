"""Single ops that a random network can take at any place, on operands that are drawn."""

from collections.abc import Callable
from math import prod

import numpy as np
from tests.passes.random_net import MOST_ELEMENTS, RandomNet, Tensor

from xdsl_tpu.dialects import top


def random_step(net: RandomNet) -> None:
    """One more op on something that is there already, mostly on the newest."""
    recent = net.tensors[-1]
    x = recent if net.chance(0.75) else net.pick(net.tensors)
    _STEPS[int(net.rng.choice(len(_STEPS), p=_WEIGHTS))](net, x)


def _permute(net: RandomNet, x: Tensor) -> None:
    orders: list[tuple[int, ...]] = [net.shuffled(len(x.shape))]
    if len(x.shape) == 4:
        orders += [(0, 2, 1, 3)] * 3 + [(0, 1, 3, 2), (0, 2, 3, 1), (0, 3, 1, 2)]
    if len(x.shape) == 3:
        orders.append((0, 2, 1))
    net.permute(x, net.pick(orders))


def _reshape(net: RandomNet, x: Tensor) -> None:
    shape = list(x.shape)
    axis = int(net.rng.integers(len(shape)))
    match net.pick(("merge", "merge", "split", "split", "one", "drop")):
        case "merge" if axis + 1 < len(shape):
            shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        case "split" if len(shape) < 6:
            factors = [f for f in range(2, shape[axis]) if shape[axis] % f == 0]
            factor = net.pick(factors) if factors else 1
            shape[axis : axis + 1] = [factor, shape[axis] // factor]
        case "one" if len(shape) < 6:
            shape.insert(axis, 1)
        case "drop" if len(shape) > 2:
            shape = [size for size in shape if size != 1] or [1]
        case _:
            return
    net.reshape(x, shape)


def _split(net: RandomNet, x: Tensor) -> None:
    axes = [i for i, size in enumerate(x.shape) if size in (2, 3, 4, 6, 8, 12, 24)]
    if not axes:
        return
    axis = net.pick(axes)
    count = 3 if x.shape[axis] % 3 == 0 else 2
    for part in net.split(x, axis, count):
        if part.shape[axis] == 1 and len(part.shape) > 2 and net.chance(0.8):
            net.squeeze(part, axis)


def _cut(net: RandomNet, x: Tensor) -> None:
    axis = int(net.rng.integers(len(x.shape)))
    if x.shape[axis] > 1:
        begin = int(net.rng.integers(x.shape[axis] - 1))
        net.cut(x, axis, begin, int(net.rng.integers(begin + 1, x.shape[axis] + 1)))


def _roll(net: RandomNet, x: Tensor) -> None:
    axis = int(net.rng.integers(len(x.shape)))
    if x.shape[axis] > 1:
        net.rolled(x, axis, int(net.rng.integers(1, x.shape[axis])))


def _linear(net: RandomNet, x: Tensor) -> None:
    columns = net.pick((6, 8, 12))
    if len(x.shape) > 1 and prod(x.shape[:-1]) * columns <= MOST_ELEMENTS:
        net.linear(x, columns)


def _with_itself(net: RandomNet, x: Tensor) -> None:
    """x times x (or another of its shape) transposed, then softmax, then times x."""
    if len(x.shape) < 3 or prod(x.shape[:-1]) * x.shape[-2] > MOST_ELEMENTS:
        return
    other = net.pick([tensor for tensor in net.tensors if tensor.shape == x.shape])
    last = len(x.shape) - 1
    if net.chance(0.5):
        scores = net.product(x, other, right_transpose=True)
    else:
        scores = net.product(x, net.permute(other, (*range(last - 1), last, last - 1)))
    if net.chance(0.7):
        net.product(net.softmax(scores, last), net.pick((x, other)))


def _add(net: RandomNet, x: Tensor) -> None:
    same = [tensor for tensor in net.tensors if tensor.shape == x.shape]
    net.add(x, net.pick(same))


def _masked(net: RandomNet, x: Tensor) -> None:
    net.masked(x)


def _scaled(net: RandomNet, x: Tensor) -> None:
    net.scaled(x)


def _softmax(net: RandomNet, x: Tensor) -> None:
    net.softmax(x, int(net.rng.integers(len(x.shape))))


def _norm(net: RandomNet, x: Tensor) -> None:
    if x.shape[-1] > 1:
        net.norm(x)


def _active(net: RandomNet, x: Tensor) -> None:
    net.op(net.pick((top.GELUOp, top.ReluOp, top.SigmoidOp)), [x], x.shape)


def _offset(net: RandomNet, x: Tensor) -> None:
    net.op(top.AddConstOp, [x], x.shape, const_val=0.5)


def _concat(net: RandomNet, x: Tensor) -> None:
    axis = int(net.rng.integers(len(x.shape)))
    other = net.pick([tensor for tensor in net.tensors if tensor.shape == x.shape])
    if 2 * prod(x.shape) <= MOST_ELEMENTS:
        shape = (*x.shape[:axis], 2 * x.shape[axis], *x.shape[axis + 1 :])
        net.op(top.ConcatOp, [x, other], shape, axis=axis)


def _pad(net: RandomNet, x: Tensor) -> None:
    counts = [int(net.rng.integers(2)) for _ in range(2 * len(x.shape))]
    rank = len(x.shape)
    shape = [size + counts[i] + counts[i + rank] for i, size in enumerate(x.shape)]
    if prod(shape) <= MOST_ELEMENTS:
        none = Tensor(net.net.none, ())
        net.op(top.PadOp, [x, none], shape, paddings=counts, val=0.5, mode="constant")


def _filled(net: RandomNet, x: Tensor) -> None:
    """A constant where something of this shape is negative."""
    other = net.pick([tensor for tensor in net.tensors if tensor.shape == x.shape])
    if net.chance(0.4):
        order: tuple[int, ...] = net.pick([(0, 2, 1, 3), net.shuffled(len(x.shape))])
        if len(order) == len(x.shape):
            back = [order.index(i) for i in range(len(order))]
            source = net.input(*[x.shape[i] for i in back])
            other = net.permute(source, order)
    attributes = {"const_val": 0.0, "inversed": False, "mode": "Less"}
    condition = net.op(top.CompareConstOp, [other], x.shape, **attributes)
    flags = {"const_val": -4.0, "inversed": net.chance(0.5)}
    net.op(top.MaskedFillOp, [condition, x], x.shape, **flags)


def _reduce(net: RandomNet, x: Tensor) -> None:
    axis = int(net.rng.integers(len(x.shape)))
    if len(x.shape) > 1 and x.shape[axis] > 1:
        keep = net.chance(0.5)
        shape = (*x.shape[:axis], *([1] if keep else []), *x.shape[axis + 1 :])
        mode = net.pick(("ReduceMean", "ReduceSum", "ReduceMax"))
        net.op(top.ReduceOp, [x], shape, axes=[axis], keepdims=keep, mode=mode)


def _tile(net: RandomNet, x: Tensor) -> None:
    axis = int(net.rng.integers(len(x.shape)))
    if 2 * prod(x.shape) <= MOST_ELEMENTS:
        counts = [2 if i == axis else 1 for i in range(len(x.shape))]
        shape = [size * count for size, count in zip(x.shape, counts, strict=True)]
        net.op(top.TileOp, [x], shape, tile=counts)


def _binary(net: RandomNet, x: Tensor) -> None:
    same = [tensor for tensor in net.tensors if tensor.shape == x.shape]
    net.op(net.pick((top.MulOp, top.SubOp)), [x, net.pick(same)], x.shape)


def _unsqueeze(net: RandomNet, x: Tensor) -> None:
    if len(x.shape) < 5:
        axis = int(net.rng.integers(len(x.shape) + 1))
        shape = (*x.shape[:axis], 1, *x.shape[axis:])
        net.op(top.UnsqueezeOp, [x], shape, axes=[axis])


_FREQUENCIES: dict[Callable[[RandomNet, Tensor], None], int] = {
    _permute: 8,
    _reshape: 7,
    _split: 3,
    _cut: 1,
    _roll: 2,
    _linear: 3,
    _with_itself: 4,
    _add: 3,
    _masked: 3,
    _scaled: 2,
    _softmax: 2,
    _norm: 1,
    _active: 2,
    _offset: 1,
    _concat: 1,
    _pad: 1,
    _filled: 1,
    _reduce: 1,
    _tile: 1,
    _binary: 1,
    _unsqueeze: 1,
}
_STEPS = tuple(_FREQUENCIES)
_WEIGHTS = np.array(list(_FREQUENCIES.values())) / sum(_FREQUENCIES.values())
