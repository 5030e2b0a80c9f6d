"""QDQ models: what onnxruntime quantised keeps its scales and integers."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from tests.tools.small_models import cnn, transformer
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects import tpu
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.quant import UniformType
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.pipelines import Settings, run_stage
from xdsl_tpu.passes.tensors import element_of

Array = npt.NDArray[Any]
RUNTIME: Any = onnxruntime


def quantised(model: onnx.ModelProto, folder: Path, **options: Any) -> onnx.ModelProto:
    """The model in QDQ form by onnxruntime: symmetric int8, filters per channel."""
    tool: Any = import_module("onnxruntime.quantization")
    (folder / "float.onnx").write_bytes(model.SerializeToString())
    (source,) = model.graph.input
    shape = [d.dim_value for d in source.type.tensor_type.shape.dim]
    rng = np.random.default_rng(0)
    samples = [{source.name: rng.standard_normal(shape).astype(np.float32)} for _ in range(4)]

    class Reader(tool.CalibrationDataReader):
        def __init__(self) -> None:
            self.left: Iterator[dict[str, Array]] = iter(samples)

        def get_next(self) -> dict[str, Array] | None:
            return next(self.left, None)

    tool.quantize_static(
        str(folder / "float.onnx"),
        str(folder / "qdq.onnx"),
        Reader(),
        quant_format=tool.QuantFormat.QDQ,
        per_channel=True,
        activation_type=tool.QuantType.QInt8,
        weight_type=tool.QuantType.QInt8,
        extra_options={"ActivationSymmetric": True, "WeightSymmetric": True, **options},
    )
    return onnx.ModelProto.FromString((folder / "qdq.onnx").read_bytes())


def lowered(model: onnx.ModelProto, mode: str = "INT8") -> ModuleOp:
    module = import_onnx(model)
    for stage in ("top", "tpu"):
        run_stage(module, stage, Settings(mode))
    return module


def reference(model: onnx.ModelProto, inputs: dict[str, Array]) -> list[Array]:
    options = RUNTIME.SessionOptions()
    # Without it sums of 8-bit products saturate on processors that have no instruction for them.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = RUNTIME.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return [np.asarray(value) for value in session.run(None, inputs)]


Sources = dict[str, Callable[[], onnx.ModelProto]]
MODELS: Sources = {"cnn": cnn, "transformer": transformer}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(MODELS))
def test_results_are_those_of_onnxruntime_within_a_few_steps(name: str, tmp_path: Path) -> None:
    model = quantised(MODELS[name](), tmp_path)
    (source,) = model.graph.input
    shape = [d.dim_value for d in source.type.tensor_type.shape.dim]
    x = np.random.default_rng(9).standard_normal(shape).astype(np.float32)
    expected = reference(model, {source.name: x})
    module = lowered(model)
    found = list(run_module(module, [x]).values())
    for ours, theirs in zip(found, expected, strict=True):
        step = float(np.abs(theirs).max()) / 127
        # A transformer has eight roundings in a row, and norms that magnify them.
        assert np.abs(ours - theirs).max() <= (6 if name == "transformer" else 2) * step
        cosine = float(np.vdot(ours, theirs) / np.linalg.norm(ours) / np.linalg.norm(theirs))
        assert cosine > 0.997
    assert sum(isinstance(element_of(op.results[0]), UniformType)
               for op in module.walk() if op.name.startswith("tpu.")) > 4  # fmt: skip


def clipped() -> onnx.ModelProto:
    """Two convolutions of large filters, each with a ReLU6."""
    rng = np.random.default_rng(5)
    constants = {
        "w0": rng.standard_normal((8, 3, 3, 3)),
        "w1": rng.standard_normal((4, 8, 1, 1)),
        "zero": np.array(0.0),
        "six": np.array(6.0),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"]),
        helper.make_node("Clip", ["a", "zero", "six"], ["b"]),
        helper.make_node("Conv", ["b", "w1"], ["c"]),
        helper.make_node("Clip", ["c", "zero", "six"], ["d"]),
        helper.make_node("GlobalAveragePool", ["d"], ["y"]),
    ]
    kinds = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 3, 8, 8]), ("y", [1, 4, 1, 1]))
    ]
    stored = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "clipped", kinds[:1], kinds[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("net", [cnn, clipped])
@pytest.mark.parametrize(("mode", "least"), [("F32", 0.998), ("INT8", 0.997)])
def test_a_clip_that_integers_stand_for_is_put_back(
    mode: str, least: float, net: Callable[[], onnx.ModelProto], tmp_path: Path
) -> None:
    """onnxruntime's tool takes a ReLU or ReLU6 away where integers begin with 0."""
    model = quantised(net(), tmp_path, ActivationSymmetric=False)
    assert all(node.op_type not in ("Relu", "Clip") for node in model.graph.node)
    (source,) = model.graph.input
    shape = [d.dim_value for d in source.type.tensor_type.shape.dim]
    x = np.random.default_rng(9).standard_normal(shape).astype(np.float32)
    expected = reference(model, {source.name: x})
    found = run_module(lowered(model, mode), [x]).values()
    for ours, theirs in zip(found, expected, strict=True):
        cosine = float(np.vdot(ours, theirs) / np.linalg.norm(ours) / np.linalg.norm(theirs))
        assert cosine > least


