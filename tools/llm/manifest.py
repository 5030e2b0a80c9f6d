"""What a compiled language model's host has to know, beside its bmodel: `llm.json`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.formats import WeightFormat
from xdsl_tpu.frontend.llm.model import LanguageModel

FILE = "llm.json"


@dataclass(frozen=True)
class Manifest:
    """Sizes in elements; `length` tokens fit into prompt and history. `windows` are those of
    `ModelConfig`. `alike` says for each net whose commands it has, `sampling` how the
    model's makers draw tokens (names of generation_config.json). `ends` are tokens that end a
    text."""

    name: str
    chip: str
    architecture: str
    layers: int
    hidden: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    length: int
    windows: tuple[int | None, ...]
    weights: Mapping[str, Any]
    ends: tuple[int, ...]
    alike: Mapping[str, str]
    sampling: Mapping[str, float]

    @property
    def format(self) -> WeightFormat:
        """The formats of its weights."""
        return WeightFormat(**self.weights)

    def save(self, folder: Path) -> None:
        """Write the file."""
        text = json.dumps(asdict(self), indent=1)
        (folder / FILE).write_text(text + "\n", encoding="utf-8")


def manifest_of(
    model: LanguageModel,
    name: str,
    chip: str,
    length: int,
    ends: tuple[int, ...],
    alike: Mapping[str, str],
    sampling: Mapping[str, float],
) -> Manifest:
    """The manifest of a model that is compiled for sequences of up to `length` tokens."""
    config = model.config
    return Manifest(
        name=name,
        chip=chip,
        architecture=config.architecture.name,
        layers=config.layers,
        hidden=config.hidden,
        kv_heads=config.kv_heads,
        head_dim=config.head_dim,
        vocabulary=config.vocabulary,
        length=length,
        windows=config.windows,
        weights=asdict(model.format),
        ends=ends,
        alike=alike,
        sampling=sampling,
    )


def read_manifest(folder: Path) -> Manifest:
    """The manifest in a folder that `tpu-compile --llm` wrote. Raises TpuError without one."""
    path = folder / FILE
    try:
        entries: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        entries["windows"] = tuple(entries["windows"])
        entries["ends"] = tuple(entries["ends"])
        return Manifest(**entries)
    except OSError as error:
        raise TpuError(
            f"{path}: cannot be read ({error.strerror}); "
            f"tpu-compile --llm MODEL -o {folder} makes it"
        ) from error
    except (ValueError, TypeError, KeyError) as error:
        raise TpuError(f"{path}: is damaged ({error}); compile the model again") from error
