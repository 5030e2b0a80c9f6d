"""Whole networks: the vendor's files of two stages give the same values, imports those of ONNX.

The files carry no weights. Random ones are drawn for the earlier stage and, for the later one,
brought into the chip's layout: shapes the vendor wrote must come out, and the same numbers.
"""

import gzip
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import OpResult, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.interpreters.elements import element_type, static_shape
from xdsl_tpu.dialects.interpreters.layouts import reorder_conv_filter
from xdsl_tpu.dialects.lanes import USUAL_ROW
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.text import parse_module
from xdsl_tpu.frontend.onnx import import_onnx

Array = npt.NDArray[Any]
IR = Path(__file__).parents[1] / "data" / "ir"


def read(name: str) -> ModuleOp:
    return parse_module(gzip.decompress((IR / f"{name}.mlir.gz").read_bytes()).decode(), name)


def weights_in(module: ModuleOp) -> dict[str, top.WeightOp]:
    return {name_of(op) or "": op for op in module.walk() if isinstance(op, top.WeightOp)}


def shape_of(value: SSAValue) -> tuple[int, ...]:
    shape = static_shape(value.type)
    assert shape is not None
    return shape


def random_weights(module: ModuleOp) -> dict[str, Array]:
    """Numbers that keep activations near 1: spread by the square root of what is summed."""
    rng = np.random.default_rng(7)
    drawn: dict[str, Array] = {}
    for name, op in weights_in(module).items():
        shape = shape_of(op.output)
        summed = max(int(np.prod(shape[1:])), shape[-2] if len(shape) > 1 else 1)
        values = rng.standard_normal(shape) / np.sqrt(summed)
        half = str(element_type(op.output.type)) == "f16"
        drawn[name] = values.astype(np.float16 if half else np.float32)
    return drawn


def source(value: SSAValue) -> top.WeightOp | None:
    """The weight behind a value, through a load into a group."""
    while isinstance(value, OpResult) and isinstance(value.op, tpu.LoadOp):
        value = value.op.input
    return value.op if isinstance(value, OpResult) and isinstance(value.op, top.WeightOp) else None


def convolutions(module: ModuleOp) -> dict[str, tpu.Conv2DOp]:
    return {name_of(op) or "": op for op in module.walk() if isinstance(op, tpu.Conv2DOp)}


def in_chip_layout(plain: ModuleOp, weights: dict[str, Array], final: ModuleOp) -> dict[str, Array]:
    """The weights of `plain` under the names, types and layouts `final` wants."""
    moved: dict[str, Array] = {}
    before = convolutions(plain)
    for name, conv in convolutions(final).items():
        filter_, bias = source(conv.filter), source(conv.bias)
        old_filter, old_bias = source(before[name].filter), source(before[name].bias)
        assert filter_ is not None
        assert old_filter is not None
        reordered = reorder_conv_filter(
            weights[name_of(old_filter) or ""],
            2,
            USUAL_ROW,
            conv.group.value.data,
            conv.use_3ic_optimize.value.data,
        )
        assert reordered.shape == shape_of(filter_.output), name
        moved[name_of(filter_) or ""] = reordered
        if bias is not None and old_bias is not None:
            half = str(element_type(bias.output.type)) == "f16"
            values = weights[name_of(old_bias) or ""]
            moved[name_of(bias) or ""] = values.astype(np.float16 if half else np.float32)
    return {name: moved.get(name, weights.get(name, np.empty(0))) for name in weights_in(final)}


@pytest.mark.parametrize("network", ["mobilenetv2_100", "resnet50", "swin_t"])
def test_the_final_file_computes_what_the_tpu_file_does(network: str) -> None:
    plain = read(f"{network}_bm1684x_f16_tpu_opt")
    final = read(f"{network}_bm1684x_f16_final")
    weights = random_weights(plain)
    image = np.random.default_rng(1).standard_normal((1, 3, 224, 224)).astype(np.float32)
    seen: dict[str, Array] = {}
    expected = run_module(plain, [image], weights, trace=seen.__setitem__)
    moved = in_chip_layout(plain, weights, final)
    again: dict[str, Array] = {}
    found = run_module(final, {"input": image}, moved, trace=again.__setitem__)
    assert found.keys() == expected.keys() == {"logits_Gemm_f32"}
    (ours,), (theirs,) = found.values(), expected.values()
    assert np.std(theirs) > 1e-3
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-3 * np.abs(theirs).max())
    common = [name for name in again if name in seen and again[name].shape == seen[name].shape]
    assert len(common) > 50
    for name in common:
        error = np.abs(again[name] - seen[name]).max()
        assert error <= 4e-3 * np.abs(seen[name]).max(), name


def mixed_model() -> onnx.ModelProto:
    """A small network of convolution, attention-like products and normalisation."""
    rng = np.random.default_rng(3)

    def constant(name: str, *shape: int) -> onnx.TensorProto:
        return numpy_helper.from_array(rng.standard_normal(shape).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("Reshape", ["r", "tokens"], ["t"]),
        helper.make_node("Transpose", ["t"], ["n"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["n", "t"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"], axis=-1),
        helper.make_node("MatMul", ["p", "n"], ["a"]),
        helper.make_node("Add", ["a", "n"], ["sum"]),
        helper.make_node("LayerNormalization", ["sum", "g", "h"], ["norm"], axis=-1),
        helper.make_node("Gemm", ["flat", "fc", "fb"], ["y"], transB=1),
    ]
    nodes.insert(9, helper.make_node("ReduceMean", ["norm"], ["flat"], axes=[1], keepdims=0))
    constants = [
        constant("w", 8, 3, 3, 3),
        constant("b", 8),
        numpy_helper.from_array(np.array([1, 8, 49]), "tokens"),
        constant("g", 8),
        constant("h", 8),
        constant("fc", 5, 8),
        constant("fb", 5),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 14, 14])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(nodes, "mixed", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model


def test_an_imported_network_computes_what_onnxruntime_does() -> None:
    model = mixed_model()
    x = np.random.default_rng(4).standard_normal((1, 3, 14, 14)).astype(np.float32)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    expected = cast(Any, session).run(None, {"x": x})[0]
    (found,) = run_module(import_onnx(model), {"x": x}).values()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
