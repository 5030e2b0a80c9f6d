"""Lowering one op to several: what is built on the way has the op's name and a label."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from xdsl_tpu.dialects import top, tpu
from xdsl_tpu.dialects.base import NamedOp
from xdsl_tpu.dialects.integers import INTEGER
from xdsl_tpu.passes.lowering.common import missing_operands
from xdsl_tpu.passes.lowering.context import F32, CannotLowerError, LoweringContext
from xdsl_tpu.passes.tensors import element_of, required_name, shape_of
from xdsl_tpu.passes.weight_data import stored_as

Array = npt.NDArray[Any]
Shape = Sequence[int]


@dataclass(frozen=True)
class Steps:
    """Builds ops that together replace `op`; results are in f32 unless said otherwise."""

    op: Operation
    ctx: LoweringContext

    @property
    def name(self) -> str:
        """The name of the op's first result."""
        return required_name(self.op)

    def refuse(self, reason: str) -> CannotLowerError:
        """The error to raise when there is no way."""
        return CannotLowerError(f"{self.op.name} '{self.name}': {reason}")

    def step(
        self,
        label: str,
        target: type[NamedOp],
        operands: Sequence[SSAValue],
        shape: Shape,
        element: Attribute = F32,
        /,
        **attributes: Any,
    ) -> SSAValue:
        """An op on the way, called `<name>_<label>`."""
        result = TensorType(element, tuple(shape))
        return self._make(f"{self.name}_{label}", target, operands, result, attributes)

    def last(
        self,
        target: type[NamedOp],
        operands: Sequence[SSAValue],
        element: Attribute = F32,
        /,
        result: int = 0,
        **attributes: Any,
    ) -> SSAValue:
        """The op that gives a result of the replaced op, under the result's name."""
        old = self.op.results[result]
        name = required_name(old)
        return self._make(name, target, operands, self.ctx.tensor_type(old, element), attributes)

    def _make(
        self,
        name: str,
        target: type[NamedOp],
        operands: Sequence[SSAValue],
        result: Attribute,
        attributes: dict[str, Any],
    ) -> SSAValue:
        missing = missing_operands(self.ctx, target, len(operands))
        made = target.make(name, (*operands, *missing), result_types=(result,), **attributes)
        return self.ctx.add(made)[0]

    def weight(self, label: str, values: Array, element: Attribute = F32) -> SSAValue:
        """A constant called `<name>_<label>`."""
        name = f"{self.name}_{label}"
        if self.ctx.weights is not None:
            self.ctx.weights[name] = stored_as(values, element)
        result = TensorType(element, values.shape)
        return self.ctx.add(top.WeightOp.make(name, (), result_types=(result,)))[0]

    def integers(self, label: str, values: Array) -> SSAValue:
        """As `weight`, of integers."""
        return self.weight(label, values, INTEGER)

    def values(self, value: SSAValue) -> Array | None:
        """The numbers of a weight; None for what is computed, or without weights at hand."""
        weight = value.owner
        if not isinstance(weight, top.WeightOp) or self.ctx.weights is None:
            return None
        return np.asarray(self.ctx.weights[required_name(weight)]).reshape(shape_of(value))

    def reshaped(self, label: str, value: SSAValue, shape: Shape, element: Attribute) -> SSAValue:
        """The same elements in another shape; `value` itself when it has it."""
        if tuple(shape) == shape_of(value):
            return value
        return self.step(label, tpu.ReshapeOp, [value], shape, element, shape=list(shape))

    def part(self, label: str, value: SSAValue, axis: int, bounds: tuple[int, int]) -> SSAValue:
        """So many elements from a first one on along one axis."""
        shape, (first, count) = shape_of(value), bounds
        return self.step(
            label,
            tpu.SliceOp,
            [value],
            (*shape[:axis], count, *shape[axis + 1 :]),
            element_of(value),
            offset=[first if place == axis else 0 for place in range(len(shape))],
            steps=[1] * len(shape),
            ends=[first + count if place == axis else size for place, size in enumerate(shape)],
            axes=[],
        )

    def reduced(
        self, label: str, value: SSAValue, axis: int, mode: str, element: Attribute = F32
    ) -> SSAValue:
        """ReduceSum, ReduceMax, .. over one axis, which stays as 1."""
        shape = list(shape_of(value))
        shape[axis] = 1
        return self.step(
            label, tpu.ReduceOp, [value], shape, element, axes=[axis], keepdims=True, mode=mode
        )

    def compared(
        self, label: str, a: SSAValue, b: SSAValue, mode: str, element: Attribute = F32
    ) -> SSAValue:
        """1 where the comparison holds; shapes broadcast."""
        shape = np.broadcast_shapes(shape_of(a), shape_of(b))
        return self.step(label, tpu.CompareOp, [a, b], shape, element, mode=mode)

    def compared_with(
        self, label: str, x: SSAValue, number: float, mode: str, element: Attribute = INTEGER
    ) -> SSAValue:
        """1 where `x mode number` holds."""
        options = {"mode": mode, "const_val": float(number), "inversed": False}
        return self.step(label, tpu.CompareConstOp, [x], shape_of(x), element, **options)

    def cut(
        self, label: str, x: SSAValue, axis: int, start: int, end: int, element: Attribute
    ) -> SSAValue:
        """Elements start..end along an axis."""
        shape = shape_of(x)
        ends = [end if place == axis else size for place, size in enumerate(shape)]
        offset = [start if place == axis else 0 for place in range(len(shape))]
        sizes = [b - a for a, b in zip(offset, ends, strict=True)]
        cut = {"offset": offset, "ends": ends, "steps": [1] * len(shape)}
        return self.step(label, tpu.SliceOp, [x], sizes, element, **cut)


def along(shape: Shape, axis: int, values: Array) -> Array:
    """A vector as a tensor that broadcasts along one axis of `shape`."""
    return values.reshape(*(values.size if place == axis else 1 for place in range(len(shape))))
