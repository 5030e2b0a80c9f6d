"""Values of ONNX nodes whose inputs are known: numpy for what shape arithmetic needs, the ONNX
reference implementation for the rest."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from xdsl_tpu.frontend.onnx.graph import Array, Node, element, is_uniform

Inputs: TypeAlias = Sequence[Array | None]
Rule: TypeAlias = Callable[[Node, Sequence[Any]], Array]

RANDOM = frozenset(
    {
        "RandomNormal",
        "RandomUniform",
        "RandomNormalLike",
        "RandomUniformLike",
        "Multinomial",
        "Bernoulli",
    }
)
"""Ops whose value is not a function of their inputs."""


def evaluate(node: Node, proto: onnx.NodeProto, inputs: Inputs) -> list[Array]:
    """Outputs of a node with constant inputs (None: absent).

    Raises whatever the reference implementation raises on inputs it cannot handle.
    """
    if rule := RULES.get(node.op_type):
        return [np.asarray(rule(node, inputs))]
    if elementwise := ELEMENTWISE.get(node.op_type):
        return [_elementwise(elementwise, [x for x in inputs if x is not None])]
    reference = ReferenceEvaluator(proto, opsets={"": node.opset})
    # under the names of the proto: the node's are those behind an Identity
    feeds = {name: x for name, x in zip(proto.input, inputs, strict=True) if x is not None}
    # onnx leaves a parameter of `run` without a type
    results = reference.run(None, feeds)  # pyright: ignore[reportUnknownMemberType]
    return [np.asarray(value) for value in cast(list[Any], results)]


def _elementwise(function: Callable[..., Any], inputs: Sequence[Array]) -> Array:
    """Apply a numpy function; operands that repeat one number stay a repeated number."""
    dtype = inputs[-1].dtype
    shape = np.broadcast_shapes(*(x.shape for x in inputs))
    if all(map(is_uniform, inputs)):
        value = np.asarray(function(*map(element, inputs)))
        return np.broadcast_to(_typed(value, dtype), shape)
    return _typed(np.asarray(function(*inputs)), dtype)


def _typed(value: Array, dtype: Any) -> Array:
    """numpy widens some results; ONNX does not (comparisons are boolean in both)."""
    return value if value.dtype == np.bool_ else value.astype(dtype, copy=False)


def _divide(a: Array, b: Array) -> Array:
    """Integers: the quotient without its fraction, as ONNX means it."""
    if not np.issubdtype(a.dtype, np.integer):
        return a / b
    quotient = np.abs(a) // np.abs(b)
    return quotient * np.sign(a) * np.sign(b)


def _axes(node: Node, inputs: Sequence[Any]) -> tuple[int, ...] | None:
    axes = inputs[1] if len(inputs) > 1 else node.attributes.get("axes")
    return None if axes is None else tuple(int(axis) for axis in axes)


def _unsqueeze(node: Node, inputs: Sequence[Any]) -> Array:
    return np.expand_dims(inputs[0], _axes(node, inputs) or ())


def _squeeze(node: Node, inputs: Sequence[Any]) -> Array:
    return np.squeeze(inputs[0], _axes(node, inputs))


def _reshape(node: Node, inputs: Sequence[Any]) -> Array:
    data: Array = inputs[0]
    target = [int(size) for size in inputs[1]]
    if is_uniform(data) and data.size > 1 and -1 not in target and 0 not in target:
        return np.broadcast_to(element(data), target)
    if not node.attribute("allowzero", 0):
        target = [data.shape[i] if size == 0 else size for i, size in enumerate(target)]
    return data.reshape(target)


def _slice(node: Node, inputs: Sequence[Any]) -> Array:
    if len(inputs) == 1:  # opset < 10 kept the parameters in attributes
        starts, ends = node.attributes["starts"], node.attributes["ends"]
        axes, steps = node.attributes.get("axes"), None
    else:
        starts, ends = inputs[1], inputs[2]
        axes = inputs[3] if len(inputs) > 3 else None
        steps = inputs[4] if len(inputs) > 4 else None
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    index = [slice(None)] * inputs[0].ndim
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        stop = None if step < 0 and end < -inputs[0].shape[int(axis)] else int(end)
        index[int(axis)] = slice(int(start), stop, int(step))
    return inputs[0][tuple(index)]


def _constant_of_shape(node: Node, inputs: Sequence[Any]) -> Array:
    value = node.attribute("value", np.zeros(1, np.float32))
    return np.broadcast_to(value.reshape(()), tuple(int(size) for size in inputs[0]))


def _expand(node: Node, inputs: Sequence[Any]) -> Array:
    target = tuple(int(size) for size in inputs[1])
    return np.broadcast_to(inputs[0], np.broadcast_shapes(inputs[0].shape, target))


def _cast(node: Node, inputs: Sequence[Any]) -> Array:
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(node.attributes["to"]))
    return inputs[0].astype(dtype)


def _gather(node: Node, inputs: Sequence[Any]) -> Array:
    data: Array = inputs[0]
    index: npt.NDArray[np.int64] = inputs[1]
    axis: int = node.attribute("axis", 0)
    taken: Array = np.take(data, index, axis=axis)
    return taken


def _concat(node: Node, inputs: Sequence[Any]) -> Array:
    parts: list[Array] = [*inputs]
    return np.concatenate(parts, axis=node.attributes["axis"])


def _transpose(node: Node, inputs: Sequence[Any]) -> Array:
    data: Array = inputs[0]
    return data.transpose(node.attribute("perm", [*reversed(range(data.ndim))]))


def _where(node: Node, inputs: Sequence[Any]) -> Array:
    condition, yes, no = cast(Sequence[Array], inputs)
    return np.where(condition, yes, no)


def _range(node: Node, inputs: Sequence[Any]) -> Array:
    start, limit, delta = (x.reshape(()) for x in inputs)
    return np.arange(start, limit, delta, dtype=start.dtype)


def _mod(node: Node, inputs: Sequence[Any]) -> Array:
    function = np.fmod if node.attribute("fmod", 0) else np.mod
    return _elementwise(function, inputs)


def _dequantize(node: Node, inputs: Sequence[Any]) -> Array:
    """(x - zero) scale: of all, of each index of an axis, or of blocks along it."""
    data, scale = cast(Sequence[Array], inputs[:2])
    numbers = data.astype(np.float32)
    factors = _spread(node, scale.astype(np.float32), data.shape)
    if len(inputs) > 2 and inputs[2] is not None:
        numbers = numbers - _spread(node, inputs[2].astype(np.float32), data.shape)
    return (numbers * factors).astype(scale.dtype)


def _spread(node: Node, values: Array, shape: tuple[int, ...]) -> Array:
    """Values of an axis, or of blocks along it, in a shape that goes with `shape`."""
    if values.size == 1:
        return values.reshape(())
    axis, block = node.attribute("axis", 1) % len(shape), node.attribute("block_size", 0)
    if not block:
        return values.reshape([-1 if place == axis else 1 for place in range(len(shape))])
    return np.take(np.repeat(values, block, axis), range(shape[axis]), axis)


def _identity(node: Node, inputs: Sequence[Any]) -> Array:
    return inputs[0]


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Abs": np.abs,
    "Add": np.add,
    "And": np.logical_and,
    "Ceil": np.ceil,
    "Div": _divide,
    "Equal": np.equal,
    "Exp": np.exp,
    "Floor": np.floor,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Log": np.log,
    "Mul": np.multiply,
    "Neg": np.negative,
    "Not": np.logical_not,
    "Or": np.logical_or,
    "Reciprocal": np.reciprocal,
    "Sqrt": np.sqrt,
    "Sub": np.subtract,
}

RULES: dict[str, Rule] = {
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "DequantizeLinear": _dequantize,
    "Expand": _expand,
    "Gather": _gather,
    "Identity": _identity,
    "Mod": _mod,
    "Range": _range,
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}


def _shape(node: Node, shape: tuple[int, ...]) -> Array:
    end = node.attributes.get("end")
    return np.array(shape[slice(node.attribute("start", 0), end)], np.int64)


def _size(node: Node, shape: tuple[int, ...]) -> Array:
    return np.array(np.prod(shape), np.int64)


def _eye_like(node: Node, shape: tuple[int, ...]) -> Array:
    return np.eye(*shape, k=node.attribute("k", 0), dtype=np.float32)


SHAPE_QUERIES: dict[str, Callable[[Node, tuple[int, ...]], Array]] = {
    "EyeLike": _eye_like,
    "Shape": _shape,
    "Size": _size,
}
