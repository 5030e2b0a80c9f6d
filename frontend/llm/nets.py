"""The nets of a language model as `top` modules, with the names and shapes that its hosts expect.

embedding       input_ids [1, S] -> embedding [1, S, hidden]; embedding_cache is that of one token
block_i         input_states [1, S, hidden], position_ids [1, S], attention_mask [1, 1, S, S] ->
                output_states [1, S, hidden], k_cache and v_cache [1, S, kv heads, head]
block_cache_i   the same for one token, whose mask is [1, 1, 1, L + 1], with history_k and history_v
                [1, L, kv heads, head]; of n tokens in one step it is [1, 1, n, L + n]
block_kv_i      the same for S tokens of a prompt behind L others
lm_head         hidden_states [1, hidden] -> logits [1, vocabulary], of n tokens [n, vocabulary]
greedy_head     m_logits [1, vocabulary] -> token_id [1, 1], the first of the largest

A mask is 0 where a position is seen and -10000 elsewhere; the last entries of a mask with history
are the new tokens themselves. The last block ends with the model's last norm.
"""

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import InputRange
from xdsl_tpu.frontend.llm.attention import Attending, angles, attention
from xdsl_tpu.frontend.llm.build import NetBuilder, Value
from xdsl_tpu.frontend.llm.model import LanguageModel, Layer
from xdsl_tpu.frontend.llm.stages import Block

Floats = npt.NDArray[np.float32]

HIDDEN_MASK = -10000.0
"""Of a score that does not count; maxima of rows start at -15000."""


def check_length(model: LanguageModel, length: int) -> None:
    """Raise TpuError for a sequence length that the model is not made for."""
    limit = max(rotary.reach for rotary in model.config.rotary)
    if not 2 <= length <= limit:
        raise TpuError(f"sequences of {length} tokens: the model takes from 2 to {limit}")


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


def head_net(model: LanguageModel, rows: int = 1) -> ModuleOp:
    """Logits of a token, or of `rows` tokens, from what the last block makes of them."""
    net, config = NetBuilder("lm_head"), model.config
    x = net.input("hidden_states", (rows, config.hidden))
    if config.logit_scale != 1.0:
        x = net.op(top.MulConstOp, "hidden_states.scaled", [x], (rows, config.hidden),
                   const_val=config.logit_scale)  # fmt: skip
    capped = config.logit_cap is not None
    name = "logits.raw" if capped else "logits"
    logits = net.head(name, model.head(), x)
    if config.logit_cap is not None:
        logits = net.capped("logits", logits, config.logit_cap)
    return net.finish([logits])


def greedy_net(model: LanguageModel) -> ModuleOp:
    """The most likely token."""
    net = NetBuilder("greedy_head", separate_io=True)
    logits = net.input("m_logits", (1, model.config.vocabulary))
    return net.finish([net.place_of_largest("token_id", logits)])


def block_net(
    model: LanguageModel, index: int, length: int, layer: Layer | None = None, reach: int = 0
) -> ModuleOp:
    """Layer `index` for `length` tokens from the beginning of a sequence of up to `reach`."""
    net = NetBuilder(f"block_{index}", kept_inputs=True)
    block = Block(index, length, reach=reach)
    return _block(net, model, block, layer or model.layer(index))


def block_cache_net(
    model: LanguageModel, index: int, length: int, layer: Layer | None = None, rows: int = 1
) -> ModuleOp:
    """Layer `index` for `rows` tokens, mostly one, behind a history of up to `length` tokens."""
    return history_net(model, "block_cache", Block(index, rows, length), layer)


def history_net(
    model: LanguageModel, kind: str, block: Block, layer: Layer | None = None
) -> ModuleOp:
    """A block with history; `kind` is block_cache for steps of decoding, block_kv for chunks of a
    prompt."""
    net = NetBuilder(f"{kind}_{block.index}", separate_io=True, rooms=block.rooms)
    return _block(net, model, block, layer or model.layer(block.index))


