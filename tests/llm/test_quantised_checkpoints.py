"""GPTQ and AWQ: matrices packed here as their tools pack them are read back as they were."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.llm.test_programs import agrees
from tests.llm.tiny import IDS, models, save, values

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import quantise, unpack
from xdsl_tpu.frontend.llm.quantised import read_packed, stored_quantisation
from xdsl_tpu.frontend.llm.tensors import Checkpoint
from xdsl_tpu.tools import tpu_compile

Array = npt.NDArray[Any]
N, K, GROUP = 16, 64, 32


def words(fields: Array, bits: int, order: tuple[int, ...]) -> Array:
    """Rows of fields in 32-bit words: the word's field `order[i]` is the i-th of its numbers."""
    count = 32 // bits
    parts = fields.reshape(fields.shape[0], -1, count).astype(np.uint64)
    packed = sum(parts[..., i] << np.uint64(bits * place) for i, place in enumerate(order))
    return np.asarray(packed).astype(np.uint32).view(np.int32)


def gptq(q: Array, zero: Array, bits: int, offset: int) -> tuple[Array, Array]:
    """qweight [K / numbers, N], qzeros [groups, N / numbers]."""
    plain = tuple(range(32 // bits))
    return words(q, bits, plain).T, words(zero.T - offset, bits, plain)


def awq(q: Array, zero: Array, bits: int, offset: int) -> tuple[Array, Array]:
    """qweight [K, N / 8], qzeros [groups, N / 8]; columns 0 2 4 6 1 3 5 7 from the low bits on."""
    order = (0, 4, 1, 5, 2, 6, 3, 7)
    return words(q.T, bits, order), words(zero.T, bits, order)


CASES: dict[str, tuple[Any, int, int, dict[str, Any]]] = {
    "gptq4": (gptq, 4, 1, {"quant_method": "gptq", "bits": 4}),
    "gptq8": (gptq, 8, 1, {"quant_method": "gptq", "bits": 8}),
    "gptq_v2": (gptq, 4, 0, {"quant_method": "gptq", "bits": 4, "checkpoint_format": "gptq_v2"}),
    "awq": (awq, 4, 0, {"quant_method": "awq", "bits": 4, "version": "gemm", "zero_point": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_stored_matrices(tmp_path: Path, case: str) -> None:
    store, bits, offset, config = CASES[case]
    generator = np.random.default_rng(bits)
    q = generator.integers(0, 1 << bits, (N, K))
    zero = generator.integers(1, 1 << bits, (N, K // GROUP))
    scale = generator.uniform(0.01, 0.1, (N, K // GROUP)).astype(np.float16)
    qweight, qzeros = (np.ascontiguousarray(one) for one in store(q, zero, bits, offset))
    tensors = {
        "m.qweight": qweight,
        "m.qzeros": qzeros,
        "m.scales": np.ascontiguousarray(scale.T),
    }
    save(tensors, tmp_path / "model.safetensors")
    kind = stored_quantisation({"quantization_config": {**config, "group_size": GROUP}})
    assert kind is not None
    found = read_packed(Checkpoint(tmp_path), "m", kind)
    numbers = (q - np.repeat(zero, GROUP, 1)) * np.repeat(scale.astype(np.float32), GROUP, 1)
    np.testing.assert_array_equal(found.floats(), numbers.astype(np.float32))
    assert found.shape == (N, K)


WIDER = {"hidden_size": 128, "intermediate_size": 192, "head_dim": 32, "num_key_value_heads": 2}
ROLES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def stored_model(folder: Path, case: str, group: int, inner: int) -> Path:
    """A Llama whose matrices are stored as GPTQ or AWQ stores them, in groups of `group` (-1: one
    for each row)."""
    store, bits, offset, entries = CASES[case]
    model = models()["llama"]
    config = {**model["config"], **WIDER, "intermediate_size": inner}
    sizes = {"gate_proj": (inner, 128), "up_proj": (inner, 128), "down_proj": (128, inner)}
    sizes |= {role: (64, 128) for role in ("k_proj", "v_proj")}
    tensors: dict[str, Array] = {}
    for name, shape in model["tensors"].items():
        role = next((one for one in ROLES if one in name), None)
        if role is None:
            own = tuple(128 if size == 64 else size for size in shape)
            tensors[name] = values(name, own, False).astype(np.float16)
            continue
        matrix = values(name, sizes.get(role, (128, 128)), False)
        packed = quantise(matrix, bits, group if group > 0 else matrix.shape[1])
        zero = np.maximum(packed.zero, offset).astype(np.int64)
        numbers = unpack(packed.values, bits).astype(np.int64)
        qweight, qzeros = store(numbers, zero, bits, offset)
        place = name.removesuffix("weight")
        tensors |= {
            f"{place}qweight": np.ascontiguousarray(qweight),
            f"{place}qzeros": np.ascontiguousarray(qzeros),
            f"{place}scales": np.ascontiguousarray(packed.scale.T),
        }
    folder.mkdir()
    config["quantization_config"] = {**entries, "group_size": group}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    save(tensors, folder / "model.safetensors")
    return folder


@pytest.mark.parametrize(
    ("case", "group", "inner"),
    [("gptq4", 64, 192), ("gptq8", -1, 256), ("gptq_v2", 32, 160), ("awq", 64, 192)],
)
def test_whole_checkpoints(tmp_path: Path, case: str, group: int, inner: int) -> None:
    """Through the tool to a program whose logits and tokens are those of the stored numbers; 160
    rows are no multiple of the lanes, one group for a row is divided."""
    folder, out = stored_model(tmp_path / "m", case, group, inner), tmp_path / "out"
    with pytest.raises(SystemExit) as done:
        tpu_compile.main(["--llm", str(folder), "--seq", "24", "-o", str(out), "--quiet"])
    assert not done.value.code
    packed = (out / "block_0.final.mlir").read_text().count("ui8")
    assert packed
    agrees(folder, out, IDS[:8], 4)


def test_other_bits_than_those_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stored_model(tmp_path / "m", "awq", 64, 192)
    with pytest.raises(SystemExit) as done:
        tpu_compile.main(["--llm", str(folder), "--quantize", "W8F16", "--quiet"])
    assert done.value.code == 1
    assert "stored in 4 bits (awq)" in capsys.readouterr().err


def test_rows_in_another_order_are_refused(tmp_path: Path) -> None:
    tensors: dict[str, Array] = {
        "m.qweight": np.zeros((K // 8, N), np.int32),
        "m.qzeros": np.zeros((K // GROUP, N // 8), np.int32),
        "m.scales": np.ones((K // GROUP, N), np.float16),
        "m.g_idx": (np.arange(K) % 2).astype(np.int32),
    }
    save(tensors, tmp_path / "model.safetensors")
    config = {"quant_method": "gptq", "bits": 4, "group_size": GROUP}
    kind = stored_quantisation({"quantization_config": config})
    assert kind is not None
    with pytest.raises(TpuError, match="desc_act"):
        read_packed(Checkpoint(tmp_path), "m", kind)
