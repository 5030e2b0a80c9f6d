"""The attention of a layer: projections, rotary embeddings, scores and what they mix."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i64

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.language_models import CAUSAL, WINDOW
from xdsl_tpu.frontend.llm.architectures import HeadNorms
from xdsl_tpu.frontend.llm.build import NetBuilder, Value
from xdsl_tpu.frontend.llm.config import ModelConfig
from xdsl_tpu.frontend.llm.model import LanguageModel, Layer, Linear, Norm
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
    norms = config.architecture.head_norms
    x, rows, size = given.x, net.shape(given.x)[1], config.head_dim

    def normed(role: str, value: Value, name: str = "") -> Value:
        """Queries or keys with their norm, if the model has one."""
        norm, own = _norm(config, index, layer, role), f"{prefix}{role}_norm"
        return value if norm is None else net.norm(name or own, value, norm, own)

    made = {
        role: net.linear(f"{prefix}{role}_proj", _in_order(config, index, layer, role), x)
        for role in ("q", "k", "v")
    }
    if config.clip is not None:
        made = {
            role: net.op(top.ClipOp, f"{prefix}{role}_proj.clip", [value], net.shape(value),
                         min=-config.clip, max=config.clip)
            for role, value in made.items()
        }  # fmt: skip
    if norms is HeadNorms.OF_ALL:
        made = {role: normed(role, value) for role, value in made.items()}
    names = {"q": f"{prefix}q_proj.reshape", "k": f"{prefix}k_proj.reshape", "v": "v_cache"}
    split = {
        role: net.reshape(names[role], value, (1, rows, config.rows(role) // size, size))
        for role, value in made.items()
    }
    if norms in (HeadNorms.OF_EACH, HeadNorms.OWN):
        split = {role: normed(role, value) for role, value in split.items()}
    last = {"q": "q_proj", "k": "k_cache"}
    is_last = norms is not HeadNorms.BEHIND_ROTARY
    q, k = (
        net.op(top.RopeOp, name if is_last else f"{prefix}{role}_proj.turned",
               [split[role], given.sine, given.cosine], net.shape(split[role]),
               rope_mode="contiguous_halves")
        for role, name in last.items()
    )  # fmt: skip
    if not is_last:
        q, k = (normed(role, one, last[role]) for role, one in (("q", q), ("k", k)))
    keys, values = k, split["v"]
    if given.history:
        all_keys = (1, net.shape(given.mask)[-1], config.kv_heads, size)
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

    Where only a part of a head turns, its halves and those of the rest take turns; neighbours that
    are a pair come apart. Scores do not depend on the order, which is the same in queries and keys.
    """
    half, rest = rotary.dim // 2, (head_dim - rotary.dim) // 2
    at = np.arange(head_dim)
    turning, resting = at[: rotary.dim], at[rotary.dim :]
    if rotary.neighbours:
        turning = np.concatenate([turning[::2], turning[1::2]])
    parts = (turning[:half], resting[:rest], turning[half:], resting[rest:])
    return np.concatenate(parts)


def _in_order(config: ModelConfig, index: int, layer: Layer, role: str) -> Linear:
    """The projection with the rows of each head in order; values keep theirs."""
    linear, order = layer.linears[role], head_order(config.rotary[index], config.head_dim)
    if role == "v" or np.array_equal(order, np.arange(config.head_dim)):
        return linear
    return linear.rows(_of_heads(order, config.rows(role)))


def _norm(config: ModelConfig, index: int, layer: Layer, role: str) -> Norm | None:
    """The norm of queries or keys in order, if there is one."""
    norm = layer.norms.get(f"{role}_norm")
    order = head_order(config.rotary[index], config.head_dim)
    elements = config.normed(f"{role}_norm")[-1]
    return None if norm is None else norm.ordered(_of_heads(order, elements))


def _of_heads(order: npt.NDArray[np.int64], rows: int) -> npt.NDArray[np.int64]:
    """The same order in each of the heads that so many rows are of."""
    return (np.arange(0, rows, len(order))[:, None] + order).reshape(-1)


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
