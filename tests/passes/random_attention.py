"""Random small networks of what attention is made of, for whole-pipeline tests.

A seed gives a network, always the same one: a block of attention whose orders, splits, scales and
masks are drawn, or a few inputs; then a chain of drawn ops on drawn operands.
"""

from tests.passes.random_net import RandomNet, Tensor
from tests.passes.random_steps import random_step
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top


def network(seed: int) -> ModuleOp:
    """The network of a seed, its shapes inferred and its weights attached."""
    net = RandomNet(seed)
    if net.chance(0.6):
        x = net.input(net.pick((1, 2, 4)), net.pick((1, 4, 6, 9)), net.pick((8, 12, 24)))
        x = _around(net, x)
        x = _attention(net, x)
        steps = net.pick((0, 3, 8))
    else:
        shape = tuple(net.pick((1, 2, 3, 4, 6)) for _ in range(net.pick((3, 4, 4, 5))))
        net.input(*shape)
        steps = net.pick((6, 10, 14))
    for _ in range(steps):
        random_step(net)
    results = [tensor for tensor in net.tensors if not any(True for _ in tensor.value.uses)]
    return net.net.module(*(_end(net, tensor).value for tensor in results))


def _end(net: RandomNet, x: Tensor) -> Tensor:
    """A result, at times one that no movement passes."""
    if x.value.owner.name == "top.Input" or net.chance(0.5):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return net.op(top.SinOp, [x], x.shape)
    return x


def _around(net: RandomNet, x: Tensor) -> Tensor:
    """What stands in front of attention: norms, windows, rotations."""
    if net.chance(0.5):
        x = net.norm(x)
    b, rows, columns = x.shape
    if rows % 2 == 0 and net.chance(0.5):
        grid = net.reshape(x, (b, rows // 2, 2, columns))
        if net.chance(0.5) and rows > 2:
            grid = net.rolled(grid, 1, 1)
        if net.chance(0.5):
            grid = net.rolled(grid, 2, 1)
        grid = net.permute(grid, (0, 2, 1, 3))
        x = net.reshape(grid, (b * 2, rows // 2, columns))
    return x


def _attention(net: RandomNet, x: Tensor) -> Tensor:
    b, rows, columns = x.shape
    heads, depth = net.pick(((1, 4), (2, 4), (3, 2), (2, 3)))
    parts = _query_key_value(net, x, heads, depth)
    q, k, v = (parts[i] for i in ((0, 1, 2) if net.chance(0.8) else net.shuffled(3)))
    if net.chance(0.4):
        q = net.scaled(q)
    if net.chance(0.3):
        scores = net.product(q, k, right_transpose=True)
    else:
        scores = net.product(q, net.permute(k, (0, 1, 3, 2)))
    scores = _scores(net, scores)
    merged = net.chance(0.2)
    if merged:  # batch and heads as one dimension
        shape = (b * heads, rows, rows)
        heads_of = net.product(net.reshape(scores, shape), net.reshape(v, (b * heads, rows, depth)))
        out = net.reshape(heads_of, (b, heads, rows, depth))
    else:
        out = net.product(scores, v)
    if net.chance(0.2):
        out = net.scaled(out)
    out = net.reshape(net.permute(out, (0, 2, 1, 3)), (b, rows, heads * depth))
    out = net.linear(out, columns)
    if net.chance(0.5):
        out = net.add(out, x)
    if net.chance(0.3):
        hidden = net.op(top.GELUOp, [net.linear(net.norm(out), 16)], (b, rows, 16))
        out = net.add(net.linear(hidden, columns), out)
    return out


def _scores(net: RandomNet, scores: Tensor) -> Tensor:
    """Scale, masks and softmax, in any order that makes sense."""
    b, heads, rows, _ = scores.shape
    for _ in range(net.pick((0, 1, 2))):
        scores = net.scaled(scores) if net.chance(0.4) else net.masked(scores)
    if b % 2 == 0 and net.chance(0.3):  # the mask of shifted windows
        windows = net.reshape(scores, (b // 2, 2, heads, rows, rows))
        mask = net.weight(1, 2, 1, rows, rows)
        scores = net.reshape(net.add(windows, mask), (b, heads, rows, rows))
    scores = net.softmax(scores, 3 if net.chance(0.8) else net.pick((1, 2, -1)))
    return net.masked(scores) if net.chance(0.2) else scores


def _query_key_value(net: RandomNet, x: Tensor, heads: int, depth: int) -> list[Tensor]:
    """Three tensors of batch, heads, rows, depth."""
    b, rows, _ = x.shape
    if net.chance(0.2):  # three products
        parts = [net.reshape(net.linear(x, heads * depth), (b, rows, heads, depth)) for _ in "qkv"]
        return [net.permute(part, (0, 2, 1, 3)) for part in parts]
    sizes = {"b": b, "r": rows, "3": 3, "h": heads, "d": depth}
    split = "br" + net.pick(("3hd", "3hd", "3hd", "h3d", "hd3"))
    value = net.reshape(net.linear(x, 3 * heads * depth), [sizes[axis] for axis in split])
    mode = net.pick(("front", "front", "any", "two", "none"))
    if mode == "front":
        split, value = _reordered(net, split, value, "3bhrd")
    elif mode == "any":
        split, value = _reordered(net, split, value, "".join(split[i] for i in net.shuffled(5)))
    elif mode == "two":
        for _ in range(2):
            target = "".join(split[i] for i in net.shuffled(5))
            split, value = _reordered(net, split, value, target)
    axis = split.index("3")
    parts = net.split(value, axis, 3)
    parts = [net.squeeze(part, axis) for part in parts]
    rest = split.replace("3", "")
    return [_reordered(net, rest, part, "bhrd")[1] for part in parts]


def _reordered(net: RandomNet, axes: str, x: Tensor, target: str) -> tuple[str, Tensor]:
    """`x`, whose axes have these letters, with them in another order."""
    if axes == target:
        return axes, x
    return target, net.permute(x, [axes.index(axis) for axis in target])
