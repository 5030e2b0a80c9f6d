"""The nets of a language model as `top` modules, with the names and shapes that its hosts expect.

embedding       input_ids [1, S] -> embedding [1, S, hidden]; embedding_cache is that of one token
block_i         input_states [1, S, hidden], position_ids [1, S], attention_mask [1, 1, S, S] ->
                output_states [1, S, hidden], k_cache and v_cache [1, S, kv heads, head]
block_cache_i   the same for one token, whose mask is [1, 1, 1, L + 1], with history_k and history_v
                [1, L, kv heads, head]; of n tokens in one step it is [1, 1, n, L + n]
lm_head         hidden_states [1, hidden] -> logits [1, vocabulary]

A mask is 0 where a position is seen and -10000 elsewhere; the last entry of a decoding mask is the
new token itself. The last block ends with the model's last norm.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import InputRange
from xdsl_tpu.frontend.llm.attention import attention
from xdsl_tpu.frontend.llm.build import NetBuilder, Value
from xdsl_tpu.frontend.llm.model import LanguageModel, Layer

Floats = npt.NDArray[np.float32]

HIDDEN_MASK = -10000.0
"""Of a score that does not count; maxima of rows start at -15000."""


def check_length(model: LanguageModel, length: int) -> None:
    """Raise TpuError for a sequence length that the model is not made for."""
    limit = max(rotary.reach for rotary in model.config.rotary)
    if not 2 <= length <= limit:
        raise TpuError(f"sequences of {length} tokens: the model takes from 2 to {limit}")


def net_names(model: LanguageModel) -> Iterator[str]:
    """All nets, in the order of a bmodel."""
    layers = range(model.config.layers)
    yield "embedding"
    yield from (f"block_{index}" for index in layers)
    yield "embedding_cache"
    yield from (f"block_cache_{index}" for index in layers)
    yield "lm_head"


def embedding_net(model: LanguageModel, name: str, length: int) -> ModuleOp:
    """Embeddings of `length` tokens."""
    net, config = NetBuilder(name), model.config
    ids = net.input("input_ids", (1, length), InputRange(0, config.vocabulary))
    table = net.weight("model.embed_tokens.weight", model.embedding())
    scaled = config.embedding_scale != 1.0
    shape = (1, length, config.hidden)
    out = net.op(top.GatherOp, "embedding.gather" if scaled else "embedding", [table, ids], shape,
                 axis=0, keepdims=True)  # fmt: skip
    if scaled:
        out = net.op(top.MulConstOp, "embedding", [out], shape, const_val=config.embedding_scale)
    return net.finish([out])


def head_net(model: LanguageModel) -> ModuleOp:
    """Logits of one token from what the last block makes of it."""
    net, config = NetBuilder("lm_head"), model.config
    x = net.input("hidden_states", (1, config.hidden))
    if config.logit_scale != 1.0:
        x = net.op(top.MulConstOp, "hidden_states.scaled", [x], (1, config.hidden),
                   const_val=config.logit_scale)  # fmt: skip
    capped = config.logit_cap is not None
    name = "logits.raw" if capped else "logits"
    logits = net.head(name, model.head(), x)
    if config.logit_cap is not None:
        logits = net.capped("logits", logits, config.logit_cap)
    return net.finish([logits])


def block_net(
    model: LanguageModel, index: int, length: int, layer: Layer | None = None
) -> ModuleOp:
    """Layer `index` for `length` tokens from the beginning of a sequence."""
    net = NetBuilder(f"block_{index}")
    return _block(net, model, index, length, length, layer or model.layer(index), history=False)


def block_cache_net(
    model: LanguageModel, index: int, length: int, layer: Layer | None = None, rows: int = 1
) -> ModuleOp:
    """Layer `index` for `rows` tokens, mostly one, behind a history of up to `length` tokens."""
    net = NetBuilder(f"block_cache_{index}", separate_io=True)
    return _block(net, model, index, rows, length, layer or model.layer(index), history=True)


def _block(
    net: NetBuilder,
    model: LanguageModel,
    index: int,
    rows: int,
    length: int,
    layer: Layer,
    history: bool,
) -> ModuleOp:
    config = model.config
    prefix = f"model.layers.{index}."
    shape = (1, rows, config.hidden)
    x = net.input("input_states", shape)
    positions = net.input("position_ids", (1, rows), InputRange(0, length))
    mask = net.input("attention_mask", (1, 1, rows, length + rows if history else rows))
    cache: list[Value] = []
    if history:
        old = (1, length, config.kv_heads, config.head_dim)
        cache = [net.input(name, old) for name in ("history_k", "history_v")]
    last = index == config.layers - 1
    final = model.final_norm() if last else None

    def norm(role: str, value: Value) -> Value:
        if role not in layer.norms:
            return value
        name = prefix + config.architecture.norms[role]
        return net.norm(name, value, layer.norms[role], config.eps)

    def residual(role: str, name: str, before: Value, value: Value) -> Value:
        value = norm(role, value)
        if config.residual_scale != 1.0:
            value = net.op(top.MulConstOp, f"{name}.scaled", [value], shape,
                           const_val=config.residual_scale)  # fmt: skip
        return net.op(top.AddOp, name, [before, value], shape)

    found = attention(net, model, index, layer, norm("attention_in", x), positions, mask, cache)
    x = residual("attention_out", f"{prefix}self_attn.o_proj.add", x, found.output)
    y = _mlp(net, model, prefix, layer, norm("mlp_in", x))
    x = residual("mlp_out", f"{prefix}mlp.down_proj.add" if last else "output_states", x, y)
    if final is not None:
        x = net.norm("output_states", x, final, config.eps, "model.norm.weight")
    return net.finish([x, found.keys, found.values])


def _mlp(net: NetBuilder, model: LanguageModel, prefix: str, layer: Layer, x: Value) -> Value:
    """down(activation(gate(x)) * up(x))."""
    name = f"{prefix}mlp"
    gate = net.linear(f"{name}.gate_proj", layer.linears["gate"], x)
    gate = net.activation(f"{name}.gate_proj", model.config.activation, gate)
    up = net.linear(f"{name}.up_proj", layer.linears["up"], x)
    shape = net.shape(up)
    y = net.op(top.MulOp, f"{name}.up_proj.mul", [gate, up], shape)
    return net.linear(f"{name}.down_proj", layer.linears["down"], y)


def prefill_mask(length: int, window: int | None) -> Floats:
    """The mask [1, 1, length, length] of a prompt from its beginning; what follows a shorter
    prompt is seen by no token of it."""
    distance = np.arange(length)[:, None] - np.arange(length)
    seen = (distance >= 0) & (distance < (window or length))
    return np.where(seen, 0.0, HIDDEN_MASK).astype(np.float32)[None, None]


def decode_mask(position: int, length: int, window: int | None) -> Floats:
    """The mask [1, 1, 1, length + 1] of the token at `position`: its history and, last, itself."""
    at = np.arange(length + 1)
    seen = (at < position) & (position - at < (window or length + 1))
    seen[-1] = True
    return np.where(seen, 0.0, HIDDEN_MASK).astype(np.float32)[None, None, None]
