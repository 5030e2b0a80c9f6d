"""The filter layouts of the chip: shapes seen in real programs, and a round trip."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters.layouts import (
    FilterShape,
    choose_3ic,
    reorder_conv_filter,
    reordered_filter_shape,
    restore_conv_filter,
)
from xdsl_tpu.dialects.lanes import USUAL_ROW as ROW
from xdsl_tpu.dialects.lanes import Lanes


@pytest.mark.parametrize(
    ("shape", "width", "group", "mode", "expected"),
    [
        # Swin-T patch embedding, ResNet-50 1x1, MobileNetV2 depthwise, and an f32 filter
        ((96, 3, 4, 4), 2, 1, 1, (1, 96, 1, 128)),
        ((256, 64, 1, 1), 2, 1, 0, (1, 256, 1, 64)),
        ((192, 1, 3, 3), 2, 192, 0, (1, 192, 3, 3)),
        ((64, 3, 7, 7), 4, 1, 0, (1, 64, 3, 49)),
        ((64, 3, 7, 7), 1, 1, 1, (1, 64, 1, 448)),
        # 2048 channels of 3x3 are 18432 wide; 8192 of them no longer fit one row
        ((4, 8192, 3, 3), 2, 1, 0, (1, 4, 256, 288)),
    ],
)
def test_shapes_of_real_filters(
    shape: tuple[int, int, int, int],
    width: int,
    group: int,
    mode: int,
    expected: tuple[int, int, int, int],
) -> None:
    assert reordered_filter_shape(FilterShape(*shape), width, ROW, group, mode) == expected


@pytest.mark.parametrize(
    ("ic", "kh", "kw", "width", "mode"),
    [
        (3, 4, 4, 2, 1),  # Swin-T patch embedding
        (3, 3, 3, 2, 3),  # MobileNetV2 stem
        (3, 7, 7, 1, 1),  # ResNet-50 stem in 8 bits
        (3, 7, 7, 2, 1),  # ResNet-50 stem in 16 bits
        (64, 3, 3, 2, 0),
        (3, 7, 7, 4, 0),
        (3, 1, 5, 2, 2),
    ],
)
def test_merge_that_is_chosen(ic: int, kh: int, kw: int, width: int, mode: int) -> None:
    assert choose_3ic(ic, kh, kw, width, Lanes(64, 64, ROW)) == mode


def test_channels_of_one_position_are_neighbours() -> None:
    """With 40 channels of 16 bits, position 1 of channel 33 sits in the second block."""
    filter_ = np.arange(2 * 40 * 3, dtype=np.uint16).reshape(2, 40, 1, 3)
    row = reorder_conv_filter(filter_, 2, ROW)[0, 1, 0]
    assert row[(1 * 3 + 1) * 32 + 1] == filter_[1, 33, 0, 1]
    assert not row[(1 * 3 + 1) * 32 + 8 : (1 * 3 + 2) * 32].any()


def test_a_merged_dimension_becomes_the_inner_one() -> None:
    filter_ = np.arange(6, dtype=np.uint16).reshape(1, 1, 2, 3)
    by_row = reorder_conv_filter(filter_, 2, ROW, use_3ic=2)[0, 0, 0].reshape(2, 32)
    assert by_row[:, :3].tolist() == [[0, 1, 2], [3, 4, 5]]
    by_column = reorder_conv_filter(filter_, 2, ROW, use_3ic=1)[0, 0, 0].reshape(3, 32)
    assert by_column[:, :2].tolist() == [[0, 3], [1, 4], [2, 5]]


@settings(max_examples=150, deadline=None)
@given(
    oc=st.integers(1, 9),
    ic=st.integers(1, 70),
    kh=st.integers(1, 5),
    kw=st.integers(1, 5),
    width=st.sampled_from([1, 2, 4]),
    row=st.sampled_from([32, ROW, 128]),
    mode=st.integers(0, 3),
    depthwise=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_round_trip(
    oc: int, ic: int, kh: int, kw: int, width: int, row: int, mode: int, depthwise: bool, seed: int
) -> None:
    shape = FilterShape(oc, 1 if depthwise else ic, kh, kw)
    group = oc if depthwise else 1
    filter_ = np.random.default_rng(seed).integers(1, 255, (oc, shape.ic, kh, kw), np.uint8)
    reordered = reorder_conv_filter(filter_, width, row, group, mode)
    assert reordered.shape == reordered_filter_shape(shape, width, row, group, mode)
    assert np.array_equal(restore_conv_filter(reordered, shape, width, row, group, mode), filter_)
    assert np.count_nonzero(reordered) == filter_.size


def test_a_wrong_shape_is_refused_with_the_right_one() -> None:
    with pytest.raises(TpuError, match=r"\(1, 8, 1, 32\)"):
        restore_conv_filter(np.zeros((1, 8, 1, 33), np.float16), FilterShape(8, 3, 1, 1), 2, ROW)
