"""Convolutions and pools of integers over DDR: every element is the interpreter's."""

import pytest
from tests.kernels.harness import Shape
from tests.quantized.quant_cases import ROUNDING, S8, U8, QuantCase, check, conv

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.dialects.errors import TpuError

pytestmark = pytest.mark.usefixtures("on_both_chips")

KINDS = {"i8": S8, "u8": U8}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8"), ("u8", "i8")])
@pytest.mark.parametrize(
    ("channels", "size", "kernel", "stride", "pad"),
    [
        ((70, 130), (9, 11), 3, 1, 1),
        ((64, 64), (14, 14), 1, 1, 0),
        ((200, 70), (8, 8), 1, 2, 0),
        ((5, 70), (12, 10), 5, 2, 2),
    ],
)
def test_convolutions(
    channels: tuple[int, int],
    size: tuple[int, int],
    kernel: int,
    stride: int,
    pad: int,
    kinds: tuple[str, str],
    bias: bool,
) -> None:

    case = QuantCase()
    out = tuple((s + 2 * pad - kernel) // stride + 1 for s in size)
    shapes: tuple[Shape, Shape] = ((2, channels[0], *size), (2, channels[1], *out))
    x = case.integers("x", shapes[0], KINDS[kinds[0]])
    conv(
        case,
        x,
        "y",
        shapes,
        (kernel, kernel),
        (stride, stride),
        pad,
        bias=bias,
        relu=kinds[1] == "u8",
        result=KINDS[kinds[1]],
    )
    check(case)


@pytest.mark.parametrize("kernel", [3, 7])
def test_first_layers_with_merged_taps(kernel: int) -> None:
    case = QuantCase()
    shapes = ((1, 3, 40, 40), (1, 64, 20, 20))
    x = case.integers("x", shapes[0])
    conv(case, x, "y", shapes, (kernel, kernel), (2, 2), kernel // 2, result=U8)
    assert check(case).program.tiu


@pytest.mark.parametrize("images", [1, 2])
def test_patches_farther_apart_than_a_command_can_say(images: int, on_both_chips: str) -> None:
    """As many channels as lanes have room for with all rows of a patch."""
    case, channels = QuantCase(), min(3, load_chip(on_both_chips).lanes // 16)
    shapes = ((images, channels, 64, 96), (images, 130, 4, 6))
    x = case.integers("x", shapes[0])
    conv(case, x, "y", shapes, (16, 16), (16, 16), result=S8)
    check(case)


def test_far_windows_with_gaps_are_refused() -> None:
    case = QuantCase()
    shapes = ((1, 3, 64, 96), (1, 70, 4, 6))
    x = case.integers("x", shapes[0])
    conv(case, x, "y", shapes, (16, 15), (16, 16), result=S8)
    with pytest.raises(TpuError, match="stride 16 is beyond the 15"):
        check(case)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8"), ("u8", "i8")])
@pytest.mark.parametrize(("channels", "stride"), [(96, 1), (130, 2), (32, 1)])
def test_depthwise(channels: int, stride: int, kinds: tuple[str, str], bias: bool) -> None:
    case = QuantCase()
    size = 14 // stride
    shapes = ((1, channels, 14, 14), (1, channels, size, size))
    x = case.integers("x", shapes[0], KINDS[kinds[0]])
    result = KINDS[kinds[1]]
    conv(case, x, "y", shapes, (3, 3), (stride, stride), 1, channels, bias=bias, result=result)
    check(case)


def test_unsigned_filter_without_bias() -> None:
    case = QuantCase()
    shapes = ((1, 70, 9, 9), (1, 70, 9, 9))
    x = case.integers("x", shapes[0], U8)
    conv(case, x, "y", shapes, (1, 1), bias=False, filters="ui8", result=U8)
    check(case)


def test_groups_of_whole_lanes() -> None:
    case = QuantCase()
    shapes = ((1, 20, 9, 9), (1, 256, 7, 7))
    x = case.integers("x", shapes[0], U8)
    conv(case, x, "y", shapes, (3, 3), group=2)
    check(case)


def test_coefficients_that_do_not_fit_come_in_parts() -> None:
    case = QuantCase()
    shapes = ((1, 2048, 5, 5), (1, 1000, 3, 3))
    x = case.integers("x", shapes[0], U8)
    conv(case, x, "y", shapes, (3, 3))
    transfers = check(case).program.gdma
    assert len(transfers) > 6


@pytest.mark.parametrize("kind", ["i8", "u8"])
@pytest.mark.parametrize("relu", [False, True])
def test_largest(kind: str, relu: bool) -> None:
    case = QuantCase()
    x = case.integers("x", (2, 70, 15, 13), KINDS[kind])
    attributes = {
        "kernel_shape": "[3, 3]",
        "strides": "[2, 2]",
        "pads": "[1, 1, 1, 1]",
        "pool_mode": "#tpu<pool_mode Max>",
        "do_relu": str(relu).lower(),
    }
    case.op("tpu.Pool2D", [x], attributes, "y", (2, 70, 8, 7), KINDS[kind])
    check(case)


@pytest.mark.parametrize("kinds", [("i8", "i8"), ("u8", "u8")])
@pytest.mark.parametrize(("kernel", "pad"), [(7, 0), (3, 1)])
def test_means(kinds: tuple[str, str], kernel: int, pad: int) -> None:
    case = QuantCase()
    x = case.integers("x", (1, 130, 7, 7), KINDS[kinds[0]])
    out = 7 + 2 * pad - kernel + 1
    attributes = {
        "kernel_shape": f"[{kernel}, {kernel}]",
        "strides": "[1, 1]",
        "pads": str([pad] * 4),
        "pool_mode": "#tpu<pool_mode Avg>",
        "count_include_pad": "true",
        "multiplier": f"{85 if kernel == 7 else 113} : si32",
        "rshift": f"{12 if kernel == 7 else 10} : si32",
        "round_mode": ROUNDING,
    }
    case.op("tpu.Pool2D", [x], attributes, "y", (1, 130, out, out), KINDS[kinds[1]])
    check(case)
