"""Weights in the chip's layouts: what moves, what it is called, and that values stay."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.passes.lowering_samples import Sample, W, X, module_of, normal
from tests.passes.real_networks import apply, cosine
from xdsl.dialects.builtin import BoolAttr, ModuleOp

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import as_float32, weights_of
from xdsl_tpu.dialects.zeros import zeros_of
from xdsl_tpu.passes.tensors import element_of, shape_of

Array = npt.NDArray[Any]


def conv(channels: int, filters: tuple[int, ...], group: int = 1, **changes: Any) -> Sample:
    """A convolution of a 1 x channels x 20 x 20 input, with bias."""
    kernel = filters[2:]
    attributes = {
        "kernel_shape": kernel,
        "strides": (1, 1),
        "pads": (0, 0, 0, 0),
        "dilations": (1, 1),
        "group": group,
        **changes,
    }
    operands = [X(normal(1, channels, 20, 20)), W(normal(*filters)), W(normal(filters[0]))]
    return Sample(top.ConvOp, operands, attributes)


def reordered(sample: Sample, mode: str, options: str = "") -> tuple[ModuleOp, tpu.Conv2DOp]:
    module, _ = module_of(sample)
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"), ("weight-reorder", options))
    return module, next(op for op in module.walk() if isinstance(op, tpu.Conv2DOp))


def stored(module: ModuleOp, value: Any) -> Array:
    """The numbers of a weight in the shape of its type."""
    array = weights_of(module)[name_of(value) or ""]
    assert array.shape == shape_of(value)
    return as_float32(array, element_of(value))


@pytest.mark.parametrize("mode", ["F16", "BF16"])
def test_plain_filter_puts_blocks_of_32_channels_side_by_side(mode: str) -> None:
    sample = conv(40, (5, 40, 3, 3))
    module, op = reordered(sample, mode, "use_3ic=false")
    assert shape_of(op.filter) == (1, 5, 1, 2 * 9 * 32)
    assert name_of(op.filter) == "y_filter_reorderd"
    plain, _ = module_of(sample)
    original = as_float32(weights_of(plain)["w1"], element_of(op.bias))
    values = stored(module, op.filter).reshape(5, 2, 9, 32)
    for channel, row, column in ((0, 0, 0), (31, 2, 1), (32, 1, 2), (39, 2, 2)):
        block, lane = divmod(channel, 32)
        expected = original[:, channel, row, column]
        found = values[:, block, row * 3 + column, lane]
        np.testing.assert_allclose(found, expected, rtol=1e-2)
    assert not values[:, 1, :, 8:].any()


def test_f32_filter_keeps_its_order_and_name() -> None:
    module, op = reordered(conv(3, (5, 3, 3, 3)), "F32")
    assert shape_of(op.filter) == (1, 5, 3, 9)
    assert op.use_3ic_optimize.value.data == 0
    assert name_of(op.filter) == "w1"
    plain, _ = module_of(conv(3, (5, 3, 3, 3)))
    np.testing.assert_array_equal(
        stored(module, op.filter).reshape(-1), weights_of(plain)["w1"].reshape(-1)
    )


def test_bias_is_f32_with_rank_4() -> None:
    module, op = reordered(conv(40, (5, 40, 3, 3)), "F16")
    assert str(op.bias.type) == "tensor<1x5x1x1xf32>"
    assert stored(module, op.bias).shape == (1, 5, 1, 1)


def test_depthwise_keeps_the_order_and_takes_a_16_bit_bias() -> None:
    module, op = reordered(conv(40, (40, 1, 3, 3), group=40), "F16")
    assert str(op.filter.type) == "tensor<1x40x3x3xf16>"
    assert str(op.bias.type) == "tensor<1x40x1x1xf16>"
    assert (name_of(op.filter), name_of(op.bias)) == ("w1_f16", "y_reordered")
    assert op.use_3ic_optimize.value.data == 0
    assert weights_of(module)["y_reordered"].dtype == np.float16
    assert "w2" not in weights_of(module)


@pytest.mark.parametrize(
    ("filters", "value", "last"),
    [
        ((5, 3, 3, 3), 0x11, 3 * 32),  # 27 channels after merging both, but rows alone load faster
        ((5, 3, 7, 7), 0x11, 7 * 32),  # 21 channels after merging rows: 7 positions remain
        ((5, 3, 4, 4), 0x11, 4 * 32),  # 12 of the Swin patch convolution
        ((5, 40, 3, 3), 0, 2 * 9 * 32),  # enough channels already
        ((5, 3, 1, 1), 0, 32),  # nothing to merge
    ],
)
def test_which_3ic_mode_is_chosen(filters: tuple[int, ...], value: int, last: int) -> None:
    _, op = reordered(conv(filters[1], filters), "F16", "measure=false")
    assert op.use_3ic_optimize.value.data == value
    assert shape_of(op.filter) == (1, 5, 1, last)


def test_columns_are_merged_on_demand() -> None:
    """27 channels after merging both: one block, one position."""
    _, op = reordered(conv(3, (5, 3, 3, 3)), "F16", "merge_columns=true")
    assert op.use_3ic_optimize.value.data == 0x13
    assert shape_of(op.filter) == (1, 5, 1, 32)


def test_dilated_and_grouped_filters_are_never_merged() -> None:
    for sample in (
        conv(3, (5, 3, 3, 3), dilations=(2, 2)),
        conv(6, (4, 3, 3, 3), group=2),
    ):
        _, op = reordered(sample, "F16", "measure=false")
        assert op.use_3ic_optimize.value.data == 0


def test_3ic_can_be_turned_off() -> None:
    _, op = reordered(conv(3, (5, 3, 3, 3)), "F16", "use_3ic=false")
    assert op.use_3ic_optimize.value.data == 0
    assert shape_of(op.filter) == (1, 5, 1, 9 * 32)


def of_zeros(sample: Sample, part: float) -> Sample:
    """With the first weights of every filter zero."""
    weight = sample.operands[1]
    assert weight is not None
    filters = weight.array
    filters.reshape(len(filters), -1)[:, : int(part * filters[0].size)] = 0
    return sample


@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize(("part", "noted"), [(0.75, 0.75), (0.05, 0.05), (0.04, 0.0), (1, 0.0)])
def test_a_part_of_a_filter_that_is_zero_is_noted(mode: str, part: float, noted: float) -> None:
    """Not the channels that only fill up the layout."""
    _, op = reordered(of_zeros(conv(40, (5, 40, 5, 5)), part), mode, "use_3ic=false")
    assert zeros_of(op) == noted


@pytest.mark.parametrize("mode", ["F32", "F16", "BF16"])
@pytest.mark.parametrize(
    "sample",
    [
        conv(3, (5, 3, 3, 3)),
        conv(3, (5, 3, 7, 7), strides=(2, 2), pads=(3, 3, 3, 3)),
        conv(40, (5, 40, 3, 3)),
        conv(40, (40, 1, 3, 3), group=40),
        conv(6, (4, 3, 3, 3), group=2),
        conv(40, (8, 10, 1, 1), group=4),
        conv(2, (3, 2, 3, 5)),
    ],
    ids=lambda sample: str(sample.operands[1].array.shape),
)
def test_convolutions_compute_the_same_with_reordered_weights(sample: Sample, mode: str) -> None:
    module, inputs = module_of(sample)
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"))
    (before,) = run_module(module, inputs).values()
    apply(module, ("weight-reorder", "measure=false"))
    (after,) = run_module(module, inputs).values()
    if sample.attributes["group"] == 40 and mode != "F32":  # its bias is rounded
        assert cosine(before, after) > 0.9999
    else:
        np.testing.assert_array_equal(before, after)


def test_a_row_too_long_for_an_instruction_is_split() -> None:
    _, op = reordered(conv(7296, (1, 7296, 3, 3)), "F16")
    assert shape_of(op.filter) == (1, 1, 228, 288)


def matmul(left: tuple[int, ...]) -> Sample:
    return Sample(top.MatMulOp, [X(normal(*left)), W(normal(8, 6)), W(normal(6))])


@pytest.mark.parametrize(
    ("left", "right"), [((5, 8), (8, 6)), ((2, 5, 8), (1, 8, 6)), ((2, 3, 5, 8), (8, 6))]
)
def test_right_operand_takes_the_rank_of_a_rank_3_left(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    module, inputs = module_of(matmul(left))
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    (before,) = run_module(module, inputs).values()
    apply(module, ("weight-reorder", ""))
    (after,) = run_module(module, inputs).values()
    op = next(op for op in module.walk() if isinstance(op, tpu.MatMulOp))
    assert (shape_of(op.right), shape_of(op.bias)) == (right, (1, 1, 1, 6))
    assert stored(module, op.right).shape == right
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    ("left", "mode", "turned"),
    [
        ((1, 512), "F16", True),
        ((1, 3, 512), "F16", True),
        ((1, 512), "F32", True),
        ((80, 512), "F16", False),
    ],
)
def test_short_rows_of_a_few_classes_are_loaded_as_columns(
    left: tuple[int, ...], mode: str, turned: bool
) -> None:
    """Ten classes: 512 runs of 20 bytes, or ten of 1,024; many rows need more than that."""
    module, inputs = module_of(
        Sample(top.MatMulOp, [X(normal(*left)), W(normal(512, 10)), W(normal(10))])
    )
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"))
    (before,) = run_module(module, inputs).values()
    apply(module, ("weight-reorder", ""))
    (after,) = run_module(module, inputs).values()
    op = next(op for op in module.walk() if isinstance(op, tpu.MatMulOp))
    right = (10, 512) if turned else (512, 10)
    assert bool(op.right_transpose.value.data) is turned
    assert shape_of(op.right) == ((1, *right) if len(left) == 3 else right)
    np.testing.assert_allclose(before, after, rtol=1e-5)


def test_a_matrix_of_rank_3_is_loaded_as_columns() -> None:
    sample = Sample(top.MatMulOp, [X(normal(1, 1, 512)), W(normal(1, 512, 10)), W(normal(10))])
    module, inputs = module_of(sample)
    apply(module, ("convert-top-to-tpu", "mode=F16 chip=bm1684x"))
    (before,) = run_module(module, inputs).values()
    apply(module, ("weight-reorder", ""))
    (after,) = run_module(module, inputs).values()
    op = next(op for op in module.walk() if isinstance(op, tpu.MatMulOp))
    assert shape_of(op.right) == (1, 10, 512)
    assert stored(module, op.right).shape == (1, 10, 512)
    np.testing.assert_allclose(before, after, rtol=1e-5)


def test_a_shared_bias_gets_one_copy_for_each_user() -> None:
    """One user reshapes it to [1, 6, 1, 1], the other needs it as it is."""
    module, inputs = module_of(conv(40, (6, 40, 1, 1)))
    op = next(op for op in module.walk() if isinstance(op, top.ConvOp))
    block = op.parent
    assert block is not None
    types = [op.output.type]
    other = {**op.attributes, "do_relu": BoolAttr.from_bool(True)}
    second = top.ConvOp.create(
        operands=op.operands, result_types=types, attributes=other, location=op.location
    )
    block.insert_op_after(second, op)
    total = top.MulOp.make("all", (op.output, second.output), result_types=types)
    block.insert_op_after(total, second)
    returned = block.last_op
    assert returned is not None
    returned.operands[0] = total.output
    (before,) = run_module(module, inputs).values()
    apply(module, ("convert-top-to-tpu", "mode=F32 chip=bm1684x"), ("weight-reorder", ""))
    (after,) = run_module(module, inputs).values()
    np.testing.assert_array_equal(before, after)
    convs = [op for op in module.walk() if isinstance(op, tpu.Conv2DOp)]
    assert [shape_of(op.bias) for op in convs] == [(1, 6, 1, 1)] * 2


@pytest.mark.parametrize("mode", ["F32", "F16"])
@pytest.mark.parametrize(
    ("filters", "group"), [((5, 40, 3, 2), 1), ((6, 2, 3, 3), 2), ((4, 1, 3, 3), 4)]
)
def test_a_computed_filter_is_laid_out_by_ops(
    mode: str, filters: tuple[int, ...], group: int
) -> None:
    """The same values, read from the layout that a filter of numbers has."""
    sample = conv(filters[1] * group, filters, group)
    x, weights, bias = sample.operands
    assert isinstance(weights, W)
    computed = Sample(top.ConvOp, [x, X(weights.array), bias], sample.attributes)
    module, inputs = module_of(computed)
    expected = list(run_module(module, inputs).values())
    apply(module, ("convert-top-to-tpu", f"mode={mode} chip=bm1684x"), ("weight-reorder", ""))
    (op,) = (op for op in module.walk() if isinstance(op, tpu.Conv2DOp))
    _, constant = reordered(sample, mode, "use_3ic=false")
    assert shape_of(op.filter) == shape_of(constant.filter)
    for ours, theirs in zip(run_module(module, inputs).values(), expected, strict=True):
        assert cosine(ours, theirs) > 0.99999
