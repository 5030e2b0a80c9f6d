"""A model in a folder: its configuration and its weights, matrix by matrix, in one format."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import PackedMatrix, quantise
from xdsl_tpu.frontend.llm.architectures import HEADS, PREFIXES, PROJECTIONS
from xdsl_tpu.frontend.llm.config import ModelConfig, read_config, read_json
from xdsl_tpu.frontend.llm.formats import WeightFormat, suited
from xdsl_tpu.frontend.llm.quantised import StoredQuantisation, read_packed, stored_quantisation
from xdsl_tpu.frontend.llm.tensors import Checkpoint

Floats: TypeAlias = npt.NDArray[np.float32]
Matrix: TypeAlias = Floats | PackedMatrix
"""[N, K]: y = x @ W.T."""


@dataclass(frozen=True)
class Linear:
    """A matrix and, if there is one, its bias of N elements."""

    matrix: Matrix
    bias: Floats | None = None

    def floats(self) -> Floats:
        """The numbers of the matrix."""
        return self.matrix.floats() if isinstance(self.matrix, PackedMatrix) else self.matrix

    def rows(self, order: Any) -> "Linear":
        """The same with its rows in another order, or some of them."""
        bias = None if self.bias is None else self.bias[order]
        if not isinstance(self.matrix, PackedMatrix):
            return Linear(self.matrix[order], bias)
        values, scale, zero = (
            one[order] for one in (self.matrix.values, self.matrix.scale, self.matrix.zero)
        )
        return Linear(replace(self.matrix, values=values, scale=scale, zero=zero), bias)


@dataclass(frozen=True)
class Layer:
    """The weights of a decoder layer: matrices by role, by name what norms multiply by."""

    linears: Mapping[str, Linear]
    norms: Mapping[str, Floats]


class LanguageModel:
    """A model whose weights are read, and packed, when they are asked for."""

    def __init__(self, config: ModelConfig, tensors: Checkpoint, format: WeightFormat,
                 stored: StoredQuantisation | None = None) -> None:  # fmt: skip
        self.config = config
        self.format = format
        self._tensors = tensors
        self._stored = stored
        self._prefix = self._find_prefix()
        self._check_shapes()

    def layer(self, index: int) -> Layer:
        """The weights of layer `index`."""
        kind = self.config.architecture
        linears = {role: self._linear(index, role) for role in PROJECTIONS}
        norms = {
            name: self._norm(f"{self._layer_prefix(index)}{tensor}")
            for name, tensor in kind.norms.items()
        }
        return Layer(linears, norms)

    def final_norm(self) -> Floats:
        """Weights of the norm behind the last layer."""
        return self._norm(f"{self._prefix}norm")

    def embedding(self) -> Floats:
        """Embeddings of all tokens [vocabulary, hidden], not scaled."""
        return self._tensors.floats(f"{self._prefix}embed_tokens.weight")

    def head(self) -> Linear:
        """The output matrix [vocabulary, hidden]."""
        matrix = self.embedding() if self.tied else self._tensors.floats(self._head)
        return Linear(self._packed(matrix, self.format.head_bits))

    @property
    def tied(self) -> bool:
        """Whether the output matrix is that of the embeddings."""
        return self.config.tied or self._head not in self._tensors

    @property
    def _head(self) -> str:
        return next((name for name in HEADS if name in self._tensors), HEADS[0])

    def _layer_prefix(self, index: int) -> str:
        return f"{self._prefix}layers.{index}."

    def _norm(self, name: str) -> Floats:
        offset = np.float32(self.config.architecture.norm_offset)
        return self._tensors.floats(f"{name}.weight") + offset

    def _linear(self, index: int, role: str) -> Linear:
        source = self.config.architecture.projections[role]
        name = f"{self._layer_prefix(index)}{source.name}"
        part = self._part(role, source.of)
        bias = self._tensors.floats(f"{name}.bias", part) if role in self.config.biased else None
        if self._stored is not None:
            whole = Linear(read_packed(self._tensors, name, self._stored))
            return Linear(suited(whole.rows(part).matrix), bias)
        return Linear(
            self._packed(self._tensors.floats(f"{name}.weight", part), self.format.bits), bias
        )

    def _part(self, role: str, fused: tuple[str, ...]) -> slice:
        """The rows of a role in a tensor of several."""
        if not fused:
            return slice(None)
        start = sum(map(self.config.rows, fused[: fused.index(role)]))
        return slice(start, start + self.config.rows(role))

    def _packed(self, matrix: Floats, bits: int) -> Matrix:
        rows, columns = matrix.shape
        bits = self.format.bits_for(rows, columns, bits)
        return quantise(matrix, bits, self.format.group, self.format.symmetric) if bits else matrix

    def _find_prefix(self) -> str:
        """What names of tensors begin with."""
        found = (one for one in PREFIXES if f"{one}embed_tokens.weight" in self._tensors)
        return next(found, PREFIXES[0])

    def _check_shapes(self) -> None:
        """Raise TpuError for every matrix and norm that is missing or of another shape."""
        problems: list[str] = []
        for name, expected in self._expected():
            try:
                shape = self._tensors.shape(name)
            except TpuError as error:
                problems.append(str(error).removeprefix(f"{self._tensors.folder}: "))
                continue
            if shape != expected:
                problems.append(
                    f"tensor '{name}' is {list(shape)}, config.json says {list(expected)}"
                )
        if problems:
            more = f" (and {len(problems) - 1} more such tensors)" if problems[1:] else ""
            raise TpuError(f"{self._tensors.folder}: {problems[0]}{more}")

    def _expected(self) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the tensors of a model; packed ones have shapes of their own."""
        config, found = self.config, list[tuple[str, tuple[int, ...]]]()
        table = (config.vocabulary, config.hidden)
        found.append((f"{self._prefix}embed_tokens.weight", table))
        found.append((f"{self._prefix}norm.weight", (config.hidden,)))
        if not self.tied:
            found.append((self._head, table))
        for index in range(config.layers):
            prefix = self._layer_prefix(index)
            for name, tensor in config.architecture.norms.items():
                found.append((f"{prefix}{tensor}.weight", (config.normed(name),)))
            for role, source in config.architecture.projections.items():
                rows = sum(map(config.rows, source.of or (role,)))
                if self._stored is None:
                    found.append((f"{prefix}{source.name}.weight", (rows, config.columns(role))))
                if role in config.biased:
                    found.append((f"{prefix}{source.name}.bias", (rows,)))
        return found


def open_model(folder: Path, format: WeightFormat | None = None) -> LanguageModel:
    """The model in a Hugging Face folder, its matrices in `format`.

    Raises TpuError for what is missing, damaged or not supported, and a checkpoint that is
    quantised to another number of bits.
    """
    if not folder.is_dir():
        raise TpuError(f"{folder}: no such folder; give that of a Hugging Face model")
    config = read_config(folder)
    entries = read_json(folder / "config.json")
    stored = stored_quantisation(entries)
    chosen = format or WeightFormat(f"W{stored.bits}F16" if stored else "F16")
    if stored is not None and stored.bits != chosen.bits:
        raise TpuError(
            f"{folder}: its matrices are stored in {stored.bits} bits ({stored.method}), which are "
            f"taken as they are: choose W{stored.bits}F16, not {chosen.name}"
        )
    return LanguageModel(config, Checkpoint(folder), chosen, stored)
