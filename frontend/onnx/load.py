"""Opening a model: file or message, validity, opset, and the shapes of its inputs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

import onnx
from google.protobuf.message import DecodeError
from onnx import checker, defs, inliner, version_converter

from xdsl_tpu.dialects.errors import TpuError
from xdsl_tpu.frontend.onnx.contrib import with_domains
from xdsl_tpu.frontend.onnx.graph import NO_NUMBERS, ValueType, content
from xdsl_tpu.frontend.onnx.order import order_problems
from xdsl_tpu.frontend.onnx.problems import Problem
from xdsl_tpu.frontend.onnx.protos import UNNAMED, dimensions, dtype_name

OLDEST_OPSET = 11
"""Models written for an older one are converted to `RAISED_OPSET` when they are opened."""

RAISED_OPSET = 13

NEWEST_OPSET = 28
"""The newest one tested; newer models are taken when all their ops are known."""

SMALLEST_IR_VERSION = 4
"""Before it, initializers had to be inputs as well."""

InputShapes: TypeAlias = Mapping[str, Sequence[int]]
Source: TypeAlias = str | Path | onnx.ModelProto


def load_model(source: Source) -> tuple[onnx.ModelProto, Path]:
    """The model, without its external data, and the directory that data is in.

    Raises TpuError when the file is missing or not an ONNX model.
    """
    if isinstance(source, onnx.ModelProto):
        return _current(source, source.graph.name or "model"), Path()
    path = Path(source)
    try:
        model = onnx.ModelProto.FromString(path.read_bytes())
    except FileNotFoundError as error:
        raise TpuError(f"{path}: there is no such file") from error
    except (DecodeError, OSError) as error:
        raise TpuError(f"{path}: not a readable ONNX model ({error})") from error
    if not model.opset_import and not model.graph.node:
        raise TpuError(f"{path}: not an ONNX model (it has no operator set and no nodes)")
    return _current(model, str(path)), path.parent


def _current(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model without functions of its own, in an opset that is read.

    Raises TpuError when ONNX has no way to convert an older model.
    """
    model = inlined(model)
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if not versions or max(versions) >= OLDEST_OPSET:
        return with_domains(model, max(versions, default=0))
    current = onnx.ModelProto()
    current.CopyFrom(model)
    current.ir_version = max(model.ir_version, SMALLEST_IR_VERSION)
    try:
        return version_converter.convert_version(current, RAISED_OPSET)
    except (version_converter.ConvertError, RuntimeError, ValueError, TypeError) as error:
        raise TpuError(
            f"{name}: opset {max(versions)} cannot be converted to {RAISED_OPSET} "
            f"({' '.join(str(error).split())}); export it again in opset {OLDEST_OPSET} or later"
        ) from error


def inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its own functions replaced by their bodies."""
    return inliner.inline_local_functions(model) if model.functions else model


def opset_of(model: onnx.ModelProto) -> int:
    """Version of the standard operator set the model was written for."""
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    if not versions:
        raise TpuError("the model imports no version of the standard ONNX operator set")
    return max(versions)


def model_problems(model: onnx.ModelProto) -> Iterator[Problem]:
    """What is wrong with the model as a whole, before looking at what its nodes mean."""
    newest = defs.onnx_opset_version()
    if (opset := opset_of(model)) > newest:
        yield Problem(
            "model",
            f"it is of opset {opset}, and the onnx package here knows none beyond {newest}: "
            "update that package, or export the model in an older opset",
        )
        return
    if model.graph.sparse_initializer:
        yield Problem("model", "it has sparse initializers; store them dense")
    if not model.graph.output:
        yield Problem("model", "it has no outputs; export it with the tensors that are wanted")
    if unordered := list(order_problems(model.graph)):
        yield from (Problem("model", words) for words in unordered)
        return  # the checker says the same in fewer words
    try:
        # onnx declares a path parameter without its element type
        checker.check_model(_skeleton(model))  # pyright: ignore[reportUnknownMemberType]
    except checker.ValidationError as error:
        yield Problem("model", f"not valid ONNX: {' '.join(str(error).split())}")


def _skeleton(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with initializers turned into inputs: small, and valid when the model is."""
    skeleton = onnx.ModelProto(ir_version=max(model.ir_version, 4), graph=onnx.GraphProto())
    skeleton.opset_import.extend(model.opset_import)
    graph = skeleton.graph
    graph.name = model.graph.name or "graph"
    graph.node.extend(model.graph.node)
    graph.input.extend(model.graph.input)
    for value in model.graph.output:  # its type follows from the nodes, but the checker wants one
        known = value.HasField("type") and dimensions(value.type) is not None
        graph.output.append(value if known or _is_list(value) else _scalar(value.name))
    inputs = {value.name for value in graph.input}
    for tensor in model.graph.initializer:
        if tensor.name not in inputs:
            graph.input.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            )
    return skeleton


