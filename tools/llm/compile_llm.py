"""From a Hugging Face folder to a folder with one bmodel of all nets."""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from xdsl_tpu.backend.bmodel import write_bmodels
from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm import LanguageModel, WeightFormat, open_model
from xdsl_tpu.frontend.llm.config import read_json
from xdsl_tpu.frontend.llm.nets import (
    block_net,
    check_length,
    embedding_net,
    greedy_net,
    head_net,
    history_net,
)
from xdsl_tpu.frontend.llm.sampling import sample_net
from xdsl_tpu.frontend.llm.stages import Stages, history_blocks
from xdsl_tpu.passes.pipelines import Settings
from xdsl_tpu.tools.compile_model import scratch_folder
from xdsl_tpu.tools.folder import BMODEL
from xdsl_tpu.tools.llm.layers import Compiled, NetCompiler, Template
from xdsl_tpu.tools.llm.manifest import Manifest, manifest_of

TOKENIZER = "tokenizer.json"
COPIED = (TOKENIZER, "tokenizer_config.json", "generation_config.json")
"""Files of a model that its host reads."""


@dataclass
class LlmCompilation:
    """What was made: the manifest, nets that were compiled rather than being like another one,
    seconds in all, bytes of the file."""

    manifest: Manifest
    compiled: list[str] = field(default_factory=list[str])
    seconds: float = 0.0
    bytes: int = 0


@dataclass(frozen=True)
class _Compilers:
    """Of nets that give states in 16 bits, logits in f32, and tokens from logits in f32."""

    states: NetCompiler
    logits: NetCompiler
    tokens: NetCompiler

    @property
    def modules(self) -> dict[str, str]:
        """Text of the final IR of all nets that were compiled."""
        return {**self.states.modules, **self.logits.modules, **self.tokens.modules}


def compile_llm(
    folder: Path,
    output: Path,
    format: WeightFormat | None,
    stages: Stages,
    chip_name: str,
    on_stage: Callable[[str], None] = lambda stage: None,
    cores: int = 1,
) -> LlmCompilation:
    """Compile a language model, its nets in all `stages`, for `cores` of the chip's, into the
    folder `output`.

    Files appear there only when everything has succeeded: `model.bmodel`, `llm.json`, the
    tokenizer if the model has one, and the IR of every net that was compiled. Raises TpuError.
    """
    start = time.perf_counter()
    model = open_model(folder, format)
    check_length(model, stages.length)
    check_tokenizer(folder, model)
    chip = load_chip(chip_name)
    # All nets of a layer have one image of its weights, whatever their number of rows.
    settings = Settings(
        model.format.floats, chip.instruction_set, disable=("RowToPixel",), description=chip_name,
        inner_io=True, shortfall=False, cores=cores,
    )  # fmt: skip
    compilers = _Compilers(
        NetCompiler(settings, chip),
        NetCompiler(replace(settings, f32_results=True), chip),
        NetCompiler(replace(settings, mode="F32", inner_io=False), chip),
    )
    alike: dict[str, str] = {}

    def programs() -> Iterator[Program]:
        for one in _nets(model, stages, compilers, on_stage):
            alike[one.program.name] = one.alike
            yield one.program

    with scratch_folder(output) as scratch:
        write_bmodels(programs(), scratch / BMODEL)
        manifest = manifest_of(
            model, folder.resolve().name, chip_name, stages.length, _ends(folder), alike,
            _sampling(folder),
        )  # fmt: skip
        manifest.save(scratch)
        for name, text in compilers.modules.items():
            (scratch / f"{name}.final.mlir").write_text(text, encoding="utf-8")
        for name in COPIED:
            if (folder / name).is_file():
                shutil.copyfile(folder / name, scratch / name)
        size = (scratch / BMODEL).stat().st_size
        output.mkdir(exist_ok=True)
        for file in sorted(scratch.iterdir()):
            shutil.move(file, output / file.name)
    seconds = time.perf_counter() - start
    return LlmCompilation(manifest, [*compilers.modules], seconds, size)


