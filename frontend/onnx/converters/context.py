"""What converters work with: values by ONNX name, weights on first use, ops with tensor names."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import NoneType, TensorType, UnknownLoc, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xdsl_tpu.dialects import top
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.quant import CalibratedType
from xdsl_tpu.frontend.onnx.graph import Array, Graph, Node
from xdsl_tpu.frontend.onnx.problems import UnsupportedNode

LARGEST_EXACT = 1 << 24
"""float32, which carries every tensor here, is exact for integers up to this."""

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
        """A weight with this name and these values, as float32; made once.

        `scale_of` is the constant it comes from, if the scales of its integers still apply.
        Raises UnsupportedNode for NaN and for numbers float32 cannot hold.
        """
        if name in self.weights:
            return self._values[name]
        values = np.ascontiguousarray(as_float32(name, data)).reshape(data.shape or (1,))
        scale = None if scale_of is None else self.graph.scales.get(scale_of)
        op = top.WeightOp.make(
            name,
            (),
            result_types=[TensorType(f32, values.shape)],
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
        self, node: Node, op: type[NamedOp], operands: Sequence[SSAValue], **attributes: Any
    ) -> Operation:
        """Build the op that gives the outputs of `node`, named after them, and bind them.

        An absent output becomes a result of type none. Raises UnsupportedNode when the shapes
        ONNX infers do not follow from the operands.
        """
        if any(0 in self.shape(name) for name in node.outputs if self._is_read(name)):
            raise UnsupportedNode("its result is empty")
        names = [f"{name or node.output}_{node.suffix or node.op_type}" for name in node.outputs]
        types: list[Attribute] = [
            self.type_of(self.shape(name), name) if name else NoneType() for name in node.outputs
        ]
        made = op.make(
            names if len(names) > 1 else names[0], operands, result_types=types, **attributes
        )
        self._add(made)
        for name, result in zip(node.outputs, made.results, strict=True):
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
        """Build an op on the way to the outputs of `node`; `label` makes its name unique."""
        name = f"{node.output}_{node.op_type}_{label}"
        made = op.make(name, operands, result_types=[self.type_of(shape)], **attributes)
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
        """The type of a float32 tensor; one element when there are no dimensions.

        ONNX value `name` may have a range from quantisation.
        """
        found = self.graph.ranges.get(name)
        element = f32 if found is None else CalibratedType.of(f32, *found)
        return TensorType(element, tuple(shape) or (1,))


def as_float32(name: str, data: Array) -> Array:
    """Values of a weight in float32; UnsupportedNode when they do not survive that."""
    if data.dtype.kind in "iu" and data.size and np.abs(data).max() > LARGEST_EXACT:
        raise UnsupportedNode(f"constant '{name}' has integers that float32 cannot hold")
    if data.dtype.kind not in "iufb" and data.dtype.name not in ("bfloat16",):
        raise UnsupportedNode(f"constant '{name}' has elements of type {data.dtype.name}")
    with np.errstate(over="ignore"):
        values = data.astype(np.float32, copy=False)
    if np.isnan(values).any():
        raise UnsupportedNode(f"constant '{name}' has NaN")
    if values is not data and (np.isinf(values) & ~np.isinf(data.astype(np.float64))).any():
        raise UnsupportedNode(f"constant '{name}' has values that are infinite in float32")
    return values
