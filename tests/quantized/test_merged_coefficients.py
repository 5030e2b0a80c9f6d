"""Merged coefficients: bytes where the layout says, shapes of real files, values unchanged."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.passes.real_networks import real_module
from tests.quantized.quant_cases import S8, U8, QuantCase, conv, interpret
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.interpreters.coefficients import (
    CoefficientLayout,
    Coefficients,
    merge_coefficients,
    split_coefficients,
)
from xdsl_tpu.dialects.lanes import Lanes
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.tensors import shape_of
from xdsl_tpu.passes.weight_reorder.reorder import WeightReorderPass

Array = npt.NDArray[Any]

USUAL = Lanes(64, 64, 64)
NARROW = Lanes(32, 16, 32, words=2)


def random_parts(channels: int, row: int, bias: bool, seed: int = 0) -> Coefficients:
    random = np.random.default_rng(seed)
    words = random.integers(-(2**31), 2**31, (channels, 4)).astype(np.int32)
    words[:, 1] = random.integers(-128, 128, channels)
    words[:, 2] = random.integers(-(2**15), 2**15, channels)
    filter_ = random.integers(-128, 128, (channels, row)).astype(np.int8)
    return Coefficients(words[:, :3], words[:, 3] if bias else None, filter_)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 200),
    st.integers(1, 100),
    st.booleans(),
    st.booleans(),
    st.sampled_from(
        [
            USUAL,
            Lanes(16, 64, 64),
            Lanes(48, 32, 32),
            Lanes(128, 256, 64),
            Lanes(16, 8, 64),
            Lanes(8, 4, 64),
            NARROW,
        ]
    ),
)
def test_splitting_undoes_merging(
    channels: int, row: int, bias: bool, depthwise: bool, of_chip: Lanes
) -> None:
    parts = random_parts(channels, row, bias)
    merged = merge_coefficients(parts, depthwise, of_chip)
    layout = CoefficientLayout(channels, row, bias, depthwise, of_chip)
    assert merged.shape == layout.shape
    layout = replace(layout, of_chip=replace(of_chip, width=1))
    back = split_coefficients(merged, layout.fitted(merged.shape))
    np.testing.assert_array_equal(back.requant, parts.requant)
    np.testing.assert_array_equal(back.filter, parts.filter)
    if parts.bias is not None and back.bias is not None:
        np.testing.assert_array_equal(back.bias, parts.bias)


def test_bytes_of_a_depthwise_filter() -> None:
    """96 channels of 3x3: 64 + 12 bytes of factors, 2 biases, 2 filters of 9 bytes."""
    parts = random_parts(96, 9, True)
    merged = merge_coefficients(parts, True, USUAL)
    assert merged.shape == (1, 64, 1, 102)
    lane = merged[0, 5, 0]
    assert parts.bias is not None
    np.testing.assert_array_equal(lane[0:12].view(np.int32), parts.requant[5])
    np.testing.assert_array_equal(lane[64:76].view(np.int32), parts.requant[69])
    assert not lane[12:64].any()
    np.testing.assert_array_equal(lane[76:84].view(np.int32), parts.bias[[5, 69]])
    np.testing.assert_array_equal(lane[84:93], parts.filter[5])
    np.testing.assert_array_equal(lane[93:102], parts.filter[69])
    assert not merged[0, 40, 0, 93:102].any()  # lane 40 has one channel only


def test_bytes_of_two_words() -> None:
    """40 channels of one block: 2 times 8 bytes of factors, 2 biases, filters from byte 32 on."""
    parts = random_parts(40, 32, True)
    merged = merge_coefficients(parts, False, NARROW)
    assert merged.shape == (1, 32, 1, 96)
    lane = merged[0, 5, 0]
    assert parts.bias is not None
    (factor, shift, zero), (low, high) = parts.requant[37], lane[8:16].view(np.int32)
    assert (low, high) == (factor, (shift & 0xFF) | zero << 16)
    np.testing.assert_array_equal(lane[16:24].view(np.int32), parts.bias[[5, 37]])
    np.testing.assert_array_equal(lane[32:64], parts.filter[5])


def test_other_filters_begin_at_a_multiple_of_64() -> None:
    parts = random_parts(128, 64, True)
    merged = merge_coefficients(parts, False, USUAL)
    assert merged.shape == (1, 64, 1, 256)  # 76 + 8 bytes before the filters
    np.testing.assert_array_equal(merged[0, 3, 0, 128:192], parts.filter[3])
    np.testing.assert_array_equal(merged[0, 3, 0, 192:256], parts.filter[67])


def test_long_rows_share_a_dimension() -> None:
    layout = CoefficientLayout(64, 70016, False, False, USUAL)
    assert layout.shape == (1, 64, 2, 35040)
    with pytest.raises(TpuError, match="take"):
        split_coefficients(np.zeros((1, 64, 1, 64), np.int8), layout)
    with pytest.raises(TpuError, match="take"):
        layout.fitted((1, 64, 1, 64))


def convolutions(module: ModuleOp) -> dict[str | None, tuple[Any, ...]]:
    return {
        name_of(op): (
            shape_of(op.filter),
            op.use_3ic_optimize.value.data & 3,
            bool(op.coeff_merged),
            op.multiplier,
            op.rshift,
            name_of(op.filter),
            str(op.bias.type),
        )
        for op in module.walk()
        if isinstance(op, tpu.Conv2DOp)
    }


@pytest.mark.parametrize("network", ["resnet50", "mobilenetv2_100"])
def test_real_networks_get_the_shapes_of_their_final_files(network: str) -> None:
    module = real_module(f"{network}_bm1684x_int8_sym_tpu_opt", with_weights=False)
    WeightReorderPass(merge_columns=True, offsets=False).apply(make_context(), module)
    mine, theirs = (
        convolutions(m) for m in (module, real_module(f"{network}_bm1684x_int8_sym_final", False))
    )
    # Inside a group a filter is the result of a Load.
    assert {name: (*c[:5], c[6]) for name, c in mine.items()} == {
        name: (*c[:5], c[6]) for name, c in theirs.items()
    }
    assert all(str(c[5]).removesuffix("_merge") == name for name, c in mine.items())


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("channels", "kernel", "group"),
    [((3, 70), (3, 3), 1), ((3, 8), (7, 7), 1), ((70, 70), (3, 3), 70), ((130, 5), (1, 1), 1)],
)
def test_values_stay(
    channels: tuple[int, int], kernel: tuple[int, int], group: int, bias: bool, merge: bool
) -> None:
    shapes = ((1, channels[0], 9, 9), (1, channels[1], 9 - kernel[0] + 1, 9 - kernel[1] + 1))
    case = QuantCase()
    x = case.integers("x", shapes[0], U8)
    conv(case, x, "y", shapes, kernel, group=group, bias=bias, result=S8)
    before = interpret(case)
    module = case.module()
    WeightReorderPass(use_3ic=merge).apply(make_context(), module)
    assert list(weights_of(module)) == ["y_merge"]

    (after,) = run_module(module, case.inputs).values()
    np.testing.assert_array_equal(before, after)
    assert len(np.unique(before)) > 50
