"""Convolutions of few outputs over blocks of pixels: the same numbers; where it is left alone."""

from typing import Any

import pytest
from tests.passes.programs import assert_close_in_program
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of
from xdsl.dialects.builtin import ModuleOp, StringAttr

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.passes.tensors import shape_of

PASS = "fold-blocks"


def last(
    outputs: int,
    size: tuple[int, int] = (48, 128),
    inputs: int = 64,
    biased: bool = True,
    **window: Any,
) -> ModuleOp:
    """An image of many channels, and a filter that makes few of them."""
    net = Net()
    how: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    how |= window
    x = net.op(top.ReluOp, "x", (net.input("i", 2, inputs, *size),))
    bias = net.weight("b", outputs) if biased else net.none
    y = net.op(
        top.ConvOp, "y", (x, net.weight("w", outputs, inputs, *how["kernel_shape"]), bias), **how
    )
    return net.module(net.op(top.AbsOp, "z", (y,)))


@pytest.mark.parametrize(
    "window",
    [
        {},
        {"do_relu": True, "biased": False},
        {"kernel_shape": [7, 9], "pads": [3, 4, 3, 4]},
        {"kernel_shape": [6, 5], "strides": [2, 1], "pads": [2, 2, 2, 2]},
        {"kernel_shape": [4, 4], "strides": [2, 2], "pads": [1, 1, 2, 2]},
        {"kernel_shape": [5, 5], "pads": [0, 3, 4, 1]},
    ],
    ids=str,
)
@pytest.mark.parametrize("outputs", [1, 3, 12])
def test_the_same_numbers(outputs: int, window: dict[str, Any]) -> None:
    after = assert_same_numbers(last(outputs, **window), PASS, tolerance=1e-4)
    assert kinds(after) == ["Relu", "Conv", "Abs", "Depth2Space"]
    (blocks,) = ops_of(after, top.Depth2SpaceOp)
    assert 1 < blocks.block_h.value.data * blocks.block_w.value.data <= 64 // outputs


@pytest.mark.parametrize(
    "window",
    [
        {},
        {"do_relu": True, "biased": False},
        {"kernel_shape": [5, 3], "strides": [2, 1], "pads": [2, 1, 2, 1]},
    ],
    ids=str,
)
@pytest.mark.parametrize("outputs", [80, 130, 144])
def test_the_last_outputs_become_blocks(outputs: int, window: dict[str, Any]) -> None:
    """Those that fill all lanes stay; what works on each element comes before all are together."""
    module = last(outputs, inputs=32, **window)
    after = assert_same_numbers(module, PASS, tolerance=1e-4)
    assert kinds(after) == ["Relu", "Conv", "Conv", "Abs", "Abs", "Depth2Space", "Concat"]
    first, blocks = ops_of(after, top.ConvOp)
    (spread,) = ops_of(after, top.Depth2SpaceOp)
    size = spread.block_h.value.data * spread.block_w.value.data
    whole = outputs // 64 * 64
    assert shape_of(first.output)[1] == whole
    assert shape_of(blocks.output)[1] == (outputs - whole) * size <= 64


def test_what_has_another_reader_stays_behind_the_blocks() -> None:
    net = Net()
    window: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    x = net.op(top.ReluOp, "x", (net.input("i", 1, 64, 32, 32),))
    y = net.op(top.ConvOp, "y", (x, net.weight("w", 80, 64, 3, 3), net.none), **window)
    z = net.op(top.AddOp, "z", (y, net.op(top.AbsOp, "a", (y,))))
    after = assert_same_numbers(net.module(z), PASS, tolerance=1e-4)
    assert kinds(after) == ["Relu", "Conv", "Conv", "Depth2Space", "Concat", "Abs", "Add"]


def test_the_block_of_an_image_of_three_channels() -> None:
    """Sixteen pixels in 36 taps are fewer than a row of them in 54."""
    (conv,) = ops_of(assert_same_numbers(last(3), PASS, tolerance=1e-4), top.ConvOp)
    assert ints(conv.kernel_shape) == (6, 6)
    assert ints(conv.strides) == (4, 4)


