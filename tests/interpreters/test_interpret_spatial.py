"""Convolution, pooling and resizing against onnxruntime, on odd shapes and paddings."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from xdsl.dialects.builtin import Float16Type, TensorType, f32

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.layouts import choose_3ic, reorder_conv_filter
from xdsl_tpu.dialects.lanes import USUAL_ROW, Lanes

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
Make = Callable[..., Array]


def close(ours: Array, theirs: Array) -> None:
    """Equal in shape, and in value but for the last places of f32."""
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 3, 9, 7), (4, 3, 3, 3), {"strides": [2, 1], "pads": [1, 0, 2, 3]}),
    ((2, 4, 6, 6), (8, 2, 3, 2), {"group": 2, "dilations": [2, 1], "pads": [2, 1, 2, 0]}),
    ((2, 5, 8, 9), (5, 1, 3, 3), {"group": 5, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((1, 4, 5, 5), (8, 1, 2, 2), {"group": 4}),
    ((3, 6, 4, 4), (2, 6, 1, 1), {}),
    ((1, 2, 11), (3, 2, 4), {"strides": [3], "pads": [1, 2]}),
    ((1, 2, 5, 6, 4), (3, 2, 2, 3, 2), {"strides": [1, 2, 1], "pads": [0, 1, 1, 1, 0, 0]}),
]


def full(attributes: dict[str, Any], kernel: tuple[int, ...]) -> dict[str, Any]:
    """Attributes with the defaults ONNX leaves out."""
    rank = len(kernel)
    defaults: dict[str, Any] = {"strides": [1] * rank, "pads": [0] * (2 * rank)}
    return {"kernel_shape": list(kernel)} | defaults | attributes


@pytest.mark.parametrize(("shape", "kernel", "attributes"), CONVOLUTIONS)
@pytest.mark.parametrize("with_bias", [True, False])
def test_convolution(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    attributes: dict[str, Any],
    with_bias: bool,
) -> None:
    x, w = normal(*shape), normal(*kernel, seed=1)
    b = normal(kernel[0], seed=2) if with_bias else None
    expected = run_onnx("Conv", [x, w, b] if with_bias else [x, w], **attributes)[0]
    attributes = full(attributes, kernel[2:])
    close(run_op(top.ConvOp, [x, w, b], **attributes)[0], expected)
    (clipped,) = run_op(top.ConvOp, [x, w, b], do_relu=True, relu_limit=1.0, **attributes)
    close(clipped, np.clip(expected, 0, 1))


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
def test_automatic_padding(run_op: Run, run_onnx: Run, normal: Make, auto_pad: str) -> None:
    x, w = normal(1, 2, 8, 7), normal(3, 2, 3, 4, seed=1)
    expected = run_onnx("Conv", [x, w], auto_pad=auto_pad, strides=[2, 3])[0]
    attributes = full({"strides": [2, 3], "auto_pad": auto_pad}, (3, 4))
    close(run_op(top.ConvOp, [x, w, None], **attributes)[0], expected)


def test_one_dimensional_convolution_with_two_dimensional_attributes(
    run_op: Run, run_onnx: Run, normal: Make
) -> None:
    x, w = normal(2, 3, 10), normal(4, 3, 3, seed=1)
    expected = run_onnx("Conv", [x, w], strides=[2], pads=[1, 1])[0]
    (found,) = run_op(
        top.ConvOp,
        [x, w.reshape(4, 3, 3, 1), None],
        [TensorType(f32, expected.shape)],
        kernel_shape=[3, 1],
        strides=[2, 1],
        pads=[1, 0, 1, 0],
    )
    close(found, expected)


@pytest.mark.parametrize(
    ("channels", "kernel", "group", "width"),
    [
        (3, (8, 3, 4, 4), 1, 2),  # height merged
        (3, (8, 3, 3, 3), 1, 2),  # both merged
        (3, (8, 3, 1, 5), 1, 2),  # width merged
        (40, (8, 40, 3, 3), 1, 2),
        (6, (6, 1, 3, 3), 6, 2),
        (6, (4, 3, 3, 3), 2, 2),
        (3, (8, 3, 4, 4), 1, 4),
    ],
)
@pytest.mark.parametrize("row", [USUAL_ROW, 32])
def test_filters_in_the_layout_of_the_chip_give_the_same_values(
    run_op: Run,
    normal: Make,
    channels: int,
    kernel: tuple[int, ...],
    group: int,
    width: int,
    row: int,
) -> None:
    """`tpu.Conv2D` after weight reordering computes what it computed before, to the bit."""
    element = Float16Type() if width == 2 else f32
    x, w = normal(1, channels, 8, 8), normal(*kernel, seed=1)
    b = normal(kernel[0], seed=2)
    mode = 0 if group > 1 else choose_3ic(channels, kernel[2], kernel[3], width, Lanes(64, 64, row))
    sizes = [8 - kernel[2] + 1, 8 - kernel[3] + 1]
    types = [TensorType(element, [1, kernel[0], *sizes])]
    attributes = full({"group": group, "with_bias": True}, kernel[2:])
    (plain,) = run_op(tpu.Conv2DOp, [x, w, b], types, element, **attributes)
    moved = reorder_conv_filter(w, width, row, group, mode)
    (reordered,) = run_op(
        tpu.Conv2DOp,
        [x, moved, b.reshape(1, -1, 1, 1)],
        types,
        element,
        use_3ic_optimize=mode | 0x10,
        **({} if row == USUAL_ROW else {"filter_row": row}),
        **attributes,
    )
    assert moved.shape != w.shape
    assert np.array_equal(plain, reordered)


@pytest.mark.parametrize(
    ("shape", "kernel", "attributes"),
    [
        ((1, 3, 4, 5), (3, 2, 3, 3), {"strides": [2, 3], "pads": [1, 0, 0, 2]}),
        ((2, 4, 3, 3), (4, 3, 2, 2), {"group": 2, "dilations": [2, 2]}),
        ((1, 2, 3, 3), (2, 2, 4, 4), {"strides": [2, 2], "output_padding": [1, 0]}),
        ((1, 4, 5, 5), (4, 1, 3, 3), {"group": 4, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ((1, 3, 6), (3, 2, 3), {"strides": [2]}),
    ],
)
def test_transposed_convolution(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    attributes: dict[str, Any],
) -> None:
    """ONNX's filter is `[ic, oc/group, ..]`; ours has the output channels first."""
    x, w = normal(*shape), normal(*kernel, seed=1)
    group = attributes.get("group", 1)
    b = normal(kernel[1] * group, seed=2)
    expected = run_onnx("ConvTranspose", [x, w, b], **attributes)[0]
    ours = w.reshape(group, kernel[0] // group, *kernel[1:]).swapaxes(1, 2)
    ours = ours.reshape(kernel[1] * group, kernel[0] // group, *kernel[2:])
    attributes = full(attributes, kernel[2:])
    close(run_op(top.DeconvOp, [x, ours, b], **attributes)[0], expected)


POOLS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 7, 9), {"kernel_shape": [3, 2], "strides": [2, 2]}),
    ((2, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ((1, 2, 7, 7), {"kernel_shape": [3, 3], "strides": [2, 3], "ceil_mode": 1}),
    (
        (1, 2, 8, 7),
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 0, 1, 0], "ceil_mode": 1},
    ),
    ((1, 2, 10), {"kernel_shape": [4], "strides": [3], "pads": [2, 1]}),
    ((1, 2, 4, 6, 5), {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2]}),
    ((1, 5, 6, 7), {"kernel_shape": [6, 7], "strides": [1, 1]}),
]


