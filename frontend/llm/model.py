"""A model in a folder: its configuration and its weights, matrix by matrix, in one format."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import PackedMatrix, quantise
from xdsl_tpu.frontend.llm.architectures import HEAD_PREFIXES, Source
from xdsl_tpu.frontend.llm.config import ModelConfig, read_config, read_json
from xdsl_tpu.frontend.llm.formats import WeightFormat, suited
from xdsl_tpu.frontend.llm.quantised import StoredQuantisation, read_packed, stored_quantisation
from xdsl_tpu.frontend.llm.tensors import Checkpoint

Floats: TypeAlias = npt.NDArray[np.float32]
Matrix: TypeAlias = Floats | PackedMatrix
"""[N, K]: y = x @ W.T."""
Rows: TypeAlias = npt.NDArray[np.int64]
"""Which rows of a matrix."""


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
class Norm:
    """A norm of the last dimension: RMS, or `centred` the LayerNorm, which subtracts the mean.

    A weight of two dimensions has a row for each head.
    """

    weight: Floats | None
    bias: Floats | None
    eps: float
    centred: bool

    def ordered(self, order: Any) -> "Norm":
        """The same for elements in another order."""
        weight, bias = (
            None if one is None else one[..., order] for one in (self.weight, self.bias)
        )
        return replace(self, weight=weight, bias=bias)


@dataclass(frozen=True)
class Layer:
    """The weights of a decoder layer: matrices and norms by role."""

    linears: Mapping[str, Linear]
    norms: Mapping[str, Norm]


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
        linears = {role: self._linear(index, role) for role in kind.projections}
        norms = {
            role: self._norm(f"{self._layer_prefix(index)}{tensor}", role)
            for role, tensor in kind.all_norms.items()
        }
        return Layer(linears, norms)

    def final_norm(self) -> Norm:
        """The norm behind the last layer."""
        return self._norm(f"{self._prefix}{self.config.architecture.names.norm}", "final")

    def embedding(self) -> Floats:
        """Embeddings of all tokens [vocabulary, hidden], not scaled."""
        return self._tensors.floats(self._embedding)

    def head(self) -> Linear:
        """The output matrix [vocabulary, hidden]."""
        matrix = self.embedding() if self.tied else self._tensors.floats(self._head)
        if self.config.architecture.unit_head:
            lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
            matrix = matrix / np.maximum(lengths, np.float32(1e-12))
        bias = None
        if "head" in self.config.biased:
            bias = self._tensors.floats(_bias_of(self._head))
        return Linear(self._packed(matrix, self.format.head_bits), bias)

    @property
    def tied(self) -> bool:
        """Whether the output matrix is that of the embeddings."""
        said = self.config.tied
        return self._head not in self._tensors if said is None else said

    @property
    def _head(self) -> str:
        own = self.config.architecture.names.head
        names = [f"{prefix}{own}.weight" for prefix in HEAD_PREFIXES]
        return next((name for name in names if name in self._tensors), names[0])

    @property
    def _embedding(self) -> str:
        return f"{self._prefix}{self.config.architecture.names.embedding}.weight"

    def _layer_prefix(self, index: int) -> str:
        return f"{self._prefix}{self.config.architecture.names.layers}.{index}."

    def _norm(self, name: str, role: str) -> Norm:
        kind, config = self.config.architecture, self.config
        shape, parts = config.normed(role), self._parts(name, role)
        found: dict[str, Floats] = {
            one: np.concatenate([self._tensors.floats(f"{part}.{one}") for part in parts])
            for one in kind.parameters(role)
        }
        if "weight" in found:
            found["weight"] = found["weight"].reshape(shape) + np.float32(kind.norm_offset)
        return Norm(found.get("weight"), found.get("bias"), config.eps, kind.layer_norms)

    def _parts(self, name: str, role: str) -> list[str]:
        """The names of a norm's tensors: one for each head, where it says so."""
        if not _of_heads(name):
            return [name]
        return [name.format(head=head) for head in range(self.config.normed(role)[0])]

    def _linear(self, index: int, role: str) -> Linear:
        source = self.config.architecture.projections[role]
        name = f"{self._layer_prefix(index)}{source.name}"
        part = self._part(role, source)
        bias = self._tensors.floats(f"{name}.bias", part) if role in self.config.biased else None
        if self._stored is not None:
            whole = Linear(read_packed(self._tensors, name, self._stored))
            return Linear(suited(whole.rows(part).matrix), bias)
        return Linear(
            self._packed(self._tensors.floats(f"{name}.weight", part), self.format.bits), bias
        )

    def _part(self, role: str, source: Source) -> slice | Rows:
        """The rows of a role in a tensor of several."""
        if not source.of:
            return slice(None)
        groups = self.config.kv_heads if source.by_group else 1
        sizes = {one: self.config.rows(one) // groups for one in source.of}
        start = sum(sizes[one] for one in source.of[: source.of.index(role)])
        if groups == 1:
            return slice(start, start + sizes[role])
        first = np.arange(groups) * sum(sizes.values()) + start
        return (first[:, None] + np.arange(sizes[role])).reshape(-1)

    def _packed(self, matrix: Floats, bits: int) -> Matrix:
        rows, columns = matrix.shape
        bits = self.format.bits_for(rows, columns, bits)
        return quantise(matrix, bits, self.format.group, self.format.symmetric) if bits else matrix

    def _find_prefix(self) -> str:
        """What names of tensors begin with."""
        names = self.config.architecture.names
        table = f"{names.embedding}.weight"
        found = (one for one in names.prefixes if f"{one}{table}" in self._tensors)
        return next(found, names.prefixes[0])

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
        config, kind = self.config, self.config.architecture
        table = (config.vocabulary, config.hidden)
        found: list[tuple[str, tuple[int, ...]]] = [(self._embedding, table)]
        found += self._expected_norm(f"{self._prefix}{kind.names.norm}", "final")
        if not self.tied:
            found.append((self._head, table))
        if "head" in config.biased:
            found.append((_bias_of(self._head), (config.vocabulary,)))
        for index in range(config.layers):
            prefix = self._layer_prefix(index)
            for role, tensor in kind.all_norms.items():
                found += self._expected_norm(f"{prefix}{tensor}", role)
            for role, source in kind.projections.items():
                rows = sum(map(config.rows, source.of or (role,)))
                if self._stored is None:
                    found.append((f"{prefix}{source.name}.weight", (rows, config.columns(role))))
                if role in config.biased:
                    found.append((f"{prefix}{source.name}.bias", (rows,)))
        return found

    def _expected_norm(self, name: str, role: str) -> list[tuple[str, tuple[int, ...]]]:
        shape = self.config.normed(role)
        return [
            (f"{part}.{one}", shape[1:] if _of_heads(name) else shape)
            for part in self._parts(name, role)
            for one in self.config.architecture.parameters(role)
        ]


def _bias_of(weight: str) -> str:
    return f"{weight.removesuffix('weight')}bias"


def _of_heads(name: str) -> bool:
    """Whether there is a tensor for each head."""
    return "{head}" in name


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
