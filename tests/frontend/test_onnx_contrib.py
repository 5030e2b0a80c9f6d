"""Ops of onnxruntime's own domain: the same numbers as onnxruntime's."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.frontend.onnx import import_onnx

Array = npt.NDArray[Any]
RUNTIME: Any = onnxruntime  # its functions are not typed
RNG = np.random.default_rng(5)
DOMAIN = "com.microsoft"
HEADS, WIDTH, ROWS = 2, 8, 5


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Every test has the same numbers whatever ran before it: some of other draws are beyond what
    integers hold, where onnxruntime clips and floats do not."""
    RNG.bit_generator.state = np.random.default_rng(5).bit_generator.state


def random(*shape: int) -> npt.NDArray[np.float32]:
    return RNG.standard_normal(shape).astype(np.float32)


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array],
    outputs: Mapping[str, Sequence[int] | None],
    opset: int = 17,
) -> onnx.ModelProto:
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "unit",
        [
            helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for k, v in inputs.items()
        ],
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    versions = [helper.make_opsetid("", opset), helper.make_opsetid(DOMAIN, 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def agree(
    nodes: onnx.NodeProto | Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array] | None = None,
    outputs: Sequence[str] = ("y",),
    opset: int = 17,
    tolerance: float = 2e-5,
    exact: bool = True,
) -> set[str]:
    """Compare with onnxruntime; the op types that were imported.

    Processors without VNNI add products of u8 and s8 in 16 bits, unless they are asked to be
    `exact`; then some ops of s8 have no kernel.
    """
    sequence = [nodes] if isinstance(nodes, onnx.NodeProto) else nodes
    model = model_of(sequence, inputs, constants or {}, dict.fromkeys(outputs), opset)
    options = RUNTIME.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1" if exact else "0")
    session = RUNTIME.InferenceSession(model.SerializeToString(), options)
    expected: dict[str, Array] = dict(zip(outputs, session.run(None, dict(inputs)), strict=True))
    shapes = {name: value.shape for name, value in expected.items()}
    module = import_onnx(model_of(sequence, inputs, constants or {}, shapes, opset))
    module.verify()
    actual = list(run_module(module, dict(inputs)).values())
    for ours, theirs in zip(actual, expected.values(), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * np.abs(theirs).max())
    return {op.name for op in module.walk()}


def op(op_type: str, inputs: Sequence[str], *outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op_type, inputs, outputs or ["y"], domain=DOMAIN, **attributes)


@pytest.mark.parametrize("op_type", ["Gelu", "BiasGelu", "FastGelu", "QuickGelu"])
def test_gelu(op_type: str) -> None:
    is_biased = op_type in ("BiasGelu", "FastGelu")
    found = agree(
        op(op_type, ["x", "b"][: 1 + is_biased]), {"x": random(3, 8)}, {"b": random(8)}, opset=13
    )
    assert "top.GELU" in found


def test_quick_gelu_of_one_is_silu() -> None:
    assert "top.SiLU" in agree(op("QuickGelu", ["x"], alpha=1.0), {"x": random(3, 8)})


@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize("op_type", ["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
def test_norm_of_sums(op_type: str, opset: int) -> None:
    names = ["g", "b", "bias"] if op_type == "SkipLayerNormalization" else ["g", "bias"]
    found = agree(
        op(op_type, ["x", "s", *names], "y", "", "", "sum", epsilon=1e-3),
        {"x": random(2, ROWS, WIDTH), "s": random(2, ROWS, WIDTH)},
        {name: random(WIDTH) for name in names},
        ["y", "sum"],
        opset,
    )
    assert found & {"top.LayerNorm", "top.RMSNorm"}


def test_norms_in_the_standards_domain() -> None:
    nodes = [
        helper.make_node("SimplifiedLayerNormalization", ["x", "g"], ["z"], epsilon=1e-3),
        helper.make_node("LayerNormalization", ["z", "g", "b"], ["y"], epsilon=1e-3),
    ]
    agree(nodes, {"x": random(3, 8)}, {"g": random(8), "b": random(8)}, opset=13)


@pytest.mark.parametrize("turned", [(0, 0, 0, 0), (1, 1, 0, 0), (0, 1, 1, 0), (1, 0, 0, 1)])
def test_fused_matmul(turned: tuple[int, ...]) -> None:
    names = ("transA", "transB", "transBatchA", "transBatchB")
    shapes = [(2, 3, 4, 4), (2, 3, 4, 4)]
    if any(turned[2:]):
        shapes[turned[3]] = (4, 2, 3, 4)
    fed = {name: random(*shape) for name, shape in zip("ab", shapes, strict=True)}
    kept = dict(zip(names, turned, strict=True))
    agree(op("FusedMatMul", ["a", "b"], alpha=0.25, **kept), fed)


@pytest.mark.parametrize(
    ("activation", "parameters"),
    [("Relu", []), ("Clip", [-0.5, 0.5]), ("LeakyRelu", [0.1]), ("HardSigmoid", [0.2, 0.4])],
)
def test_fused_convolution(activation: str, parameters: list[float]) -> None:
    given = {"activation_params": parameters} if parameters else {}
    with_sum = ["z"] if activation == "Relu" else []
    fed = {"x": random(1, 4, 6, 6)} | {name: random(1, 6, 4, 4) for name in with_sum}
    node = op("FusedConv", ["x", "w", "b", *with_sum], activation=activation, **given)
    agree(node, fed, {"w": random(6, 4, 3, 3), "b": random(6)})


def test_fused_gemm() -> None:
    node = op("FusedGemm", ["a", "b", "c"], activation="Relu", alpha=0.5, transB=1)
    agree(node, {"a": random(3, 4)}, {"b": random(5, 4), "c": random(5)})


MASKS = {
    "lengths": np.array([3, 5], np.int32),
    "rows": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32),
    "matrix": (RNG.random((2, ROWS, ROWS)) > 0.3).astype(np.int32),
}


@pytest.mark.parametrize("mask", ["none", *MASKS])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention(mask: str, causal: int) -> None:
    node = op("Attention", ["x", "w", "b", "m"], num_heads=HEADS, unidirectional=causal)
    constants = {"w": random(WIDTH, 3 * WIDTH), "b": random(3 * WIDTH)}
    fed: dict[str, Array] = {"x": random(2, ROWS, WIDTH)}
    if mask == "none":
        del node.input[-1]
    else:
        fed["m"] = MASKS[mask]
    agree(node, fed, constants)


def test_attention_that_remembers() -> None:
    node = op("Attention", ["x", "w", "b", "", "p"], "y", "z", num_heads=HEADS, unidirectional=1)
    constants = {"w": random(WIDTH, 3 * WIDTH), "b": random(3 * WIDTH)}
    fed = {"x": random(2, 2, WIDTH), "p": random(2, 2, HEADS, 3, WIDTH // HEADS)}
    agree(node, fed, constants, ["y", "z"])


@pytest.mark.parametrize("form", ["rows", "heads"])
def test_attention_of_several_heads(form: str) -> None:
    size = WIDTH // HEADS
    fed = {name: random(2, ROWS, WIDTH) for name in "qkv"}
    names, constants = ["q", "k", "v"], dict[str, Array]()
    if form == "rows":
        names, constants = [*names, "b"], {"b": random(3 * WIDTH)}
    else:
        fed |= {name: random(2, HEADS, ROWS, size) for name in "kv"}
    agree(op("MultiHeadAttention", names, num_heads=HEADS), fed, constants)


@pytest.mark.parametrize("count", [2, 3])
def test_attention_of_operands_in_one(count: int) -> None:
    """onnxruntime has kernels for these on other devices: the same as operands apart."""
    parts = {name: random(2, ROWS, WIDTH) for name in "qkv"}
    apart = op("MultiHeadAttention", [*parts], num_heads=HEADS)
    shape = {"y": (2, ROWS, WIDTH)}
    (expected,) = run_module(import_onnx(model_of([apart], parts, {}, shape)), parts).values()
    heads = [x.reshape(2, ROWS, HEADS, 1, -1) for x in [*parts.values()][3 - count :]]
    fed: dict[str, Array] = {"p": np.concatenate(heads, 3)}
    fed = fed if count == 3 else {"q": parts["q"]} | fed
    node = op("MultiHeadAttention", [*fed], num_heads=HEADS)
    (y,) = run_module(import_onnx(model_of([node], fed, {}, shape)), fed).values()
    np.testing.assert_array_equal(y, expected)


def test_attention_with_past_and_bias() -> None:
    fed = {name: random(2, 2, WIDTH) for name in "qkv"} | {"m": random(1, HEADS, 2, 5)}
    fed |= {name: random(2, HEADS, 3, WIDTH // HEADS) for name in ("pk", "pv")}
    names = ["q", "k", "v", "", "", "m", "pk", "pv"]
    outputs = ["y", "nk", "nv"]
    agree(op("MultiHeadAttention", names, *outputs, num_heads=HEADS), fed, {}, outputs)


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("form", ["flat", "heads", "partial", "offset"])
def test_rotary_embedding(form: str, interleaved: int) -> None:
    places = np.array([[0, 2, 4, 6, 7], [1, 2, 3, 4, 5]], np.int64)
    x, turned, given = random(2, ROWS, 16), 8, dict[str, int]()
    if form == "heads":
        x = random(2, HEADS, ROWS, 8)
    elif form == "partial":
        turned, given = 4, {"rotary_embedding_dim": 4, "num_heads": 2}
    elif form == "offset":
        places = np.array([3], np.int64)
    angles = np.outer(np.arange(9), np.arange(1, turned // 2 + 1)).astype(np.float32)
    tables = {"cos": np.cos(angles), "sin": np.sin(angles)}
    node = op("RotaryEmbedding", ["x", "p", "cos", "sin"], interleaved=interleaved, **given)
    agree(node, {"x": x, "p": places}, tables)


def test_embeddings() -> None:
    ids = RNG.integers(0, 9, (2, ROWS)).astype(np.int32)
    kinds = RNG.integers(0, 2, (2, ROWS)).astype(np.int32)
    tables = {"w": random(9, WIDTH), "p": random(7, WIDTH), "s": random(2, WIDTH)}
    tables |= {"g": random(WIDTH), "b": random(WIDTH)}
    node = op("EmbedLayerNormalization", ["i", "k", *tables], "y", "", "sum")
    agree(node, {"i": ids, "k": kinds}, tables, ["y", "sum"])


@pytest.mark.parametrize(("bits", "zeros"), [(4, True), (4, False), (8, False)])
def test_weights_of_few_bits(bits: int, zeros: bool) -> None:
    columns, depth, block = 6, 40, 16
    blocks = -(-depth // block)
    packed = RNG.integers(0, 255, (columns, blocks, block * bits // 8)).astype(np.uint8)
    constants: dict[str, Array] = {"w": packed, "s": random(columns * blocks)}
    if zeros:
        size = columns * -(-blocks * bits // 8)
        constants["z"] = RNG.integers(0, 255, size).astype(np.uint8)
    node = op("MatMulNBits", ["x", *constants], N=columns, K=depth, bits=bits, block_size=block)
    agree(node, {"x": random(3, depth)}, constants, tolerance=1e-4)


def test_group_norm() -> None:
    """No kernel of onnxruntime's on processors: numpy says what it is."""
    x, skip = random(1, 3, 3, 8), random(1, 3, 3, 8)
    constants = {"g": random(8), "b": random(8), "c": random(8)}
    node = op(
        "SkipGroupNorm", ["x", "g", "b", "s", "c"], "y", "z", groups=2, activation=1, epsilon=1e-5
    )
    found = run_module(
        import_onnx(model_of([node], {"x": x, "s": skip}, constants, dict.fromkeys("yz", x.shape))),
        {"x": x, "s": skip},
    )
    total = x + skip + constants["c"]
    parts = total.reshape(9, 2, 4)
    mean, variance = parts.mean((0, 2), keepdims=True), parts.var((0, 2), keepdims=True)
    normal = ((parts - mean) / np.sqrt(variance + 1e-5)).reshape(1, 3, 3, 8)
    normal = normal * constants["g"] + constants["b"]
    y, z = found.values()
    np.testing.assert_allclose(y, normal / (1 + np.exp(-normal)), atol=1e-5)
    np.testing.assert_allclose(z, total, atol=1e-6)


def test_halves_gated_by_gelu() -> None:
    x, bias = random(1, 3, 16), random(16)
    module = import_onnx(
        model_of([op("BiasSplitGelu", ["x", "b"])], {"x": x}, {"b": bias}, {"y": (1, 3, 8)})
    )
    (y,) = run_module(module, {"x": x}).values()
    assert y.shape == (1, 3, 8)
    assert "top.GELU" in {op.name for op in module.walk()}


def quantised(*, uint8: bool) -> tuple[list[onnx.NodeProto], dict[str, Array]]:
    """A convolution, a pool, a sum and a product of integers, and their constants."""
    kind, zero = (np.uint8, 128) if uint8 else (np.int8, 0)
    constants: dict[str, Array] = {
        "s": np.array(0.05, np.float32),
        "z": np.array(zero, kind),
        "w": RNG.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8),
        "ws": (0.002 + RNG.random(4) * 0.002).astype(np.float32),
        "wz": np.zeros(4, np.int8),
        "wb": RNG.integers(-500, 500, 4).astype(np.int32),
        "m": RNG.integers(-127, 128, (16, 5)).astype(np.int8),
        "ms": np.array(0.002, np.float32),
        "mz": np.array(0, np.int8),
        "mb": RNG.integers(-500, 500, 5).astype(np.int32),
        "flat": np.array([1, 16]),
    }
    pair = ["s", "z"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", *pair], ["a"]),
        helper.make_node("QLinearConv", ["a", *pair, "w", "ws", "wz", *pair, "wb"], ["c"]),
        helper.make_node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
        op("QLinearAdd", ["d", *pair, "d", *pair, *pair], "e"),
        op("QLinearSigmoid", ["e", *pair, *pair], "f"),
        op("QLinearConcat", [*pair, "e", *pair, "f", *pair], "g", axis=1),
        helper.make_node("Split", ["g"], ["g1", "g2"], axis=1),
        op("QLinearMul", ["g1", *pair, "g2", *pair, *pair], "h"),
        helper.make_node("Reshape", ["h", "flat"], ["i"]),
        op("QGemm", ["i", *pair, "m", "ms", "mz", "mb", *pair], "j"),
        helper.make_node("DequantizeLinear", ["j", *pair], ["y"]),
    ]
    return nodes, constants


@pytest.mark.parametrize("uint8", [False, True])
def test_ops_on_integers(uint8: bool) -> None:
    nodes, constants = quantised(uint8=uint8)
    fed = {"x": random(1, 3, 6, 6) / 2}
    found = agree(nodes, fed, constants, tolerance=0.1, exact=uint8)
    assert not {name for name in found if "Quantize" in name}


SCALE = {"s": np.array(0.05, np.float32), "z": np.array(128, np.uint8)}
PAIR = ["s", "z"]


@pytest.mark.parametrize(
    "options", [{"opset": 13, "axis": 1}, {"opset": 13}, {"opset": 11, "axis": -1}]
)
def test_softmax_of_integers(options: dict[str, int]) -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", *PAIR], ["a"]),
        op("QLinearSoftmax", ["a", *PAIR, "t", "u"], "b", **options),
        helper.make_node("DequantizeLinear", ["b", "t", "u"], ["y"]),
    ]
    constants = SCALE | {"t": np.array(1 / 256, np.float32), "u": np.array(0, np.uint8)}
    agree(nodes, {"x": random(2, 3, 4)}, constants, tolerance=0.02)


def test_softmax_over_several_axes_is_refused() -> None:
    """As that of opset 11 is from an axis on."""
    nodes = [op("QLinearSoftmax", ["a", *PAIR, *PAIR], "y", opset=11, axis=1)]
    fed = {"a": np.zeros((2, 3, 4), np.uint8)}
    with pytest.raises(TpuError, match="only a softmax over the last axis is supported"):
        import_onnx(model_of(nodes, fed, SCALE, {"y": (2, 3, 4)}))


def test_quantisation_at_run_time() -> None:
    constants = {
        "w": RNG.integers(-127, 128, (8, 6)).astype(np.int8),
        "s": (0.01 + RNG.random(6) * 0.01).astype(np.float32),
        "z": RNG.integers(-5, 6, 6).astype(np.int8),
    }
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["a", "as", "az"]),
        helper.make_node("MatMulInteger", ["a", "w", "az", "z"], ["b"]),
        helper.make_node("Cast", ["b"], ["c"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["as", "s"], ["d"]),
        helper.make_node("Mul", ["c", "d"], ["y"]),
    ]
    agree(nodes, {"x": random(4, 8)}, constants, tolerance=0.02)
    fused = op("DynamicQuantizeMatMul", ["x", "w", "s", "z"])
    agree(fused, {"x": random(4, 8)}, constants, tolerance=0.02)


@pytest.mark.parametrize("columns", [(), (12,)])
def test_a_recurrence_with_weights_of_integers(columns: tuple[int, ...]) -> None:
    constants: dict[str, Array] = {"b": random(1, 24)}
    for name, rows in (("w", 4), ("r", 3)):
        constants[name] = RNG.integers(-99, 100, (1, rows, 12)).astype(np.int8)
        constants[f"{name}s"] = (0.005 + 0.005 * RNG.random((1, *columns))).astype(np.float32)
        constants[f"{name}z"] = np.zeros((1, *columns), np.int8)
    names = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = op("DynamicQuantizeLSTM", names, "y", "", "c", hidden_size=3)
    agree(node, {"x": random(5, 1, 4)}, constants, ["y", "c"], tolerance=0.02)


def test_rows_of_a_quantised_table() -> None:
    constants = {
        "t": RNG.integers(0, 255, (9, 4)).astype(np.uint8),
        "s": np.array(0.1, np.float32),
        "z": np.array(128, np.uint8),
    }
    nodes = [
        helper.make_node("Gather", ["t", "i"], ["r"]),
        helper.make_node("DequantizeLinear", ["r", "s", "z"], ["y"]),
    ]
    agree(nodes, {"i": np.array([3, 1, 8], np.int64)}, constants)


def test_what_is_not_known_is_said() -> None:
    nodes = [op("LongformerAttention", ["x"], "a"), op("Gelu", ["a"])]
    with pytest.raises(TpuError, match=r"this op of domain 'com\.microsoft' is not supported"):
        import_onnx(model_of(nodes, {"x": random(2, 3)}, {}, {"y": (2, 3)}))
