"""Attention of groups of heads: the same numbers as onnxruntime's."""

from typing import Any

import numpy as np
import pytest
from tests.frontend.test_onnx_contrib import agree, model_of, op, random

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx import import_onnx

HEADS, GROUPS, SIZE = 4, 2, 16
FORMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "scaled": {"scale": 0.2},
    "capped": {"softcap": 2.0},
    "rotary": {"do_rotary": 1},
    "interleaved": {"do_rotary": 1, "rotary_interleaved": 1},
    "window": {"local_window_size": 3},
    "smooth": {"smooth_softmax": 1},
    "sink": {},
    "packed": {},
    "bias": {},
}


def attention(form: str, batch: int, rows: int, past: int, total: int, last: list[int]) -> set[str]:
    """Compare with onnxruntime's CPU kernel; the op types that were imported.

    `past` rows are remembered, `total` is the length that is said and `last` the last row of each
    sequence. A buffer is empty behind the rows that are filled: in a copy of it onnxruntime clears
    them.
    """
    width = SIZE * HEADS
    inputs: dict[str, Any] = {"q": random(batch, rows, width)}
    names = ["q", "", ""]
    if form == "packed":
        inputs["q"] = random(batch, rows, width + 2 * SIZE * GROUPS)
    else:
        names = ["q", "k", "v"]
        inputs |= {name: random(batch, rows, SIZE * GROUPS) for name in "kv"}
    constants: dict[str, Any] = {"total": np.array(total, np.int32)}
    inputs |= {name: random(batch, GROUPS, past, SIZE) for name in ("pk", "pv") if past}
    for sequence, row in enumerate(last):
        for name in ("pk", "pv") if past else ():
            inputs[name][sequence, :, row + 1 - rows :] = 0
    inputs["last"] = np.array(last, np.int32)
    names += ["pk", "pv"] if past else ["", ""]
    names += ["last", "total"]
    angles = np.outer(np.arange(24), np.arange(1, SIZE // 2 + 1)).astype(np.float32)
    constants |= {"cos": np.cos(angles), "sin": np.sin(angles)}
    names += ["cos", "sin"] if FORMS[form].get("do_rotary") else ["", ""]
    if form == "bias":
        inputs["more"] = random(1, HEADS, rows, total)
        names += ["", "more"]
    if form == "sink":
        constants["s"] = random(HEADS)
        names += ["", "", "s"]
    read = {name: value for name, value in constants.items() if name in names}
    node = op("GroupQueryAttention", names, "y", "nk", "nv", num_heads=HEADS, kv_num_heads=GROUPS,
              **FORMS[form])  # fmt: skip
    return agree(node, inputs, read, ["y", "nk", "nv"], opset=14)


@pytest.mark.parametrize("form", list(FORMS))
def test_first_rows(form: str) -> None:
    attention(form, 1, 6, 0, 6, [5])


@pytest.mark.parametrize("form", list(FORMS))
def test_one_more_row(form: str) -> None:
    """What is remembered is full: it grows by a Concat."""
    found = attention(form, 1, 1, 6, 7, [6])
    assert "top.Concat" in found
    assert "top.Where" not in found


@pytest.mark.parametrize("form", [one for one in FORMS if one != "bias"])
@pytest.mark.parametrize(("batch", "last"), [(1, [4]), (1, [0]), (2, [4, 7])])
def test_one_row_into_a_buffer(form: str, batch: int, last: list[int]) -> None:
    """The new row comes behind those that are filled, whatever their number."""
    attention(form, batch, 1, 8, 8, last)


@pytest.mark.parametrize("form", ["plain", "rotary", "window"])
def test_several_rows_into_a_buffer(form: str) -> None:
    attention(form, 1, 3, 8, 8, [5])


def test_the_first_rows_into_a_buffer() -> None:
    attention("rotary", 1, 4, 9, 4, [3])


def test_caches_of_integers_are_refused() -> None:
    node = op("GroupQueryAttention", ["q", "k", "v", "", "", "l", "t"], "y", "nk", "nv",
              num_heads=2, kv_num_heads=2, kv_cache_bit_width=8)  # fmt: skip
    shaped = {name: random(1, 2, 16) for name in "qkv"} | {"l": np.array([1], np.int32)}
    model = model_of([node], shaped, {"t": np.array(2, np.int32)}, {"y": (1, 2, 16)})
    with pytest.raises(TpuError, match="caches of integers"):
        import_onnx(model)
