"""Attention of groups of heads with what it remembers, as language models of onnxruntime have."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from xdsl_tpu.frontend.onnx.compose.body import Body, Composition
from xdsl_tpu.frontend.onnx.contrib.attention import Heads, rotated, split_heads
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

PAST, LENGTHS, TOTAL, COS, PLACES = 3, 5, 6, 7, 9
BIAS, SINK, SCALES, NORMS, VALID = 10, 11, 12, 14, 16
"""Where operands begin: keys and values from before, last rows of sequences, rows of the longest,
rotary tables, places of rows, what is added to scores, more of a denominator, scales of integers,
factors of norms, numbers of rows that are no padding."""

FREE = {"kv_cache_bit_width": 0, "sliding_window_cache": 0, "qk_output": 0}
"""Attributes that have to be as they are when they are absent."""


@dataclass(frozen=True)
class _Cache:
    """Rows from before (`rows`, 0: none) and of the result (`total`), and how many of them are
    filled: a number, or an integer tensor [batch, 1]."""

    rows: int
    total: int
    filled: int | str


def grouped_attention(body: Body) -> None:
    """GroupQueryAttention(q, k, v, past k and v, last rows, rows, ..) -> MatMul, Softmax, MatMul.

    New rows come behind the filled ones of what is remembered. That are all, where sequences as
    long as both together are said and there is one; else those that the last rows say: then the
    memory is a buffer, in which new rows take the places of others.
    """
    node = body.node
    _refuse(body)
    heads, groups = node.attributes["num_heads"], node.attributes["kv_num_heads"]
    parts = _parts(body, heads, groups)
    cache = _cache(body, parts[0])
    q, k, v = parts
    if node.input(NORMS):
        q, k = (_normed(body, part, i) for i, part in enumerate((q, k)))
    if node.attribute("do_rotary", 0):
        q, k = _turned(body, (q, k), cache)
    present = [_present(body, new, i, cache) for i, new in enumerate((k, v))]
    for name, output in zip(present, node.outputs[1:3], strict=False):
        if output:
            body.add("Identity", name, output=output)
    if isinstance(cache.filled, int):  # what is behind the last row is not looked at
        seen = cache.filled + q.rows
        k, v = (
            Heads(
                one if seen == cache.total else body.slice(one, 2, 0, seen),
                q.batch,
                groups,
                seen,
                q.size,
            )
            for one in present
        )
    else:
        k, v = (Heads(one, q.batch, groups, cache.total, q.size) for one in present)
    _attend(body, q, k, v, cache)


def _refuse(body: Body) -> None:
    node = body.node
    if any(node.attribute(name, value) != value for name, value in FREE.items()):
        what = "windows of a cache, caches of integers and scores as a result"
        raise UnsupportedNode(f"{what} are not supported")
    kinds = [node.attribute(f"{one}_quant_type", b"NONE") for one in "kv"]
    if (
        node.input(SCALES)
        or node.input(VALID)
        or any(kind not in (b"NONE", "NONE") for kind in kinds)
    ):
        raise UnsupportedNode("neither caches of integers nor padded chunks are supported")
    if any(node.outputs[3:]):
        raise UnsupportedNode("products of queries and keys are not given")


def _parts(body: Body, heads: int, groups: int) -> list[Heads]:
    """Queries, keys and values as heads, also of one packed tensor."""
    node = body.node
    batch, rows, width = body.shape(0)
    if node.input(1):
        shapes = [body.shape(index) for index in range(3)]
        return [
            split_heads(body, node.inputs[index], shape, count)
            for index, (shape, count) in enumerate(
                zip(shapes, (heads, groups, groups), strict=True)
            )
        ]
    size = width // (heads + 2 * groups)
    found, start = list[Heads](), 0
    for count in (heads, groups, groups):
        part = body.slice(node.inputs[0], 2, start * size, (start + count) * size)
        found.append(split_heads(body, part, (batch, rows, count * size), count))
        start += count
    return found


def _cache(body: Body, q: Heads) -> _Cache:
    node = body.node
    rows = body.shape(PAST)[2] if node.input(PAST) else 0
    total = body.numbers(TOTAL, "total sequence length")
    longest = total[0] if total else rows + q.rows
    if longest == q.rows or not rows:  # the first rows of all
        return _Cache(rows, max(rows, q.rows), 0)
    last = body.value(LENGTHS)
    if last is not None and len(set(last.reshape(-1).tolist())) == 1:
        return _Cache(rows, max(rows, longest), int(last.reshape(-1)[0]) + 1 - q.rows)
    if longest == rows + q.rows and q.batch == 1:
        return _Cache(rows, longest, rows)
    ends = body.reshape(body.add("Cast", node.inputs[LENGTHS], to=7), (q.batch, 1))
    before = body.constant(np.array([[1 - q.rows]], np.int64))
    return _Cache(rows, max(rows, longest), body.add("Add", ends, before))


def _normed(body: Body, part: Heads, index: int) -> Heads:
    """Each head's rows divided by their root mean square, times a factor of each column."""
    epsilon = body.node.attribute("qk_norm_epsilon", 1e-6)
    epsilon = body.node.attribute(f"{'qk'[index]}_norm_epsilon", epsilon)
    factor = body.node.inputs[NORMS + index]
    name = body.add("RMSNormalization", part.name, factor, axis=-1, epsilon=epsilon)
    return part.named(name)


