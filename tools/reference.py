"""What a model should give: onnxruntime on ONNX models, the interpreter on IR."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.text import read_module
from xdsl_tpu.tools.files import require_file
from xdsl_tpu.tools.module_weights import attach_to_model

Array = npt.NDArray[Any]


def reference_outputs(model: Path, inputs: Mapping[str, Array]) -> tuple[str, list[Array]]:
    """The name of the reference and its outputs in the model's order.

    Raises TpuError when the model cannot be run on these inputs.
    """
    require_file(model)
    if model.suffix == ".mlir":
        from xdsl_tpu.dialects.interpreters import run_module

        module = read_module(model)
        attach_to_model(module, model)
        return "interpreter", list(run_module(module, dict(inputs)).values())
    return "onnxruntime", _onnxruntime(model, inputs)


def _onnxruntime(model: Path, inputs: Mapping[str, Array]) -> list[Array]:
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError:
        raise TpuError(
            "--compare with an ONNX model needs onnxruntime: pip install 'xdsl-tpu[reference]'"
        ) from None
    from xdsl_tpu.frontend.onnx import is_stripped, refill
    from xdsl_tpu.frontend.onnx.load import load_model

    loaded = load_model(model)[0]
    # From its path, onnxruntime finds the weights a model keeps in files of their own.
    source = refill(loaded).SerializeToString() if is_stripped(loaded) else str(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Without it sums of 8-bit products saturate on processors that have no instruction for them.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        feeds = {i.name: typed_input(inputs, i.name, i.type) for i in session.get_inputs()}
        return [np.asarray(value) for value in session.run(None, feeds)]
    except TpuError:
        raise
    except Exception as error:  # onnxruntime raises many types, none of them documented
        raise TpuError(f"{model}: onnxruntime cannot run it: {error}") from error


_TYPES: dict[str, Any] = {
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(uint8)": np.uint8,
    "tensor(bool)": np.bool_,
    "tensor(double)": np.float64,
}


def typed_input(inputs: Mapping[str, Array], name: str, kind: str) -> Array:
    """An input as onnxruntime wants it, which calls its type `kind`; TpuError if it is missing."""
    if name not in inputs:
        raise TpuError(
            f"the reference has an input '{name}', the program has none of that name: "
            "was it compiled from this model?"
        )
    return inputs[name].astype(_TYPES.get(kind, np.float32))