@pytest.mark.parametrize(
    "window",
    [
        {"outputs": 33},
        {"outputs": 97},
        {"outputs": 80, "kernel_shape": [1, 1], "pads": [0, 0, 0, 0]},
        {"outputs": 3, "kernel_shape": [1, 1], "pads": [0, 0, 0, 0]},
        {"outputs": 3, "size": (97, 127)},
        {"outputs": 3, "dilations": [2, 2], "pads": [2, 2, 2, 2]},
    ],
    ids=str,
)
def test_left_alone(window: dict[str, Any]) -> None:
    """More than half the lanes, points, sizes that no block divides, taps that are apart."""
    assert kinds(assert_same_numbers(last(**window), PASS)) == ["Relu", "Conv", "Abs"]


def transposed(outputs: int, **window: Any) -> ModuleOp:
    """An image of many channels, and a transposed filter."""
    net = Net()
    how: dict[str, Any] = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [0, 0, 0, 0]}
    how |= window
    x = net.op(top.ReluOp, "x", (net.input("i", 2, 64, 24, 32),))
    tables = net.weight("w", outputs, 64, *how["kernel_shape"]), net.weight("b", outputs)
    return net.module(net.op(top.AbsOp, "z", (net.op(top.DeconvOp, "y", (x, *tables), **how),)))