def _turned(body: Body, parts: tuple[Heads, Heads], cache: _Cache) -> list[Heads]:
    """Queries and keys turned by the angles of their places."""
    node, (q, _) = body.node, parts
    interleaved = bool(node.attribute("rotary_interleaved", 0))
    steps = np.arange(q.rows, dtype=np.int64)[None]
    if isinstance(cache.filled, int):
        places = body.constant(np.tile(steps + cache.filled, (q.batch, 1)))
    else:
        places = body.add("Add", body.constant(steps), cache.filled)
    if node.input(PLACES):
        places = node.inputs[PLACES]
    tables = node.inputs[COS], node.inputs[COS + 1]
    width = 2 * body.shape(COS)[1]
    return [part.named(rotated(body, part, places, tables, width, interleaved)) for part in parts]


def _present(body: Body, new: Heads, index: int, cache: _Cache) -> str:
    """What is remembered of keys (0) or values (1), with the new rows."""
    if not cache.rows:
        return new.name
    past = body.node.inputs[PAST + index]
    if isinstance(cache.filled, int):
        end = cache.filled + new.rows
        pieces = [body.slice(past, 2, 0, cache.filled)] if 0 < cache.filled < cache.rows else []
        pieces = [past] if cache.filled == cache.rows else pieces
        pieces.append(new.name)
        if end < cache.rows:
            pieces.append(body.slice(past, 2, end, cache.rows))
        return body.add("Concat", *pieces, axis=2) if len(pieces) > 1 else pieces[0]
    if cache.total > cache.rows:
        shape = (new.batch, new.heads, cache.total - cache.rows, new.size)
        room = body.add("CastLike", body.constant(np.zeros(shape, np.float32)), past)
        past = body.add("Concat", past, room, axis=2)
    # element j of the result is new row i where j = filled + i
    rows = body.constant(np.arange(cache.total, dtype=np.int64).reshape(1, 1, -1, 1))
    filled = body.reshape(cache.filled, (new.batch, 1, 1, 1))
    written, inside = new.name, body.add("Equal", rows, filled)
    if new.rows > 1:
        steps = body.constant(np.arange(new.rows, dtype=np.int64).reshape(1, 1, 1, -1))
        one = body.add("Equal", rows, body.add("Add", steps, filled))
        written = body.add("MatMul", body.add("CastLike", one, new.name), new.name)
        behind = body.add("Not", body.add("Less", rows, filled))
        end = body.add("Add", filled, body.constant(np.array(new.rows, np.int64)))
        inside = body.add("And", behind, body.add("Less", rows, end))
    return body.add("Where", inside, written, past)


