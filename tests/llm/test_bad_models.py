"""What is wrong with a model is said in one message, and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.llm.tiny import models, save, weights, write

from xdsl_tpu.frontend.llm.tensors import INDEX
from xdsl_tpu.tools import tpu_compile, tpu_generate


def changed(**entries: Any) -> Callable[[Path], None]:
    """A change of config.json."""

    def change(folder: Path) -> None:
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | entries), encoding="utf-8")

    return change


def without(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (folder / name).unlink()

    return change


def other_weights(name: str, found: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors: dict[str, Any] = {**weights(models()["llama"]), name: found}
        kept = {key: one for key, one in tensors.items() if one is not None}
        save(kept, folder / "model.safetensors")

    return change


def cut(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def missing_shard(folder: Path) -> None:
    index = {"weight_map": {"lm_head.weight": "model-00002-of-00002.safetensors"}}
    (folder / INDEX).write_text(json.dumps(index), encoding="utf-8")


def large_tokenizer(folder: Path) -> None:
    vocabulary = {f"word{index}": index for index in range(97)}
    entries = {"model": {"type": "WordLevel", "vocab": vocabulary}}
    (folder / "tokenizer.json").write_text(json.dumps(entries), encoding="utf-8")


Q_PROJ = "model.layers.0.self_attn.q_proj.weight"
NO_LAYER_TYPES = {"layer_types": ["full_attention"], "sliding_window": 8}
CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "architecture": (changed(model_type="mamba"), "model_type 'mamba' is not supported"),
    "activation": (changed(hidden_act="mish"), "activation 'mish'"),
    "part": (
        changed(text_config={"model_type": "mllama_text_model"}),
        "'mllama_text_model' is not",
    ),
    "prompt": (changed(model_type="paligemma"), "'paligemma' is not supported: its decoder sees"),
    "alpha": (
        changed(rope_parameters={"rope_type": "ntk_alpha"}),
        "rotary scaling 'ntk_alpha' needs 'alpha'",
    ),
    "turning": (changed(no_rope_layers=[1]), "no_rope_layers must say 0 or 1 for each of 2 layers"),
    "rotary": (changed(rope_parameters={"rope_type": "spiral"}), "rotary scaling 'spiral'"),
    "factor": (changed(rope_parameters={"rope_type": "linear"}), "needs 'factor'"),
    "heads": (changed(num_key_value_heads=3), "not a multiple of 3"),
    "entry": (changed(hidden_size=None), "'hidden_size' is missing"),
    "text": (changed(num_hidden_layers="many"), "not what it should be"),
    "no layers": (changed(num_hidden_layers=-1), "'num_hidden_layers' is -1; it must be above 0"),
    "layers": (changed(**NO_LAYER_TYPES), "layer_types"),
    "method": (changed(quantization_config={"quant_method": "nf4"}), "quant_method 'nf4'"),
    "bits": (changed(quantization_config={"quant_method": "gptq", "bits": 3}), "3 bits"),
    "config": (without("config.json"), "config.json: cannot be read"),
    "weights": (without("model.safetensors"), "no .safetensors files"),
    "shape": (other_weights(Q_PROJ, np.zeros((64, 32), np.float32)), "config.json says"),
    "tensor": (other_weights(Q_PROJ, None), f"model: no tensor '{Q_PROJ}'"),
    "head": (other_weights("lm_head.weight", None), "model: no tensor 'lm_head.weight'"),
    "kind": (other_weights(Q_PROJ, np.zeros((64, 64), np.int32)), "not floats"),
    "nan": (other_weights(Q_PROJ, np.full((64, 64), np.nan, np.float32)), "holds NaN"),
    "cut": (cut, "cannot be read"),
    "shard": (missing_shard, "model-00002-of-00002.safetensors"),
    "vocabulary": (large_tokenizer, "has token 96"),
    "length": (changed(max_position_embeddings=8), "takes from 2 to 8"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_models(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    change, message = CASES[case]
    change(write(tmp_path / "model", "llama"))
    command = ["--llm", str(tmp_path / "model"), "--seq", "16", "-o", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as stopped:
        tpu_compile.main(command)
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert message in said
    assert "Traceback" not in said
    assert [one.name for one in tmp_path.iterdir()] == ["model"]


OPTIONS = {
    "no folder": (["--llm", "nowhere"], "no such folder"),
    "format": (["--llm", "{model}", "--quantize", "INT8"], "F16 or BF16"),
    "others": (["--llm", "{model}", "--weights", "x.npz"], "--weights is not for"),
    "own": (["{model}", "--seq", "16"], "--seq is for language models"),
    "group": (["{model}/config.json", "--group", "32"], "--group is for packed matrices"),
    "symmetric": (["{model}/config.json", "--symmetric"], "--symmetric is for packed matrices"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_options(tmp_path: Path, case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, message = OPTIONS[case]
    model = write(tmp_path / "model", "llama")
    with pytest.raises(SystemExit) as stopped:
        tpu_compile.main([word.format(model=model) for word in words])
    assert stopped.value.code == 1
    assert message in capsys.readouterr().err


def test_generating_without_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        tpu_generate.main([str(tmp_path), "--ids", "1"])
    assert stopped.value.code == 1
    assert "tpu-compile --llm" in capsys.readouterr().err