@pytest.mark.parametrize(("shape", "attributes"), POOLS)
def test_pooling(
    run_op: Run, run_onnx: Run, normal: Make, shape: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    x = normal(*shape) - 3
    ours = full(attributes, tuple(attributes["kernel_shape"]))
    ours["ceil_mode"] = bool(ours.get("ceil_mode", 0))
    expected = run_onnx("MaxPool", [x], **attributes)[0]
    close(run_op(top.MaxPoolOp, [x], **ours)[0], expected)
    for include in (False, True):
        mean = run_onnx("AveragePool", [x], opset=19, count_include_pad=int(include), **attributes)
        close(run_op(top.AvgPoolOp, [x], count_include_pad=include, **ours)[0], mean[0])
    pool = {1: tpu.Pool1DOp, 2: tpu.Pool2DOp, 3: tpu.Pool3DOp}[len(ours["kernel_shape"])]
    if pool is tpu.Pool3DOp:
        del ours["ceil_mode"]
    types = [TensorType(f32, expected.shape)]
    operands = [x, None] if pool is tpu.Pool3DOp else [x]
    close(run_op(pool, operands, types, pool_mode="Max", **ours)[0], expected)


def test_global_and_adaptive_pooling(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(2, 3, 7, 5)
    empty: dict[str, Any] = {"kernel_shape": [], "strides": [], "pads": []}
    close(run_op(top.AvgPoolOp, [x], **empty)[0], run_onnx("GlobalAveragePool", [x])[0])
    close(run_op(top.MaxPoolOp, [x], **empty)[0], run_onnx("GlobalMaxPool", [x])[0])
    (flat,) = run_op(top.AvgPoolOp, [x], keepdims=False, **empty)
    assert flat.shape == (2, 3)
    (adaptive,) = run_op(top.AdaptiveAvgPoolOp, [x], output_size=[3, 5])
    close(adaptive[:, :, 1], x[:, :, 2:5].mean(2))


def test_pooling_with_a_mask_and_back(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(1, 2, 6, 6)
    attributes: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2]}
    values, index = run_onnx("MaxPool", [x], results=2, **attributes)
    ours = run_op(top.MaxPoolWithMaskOp, [x], 2, **full(attributes, (2, 2)))
    close(ours[0], values)
    assert np.array_equal(ours[1] + np.array([0, 36]).reshape(1, 2, 1, 1), index)
    expected = run_onnx("MaxUnpool", [values, index], **attributes)[0]
    close(run_op(top.MaxUnpoolOp, [ours[0], ours[1]], scale_h=2, scale_w=2)[0], expected)


@pytest.mark.parametrize(
    "coordinates", ["align_corners", "half_pixel", "pytorch_half_pixel", "asymmetric"]
)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("sizes", [(8, 12), (3, 13), (1, 4)])
def test_resize(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    coordinates: str,
    mode: str,
    sizes: tuple[int, int],
) -> None:
    x = normal(2, 3, 4, 6)
    target = np.array([2, 3, *sizes], np.int64)
    rounding = "floor" if coordinates == "asymmetric" else "round_prefer_floor"
    (expected,) = run_onnx(
        "Resize",
        [x, None, None, target],
        mode=mode,
        coordinate_transformation_mode=coordinates,
        nearest_mode=rounding,
    )
    (found,) = run_op(
        top.InterpOp,
        [x, None],
        [TensorType(f32, expected.shape)],
        mode=mode,
        coord_mode=coordinates,
        scale_h=sizes[0] / 4,
        scale_w=sizes[1] / 6,
    )
    close(found, expected)


def test_upsample_repeats_pixels(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(1, 2, 3, 4)
    scales = np.array([1, 1, 2, 3], np.float32)
    expected = run_onnx("Resize", [x, None, scales], mode="nearest")[0]
    close(run_op(top.UpsampleOp, [x], scale_h=2, scale_w=3)[0], expected)


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize(("padding", "number"), [("zeros", 0), ("border", 1), ("reflection", 2)])
@pytest.mark.parametrize("align", [True, False])
def test_grid_sample(
    run_op: Run, run_onnx: Run, normal: Make, mode: str, padding: str, number: int, align: bool
) -> None:
    x = normal(2, 3, 5, 6)
    grid = np.random.default_rng(1).uniform(-1.5, 1.5, (2, 4, 3, 2)).astype(np.float32)
    (expected,) = run_onnx(
        "GridSample",
        [x, grid],
        opset=20,
        mode=mode,
        padding_mode=padding,
        align_corners=int(align),
    )
    (found,) = run_op(
        top.GridSamplerOp,
        [x, grid],
        mode=("linear", "nearest", "cubic").index(mode),
        padding_mode=number,
        align_corners=align,
    )
    close(found, expected)
