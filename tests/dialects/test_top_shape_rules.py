"""Inferred shapes against numpy, ONNX's own inference and hand-worked examples."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from xdsl.dialects.builtin import NoneType, TensorType, f32
from xdsl.ir import Attribute, Block

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.base import UNRANKED_F32, NamedOp
from xdsl_tpu.dialects.interfaces.shape import (
    Shape,
    ShapeInference,
    UnknownShapeError,
    constants_from,
)

NONE = None
"""An absent operand."""


def build(op: type[NamedOp], *operands: Shape | None, results: int = 1, **attributes: Any) -> Any:
    types = [NoneType() if shape is None else TensorType(f32, shape) for shape in operands]
    block = Block(arg_types=types)
    outputs: list[Attribute] = [UNRANKED_F32] * results
    built = op.make("x", block.args, result_types=outputs, **attributes)
    assert isinstance(built, ShapeInference)
    return built


def shapes(op: type[NamedOp], *operands: Shape | None, results: int = 1, **attributes: Any) -> Any:
    inferred = build(op, *operands, results=results, **attributes).infer_shapes()
    return inferred[0] if results == 1 else inferred


def run_shape(op: str, operand: Shape, **attributes: Any) -> Shape:
    """The shape that onnxruntime computes for one node.

    ONNX's own inference still counts windows that start behind the padded input.
    """
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", operand), ("y", None))
    )
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "one", [x], [y])
    opset = [helper.make_opsetid("", 19)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=9)
    session: Any = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"x": np.zeros(operand, np.float32)})[0].shape


def onnx_shape(op: str, *operands: Shape, **attributes: Any) -> Shape:
    """What ONNX's shape inference says of one node."""
    names = [f"x{index}" for index in range(len(operands))]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip(names, operands, strict=True)
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], **attributes)], "one", inputs, [output]
    )
    opset = [helper.make_opsetid("", 19)]
    model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opset))
    dims = model.graph.output[0].type.tensor_type.shape.dim
    return tuple(dim.dim_value for dim in dims)


WINDOWS: list[dict[str, Any]] = [
    {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}
    for kernel, strides, dilations, pads in product(
        ([1, 1], [3, 2]), ([1, 1], [2, 3]), ([1, 1], [2, 1]), ([0, 0, 0, 0], [1, 0, 2, 1])
    )
]


@pytest.mark.parametrize("window", WINDOWS)
def test_convolution(window: dict[str, Any]) -> None:
    x, w = (2, 4, 13, 11), (6, 2, *window["kernel_shape"])
    assert shapes(top.ConvOp, x, w, (6,), group=2, **window) == onnx_shape(
        "Conv", x, w, (6,), group=2, **window
    )


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("strides", [[1, 1], [2, 3]])
def test_automatic_padding_of_a_convolution(mode: str, strides: list[int]) -> None:
    x, w = (1, 3, 13, 10), (8, 3, 3, 4)
    window: dict[str, Any] = {"kernel_shape": [3, 4], "strides": strides, "auto_pad": mode}
    pads: dict[str, Any] = {"pads": [1, 1, 1, 1]} if mode == "NOTSET" else {}
    conv = build(top.ConvOp, x, w, NONE, **window, pads=pads.get("pads", [0] * 4))
    expected = onnx_shape("Conv", x, w, **window, **pads)
    assert conv.infer_shapes() == (expected,)
    conv.resolve()
    assert conv.auto_pad is None
    assert conv.infer_shapes() == (expected,)


def test_where_the_odd_element_of_automatic_padding_goes() -> None:
    def pads(mode: str) -> Sequence[int]:
        x, w = (1, 1, 6), (1, 1, 4)
        conv = build(top.ConvOp, x, w, NONE, kernel_shape=[4], strides=[1], pads=[], auto_pad=mode)
        conv.resolve()
        return ints(conv.pads)

    assert pads("SAME_UPPER") == (1, 2)
    assert pads("SAME_LOWER") == (2, 1)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("extra", [[0, 0], [1, 0]])
