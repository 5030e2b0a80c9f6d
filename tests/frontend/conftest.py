"""One check for all converters: the imported model computes what onnxruntime computes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from xdsl.dialects.builtin import ModuleOp

from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.frontend.onnx import import_onnx

Array = npt.NDArray[Any]

RUNTIME: Any = onnxruntime  # its functions are not typed


def build(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Array],
    constants: Mapping[str, Array],
    outputs: Sequence[str],
    opset: int,
) -> onnx.ModelProto:
    """A model whose inputs have the types of the given arrays; outputs of any type."""
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in inputs.items()
    ]
    graph = helper.make_graph(
        nodes,
        "unit",
        declared,
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return with_output_types(model)


def with_output_types(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with the types of its outputs inferred, as exporters write them."""
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    for output in inferred.graph.output:
        if not output.type.tensor_type.elem_type:  # ONNX has no rule for GroupNormalization
            like = inferred.graph.input[0].type
            output.type.CopyFrom(like)
    return inferred


def run_reference(model: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """What onnxruntime computes."""
    session = RUNTIME.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return [np.asarray(value) for value in session.run(None, dict(inputs))]


@pytest.fixture
def reference() -> Callable[[onnx.ModelProto, Mapping[str, Array]], list[Array]]:
    """Run a model on onnxruntime."""
    return run_reference


@pytest.fixture
def model_of() -> Callable[..., onnx.ModelProto]:
    """`model_of(nodes, inputs, constants, outputs, opset)`: a model of these nodes."""
    return build


@pytest.fixture
def agree() -> Callable[..., ModuleOp]:
    """`agree(nodes, inputs, constants={}, outputs=["y"], opset=17)`: import, run, compare."""

    def check(
        nodes: onnx.NodeProto | Sequence[onnx.NodeProto],
        inputs: Mapping[str, Array],
        constants: Mapping[str, Array] | None = None,
        outputs: Sequence[str] = ("y",),
        opset: int = 17,
        tolerance: float = 2e-5,
    ) -> ModuleOp:
        sequence = [nodes] if isinstance(nodes, onnx.NodeProto) else nodes
        model = build(sequence, inputs, constants or {}, outputs, opset)
        expected = run_reference(model, inputs)
        module = import_onnx(model)
        module.verify()
        fed = {name: value.reshape(value.shape or (1,)) for name, value in inputs.items()}
        actual = list(run_module(module, fed).values())
        assert len(actual) == len(expected)
        for ours, theirs in zip(actual, expected, strict=True):
            assert ours.shape == (theirs.shape or (1,))
            scale = max(1.0, float(np.abs(theirs.astype(np.float64)).max(initial=0.0)))
            error = np.abs(ours.astype(np.float64).reshape(theirs.shape) - theirs)
            assert float(error.max(initial=0.0)) <= tolerance * scale
        return module

    return check
