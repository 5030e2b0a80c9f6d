"""Rotary embeddings and products with packed weights, against complex numbers and plain floats."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import TensorType, f16

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.packed_weights import quantise

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
Make = Callable[..., Array]


def rotated(x: Array, angles: Array, pairs: tuple[slice, slice]) -> Array:
    """Pairs of elements as complex numbers, turned by the angles."""
    first, second = pairs
    turned = (x[..., first] + 1j * x[..., second]) * np.exp(1j * angles)
    out = np.empty_like(x)
    out[..., first], out[..., second] = turned.real, turned.imag
    return out


@pytest.mark.parametrize("mode", ["contiguous_halves", "interleaved_pairs"])
def test_rope_turns_pairs(run_op: Run, normal: Make, mode: str) -> None:
    x, angles = normal(1, 5, 3, 8), normal(5, 1, 4, seed=1)
    halves = mode == "contiguous_halves"
    doubled = np.concatenate([angles] * 2, -1) if halves else np.repeat(angles, 2, -1)
    pairs = (slice(0, 4), slice(4, 8)) if halves else (slice(0, 8, 2), slice(1, 8, 2))
    (found,) = run_op(top.RopeOp, [x, np.sin(doubled), np.cos(doubled)], rope_mode=mode)
    np.testing.assert_allclose(found, rotated(x, angles, pairs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_packed_product_is_that_of_the_restored_matrix(
    run_op: Run, normal: Make, bits: int, symmetric: bool
) -> None:
    matrix, x, bias = normal(6, 64), normal(1, 3, 64, seed=1), normal(1, 1, 6, seed=2)
    packed = quantise(matrix, bits, 32, symmetric)
    parts = (packed.values, packed.scale, packed.zero)
    values = [x, *(one.astype(np.float32) for one in parts), bias]
    attributes: dict[str, Any] = {"q_group_size": 32, "weight_bits": bits, "right_transpose": True}
    (found,) = run_op(top.A16MatMulOp, values, **attributes)
    np.testing.assert_allclose(found, x @ packed.floats().T + bias, rtol=1e-5, atol=1e-5)


def test_lanes_hold_scales_in_their_order(run_op: Run, normal: Make) -> None:
    packed = quantise(normal(256, 64), 4, 32)
    lanes = [
        one.reshape(2, 2, 64, 2).swapaxes(1, 2).astype(np.float32)
        for one in (packed.scale, packed.zero)
    ]
    x = normal(1, 64, seed=1).astype(np.float16).astype(np.float32)
    types = [TensorType(f16, (1, 256))]
    attributes: dict[str, Any] = {"q_group_size": 32, "weight_bits": 4, "w_transpose": True}
    (found,) = run_op(tpu.A16MatMulOp, [x, packed.values, *lanes, None], types, **attributes)
    expected = x @ packed.floats().astype(np.float32).T  # weights have the type of x
    np.testing.assert_array_equal(found, expected.astype(np.float16).astype(np.float32))


def test_a_product_of_the_wrong_width_is_refused(run_op: Run, normal: Make) -> None:
    packed = quantise(normal(6, 64), 4, 32)
    scale, zero = packed.scale.astype(np.float32), packed.zero.astype(np.float32)
    attributes: dict[str, Any] = {"q_group_size": 32, "weight_bits": 4, "right_transpose": True}
    with pytest.raises(TpuError):
        run_op(top.A16MatMulOp, [normal(1, 60), packed.values, scale, zero, None], **attributes)
