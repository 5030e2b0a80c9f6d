"""Folding columns into channels: the filters, the choice, and that networks compute the same."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.passes.semantics import Net, assert_same_numbers, kinds, ops_of, random_inputs
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import SSAValue

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.backend.program import Program
from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.weights import clone_with_weights, weights_of
from xdsl_tpu.passes.calibration.table import CalibrationTable, Threshold
from xdsl_tpu.passes.fold_columns.choice import Prices, prices_for
from xdsl_tpu.passes.fold_columns.filters import (
    Array,
    Slide,
    folded,
    folded_filter,
    shortest,
    staggering,
)
from xdsl_tpu.passes.fold_columns.network import network_of
from xdsl_tpu.passes.pipelines import Quantization, lower
from xdsl_tpu.passes.tensors import element_of, functions, shape_of


def slid(x: Array, filters: Array, slide: Slide) -> Array:
    """[ic, size] and [oc, ic, kernel] to [oc, result], by definition."""
    out = np.zeros((filters.shape[0], slide.result))
    for tap in range(slide.kernel):
        for column in range(slide.result if not slide.transposed else slide.size):
            at = column * slide.stride + tap * slide.dilation - slide.before
            if slide.transposed and 0 <= at < slide.result:
                out[:, at] += filters[:, :, tap] @ x[:, column]
            elif not slide.transposed and 0 <= at < slide.size:
                out[:, column] += filters[:, :, tap] @ x[:, at]
    return out


def fold(x: Array, factor: int) -> Array:
    channels, columns = x.shape
    split = x.reshape(channels, columns // factor, factor)
    return split.transpose(0, 2, 1).reshape(channels * factor, columns // factor)


def staggered(x: Array, fold: int, stagger: int) -> Array:
    """Folded columns, the last channels of each in the next one, by the depthwise filters."""
    taps = staggering(x.shape[0] // fold, fold, stagger)[:, 0]
    wide = np.pad(x, ((0, 0), (1, 1)))
    return taps[:, :1] * wide[:, :-1] + taps[:, 1:] * wide[:, 1:]


CASES = [
    (Slide(3, 1, 1, 1, 1, 24, 24), 4, 4),
    (Slide(11, 1, 5, 25, 25, 48, 48), 8, 8),
    (Slide(3, 2, 1, 1, 0, 24, 12), 2, 1),
    (Slide(3, 2, 1, 1, 0, 24, 12), 4, 4),
    (Slide(5, 1, 1, 2, 2, 24, 24), 1, 3),
    (Slide(1, 1, 1, 0, 0, 24, 24), 6, 6),
    (Slide(4, 1, 1, 0, 0, 27, 24), 3, 3),
    (Slide(8, 4, 1, 2, 2, 6, 24, True), 1, 4),
    (Slide(8, 4, 1, 2, 2, 6, 24, True), 2, 8),
    (Slide(2, 2, 1, 0, 0, 6, 12, True), 3, 6),
    (Slide(3, 2, 1, 1, 0, 6, 12, True), 1, 2),
]


@pytest.mark.parametrize(("slide", "taken", "given"), CASES)
def test_a_folded_filter_computes_the_same(slide: Slide, taken: int, given: int) -> None:
    rng = np.random.default_rng(3)
    x, filters = rng.standard_normal((2, slide.size)), rng.standard_normal((3, 2, slide.kernel))
    how = folded(slide, taken, given)
    assert how is not None
    wanted = fold(slid(x, filters, slide), given)
    found = slid(fold(x, taken), folded_filter(filters, 0, how), how.slide)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    for stagger in range(1, taken if not slide.transposed else 1):
        how = folded(slide, taken, given, stagger)
        assert how is not None
        moved = staggered(fold(x, taken), taken, stagger)
        found = slid(moved, folded_filter(filters, 0, how), how.slide)
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("slide", "taken", "given"),
    [
        (Slide(9, 2, 1, 4, 3, 12, 24, True), 1, 8),
        (Slide(9, 2, 1, 4, 3, 12, 24, True), 3, 12),
        (Slide(4, 2, 1, 1, 1, 12, 24, True), 1, 2),
        (Slide(2, 2, 1, 0, 0, 6, 12, True), 2, 4),
        (Slide(3, 2, 2, 2, 1, 12, 24, True), 2, 8),
        (Slide(2, 3, 1, 0, 0, 8, 24, True), 1, 6),
    ],
)
def test_a_transposed_filter_slides_over_its_input_too(
    slide: Slide, taken: int, given: int
) -> None:
    rng = np.random.default_rng(3)
    x, filters = rng.standard_normal((2, slide.size)), rng.standard_normal((3, 2, slide.kernel))
    how = folded(slide, taken, given, slides=True)
    assert how is not None
    assert not how.slide.transposed
    found = slid(fold(x, taken), folded_filter(filters, 0, how), how.slide)
    np.testing.assert_allclose(found, fold(slid(x, filters, slide), given), atol=1e-12)
    assert folded(replace(slide, stride=5), taken, given, slides=True) is None


@pytest.mark.parametrize(
    ("slide", "fold", "stagger", "taps"),
    [
        (Slide(3, 1, 1, 1, 1, 24, 24), 2, 1, 2),
        (Slide(3, 1, 1, 1, 1, 24, 24), 4, 1, 2),
        (Slide(7, 1, 1, 3, 3, 24, 24), 2, 1, 4),
        (Slide(5, 1, 1, 2, 2, 24, 24), 2, 0, 3),
        (Slide(1, 1, 1, 0, 0, 24, 24), 2, 0, 1),
    ],
)
def test_columns_are_staggered_where_that_leaves_fewer_taps(
    slide: Slide, fold: int, stagger: int, taps: int
) -> None:
    how = shortest(slide, fold, fold)
    assert how is not None
    assert (how.stagger, how.slide.kernel) == (stagger, taps)


@pytest.mark.parametrize(
    ("slide", "taken", "given"),
    [
        (Slide(3, 1, 1, 1, 1, 25, 25), 4, 4),
        (Slide(3, 1, 1, 1, 1, 24, 24), 4, 2),
        (Slide(8, 4, 1, 2, 2, 6, 24, True), 1, 2),
    ],
)
def test_what_does_not_slide_over_folded_columns(slide: Slide, taken: int, given: int) -> None:
    assert folded(slide, taken, given) is None


def network() -> ModuleOp:
    """Filters of few channels over 96, 48 and 24 columns, and all that may lie between them."""
    net = Net()
    x, none = net.input("x", 1, 3, 8, 96), net.none

    def conv(name: str, x: SSAValue, filters: tuple[int, ...], **more: Any) -> SSAValue:
        window: dict[str, Any] = {"pads": (1,) * 4, "strides": (1, 1), "kernel_shape": filters[2:]}
        operands = (x, net.weight(f"{name}_w", *filters), more.pop("bias", none))
        return net.op(top.ConvOp, name, operands, **window | more)

    first = conv("c0", x, (8, 3, 3, 3), strides=(1, 2), bias=net.weight("b", 8), do_relu=True)
    slopes, scales, biases = (net.weight(name, 1, 8, 1, 1) for name in ("sl", "gw", "gb"))
    first = net.op(top.PReluOp, "p", (first, slopes))
    first = net.op(top.SiLUOp, "s", (first,))
    first = net.op(top.GroupNormOp, "g", (first, scales, biases), num_groups=4, eps=1e-5)
    second = conv("c1", first, (8, 8, 3, 5), pads=(1, 4, 1, 4), dilations=(1, 2))
    a, b = net.ops(top.SplitOp, ["a", "b"], (second,), axis=1, num=2, split_size=(3, 5))
    joined = net.op(top.ConcatOp, "j", (b, first, a), axis=1)
    total = net.op(top.AddOp, "r", (conv("c2", joined, (8, 16, 3, 3)), first))
    bounds = {"offset": (0, 4, 0, 0), "ends": (1, 8, 8, 48), "steps": (1,) * 4}
    part = net.op(top.SliceOp, "k", (total, none, none, none), **bounds)
    window = {"kernel_shape": (1, 4), "pads": (0, 1, 0, 1), "strides": (1, 2)}
    wide = net.op(top.DeconvOp, "d", (part, net.weight("d_w", 4, 4, 1, 4), none), **window)
    return net.module(conv("c3", total, (8, 8, 1, 4), **window), wide)


FOLLOWING = (
    top.PReluOp,
    top.SiLUOp,
    top.GroupNormOp,
    top.SplitOp,
    top.ConcatOp,
    top.AddOp,
    top.SliceOp,
)


@pytest.mark.parametrize("way", ["through_ddr", "by_array"])
def test_a_folded_network_computes_the_same(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prices, way, _free)
    after = assert_same_numbers(network(), "fold-columns")
    for op in after.walk():
        if isinstance(op, FOLLOWING):
            assert shape_of(op.results[0])[3] < 48
    staggers = [op for op in after.walk() if isinstance(op, top.ConvOp) and _is_depthwise(op)]
    assert staggers


@pytest.mark.parametrize("way", ["through_ddr", "by_array"])
def test_strides_and_unfolding_in_programs(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is folded reaches the chip as convolutions and moves that it has."""
    monkeypatch.setattr(Prices, way, _free)
    module, chip = network(), load_chip("bm1684x")
    inputs = random_inputs(module, 0)
    expected = list(run_module(module, inputs).values())
    lower(module, "F16", chip.instruction_set)
    program = generate(module, weights_of(module), chip)
    for got, wanted in zip(run_program(program, chip, inputs).values(), expected, strict=True):
        error = np.abs(np.asarray(got, np.float32).reshape(wanted.shape) - wanted).max()
        assert error < 5e-3 * np.abs(wanted).max()