@pytest.mark.parametrize(
    ("outputs", "window", "kernels"),
    [
        (96, {}, [(1, 1)]),
        (32, {"kernel_shape": [4, 4], "pads": [1, 1, 1, 1], "do_relu": True}, [(3, 3)]),
        (64, {"kernel_shape": [4, 4], "pads": [1, 1, 1, 1], "do_relu": True}, 4 * [(2, 2)]),
        (
            64,
            {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
            [(1, 1), (1, 2), (2, 1), (2, 2)],
        ),
        (64, {"kernel_shape": [2, 5], "pads": [0, 2, 0, 2], "strides": [2, 1]}, [(1, 5)]),
        (64, {"kernel_shape": [2, 4], "pads": [0, 1, 0, 1]}, 4 * [(1, 2)]),
        # The second of two rows has no tap in the first row of the image.
        (64, {"kernel_shape": [4, 2], "pads": [3, 0, 1, 0]}, [(3, 1)]),
    ],
)
def test_strides_of_a_transposed_convolution_are_blocks(
    outputs: int, window: dict[str, Any], kernels: list[tuple[int, int]]
) -> None:
    """Each place that sees different pixels is a convolution by itself."""
    after = assert_same_numbers(transposed(outputs, **window), PASS, tolerance=1e-4)
    count = len(kernels)
    joined = ["Concat"] if count > 1 else []
    assert kinds(after) == ["Relu", *count * ["Conv"], *count * ["Abs"], *joined, "Depth2Space"]
    convs = list(ops_of(after, top.ConvOp))
    assert [(ints(conv.kernel_shape), ints(conv.strides)) for conv in convs] == [
        (kernel, (1, 1)) for kernel in kernels
    ]


@pytest.mark.parametrize(
    "window",
    [
        {"strides": [1, 1], "kernel_shape": [3, 3]},
        {"dilations": [2, 2], "kernel_shape": [3, 3]},
        {"pads": [1, 0, 0, 0]},
    ],
    ids=str,
)
def test_transposed_convolutions_left_alone(window: dict[str, Any]) -> None:
    """No zeros to multiply, taps that are apart, sizes that are no whole strides."""
    after = assert_same_numbers(transposed(64, **window), PASS)
    assert kinds(after) == ["Relu", "Deconv", "Abs"]


def line(outputs: int, mode: str = "F16", **window: Any) -> ModuleOp:
    """A line of many channels, and a transposed filter that makes it longer."""
    net = Net()
    how: dict[str, Any] = {"kernel_shape": [16], "strides": [8], "pads": [4, 4]}
    how |= window
    x = net.op(top.ReluOp, "x", (net.input("i", 2, 128, 50),))
    tables = net.weight("w", outputs, 128, *how["kernel_shape"]), net.weight("b", outputs)
    module = net.module(net.op(top.AbsOp, "z", (net.op(top.DeconvOp, "y", (x, *tables), **how),)))
    module.attributes["module.mode"] = StringAttr(mode)
    return module


@pytest.mark.parametrize(
    ("outputs", "mode", "window", "parts"),
    [
        (64, "F16", {}, [(2, 4), (2, 4)]),
        (32, "F16", {"do_relu": True}, [(2, 4), (2, 4)]),
        (64, "INT8", {"kernel_shape": [8], "pads": [0, 0], "dilations": [1]}, [(1, 8)]),
        (96, "F16", {"kernel_shape": [15], "output_padding": [1]}, [(2, 3), (1, 1), (2, 4)]),
        (65, "INT8", {}, [(2, 4), (2, 4)]),
    ],
)
def test_strides_of_lines_are_blocks(
    outputs: int, mode: str, window: dict[str, Any], parts: list[tuple[int, int]]
) -> None:
    """`parts` have taps and places."""
    after = assert_same_numbers(line(outputs, mode, **window), PASS, tolerance=1e-4)
    made = [*len(parts) * ["Conv"], *(["Concat"] if len(parts) > 1 else [])]
    assert kinds(after) == ["Relu", "Reshape", *made, "Depth2Space", "Reshape", "Abs"]
    convs = list(ops_of(after, top.ConvOp))
    found = [(ints(conv.kernel_shape), shape_of(conv.output)[1]) for conv in convs]
    assert found == [((taps, 1), places * outputs) for taps, places in parts]


@pytest.mark.parametrize(
    ("outputs", "mode", "window"),
    [
        (64, "F16", {"pads": [4, 3]}),
        (64, "F16", {"dilations": [2]}),
    ],
)
def test_lines_left_alone(outputs: int, mode: str, window: dict[str, Any]) -> None:
    """No whole strides, taps that are apart."""
    after = assert_same_numbers(line(outputs, mode, **window), PASS)
    assert kinds(after) == ["Relu", "Deconv", "Abs"]


def test_a_filter_that_no_lane_holds_is_parted_in_bytes_too() -> None:
    """One sample of all frequencies, as an inverse spectrogram has it."""
    net = Net()
    x = net.op(top.ReluOp, "x", (net.input("i", 1, 520, 3),))
    how: dict[str, Any] = {"kernel_shape": [256], "strides": [128], "pads": [0, 0]}
    tables = net.weight("w", 1, 520, 256), net.none
    module = net.module(net.op(top.AbsOp, "z", (net.op(top.DeconvOp, "y", (x, *tables), **how),)))
    module.attributes["module.mode"] = StringAttr("INT8")
    after = assert_same_numbers(module, PASS, tolerance=1e-4)
    (conv,) = ops_of(after, top.ConvOp)
    assert (ints(conv.kernel_shape), shape_of(conv.output)[1]) == ((2, 1), 128)


def test_left_to_columns_that_are_folded_already() -> None:
    net = Net()
    x = net.input("i", 1, 8, 32, 256)
    window: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    for name in ("a", "b", "c", "d"):
        x = net.op(top.ConvOp, name, (x, net.weight(f"{name}w", 8, 8, 3, 3), net.none), **window)
    assert "Depth2Space" not in kinds(assert_same_numbers(net.module(x), PASS))


@pytest.mark.parametrize(
    ("size", "expected"),
    [((48, 128), ["Conv", "Abs"]), ((256, 256), ["Conv", "Abs", "Depth2Space"])],
)
def test_bytes_are_cast_for_it(size: tuple[int, int], expected: list[str]) -> None:
    """They change lanes as floats, which small images are not worth."""
    module = last(3, size)
    module.attributes["module.mode"] = StringAttr("INT8")
    assert kinds(assert_same_numbers(module, PASS, tolerance=1e-4)) == ["Relu", *expected]


@pytest.mark.parametrize("outputs", [3, 80])
@pytest.mark.parametrize("mode", ["F16", "F32"])
def test_in_programs(mode: str, outputs: int) -> None:
    assert_close_in_program(last(outputs, (24, 32)), mode)


@pytest.mark.parametrize("bound_by_weights", [False, True])
def test_a_larger_filter_may_be_loaded_while_others_work(bound_by_weights: bool) -> None:
    """Blocks of two pixels take two thirds of the array's time, and a third more of weights."""
    net = Net()
    window: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}
    x = net.op(top.ReluOp, "x", (net.input("i", 1, 128, 28, 28),))
    outputs = [net.op(top.ConvOp, "y", (x, net.weight("w", 32, 128, 3, 3), net.none), **window)]
    if bound_by_weights:
        rows = net.input("j", 1, 1024)
        outputs.append(net.op(top.MatMulOp, "z", (rows, net.weight("m", 1024, 512), net.none)))
    after = assert_same_numbers(net.module(*outputs), PASS, tolerance=1e-4)
    assert ("Depth2Space" in kinds(after)) != bound_by_weights
