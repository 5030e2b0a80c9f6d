"""An ONNX model compiled in any number format and run on the machine model, or by onnxruntime."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from xdsl_tpu.backend.chip import load_chip
from xdsl_tpu.backend.codegen import generate
from xdsl_tpu.backend.execute import run_program
from xdsl_tpu.dialects.interpreters import run_module
from xdsl_tpu.dialects.module_info import module_info
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.frontend.onnx import import_onnx
from xdsl_tpu.passes.calibration.table import CalibrationTable, Threshold
from xdsl_tpu.passes.pipelines import FLOAT, Quantization, Settings, lower, run_stage

Array = npt.NDArray[Any]
Feeds = dict[str, Array]

CHIP = load_chip()
MODES = ("F32", "F16", "BF16", "INT8")
KINDS = {"int64": TensorProto.INT64, "float32": TensorProto.FLOAT, "bool": TensorProto.BOOL}


def model(
    nodes: list[onnx.NodeProto], feeds: Feeds, constants: Feeds, outputs: dict[str, str]
) -> onnx.ModelProto:
    """A model whose inputs look like `feeds` and whose outputs are of the given kinds."""
    free = _model(nodes, feeds, constants, outputs, dict.fromkeys(outputs))
    shapes = [value.shape for value in expected(free, feeds)]
    return _model(nodes, feeds, constants, outputs, dict(zip(outputs, shapes, strict=True)))


def _model(
    nodes: list[onnx.NodeProto],
    feeds: Feeds,
    constants: Feeds,
    outputs: dict[str, str],
    shapes: Mapping[str, tuple[int, ...] | None],
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info(name, KINDS[value.dtype.name], value.shape)
            for name, value in feeds.items()
        ],
        [
            helper.make_tensor_value_info(name, KINDS[kind], shapes[name])
            for name, kind in outputs.items()
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def expected(made: onnx.ModelProto, feeds: Feeds) -> list[Array]:
    """What onnxruntime computes."""
    runtime: Any = onnxruntime  # it has no types
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(
        made.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return list(session.run(None, feeds))


def found(made: onnx.ModelProto, feeds: Feeds, mode: str, folder: Path) -> list[Array]:
    """What the program computes; in INT8 with the ranges of these inputs."""
    module = import_onnx(made)
    quantization = Quantization(str(_table(made, feeds, folder))) if mode == "INT8" else FLOAT
    lower(module, mode, CHIP.instruction_set, quantization=quantization)
    program = generate(module, weights_of(module), CHIP)
    return list(run_program(program, CHIP, feeds).values())


def notes(made: onnx.ModelProto, mode: str) -> list[str]:
    """What the compiler says about a model."""
    module = import_onnx(made)
    lower(module, mode, CHIP.instruction_set)
    return module_info(module).notes


def cosine(a: Array, b: Array) -> float:
    x, y = a.astype(np.float64).ravel(), b.astype(np.float64).ravel()
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def _table(made: onnx.ModelProto, feeds: Feeds, folder: Path) -> Path:
    module = import_onnx(made)
    run_stage(module, "top", Settings("F32", CHIP.instruction_set))
    seen: dict[str, Threshold] = {}

    def observe(name: str, value: Array) -> None:
        most = float(np.abs(value).max()) or 1.0
        seen[name] = Threshold(most, float(value.min()), float(value.max()) or 1.0)

    run_module(module, feeds, trace=observe)
    path = folder / "table"
    path.write_text(CalibrationTable(seen).text(), encoding="utf-8")
    return path