@pytest.mark.parametrize("columns", [40, 41])
def test_left_alone_where_columns_do_not_divide_or_moves_cost_more(columns: int) -> None:
    net = Net()
    filters = net.weight("w", 8, 8, 1, 3)
    window = {"kernel_shape": (1, 3), "pads": (0, 1, 0, 1), "strides": (1, 1)}
    x = net.input("x", 1, 8, 1, columns)
    after = assert_same_numbers(
        net.module(net.op(top.ConvOp, "y", (x, filters, net.none), **window)), "fold-columns"
    )
    assert kinds(after) == ["Conv"]


@pytest.mark.parametrize("chip", ["bm1684x", "bm1688"])
def test_rows_of_a_first_convolution_become_channels_as_they_are_loaded(chip: str) -> None:
    """On the BM1688 they are more than it multiplies at once, and still as few cycles."""
    net = Net()
    window = {"kernel_shape": (7, 7), "pads": (3,) * 4, "strides": (2, 2)}
    x = net.input("x", 1, 3, 32, 128)
    module = net.module(
        net.op(top.ConvOp, "y", (x, net.weight("w", 64, 3, 7, 7), net.none), **window)
    )
    module.attributes |= {"module.chip": StringAttr(chip), "module.mode": StringAttr("F16")}
    assert kinds(assert_same_numbers(module, "fold-columns")) == ["Conv"]


