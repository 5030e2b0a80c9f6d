"""Converters of layers with parameters: convolutions, products, normalisation, pools, resizing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from onnx import helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.attrs import ints
from xdsl_tpu.dialects.text import make_context
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.passes.pipeline import make_pass

Agree = Callable[..., ModuleOp]
RNG = np.random.default_rng(4)


def random(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


X = random(1, 4, 9, 10)


@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 1], "pads": [1, 0, 2, 1]}, {"dilations": [2, 2]},
     {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"auto_pad": "SAME_LOWER"},
     {"auto_pad": "VALID"}],
)  # fmt: skip
def test_conv(agree: Agree, attributes: dict[str, Any]) -> None:
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], **attributes)
    agree(node, {"x": X}, {"w": random(6, 4, 3, 2), "b": random(6)})


def test_conv_groups_and_dynamic_filter(agree: Agree) -> None:
    agree(helper.make_node("Conv", ["x", "w"], ["y"], group=2), {"x": X}, {"w": random(6, 2, 3, 3)})
    agree(helper.make_node("Conv", ["x", "w"], ["y"]), {"x": X, "w": random(6, 4, 3, 3)})


def test_conv_1d(agree: Agree) -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[2], pads=[1, 2])
    agree(node, {"x": random(2, 4, 11)}, {"w": random(6, 4, 3)})


@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 3], "pads": [1, 0, 2, 1], "output_padding": [1, 2]}, {"group": 2},
     {"dilations": [2, 1]}, {"strides": [2, 2], "output_shape": [19, 20]},
     {"strides": [2, 2], "auto_pad": "SAME_UPPER"}, {"strides": [2, 2], "auto_pad": "SAME_LOWER"}],
)  # fmt: skip
def test_conv_transpose(agree: Agree, attributes: dict[str, Any]) -> None:
    node = helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"], **attributes)
    channels = 3 * attributes.get("group", 1)
    agree(node, {"x": X}, {"w": random(4, 3, 3, 3), "b": random(channels)})


@pytest.mark.parametrize("alpha", [1.0, 0.5])
@pytest.mark.parametrize("beta", [1.0, 2.0])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("constant", [True, False])
def test_gemm(agree: Agree, alpha: float, beta: float, trans_b: int, constant: bool) -> None:
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], alpha=alpha, beta=beta, transB=trans_b)
    values = {"w": random(7, 5) if trans_b else random(5, 7), "b": random(7)}
    x = {"x": random(3, 5)}
    agree(node, x, values) if constant else agree(node, x | values)


@pytest.mark.parametrize("bias", [(3, 7), (3, 1), (1, 7), ()])
def test_gemm_transposed_left_and_odd_bias(agree: Agree, bias: tuple[int, ...]) -> None:
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"], transA=1)
    agree(node, {"x": random(5, 3)}, {"w": random(5, 7), "b": np.asarray(random(*bias))})


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4, 5)), ((2, 3, 4), (4,))],
)
@pytest.mark.parametrize("constant", [True, False])
def test_matmul(
    agree: Agree, left: tuple[int, ...], right: tuple[int, ...], constant: bool
) -> None:
    node = helper.make_node("MatMul", ["a", "b"], ["y"])
    a, b = random(*left), random(*right)
    agree(node, {"a": a}, {"b": b}) if constant else agree(node, {"a": a, "b": b})


def test_batch_norm(agree: Agree) -> None:
    names = ["gamma", "beta", "mean", "variance"]
    constants = {name: np.abs(random(4)) + np.float32(0.5) for name in names}
    agree(helper.make_node("BatchNormalization", ["x", *names], ["y"]), {"x": X}, constants)


@pytest.mark.parametrize("batch", [1, 3])
def test_batch_norm_in_training_mode(agree: Agree, batch: int) -> None:
    """Every result: what is normalised, and the running statistics."""
    names = ["gamma", "beta", "mean", "variance"]
    constants = {name: np.abs(random(4)) + np.float32(0.5) for name in names}
    outputs = ["y", "new_mean", "new_variance"]
    node = helper.make_node(
        "BatchNormalization", ["x", *names], outputs, training_mode=1, momentum=0.75
    )
    agree(node, {"x": random(batch, 4, 9, 10)}, constants, outputs)


def test_standardised_weights_behind_an_identity_fold(agree: Agree) -> None:
    """A constant that has another name in the node than in the table of constants is one too."""
    nodes = [
        helper.make_node("Identity", ["ones"], ["gamma"]),
        helper.make_node(
            "BatchNormalization",
            ["w", "gamma", "zeros", "zeros", "ones"],
            ["standard", "m", "v"],
            training_mode=1,
        ),
        helper.make_node("Reshape", ["standard", "shape"], ["filter"]),
        helper.make_node("Conv", ["x", "filter"], ["y"]),
    ]
    constants = {
        "w": random(1, 6, 36),
        "ones": np.ones(6, np.float32),
        "zeros": np.zeros(6, np.float32),
        "shape": np.array([6, 4, 3, 3]),
    }
    module = agree(nodes, {"x": X}, constants)
    assert not [op for op in module.walk() if op.name in ("top.BatchNorm", "top.Mul", "top.Reduce")]


def test_batch_norm_is_folded_into_conv(agree: Agree) -> None:
    names = ["gamma", "beta", "mean", "variance"]
    constants = {name: np.abs(random(6)) + np.float32(0.5) for name in names}
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"]),
        helper.make_node("BatchNormalization", ["c", *names], ["y"]),
    ]
    module = agree(nodes, {"x": X}, {"w": random(6, 4, 3, 3), "b": random(6), **constants})
    assert not [op for op in module.walk() if op.name == "top.BatchNorm"]


def test_bias_is_folded_into_conv(agree: Agree) -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("Add", ["b", "c"], ["y"]),
    ]
    module = agree(nodes, {"x": X}, {"w": random(6, 4, 3, 3), "b": random(1, 6, 1, 1)})
    assert not [op for op in module.walk() if op.name == "top.Add"]


@pytest.mark.parametrize("axis", [-1, 1, 2])
def test_layer_norm(agree: Agree, axis: int) -> None:
    shape = X.shape[axis % 4 :]
    node = helper.make_node("LayerNormalization", ["x", "w", "b"], ["y"], axis=axis, epsilon=1e-3)
    agree(node, {"x": X}, {"w": random(*shape), "b": random(*shape)})


def test_neutral_parameters_are_dropped(agree: Agree) -> None:
    node = helper.make_node("LayerNormalization", ["x", "w", "b"], ["y"])
    neutral = {"w": np.ones(10, np.float32), "b": np.zeros(10, np.float32)}
    module = agree(node, {"x": X}, neutral)
    assert not [op for op in module.walk() if op.name == "top.Weight"]


def test_group_norm(agree: Agree) -> None:
    node = helper.make_node("GroupNormalization", ["x", "w", "b"], ["y"], num_groups=2)
    agree(node, {"x": X}, {"w": random(4), "b": random(4)}, opset=21)


def test_instance_norm(agree: Agree) -> None:
    node = helper.make_node("InstanceNormalization", ["x", "w", "b"], ["y"])
    agree(node, {"x": X}, {"w": random(4), "b": random(4)})


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize(("opset", "axis"), [(13, -1), (13, 1), (11, 3), (11, 1), (11, 2)])
def test_softmax(agree: Agree, op: str, opset: int, axis: int) -> None:
    agree(helper.make_node(op, ["x"], ["y"], axis=axis), {"x": X}, opset=opset)


def test_lrn(agree: Agree) -> None:
    node = helper.make_node("LRN", ["x"], ["y"], size=3, alpha=0.01, beta=0.6, bias=1.5)
    agree(node, {"x": X})


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize(
    "attributes",
    [{}, {"strides": [2, 2], "pads": [1, 1, 1, 1]}, {"strides": [2, 3], "ceil_mode": 1},
     {"auto_pad": "SAME_UPPER", "strides": [2, 2]}],
)  # fmt: skip
def test_pool(agree: Agree, op: str, attributes: dict[str, Any]) -> None:
    agree(helper.make_node(op, ["x"], ["y"], kernel_shape=[3, 3], **attributes), {"x": X})


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize("pads", [[0] * 4, [2, 1, 0, 3]])
def test_windows_beyond_the_image_hold_the_image(agree: Agree, op: str, pads: list[int]) -> None:
    """As of a pool whose windows are made as large as it has channels."""
    options: dict[str, Any] = {"kernel_shape": [40, 300], "strides": [40, 300]}
    options |= {"ceil_mode": 1, "pads": pads}
    made = agree(helper.make_node(op, ["x"], ["y"], **options), {"x": X})
    make_pass("shape-infer").apply(make_context(), made)
    (pool,) = (one for one in made.walk() if isinstance(one, top.AvgPoolOp | top.MaxPoolOp))
    assert ints(pool.kernel_shape) == X.shape[2:]
    assert not any(ints(pool.pads))


def test_average_counts_padding(agree: Agree) -> None:
    node = helper.make_node(
        "AveragePool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1
    )
    agree(node, {"x": X})


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
def test_global_pool(agree: Agree, op: str) -> None:
    agree(helper.make_node(op, ["x"], ["y"]), {"x": X})


@pytest.mark.parametrize(
    "op", ["ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceL1",
           "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"],
)  # fmt: skip
@pytest.mark.parametrize("keepdims", [0, 1])
def test_reduce(agree: Agree, op: str, keepdims: int) -> None:
    x = {"x": np.abs(X[:, :2, :3]) + np.float32(0.5)}
    axes = np.array([1, -1])
    constants = {"a": axes}
    node = helper.make_node(op, ["x", "a"], ["y"], keepdims=keepdims)
    agree(node, x, constants, opset=18)
    if op != "ReduceSum":  # whose axes became an input before
        node = helper.make_node(op, ["x"], ["y"], keepdims=keepdims, axes=axes.tolist())
        agree(node, x, opset=11)


def test_reduce_everything(agree: Agree) -> None:
    agree(helper.make_node("ReduceMean", ["x"], ["y"], keepdims=0), {"x": X})


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
@pytest.mark.parametrize("last", [0, 1])
def test_arg(agree: Agree, op: str, last: int) -> None:
    node = helper.make_node(op, ["x"], ["y"], axis=-1, keepdims=0, select_last_index=last)
    agree(node, {"x": np.round(X)})


def test_cumsum(agree: Agree) -> None:
    constants = {"a": np.array(-2, np.int64)}
    agree(helper.make_node("CumSum", ["x", "a"], ["y"]), {"x": X}, constants)


@pytest.mark.parametrize(
    ("mode", "coordinates", "nearest"),
    [("nearest", "asymmetric", "floor"), ("nearest", "half_pixel", "round_prefer_floor"),
     ("linear", "half_pixel", "floor"), ("linear", "align_corners", "floor"),
     ("linear", "asymmetric", "floor"), ("linear", "pytorch_half_pixel", "floor"),
     ("nearest", "half_pixel", "ceil"), ("nearest", "asymmetric", "round_prefer_ceil"),
     ("cubic", "half_pixel", "floor"), ("cubic", "asymmetric", "floor")],
)  # fmt: skip
@pytest.mark.parametrize("scales", [(2.0, 2.0), (1.5, 0.6)])
def test_resize(
    agree: Agree, mode: str, coordinates: str, nearest: str, scales: tuple[float, float]
) -> None:
    node = helper.make_node(
        "Resize",
        ["x", "", "s"],
        ["y"],
        mode=mode,
        coordinate_transformation_mode=coordinates,
        nearest_mode=nearest,
    )
    if coordinates == "align_corners":  # onnxruntime has its own idea of broken lengths
        scales = (2.0, 0.6)
    agree(node, {"x": X}, {"s": np.array([1, 1, *scales], np.float32)}, tolerance=1e-4)


def test_resize_to_sizes_and_of_one_dimension(agree: Agree) -> None:
    node = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear")
    agree(node, {"x": X}, {"s": np.array([1, 4, 17, 23])}, tolerance=1e-4)
    agree(node, {"x": X[:, :, 0]}, {"s": np.array([1, 4, 15])}, tolerance=1e-4)


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize_of_long_axes(agree: Agree, mode: str) -> None:
    """No matrix of 20,000 times 40,000 elements is made."""
    x = np.random.default_rng(0).standard_normal((1, 1, 2, 20000)).astype(np.float32)
    node = helper.make_node("Resize", ["x", "", "s"], ["y"], mode=mode)
    module = agree(node, {"x": x}, {"s": np.array([1, 1, 1, 2], np.float32)}, tolerance=1e-4)
    assert any(isinstance(op, top.InterpOp) for op in module.walk())


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [0, 1])
def test_grid_sample(agree: Agree, mode: str, padding: str, align: int) -> None:
    node = helper.make_node(
        "GridSample", ["x", "g"], ["y"], mode=mode, padding_mode=padding, align_corners=align
    )
    grid = RNG.uniform(-1.3, 1.3, (1, 5, 6, 2)).astype(np.float32)
    agree(node, {"x": X, "g": grid}, tolerance=1e-4)


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("MaxPool", {"dilations": [2, 1], "pads": [1, 0, 0, 1]}),
        ("LpPool", {"p": 2, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
        ("LpPool", {"p": 1}),
    ],
    ids=str,
)
def test_pools_written_out(agree: Agree, op: str, attributes: dict[str, Any]) -> None:
    agree(helper.make_node(op, ["x"], ["y"], kernel_shape=[3, 2], **attributes), {"x": X})


@pytest.mark.parametrize("order", [0, 1])
def test_where_a_maximum_is(agree: Agree, order: int) -> None:
    node = helper.make_node(
        "MaxPool", ["x"], ["y", "i"], kernel_shape=[3, 2], strides=[2, 2], storage_order=order
    )
    agree(node, {"x": X})


def test_global_lp_pool(agree: Agree) -> None:
    agree(helper.make_node("GlobalLpPool", ["x"], ["y"], p=2), {"x": X})


@pytest.mark.parametrize("size", [1, 2048, 2049, 4096])
@pytest.mark.parametrize("exclusive", [0, 1])
@pytest.mark.parametrize("reverse", [0, 1])
def test_sums_of_so_many(agree: Agree, size: int, exclusive: int, reverse: int) -> None:
    node = helper.make_node("CumSum", ["x", "a"], ["y"], exclusive=exclusive, reverse=reverse)
    agree(node, {"x": random(2, size, 2)}, {"a": np.array(-2, np.int64)})


def test_sums_over_many_need_no_large_matrix(agree: Agree) -> None:
    node = helper.make_node("CumSum", ["x", "a"], ["y"], exclusive=1)
    module = agree(node, {"x": random(1, 20000)}, {"a": np.array(1, np.int64)})
    sizes = [weight.size for weight in weights_of(module).values()]
    assert max(sizes, default=0) <= 192 * 192


@pytest.mark.parametrize("exclusive", [0, 1])
def test_sums_from_the_end(agree: Agree, exclusive: int) -> None:
    node = helper.make_node("CumSum", ["x", "a"], ["y"], exclusive=exclusive, reverse=1)
    agree(node, {"x": X}, {"a": np.array(2, np.int64)})


@pytest.mark.parametrize("reduction", ["max", "min", "mul"])
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_scatter_joins(agree: Agree, op: str, reduction: str) -> None:
    node = helper.make_node(op, ["x", "i", "u"], ["y"], reduction=reduction)
    indices = np.array([[0, -1, 2], [0, 1, 1]]) if op == "ScatterElements" else np.array([[1], [1]])
    updates = random(2, 3) if op == "ScatterElements" else random(2, 5)
    agree(node, {"x": random(4, 5), "u": updates}, {"i": indices})


@pytest.mark.parametrize("axis", [1, -1])
def test_mean_and_deviation_of_a_layer_norm(agree: Agree, axis: int) -> None:
    node = helper.make_node("LayerNormalization", ["x", "w"], ["y", "m", "d"], axis=axis)
    size = X.shape[1:] if axis == 1 else X.shape[-1:]
    agree(node, {"x": X}, {"w": random(*size)}, tolerance=1e-4)


@pytest.mark.parametrize("p", [1, 2])
def test_lp_normalization(agree: Agree, p: int) -> None:
    agree(helper.make_node("LpNormalization", ["x"], ["y"], axis=1, p=p), {"x": X})