@pytest.mark.filterwarnings("ignore")
def test_filters_keep_their_integers_and_scales(tmp_path: Path) -> None:
    model = quantised(cnn(), tmp_path)
    stored = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    module = lowered(model)
    weights = weights_of(module)
    kept = 0
    for op in module.walk():
        if isinstance(op, tpu.Conv2DOp):
            integers = weights[name_of(op.filter) or ""]
            assert any(
                value.dtype == np.int8 and value.size == integers.size
                and np.array_equal(value.reshape(integers.shape), integers)
                for value in stored.values()
            )  # fmt: skip
            kept += 1
    assert kept == 3


def pair(kind: int, zero: int, scale: float = 0.5, relu: bool = False) -> onnx.ModelProto:
    """x -> Q -> DQ -> MulConst 2 (-> Q -> DQ) of one type and zero point."""
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    constants = [
        numpy_helper.from_array(np.array(scale, np.float32), "s"),
        numpy_helper.from_array(np.array(zero, dtype), "z"),
        numpy_helper.from_array(np.array([2.0], np.float32), "two"),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node("Mul", ["xd", "two"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 4)) for n in "xy"]
    graph = helper.make_graph(nodes, "pair", values[:1], values[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize(
    ("kind", "zero", "bounds"),
    [
        (TensorProto.INT8, 0, "-63.5"),
        (TensorProto.UINT8, 128, "-63.5"),
        (TensorProto.UINT8, 0, "0.0"),
        (TensorProto.UINT8, 100, "-50.0"),
    ],
)
def test_ranges_of_types_and_zero_points(kind: int, zero: int, bounds: str) -> None:
    module = import_onnx(pair(kind, zero))
    text = str(next(op for op in module.walk() if op.name == "top.Input").results[0].type)
    assert "calibrated" in text
    assert float(text.split("f32<")[1].split(":")[0]) == float(bounds)
    assert "QuantizeLinear" not in str(module)


def test_other_formats_ignore_the_pairs() -> None:
    module = lowered(pair(TensorProto.INT8, 0), "F16")
    assert "!quant" not in str(module)


def test_other_types_are_refused() -> None:
    with pytest.raises(TpuError, match="quantisation to int4 is not supported, only to float8"):
        import_onnx(pair(TensorProto.INT4, 0))


@pytest.mark.parametrize(
    ("kind", "least"),
    [(TensorProto.INT16, -9.0), (TensorProto.UINT16, 0.0), (TensorProto.FLOAT8E4M3FN, -9.0)],
)
def test_wide_types_are_floats(kind: int, least: float) -> None:
    """Integers of 16 bits that begin with 0 are a ReLU all the same."""
    model = pair(kind, 0)
    model.graph.node.insert(0, helper.make_node("Neg", ["x"], ["negated"], "negated"))
    model.graph.node[1].input[0] = "negated"
    x = np.array([[-9.0, -0.5, 0.5, 9.0]], np.float32)
    module = import_onnx(model)
    assert "!quant" not in str(module)
    (found,) = run_module(module, [x]).values()
    assert np.array_equal(found, 2 * np.maximum(-x, least))


def test_integers_used_as_they_are_are_refused() -> None:
    model = pair(TensorProto.INT8, 0)
    model.graph.output.append(helper.make_tensor_value_info("xq", TensorProto.INT8, (1, 4)))
    with pytest.raises(TpuError, match="only pairs are supported"):
        import_onnx(model)


@pytest.mark.parametrize("kind", ["Max", "Min", "Pad"])
def test_constants_beyond_the_range_of_what_they_meet(kind: str) -> None:
    """Results without a pair of their own hold them all the same."""
    least = -99.0 if kind == "Min" else 99.0
    constants = [
        numpy_helper.from_array(np.array(0.01, np.float32), "s"),
        numpy_helper.from_array(np.array(0, np.int8), "z"),
        numpy_helper.from_array(np.array(least, np.float32), "c"),
        numpy_helper.from_array(np.array([0, 1, 0, 1], np.int64), "pads"),
    ]
    given = ["xd", "pads", "c"] if kind == "Pad" else ["xd", "c"]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"),
        helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        helper.make_node(kind, given, ["yd"]),
        helper.make_node("Abs", ["yd"], ["y"]),
    ]
    sizes = {"x": (1, 4), "y": (1, 6) if kind == "Pad" else (1, 4)}
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in sizes.items()]
    graph = helper.make_graph(nodes, "beyond", values[:1], values[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x = np.array([[-1.0, -0.25, 0.5, 1.0]], np.float32)
    (expected,) = reference(model, {"x": x})
    (found,) = run_module(lowered(model), [x]).values()
    assert np.abs(found - expected).max() < 99 / 127


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (TensorProto.INT4, {"axis": 1, "domain": "com.microsoft"}),
        (TensorProto.INT4, {"axis": 0, "block_size": 16}),
        (TensorProto.INT8, {"axis": 0, "block_size": 16}),
    ],
)
def test_weights_of_few_bits_and_in_blocks(kind: int, options: dict[str, Any]) -> None:
    """onnxruntime's own op has no opset, and takes 4 bits in all of them."""
    blocks, rng = "block_size" in options, np.random.default_rng(3)
    shape = (2, 16) if blocks else (16,)
    w, s = rng.integers(-8, 8, (32, 16)), rng.uniform(0.1, 1, shape).astype(np.float32)
    z = rng.integers(-3, 3, shape)
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    arrays = {"w": w.astype(dtype), "s": s, "z": z.astype(dtype)}
    constants = [numpy_helper.from_array(value, name) for name, value in arrays.items()]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["d"], "d", **options),
        helper.make_node("MatMul", ["x", "d"], ["y"], "y"),
    ]
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, (1, size))
        for name, size in (("x", 32), ("y", 16))
    ]
    graph = helper.make_graph(nodes, "weighted", values[:1], values[1:], constants)
    opsets = [
        helper.make_opsetid("", 21 if blocks else 17),
        helper.make_opsetid("com.microsoft", 1),
    ]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    x = rng.standard_normal((1, 32)).astype(np.float32)
    if blocks:
        s, z = np.repeat(s, 16, 0), np.repeat(z, 16, 0)
    (found,) = run_module(import_onnx(model), [x]).values()
    assert np.allclose(found, x @ ((w - z) * s), rtol=1e-4, atol=1e-4)