def test_a_result_of_half_the_lanes_is_computed_folded_and_unfolded_by_the_array() -> None:
    net = Net()
    window = {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x = net.op(top.ReluOp, "x", (net.input("i", 1, 128, 56, 56),))
    y = net.op(top.ConvOp, "y", (x, net.weight("w", 32, 128, 3, 3), net.none), **window)
    after = assert_same_numbers(net.module(net.op(top.ReluOp, "z", (y,))), "fold-columns")
    assert kinds(after) == ["Relu", "Conv", "Relu", "Deconv"]


@pytest.mark.parametrize(
    ("height", "stride", "kernel", "rows"),
    [(96, 1, 3, 3), (94, 1, 3, 2), (97, 1, 3, 1), (96, 2, 3, 1), (96, 2, 7, 3)],
)
def test_rows_become_channels_where_a_result_is_unfolded(
    height: int, stride: int, kernel: int, rows: int
) -> None:
    """Nine outputs of columns in pairs, and rows as far as these divide."""
    net = Net()
    window: dict[str, Any] = {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x = net.op(top.TanhOp, "x", (net.input("i", 1, 64, height, 96),))
    wide = net.weight("w", 32, 64, 3, 3), net.weight("b", 32)
    y = net.op(top.TanhOp, "t", (net.op(top.ConvOp, "y", (x, *wide), **window),))
    few = net.weight("v", 9, 32, kernel, 3), net.weight("c", 9)
    window |= {"kernel_shape": (kernel, 3), "strides": (stride, 1)}
    window["pads"] = (kernel // 2, 1) * 2
    last = net.op(top.ConvOp, "z", (y, *few), **window)
    module = net.module(net.op(top.PermuteOp, "s", (last,), order=(0, 1, 3, 2)))
    after = assert_same_numbers(module, "fold-columns")
    conv = ops_of(after, top.ConvOp)[-1]
    assert ints(conv.strides)[0] == stride * rows
    assert shape_of(conv.output)[2] == -(-height // stride) // rows


def test_rows_of_a_transposed_convolution_become_channels() -> None:
    """One output of several columns, and rows of whole strides."""
    net = Net()
    window: dict[str, Any] = {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x = net.input("i", 1, 12, 32, 64)
    for name in ("a", "b", "c", "d"):
        weights = net.weight(f"{name}_w", 12, 12, 3, 3), net.weight(f"{name}_b", 12)
        x = net.op(top.TanhOp, f"{name}_t", (net.op(top.ConvOp, name, (x, *weights), **window),))
    last = net.op(
        top.DeconvOp,
        "z",
        (x, net.weight("v", 1, 12, 9, 9), net.weight("c", 1)),
        kernel_shape=(9, 9),
        strides=(2, 2),
        pads=(4, 4, 4, 4),
        output_padding=(1, 1),
    )
    after = assert_same_numbers(net.module(last), "fold-columns", tolerance=1e-4)
    assert "Deconv" not in kinds(after)
    conv = ops_of(after, top.ConvOp)[-1]
    assert shape_of(conv.output)[1] >= 32
    assert ints(conv.strides)[0] == 32 // shape_of(conv.output)[2]


@pytest.mark.parametrize("residual", [False, True])
def test_rows_of_an_image_of_the_host_are_merged_whatever_else_reads_it(residual: bool) -> None:
    """Nine channels and three taps, not nine taps of three channels: it comes from DDR anyway."""
    net = Net()
    window: dict[str, Any] = {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x = net.input("i", 1, 3, 64, 64)
    y = net.op(top.ConvOp, "y", (x, net.weight("w", 16, 3, 3, 3), net.none), **window)
    z = net.op(top.ConvOp, "z", (y, net.weight("v", 3, 16, 3, 3), net.none), **window)
    module = net.module(net.op(top.AddOp, "a", (x, z)) if residual else z)
    (func,) = functions(module)
    first = network_of(func).edges[0]
    prices = Prices(load_chip("bm1684x"), 2, True)
    assert prices.plain(first) == prices.array(9, 16, 3, 64 * 64)


def test_functions_that_take_long_count_more() -> None:
    """SiLU takes fourteen passes where ReLU takes a few; in bytes both are tables."""
    costs: dict[str, list[float]] = {}
    for kind in (top.ReluOp, top.SiLUOp):
        net = Net()
        module = net.module(net.op(kind, "y", (net.input("x", 1, 32, 64, 64),)))
        (func,), (op,) = functions(module), ops_of(module, kind)
        values = network_of(func).of[op.results[0]]
        for width in (1, 2):
            prices = Prices(load_chip("bm1684x"), width)
            costs.setdefault(kind.__name__, []).append(prices.values(values, 1))
    assert costs["SiLUOp"][0] == costs["ReluOp"][0]
    assert costs["SiLUOp"][1] > 4 * costs["ReluOp"][1]


def test_images_count_in_all_prices() -> None:
    """Four images take four times as long as one, in filters and on the way between folds."""
    net, window = Net(), {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x = net.input("x", 4, 8, 64, 64)
    y = net.op(top.ReluOp, "y", (x,))
    (func,) = functions(
        net.module(net.op(top.ConvOp, "z", (y, net.weight("w", 8, 8, 3, 3), net.none), **window))
    )
    network, prices = network_of(func), Prices(load_chip("bm1684x"), 2, True)
    (edge,) = network.edges
    one, four = ((images, 8, 64, 64) for images in (1, 4))
    for way in (prices.through_ddr, prices.by_array):
        assert way(four, 1, 4) == pytest.approx(4 * way(one, 1, 4))
    assert prices.plain(edge) == 4 * prices.array(8, 8, 9, 64 * 64)
    (passes,) = (passes for shape, passes in edge.source.worked if shape == four)
    assert prices.values(edge.source, 1) == passes * 4 * 64 * 64 * 2 / prices.chip.eu_bytes


@pytest.mark.parametrize("bound_by_weights", [False, True])
@pytest.mark.parametrize("width", [1, 2, 4])
def test_loads_that_are_hidden_do_not_count(width: int, bound_by_weights: bool) -> None:
    """In floats, where the array has more to do than the loads of all weights take."""
    net, window = Net(), {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x = net.input("x", 1, 32, 64, 64)
    outputs = [net.op(top.ConvOp, "y", (x, net.weight("w", 32, 32, 3, 3), net.none), **window)]
    if bound_by_weights:
        rows = net.input("r", 1, 4096)
        outputs.append(net.op(top.MatMulOp, "z", (rows, net.weight("m", 4096, 4096), net.none)))
    (func,) = functions(net.module(*outputs))
    prices = prices_for(func, network_of(func), load_chip("bm1684x"), width)
    assert prices.ahead == (width > 1 and not bound_by_weights)
    assert prices.loaded(8, 5) == (8 if prices.ahead else 13)


POOLS: dict[str, tuple[dict[str, Any], bool]] = {
    "pairs": ({"kernel_shape": (2, 2), "strides": (2, 2), "pads": (0,) * 4}, True),
    "rows that overlap": ({"kernel_shape": (3, 2), "strides": (1, 2), "pads": (1, 0, 1, 0)}, True),
    "fours": ({"kernel_shape": (2, 4), "strides": (2, 4), "pads": (0,) * 4}, True),
    "columns that overlap": ({"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1,) * 4}, False),
    "rows alone": ({"kernel_shape": (2, 1), "strides": (2, 1), "pads": (0,) * 4}, False),
}


@pytest.mark.parametrize("pool", POOLS)
def test_columns_that_are_channels_are_pooled(pool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prices, "through_ddr", _dear)
    attributes, folds = POOLS[pool]
    net = Net()
    window = {"kernel_shape": (3, 3), "pads": (1,) * 4, "strides": (1, 1)}
    x, none = net.input("i", 1, 16, 32, 128), net.none
    for name in ("a", "b", "c"):
        x = net.op(top.ConvOp, name, (x, net.weight(f"{name}w", 16, 16, 3, 3), none), **window)
    y = net.op(top.MaxPoolOp, "p", (x,), do_relu=True, **attributes)
    last = net.op(top.ConvOp, "d", (y, net.weight("dw", 96, 16, 3, 3), none), **window)
    after = assert_same_numbers(net.module(last), "fold-columns")
    assert ("Max" in kinds(after)) == folds
    (made,) = (op for op in after.walk() if isinstance(op, top.MaxPoolOp))
    assert (shape_of(made.input)[3] < 128) == folds


def _dear(prices: Prices, shape: Sequence[int], taken: int, given: int, host: bool) -> float:
    return 1e9


def _is_depthwise(op: top.ConvOp) -> bool:
    return op.group.value.data == shape_of(op.input)[1]


def _free(prices: Prices, shape: Sequence[int], taken: int, given: int, host: bool) -> float:
    return 0.0


def eight_bits() -> ModuleOp:
    """Filters of few channels, a pool and activations; every tensor has a range."""
    net = Net()
    x = net.input("x", 1, 4, 8, 96)

    def conv(name: str, x: SSAValue, filters: tuple[int, ...], **more: Any) -> SSAValue:
        window: dict[str, Any] = {"pads": (1,) * 4, "strides": (1, 1), "kernel_shape": filters[2:]}
        bias = net.weight(f"{name}_b", filters[0])
        return net.op(
            top.ConvOp, name, (x, net.weight(f"{name}_w", *filters), bias), **window | more
        )

    first = net.op(top.LeakyReluOp, "l", (conv("c0", x, (8, 4, 3, 3)),), alpha=0.1)
    second = conv("c1", first, (8, 8, 3, 5), pads=(1, 4, 1, 4), dilations=(1, 2))
    total = net.op(top.AddOp, "r", (second, first))
    pool = {"kernel_shape": (2, 2), "strides": (2, 2), "pads": (0,) * 4}
    pooled = net.op(top.MaxPoolOp, "m", (total,), **pool)
    return net.module(conv("c2", pooled, (8, 8, 3, 3)))


@pytest.mark.parametrize("way", ["through_ddr", "by_array"])
def test_folded_eight_bits_are_the_same_integers(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Prices, way, _free)
    module, found = eight_bits(), list[Array]()
    inputs, table = random_inputs(module, 0), _table(module, tmp_path)
    for without in ((), ("fold-columns",)):
        lowered, program = _integers(module, table, without)
        widest = max(shape_of(op.output)[1] for op in ops_of(lowered, tpu.Conv2DOp))
        assert (widest > 8) == (not without)
        found += run_program(program, load_chip("bm1684x"), inputs).values()
    np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("kernel", [(4,), (4, 4), (3, 5)])
@pytest.mark.parametrize("without", [(), ("layer-group",)])
def test_transposed_convolutions_in_eight_bits(
    kernel: tuple[int, ...], without: tuple[str, ...], tmp_path: Path
) -> None:
    """The command puts the zeros between elements; the chip computes what the interpreter does."""
    net, rank = Net(), len(kernel)
    x = net.op(top.ReluOp, "r", (net.input("x", 2, 70, *(9,) * rank),))
    operands = (x, net.weight("w", 24, 70, *kernel), net.weight("b", 24))
    window = {"kernel_shape": kernel, "strides": (2,) * rank, "pads": (1,) * 2 * rank}
    y = net.op(top.DeconvOp, "y", operands, do_relu=True, **window)
    module = net.module(net.op(top.LeakyReluOp, "z", (y,), alpha=0.2))
    inputs, table = random_inputs(module, 0), _table(module, tmp_path)
    lowered, program = _integers(module, table, ("fold-columns", *without))
    assert [op.name for op in lowered.walk() if op.name == "tpu.Conv2D"]
    assert all(
        isinstance(element_of(op.output), UniformType) for op in ops_of(lowered, tpu.Conv2DOp)
    )
    (expected,) = run_module(lowered, inputs).values()
    (found,) = run_program(program, load_chip("bm1684x"), inputs).values()
    np.testing.assert_array_equal(found, expected.reshape(found.shape))


def _table(module: ModuleOp, folder: Path) -> Quantization:
    """The range of every tensor on the inputs of seed 0; all ops are in 8 bits."""
    seen: dict[str, Threshold] = {}

    def observe(name: str, value: Array) -> None:
        seen[name] = Threshold(float(np.abs(value).max()), float(value.min()), float(value.max()))

    run_module(module, random_inputs(module, 0), trace=observe)
    if "m" in seen:  # a pool keeps the scale of what it reads, in front of it or behind
        seen["m"] = seen["r"]
    (folder / "table").write_text(CalibrationTable(seen).text(), encoding="utf-8")
    inputs = [name_of(op) for op in ops_of(module, top.InputOp)]
    modes = "".join(f"{name} INT8\n" for name in seen if name not in inputs)
    (folder / "modes").write_text(modes, encoding="utf-8")
    return Quantization(str(folder / "table"), str(folder / "modes"))


def _integers(
    module: ModuleOp, table: Quantization, without: Sequence[str]
) -> tuple[ModuleOp, Program]:
    """The module in 8 bits, and its program."""
    chip, one = load_chip("bm1684x"), clone_with_weights(module)
    lower(one, "INT8", chip.instruction_set, without, quantization=table)
    program = generate(one, weights_of(one), chip)
    return one, program


def test_an_image_of_the_host_is_cast_before_integers_move() -> None:
    """That is a load of f32, a store and a load more, which no filter needs; floats move as
    they are."""
    shape = (1, 3, 64, 64)
    for width, more in ((1, True), (2, False), (4, False)):
        prices = Prices(load_chip(), width)
        before, after = (prices.through_ddr(shape, 1, 8, host) for host in (False, True))
        assert (after > before + 4 * prices.load(shape)) is more
        assert (after > before) is more
        wide = (1, 60, 8, 8)
        assert prices.by_array(wide, 1, 8, True) >= prices.by_array(wide, 1, 8)
        assert prices.move(shape, 1, 8, True) <= after