def _attend(body: Body, q: Heads, k: Heads, v: Heads, cache: _Cache) -> None:
    """Softmax(q k scale + masks) v as [batch, rows, width], the node's output."""
    node, each = body.node, q.heads // k.heads
    keys, values = (_for_each_head(body, part, each) for part in (k, v))
    scores = body.add("MatMul", q.name, body.transpose(keys, (0, 1, 3, 2)))
    scale = node.attribute("scale", 0.0) or 1 / sqrt(q.size)
    scores = body.add("Mul", scores, body.number(scale, node.inputs[0]))
    if cap := node.attribute("softcap", 0.0):
        limit = body.number(cap, node.inputs[0])
        scores = body.add("Mul", body.add("Tanh", body.add("Div", scores, limit)), limit)
    if (hidden := _hidden(body, q, k, cache)) is not None:
        scores = body.add("Add", scores, body.add("CastLike", hidden, scores))
    if node.input(BIAS):
        more = node.inputs[BIAS]
        if body.shape(BIAS)[-1] > k.rows:
            more = body.slice(more, 3, 0, k.rows)
        scores = body.add("Add", scores, more)
    if node.input(SINK) or node.attribute("smooth_softmax", 0):
        shape = (q.batch, q.heads, q.rows, 1)
        if node.input(SINK):
            one = body.reshape(node.inputs[SINK], (1, q.heads, 1, 1))
            sink = body.add("Expand", one, body.constant(shape))
        else:
            sink = body.add("CastLike", body.constant(np.zeros(shape, np.float32)), scores)
        shares = body.add("Softmax", body.add("Concat", scores, sink, axis=3), axis=-1)
        shares = body.slice(shares, 3, 0, k.rows)
    else:
        shares = body.add("Softmax", scores, axis=-1)
    together = body.transpose(body.add("MatMul", shares, values), (0, 2, 1, 3))
    body.reshape(together, (q.batch, q.rows, q.heads * q.size), node.output)


def _for_each_head(body: Body, part: Heads, each: int) -> str:
    if each == 1:
        return part.name
    apart = body.reshape(part.name, (part.batch, part.heads, 1, part.rows, part.size))
    wide = (part.batch, part.heads, each, part.rows, part.size)
    wider = body.add("Expand", apart, body.constant(wide))
    return body.reshape(wider, (part.batch, part.heads * each, part.rows, part.size))


def _hidden(body: Body, q: Heads, k: Heads, cache: _Cache) -> str | None:
    """What is added to scores of keys that a row does not see: those behind it and those farther
    before it than a window, and where the memory is not full; None where all are seen."""
    window = body.node.attribute("local_window_size", -1)
    causal = bool(body.node.attribute("causal", 1))
    keys, rows = np.arange(k.rows, dtype=np.int64)[None], np.arange(q.rows, dtype=np.int64)[:, None]
    if isinstance(cache.filled, int):
        last = rows + cache.filled if causal else np.full_like(rows, k.rows - 1)
        seen = keys <= last
        if window >= 0:
            seen &= keys > last - window
        if seen.all():
            return None
        return body.constant(np.where(seen, 0, -np.inf).astype(np.float32)[None, None])
    last_seen = rows if causal else np.full_like(rows, q.rows - 1)
    filled = body.reshape(cache.filled, (q.batch, 1, 1, 1))
    last = body.add("Add", body.constant(last_seen[None, None]), filled)
    hidden = body.add("Greater", body.constant(keys[None, None]), last)
    if window >= 0:
        first = body.add("Sub", last, body.constant(np.array(window - 1, np.int64)))
        before = body.add("Less", body.constant(keys[None, None]), first)
        hidden = body.add("Or", hidden, before)
    least = body.constant(float(np.finfo(np.float32).min))
    return body.add("Where", hidden, least, body.constant(0.0))


COMPOSED: dict[str, Composition] = {"GroupQueryAttention": grouped_attention}
