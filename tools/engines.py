"""Two ways to see every tensor of a network in top IR: the interpreter, and onnxruntime.

onnxruntime is 20 to 60 times as fast. It runs the ONNX model; tensors of top IR that have no
counterpart there come from the interpreter, op by op, on what onnxruntime gave for their operands.
Names tell which is which: a tensor of top IR is called after an ONNX tensor and its node's type.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import is_none
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.interfaces.shape import known_shape
from xdsl_tpu.dialects.interpreters import TensorInterpreter, run_module
from xdsl_tpu.dialects.interpreters.elements import conform
from xdsl_tpu.dialects.main_function import find_main, input_names
from xdsl_tpu.dialects.names import name_of
from xdsl_tpu.dialects.weights import weights_of
from xdsl_tpu.tools.reference import typed_input

Array = npt.NDArray[Any]
Show = Callable[[str, Array], None]
Engine = Callable[[Mapping[str, Array], Show], None]
"""Runs one sample and shows every named tensor of top IR."""


def interpreter_engine(module: ModuleOp) -> Engine:
    """Tensors by the interpreter."""

    def run(inputs: Mapping[str, Array], show: Show) -> None:
        run_module(module, inputs, trace=show)

    return run


def has_onnxruntime() -> bool:
    """Whether onnxruntime is installed."""
    return find_spec("onnxruntime") is not None


def onnxruntime_engine(module: ModuleOp, model: Path) -> Engine:
    """Tensors by onnxruntime where the ONNX model has them; `module` is its canonical top IR."""
    session, counterparts = _session(module, model)
    wanted = sorted(set(counterparts.values()))
    types = {one.name: one.type for one in session.get_inputs()}

    def run(inputs: Mapping[str, Array], show: Show) -> None:
        feeds = {name: typed_input(inputs, name, kind) for name, kind in types.items()}
        try:  # asked for nothing, onnxruntime gives all outputs
            given: list[Array] = session.run(wanted, feeds) if wanted else []
            values = dict(zip(wanted, given, strict=True))
        except Exception as error:  # onnxruntime raises many types, none of them documented
            raise TpuError(f"{model}: onnxruntime cannot run it: {error}") from error
        _complete(module, inputs, {name: values[t] for name, t in counterparts.items()}, show)

    return run


def _session(module: ModuleOp, model: Path) -> tuple[Any, dict[str, str]]:
    """A session that gives all tensors, and the ONNX tensor of each top tensor that has one."""
    onnx: Any = import_module("onnx")
    onnxruntime: Any = import_module("onnxruntime")
    from xdsl_tpu.frontend.onnx import is_stripped, refill
    from xdsl_tpu.frontend.onnx.load import load_model

    loaded = load_model(model)[0]
    full = onnx.ModelProto()
    full.CopyFrom(refill(loaded) if is_stripped(loaded) else onnx.load(str(model)))
    tensors = {output for node in full.graph.node for output in node.output}
    counterparts: dict[str, str] = {}
    for op in find_main(module)[1].body.block.ops:
        for result in op.results:
            name = name_of(result) or ""
            source = name.rpartition("_")[0]
            if source in tensors and not isinstance(op, _WITHOUT_VALUES):
                counterparts[name] = source
    present = {output.name for output in full.graph.output}
    for tensor in sorted(set(counterparts.values()) - present):
        full.graph.output.append(onnx.ValueInfoProto(name=tensor))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            full.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise TpuError(f"{model}: onnxruntime cannot load it: {error}") from error
    return session, counterparts


_CONSTANT = (top.WeightOp, top.NoneOp)
_WITHOUT_VALUES = (top.InputOp, *_CONSTANT)


def _complete(
    module: ModuleOp, inputs: Mapping[str, Array], known: Mapping[str, Array], show: Show
) -> None:
    """Show all tensors of top IR in order, interpreting those that are not known."""
    inner, main = find_main(module)
    interpreter = TensorInterpreter.of(inner, weights_of(module))
    interpreter.dying = {}
    values: dict[SSAValue, Any] = {}
    for argument, name in zip(main.args, input_names(main), strict=True):
        values[argument] = conform(np.asarray(inputs[name]), argument.type)
    for op in main.body.block.ops:
        if not op.results:
            continue
        results = _known_results(op, known)
        if results is None:
            results = interpreter.run_op(op, tuple(values[operand] for operand in op.operands))
        for result, value in zip(op.results, results, strict=True):
            values[result] = value
            name = name_of(result)
            if name is not None and value is not None and not isinstance(op, _CONSTANT):
                show(name, value)


def _known_results(op: Operation, known: Mapping[str, Array]) -> tuple[Array | None, ...] | None:
    """What onnxruntime gave for all results that are there; masks and ids in the type of top IR,
    which has numbers for them where ONNX has truth values."""
    found: list[Array | None] = []
    for result in op.results:
        if is_none(result):
            found.append(None)
            continue
        value, shape = known.get(name_of(result) or ""), known_shape(result.type)
        if value is None or shape is None or value.size != np.prod(shape):
            return None
        found.append(conform(value.reshape(shape), result.type))
    return tuple(found) or None
