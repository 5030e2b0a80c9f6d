"""Attention with its projections, masks and what it remembers; rotary embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode


@dataclass(frozen=True)
class Heads:
    """A tensor [batch, heads, rows, size] with its sizes."""

    name: str
    batch: int
    heads: int
    rows: int
    size: int

    def named(self, name: str) -> "Heads":
        """The same sizes under another name."""
        return replace(self, name=name)


def attention(body: Body) -> None:
    """Attention(x, weights, bias, mask, past, more) -> MatMul, heads, MatMul, Softmax, MatMul."""
    node, heads = body.node, body.node.attributes["num_heads"]
    if node.attribute("do_rotary", 0) or node.attribute("past_present_share_buffer", 0):
        raise UnsupportedNode("neither rotary embeddings nor shared buffers are supported")
    x, weights, bias = node.inputs[0], node.inputs[1], node.input(2)
    third = body.shape(1)[1] // 3
    sizes: list[int] = node.attribute("qkv_hidden_sizes", [third] * 3)
    parts, start = list[Heads](), 0
    batch, rows, _ = body.shape(0)
    for size in sizes:
        part = body.add("MatMul", x, body.slice(weights, 1, start, start + size))
        if bias:
            part = body.add("Add", part, body.slice(bias, 0, start, start + size))
        parts.append(split_heads(body, part, (batch, rows, size), heads))
        start += size
    q, k, v = parts
    if past := node.input(4):
        k, v = (
            _remembered(body, part, body.reshape(body.slice(past, 0, i, i + 1), shape))
            for i, part in enumerate((k, v))
            if (shape := body.shape(4)[1:])
        )
    if present := next(iter(node.outputs[1:]), ""):
        both = (body.reshape(p.name, (1, p.batch, p.heads, p.rows, p.size)) for p in (k, v))
        body.add("Concat", *both, output=present, axis=0)
    _attend(body, q, k, v, mask=3, more=5)


def multi_head_attention(body: Body) -> None:
    """MultiHeadAttention(q, k, v, bias, mask, more, past k and v) -> MatMul, Softmax, MatMul.

    Of [batch, rows, width] or, k and v, of heads [batch, heads, rows, size]; all three in one
    [batch, rows, heads, 3, size], or k and v in one.
    """
    node, heads = body.node, body.node.attributes["num_heads"]
    if any(node.outputs[3:]) or node.input(9):
        raise UnsupportedNode("products of queries and keys are not given, nor beams taken")
    parts: list[tuple[str, tuple[int, ...]]] = []
    for index in range(3):
        if not (name := node.input(index)):
            continue
        shape = body.shape(index)
        if len(shape) < 5:
            parts.append((name, shape))
            continue
        batch, rows, _, count, size = shape
        width = (batch, rows, heads * size)
        cuts = (body.slice(name, 3, i, i + 1) for i in range(count))
        parts += [(body.reshape(cut, width), width) for cut in cuts]
    start, found = 0, list[Heads]()
    for name, shape in parts:
        if len(shape) == 4:
            found.append(Heads(name, *shape))
            continue
        if bias := node.input(3):
            name = body.add("Add", name, body.slice(bias, 0, start, start + shape[-1]))
        start += shape[-1]
        found.append(split_heads(body, name, shape, heads))
    q, k, v = found
    if node.input(6):
        k, v = _remembered(body, k, node.input(6)), _remembered(body, v, node.input(7))
    for part, output in zip((k, v), node.outputs[1:3], strict=False):
        if output:
            body.add("Identity", part.name, output=output)
    _attend(body, q, k, v, mask=4, more=5)


def split_heads(body: Body, x: str, shape: Sequence[int], heads: int) -> Heads:
    """Rows [batch, rows, width] as heads."""
    batch, rows, width = shape
    apart = body.reshape(x, (batch, rows, heads, width // heads))
    return Heads(body.transpose(apart, (0, 2, 1, 3)), batch, heads, rows, width // heads)


def _remembered(body: Body, part: Heads, past: str) -> Heads:
    """Rows behind those from before."""
    name = body.add("Concat", past, part.name, axis=2)
    index = body.node.inputs.index(past) if past in body.node.inputs else 4
    return replace(part, name=name, rows=part.rows + body.shape(index)[-2])


def _attend(body: Body, q: Heads, k: Heads, v: Heads, mask: int, more: int) -> None:
    """Softmax(q k scale + masks) v as [batch, rows, width], the node's output."""
    node = body.node
    scores = body.add("MatMul", q.name, body.transpose(k.name, (0, 1, 3, 2)))
    scale = node.attribute("scale", 0.0) or 1 / sqrt(q.size)
    scores = body.add("Mul", scores, body.number(scale, node.inputs[0]))
    if node.input(mask):
        scores = body.add("Add", scores, _masked(body, mask, q, k))
    if node.attribute("unidirectional", 0):
        later = np.triu(np.full((q.rows, k.rows), -np.inf, np.float32), k.rows - q.rows + 1)
        scores = body.add("Add", scores, body.add("CastLike", body.constant(later), scores))
    if node.input(more):
        scores = body.add("Add", scores, node.input(more))
    mixed = body.add("MatMul", body.add("Softmax", scores, axis=-1), v.name)
    together = body.transpose(mixed, (0, 2, 1, 3))
    body.reshape(together, (q.batch, q.rows, v.heads * v.size), node.output)


