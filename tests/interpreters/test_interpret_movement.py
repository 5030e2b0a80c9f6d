"""Ops that move, pick and reduce elements, against onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import NoneType, TensorType, UnrankedTensorType, f32

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters.numerics.movement import (
    BlockShuffle,
    SliceMasks,
    masked_slice,
    rotate,
    slice_to_shape,
    strided_slice,
)

Array = npt.NDArray[Any]
Run = Callable[..., list[Array]]
Make = Callable[..., Array]


def same(ours: Array, theirs: Array) -> None:
    """Equal to the bit, as moving elements about must be."""
    assert ours.dtype == np.float32
    assert ours.shape == theirs.shape
    assert np.array_equal(ours, theirs)


def whole(*values: int) -> Array:
    """Indices as the `top` dialect has them: whole numbers in f32."""
    return np.array(values, np.float32)


def test_reshapes(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(2, 3, 4, 5)
    for shape in ([0, -1, 5], [6, 20], [-1], [2, 0, 0, 5]):
        expected = run_onnx("Reshape", [x, np.array(shape)])[0]
        same(run_op(top.ReshapeOp, [x, None], shape=shape)[0], expected)
        same(run_op(top.ReshapeOp, [x, whole(*shape)])[0], expected)
    flat = run_onnx("Flatten", [x], axis=2)[0]
    same(run_op(top.ReshapeOp, [x, None], shape=[], flatten_start_dim=2)[0], flat.reshape(2, 3, 20))
    same(run_op(top.FlattenOp, [x], start_dim=1)[0], x.reshape(2, 60))
    same(run_op(top.FlattenOp, [x], start_dim=1, end_dim=2)[0], x.reshape(2, 12, 5))
    thin = x[:1, :, :1]
    same(run_op(top.SqueezeOp, [thin], axes=[0, -2])[0], thin.reshape(3, 5))
    same(run_op(top.SqueezeOp, [thin], axes=[])[0], thin.reshape(3, 5))
    expected = run_onnx("Unsqueeze", [x, np.array([1, -1])])[0]
    same(run_op(top.UnsqueezeOp, [x], axes=[1, -1])[0], expected)
    typed = [TensorType(f32, [8, 15])]
    same(run_op(tpu.ReshapeOp, [x], typed, shape=[])[0], x.reshape(8, 15))


def test_transposes(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(2, 3, 4, 5)
    expected = run_onnx("Transpose", [x], perm=[0, 3, 1, 2])[0]
    same(run_op(top.PermuteOp, [x], order=[0, 3, 1, 2])[0], expected)
    types = [TensorType(f32, expected.shape)]
    same(run_op(tpu.PermuteOp, [x, None], types, order=[0, 3, 1, 2])[0], expected)
    same(run_op(top.TransposeOp, [x], dim0=1, dim1=-1)[0], x.swapaxes(1, 3))


def test_concat_and_split(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x, y = normal(2, 3, 4), normal(2, 5, 4, seed=1)
    expected = run_onnx("Concat", [x, y], axis=-2)[0]
    same(run_op(top.ConcatOp, [x, y], axis=-2)[0], expected)
    same(run_op(top.ConcatOp, [x, y], axis=1, do_relu=True)[0], np.maximum(expected, 0))
    sizes = np.array([1, 5, 2])
    for ours, theirs in zip(
        run_op(top.SplitOp, [expected], 3, axis=1, num=3, split_size=[1, 5, 2]),
        run_onnx("Split", [expected, sizes], results=3, axis=1),
        strict=True,
    ):
        same(ours, theirs)
    for ours, theirs in zip(
        run_op(top.SplitOp, [expected], 3, axis=1, num=3),
        run_onnx("Split", [expected], results=3, axis=1, num_outputs=3),
        strict=True,
    ):
        same(ours, theirs)
    same(run_op(top.PackOp, [x, x + 1], axis=1, values_count=2)[0], np.stack([x, x + 1], 1))
    for index, part in enumerate(run_op(top.UnpackOp, [x], 3, axis=1)):
        same(part, x[:, index])


@pytest.mark.parametrize(
    ("axes", "starts", "steps", "ends"),
    [
        ([1], [1], [1], [3]),
        ([0, 2], [1, -3], [1, 1], [2**63 - 1, -1]),
        ([2], [-1], [-2], [-(2**62)]),
        ([1, 2], [0, 1], [2, 3], [100, 5]),
        ([1], [2], [1], [1]),
        ([0], [-9], [-1], [-(2**62)]),
    ],
)
def test_slice(
    run_op: Run,
    run_onnx: Run,
    normal: Make,
    axes: list[int],
    starts: list[int],
    steps: list[int],
    ends: list[int],
) -> None:
    """For some axes, for all axes, with a known result, and with the limits as operands."""
    x = normal(3, 4, 7)
    limits = [np.array(v) for v in (starts, ends, axes, steps)]
    expected = run_onnx("Slice", [x, *limits])[0]
    lists: dict[str, Any] = {"offset": starts, "ends": ends, "steps": steps}
    same(run_op(top.SliceOp, [x, None, None, None], axes=axes, **lists)[0], expected)
    defaults = {"offset": [0, 0, 0], "ends": [3, 4, 7], "steps": [1, 1, 1]}
    for key, values in lists.items():
        for axis, value in zip(axes, values, strict=True):
            defaults[key][axis] = value
    same(run_op(top.SliceOp, [x, None, None, None], **defaults)[0], expected)
    typed = [TensorType(f32, expected.shape)]
    same(run_op(top.SliceOp, [x, None, None, None], typed, **defaults)[0], expected)
    if max(map(abs, ends)) < 2**20:
        operands = [whole(*starts), whole(*ends), whole(*steps)]
        empty: dict[str, Any] = {"offset": [], "ends": [], "steps": []}
        same(run_op(top.SliceOp, [x, *operands], axes=axes, **empty)[0], expected)


@settings(max_examples=300, deadline=None)
@given(
    size=st.integers(1, 9),
    start=st.integers(-12, 12),
    end=st.integers(-12, 12),
    step=st.integers(-4, 4).filter(bool),
)
def test_slices_are_those_of_python(size: int, start: int, end: int, step: int) -> None:
    """ONNX's rules are Python's, but that going down from before the start gives one element."""
    if step < 0:
        start = max(start, -size)
    x = np.arange(size)
    expected = x[start:end:step]
    assert strided_slice(x, [start], [end], [step]).tolist() == expected.tolist()
    if expected.size and -size <= start < size:
        assert slice_to_shape(x, [start], [step], expected.shape).tolist() == expected.tolist()


def test_slice_along_one_axis(run_op: Run, normal: Make) -> None:
    x = normal(3, 8)
    axis, start, end = whole(1), whole(1), whole(7)
    same(run_op(top.SliceAxisOp, [x, axis, start, whole(2), end])[0], x[:, 1:7:2])
    same(run_op(top.SliceAxisOp, [x, axis, start, None, end])[0], x[:, 1:7])


def test_masked_slices() -> None:
    x = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    none = SliceMasks(0, 0, 0, 0, 0)
    assert np.array_equal(masked_slice(x, [0, 1], [1, 3], [1, 1], none), x[0:1, 1:3])
    begin_end = SliceMasks(1, 2, 0, 0, 0)
    assert np.array_equal(masked_slice(x, [1, 1], [1, 2], [1, 1], begin_end), x[:1, 1:])
    ellipsis = SliceMasks(0, 0, 1, 0, 2)
    assert np.array_equal(masked_slice(x, [0, 2], [0, 3], [1, 1], ellipsis), x[..., 2])
    new = SliceMasks(0, 0, 0, 1, 2)
    assert np.array_equal(masked_slice(x, [0, 1], [0, 2], [1, 1], new), x[None, 1])


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_pad(run_op: Run, run_onnx: Run, normal: Make, mode: str) -> None:
    x = normal(2, 3, 5)
    pads = [0, 1, 2, 1, 0, 1]
    value = np.float32(0.5)
    operands = [x, np.array(pads), value] if mode == "constant" else [x, np.array(pads)]
    expected = run_onnx("Pad", operands, mode=mode)[0]
    same(run_op(top.PadOp, [x, None], paddings=pads, mode=mode, val=0.5)[0], expected)
    typed = [TensorType(f32, expected.shape)]
    operands = [x, None, None, None, None]
    same(run_op(tpu.PadOp, operands, typed, paddings=pads, mode=mode, val=0.5)[0], expected)


def test_pad_crops_and_knows_pytorch_lists(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(2, 3, 5)
    pads = [0, -1, 1, 1, 0, -2]
    expected = run_onnx("Pad", [x, np.array(pads)])[0]
    same(run_op(top.PadOp, [x, None], paddings=pads, mode="constant")[0], expected)
    (short,) = run_op(top.PadOp, [x, None], paddings=[1, 2, 3, 0], mode="constant")
    same(short, np.pad(x, [(0, 0), (3, 0), (1, 2)]))


def test_repetitions(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(2, 1, 3)
    expected = run_onnx("Tile", [x, np.array([1, 3, 2])])[0]
    same(run_op(top.TileOp, [x, None], tile=[1, 3, 2])[0], expected)
    same(run_op(top.TileOp, [x, whole(1, 3, 2)])[0], expected)
    same(run_op(top.RepeatOp, [x, whole(1, 3, 2)])[0], expected)
    expected = run_onnx("Expand", [x, np.array([4, 1, 5, 1])])[0]
    same(run_op(top.ExpandOp, [x, None], shape=[4, 1, 5, 1])[0], expected)
    same(run_op(top.ReverseOp, [x], axis=2)[0], x[:, :, ::-1])
    triangle = normal(4, 5)
    for upper, diagonal in ((1, 1), (0, -1)):
        expected = run_onnx("Trilu", [triangle, np.array(diagonal)], upper=upper)[0]
        same(run_op(top.TriluOp, [triangle], upper=upper, diagonal=diagonal)[0], expected)


@pytest.mark.parametrize("crd", [False, True])
def test_depth_to_space(run_op: Run, run_onnx: Run, normal: Make, crd: bool) -> None:
    x = normal(2, 12, 3, 4)
    expected = run_onnx("DepthToSpace", [x], blocksize=2, mode="CRD" if crd else "DCR")[0]
    flags: dict[str, Any] = {"block_h": 2, "block_w": 2, "is_CRD": crd}
    same(run_op(top.Depth2SpaceOp, [x], is_inversed=False, **flags)[0], expected)
    same(run_op(top.Depth2SpaceOp, [expected], is_inversed=True, **flags)[0], x)
    if not crd:
        back = run_onnx("SpaceToDepth", [expected], blocksize=2)[0]
        same(run_op(top.Depth2SpaceOp, [expected], is_inversed=True, **flags)[0], back)


@settings(max_examples=100, deadline=None)
@given(
    flags=st.tuples(*[st.booleans()] * 4),
    block=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    channels=st.integers(1, 3),
)
def test_blocks_go_and_come_back(
    flags: tuple[bool, bool, bool, bool], block: tuple[int, int], channels: int
) -> None:
    crd, swap, first, second = flags
    x = np.arange(2 * channels * block[0] * block[1] * 6)
    x = x.reshape(2, channels * block[0] * block[1], 2, 3)
    x = x if first else np.moveaxis(x, 1, -1)
    there = BlockShuffle(*block, crd, False, first, second, swap)
    back = BlockShuffle(*block, crd, True, second, first, swap)
    assert np.array_equal(back(there(x)), x)


def test_patch_merging_of_swin(run_op: Run, run_onnx: Run, normal: Make) -> None:
    """Blocks of 2x2 pixels side by side in the channels, column before row (swap_cr)."""
    x = normal(1, 4, 6, 5)
    corners = [x[:, r::2, c::2] for c in (0, 1) for r in (0, 1)]
    expected = run_onnx("Concat", corners, axis=-1)[0]
    (found,) = run_op(
        top.Depth2SpaceOp,
        [x],
        block_h=2,
        block_w=2,
        is_CRD=False,
        is_inversed=True,
        in_is_NCHW=False,
        out_is_NCHW=False,
        swap_cr=True,
    )
    same(found, expected)


def test_rotations_and_shuffles(run_op: Run, normal: Make) -> None:
    x = normal(1, 6, 8, 2)
    offset = [0, 3, 5, 0]
    expected = np.concatenate([x[:, 3:], x[:, :3]], 1)
    expected = np.concatenate([expected[:, :, 5:], expected[:, :, :5]], 2)
    same(run_op(top.SwapDimInnerOp, [x], offset=offset)[0], expected)
    assert rotate(x, [0, 0, 0, 0]) is x
    same(
        run_op(top.SwapChannelOp, [x], channel_order=[2, 1, 0, 5, 4, 3])[0],
        x[:, [2, 1, 0, 5, 4, 3]],
    )
    same(run_op(top.ShuffleChannelOp, [x], group=2)[0], x[:, [0, 3, 1, 4, 2, 5]])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather(run_op: Run, run_onnx: Run, normal: Make, axis: int) -> None:
    x, indices = normal(4, 5, 6), np.array([[0, -1, 3], [2, 1, 0]])
    expected = run_onnx("Gather", [x, indices], axis=axis)[0]
    same(run_op(top.GatherOp, [x, indices.astype(np.float32)], axis=axis)[0], expected)
    one = run_onnx("Gather", [x, np.array(2)], axis=axis)[0]
    same(run_op(top.GatherOp, [x, whole(2)], axis=axis, keepdims=False)[0], one)


def test_elements_by_index(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(4, 5)
    indices = np.array([[0, 1, -1], [2, 2, 0]])
    updates = normal(2, 3, seed=1)
    floats = indices.astype(np.float32)
    for axis in (0, 1):
        expected = run_onnx("GatherElements", [x, indices], axis=axis)[0]
        same(run_op(top.GatherElementsOp, [x, floats], axis=axis)[0], expected)
        for reduction, name in ((0, "none"), (1, "add")):
            distinct = np.array([[0, 1, -1], [2, 3, 0]]) if reduction == 0 else indices
            operands = [x, distinct, updates]
            expected = run_onnx("ScatterElements", operands, axis=axis, reduction=name)[0]
            operands = [x, distinct.astype(np.float32), updates]
            (found,) = run_op(top.ScatterElementsOp, operands, axis=axis, reduction=reduction)
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_slices_by_index(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(3, 4, 5)
    indices = np.array([[0, 1], [2, -1]])
    expected = run_onnx("GatherND", [x, indices])[0]
    same(run_op(top.GatherNDOp, [x, indices.astype(np.float32)])[0], expected)
    batched = np.array([[[0]], [[3]], [[2]]])
    expected = run_onnx("GatherND", [x, batched], batch_dims=1)[0]
    same(run_op(top.GatherNDOp, [x, batched.astype(np.float32)], batch_dims=1)[0], expected)
    updates = normal(2, 5, seed=1)
    for number, name in enumerate(("none", "add", None, "max", "min", "mul")):
        if name is None:
            continue
        expected = run_onnx("ScatterND", [x, indices, updates], reduction=name)[0]
        operands = [x, indices.astype(np.float32), updates]
        same(run_op(top.ScatterNDOp, operands, reduction=number)[0], expected)


@pytest.mark.parametrize(("operator", "numpy_mode"), [("ArgMax", "ArgMax"), ("ArgMin", "ArgMin")])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("keepdims", [False, True])
def test_arg(
    run_op: Run, run_onnx: Run, operator: str, numpy_mode: str, last: bool, keepdims: bool
) -> None:
    x = np.array([[3, 1, 3, 1], [0, 0, 2, 2]], np.float32)
    (expected,) = run_onnx(
        operator, [x], axis=1, keepdims=int(keepdims), select_last_index=int(last)
    )
    index, values = run_op(
        top.ArgOp, [x], 2, axis=1, keepdims=keepdims, mode=numpy_mode, select_last_index=last
    )
    same(index, expected.astype(np.float32))
    best = x.max(1, keepdims=keepdims) if operator == "ArgMax" else x.min(1, keepdims=keepdims)
    same(values, best)
    only_index = [UnrankedTensorType(f32), NoneType()]
    found = run_op(top.ArgOp, [x], only_index, axis=1, keepdims=keepdims, mode=numpy_mode)
    assert len(found) == 1


@pytest.mark.parametrize("largest", [True, False])
def test_top_k_and_sort(run_op: Run, run_onnx: Run, normal: Make, largest: bool) -> None:
    x = np.round(normal(3, 7) * 2)
    values, index = run_onnx("TopK", [x, np.array([4])], results=2, axis=1, largest=int(largest))
    for k in (None, whole(4)):
        ours = run_op(top.TopKOp, [x, k], 2, axis=1, K=4, largest=largest)
        same(ours[0], values)
        same(ours[1], index.astype(np.float32))
    ordered = run_op(top.SortOp, [x], 2, axis=1, descending=largest)
    same(ordered[0][:, :4], values)


REDUCTIONS = [
    "ReduceMin",
    "ReduceMax",
    "ReduceMean",
    "ReduceSum",
    "ReduceProd",
    "ReduceL1",
    "ReduceL2",
]


@pytest.mark.parametrize("mode", REDUCTIONS)
@pytest.mark.parametrize("axes", [[1], [0, -1], [0, 1, 2]])
@pytest.mark.parametrize("keepdims", [True, False])
def test_reduce(
    run_op: Run, run_onnx: Run, normal: Make, mode: str, axes: list[int], keepdims: bool
) -> None:
    x = normal(3, 4, 5)
    expected = run_onnx(mode, [x, np.array(axes)], keepdims=int(keepdims))[0]
    (found,) = run_op(top.ReduceOp, [x], axes=axes, keepdims=keepdims, mode=mode)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


def test_other_reductions(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(3, 4, 5)
    expected = run_onnx("CumSum", [x, np.array(1)])[0]
    np.testing.assert_allclose(run_op(top.CumSumOp, [x, None], axis=1)[0], expected, rtol=1e-6)
    mask = (x > 0).astype(np.float32)
    expected = run_onnx("NonZero", [mask])[0].astype(np.float32)
    same(run_op(top.NonZeroOp, [mask], order="ColMajor")[0], expected)
    same(run_op(top.NonZeroOp, [mask], order="RowMajor")[0], expected.T)
    (spread,) = run_op(top.VarianceOp, [x], reduce_list=[1], correction=1.0)
    np.testing.assert_allclose(spread, x.var(1, ddof=1), rtol=1e-5)


def test_shapes_and_ranges(run_op: Run, run_onnx: Run, normal: Make) -> None:
    x = normal(3, 4, 5)
    expected = run_onnx("Shape", [x], start=1)[0].astype(np.float32)
    same(run_op(top.ShapeOp, [x], start=1)[0], expected)
    same(run_op(top.SizeOp, [x])[0], whole(60))
    same(run_op(top.ConstantFillOp, [whole(2, 3)], value=7.0)[0], np.full((2, 3), 7, np.float32))
    limits = [np.float32(2), np.float32(9), np.float32(3)]
    expected = run_onnx("Range", limits)[0]
    same(run_op(top.RangeOp, [v.reshape(1) for v in limits])[0], expected)
    same(run_op(top.ArangeOp, [None, whole(4), None])[0], whole(0, 1, 2, 3))
    (cut,) = run_op(
        top.CastOp, [np.array([1.7, -1.7], np.float32)], to="INT32", round_mode="TowardsZero"
    )
    same(cut, whole(1, -1))


def test_shape_arithmetic(run_op: Run) -> None:
    typed = [TensorType(f32, [2])]
    operands = [whole(7, 9), whole(2, 4)]
    assert run_op(tpu.ShapeArithOp, operands, typed, type="Div")[0].tolist() == [3, 2]
    assert run_op(tpu.ShapeArithOp, operands, typed, type="Mul")[0].tolist() == [14, 36]
    assert run_op(tpu.ShapePackOp, operands, [TensorType(f32, [4])], axis=0)[0].tolist() == [
        7,
        9,
        2,
        4,
    ]
