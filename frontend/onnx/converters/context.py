"""What converters work with: values by ONNX name, weights on first use, ops with tensor names."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import NoneType, TensorType, UnknownLoc, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.integers import HIGHEST, INTEGER, LOWEST, is_integer_tensor
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

TRUTHS = (top.CompareOp, top.CompareConstOp)
"""Ops that give truth values, in f32, whatever they compare."""

INDEXED = (top.GatherOp, top.ScatterElementsOp, top.ScatterNDOp)
"""Ops that give elements of their first operand, whatever their indices are."""

INT_END = (1 << 31) - 1024
"""How `top` writes "up to the end"; larger ONNX bounds become this."""

Converter: TypeAlias = Callable[["Context", Node], None]


class Context:
    """The function under construction.

    Scalars are tensors of one element: `top` has no tensors without dimensions.
    """

    def __init__(self, graph: Graph, block: Block) -> None:
        self.graph = graph
        self.weights: dict[str, Array] = {}
        self._block = block
        self._values: dict[str, SSAValue] = {}
        none = top.NoneOp.make(UnknownLoc(), (), result_types=[NoneType()])
        block.add_op(none)
        self.none: SSAValue = none.output

    def bind(self, name: str, value: SSAValue) -> None:
        """Say what ONNX value `name` is."""
        self._values[name] = value

    def known(self, name: str) -> bool:
        """Whether `value(name)` will find something."""
        return not name or name in self._values or name in self.graph.constants

    def value(self, name: str) -> SSAValue:
        """The tensor called `name`, a weight if constant; `none` for the empty name."""
        if not name:
            return self.none
        if name not in self._values:
            self._values[name] = self.weight(name, self.graph.constants[name], name)
        return self._values[name]

    def weight(self, name: str, data: Array, scale_of: str | None = None) -> SSAValue:
        """A weight with this name and these values, as float32 or, of integers, int32; made once.

        `scale_of` is the constant it comes from, if the scales of its integers still apply.
        Raises UnsupportedNode for NaN and for numbers these types cannot hold.
        """
        if name in self.weights:
            return self._values[name]
        integers = data.dtype.kind in "iu"
        stored = as_int32(name, data) if integers else as_float32(name, data)
        values = np.ascontiguousarray(stored).reshape(data.shape or (1,))
        scale = None if scale_of is None else self.graph.scales.get(scale_of)
        op = top.WeightOp.make(
            name,
            (),
            result_types=[TensorType(INTEGER if integers else f32, values.shape)],
            scale=None if scale is None else [float(one) for one in scale],
        )
        self._block.add_op(op)
        self.weights[name] = values
        self._values[name] = op.output
        return op.output

    def shape(self, name: str) -> tuple[int, ...]:
        """Static shape of an ONNX value."""
        return self.graph.shape(name)

    def numbers(self, name: str, what: str) -> list[int] | None:
        """The integers of a constant parameter; None when it is absent.

        Raises UnsupportedNode when it is computed at run time.
        """
        if not name:
            return None
        value = self.graph.constant(name)
        if value is None:
            raise UnsupportedNode(f"its {what} ('{name}') must be constant")
        return [int(item) for item in value.reshape(-1)]

    def number(self, name: str, what: str) -> float | None:
        """A constant parameter of one element; None when it is absent. Raises as `numbers`."""
        if name and self.graph.scalar(name) is None:
            raise UnsupportedNode(f"its {what} ('{name}') must be one constant number")
        return self.graph.scalar(name) if name else None

    def emit(
        self,
        node: Node,
        op: type[NamedOp],
        operands: Sequence[SSAValue],
        /,
        only_read: bool = False,
        **attributes: Any,
    ) -> Operation:
        """Build the op that gives the outputs of `node`, named after them, and bind them.

        An absent output becomes a result of type none, and so does, with `only_read`, one that
        nothing reads. Raises UnsupportedNode when the shapes ONNX infers do not follow from the
        operands.
        """
        if any(0 in self.shape(name) for name in node.outputs if self._is_read(name)):
            raise UnsupportedNode("its result is empty")
        first = next(filter(None, node.outputs))
        names = [f"{name or first}_{node.suffix or node.op_type}" for name in node.outputs]
        given = [name if not only_read or self._is_read(name) else "" for name in node.outputs]
        types: list[Attribute] = [
            self.type_of(self.shape(name), name) if name else NoneType() for name in given
        ]
        made = op.make(
            names if len(names) > 1 else names[0], operands, result_types=types, **attributes
        )
        self._add(made)
        for name, result in zip(given, made.results, strict=True):
            if name:
                self.bind(name, result)
        return made

    def step(
        self,
        node: Node,
        label: str,
        op: type[NamedOp],
        operands: Sequence[SSAValue],
        shape: Sequence[int],
        /,
        **attributes: Any,
    ) -> SSAValue:
        """Build an op on the way to the outputs of `node`; `label` makes its name unique.

        What is computed of integers is integers, but for truth values.
        """
        name = f"{node.output}_{node.op_type}_{label}"
        data = operands[:1] if op in INDEXED else operands
        whole = op not in TRUTHS and any(map(is_integer_tensor, data))
        element = INTEGER if whole else f32
        return self.typed(name, op, operands, element, shape, **attributes)

    def typed(
        self,
        name: str,
        op: type[NamedOp],
        operands: Sequence[SSAValue],
        element: Attribute,
        shape: Sequence[int],
        /,
        **attributes: Any,
    ) -> SSAValue:
        """Build an op of one result, with this name, element type and shape."""
        kind = TensorType(element, tuple(shape) or (1,))
        made = op.make(name, operands, result_types=[kind], **attributes)
        self._add(made)
        return made.results[0]

    def _is_read(self, name: str) -> bool:
        return bool(name) and (name in self.graph.outputs or bool(self.graph.users(name)))

    def _add(self, op: Operation) -> None:
        """Append an op; one that contradicts its operands' shapes or ONNX's is refused."""
        try:
            op.verify()
        except VerifyException as error:
            raise UnsupportedNode(str(error)) from error
        self._block.add_op(op)

    def type_of(self, shape: Sequence[int], name: str = "") -> Attribute:
        """The type of ONNX value `name` in `shape`; one element when there are no dimensions.

        Integers are `INTEGER`, all else float32, which may have a range from quantisation.
        """
        found, kind = self.graph.ranges.get(name), self.graph.types.get(name)
        element: Attribute = f32 if found is None else CalibratedType.of(f32, *found)
        if found is None and kind is not None and kind.is_integer:
            element = INTEGER
        return TensorType(element, tuple(shape) or (1,))


def as_int32(name: str, data: Array) -> Array:
    """Integers of a weight in int32; UnsupportedNode when they do not fit."""
    if data.size and (int(data.max()) > HIGHEST or int(data.min()) < LOWEST):
        raise UnsupportedNode(f"constant '{name}' has integers beyond 32 bits")
    return data.astype(np.int32)


def as_float32(name: str, data: Array) -> Array:
    """Values of a weight in float32; UnsupportedNode when they do not survive that."""
    if data.dtype.kind not in "fb" and data.dtype.name not in ("bfloat16",):
        raise UnsupportedNode(f"constant '{name}' has elements of type {data.dtype.name}")
    with np.errstate(over="ignore"):
        values = data.astype(np.float32, copy=False)
    if np.isnan(values).any():
        raise UnsupportedNode(f"constant '{name}' has NaN")
    if values is not data and (np.isinf(values) & ~np.isinf(data.astype(np.float64))).any():
        raise UnsupportedNode(f"constant '{name}' has values that are infinite in float32")
    return values
