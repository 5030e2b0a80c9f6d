"""From an ONNX model to a `top` module with its weights."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.dialects.input_ranges import INPUT_RANGES, TRUTH, ranges_attribute
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.dialects.weights import Weights, attach
from xdsl_tpu.frontend.onnx.build import GraphBuilder
from xdsl_tpu.frontend.onnx.converters import CONVERTERS, Context
from xdsl_tpu.frontend.onnx.fusions import FUSIONS, run_fusions
from xdsl_tpu.frontend.onnx.graph import Graph, Node
from xdsl_tpu.frontend.onnx.load import (
    InputShapes,
    Source,
    input_types,
    load_model,
    model_problems,
)
from xdsl_tpu.frontend.onnx.problems import (
    Problem,
    UnsupportedNode,
    node_problem,
    raise_problems,
)
from xdsl_tpu.frontend.onnx.qdq import dissolve_pairs
from xdsl_tpu.frontend.onnx.simplify import simplify

IMAGE_INPUT: dict[str, Any] = {
    "channel_format": "nchw",
    "do_preprocess": True,
    "keep_aspect_ratio": False,
    "keep_ratio_mode": "letterbox",
    "mean": (0.0, 0.0, 0.0),
    "pad_type": "center",
    "pad_value": 0,
    "pixel_format": "bgr",
    "scale": (1.0, 1.0, 1.0),
    "yuv_type": "",
}
"""Preprocessing attributes of an image input that is used as it comes."""

LINEAR = frozenset(
    {
        *("BatchNormalization", "Conv", "ConvTranspose", "Einsum", "GRU", "Gemm", "LSTM", "MatMul"),
        *("GroupNormalization", "InstanceNormalization", "LayerNormalization", "RMSNormalization"),
    }
)
"""Ops with weights, of which none may be infinite."""


@dataclass(frozen=True)
class _Converted:
    """A finished function and the weights it names."""

    context: Context
    function: FuncOp


def import_onnx(source: Source, input_shapes: InputShapes | None = None) -> ModuleOp:
    """The model as a module of `top` ops, state TOP_F32, with its weights attached.

    Models in QDQ form give calibrated types and state TOP_CALIBRATED.
    `source` is a path or a loaded model; weights of a stripped model are filled in, those in
    files beside the model are read from there. `input_shapes` gives the sizes of dynamic
    dimensions by input name. Integers are 32-bit integers, all other tensors float32; booleans
    are the numbers 0 and 1.

    Raises TpuError, which lists everything that is wrong: an unreadable or invalid model,
    dynamic dimensions, unsupported nodes, missing or non-finite weights.
    """
    name = _model_name(source)
    model, base = load_model(source)
    problems = list(model_problems(model))
    raise_problems(name, problems)
    graph = _graph(model, base, input_shapes, problems)
    raise_problems(name, problems)
    converted = _convert(graph, problems)
    raise_problems(name, problems)
    return _module(name, converted)


def check_onnx(source: Source, input_shapes: InputShapes | None = None) -> list[Problem]:
    """Everything that keeps the model from being imported; empty when it can be.

    Raises TpuError when the file cannot be read at all.
    """
    model, base = load_model(source)
    problems = list(model_problems(model))
    try:
        graph = _graph(model, base, input_shapes, problems)
    except TpuError as error:
        return [*problems, Problem("model", str(error))]
    if not problems:
        _convert(graph, problems)
    return problems


def _model_name(source: Source) -> str:
    """Name of the module: the file's, or the graph's for a loaded model."""
    if isinstance(source, onnx.ModelProto):
        return source.graph.name or "model"
    return Path(source).stem


def _graph(
    model: onnx.ModelProto, base: Path, shapes: InputShapes | None, problems: list[Problem]
) -> Graph:
    builder = GraphBuilder(model, base, input_types(model, shapes), CONVERTERS.__contains__)
    graph = builder.build()
    problems += builder.problems
    if not builder.problems:
        problems += dissolve_pairs(graph)
        simplify(graph)
        run_fusions(graph, FUSIONS)
        empty = (name for name in graph.outputs if 0 in graph.shape(name))
        problems += [Problem(f"output '{name}'", "it has no numbers") for name in empty]
        graph.prune_all()
    return graph


def _convert(graph: Graph, problems: list[Problem]) -> _Converted:
    """The function of a graph; nodes that cannot be converted are added to `problems`."""
    block = Block()
    context = Context(graph, block)
    for index, name in enumerate(graph.inputs):
        element = INTEGER if graph.types[name].is_integer else f32
        block.insert_arg(TensorType(element, graph.shape(name) or (1,)), index)
        _add_input(context, block, index, name)
    arguments = [argument.type for argument in block.args]
    problems += _convert_nodes(context, graph)
    if problems:
        return _Converted(context, FuncOp("main", ((), ()), Region(Block())))
    results = [context.value(name) for name in graph.outputs]
    block.add_op(ReturnOp(*results))
    signature = FunctionType.from_lists(arguments, [result.type for result in results])
    return _Converted(context, FuncOp("main", signature, Region(block)))


def _convert_nodes(context: Context, graph: Graph) -> Iterator[Problem]:
    for node in graph.nodes:
        if not all(map(context.known, node.inputs)):
            continue  # behind a node that failed
        inputs = [*node.inputs]
        try:
            _refuse_infinite_factors(graph, node)
            CONVERTERS[node.op_type](context, node)
        except (UnsupportedNode, TpuError) as error:
            types = [graph.types.get(name) for name in inputs]
            yield node_problem(node, types, str(error))


def _refuse_infinite_factors(graph: Graph, node: Node) -> None:
    """UnsupportedNode for infinite weights of an op that multiplies by them and adds up.

    Elsewhere an infinity is a number like others: masks are made of it.
    """
    if node.op_type not in LINEAR:
        return
    for name in node.inputs:
        value = graph.constant(name)
        if value is not None and value.dtype.kind == "f" and np.isinf(value).any():
            raise UnsupportedNode(f"constant '{name}' has infinite values")


def _add_input(context: Context, block: Block, index: int, name: str) -> None:
    """A `top.Input`; four-dimensional ones say how an image would be prepared: not at all."""
    argument = block.args[index]
    shape = context.shape(name)
    preprocess: dict[str, Any] = (
        {**IMAGE_INPUT, "resize_dims": shape[2:]} if len(shape) == 4 else {}
    )
    kind = context.type_of(shape, name)
    op = top.InputOp.make(name, [argument], result_types=[kind], regions=(), **preprocess)
    block.add_op(op)
    context.bind(name, op.output)


def _module(name: str, converted: _Converted) -> ModuleOp:
    attributes = {
        "module.chip": "ALL",
        "module.platform": "ONNX",
        "module.state": "TOP_CALIBRATED" if converted.context.graph.ranges else "TOP_F32",
        "module.top_run_mode": "STATIC",
        "module.weight_file": f"{name}_top_f32_all_origin_weight.npz",
    }
    module = ModuleOp(
        [converted.function],
        {key: StringAttr(value) for key, value in attributes.items()},
        StringAttr(name),
    )
    graph = converted.context.graph
    truths = [one for one in graph.inputs if graph.types[one].dtype == "bool"]
    if truths:  # their tensors are float32, like those of any number
        module.attributes[INPUT_RANGES] = ranges_attribute(dict.fromkeys(truths, TRUTH))
    weights = Weights()
    weights.update(converted.context.weights)
    attach(module, weights)
    return module
