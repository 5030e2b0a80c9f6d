"""A language model in float arithmetic, written without the compiler: what its programs shall say.

Weights are those of the `LanguageModel`, quantised ones restored; nothing is rounded on the way
unless the arrays are.
"""

from collections.abc import Callable, Mapping, Sequence
from math import erf
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.frontend.llm.architectures import HeadNorms
from xdsl_tpu.frontend.llm.config import ModelConfig
from xdsl_tpu.frontend.llm.model import LanguageModel, Layer, Linear, Norm
from xdsl_tpu.frontend.llm.rotary import Rotary

Floats = npt.NDArray[np.floating[Any]]


class Reference:
    """Logits of token sequences, in float32 or float64 (`dtype`)."""

    def __init__(self, model: LanguageModel, dtype: Any = np.float32) -> None:
        self.config: ModelConfig = model.config
        self._dtype = np.dtype(dtype)
        layers = [model.layer(index) for index in range(self.config.layers)]
        self._layers = [_in(dtype, layer) for layer in layers]
        self._norms = [layer.norms for layer in layers]
        self._embedding = model.embedding().astype(dtype)
        self._final = model.final_norm()
        head = model.head()
        self._head = head.floats().astype(dtype)
        self._head_bias = _bias(head, dtype)
        self.keys: list[Floats] = []
        self.values: list[Floats] = []

    def logits(self, ids: Sequence[int], length: int | None = None) -> Floats:
        """Logits [len(ids), vocabulary] of a sequence from its beginning.

        `length` is that of the rotary tables, which some scalings depend on.
        """
        return self._read_out(self.states(ids, length))

    def states(self, ids: Sequence[int], length: int | None = None) -> Floats:
        """What comes out of the last layer's norm, [len(ids), hidden]; keeps keys and values."""
        config = self.config
        x = self._embedding[np.asarray(ids)] * self._dtype.type(config.embedding_scale)
        self.keys, self.values = [], []
        scale = self._dtype.type(config.residual_scale)
        for index, (layer, norms) in enumerate(zip(self._layers, self._norms, strict=True)):
            read = _maybe_normed(x, norms, "attention_in")
            y = self._attention(read, layer, index, length or len(ids))
            attended = x + scale * _maybe_normed(y, norms, "attention_out")
            if not config.architecture.parallel:
                read = _maybe_normed(attended, norms, "mlp_in")
            elif "mlp_in" in norms:
                read = _maybe_normed(x, norms, "mlp_in")
            y = self._mlp(read, layer)
            x = attended + scale * _maybe_normed(y, norms, "mlp_out")
        return _normed(x, self._final)

    def _mlp(self, x: Floats, layer: Mapping[str, Floats]) -> Floats:
        act = ACTIVATIONS[self.config.activation]
        up = x @ layer["up"].T + layer["up_bias"]
        gated = "gate" in layer
        made = act(x @ layer["gate"].T + layer["gate_bias"]) * up if gated else act(up)
        return made @ layer["down"].T + layer["down_bias"]

    def _read_out(self, states: Floats) -> Floats:
        found = (states * self._dtype.type(self.config.logit_scale)) @ self._head.T
        return _capped(found + self._head_bias, self.config.logit_cap)

    def _attention(self, x: Floats, layer: Mapping[str, Floats], index: int, length: int) -> Floats:
        config, rows = self.config, len(x)
        kind, rotary = config.architecture.head_norms, config.rotary[index]
        norms = self._norms[index]
        heads: dict[str, Floats] = {}
        for role in ("q", "k", "v"):
            made = x @ layer[role].T + layer[f"{role}_bias"]
            if config.clip is not None:
                made = np.clip(made, -config.clip, config.clip)
            if kind is HeadNorms.OF_ALL:
                made = _maybe_normed(made, norms, f"{role}_norm")
            heads[role] = made.reshape(rows, -1, config.head_dim)
        for role in ("q", "k"):
            if kind in (HeadNorms.OF_EACH, HeadNorms.OWN):
                heads[role] = _maybe_normed(heads[role], norms, f"{role}_norm")
            heads[role] = _turned(heads[role], rotary, length)
            if kind is HeadNorms.BEHIND_ROTARY:
                heads[role] = _maybe_normed(heads[role], norms, f"{role}_norm")
        self.keys.append(heads["k"])
        self.values.append(heads["v"])
        shared = np.arange(config.heads) * config.kv_heads // config.heads
        scores = np.einsum("mhd,nhd->hmn", heads["q"], heads["k"][:, shared]) * config.scale
        scores = _capped(scores, config.score_cap)
        shares = _softmax(np.where(seen(rows, config.windows[index]), scores, -np.inf))
        mixed = np.einsum("hmn,nhd->mhd", shares, heads["v"][:, shared])
        return mixed.reshape(rows, -1) @ layer["o"].T + layer["o_bias"]


def seen(rows: int, window: int | None) -> npt.NDArray[np.bool_]:
    """Which positions (columns) each row may look at."""
    distance = np.arange(rows)[:, None] - np.arange(rows)
    return (distance >= 0) & (distance < (window or rows))


def _in(dtype: Any, layer: Layer) -> dict[str, Floats]:
    """Matrices and biases of a layer by name; absent biases are 0."""
    found: dict[str, Floats] = {}
    for role, linear in layer.linears.items():
        found[role] = linear.floats().astype(dtype)
        found[f"{role}_bias"] = _bias(linear, dtype)
    return found


def _bias(linear: Linear, dtype: Any) -> Floats:
    bias = np.zeros(1, np.float32) if linear.bias is None else linear.bias
    return bias.astype(dtype)


def _normed(x: Floats, norm: Norm) -> Floats:
    """The norm of the last dimension, in the type of x."""
    dtype: Any = x.dtype
    if norm.centred:
        x = x - np.mean(x, axis=-1, keepdims=True)
    x = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + norm.eps)
    if norm.weight is not None:
        x = x * norm.weight.astype(dtype)
    if norm.bias is not None:
        x = x + norm.bias.astype(dtype)
    return x


def _maybe_normed(x: Floats, norms: Mapping[str, Norm], name: str) -> Floats:
    return _normed(x, norms[name]) if name in norms else x


def _turned(x: Floats, rotary: Rotary, length: int) -> Floats:
    """The first `rotary.dim` elements of each head, halves or neighbours as pairs, turned by the
    positions."""
    cosine, sine = (table[: len(x), None].astype(x.dtype) for table in rotary.tables(length))
    half, turned = rotary.dim // 2, x.copy()
    pairs = slice(half), slice(half, rotary.dim)
    if rotary.neighbours:
        pairs = slice(0, rotary.dim, 2), slice(1, rotary.dim, 2)
    first, second = (x[..., one] for one in pairs)
    turned[..., pairs[0]] = first * cosine - second * sine
    turned[..., pairs[1]] = second * cosine + first * sine
    return turned


def _capped(x: Floats, cap: float | None) -> Floats:
    return x if cap is None else cap * np.tanh(x / cap)


def _softmax(x: Floats) -> Floats:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _silu(x: Floats) -> Floats:
    return x / (1 + np.exp(-x))


def _gelu_tanh(x: Floats) -> Floats:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu(x: Floats) -> Floats:
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def _relu(x: Floats) -> Floats:
    return np.maximum(x, 0)


ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "silu": _silu,
    "gelu": _gelu,
    "gelu_pytorch_tanh": _gelu_tanh,
    "gelu_new": _gelu_tanh,
    "relu": _relu,
    "relu2": lambda x: _relu(x) ** 2,
}