def _nets(
    model: LanguageModel,
    stages: Stages,
    compilers: _Compilers,
    on_stage: Callable[[str], None],
) -> Iterator[Compiled]:
    """All nets in all stages; the weights of a layer are read, and packed, once for all of its.

    Logits are f32, as the unit sums them: two that differ by less than an f16 keep their order.
    """
    compiler = compilers.states
    on_stage("embedding")
    yield compiler.compile(embedding_net(model, "embedding", stages.prompt))
    for rows in stages.rows:
        net = embedding_net(model, "embedding_cache", rows)
        yield compiler.compile(net, stage="" if rows == 1 else f".{rows}")
    known: dict[str, list[Template | None]] = {}
    for index in range(model.config.layers):
        on_stage(f"layer {index + 1} of {model.config.layers}")
        yield from _layer(model, index, stages, compiler, known)
    on_stage("lm_head")
    for rows in stages.rows:
        net = head_net(model, rows)
        yield compilers.logits.compile(net, stage="" if rows == 1 else f".{rows}")
    yield compilers.tokens.compile(greedy_net(model))
    yield compilers.tokens.compile(sample_net(model, stages.length))


def _layer(
    model: LanguageModel,
    index: int,
    stages: Stages,
    compiler: NetCompiler,
    known: dict[str, list[Template | None]],
) -> Iterator[Compiled]:
    """The nets of a layer; `known` has those with history by the first block that theirs is like.

    The IR of a stage other than the first is named after its tokens and those before them.
    """
    layer = model.layer(index)
    net = block_net(model, index, stages.prompt, layer, stages.length)
    first = compiler.compile(net, index)
    yield first
    templates = known.get(first.alike, [])
    made: list[Template | None] = []
    kinds = set[str]()
    for number, (kind, block) in enumerate(history_blocks(stages, model.config, index)):
        found = compiler.same_image(first, templates[number], index) if templates else None
        if found is None:
            net = history_net(model, kind, block, layer)
            suffix = f".{block.rows}x{block.history}" if kind in kinds else ""
            found = compiler.compile(net, index, suffix, first)
        kinds.add(kind)
        made.append(found.template)
        yield found
    known.setdefault(first.alike, made)


def check_tokenizer(folder: Path, model: LanguageModel) -> None:
    """Raise TpuError for a tokenizer with more tokens than the model has embeddings."""
    path = folder / TOKENIZER
    if not path.is_file():
        return
    entries = read_json(path)
    vocabulary: Any = entries.get("model", {}).get("vocab", {})
    by_name = isinstance(vocabulary, dict)
    numbers: list[int] = list(vocabulary.values() if by_name else range(len(vocabulary)))  # pyright: ignore[reportUnknownArgumentType]
    numbers += [int(one["id"]) for one in entries.get("added_tokens", [])]
    highest = max(numbers, default=-1)
    if highest >= model.config.vocabulary:
        raise TpuError(
            f"{path}: has token {highest}, but config.json says that the model has "
            f"{model.config.vocabulary}: tokenizer and model do not belong together"
        )


def _ends(folder: Path) -> tuple[int, ...]:
    """Tokens that end a text, from generation_config.json, else config.json."""
    for name in ("generation_config.json", "config.json"):
        path = folder / name
        found: Any = read_json(path).get("eos_token_id") if path.is_file() else None
        if found is not None:
            return tuple(int(one) for one in np.atleast_1d(np.asarray(found)))
    return ()


def _sampling(folder: Path) -> dict[str, float]:
    """How tokens are to be drawn, as far as generation_config.json says."""
    path = folder / "generation_config.json"
    given = read_json(path) if path.is_file() else {}
    names = ("temperature", "top_k", "top_p", "repetition_penalty")
    return {name: float(given[name]) for name in names if given.get(name) is not None}


def summary(result: LlmCompilation) -> str:
    """A few words for people."""
    manifest = result.manifest
    nets = len(manifest.alike)
    return (
        f"{manifest.name}: {nets} nets, {len(result.compiled)} of them compiled, "
        f"{result.bytes / 2**20:.1f} MiB, {result.seconds:.1f} s"
    )


__all__ = ["LlmCompilation", "check_tokenizer", "compile_llm", "summary"]