def in_front_of_products(scale: float = 0.05) -> onnx.ModelProto:
    """Two convolutions with integers only in front of them, a ReLU and a sum between them."""
    rng = np.random.default_rng(5)
    stored = [
        numpy_helper.from_array(np.array(scale, np.float32), "s"),
        numpy_helper.from_array(np.array(0, np.int8), "z"),
    ]
    stored += [
        numpy_helper.from_array((0.2 * rng.standard_normal((4, 4, 3, 3))).astype(np.float32), n)
        for n in ("w0", "w1", "w2")
    ]
    nodes = list[onnx.NodeProto]()
    for place, (x, relu) in enumerate((("x", True), ("a", False), ("b", False))):
        y = "ab"[place : place + 1] or "y"
        nodes.append(helper.make_node("QuantizeLinear", [x, "s", "z"], [f"{x}_q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{x}_q", "s", "z"], [f"{x}_d"]))
        made = y if y == "y" else f"{y}_conv"
        nodes.append(helper.make_node("Conv", [f"{x}_d", f"w{place}"], [made], pads=[1] * 4))
        if y != "y":
            summed = made if relu else f"{y}_sum"
            if not relu:
                nodes.append(helper.make_node("Add", [made, "x_d"], [summed]))
            nodes.append(helper.make_node("Relu", [summed], [y]))
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 4, 8, 8)) for n in "xy"]
    graph = helper.make_graph(nodes, "front", values[:1], values[1:], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_what_lies_between_products_and_integers_gets_ranges_of_its_own() -> None:
    model = in_front_of_products()
    x = np.random.default_rng(9).standard_normal((1, 4, 8, 8)).astype(np.float32)
    (expected,) = reference(model, {"x": x})
    module = lowered(model)
    made = (tpu.AddOp, tpu.Conv2DOp)
    results = [op.results[0] for op in module.walk() if isinstance(op, made)]
    floats = [name_of(one) for one in results if not isinstance(element_of(one), UniformType)]
    assert len(results) == 4
    assert all(name is not None and name.startswith("y") for name in floats)
    (found,) = run_module(module, [x]).values()
    cosine = float(np.vdot(found, expected) / np.linalg.norm(found) / np.linalg.norm(expected))
    assert cosine > 0.998


def test_pairs_within_a_function_do_not_part_it() -> None:
    """Erf(x) + 1 is never negative, so that integers from 0 on cut nothing off."""
    numbers = {"half": 0.5, "root": 2**-0.5, "one": 1.0, "s": 0.02}
    stored = [numpy_helper.from_array(np.array(v, np.float32), k) for k, v in numbers.items()]
    stored += [numpy_helper.from_array(np.array(z, np.uint8), f"z{z}") for z in (0, 128)]
    nodes = list[onnx.NodeProto]()

    def add(kind: str, inputs: list[str], name: str, zero: int = 128) -> str:
        nodes.append(helper.make_node(kind, inputs, [name], name))
        nodes.append(helper.make_node("QuantizeLinear", [name, "s", f"z{zero}"], [f"{name}_q"]))
        pair = [f"{name}_q", "s", f"z{zero}"]
        nodes.append(helper.make_node("DequantizeLinear", pair, [f"{name}_d"]))
        return f"{name}_d"

    x = add("Tanh", ["x"], "given")
    erf = add("Erf", [add("Mul", [x, "root"], "scaled")], "erf")
    product = add("Mul", [x, add("Add", [erf, "one"], "shifted", 0)], "product")
    nodes.append(helper.make_node("Mul", [product, "half"], ["y"], "y"))
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (1, 8)) for n in "xy"]
    graph = helper.make_graph(nodes, "gelu", values[:1], values[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    module = import_onnx(model)
    run_stage(module, "top", Settings("F16"))
    assert [op.name for op in module.walk() if op.name.startswith("top.")] == [
        "top.Input",
        "top.Tanh",
        "top.GELU",
    ]


def test_a_range_stays_when_what_has_it_goes() -> None:
    stored = [
        numpy_helper.from_array(np.array(0.1, np.float32), "s"),
        numpy_helper.from_array(np.array(0, np.int8), "z"),
        numpy_helper.from_array(np.eye(8, dtype=np.float32), "w"),
        numpy_helper.from_array(np.array([4, 8], np.int64), "shape"),
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"]),
        helper.make_node("Reshape", ["product", "shape"], ["same"]),
        helper.make_node("QuantizeLinear", ["same", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (4, 8)) for n in "xy"]
    graph = helper.make_graph(nodes, "stays", values[:1], values[1:], stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    module = import_onnx(model)
    run_stage(module, "top", Settings("INT8"))
    module.verify()
    (product,) = (op for op in module.walk() if op.name == "top.MatMul")
    assert "calibrated" in str(product.results[0].type)