def test_transposed_convolution(window: dict[str, Any], extra: list[int]) -> None:
    x, kernel = (2, 4, 7, 5), window["kernel_shape"]
    theirs = onnx_shape(
        "ConvTranspose", x, (4, 3, *kernel), group=2, output_padding=extra, **window
    )
    ours = shapes(top.DeconvOp, x, (6, 2, *kernel), NONE, group=2, output_padding=extra, **window)
    assert ours == theirs


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("name", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("kernel", [2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_pool(name: str, kernel: int, stride: int, ceil_mode: bool) -> None:
    op = {"MaxPool": top.MaxPoolOp, "AveragePool": top.AvgPoolOp}[name]
    for size, before, after in product(range(4, 12), (0, 1), (0, 1)):
        window: dict[str, Any] = {
            "kernel_shape": [kernel],
            "strides": [stride],
            "pads": [before, after],
            "ceil_mode": ceil_mode,
        }
        pool = build(op, (1, 3, size), **window)
        expected = run_shape(name, (1, 3, size), **window)
        assert pool.infer_shapes() == (expected,), (size, window)
        pool.resolve()
        assert pool.ceil_mode is None
        assert pool.infer_shapes() == (expected,), (size, window)


def test_padding_that_counts_keeps_ceil_mode() -> None:
    for size, pads, kept, after in (
        (4, [1, 0], True, 0),
        (5, [1, 0], False, 0),
        (5, [0, 0], False, 1),
    ):
        window: dict[str, Any] = {"kernel_shape": [2], "strides": [2], "pads": pads}
        pool = build(top.AvgPoolOp, (1, 1, size), **window, ceil_mode=True, count_include_pad=True)
        pool.resolve()
        assert (pool.ceil_mode is not None) == kept
        assert bool(pool.count_include_pad.value.data) == any(pads)
        assert ints(pool.pads) == (pads[0], after)


def test_global_pool_gets_its_window() -> None:
    pool = build(top.AvgPoolOp, (2, 8, 7, 5), kernel_shape=[], strides=[], pads=[])
    assert pool.infer_shapes() == ((2, 8, 1, 1),)
    pool.resolve()
    assert (ints(pool.kernel_shape), ints(pool.strides), ints(pool.pads)) == (
        (7, 5),
        (1, 1),
        (0, 0, 0, 0),
    )


MATMULS = [
    ((4, 5), (5, 6)),
    ((5,), (5, 6)),
    ((4, 5), (5,)),
    ((5,), (5,)),
    ((3, 1, 4, 5), (2, 5, 6)),
    ((2, 3, 4, 5), (5, 6)),
    ((4, 5), (2, 3, 5, 6)),
    ((2, 1, 5), (1, 5, 3)),
]


@pytest.mark.parametrize(("left", "right"), MATMULS)
def test_matrix_product_is_that_of_numpy(left: Shape, right: Shape) -> None:
    expected = np.matmul(np.zeros(left), np.zeros(right)).shape
    assert shapes(top.MatMulOp, left, right, NONE) == (expected or (1,))
    if len(left) > 1:
        turned = (*left[:-2], left[-1], left[-2])
        assert shapes(top.MatMulOp, turned, right, NONE, left_transpose=True) == expected
    if len(right) > 1:
        turned = (*right[:-2], right[-1], right[-2])
        assert shapes(top.MatMulOp, left, turned, NONE, right_transpose=True) == expected


def test_matrix_product_of_merged_dimensions_heads_and_other_results() -> None:
    matmul = top.MatMulOp
    assert shapes(matmul, (1, 512, 7, 7), (25088, 4096), NONE) == (1, 4096)
    assert shapes(matmul, (2, 3, 4, 5), (20, 6), (6,)) == (2, 3, 6)
    assert shapes(matmul, (2, 3, 4), (4, 6), NONE, keep_dims=False) == (6, 6)
    assert shapes(matmul, (2, 3, 4), (4, 6), NONE, output_transpose=True) == (2, 6, 3)
    heads: dict[str, Any] = {"hdim_is_batch": True}
    assert shapes(matmul, (2, 49, 3, 32), (2, 32, 3, 48), NONE, **heads) == (2, 49, 3, 48)
    turned: dict[str, Any] = {**heads, "right_transpose": True}
    assert shapes(matmul, (2, 49, 3, 32), (2, 48, 3, 32), NONE, **turned) == (2, 49, 3, 48)


@pytest.mark.parametrize(
    ("start", "end", "step"),
    list(product((0, 2, -3, -99, 99), (0, 5, -1, -99, 2**63 - 1), (1, 2, -1, -3))),
)
def test_slice_is_that_of_numpy(start: int, end: int, step: int) -> None:
    lists: dict[str, Any] = {"offset": [start], "ends": [end], "steps": [step], "axes": [1]}
    op = build(top.SliceOp, (3, 7, 2), NONE, NONE, NONE, **lists)
    elements = np.arange(7)[start:end:step]
    assert op.infer_shapes() == ((3, len(elements), 2),)
    op.resolve()
    assert (ints(op.axes), ints(op.hasparamConvert_axes)) == ((), (1,))
    assert op.infer_shapes() == ((3, len(elements), 2),)
    cut = op.cuts()[1]
    assert [cut.first + index * cut.step for index in range(cut.count)] == elements.tolist()


@pytest.mark.parametrize(
    "equation", ["abcd,cde->abe", "abc,abd->acd", "ab,acb->ac", "a,b->ab", "ab,ab->", "ab,bc"]
)
def test_einsum_is_that_of_numpy(equation: str) -> None:
    sizes = dict(zip("abcde", (2, 3, 4, 5, 6), strict=True))
    operands = [tuple(sizes[c] for c in term) for term in equation.partition("->")[0].split(",")]
    expected = np.einsum(equation, *map(np.zeros, operands)).shape
    assert shapes(top.EinsumOp, *operands, mode=equation) == (expected or (1,))


CASES: list[tuple[type[NamedOp], tuple[Shape | None, ...], dict[str, Any], Shape]] = [
    (top.AddOp, ((3, 1, 5), (4, 1), (1,)), {}, (3, 4, 5)),
    (top.SubOp, ((2, 3), (3,)), {"coeff": [1.0, 2.0]}, (2, 3)),
    (top.WhereOp, ((2, 1), (1, 3), NONE), {"y_is_const": True}, (2, 3)),
    (top.CompareOp, ((4, 3), (3,)), {"mode": "Less"}, (4, 3)),
    (top.ConcatOp, ((2, 3), (2, 4), (2, 1)), {"axis": -1}, (2, 8)),
    (top.PackOp, ((2, 3), (2, 3)), {"axis": -1, "values_count": 2}, (2, 3, 2)),
    (top.ConvOp, ((1, 3, 9), (8, 3, 3, 1), NONE),
     {"kernel_shape": [3, 1], "strides": [2, 1], "pads": [1, 0, 1, 0]}, (1, 8, 5)),
    (top.ConvOp, ((1, 2, 4, 4), (2, 2, 1, 1), NONE),
     {"kernel_shape": [1, 1], "strides": [1, 1], "pads": [0] * 4, "inserts": [1, 2]},
     (1, 2, 7, 10)),
    (top.ConvOp, ((1, 2, 3, 4, 5), (6, 2, 3, 3, 3), (6,)),
     {"kernel_shape": [3] * 3, "strides": [1] * 3, "pads": [1] * 6}, (1, 6, 3, 4, 5)),
    (top.DeformConv2DOp, ((1, 4, 8, 8), (6, 4, 3, 3), (1, 18, 6, 6), NONE, NONE),
     {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [0] * 4}, (1, 6, 6, 6)),
    (top.AdaptiveAvgPoolOp, ((1, 8, 9, 7),), {"output_size": [3, 2]}, (1, 8, 3, 2)),
    (top.MaxUnpoolOp, ((1, 2, 3, 4), (1, 2, 3, 4)), {"scale_h": 2, "scale_w": 3}, (1, 2, 6, 12)),
    (top.AvgPoolOp, ((2, 8, 7, 7),),
     {"kernel_shape": [7, 7], "strides": [1, 1], "pads": [0] * 4, "keepdims": False}, (2, 8)),
    (top.ReduceOp, ((2, 3, 4),), {"axes": [-1, 0], "keepdims": False, "mode": "ReduceSum"}, (3,)),
    (top.ReduceOp, ((2, 3, 4),), {"axes": [1], "keepdims": True, "mode": "ReduceL2"}, (2, 1, 4)),
    (top.ReduceOp, ((2, 3),), {"axes": [], "keepdims": False, "mode": "ReduceMax"}, (1,)),
    (top.VarianceOp, ((2, 3, 4),), {"reduce_list": [1], "correction": 1.0}, (2, 4)),
    (top.CumSumOp, ((2, 3), NONE), {"axis": -1}, (2, 3)),
    (top.ReshapeOp, ((2, 3, 4),), {"shape": [0, -1]}, (2, 12)),
    (top.ReshapeOp, ((2, 3, 4),), {"flatten_start_dim": 1}, (2, 12)),
    (top.FlattenOp, ((2, 3, 4, 5),), {"start_dim": 1, "end_dim": -2}, (2, 12, 5)),
    (top.SqueezeOp, ((1, 3, 1, 2),), {"axes": [-2]}, (1, 3, 2)),
    (top.SqueezeOp, ((1, 3, 1, 2),), {"axes": []}, (3, 2)),
    (top.UnsqueezeOp, ((3, 2),), {"axes": [-1, 0]}, (1, 3, 2, 1)),
    (top.ExpandOp, ((3, 1),), {"shape": [2, 1, -1]}, (2, 3, 1)),
    (top.TileOp, ((2, 3),), {"tile": [2, 1, 3]}, (2, 2, 9)),
    (top.ShapeOp, ((2, 3, 4),), {"start": 1}, (2,)),
    (top.SizeOp, ((2, 3, 4),), {}, (1,)),
    (top.PadOp, ((2, 3), NONE), {"paddings": [0, 1, 2, -1], "mode": "constant"}, (4, 3)),
    (top.PermuteOp, ((2, 3, 4),), {"order": [2, 0, 1]}, (4, 2, 3)),
    (top.TransposeOp, ((2, 3, 4),), {"dim0": 0, "dim1": -1}, (4, 3, 2)),
    (top.ReverseOp, ((2, 3),), {"axis": 1}, (2, 3)),
    (top.SwapDimInnerOp, ((1, 56, 56, 96),), {"offset": [0, 3, 0, 0]}, (1, 56, 56, 96)),
    (top.ShuffleChannelOp, ((1, 6, 2, 2),), {"group": 3}, (1, 6, 2, 2)),
    (top.GatherOp, ((5, 6, 7), (2, 3)), {"axis": 1}, (5, 2, 3, 7)),
    (top.GatherOp, ((5, 6, 7), (1,)), {"axis": -1, "keepdims": False}, (5, 6)),
    (top.GatherElementsOp, ((5, 6), (2, 3)), {"axis": 0}, (2, 3)),
    (top.GatherNDOp, ((2, 3, 4, 5), (2, 6, 2)), {"batch_dims": 1}, (2, 6, 5)),
    (top.ScatterElementsOp, ((5, 6), (2, 3), (2, 3)), {"axis": 0}, (5, 6)),
    (top.ScatterNDOp, ((4, 5, 6), (3, 1), (3, 5, 6)), {}, (4, 5, 6)),
    (top.NonZeroOp, ((2, 3),), {"order": "RowMajor"}, (2, 6)),
    (top.NonZeroOp, ((2, 3),), {"order": "ColMajor"}, (6, 2)),
    (top.UpsampleOp, ((1, 2, 3, 4),), {"scale_h": 2, "scale_w": 3}, (1, 2, 6, 12)),
    (top.InterpOp, ((1, 2, 10, 7), NONE),
     {"mode": "linear", "coord_mode": "half_pixel", "scale_h": 23 / 10, "scale_w": 0.5},
     (1, 2, 23, 3)),
    (top.InterpOp, ((1, 2, 7), NONE),
     {"mode": "nearest", "coord_mode": "asymmetric", "scale_w": 2.0}, (1, 2, 14)),
    (top.GridSamplerOp, ((1, 2, 3, 4), (1, 5, 6, 2)),
     {"mode": 0, "padding_mode": 0, "align_corners": False}, (1, 2, 5, 6)),
    (top.SampledSumOp, ((24, 2), (2, 6, 2, 5), (6, 2, 5)),
     {"height": 3, "width": 4, "image_step": 1, "pixel_step": 2, "mode": 0, "padding_mode": 0,
      "align_corners": False}, (2, 5, 2)),
    (top.BatchNormOp, ((1, 4, 2), (4,), (4,), (1, 4, 1), NONE), {}, (1, 4, 2)),
    (top.ScaleOp, ((1, 4, 2), (4,), (1, 4, 1)), {}, (1, 4, 2)),
    (top.GroupNormOp, ((1, 6, 2), (6,), NONE), {"num_groups": 3, "eps": 1e-5}, (1, 6, 2)),
    (top.SoftmaxOp, ((2, 3),), {"axis": -1}, (2, 3)),
    (top.ScaleDotProductAttentionOp, ((2, 3, 4), (2, 5, 4), (2, 5, 6), NONE), {}, (2, 3, 6)),
    (top.RoiAlignOp, ((1, 8, 9, 9), (5, 5)),
     {"mode": "Avg", "output_height": 7, "output_width": 6, "sampling_ratio": 2,
      "spatial_scale": 0.25, "align_corners": False}, (5, 8, 7, 6)),
    (top.NmsOp, ((2, 9, 4), (2, 3, 9)),
     {"center_point_box": 0, "max_output_size": 5}, (30, 3)),
    (top.TriluOp, ((2, 3, 3),), {"upper": 1, "diagonal": 0}, (2, 3, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operands", "attributes", "expected"), CASES)
def test_result_shape(
    op: type[NamedOp], operands: tuple[Shape | None, ...], attributes: Any, expected: Shape
) -> None:
    built = build(op, *operands, **attributes)
    assert built.infer_shapes() == (expected,)
    built.resolve()
    assert built.infer_shapes() == (expected,)


@pytest.mark.parametrize("channels_last", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("inversed", [False, True])
def test_depth_to_space(inversed: bool, channels_last: tuple[bool, bool]) -> None:
    small, large = (2, 24, 5, 7), (2, 4, 10, 21)
    source, target = (large, small) if inversed else (small, large)

    def laid_out(shape: Shape, last: bool) -> Shape:
        return (shape[0], *shape[2:], shape[1]) if last else shape

    before, after = channels_last
    inferred = shapes(
        top.Depth2SpaceOp,
        laid_out(source, before),
        block_h=2,
        block_w=3,
        is_CRD=False,
        is_inversed=inversed,
        in_is_NCHW=not before,
        out_is_NCHW=not after,
    )
    assert inferred == laid_out(target, after)


def test_ops_with_several_results() -> None:
    split = build(top.SplitOp, (2, 7), results=3, axis=-1, num=3)
    assert split.infer_shapes() == ((2, 3), (2, 3), (2, 1))
    split.resolve()
    assert (ints(split.split_size), split.axis.value.data) == ((3, 3, 1), 1)
    assert shapes(top.SplitOp, (4, 2), results=2, axis=0, num=2, split_size=[1, 3]) == (
        (1, 2),
        (3, 2),
    )
    assert shapes(top.UnpackOp, (2, 3), results=2, axis=0) == ((3,), (3,))
    assert shapes(top.MeshGridOp, (2,), (3,), results=2, is_reverse=False) == ((2, 3), (2, 3))
    arg = {"axis": -1, "keepdims": False, "mode": "ArgMax"}
    assert shapes(top.ArgOp, (2, 3), results=2, **arg) == ((2,), (2,))
    assert shapes(top.TopKOp, (2, 9), results=2, axis=1, K=4) == ((2, 4), (2, 4))
    assert shapes(top.SortOp, (2, 9), results=2, axis=1) == ((2, 9), (2, 9))


@pytest.mark.parametrize(("op", "gates", "results"), [(top.LSTMOp, 4, 3), (top.GRUOp, 3, 2)])
def test_recurrent_networks(op: type[NamedOp], gates: int, results: int) -> None:
    filters = ((2, gates * 5, 6), (2, gates * 5, 5), *(NONE,) * (4 if gates == 4 else 2))
    flags: dict[str, Any] = {"hidden_size": 5, "bidirectional": True}
    sequence, *states = shapes(op, (7, 3, 6), *filters, results=results, **flags)
    assert sequence == (7, 2, 3, 5)
    assert states == [(2, 3, 5)] * (results - 1)
    sequence, *states = shapes(op, (3, 7, 6), *filters, results=results, batch_first=True, **flags)
    assert sequence == (3, 7, 2, 5)
    assert states == [(3, 2, 5)] * (results - 1)


def test_results_nobody_asked_for_have_no_shape() -> None:
    block = Block(arg_types=[TensorType(f32, (2, 9))])
    types = [NoneType(), UNRANKED_F32]
    assert top.TopKOp.make("x", block.args, result_types=types, axis=1, K=4).infer_shapes() == (
        (),
        (2, 4),
    )


CONSTANT_CASES: list[tuple[type[NamedOp], list[list[float] | Shape], dict[str, Any], Shape]] = [
    (top.ReshapeOp, [(2, 6), [3.0, -1.0]], {}, (3, 4)),
    (top.ViewOp, [(2, 6), [12]], {}, (12,)),
    (top.ExpandOp, [(3, 1), [2, 3, 4]], {}, (2, 3, 4)),
    (top.TileOp, [(2, 3), [1, 2]], {}, (2, 6)),
    (top.RepeatOp, [(2, 3), [4, 1, 2]], {}, (4, 2, 6)),
    (top.RangeOp, [[0], [7], [2]], {}, (4,)),
    (top.ArangeOp, [[5.0], [0.0], [-1.5]], {}, (4,)),
    (top.ConstantFillOp, [[2, 3]], {"value": 0.0}, (2, 3)),
    (top.SliceAxisOp, [(2, 9), [1], [-3], [1], [99]], {}, (2, 3)),
    (top.InterpOp, [(1, 2, 4, 4), [9, 6]], {"mode": "nearest", "coord_mode": "asymmetric"},
     (1, 2, 9, 6)),
    (top.PadOp, [(2, 3), [1, 0, 0, 1]], {"paddings": [0] * 4, "mode": "edge"}, (3, 4)),
    (top.SliceOp, [(4, 9), [1, 2], [3, 99], [1, 3]],
     {"offset": [], "ends": [], "steps": []}, (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("op", "operands", "attributes", "expected"), CONSTANT_CASES)
def test_shape_that_depends_on_a_constant(
    op: type[NamedOp],
    operands: list[list[float] | Shape],
    attributes: dict[str, Any],
    expected: Shape,
) -> None:
    described = [operand if isinstance(operand, tuple) else (len(operand),) for operand in operands]
    built = build(op, *described, **attributes)
    pairs = zip(built.operands, operands, strict=True)
    values = {value: operand for value, operand in pairs if isinstance(operand, list)}
    lookup = values.get

    with pytest.raises(UnknownShapeError, match=r'^top\.\w+ "x": operand \d must be a constant'):
        built.infer_shapes()
    with constants_from(lookup):
        assert built.infer_shapes() == (expected,)
        built.resolve()
    built.verify_()


def test_a_scalar_is_not_a_dimension_to_unsqueeze() -> None:
    block = Block(arg_types=[TensorType(f32, (4, 5))])
    total = top.ReduceOp.make(
        "sum",
        block.args,
        result_types=[TensorType(f32, (1,))],
        axes=[0, 1],
        keepdims=False,
        mode="ReduceSum",
        is_scalar=True,
    )
    assert top.UnsqueezeOp.make("x", [total], axes=[0]).infer_shapes() == ((1,),)


def test_layer_norm_writes_out_what_it_normalises() -> None:
    norm = build(top.LayerNormOp, (2, 3, 4), (4,), NONE, axis=-1, eps=1e-5, normalized_shape=[])
    assert norm.infer_shapes() == ((2, 3, 4),)
    norm.resolve()
    assert (norm.axis.value.data, ints(norm.normalized_shape)) == (2, (4,))


def test_unknown_operand_is_named() -> None:
    block = Block(arg_types=[UNRANKED_F32])
    relu = top.ReluOp.make("r", block.args)
    with pytest.raises(UnknownShapeError, match=r'top\.Relu "r": the shape of operand 0 is not'):
        relu.infer_shapes()
    relu.verify_()
