"""GPTQ and AWQ: matrices packed here as their tools pack them are read back as they were."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.llm.tiny import save

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.llm.quantised import read_packed, stored_quantisation
from xdsl_tpu.frontend.llm.tensors import Checkpoint

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
