"""The attention of a layer: projections, rotary embeddings, scores and what they mix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.language_models import CAUSAL, WINDOW
from xdsl_tpu.frontend.llm.build import NetBuilder, Value
from xdsl_tpu.frontend.llm.model import LanguageModel, Layer, Linear
from xdsl_tpu.frontend.llm.rotary import Rotary

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Attending:
    """What an attention is given: its tokens, cosines and sines of their positions, the mask, and
    keys and values of tokens before them, if there are any."""

    x: Value
    cosine: Value
    sine: Value
    mask: Value
    history: Sequence[Value]


@dataclass(frozen=True)
class Attended:
    """The output of an attention, and the keys and values of its tokens."""

    output: Value
    keys: Value
    values: Value


def attention(
    net: NetBuilder, model: LanguageModel, index: int, layer: Layer, given: Attending
) -> Attended:
    """Attention of tokens to themselves and to those before them."""
    config = model.config
    prefix = f"model.layers.{index}.self_attn."
    order = head_order(config.rotary[index], config.head_dim)
    x, rows = given.x, net.shape(given.x)[1]
    made = {
        role: net.linear(f"{prefix}{role}_proj", _ordered(layer, role, config.head_dim, order), x)
        for role in ("q", "k", "v")
    }
    heads = {"q": config.heads, "k": config.kv_heads, "v": config.kv_heads}
    names = {"q": f"{prefix}q_proj.reshape", "k": f"{prefix}k_proj.reshape", "v": "v_cache"}
    split = {
        role: net.reshape(names[role], value, (1, rows, heads[role], config.head_dim))
        for role, value in made.items()
    }
    for role in ("q", "k"):
        if f"{role}_norm" in layer.norms:
            weights = layer.norms[f"{role}_norm"][order]
            split[role] = net.norm(f"{prefix}{role}_norm", split[role], weights, config.eps)
    q, k = (
        net.op(top.RopeOp, name, [split[role], given.sine, given.cosine], net.shape(split[role]),
               rope_mode="contiguous_halves")
        for role, name in (("q", "q_proj"), ("k", "k_cache"))
    )  # fmt: skip
    keys, values = k, split["v"]
    if given.history:
        all_keys = (1, net.shape(given.mask)[-1], config.kv_heads, config.head_dim)
        keys, values = (
            net.op(top.ConcatOp, f"{prefix}{role}_proj.concat", [old, new], all_keys,
                   axis=1, only_merge=True)
            for role, old, new in zip("kv", given.history, (k, split["v"]), strict=True)
        )  # fmt: skip
    mix = _fused if config.score_cap is None else _capped
    mixed = mix(net, model, index, q, keys, values, given.mask)
    output = net.linear(f"{prefix}o_proj", layer.linears["o"], mixed)
    return Attended(output, k, split["v"])


def head_order(rotary: Rotary, head_dim: int) -> npt.NDArray[np.int64]:
    """Which element of a head comes where, so that pairs that turn are half a head apart.

    Where only a part of a head turns, its halves and those of the rest take turns. Scores do not
    depend on the order, which is the same in queries and keys.
    """
    half, rest = rotary.dim // 2, (head_dim - rotary.dim) // 2
    at = np.arange(head_dim)
    turning, resting = at[: rotary.dim], at[rotary.dim :]
    parts = (turning[:half], resting[:rest], turning[half:], resting[rest:])
    return np.concatenate(parts)


def _ordered(layer: Layer, role: str, head_dim: int, order: npt.NDArray[np.int64]) -> Linear:
    """The projection with the rows of each head in order; values keep theirs."""
    linear = layer.linears[role]
    if role == "v" or np.array_equal(order, np.arange(head_dim)):
        return linear
    heads = linear.matrix.shape[0] // head_dim
    return linear.rows((np.arange(heads)[:, None] * head_dim + order).reshape(-1))


def rotary_tables(rotary: Rotary, head_dim: int, length: int) -> tuple[Floats, Floats]:
    """Cosines and sines [length, 1, head_dim], elements in the order of `head_order`."""
    cosine, sine = rotary.tables(length)
    rest = ((0, 0), (0, (head_dim - rotary.dim) // 2))
    wide: list[Any] = [
        np.pad(cosine, rest, constant_values=1.0),
        np.pad(sine, rest, constant_values=0.0),
    ]
    return tuple(np.concatenate([one, one], axis=1)[:, None] for one in wide)  # pyright: ignore[reportReturnType]


def angles(
    net: NetBuilder, rotary: Rotary, head_dim: int, length: int, positions: Value
) -> tuple[Value, Value]:
    """Cosines and sines of the positions, rows of tables for sequences of up to `length`."""
    rows = net.shape(positions)[1]
    found: list[Value] = []
    tables = rotary_tables(rotary, head_dim, length)
    for name, table in zip(("rotary_cos", "rotary_sin"), tables, strict=True):
        weight = net.weight(f"{name}.weight", table)
        shape = (1, rows, 1, head_dim)
        found.append(net.op(top.GatherOp, name, [weight, positions], shape, axis=0, keepdims=True))
    return found[0], found[1]


def _fused(
    net: NetBuilder, model: LanguageModel, index: int, q: Value, k: Value, v: Value, mask: Value
) -> Value:
    """One op for all heads; no row sees keys behind its own, nor those before its window."""
    config = model.config
    rows, keys = net.shape(q)[1], net.shape(k)[1]
    out = net.op(
        top.FAttentionOp,
        f"model.layers.{index}.fattention",
        [q, k, v, mask, net.none],
        (1, rows, config.heads * config.head_dim),
        batch=1, dim=config.head_dim, keep_dims=False, kv_head=config.kv_heads, mask_size=0,
        mk=keys, mq=rows, q_head=config.heads, scale=config.scale,
    )  # fmt: skip
    window = config.windows[index]
    if rows > 1:
        net.mark(out, CAUSAL, BoolAttr.from_bool(True))
    if rows > 1 and window is not None and window < keys:
        net.mark(out, WINDOW, IntegerAttr(window, i64))
    return out


def _capped(
    net: NetBuilder, model: LanguageModel, index: int, q: Value, k: Value, v: Value, mask: Value
) -> Value:
    """Scores that a tanh limits: products, mask and softmax, heads that share keys as rows."""
    config = model.config
    assert config.score_cap is not None
    name = f"model.layers.{index}.attention"
    rows, keys, size = net.shape(q)[1], net.shape(k)[1], config.head_dim
    groups, shared = config.kv_heads, config.heads // config.kv_heads
    many = shared * rows
    q = net.reshape(f"{name}.q_groups", q, (1, rows, groups, shared, size))
    q = net.op(top.PermuteOp, f"{name}.q_rows", [q], (1, groups, shared, rows, size),
               order=(0, 2, 3, 1, 4))  # fmt: skip
    q = net.reshape(f"{name}.q", q, (1, groups, many, size))
    q = net.op(top.MulConstOp, f"{name}.scaled", [q], (1, groups, many, size),
               const_val=config.scale)  # fmt: skip
    k, v = (
        net.op(top.PermuteOp, f"{name}.{which}", [value], (1, groups, keys, size),
               order=(0, 2, 1, 3))
        for which, value in (("k", k), ("v", v))
    )  # fmt: skip
    scores = net.op(top.MatMulOp, f"{name}.scores", [q, k, net.none], (1, groups, many, keys),
                    right_transpose=True)  # fmt: skip
    scores = net.capped(f"{name}.capped", scores, config.score_cap)
    by_head = (1, config.heads, rows, keys)
    scores = net.reshape(f"{name}.by_head", scores, by_head)
    scores = net.op(top.AddOp, f"{name}.masked", [scores, mask], by_head)
    shares = net.op(top.SoftmaxOp, f"{name}.softmax", [scores], by_head, axis=3)
    shares = net.reshape(f"{name}.shares", shares, (1, groups, many, keys))
    mixed = net.op(top.MatMulOp, f"{name}.mixed", [shares, v, net.none], (1, groups, many, size))
    mixed = net.reshape(f"{name}.heads", mixed, (1, config.heads, rows, size))
    mixed = net.op(top.PermuteOp, f"{name}.rows", [mixed], (1, rows, config.heads, size),
                   order=(0, 2, 1, 3))  # fmt: skip
    return net.reshape(f"model.layers.{index}.fattention", mixed, (1, rows, config.heads * size))