def _is_list(value: onnx.ValueInfoProto) -> bool:
    return value.HasField("type") and not value.type.HasField("tensor_type")


def _scalar(name: str) -> onnx.ValueInfoProto:
    return onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [])


def graph_inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    """The inputs a caller gives: those that are not initializers."""
    weights = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in weights]


def input_types(model: onnx.ModelProto, given: InputShapes | None) -> dict[str, ValueType]:
    """Static type of every input, dynamic dimensions taken from `given`.

    Raises TpuError, which lists all inputs and says how to give shapes, when a dimension stays
    unknown, when a given shape does not fit, or when a given name is not an input.
    """
    shapes = dict(given or {})
    complaints: list[str] = []
    result: dict[str, ValueType] = {}
    named: dict[str, tuple[str, int]] = {}
    inputs = graph_inputs(model)
    for value in inputs:
        dims = dimensions(value.type)
        shape = shapes.pop(value.name, None)
        if complaint := _content(value.type) or _mismatch(dims, shape):
            complaints.append(f"input '{value.name}' {_dims(dims)}: {complaint}")
            continue
        shape = tuple(shape if shape is not None else cast(list[int], dims))
        complaints += _contradictions(value.name, dims or (), shape, named)
        result[value.name] = ValueType(dtype_name(value.type.tensor_type.elem_type), shape)
    complaints += [f"there is no input '{name}'" for name in shapes]
    if complaints:
        listing = "; ".join(f"{v.name} {_dims(dimensions(v.type))}" for v in inputs)
        raise TpuError(
            "\n".join(complaints) + f"\nthe model's inputs are: {listing}\n{_advice(inputs)}"
        )
    return result


def _advice(inputs: Sequence[onnx.ValueInfoProto]) -> str:
    """How to give shapes, with sizes that fit the dimensions that are known."""
    known = {value.name: dimensions(value.type) for value in inputs}
    example = {
        name: (1, 3, 224, 224) if dims is None else _example(dims)
        for name, dims in known.items()
        if dims is None or not all(isinstance(dim, int) and dim for dim in dims)
    }
    if not example:
        return "these are fixed in the model: export it with other sizes, or with dynamic ones"
    texts = (f"{name}={'x'.join(map(str, shape))}" for name, shape in example.items())
    return f"give shapes with --input-shapes {' '.join(texts)} (in Python: input_shapes={example})"


def _example(dims: Sequence[int | str]) -> tuple[int, ...]:
    """A shape that a network could have: one image or sequence, sides of 224, lengths of 128."""
    side = 224 if len(dims) > 3 else 128
    return tuple(
        (dim or 1) if isinstance(dim, int) else side if i else 1 for i, dim in enumerate(dims)
    )


def _content(proto: onnx.TypeProto) -> str:
    """Why an input cannot be numbers in float32; empty when it can."""
    if not proto.HasField("tensor_type"):
        return "it is not a tensor; give every tensor of it as an input of its own"
    dtype = dtype_name(proto.tensor_type.elem_type)
    return f"it holds {content(dtype)}, not numbers; give it numbers" if dtype in NO_NUMBERS else ""


def _mismatch(dims: Sequence[int | str] | None, shape: Sequence[int] | None) -> str:
    """Why a declared shape and a given one leave no static shape; empty when they do."""
    if shape is None:
        if dims is None or not all(isinstance(dim, int) for dim in dims):
            return "its shape is not fixed"
        return "" if all(dims) else "a dimension is 0"
    if any(size <= 0 for size in shape):
        return f"the given sizes {tuple(shape)} must all be positive"
    if dims is None:
        return ""
    if len(dims) != len(shape):
        return f"the given shape {tuple(shape)} has another rank"
    if any(
        isinstance(dim, int) and dim not in (0, size) for dim, size in zip(dims, shape, strict=True)
    ):
        return f"the given shape {tuple(shape)} contradicts the fixed dimensions"
    return ""


def _contradictions(
    name: str,
    dims: Sequence[int | str],
    shape: Sequence[int],
    named: dict[str, tuple[str, int]],
) -> Iterator[str]:
    """Dimensions of an input that another size was given for elsewhere; `named` keeps the first.

    A name of a dimension is one size in the whole model.
    """
    for dim, size in zip(dims, shape, strict=False):
        if isinstance(dim, int) or dim == UNNAMED:
            continue
        owner, other = named.setdefault(dim, (name, size))
        if size != other:
            where = "the same input" if owner == name else f"input '{owner}'"
            yield f"input '{name}': '{dim}' is {size} here, and {other} in {where}"


def _dims(dims: Sequence[int | str] | None) -> str:
    return "of unknown rank" if dims is None else f"[{', '.join(map(str, dims))}]"