def _block(net: NetBuilder, model: LanguageModel, block: Block, layer: Layer) -> ModuleOp:
    config, rows = model.config, block.rows
    prefix = f"model.layers.{block.index}."
    shape = (1, rows, config.hidden)
    x = net.input("input_states", shape)
    positions = net.input("position_ids", (1, rows), InputRange(0, block.positions))
    mask = net.input("attention_mask", (1, 1, rows, block.keys))
    cache: list[Value] = []
    if block.history:
        old = (1, block.history, config.kv_heads, config.head_dim)
        cache = [net.input(name, old) for name in ("history_k", "history_v")]
    last = block.index == config.layers - 1
    final = model.final_norm() if last else None

    def norm(role: str, value: Value) -> Value:
        if role not in layer.norms:
            return value
        return net.norm(prefix + config.architecture.norms[role], value, layer.norms[role])

    def residual(role: str, name: str, before: Value, value: Value) -> Value:
        value = norm(role, value)
        if config.residual_scale != 1.0:
            value = net.op(top.MulConstOp, f"{name}.scaled", [value], shape,
                           const_val=config.residual_scale)  # fmt: skip
        return net.op(top.AddOp, name, [before, value], shape)

    cosine, sine = angles(
        net, config.rotary[block.index], config.head_dim, block.positions, positions
    )
    given = Attending(norm("attention_in", x), cosine, sine, mask, cache)
    found = attention(net, model, block.index, layer, given)
    before = x
    x = residual("attention_out", f"{prefix}self_attn.o_proj.add", x, found.output)
    y = x
    if config.architecture.parallel:
        y = before if "mlp_in" in layer.norms else given.x
    y = _mlp(net, model, prefix, layer, norm("mlp_in", y))
    x = residual("mlp_out", f"{prefix}mlp.down_proj.add" if last else "output_states", x, y)
    if final is not None:
        x = net.norm("output_states", x, final, "model.norm")
    return net.finish([x, found.keys, found.values])


def _mlp(net: NetBuilder, model: LanguageModel, prefix: str, layer: Layer, x: Value) -> Value:
    """down(activation(gate(x)) * up(x)), or without a gate down(activation(up(x)))."""
    name, down = f"{prefix}mlp", layer.linears["down"]
    if "gate" not in layer.linears:
        up = net.linear(f"{name}.up_proj", layer.linears["up"], x)
        up = net.activation(f"{name}.up_proj", model.config.activation, up)
        return net.linear(f"{name}.down_proj", down, up)
    gate = net.linear(f"{name}.gate_proj", layer.linears["gate"], x)
    gate = net.activation(f"{name}.gate_proj", model.config.activation, gate)
    up = net.linear(f"{name}.up_proj", layer.linears["up"], x)
    shape = net.shape(up)
    y = net.op(top.MulOp, f"{name}.up_proj.mul", [gate, up], shape)
    return net.linear(f"{name}.down_proj", down, y)


def prefill_mask(length: int, window: int | None) -> Floats:
    """The mask [1, 1, length, length] of a prompt from its beginning; what follows a shorter
    prompt is seen by no token of it."""
    distance = np.arange(length)[:, None] - np.arange(length)
    seen = (distance >= 0) & (distance < (window or length))
    return np.where(seen, 0.0, HIDDEN_MASK).astype(np.float32)[None, None]


def decode_mask(position: int, length: int, window: int | None, rows: int = 1) -> Floats:
    """The mask [1, 1, rows, length + rows] of `rows` tokens from `position` on: the history, of
    which the first `position` tokens are there, and then they themselves, each behind the last."""
    old, new = np.arange(length), np.arange(rows)
    at = np.concatenate([np.where(old < position, old, position + rows), position + new])
    distance = (position + new)[:, None] - at
    seen = (distance >= 0) & (distance < (window or length + rows))
    return np.where(seen, 0.0, HIDDEN_MASK).astype(np.float32)[None, None]
