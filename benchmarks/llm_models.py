"""Published language models by their configurations, with seeded weights in their packed form.

What a net takes does not depend on the numbers in its matrices, so that bytes are drawn, not
quantised, and the matrices of a layer are made once for all layers alike.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from xdsl_tpu.dialects.packed_weights import PackedMatrix
from xdsl_tpu.frontend.llm.config import model_config
from xdsl_tpu.frontend.llm.formats import WeightFormat
from xdsl_tpu.frontend.llm.model import Floats, LanguageModel, Layer, Linear, Matrix, Norm

_QWEN2 = {"model_type": "qwen2", "hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 1e6}

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "qwen2.5-1.5b": {
        **_QWEN2,
        "hidden_size": 1536,
        "intermediate_size": 8960,
        "num_hidden_layers": 28,
        "num_attention_heads": 12,
        "num_key_value_heads": 2,
        "vocab_size": 151936,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": True,
    },
    "qwen2.5-7b": {
        **_QWEN2,
        "hidden_size": 3584,
        "intermediate_size": 18944,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "vocab_size": 152064,
        "max_position_embeddings": 32768,
        "tie_word_embeddings": False,
    },
    "qwen3-0.6b": {
        "model_type": "qwen3",
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "rope_theta": 1e6,
        "hidden_size": 1024,
        "intermediate_size": 3072,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
        "tie_word_embeddings": True,
    },
    "llama-3.2-1b": {
        "model_type": "llama",
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "hidden_size": 2048,
        "intermediate_size": 8192,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "vocab_size": 128256,
        "max_position_embeddings": 131072,
        "tie_word_embeddings": True,
    },
}
"""Entries of config.json by the name of the model."""

SPREAD = 0.02
"""Of the weights, in the middle of what is published."""


class SeededModel(LanguageModel):
    """A model without files: every matrix is random numbers of one seed."""

    def __init__(
        self,
        name: str,
        format: WeightFormat,
        seed: int = 0,
        configurations: Mapping[str, dict[str, Any]] = CONFIGURATIONS,
    ) -> None:
        self.config = model_config(configurations[name])
        self.format = format
        self._seed = seed
        self._layer: Layer | None = None

    def layer(self, index: int) -> Layer:
        """The weights of any layer: all are the same."""
        if self._layer is None:
            kind = self.config.architecture
            linears = {role: self._drawn(role) for role in kind.projections}
            norms = {role: self._plain_norm(role) for role in kind.all_norms}
            self._layer = Layer(linears, norms)
        return self._layer

    def final_norm(self) -> Norm:
        """The norm behind the last layer."""
        return self._plain_norm("final")

    def embedding(self) -> Floats:
        """Embeddings of all tokens [vocabulary, hidden]."""
        return self._floats(self.config.vocabulary, self.config.hidden, "embedding")

    def head(self) -> Linear:
        """The output matrix [vocabulary, hidden]."""
        sizes = self.config.vocabulary, self.config.hidden
        return Linear(self._matrix(*sizes, "head", self.format.head_bits))

    def _plain_norm(self, role: str) -> Norm:
        kind, shape = self.config.architecture, self.config.normed(role)
        values = {"weight": np.ones(shape, np.float32), "bias": np.zeros(shape, np.float32)}
        weight, bias = (
            values[one] if one in kind.parameters(role) else None for one in ("weight", "bias")
        )
        return Norm(weight, bias, self.config.eps, kind.layer_norms)

    def _drawn(self, role: str) -> Linear:
        rows, columns = self.config.rows(role), self.config.columns(role)
        bias = np.zeros(rows, np.float32) if role in self.config.biased else None
        return Linear(self._matrix(rows, columns, role, self.format.bits), bias)

    def _generator(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self._seed, *name.encode()])

    def _floats(self, rows: int, columns: int, name: str) -> Floats:
        drawn = self._generator(name).standard_normal(columns, np.float32)
        return np.ascontiguousarray(np.broadcast_to(drawn * np.float32(SPREAD), (rows, columns)))

    def _matrix(self, rows: int, columns: int, name: str, bits: int) -> Matrix:
        bits = self.format.bits_for(rows, columns, bits)
        if not bits:
            return self._floats(rows, columns, name)
        generator, groups = self._generator(name), columns // self.format.group
        drawn = generator.integers(0, 256, (rows, columns * bits // 8), np.uint8)
        scale = np.full((rows, groups), 4 * SPREAD / (1 << bits), np.float16)
        zero = np.full((rows, groups), 1 << (bits - 1), np.uint8)
        return PackedMatrix(drawn, scale, zero, bits, self.format.group)