def _masked(body: Body, index: int, q: Heads, k: Heads) -> str:
    """What is added to scores: the filter value where a mask is 0, or behind the end of a row."""
    name, shape, x = body.node.inputs[index], body.shape(index), body.node.inputs[0]
    if shape == (q.batch,):
        places = body.constant(np.arange(k.rows, dtype=np.int32)[None])
        ends = body.reshape(body.add("Cast", name, to=6), (q.batch, 1))
        kept, shape = body.add("Less", places, ends), (q.batch, k.rows)
    elif len(shape) in (2, 3) and shape[-1] == k.rows:
        kept = name
    else:
        raise UnsupportedNode(f"a mask of shape {list(shape)} is not supported")
    wide = (shape[0], 1, 1, k.rows) if len(shape) == 2 else (shape[0], 1, *shape[1:])
    kept = body.reshape(body.add("CastLike", kept, x), wide)
    hidden = body.add("Sub", body.number(1.0, x), kept)
    value = body.node.attribute("mask_filter_value", -10000.0)
    return body.add("Mul", hidden, body.number(value, x))


def rotary_embedding(body: Body) -> None:
    """RotaryEmbedding(x, places, cos, sin) -> x cos + (x with its halves turned) sin.

    `x` is [batch, rows, width] or [batch, heads, rows, size]; `places` one for each row, or where
    the first row is. Pairs are halves of what is turned, or neighbours (`interleaved`).
    """
    node, shape = body.node, body.shape(0)
    x, places, cos, sin = node.inputs[:4]
    if node.attribute("is_packed_batching", 0) or node.attribute("scale", 1.0) != 1.0:
        raise UnsupportedNode("neither packed rows nor a scale are supported")
    turned = 2 * body.shape(2)[1]
    size = shape[-1] // node.attribute("num_heads", 0) if node.attribute("num_heads", 0) else turned
    is_flat = len(shape) == 3
    if is_flat:
        batch, rows, width = shape
        x = body.transpose(body.reshape(x, (batch, rows, width // size, size)), (0, 2, 1, 3))
    else:
        batch, _, rows, size = shape
    if body.shape(1) == (1,):
        steps = body.add("CastLike", body.constant([*range(rows)]), places)
        places = body.reshape(body.add("Add", steps, places), (1, rows))
    part = Heads(x, batch, -1, rows, size)
    interleaved = bool(node.attribute("interleaved", 0))
    y = rotated(body, part, places, (cos, sin), turned, interleaved)
    if is_flat:
        body.reshape(body.transpose(y, (0, 2, 1, 3)), shape, node.output)
    else:
        body.add("Identity", y, output=node.output)


def rotated(
    body: Body, x: Heads, places: str, tables: Sequence[str], turned: int, neighbours: bool
) -> str:
    """The first `turned` columns of heads turned by the angles of their rows' places in tables of
    cosines and sines; pairs are halves or `neighbours`."""
    wide: list[str] = []
    for table in tables:
        half = body.add("Gather", table, places)
        half = body.reshape(half, (-1, 1, x.rows, turned // 2))
        wide.append(_both(body, half, x.rows, turned, neighbours))
    first = x.name if turned == x.size else body.slice(x.name, 3, 0, turned)
    y = _turn(body, x.named(first), wide, turned, neighbours)
    if turned != x.size:
        y = body.add("Concat", y, body.slice(x.name, 3, turned, x.size), axis=3)
    return y


def _both(body: Body, half: str, rows: int, turned: int, neighbours: bool) -> str:
    """Numbers of pairs as numbers of both elements: [.., rows, turned]."""
    if not neighbours:
        return body.add("Concat", half, half, axis=3)
    apart = body.reshape(half, (-1, 1, rows, turned // 2, 1))
    return body.reshape(body.add("Concat", apart, apart, axis=4), (-1, 1, rows, turned))


def _turn(body: Body, x: Heads, tables: Sequence[str], turned: int, neighbours: bool) -> str:
    """x cos + (second of each pair negated, before the first) sin."""
    if neighbours:
        pairs = body.reshape(x.name, (x.batch, -1, x.rows, turned // 2, 2))
        ahead, behind = (body.slice(pairs, 4, i, i + 1) for i in (0, 1))
        crossed = body.add("Concat", body.add("Neg", behind), ahead, axis=4)
        crossed = body.reshape(crossed, (x.batch, -1, x.rows, turned))
    else:
        ahead = body.slice(x.name, 3, 0, turned // 2)
        behind = body.slice(x.name, 3, turned // 2, turned)
        crossed = body.add("Concat", body.add("Neg", behind), ahead, axis=3)
    cos, sin = tables
    return body.add("Add", body.add("Mul", x.name, cos), body.add("Mul", crossed, sin))


COMPOSED: dict[str, Composition] = {
    "Attention": attention,
    "MultiHeadAttention": multi_head_attention,
    "RotaryEmbedding": rotary_embedding,
}
